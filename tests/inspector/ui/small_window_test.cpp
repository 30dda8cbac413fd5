// SPDX-License-Identifier: Apache-2.0
// Tables in the smallest window that is a promise: 800 x 500 at twice the size. And that columns
// are called by words, each by its own, in all tables of all panels.
#include <algorithm>
#include <map>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "inspector/inspector_file.h"
#include "inspector/pages_file.h"
#include "support/bytes.h"

namespace crawlstore::testing {
namespace {

using inspector::HeadlessShell;
using inspector::ProbeItem;

/// A place, and what is clicked there to see the table.
struct Look {
  std::string place;
  std::string click;
};

/// Each panel that has a table, in each of its looks.
const std::vector<Look> kLooks = {
    {"start", ""},
    {"overview", ""},
    {"segments", ""},
    {"segment/3", ""},
    {"map", "map.as a table"},
    {"hex/segment/1", ""},
    {"buckets", "buckets.As a table"},
    {"generations", ""},
    {"diff", "diff.previous"},
    {"log", ""},
    {"keys", ""},
    {"pages", ""},
    {"pages", "pages.top"},
    {"page/3", "page.out_links"},
    {"hosts", ""},
    {"links", ""},
    {"scores", ""},
    {"queue", ""},
    {"queue", "queue.hosts"},
    {"queue", "queue.runs"},
    {"events", ""},
};

class Tables {
 public:
  Tables(int width, int height, float scale) : shell_({width, height, settings(scale)}) {
    write_pages_file(folder_ / "pages.crawl", true, true);
    open_file(shell_, folder_ / "pages.crawl");
  }
  HeadlessShell& shell() { return shell_; }
  [[nodiscard]] const std::vector<ProbeItem>& items() { return shell_.app().probe().items(); }

  void look_at(const Look& look) {
    run_step(shell_, "goto", look.place);
    run_step(shell_, "frames", "4");
    if (look.click.empty()) return;
    walk_until([&] { return is_in_sight(*shell_.app().probe().find(look.click)); });
    run_step(shell_, "click", look.click);
    run_step(shell_, "frames", "4");
  }

  /// Tab leads through the panel, and scrolls to where it is.
  template <class Condition>
  void walk_until(const Condition& condition) {
    if (!condition()) run_step(shell_, "command", "pane_panel");
    for (int stop = 0; stop < 60 && !condition(); ++stop) {
      run_step(shell_, "key", "Tab");
      run_step(shell_, "frames", "2");
    }
  }

  [[nodiscard]] bool is_in_sight(const ProbeItem& item) {
    const ProbeItem& pane = *shell_.app().probe().find("splitter.left");
    return item.min.y >= pane.min.y && item.max.y <= pane.max.y;
  }

  /// Whole rows on the screen of the table that shows most.
  std::size_t rows_in_sight() {
    const ProbeItem& pane = *shell_.app().probe().find("splitter.left");
    std::size_t most = 0;
    for (const ProbeItem& table : items()) {
      if (!table.label.ends_with(".rows")) continue;
      const float top = std::max(table.min.y, pane.min.y);
      const float bottom = std::min(table.max.y, pane.max.y);
      const std::string prefix = table.label.substr(0, table.label.size() - 5) + "[";
      std::set<float> rows;
      for (const ProbeItem& cell : items()) {
        const bool is_here = cell.label.starts_with(prefix) && cell.min.y >= top;
        if (is_here && cell.max.y <= bottom + 1) rows.insert(cell.min.y);
      }
      most = std::max(most, rows.size());
    }
    return most;
  }

  /// Rows that the tables of the panel in front have, of the one that has most.
  std::size_t rows_noted() {
    std::map<std::string, std::set<std::string>> rows;
    for (const ProbeItem& cell : items()) {
      const auto open = cell.label.find('[');
      const auto close = cell.label.find("].");
      if (open == 0 || open == cell.label.npos || close == cell.label.npos) continue;
      rows[cell.label.substr(0, open)].insert(cell.label.substr(open, close - open));
    }
    std::size_t most = 0;
    for (const auto& [table, numbers] : rows) most = std::max(most, numbers.size());
    return most;
  }

 private:
  static inspector::Settings settings(float scale) {
    inspector::Settings settings;
    settings.scale = scale;
    return settings;
  }
  TemporaryFolder folder_;
  HeadlessShell shell_;
};

/// Panels that are for their table need no step for that.
TEST(SmallWindow, BringsTheTableOfAPanelIntoSight) {
  Tables small(800, 500, 2);
  for (const char* panel : {"segments", "pages", "hosts", "scores", "queue", "links", "events"}) {
    small.look_at({panel, ""});
    EXPECT_GE(small.rows_in_sight(), std::min<std::size_t>(5, small.rows_noted())) << panel;
  }
}

TEST(SmallWindow, LeavesTheWheelToATableAndThenToThePanel) {
  Tables small(800, 500, 2);
  small.look_at({"pages", ""});
  const auto top_of_table = [&] { return small.shell().app().probe().find("pages.rows")->min.y; };
  const float before = top_of_table();
  run_step(small.shell(), "hover", "pages[0].index");
  run_step(small.shell(), "wheel", "-1");
  EXPECT_EQ(small.shell().app().probe().find("pages[0].index"), nullptr);
  EXPECT_EQ(top_of_table(), before) << "the panel stays";
  run_step(small.shell(), "wheel", "1");
  EXPECT_NE(small.shell().app().probe().find("pages[0].index"), nullptr);
  EXPECT_EQ(top_of_table(), before);
  run_step(small.shell(), "wheel", "1");
  EXPECT_GT(top_of_table(), before) << "what stands above the table comes";
}

TEST(DetailsPane, ComesWithTheFirstSelectionAndStaysInItsPanel) {
  Tables window(1200, 700, 1);
  const auto find = [&](const char* label) { return window.shell().app().probe().find(label); };
  window.look_at({"pages", ""});
  EXPECT_EQ(find("splitter.right"), nullptr);
  run_step(window.shell(), "click", "pages[2].state");
  ASSERT_NE(find("splitter.right"), nullptr);
  const float left = find("splitter.right")->min.x;
  for (const char* row : {"pages[0].state", "pages[5].state"}) {
    run_step(window.shell(), "click", row);
    EXPECT_EQ(find("splitter.right")->min.x, left);
  }
  run_step(window.shell(), "click", "pages.all");
  EXPECT_EQ(find("splitter.right")->min.x, left);
  window.look_at({"hosts", ""});
  EXPECT_EQ(find("splitter.right"), nullptr);
  run_step(window.shell(), "key", "Alt+Left");
  run_step(window.shell(), "frames", "3");
  EXPECT_NE(find("splitter.right"), nullptr) << "the selection is back, and what is known of it";
}

TEST(Help, SaysOfEachPanelWhatItShowsAndThenMore) {
  for (const auto& kind : inspector::panel_kinds()) {
    const std::string_view first = kind.first_sentence();
    EXPECT_LT(first.size(), 100U) << kind.id << ": for a tooltip";
    EXPECT_LT(first.size() + 20, kind.help.size()) << kind.id;
    EXPECT_TRUE(kind.help.ends_with('.')) << kind.id;
  }
}

TEST(SmallWindow, ShowsFiveRowsOfATableInEveryPanel) {
  Tables small(800, 500, 2);
  Tables large(2000, 3000, 1);
  for (const Look& look : kLooks) {
    large.look_at(look);
    small.look_at(look);
    const std::size_t wanted = std::min<std::size_t>(5, large.rows_noted());
    EXPECT_GT(wanted, 0U) << look.place << " " << look.click;
    // A panel that is not for its table has it below.
    small.walk_until([&] { return small.rows_in_sight() >= wanted; });
    EXPECT_GE(small.rows_in_sight(), wanted) << look.place << " " << look.click;
  }
}

TEST(SmallWindow, ShowsFiveProblemsOfADamagedFile) {
  const TemporaryFolder folder;
  auto bytes = file_bytes(golden("buckets_64"));
  for (std::size_t at = 0x28000; at < 0x90000; at += 0x1000) bytes[at] ^= std::byte{1};
  put_file(folder / "damaged.crawl", bytes);
  Tables small(800, 500, 2);
  open_file(small.shell(), folder / "damaged.crawl");
  run_step(small.shell(), "command", "verify_deep");
  small.look_at({"problems", ""});
  EXPECT_GE(small.rows_in_sight(), 5U);
}

/// The titles of the tables on the screen: of each table, by the names of its columns.
std::vector<std::map<std::string, std::string>> titles(const std::vector<ProbeItem>& items) {
  std::vector<std::map<std::string, std::string>> tables;
  bool is_in_header = false;
  for (const ProbeItem& item : items) {
    if (item.label.starts_with("border.")) continue;
    const bool is_title = item.label.starts_with("column.");
    if (is_title && !is_in_header) tables.emplace_back();
    if (is_title) tables.back()[item.label.substr(7)] = item.text;
    is_in_header = is_title;
  }
  return tables;
}

TEST(ColumnTitles, AreWordsAndEachOfItsOwnInItsTable) {
  Tables window(8000, 2000, 1);
  std::set<std::string> names;
  for (const Look& look : kLooks) {
    window.look_at(look);
    for (const auto& table : titles(window.items())) {
      std::set<std::string> words;
      for (const auto& [name, title] : table) {
        names.insert(name);
        EXPECT_EQ(title.find('_'), title.npos) << look.place << ": " << title;
        EXPECT_FALSE(title.empty()) << name;
        EXPECT_TRUE(words.insert(title).second) << look.place << ": " << title << " twice";
      }
    }
  }
  EXPECT_GT(names.size(), 80U) << "so many columns were looked at";
  for (const char* name : {"in_link_count", "allocated_bytes", "first_crawl_us", "crawled_count"}) {
    EXPECT_TRUE(names.contains(name)) << name;
  }
}

}  // namespace
}  // namespace crawlstore::testing
