// SPDX-License-Identifier: Apache-2.0
// What the inspector pins, asked of the system: a generation that it does not show is nobody's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "inspector/inspector_file.h"
#include "inspector/pages_file.h"
#include "model/format_text.h"

namespace crawlstore::testing {
namespace {

using inspector::HeadlessShell;
using ::testing::ElementsAre;

/// A window that follows a writer of keys and pages.
class InspectorPins : public ::testing::Test {
 protected:
  InspectorPins() : store_(*Store::create(path_)), pages_(must(PageDb::open(store_))) {
    add_urls(store_, 0, 1000);
    crawl_web(pages_, 3, 8, kCrawlTimeUs);
    must(pages_.merge());
    must(rank_pages(store_));
    commit();
    open_file(shell_, path_);
  }
  /// With edits and requests that wait.
  void commit() {
    crawl_web(pages_, 1, 1, kCrawlTimeUs + ++commit_count_);
    auto seen = must(UrlSeen::open(store_));
    must(seen.update("http://example.org/waits/" + std::to_string(commit_count_)));
    must(store_.commit());
  }
  void see_a_commit() {
    commit();
    run_step(shell_, "advance", "0.25");
  }
  void visit(const std::string& location) { run_step(shell_, "goto", location); }
  void click(const std::string& label) { run_step(shell_, "click", label); }
  /// The generations that anybody pins, by the locks on the file.
  [[nodiscard]] std::vector<std::uint64_t> pinned() const {
    const auto storage = must(open_storage(path_, OpenMode::kReadNoPin));
    std::vector<std::uint64_t> generations;
    for (const Generation pin : must(storage->pinned({0}, {store_.generation().value + 1}))) {
      generations.push_back(pin.value);
    }
    return generations;
  }

  TemporaryFolder folder_;
  std::string path_ = folder_ / "live.crawl";
  Store store_;
  PageDb pages_;
  std::int64_t commit_count_ = 0;
  HeadlessShell shell_{{}};
};

TEST_F(InspectorPins, AreOfTheGenerationShownWhicheverPanelsAreHidden) {
  for (const auto& kind : inspector::panel_kinds()) {
    if (kind.id == "start") continue;
    visit(std::string(kind.id));
    visit("overview");
    see_a_commit();
    ASSERT_THAT(pinned(), ElementsAre(store_.generation().value)) << kind.id;
  }
}

TEST_F(InspectorPins, AreNotLeftToWhatAPanelHasShown) {
  const std::vector<std::pair<std::string, std::vector<std::string>>> places{
      {"buckets", {"buckets.Requests that wait", "buckets.Gaps"}},
      {"key/urls/0000000000000001", {}},
      {"pages", {"pages.top", "pages.all"}},
      {"pages/host/a.example", {}},
      {"page/1", {"page.out_links", "page.in_links", "page.path"}},
      {"graph/host/a.example", {"graph.depth.2"}},
      {"scores", {}},
      {"events", {}},
      {"segment/1", {}},
  };
  for (const auto& [location, labels] : places) {
    visit(location);
    for (const std::string& label : labels) click(label);
    visit("overview");
    see_a_commit();
    ASSERT_THAT(pinned(), ElementsAre(store_.generation().value)) << location;
  }
}

TEST_F(InspectorPins, AreNotLeftToTheHiddenPartsOfThePanelInFront) {
  const std::vector<std::vector<std::string>> parts{
      {"buckets", "buckets.Requests that wait", "buckets.Gaps"},
      {"pages", "pages.top", "pages.all"},
      {"page/1", "page.out_links", "page.in_links"},
      {"scores"},
  };
  for (const auto& clicks : parts) {
    visit(clicks.front());
    for (std::size_t i = 1; i < clicks.size(); ++i) click(clicks[i]);
    see_a_commit();
    ASSERT_THAT(pinned(), ElementsAre(store_.generation().value)) << clicks.front();
  }
}

TEST_F(InspectorPins, AreDroppedByAPanelThatIsLeftAfterACommit) {
  for (const std::string panel : {"buckets", "pages", "page/1", "scores", "events", "graph"}) {
    visit(panel);
    see_a_commit();
    visit("overview");
    see_a_commit();
    ASSERT_THAT(pinned(), ElementsAre(store_.generation().value)) << panel;
  }
}

TEST_F(InspectorPins, AreDroppedWithTheRowsOfAHostWhenNobodyLooks) {
  visit("pages/host/a.example");
  run_step(shell_, "advance", "61");
  EXPECT_THAT(pinned(), ElementsAre());
}

/// A window that is left open beside a writer.
TEST_F(InspectorPins, AreNotNeededToKeepWhatPanelsShow) {
  const std::vector<std::pair<std::string, std::string>> places{
      {"buckets", "keys[0].key"},  {"pages/host/a.example", "pages[1].url"},
      {"page/1", "path[0].url"},   {"page/1", "page.out_links"},
      {"hosts", "hosts[0].host"},  {"scores", "top[0].url"},
      {"events", "events[0].url"}, {"graph/host/a.example", "graph.depth.2"}};
  for (const auto& [place, label] : places) {
    visit(place);
    const auto is_shown = [&, wanted = label] {
      return shell_.app().probe().find(wanted) != nullptr;
    };
    EXPECT_TRUE(is_shown()) << label;
    for (int minute = 0; minute < 2; ++minute) {
      run_step(shell_, "advance", "61");
      EXPECT_THAT(pinned(), ElementsAre()) << place;
      EXPECT_TRUE(is_shown()) << label;
      see_a_commit();
      EXPECT_EQ(shell_.app().session().view()->info.generation, store_.generation());
      EXPECT_TRUE(is_shown()) << label;
      run_step(shell_, "advance", "0.25");
      EXPECT_THAT(pinned(), ElementsAre()) << place;
    }
  }
}

TEST_F(InspectorPins, ComeBackWithThePanel) {
  const std::vector<std::pair<std::string, std::string>> places{
      {"buckets", "keys[0].key"},
      {"pages/host/a.example", "pages[1].url"},
      {"page/1", "path[0].url"},
      {"scores", "top[0].url"},
      {"events", "events[0].url"}};
  const auto text = [this](const std::string& label) {
    const auto* cell = shell_.app().probe().find(label);
    return cell == nullptr ? "no " + label : cell->text;
  };
  std::vector<std::string> before;
  for (const auto& [place, label] : places) {
    visit(place);
    EXPECT_NE(before.emplace_back(text(label)), "no " + label);
  }
  visit("overview");
  see_a_commit();
  for (std::size_t i = places.size(); i-- > 0;) {
    run_step(shell_, "command", "go_back");
    EXPECT_EQ(text(places[i].second), before[i]);
    EXPECT_EQ(shell_.app().session().view()->info.generation, store_.generation());
  }
}

TEST_F(InspectorPins, AreListedInTheOverviewWithWhatTheyHoldBack) {
  visit("overview");
  see_a_commit();
  const auto older = must(Snapshot::open(path_, {}));  // as a job would
  see_a_commit();
  const auto pins = must(must(Snapshot::open(path_, {.pin = false})).pins());
  ASSERT_EQ(pins.size(), 2U);
  EXPECT_GT(pins[0].held_bytes, 0U);
  for (const PinInfo& pin : pins) {
    const auto& probe = shell_.app().probe();
    EXPECT_NE(probe.find("generation " + std::to_string(pin.generation.value)), nullptr);
    EXPECT_TRUE(probe.shows("holds back " + model::format_bytes(pin.held_bytes)));
  }
}

}  // namespace
}  // namespace crawlstore::testing
