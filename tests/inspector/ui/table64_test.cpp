// SPDX-License-Identifier: Apache-2.0
#include "inspector/ui/table64.h"

#include <algorithm>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "inspector/ui/style.h"
#include "model/format_text.h"
#include "support/temporary_folder.h"

namespace crawlstore::testing {
namespace {

using inspector::Actions;
using inspector::Location;
using inspector::Severity;
using inspector::Table64;
using inspector::Ui;

constexpr std::uint64_t kRows = 4'294'967'296 + 1000;

/// More rows than 32 bits count; each knows its number.
class CountedRows final : public model::TableSource {
 public:
  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] const std::vector<model::Column>& columns() const override { return columns_; }
  [[nodiscard]] std::uint64_t row_count() const override { return kRows; }
  [[nodiscard]] Result<std::vector<model::Row>> rows(std::uint64_t first,
                                                     std::size_t count_max) const override {
    std::vector<model::Row> rows;
    for (std::uint64_t row = first; row < kRows && rows.size() < count_max; ++row) {
      rows.emplace_back().emplace_back(row);
    }
    asked_for += rows.size();
    return rows;
  }
  mutable std::uint64_t asked_for = 0;

 private:
  std::string name_ = "counted";
  std::vector<model::Column> columns_{{"number", model::Unit::kId}};
};

/// Ranks in no order, of a table that is not in memory; every third row has none.
class RankedRows final : public model::TableSource {
 public:
  static constexpr std::uint64_t kCount = 10'007;  // a prime
  /// nullopt = none. Each rank once.
  static std::optional<std::uint64_t> rank_of(std::uint64_t row) {
    return row % 3 == 0 ? std::nullopt : std::optional(row * 7919 % kCount);
  }
  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] const std::vector<model::Column>& columns() const override { return columns_; }
  [[nodiscard]] std::uint64_t row_count() const override { return kCount; }
  [[nodiscard]] bool is_costly(std::size_t column) const override { return column == 2; }
  [[nodiscard]] Result<std::vector<model::Row>> rows(std::uint64_t first,
                                                     std::size_t count_max) const override {
    std::vector<model::Row> rows;
    for (std::uint64_t row = first; row < kCount && rows.size() < count_max; ++row) {
      const auto rank = rank_of(row);
      rows.push_back({row, rank ? model::Cell{*rank} : model::Cell{}, {}});
    }
    return rows;
  }

 private:
  std::string name_ = "ranked";
  std::vector<model::Column> columns_{
      {"number", model::Unit::kId}, {"rank", model::Unit::kCount}, {"far", model::Unit::kCount}};
};

class NoActions final : public Actions {
 public:
  void go(const Location& location) override { gone_to = location; }
  void open(const std::string& /*path*/) override {}
  void verify(VerifyLevel /*level*/) override {}
  void copy(const std::string& /*text*/, std::string_view /*what*/) override {}
  void say(Severity /*severity*/, std::string text) override { said = std::move(text); }
  void meet(const Error& /*error*/) override {}
  void run(std::string_view /*command*/, std::string_view /*argument*/) override {}
  void redraw() override {}
  Location gone_to;
  std::string said;
};

/// A table alone in a window of 400 x 300.
class Table64Test : public ::testing::Test {
 protected:
  Table64Test() {
    ImGui::GetIO().DisplaySize = ImVec2(400, 300);
    ImGui::GetIO().IniFilename = nullptr;
    inspector::apply_style(inspector::palettes().front(), 1);
    fonts_.build(1);
    probe_.turn_on();
    draw();
  }
  ~Table64Test() override { ImGui::DestroyContext(context_); }

  Ui make_ui() {
    return {session_, settings_, commands_,
            actions_, jobs_,     fonts_,
            focus_,   probe_,    inspector::palettes().front()};
  }
  void draw() {
    ImGui::NewFrame();
    ImGui::SetNextWindowPos(ImVec2(0, 0));
    ImGui::SetNextWindowSize(ImGui::GetIO().DisplaySize);
    ImGui::Begin("window", nullptr, ImGuiWindowFlags_NoDecoration);
    probe_.begin_frame();
    Ui ui = make_ui();
    table_.draw(ui, shown_, {.id = "t", .has_filter = false});
    ImGui::End();
    ImGui::Render();
    ImGui::GetIO().MouseWheel = 0;
  }
  /// The rows on the screen are `first` and those behind it, each with its own number.
  void expect_on_top(std::uint64_t first) {
    const std::string label = "t[" + std::to_string(first) + "].number";
    const auto* item = probe_.find(label);
    ASSERT_NE(item, nullptr) << label;
    EXPECT_EQ(item->text, std::to_string(first));
    EXPECT_EQ(probe_.find("t[" + std::to_string(first - 1) + "].number"), nullptr);
  }
  void click(const std::string& label) {
    const auto* item = probe_.find(label);
    ASSERT_NE(item, nullptr) << label;
    ImGuiIO& io = ImGui::GetIO();
    io.MousePos = ImVec2((item->min.x + item->max.x) / 2, (item->min.y + item->max.y) / 2);
    for (const bool is_down : {false, true, false}) {
      io.MouseDown[0] = is_down;
      io.DeltaTime = 1;  // no double click
      draw();
    }
    jobs_.wait();
    jobs_.take_finished();
    draw();
  }
  /// The text of a cell on the screen; empty = it is not there.
  std::string cell(std::uint64_t row, const std::string& column) {
    const auto* item = probe_.find("t[" + std::to_string(row) + "]." + column);
    return item == nullptr ? "" : item->text;
  }
  void point() { ImGui::GetIO().MousePos = ImVec2(100, 150); }

  ImGuiContext* context_ = ImGui::CreateContext();
  inspector::Session session_;
  inspector::Settings settings_;
  inspector::CommandRegistry commands_;
  NoActions actions_;
  inspector::Fonts fonts_;
  inspector::FocusWalk focus_;
  inspector::Probe probe_;
  inspector::Jobs jobs_{[] {}, [] { return std::int64_t{0}; }};
  std::shared_ptr<CountedRows> rows_ = std::make_shared<CountedRows>();
  std::shared_ptr<const model::TableSource> shown_ = rows_;
  Table64 table_;
};

// acceptance: 3
TEST_F(Table64Test, IsExactAtEveryRowThatMightBeRounded) {
  for (const std::uint64_t row :
       {std::uint64_t{1}, std::uint64_t{1} << 24, std::uint64_t{1} << 31,
        std::uint64_t{3'123'456'789}, (std::uint64_t{1} << 32) - 1, std::uint64_t{1} << 32}) {
    table_.scroll_to_top(row);
    draw();
    expect_on_top(row);
  }
}

// acceptance: 3
TEST_F(Table64Test, EndsWithTheLastRow) {
  table_.select(kRows - 1);
  draw();
  const auto* last = probe_.find("t[" + std::to_string(kRows - 1) + "].number");
  ASSERT_NE(last, nullptr);
  EXPECT_EQ(last->text, std::to_string(kRows - 1));
  EXPECT_EQ(table_.selected(), kRows - 1);
}

// acceptance: 2
TEST_F(Table64Test, WheelsARowThereAndBack) {
  point();
  table_.scroll_to_top(3'123'456'789);
  draw();
  ImGui::GetIO().MouseWheel = -1;
  draw();
  draw();
  expect_on_top(3'123'456'792);
  ImGui::GetIO().MouseWheel = 1;
  draw();
  draw();
  expect_on_top(3'123'456'789);
}

TEST_F(Table64Test, AsksForNoMoreRowsThanFit) {
  rows_->asked_for = 0;
  table_.scroll_to_top(1'000'000);
  draw();
  EXPECT_LE(rows_->asked_for, 20U);
  // A frame in which nothing changed asks for none.
  rows_->asked_for = 0;
  draw();
  EXPECT_EQ(rows_->asked_for, 0U);
}

TEST_F(Table64Test, BringsItsStateBack) {
  table_.scroll_to_top(4'000'000'000);
  draw();
  const std::string state = table_.view_state();
  table_.scroll_to_top(0);
  draw();
  table_.restore(state);
  draw();
  expect_on_top(4'000'000'000);
}

TEST_F(Table64Test, FindsTheLargestAndTheSmallestOfWhatIsNotInMemory) {
  shown_ = std::make_shared<RankedRows>();
  draw();
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ranked;  // rank, row
  for (std::uint64_t row = 0; row < RankedRows::kCount; ++row) {
    if (const auto rank = RankedRows::rank_of(row)) ranked.emplace_back(*rank, row);
  }
  std::ranges::sort(ranked);
  click("column.rank");
  EXPECT_EQ(probe_.find("column.rank")->text, "rank v");
  EXPECT_EQ(cell(ranked.back().second, "rank"), model::format_count(ranked.back().first));
  table_.select(ranked[ranked.size() - Table64::kTopRows].second);
  draw();
  EXPECT_NE(cell(ranked[ranked.size() - Table64::kTopRows].second, "rank"), "") << "the last one";
  click("column.rank");
  EXPECT_EQ(probe_.find("column.rank")->text, "rank ^");
  EXPECT_EQ(cell(ranked.front().second, "rank"), model::format_count(ranked.front().first));
  click("column.rank");
  EXPECT_EQ(cell(0, "number"), "0") << "as it was";
}

TEST_F(Table64Test, SaysWhyThereIsNoOrder) {
  shown_ = std::make_shared<RankedRows>();
  draw();
  click("column.far");
  EXPECT_EQ(actions_.said,
            "no order by far: each value takes a look elsewhere in the file. A filter such as "
            "\"far\">10 looks through all 10,007 rows");
  EXPECT_EQ(cell(0, "number"), "0");
}

/// Bytes of all files of a folder.
std::uintmax_t bytes_in(const std::string& folder) {
  std::uintmax_t bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) bytes += entry.file_size();
  return bytes;
}

// acceptance: 20
TEST_F(Table64Test, LeavesNothingOfAnExportThatIsCancelled) {
  const TemporaryFolder folder;
  Ui ui = make_ui();
  ASSERT_TRUE(table_.export_to(ui, folder / "rows.csv"));
  while (bytes_in(folder.path()) == 0) std::this_thread::yield();
  EXPECT_FALSE(std::filesystem::exists(folder / "rows.csv"));
  EXPECT_TRUE(jobs_.cancel_newest());
  jobs_.wait();
  jobs_.take_finished();
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  EXPECT_EQ(actions_.said, "");
}

// acceptance: 20
TEST_F(Table64Test, ExportsNoPartOfWhatAFilterShows) {
  const TemporaryFolder folder;
  table_.set_filter("number>100");
  draw();
  EXPECT_TRUE(jobs_.cancel_newest());
  jobs_.wait();
  Ui ui = make_ui();
  EXPECT_TRUE(table_.export_to(ui, folder / "rows.csv"));
  EXPECT_EQ(actions_.said, "the filter has not looked at all rows yet");
  EXPECT_TRUE(jobs_.idle() || jobs_.take_finished());
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST_F(Table64Test, TakesAStateThatIsNone) {
  for (const char* state : {"", " ", "x y z", "1", "99999999999999999999 - a", "- -"}) {
    table_.restore(state);
    draw();
  }
  EXPECT_FALSE(probe_.items().empty());
}

}  // namespace
}  // namespace crawlstore::testing
