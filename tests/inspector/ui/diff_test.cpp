// SPDX-License-Identifier: Apache-2.0
// What the diff panel shows of two states, against the events between them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <crawlstore/drum.h>
#include <crawlstore/queue.h>

#include "drum/memory_store.h"
#include "inspector/inspector_file.h"

namespace crawlstore::testing {
namespace {

using inspector::HeadlessShell;
using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;
using Cells = std::vector<std::string>;
using NumberDrum = Drum<std::uint64_t, std::uint64_t>;

/// The cells on the screen of some columns, row by row.
std::vector<Cells> shown_rows(HeadlessShell& shell, const std::string& table,
                              const std::vector<std::string>& columns) {
  std::vector<Cells> rows;
  for (std::size_t i = 0;; ++i) {
    Cells cells;
    for (const std::string& column : columns) {
      const auto* cell = shell.app().probe().find(table + "[" + std::to_string(i) + "]." + column);
      if (cell == nullptr) return rows;
      cells.push_back(cell->text);
    }
    rows.push_back(std::move(cells));
  }
}

/// A store whose events are known, with a copy of generation n, and five commits more.
class DiffOfKnownEvents : public ::testing::Test {
 protected:
  DiffOfKnownEvents() {
    auto known = open("known");
    // Keys of both buckets; one request that waits.
    for (const std::uint64_t key : {kLow + 1, kLow + 2, kHigh + 3}) update(known, key, 10);
    merge(known);
    update(known, kLow + 7, 70);
    commit();
    std::filesystem::copy_file(path_, older_);
    update(known, kLow + 2, 21);
    merge(known);
    commit();
    update(known, kLow + 5, 50);
    merge(known);
    commit();
    auto more = open("more");
    update(more, kHigh + 9, 90);
    merge(more);
    commit();
    update(known, kHigh + 11, 110);
    commit();
    update(known, kLow + 2, 22);
    commit();
  }

  NumberDrum open(const std::string& name) {
    DrumOptions options;
    options.bucket_count = 2;
    options.auto_merge = false;
    return *NumberDrum::open(store_, name, options);
  }
  static void update(NumberDrum& drum, std::uint64_t key, std::uint64_t value) {
    EXPECT_TRUE(drum.update(key, value));
  }
  static void merge(NumberDrum& drum) { EXPECT_TRUE(drum.merge()); }
  void commit() { EXPECT_TRUE(store_.commit()); }

  static constexpr std::uint64_t kLow = 0x1000'0000'0000'0000;
  static constexpr std::uint64_t kHigh = 0x9000'0000'0000'0000;
  TemporaryFolder folder_;
  std::string path_ = folder_ / "a.crawl";
  std::string older_ = folder_ / "older.crawl";
  Store store_ = *Store::create(path_);
};

// acceptance: 14
TEST_F(DiffOfKnownEvents, ShowsThemAndNothingElse) {
  HeadlessShell shell({2000, 1000});
  open_file(shell, path_);
  run_step(shell, "goto", "diff");
  run_step(shell, "click", "diff.older");
  run_step(shell, "type", older_);
  run_step(shell, "key", "Enter");
  // The differences are in front; if only keys differ, the counts of DRUMs are a tab further.
  EXPECT_EQ(shell.app().probe().find("diff.sentence")->text,
            "+3 keys, 1 value changed, +2 and -1 waiting requests");
  EXPECT_FALSE(shown_rows(shell, "diff_keys", {"drum"}).empty());
  run_step(shell, "click", "diff.drums");
  EXPECT_THAT(
      shown_rows(shell, "diff_drums", {"name", "change", "old_key_count", "new_key_count"}),
      UnorderedElementsAre(Cells{"known", "changed", "3", "5"}, Cells{"more", "added", "0", "1"}));

  run_step(shell, "click", "diff.keys");
  EXPECT_THAT(shown_rows(shell, "diff_keys", {"drum", "change", "key", "old_value", "new_value"}),
              ElementsAre(Cells{"known", "changed", "1000000000000002", "0a00000000000000",
                                "1500000000000000"},
                          Cells{"known", "added", "1000000000000005", "-", "3200000000000000"},
                          Cells{"known", "added", "1000000000000007", "-", "4600000000000000"},
                          Cells{"more", "added", "9000000000000009", "-", "5a00000000000000"}));

  run_step(shell, "click", "diff.requests");
  EXPECT_THAT(shown_rows(shell, "diff_requests", {"drum", "change", "key"}),
              UnorderedElementsAre(Cells{"known", "gone", "1000000000000007"},
                                   Cells{"known", "added", "900000000000000b"},
                                   Cells{"known", "added", "1000000000000002"}));

  // In the one DRUM the lower partition and the answers grew, and the log that waited was merged;
  // the upper partition is as it was. Two requests wait in a log each. The other DRUM is new.
  run_step(shell, "click", "diff.segments");
  EXPECT_EQ(shell.app().probe().find("diff.segments")->text, "segments 9");
  EXPECT_THAT(shown_rows(shell, "diff_segments", {"kind", "change", "name"}),
              UnorderedElementsAre(
                  Cells{"drum", "changed", "known"}, Cells{"drum_partition", "changed", ""},
                  Cells{"drum_results", "changed", ""}, Cells{"drum_key_log", "gone", ""},
                  Cells{"drum_key_log", "added", ""}, Cells{"drum_key_log", "added", ""},
                  Cells{"drum", "added", "more"}, Cells{"drum_partition", "added", ""},
                  Cells{"drum_results", "added", ""}));
}

// acceptance: 14
TEST_F(DiffOfKnownEvents, ShowsOnlyTheLastOfThemAgainstThePreviousGeneration) {
  HeadlessShell shell({2000, 1000});
  open_file(shell, path_);
  run_step(shell, "goto", "diff");
  run_step(shell, "click", "diff.previous");
  EXPECT_EQ(shell.app().probe().find("diff.keys"), nullptr);
  run_step(shell, "click", "diff.requests");
  EXPECT_THAT(shown_rows(shell, "diff_requests", {"drum", "change", "key"}),
              ElementsAre(Cells{"known", "added", "1000000000000002"}));
}

/// Compares two goldens in a window of a usual size.
class DiffOfPages : public ::testing::Test {
 protected:
  void compare_with(const std::string& older) {
    open_file(shell_, golden("pages_of_sites"));
    run_step(shell_, "goto", "diff");
    run_step(shell_, "click", "diff.older");
    run_step(shell_, "type", older);
    run_step(shell_, "key", "Enter");
  }
  HeadlessShell shell_{{1440, 900}};
};

TEST(DiffOfQueues, LeavesAQueueThatIsAsBeforeBehind) {
  const TemporaryFolder folder;
  Store store = must(Store::create(folder / "file.crawl"));
  Queue queue = must(Queue::open(store));
  must(queue.insert(std::vector<QueuedPage>{{1, 0.5}, {2, 0.25}}));
  must(store.commit());
  auto drum = must(NumberDrum::open(store, "numbers"));
  must(drum.update(1, 10));
  must(drum.merge());
  HeadlessShell shell({});
  open_file(shell, folder / "file.crawl");
  run_step(shell, "goto", "diff");
  run_step(shell, "click", "diff.previous");
  EXPECT_NE(shell.app().probe().find("diff.queues"), nullptr) << "it has a tab";
  EXPECT_EQ(shell.app().probe().find("diff_queues[0].name"), nullptr) << "in front";
}

TEST_F(DiffOfPages, HasTheUrlInSight) {
  compare_with(golden("pages"));
  run_step(shell_, "click", "diff.pages");
  const auto* url = shell_.app().probe().find("diff_pages[0].page");
  ASSERT_NE(url, nullptr);
  const auto* change = shell_.app().probe().find("diff_pages[0].change");
  ASSERT_NE(change, nullptr);
  EXPECT_LT(url->min.x, change->min.x);
  EXPECT_LT(url->max.x, 1440);
  // Nothing says the same in all rows, and the panel says what it left out.
  EXPECT_EQ(shell_.app().probe().find("column.database"), nullptr);
  EXPECT_TRUE(shell_.app().probe().shows("these are 0, no or nothing in all rows"));
}

TEST_F(DiffOfPages, SharesTheWidthAmongTheUrlsOfLinks) {
  compare_with(golden("pages"));
  run_step(shell_, "click", "diff.links");
  const auto* to = shell_.app().probe().find("column.to");
  const auto* change = shell_.app().probe().find("column.change");
  ASSERT_TRUE(to != nullptr && change != nullptr);
  const auto* from = shell_.app().probe().find("column.from");
  EXPECT_NEAR(from->max.x - from->min.x, to->max.x - to->min.x, 1);
  EXPECT_FALSE(change->is_clipped);
}

TEST_F(DiffOfPages, NamesThePathThatLeadsNowhere) {
  compare_with("/nowhere/old.crawl");
  EXPECT_TRUE(shell_.app().probe().shows("there is no file /nowhere/old.crawl"));
  EXPECT_FALSE(shell_.app().probe().shows("crawlstore create"));
}

TEST_F(DiffOfPages, NamesThePathOfAFileThatIsNoCrawl) {
  const std::string source = std::string(CRAWLSTORE_SOURCE_DIR) + "/CMakeLists.txt";
  compare_with(source);
  EXPECT_TRUE(shell_.app().probe().shows(source + " is not a crawl file"));
}

}  // namespace
}  // namespace crawlstore::testing
