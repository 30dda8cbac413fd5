// SPDX-License-Identifier: Apache-2.0
// Frames are drawn while a job runs, and a cancelled check says how far it came. The job is held
// where it tells of its progress, so that nothing here depends on how fast anything is.
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <crawlstore/drum.h>

#include "inspector/inspector_file.h"

namespace crawlstore::testing {
namespace {

using inspector::App;
using inspector::AppOptions;
using inspector::Event;
using inspector::Platform;

/// The gate at which a job waits: in the call with which it wakes the window.
class Gate {
 public:
  /// For whoever comes after `count` others.
  void close_after(int count) {
    const std::lock_guard lock(mutex_);
    free_count_ = count;
    is_open_ = false;
  }
  void open() {
    {
      const std::lock_guard lock(mutex_);
      is_open_ = true;
    }
    changed_.notify_all();
  }
  /// On the thread of a job.
  void pass() {
    std::unique_lock lock(mutex_);
    if (free_count_-- > 0) return;
    ++waiting_count_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return is_open_ || tickets_ > 0; });
    if (!is_open_) --tickets_;
    --waiting_count_;
    changed_.notify_all();
  }
  /// Lets pass the one that waits, and nobody after.
  void let_one_pass() {
    std::unique_lock lock(mutex_);
    ++tickets_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return tickets_ == 0; });
  }
  void wait_for_somebody() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return waiting_count_ > 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_open_ = true;
  int free_count_ = 0;
  int tickets_ = 0;
  int waiting_count_ = 0;
};

/// The inspector without a shell, which would wait for the job, over a file of many partitions.
class InspectorWithHeldJob : public ::testing::Test {
 protected:
  InspectorWithHeldJob() {
    ImGui::GetIO().DisplaySize = ImVec2(1280, 800);
    ImGui::GetIO().IniFilename = nullptr;
    auto store = Store::create(path_);
    DrumOptions options;
    options.bucket_count = 64;
    auto drum = Drum<std::uint64_t, std::uint64_t>::open(*store, "keys", options);
    for (std::uint64_t i = 0; i < 50'000; ++i) {
      EXPECT_TRUE(drum->update(i * 0x9E37'79B9'7F4A'7C15, i));
    }
    EXPECT_TRUE(drum->merge());
    EXPECT_TRUE(store->commit());
    drum = tl::unexpected(Error{});
    app_.open_at({path_, {}});
    frames(3);
    app_.wait_for_jobs();
    frames(3);
  }
  ~InspectorWithHeldJob() override { gate_.open(); }

  void frames(int count) {
    for (int i = 0; i < count; ++i) {
      now_us_ += 16'000;
      app_.poll();
      if (app_.wants_fonts()) app_.build_fonts();
      ImGui::GetIO().DeltaTime = 1.0F / 60;
      ImGui::NewFrame();
      app_.draw();
      ImGui::Render();
    }
  }
  void press(const char* keys) {
    Event event;
    event.kind = Event::Kind::kKey;
    event.chord = *inspector::parse_key_chord(keys);
    event.is_down = true;
    EXPECT_TRUE(app_.take_event(event));
  }
  std::string shown(const char* label) {
    const auto* item = app_.probe().find(label);
    return item == nullptr ? "nothing" : item->text;
  }

  struct ContextDeleter {
    void operator()(ImGuiContext* context) const { ImGui::DestroyContext(context); }
  };
  TemporaryFolder folder_;
  std::string path_ = folder_ / "a.crawl";
  std::unique_ptr<ImGuiContext, ContextDeleter> context_{ImGui::CreateContext()};
  std::atomic<std::int64_t> now_us_ = 1'000'000'000;
  Gate gate_;
  std::thread::id drawing_thread_ = std::this_thread::get_id();
  App app_{Platform{[this] { return now_us_.load(); },
                    [this] {
                      if (std::this_thread::get_id() == drawing_thread_) return;
                      now_us_ += 100'000;  // so that each progress comes here
                      gate_.pass();
                    },
                    [](const std::string&) {}, nullptr, [] {}},
           AppOptions{{}, "", /*has_probe=*/true, /*holds_pin=*/false, {}}};
};

TEST_F(InspectorWithHeldJob, DrawsAFrameWhenAJobHasComeFurther) {
  gate_.close_after(0);
  press("Ctrl+F7");
  gate_.wait_for_somebody();
  frames(10);
  EXPECT_FALSE(app_.poll()) << "nothing has happened since";
  gate_.let_one_pass();
  gate_.wait_for_somebody();
  EXPECT_TRUE(app_.poll());
  frames(1);
  EXPECT_FALSE(app_.poll());
}

// acceptance: 12
TEST_F(InspectorWithHeldJob, ShowsACancelledCheckAsFarAsItCame) {
  press("Ctrl+F7");
  app_.wait_for_jobs();
  frames(2);
  const std::uint64_t all_bytes = app_.session().health.checked()->report.checked_bytes;
  const std::uint64_t number = app_.session().health.number();
  EXPECT_FALSE(app_.probe().shows("so far"));

  gate_.close_after(70);
  press("Ctrl+F7");
  gate_.wait_for_somebody();
  // It runs, and the window lives.
  now_us_ += 5'000'000;
  frames(10);
  EXPECT_EQ(app_.location().panel, "problems");
  EXPECT_THAT(shown("status.job"), ::testing::MatchesRegex("deep check  [1-9][0-9] %"));
  EXPECT_EQ(shown("status.cancel"), "cancel");
  press("Ctrl+3");
  frames(3);
  EXPECT_EQ(app_.location().panel, "segments");
  EXPECT_EQ(app_.session().health.number(), number);  // that of before, until there is another
  press("Escape");
  frames(3);
  gate_.open();
  app_.wait_for_jobs();
  frames(3);

  const auto& checked = *app_.session().health.checked();
  EXPECT_GT(app_.session().health.number(), number);
  EXPECT_TRUE(checked.is_partial);
  EXPECT_GT(checked.report.checked_bytes, all_bytes / 10);
  EXPECT_LT(checked.report.checked_bytes, all_bytes / 2);
  EXPECT_EQ(shown("status.job"), "nothing");
  EXPECT_THAT(shown("status.problems"),
              ::testing::MatchesRegex("no problems, [1-4][0-9].[0-9] % checked"));
  app_.go({"problems", {}});
  frames(3);
  EXPECT_TRUE(app_.probe().shows("nothing found so far"));
  EXPECT_TRUE(app_.probe().shows("then it was cancelled"));
  app_.go({"overview", {}});
  frames(3);
  EXPECT_FALSE(app_.probe().shows("whole"));
  EXPECT_TRUE(app_.probe().shows("then it was cancelled"));
  app_.go({"jobs", {}});
  frames(3);
  EXPECT_TRUE(app_.probe().shows("cancelled"));
}

TEST_F(InspectorWithHeldJob, ClosesThePaletteBeforeItCancels) {
  gate_.close_after(0);
  press("Ctrl+F7");
  gate_.wait_for_somebody();
  press("Ctrl+P");
  frames(3);
  EXPECT_TRUE(app_.probe().shows("Quit"));
  press("Escape");
  frames(3);
  EXPECT_FALSE(app_.probe().shows("Quit"));
  EXPECT_EQ(shown("status.cancel"), "cancel") << "the check still runs";
  press("Escape");
  gate_.open();
  app_.wait_for_jobs();
  EXPECT_TRUE(app_.session().health.checked()->is_partial);
}

}  // namespace
}  // namespace crawlstore::testing
