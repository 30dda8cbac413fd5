// SPDX-License-Identifier: Apache-2.0
//
// T6: one writer and up to eight readers as interleaved steps over a storage that fails, and that
// crashes. Readers act between the calls that the writer makes of its storage. A seed says it all:
// CRAWLSTORE_TEST_SEED=N begins with the simulation N; CRAWLSTORE_LONG=1 runs 100,000.
#include <array>
#include <cstdio>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <crawlstore/drum.h>
#include <crawlstore/page_view.h>
#include <crawlstore/pages.h>
#include <crawlstore/verify.h>

#include "drum/memory_store.h"
#include "pages/page_model.h"
#include "support/crash_images.h"
#include "support/recording_storage.h"
#include "support/seeded.h"

namespace crawlstore::testing {
namespace {

using Rounds = Drum<std::uint64_t>;
constexpr std::uint64_t kSpread = 0x9E3779B97F4A7C15;
constexpr std::size_t kReaders = 8;
constexpr std::uint64_t kCapacityBytes = std::uint64_t{1} << 26;

DrumOptions drum_options() {
  DrumOptions options;
  options.bucket_count = 2;
  options.array_elements = 16;
  options.partition_keys_max = 100;
  options.parallel = false;
  return options;
}

PagesOptions pages_options() {
  PagesOptions options;
  options.memory_bytes = 1 << 20;
  options.bucket_count = 2;
  options.bucket_keys_max = 20;
  options.parallel = false;
  return options;
}

/// What a generation shows. A round is a number for the DRUM and edits of pages, in one commit.
struct Sight {
  std::uint64_t round_count = 0;
  bool edits_wait = false;
  std::string pages;  ///< all that is known of pages, in bytes
  friend bool operator==(const Sight&, const Sight&) = default;
};

template <class Number>
void append(std::string& bytes, Number number) {
  const auto view = std::as_bytes(std::span(&number, 1));
  bytes.append(reinterpret_cast<const char*>(view.data()), view.size());
}

/// A page as views and the model know it.
template <class Page, class Links>
void append_page(std::string& bytes, const Page& page, const Links& out, const Links& in) {
  bytes += page.url;
  append(bytes, page.linked_from.value_or(~std::uint64_t{0}));
  for (const std::uint32_t number : {page.depth, page.crawl_count, page.change_count}) {
    append(bytes, number);
  }
  append(bytes, page.state);
  append(bytes, page.score);
  for (const auto* const links : {&out, &in}) {
    append(bytes, links->size());
    for (const std::uint64_t link : *links) append(bytes, link);
  }
}

std::string bytes_of(const PageModel& model) {
  std::string bytes;
  for (const PageModel::Page& page : model.pages()) {
    append_page(bytes, page, page.out, page.in);
    append(bytes, page.first_us);
    append(bytes, page.last_us);
    bytes += page.content_hash;
  }
  return bytes;
}

/// Throws what is damaged, and when a page is not found by its URL.
std::string bytes_of(const PageView& view) {
  std::string bytes;
  must(view.for_each_page([&](const PageInfo& page) {
    append_page(bytes, page, must(view.out_links(page.index)), must(view.in_links(page.index)));
    append(bytes, page.first_crawl_us);
    append(bytes, page.last_crawl_us);
    for (const std::byte byte : page.content_hash) append(bytes, byte);
    if (!page.url.empty() && must(view.find_text(page.url)) != page.index) {
      throw std::runtime_error("a page is not found by its URL");
    }
    return true;
  }));
  return bytes;
}

Sight sight_of(const Snapshot& snapshot) {
  const DrumInfo rounds = must(DrumView::open(snapshot, "rounds")).info();
  const PageView pages = must(PageView::open(snapshot));
  return {rounds.key_count + rounds.pending_count, pages.info().event_count != 0, bytes_of(pages)};
}

/// What a writer has made, whether it is committed or not.
struct State {
  Sight sight;
  PageModel model;  ///< with the edits that wait

  [[nodiscard]] State merged() const {
    State state = *this;
    state.sight.edits_wait = false;
    state.sight.pages = bytes_of(model);
    return state;
  }
};

struct Counts {
  std::uint64_t looks = 0;
  std::uint64_t looks_at_previous = 0;
  std::uint64_t failures = 0;
  std::uint64_t retries = 0;
  std::uint64_t crashes = 0;
  std::uint64_t operations = 0;
};

class Simulation {
 public:
  Simulation(std::uint64_t seed, Counts& counts) : random_(seed), counts_(counts), crawl_(seed) {
    const Undisturbed undisturbed(*this);
    start(make_empty_store_file(kCapacityBytes));
    open();
    for (int generation = 0; generation < 2; ++generation) {
      add_round();
      must(store_->commit());
      states_.push_back(now_);
    }
    known_ = acknowledged_ = states_.size() - 1;
  }

  void run() {
    for (std::uint64_t left = 5 + random_.below(30); left > 0 && !failed(); --left) {
      for (std::uint64_t rounds = random_.below(3); rounds > 0; --rounds) add_round();
      plan_trouble();
      operate();
      end_trouble();
      if (crash_log_) crash();
      if (random_.below(3) == 0) step_of_a_reader();
    }
    if (!failed()) finish();
    recorder_->set_hook({});
  }

 private:
  struct Reader {
    Snapshot snapshot;
    Sight sight;
  };

  /// While it lives, calls are just calls.
  class Undisturbed {
   public:
    explicit Undisturbed(Simulation& simulation)
        : flag_(simulation.is_undisturbed_), before_(std::exchange(flag_, true)) {}
    Undisturbed(const Undisturbed&) = delete;
    Undisturbed& operator=(const Undisturbed&) = delete;
    ~Undisturbed() { flag_ = before_; }

   private:
    bool& flag_;
    bool before_;
  };

  [[nodiscard]] static bool failed() { return ::testing::Test::HasFailure(); }

  void start(std::shared_ptr<MemoryFile> file) {
    file_ = std::move(file);
    recorder_ = std::make_unique<Recorder>(file_);
    recorder_->set_hook([this](CallKind, Extent) { before_call(); });
  }

  void before_call() {
    if (is_undisturbed_) return;
    if (calls_to_crash_ > 0 && --calls_to_crash_ == 0) {
      crash_log_ = recorder_->log();
      recorder_->inject({.forever = true});
      return;
    }
    if (!crash_log_ && random_.below(12) == 0) step_of_a_reader();
  }

  // Readers.

  void step_of_a_reader() {
    const Undisturbed undisturbed(*this);
    auto& reader = readers_[random_.below(kReaders)];
    try {
      if (!reader) {
        open_reader(reader);
      } else if (random_.below(2) == 0) {
        EXPECT_TRUE(sight_of(reader->snapshot) == reader->sight) << "a snapshot has changed";
        ++counts_.looks;
      } else {
        reader.reset();
      }
    } catch (const std::exception& error) {
      ADD_FAILURE() << "a reader: " << error.what();
    }
  }

  void close_readers() {
    const Undisturbed undisturbed(*this);
    for (auto& reader : readers_) reader.reset();
  }

  void open_reader(std::optional<Reader>& reader) {
    SnapshotOptions options;
    options.previous = random_.below(4) == 0;
    auto snapshot = must(Snapshot::open(recorder_->open(OpenMode::kRead), options));
    Sight sight = sight_of(snapshot);
    if (options.previous) {
      EXPECT_TRUE(find(sight, 0)) << "the generation before was never published";
      ++counts_.looks_at_previous;
    } else {
      // What was seen stays, but for an unsynced commit of which the cache has been emptied.
      const auto place = find(sight, evicts_ ? acknowledged_ : known_);
      EXPECT_TRUE(place) << "a reader sees what is lost, or never was: " << told(sight);
      if (place && !evicts_) known_ = *place;
    }
    ++counts_.looks;
    reader.emplace(Reader{std::move(snapshot), std::move(sight)});
  }

  [[nodiscard]] std::optional<std::size_t> find(const Sight& sight, std::size_t first) const {
    for (std::size_t place = first; place < states_.size(); ++place) {
      if (states_[place].sight == sight) return place;
    }
    return std::nullopt;
  }

  [[nodiscard]] std::string told(const Sight& sight) const {
    return std::to_string(sight.round_count) + " rounds" +
           (sight.edits_wait ? ", edits wait" : "") +
           "; acknowledged: " + std::to_string(states_[acknowledged_].sight.round_count) +
           " rounds, as state " + std::to_string(acknowledged_) + " of " +
           std::to_string(states_.size());
  }

  // Trouble.

  void plan_trouble() {
    static constexpr std::array kCalls = {kMutatingCalls, calls(CallKind::kSync),
                                          calls(CallKind::kWrite), calls(CallKind::kAllocate)};
    evicts_ = false;
    switch (random_.below(6)) {
      case 0:
        calls_to_crash_ = 1 + random_.below(60);
        break;
      case 1: {
        FailurePlan plan;
        plan.calls = kCalls[random_.below(kCalls.size())];
        plan.nth = 1 + random_.below(plan.calls == kMutatingCalls ? 25 : 4);
        plan.forever = random_.below(2) == 0;
        plan.system_errno = random_.below(2) == 0 ? EIO : ENOSPC;
        plan.short_bytes = random_.below(2) * random_.below(4096);
        evicts_ = plan.evict = random_.below(3) == 0;
        has_evicted_ |= plan.evict;
        recorder_->inject(plan);
        break;
      }
      default:
        break;
    }
  }

  void end_trouble() {
    recorder_->stop_injecting();
    calls_to_crash_ = 0;
  }

  /// A reader may hold what the cache showed and the disk never had: until it is closed, nobody can
  /// write.
  Result<void> without_lost_readers(const std::function<Result<void>()>& act) {
    auto result = act();
    if (result || result.error().code != Errc::kBusyPinned) return result;
    EXPECT_TRUE(has_evicted_) << "no published generation was ever lost";
    close_readers();
    return act();
  }

  /// Carries out what may lead to `states`; the last one, and for certain, when it succeeds and
  /// `acknowledges`. Otherwise the writer goes on from what it finds.
  void attempt(std::vector<State> states, bool acknowledges,
               const std::function<Result<void>()>& act) {
    ++counts_.operations;
    states_.insert(states_.end(), states.begin(), states.end());
    auto result = without_lost_readers(act);
    if (!result && !crash_log_) {
      EXPECT_TRUE(recorder_->has_injected()) << "without a reason: " << describe(result.error());
      ++counts_.failures;
      if (random_.below(2) == 0) recorder_->stop_injecting();
      if (random_.below(2) == 0) {
        result = without_lost_readers(act);
        if (result) ++counts_.retries;
      }
    }
    if (!result) return give_up();
    now_ = std::move(states.back());
    if (acknowledges) known_ = acknowledged_ = states_.size() - 1;
  }

  /// The process is killed, and another one opens the store.
  void give_up() {
    if (!crash_log_) recorder_->inject({.forever = true});
    drop();
    if (crash_log_) return;
    end_trouble();
    open();
  }

  void drop() {
    pages_.reset();
    rounds_.reset();
    store_.reset();
  }

  /// The machine dies: what comes back is one of the images that the disk may hold.
  void crash() {
    ++counts_.crashes;
    recorder_->inject({.forever = true});
    drop();
    close_readers();
    has_evicted_ = false;
    const std::size_t point = crash_log_->operations.size();
    CrashImages images(std::move(*crash_log_), {.seed = random_.next()});
    crash_log_.reset();
    std::vector<std::byte> bytes;
    std::uint64_t left = random_.below(std::uint64_t{1} << random_.below(9));
    images.enumerate_at(point, [&](const CrashImage& image) {
      bytes.assign(image.bytes.begin(), image.bytes.end());
      return left-- != 0;
    });
    start(make_memory_file(bytes, kCapacityBytes));
    known_ = acknowledged_;
    open();
    known_ = acknowledged_ = states_.size() - 1;
  }

  // The writer.

  void open() {
    evicts_ = false;
    verify_deep();
    OpenOptions options;
    options.time_us = kFixedTimeUs;
    store_.emplace(must(Store::open(recorder_->open(OpenMode::kWrite), options)));
    if (!states_.empty()) find_again();
    rounds_.emplace(must(Rounds::open(*store_, "rounds", drum_options())));
    pages_.emplace(must(PageDb::open(*store_, "pages", pages_options())));
  }

  /// Which of the states that were attempted the store is in.
  void find_again() {
    const Sight sight = sight_of(must(store_->snapshot()));
    const auto place = find(sight, acknowledged_);
    if (!place) throw std::runtime_error("acknowledged state lost: " + told(sight));
    states_.resize(*place + 1);
    known_ = *place;
    now_ = states_.back();
    if (random_.below(2) != 0) return;
    must(without_lost_readers([this]() -> Result<void> {
      CRAWLSTORE_TRY(store_->commit());
      return {};
    }));
    acknowledged_ = known_;
  }

  void add_round() {
    ++now_.sight.round_count;
    now_.sight.edits_wait = true;
    must(rounds_->check_update(now_.sight.round_count * kSpread));
    for (std::uint64_t left = 1 + random_.below(12); left > 0; --left) {
      const Edit edit = crawl_.next();
      now_.model.apply(edit);
      must(edit.as_event([&](const CrawlEvent& event) { return pages_->add(event); }));
    }
  }

  void operate() {
    const auto commit = [this]() -> Result<void> {
      const auto generation = store_->commit();
      if (!generation) return tl::unexpected<Error>(generation.error());
      return {};
    };
    switch (random_.below(10)) {
      case 0:
        return attempt({now_}, false, [this] { return join_nothing(store_->compact()); });
      case 1:
        return attempt({now_, now_.merged()}, true, [this]() -> Result<void> {
          CRAWLSTORE_TRY(pages_->compact());
          return {};
        });
      case 2:
        return attempt({now_}, false, [this] { return join_nothing(rounds_->merge()); });
      case 3:
        return forget();
      case 4:
        attempt({now_}, true, commit);
        drop();
        if (crash_log_) return;
        end_trouble();
        return open();
      case 5:
      case 6:
      case 7:
        return attempt({now_, now_.merged()}, true,
                       [this] { return join_nothing(pages_->merge()); });
      default:
        return attempt({now_}, true, commit);
    }
  }

  /// The result without its value.
  template <class T>
  static Result<void> join_nothing(const Result<T>& result) {
    if (!result) return tl::unexpected<Error>(result.error());
    return {};
  }

  void forget() {
    const std::string host = "http://host" + std::to_string(random_.below(5)) + ".example/";
    const auto is_meant = [host](std::string_view url) { return url.starts_with(host); };
    State forgotten = now_;
    forgotten.model.forget(is_meant);
    attempt({now_, now_.merged(), forgotten.merged()}, true,
            [this, is_meant] { return join_nothing(pages_->forget(is_meant)); });
  }

  void verify_deep() {
    VerifyOptions options;
    options.level = VerifyLevel::kDeep;
    const Undisturbed undisturbed(*this);
    const auto report = must(verify(*recorder_->open(OpenMode::kRead), options));
    EXPECT_FALSE(report.damaged());
  }

  /// Nothing is lost, and what nobody uses goes back.
  void finish() {
    close_readers();
    attempt({now_, now_.merged()}, true, [this] { return join_nothing(pages_->merge()); });
    EXPECT_TRUE(sight_of(must(store_->snapshot())) == now_.sight);
    drop();
    open();
    must(store_->compact());
    const auto info = must(must(store_->snapshot()).info());
    EXPECT_LE(info.file_bytes, 2 * info.live_bytes + (std::uint64_t{1} << 20));
    drop();
    verify_deep();
  }

  Random random_;
  Counts& counts_;
  RandomCrawl crawl_;
  std::shared_ptr<MemoryFile> file_;
  std::unique_ptr<Recorder> recorder_;
  std::array<std::optional<Reader>, kReaders> readers_;
  std::optional<Store> store_;
  std::optional<Rounds> rounds_;
  std::optional<PageDb> pages_;

  /// What was published or attempted, in order; a crash leaves none before `acknowledged_`, readers
  /// see none before `known_`.
  std::vector<State> states_;
  std::size_t acknowledged_ = 0;
  std::size_t known_ = 0;
  State now_;

  std::uint64_t calls_to_crash_ = 0;  ///< 0: never
  std::optional<OperationLog> crash_log_;
  bool evicts_ = false;       ///< the plan does
  bool has_evicted_ = false;  ///< a plan of this machine's life did
  bool is_undisturbed_ = false;
};

TEST(Simulation, ShowsReadersWhatWasCommittedWhateverFails) {
  const std::uint64_t wanted = is_long() ? 100'000 : 100;
  Counts counts;
  for (std::uint64_t seed = test_seed(); seed < test_seed() + wanted && !HasFailure(); ++seed) {
    SCOPED_TRACE("CRAWLSTORE_TEST_SEED=" + std::to_string(seed));
    try {
      Simulation(seed, counts).run();
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what();
    }
  }
  std::printf(
      "%llu operations, %llu of them failed and %llu then did when repeated; %llu crashes; %llu "
      "looks of readers, %llu at previous generations\n",
      static_cast<unsigned long long>(counts.operations),
      static_cast<unsigned long long>(counts.failures),
      static_cast<unsigned long long>(counts.retries),
      static_cast<unsigned long long>(counts.crashes),
      static_cast<unsigned long long>(counts.looks),
      static_cast<unsigned long long>(counts.looks_at_previous));
  EXPECT_GT(counts.failures, wanted / 10);
  EXPECT_GT(counts.retries, 0U);
  EXPECT_GT(counts.crashes, wanted / 10);
  EXPECT_GT(counts.looks, wanted);
  EXPECT_GT(counts.looks_at_previous, wanted / 10);
}

}  // namespace
}  // namespace crawlstore::testing
