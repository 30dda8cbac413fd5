// SPDX-License-Identifier: Apache-2.0
// The panel Links against what the library gives.
#include <gtest/gtest.h>

#include <crawlstore/tools/link_runs.h>

#include "inspector/inspector_file.h"
#include "inspector/pages_file.h"
#include "model/format_text.h"

namespace crawlstore::testing {
namespace {

using inspector::HeadlessShell;

class LinksPanel : public ::testing::Test {
 protected:
  void look(const std::string& path) {
    open_file(shell_, path);
    run_step(shell_, "goto", "links");
  }
  std::string shown(const std::string& label) {
    const auto* item = shell_.app().probe().find(label);
    return item == nullptr ? "nothing" : item->text;
  }
  bool shows(const std::string& text) { return shell_.app().probe().shows(text); }

  TemporaryFolder folder_;
  HeadlessShell shell_{{1280, 800, {}}};
};

/// A copy of a golden file, whose links are dense.
std::string dense_file(const TemporaryFolder& folder) {
  std::string path = folder / "dense.crawl";
  std::filesystem::copy_file(
      std::string(CRAWLSTORE_SOURCE_DIR) + "/tests/golden/valid/graph_of_dense_links.crawl", path);
  return path;
}

TEST_F(LinksPanel, ShowsRunsWithTheirCodecAndPlace) {
  const std::string path = folder_ / "pages.crawl";
  write_pages_file(path);
  look(path);
  EXPECT_EQ(shown("link_directions[0].direction"), "out");
  run_step(shell_, "click", "links.part.Runs");
  EXPECT_EQ(shown("link_runs[0].codec"), "fresh");
  const Snapshot snapshot = must(Snapshot::open(path, {.pin = false}));
  const auto runs = link_runs(must(PageView::open(snapshot)));
  run_step(shell_, "click", "link_runs[0].offset_bytes");
  EXPECT_TRUE(format_location(shell_.app().location()).starts_with("hex/"));
  ASSERT_FALSE(runs.empty());
  EXPECT_EQ(shown("link_runs[" + std::to_string(runs.size()) + "].codec"), "nothing");
}

TEST_F(LinksPanel, ReadsDenseRowsWhenAsked) {
  const std::string path = dense_file(folder_);
  look(path);
  EXPECT_EQ(shown("link_directions[0].dense_run_count"), "1");
  EXPECT_EQ(shown("dense_rows[0].plain_count"), "nothing");
  run_step(shell_, "click", "links.part.Dense rows");
  const Snapshot snapshot = must(Snapshot::open(path, {.pin = false}));
  const auto name = PageView::names(snapshot).front();
  const auto sums = must(read_dense_rows(must(PageView::open(snapshot, name)), true));
  EXPECT_EQ(shown("dense_rows[1].direction"), "in");
  EXPECT_EQ(shown("dense_rows[1].equal_count"), model::format_count(sums.equal_count));
}

TEST_F(LinksPanel, SaysThatThereAreNoPages) {
  const std::string path = folder_ / "empty.crawl";
  must(must(Store::create(path)).close());
  look(path);
  EXPECT_TRUE(shows("no page database"));
}

}  // namespace
}  // namespace crawlstore::testing
