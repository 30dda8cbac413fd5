// SPDX-License-Identifier: Apache-2.0
// Pages, hosts, links: the panels over a file with pages.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "inspector/inspector_file.h"
#include "inspector/pages_file.h"
#include "inspector/ui/panels/graph_scene.h"
#include "model/format_text.h"
#include "model/host_rows.h"
#include "model/page_source.h"
#include "support/random.h"

namespace crawlstore::testing {
namespace {

using inspector::HeadlessShell;
using ::testing::HasSubstr;

std::string shown(HeadlessShell& shell, const std::string& label) {
  const auto* item = shell.app().probe().find(label);
  return item == nullptr ? "nothing" : item->text;
}

std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class PagesPanels : public ::testing::Test {
 protected:
  PagesPanels() {
    write_pages_file(path_);
    open_file(shell_, path_);
    view_.emplace(must(PageView::open(must(Snapshot::open(path_, {.pin = false})))));
  }
  /// Whether a text on the screen begins so.
  [[nodiscard]] bool is_first_words(std::string_view words) {
    return std::ranges::any_of(shell_.app().probe().items(), [&](const auto& item) {
      return std::string_view(item.text).starts_with(words);
    });
  }
  [[nodiscard]] std::string place() { return format_location(shell_.app().location()); }

  TemporaryFolder folder_;
  std::string path_ = folder_ / "pages.crawl";
  HeadlessShell shell_{{1280, 800, {}}};
  std::optional<PageView> view_;
};

TEST_F(PagesPanels, StandInTheNavigatorOnlyWhereThereArePages) {
  EXPECT_EQ(shown(shell_, "navigator.pages"), "Pages");
  EXPECT_EQ(shown(shell_, "tab.hosts"), "Hosts");
  EXPECT_EQ(shown(shell_, "pages.pages"), "pages");
  HeadlessShell other({});
  open_file(other, golden("many_blocks"));
  EXPECT_EQ(shown(other, "navigator.pages"), "nothing");
  EXPECT_EQ(shown(other, "tab.hosts"), "nothing");
  run_step(other, "goto", "pages");
  EXPECT_TRUE(other.app().probe().shows("no page database"));
}

TEST_F(PagesPanels, LeadFromTheSegmentOfPagesToThem) {
  run_step(shell_, "goto", "segments");
  run_step(shell_, "click", "segments.filter");
  run_step(shell_, "type", "kind=pages");
  for (const auto& item : shell_.app().probe().items()) {
    if (!item.label.starts_with("segments[") || !item.label.ends_with("].name")) continue;
    run_step(shell_, "click", item.label);
    break;
  }
  EXPECT_EQ(place(), "pages/page/pages/0");
}

// acceptance: 21
TEST_F(PagesPanels, FindAPageByItsUrlAndTellAllOfIt) {
  run_step(shell_, "goto", "pages");
  run_step(shell_, "click", "pages.find");
  run_step(shell_, "type", "HTTP://B.example:80/page/1");
  run_step(shell_, "key", "Enter");
  const std::uint64_t index = must(view_->find("http://b.example/page/1")).value();
  EXPECT_EQ(place(), "page_detail/page/" + std::to_string(index));
  const PageInfo page = must(view_->page(index));
  EXPECT_EQ(shown(shell_, "page.url"), page.url);
  EXPECT_EQ(shown(shell_, "page.crawl_count"), std::to_string(page.crawl_count));
  EXPECT_EQ(shown(shell_, "page.change_count"), std::to_string(page.change_count));
  EXPECT_EQ(shown(shell_, "page.state"), name_of(page.state));
  EXPECT_EQ(shown(shell_, "page.linked_from"), std::to_string(*page.linked_from));
  std::string hash;
  for (const std::byte byte : page.content_hash) hash += fmt::format("{:02x}", byte);
  EXPECT_EQ(shown(shell_, "page.content_hash"), hash);
  run_step(shell_, "click", "page.copy_url");
  EXPECT_EQ(shell_.clipboard(), page.url);
}

// acceptance: 21
TEST_F(PagesPanels, ShowAPagesLinksAndLeadAlongThem) {
  const std::uint64_t index = must(view_->find("http://a.example/")).value();
  run_step(shell_, "goto", "page_detail/page/" + std::to_string(index));
  run_step(shell_, "click", "page.out_links");
  const auto out = must(view_->out_links(index));
  for (std::size_t i = 0; i < out.size(); ++i) {
    EXPECT_EQ(shown(shell_, "out_links[" + std::to_string(i) + "].url"), must(view_->url(out[i])));
  }
  run_step(shell_, "click", "page.in_links");
  const auto in = must(view_->in_links(index));
  ASSERT_GT(in.size(), 3U);
  EXPECT_EQ(shown(shell_, "in_links[3].url"), must(view_->url(in[3])));
  run_step(shell_, "double_click", "in_links[3].url");
  EXPECT_EQ(place(), "page_detail/page/" + std::to_string(in[3]));
  run_step(shell_, "key", "Alt+Left");
  EXPECT_EQ(place(), "page_detail/page/" + std::to_string(index));
  EXPECT_EQ(shown(shell_, "in_links[3].url"), must(view_->url(in[3])));
}

TEST_F(PagesPanels, ListTheCopiesOfAPageWhereContentsHaveAnIndex) {
  run_step(shell_, "goto", "page_detail/page/0");
  EXPECT_EQ(shown(shell_, "page.copies"), "nothing");
  HeadlessShell other({});
  open_file(other, golden("pages_contents"));
  run_step(other, "goto", "page_detail/page/1");
  EXPECT_EQ(shown(other, "page.copies"), "What has its content 1");
  run_step(other, "click", "page.copies");
  EXPECT_EQ(shown(other, "copies[0].index"), "11");
  EXPECT_EQ(shown(other, "copies[0].url"), "http://a.test/11");
}

// acceptance: 21
TEST_F(PagesPanels, ListTheBestPages) {
  run_step(shell_, "goto", "pages");
  run_step(shell_, "click", "pages.top");
  const auto best = *must(model::top_pages(*view_, 10));
  for (std::size_t i = 0; i < best.size(); ++i) {
    EXPECT_EQ(shown(shell_, "pages[" + std::to_string(i) + "].index"), std::to_string(best[i]));
  }
}

TEST_F(PagesPanels, SayThatTheBestPagesGoByNoArrayWhereThereIsNone) {
  run_step(shell_, "goto", "pages");
  EXPECT_FALSE(shell_.app().probe().shows("crawlstore rank FILE"));
  run_step(shell_, "click", "pages.top");
  EXPECT_TRUE(shell_.app().probe().shows("There is no array of scores"));
  EXPECT_TRUE(shell_.app().probe().shows("crawlstore rank FILE"));
}

TEST_F(PagesPanels, ListTheBestPagesByTheBestArray) {
  const std::string path = folder_ / "scores.crawl";
  write_pages_file(path, true);
  open_file(shell_, path);
  run_step(shell_, "goto", "pages");
  run_step(shell_, "click", "pages.top");
  EXPECT_EQ(shown(shell_, "pages.top"), "best 1,000 by pagerank");
  EXPECT_FALSE(shell_.app().probe().shows("There is no array of scores"));
  const auto view = must(PageView::open(must(Snapshot::open(path, {.pin = false}))));
  const auto best = must(must(ScoreView::open(view)).top(10));
  ASSERT_EQ(best.size(), 10U);
  for (std::size_t i = 0; i < best.size(); ++i) {
    const std::string row = "pages[" + std::to_string(i) + "].";
    EXPECT_EQ(shown(shell_, row + "index"), std::to_string(best[i].index));
    EXPECT_EQ(shown(shell_, row + "score:pagerank"),
              model::format_cell(best[i].score, model::Unit::kScore));
  }
}

// acceptance: 21
TEST_F(PagesPanels, SayHowMuchThereIs) {
  run_step(shell_, "goto", "pages");
  const PagesInfo& info = view_->info();
  EXPECT_TRUE(shell_.app().probe().shows(
      fmt::format("{} pages, {} crawled; {} links; {} supersteps", info.page_count,
                  info.crawled_count, info.link_count, info.superstep_count)));
}

TEST_F(PagesPanels, LeadFromAHostToItsPages) {
  run_step(shell_, "goto", "hosts");
  EXPECT_TRUE(shell_.app().probe().shows("c.example"));
  run_step(shell_, "click", "column.host");
  run_step(shell_, "double_click", "hosts[0].page_count");
  const std::string place_text = place();
  EXPECT_THAT(place_text, HasSubstr("pages/host/"));
  const std::string host = place_text.substr(place_text.rfind('/') + 1);
  const auto pages = *must(model::pages_of_host(*view_, host, [](auto, auto) { return true; }));
  for (std::size_t i = 0; i < pages.size(); ++i) {
    EXPECT_EQ(shown(shell_, "pages[" + std::to_string(i) + "].index"), std::to_string(pages[i]));
  }
}

TEST_F(PagesPanels, ShowTheEditsThatWait) {
  run_step(shell_, "goto", "events");
  EXPECT_EQ(shown(shell_, "events[3].url"),
            "//b\xc3\xbc"
            "cher.example/\xe6\x97\xa5\xe6\x9c\xac");
  run_step(shell_, "double_click", "events[1].kind");
  EXPECT_EQ(place(), "page_detail/page/1");
}

TEST_F(PagesPanels, OpenThePageOfAUrlOrAnIndexThatIsTyped) {
  const std::string url = must(view_->url(9));
  run_step(shell_, "command", "go_to " + url);
  EXPECT_EQ(place(), "page_detail/page/9");
  run_step(shell_, "key", "Ctrl+G");
  run_step(shell_, "type", "#4");
  run_step(shell_, "key", "Enter");
  EXPECT_EQ(place(), "page_detail/page/4");
  run_step(shell_, "key", "Ctrl+P");
  run_step(shell_, "type", url);
  EXPECT_EQ(shown(shell_, "palette[0]"), "Go to the page " + url);
  run_step(shell_, "key", "Enter");
  EXPECT_EQ(place(), "page_detail/page/9");
  run_step(shell_, "key", "Ctrl+P");
  run_step(shell_, "type", "#5");
  run_step(shell_, "key", "Enter");
  EXPECT_EQ(place(), "page_detail/page/5");
  run_step(shell_, "command", "go_to http://nowhere.example/");
  EXPECT_EQ(place(), "page_detail/page/5");
  EXPECT_TRUE(shell_.app().probe().shows("no page has this URL"));
}

TEST(PagesInGenerations, AreCountedFromCommitToCommit) {
  TemporaryFolder folder;
  const std::string path = folder / "grows.crawl";
  Store store = must(Store::create(path));
  PageDb pages = must(PageDb::open(store));
  crawl_web(pages, 2, 4, kCrawlTimeUs);
  must(pages.merge());
  HeadlessShell shell({1280, 800, {}});
  open_file(shell, path);
  const auto info = [&] {
    return must(PageView::open(must(Snapshot::open(path, {.pin = false})))).info();
  };
  const PagesInfo before = info();
  crawl_web(pages, 3, 9, kCrawlTimeUs + 1000);
  must(pages.merge());
  const PagesInfo after = info();
  run_step(shell, "goto", "generations");
  run_step(shell, "key", "F5");
  EXPECT_EQ(shown(shell, "commits[0].page_delta"),
            std::to_string(after.page_count - before.page_count));
  EXPECT_EQ(shown(shell, "commits[0].link_delta"),
            std::to_string(after.link_count - before.link_count));
  must(pages.close());
}

TEST(EventsPanel, LeadsThroughAllEditsAPieceAtATime) {
  TemporaryFolder folder;
  const std::string path = folder / "waiting.crawl";
  Store store = must(Store::create(path));
  PageDb pages = must(PageDb::open(store));
  constexpr std::uint64_t kEdits = 230'000;
  for (std::uint64_t i = 0; i < kEdits; ++i) {
    must(pages.add(CrawledPage("http://a.example/" + std::to_string(i), kCrawlTimeUs)));
  }
  must(store.commit());
  HeadlessShell shell({1280, 800, {}});
  open_file(shell, path);
  run_step(shell, "goto", "events");
  EXPECT_TRUE(shell.app().probe().shows("edits 0 to 99,999 of 0 to 229,999"));
  run_step(shell, "click", "events.next");
  EXPECT_EQ(shown(shell, "events[0].sequence"), "100,000");
  run_step(shell, "click", "events.last");
  EXPECT_TRUE(shell.app().probe().shows("edits 200,000 to 229,999"));
  EXPECT_EQ(shown(shell, "events[1].url"), "http://a.example/200001");
  run_step(shell, "goto", "events/row/229999");
  EXPECT_EQ(shown(shell, "events[29999].url"), "http://a.example/229999");
  run_step(shell, "goto", "events/row/123456");
  EXPECT_EQ(shown(shell, "events[23456].url"), "http://a.example/123456");
  run_step(shell, "click", "events.first");
  EXPECT_EQ(shown(shell, "events[0].url"), "http://a.example/0");
  must(pages.close());
}

TEST_F(PagesPanels, CountLinksForTheScreenAndForFiltersThatNameThem) {
  run_step(shell_, "goto", "pages");
  EXPECT_EQ(shown(shell_, "pages[0].out_link_count"),
            std::to_string(must(view_->out_links(0)).size()));
  run_step(shell_, "click", "pages.filter");
  run_step(shell_, "type", "in_link_count>=9");
  for (std::uint64_t index = 0; index < 20; ++index) {
    const bool is_there = must(view_->in_links(index)).size() >= 9;
    EXPECT_EQ(shown(shell_, "pages[" + std::to_string(index) + "].url") != "nothing", is_there);
  }
}

// acceptance: 20
TEST_F(PagesPanels, ExportTheRowsOfAFilter) {
  run_step(shell_, "goto", "pages");
  run_step(shell_, "click", "pages.filter");
  run_step(shell_, "type", "url~/^http:..d/ state=crawled");
  run_step(shell_, "command", "export " + (folder_ / "d.jsonl"));
  const std::string text = read_text(folder_ / "d.jsonl");
  EXPECT_EQ(std::ranges::count(text, '\n'), 8);
  EXPECT_THAT(text, HasSubstr(R"("url":"http://d.example/page/7")"));
  EXPECT_THAT(text, HasSubstr(R"("out_link_count":3)"));
}

TEST_F(PagesPanels, KeepTheirValuesWhenThePinIsReleased) {
  run_step(shell_, "key", "F6");
  const std::vector<std::pair<std::string, std::string>> panels{{"pages", "pages[0].url"},
                                                                {"page/3", "page.out_links"},
                                                                {"hosts", "hosts[0].host"},
                                                                {"events", "events[0].url"},
                                                                {"graph", "graph.depth.2"}};
  for (const auto& [panel, label] : panels) {
    run_step(shell_, "goto", panel);
    const std::string before = shown(shell_, label);
    EXPECT_NE(before, "nothing") << label;
    run_step(shell_, "command", "release");
    EXPECT_TRUE(shell_.app().session().file->is_released());
    EXPECT_TRUE(shell_.app().probe().shows("RELEASED"));
    EXPECT_EQ(shown(shell_, label), before);
    run_step(shell_, "key", "F5");
    EXPECT_FALSE(shell_.app().probe().shows("RELEASED")) << panel;
    EXPECT_EQ(shown(shell_, label), before);
  }
}

TEST_F(PagesPanels, DrawTheGraphAroundAPageAndAHost) {
  run_step(shell_, "goto", "graph/page/0");
  // It links to itself, too.
  const std::string few =
      "http://a.example/: " + std::to_string(must(view_->out_links(0)).size()) + " pages, ";
  EXPECT_FALSE(is_first_words(few));
  run_step(shell_, "click", "graph.links.out");
  EXPECT_TRUE(is_first_words(few));
  const std::uint64_t other = must(view_->out_links(0)).back();
  const std::string label = "graph.node[" + std::to_string(other) + "]";
  run_step(shell_, "click", label);
  EXPECT_TRUE(shell_.app().probe().shows(must(view_->url(other))));
  run_step(shell_, "double_click", label);
  EXPECT_FALSE(is_first_words(few));
  run_step(shell_, "click", "graph.fold");
  EXPECT_TRUE(is_first_words(few));
  run_step(shell_, "goto", "graph/host/a.example");
  EXPECT_TRUE(shell_.app().probe().shows("a.example: "));
  for (const char* name : {"g.dot", "g.svg", "g.png"}) {
    run_step(shell_, "command", "export " + (folder_ / name));
    EXPECT_GT(std::filesystem::file_size(folder_ / name), 100U) << name;
  }
}

TEST_F(PagesPanels, DrawTheSameGraphTwice) {
  run_step(shell_, "goto", "graph/page/0");
  HeadlessShell second({1280, 800, {}});
  open_file(second, path_);
  run_step(second, "goto", "graph/page/0");
  EXPECT_EQ(shell_.picture(), second.picture());
}

/// A web that is no toy: 60,000 pages, a hub among them.
class LargePagesPanels : public ::testing::Test {
 protected:
  static constexpr std::uint64_t kPages = 60'000;
  LargePagesPanels() {
    Store store = must(Store::create(path_));
    PageDb pages = must(PageDb::open(store));
    Random random(5);
    for (std::uint64_t i = 0; i < kPages; ++i) {
      CrawledPage page(url(i), kCrawlTimeUs);
      page.add_link(url((i + 1) % kPages));
      for (int n = 0; n < 5; ++n) page.add_link(url(random.below(i < 4000 ? 4000 : kPages)));
      page.add_link(url(7));
      must(pages.add(page));
    }
    must(pages.merge());
    must(pages.close());
    must(store.close());
    open_file(shell_, path_);
  }
  static std::string url(std::uint64_t i) {
    return "http://h" + std::to_string(i % 97) + ".example/" + std::to_string(i);
  }

  TemporaryFolder folder_;
  std::string path_ = folder_ / "large.crawl";
  HeadlessShell shell_{{1280, 800, {}}};
};

// acceptance: 2
TEST_F(LargePagesPanels, ShowExactlyTheRowThatIsAskedFor) {
  const PageView view = must(PageView::open(must(Snapshot::open(path_, {.pin = false}))));
  const auto expect_row = [&](std::uint64_t row) {
    EXPECT_EQ(shown(shell_, "pages[" + std::to_string(row) + "].url"), must(view.url(row)));
  };
  for (const std::uint64_t row :
       {std::uint64_t{0}, std::uint64_t{33'333}, view.info().page_count - 1}) {
    run_step(shell_, "goto", "pages/page/" + std::to_string(row));
    expect_row(row);
  }
  run_step(shell_, "goto", "pages/page/20000");
  run_step(shell_, "hover", "pages[20000].url");
  for (const char* notch : {"1", "-1", "-1", "1"}) {
    run_step(shell_, "wheel", notch);
    expect_row(20'000);
  }
  run_step(shell_, "key", "End");
  expect_row(view.info().page_count - 1);
}

// acceptance: 5, 6
TEST_F(LargePagesPanels, DrawManyEdgesAsOnePicture) {
  run_step(shell_, "goto", "graph/page/7");
  run_step(shell_, "click", "graph.depth.2");
  run_step(shell_, "click", "graph.nodes.3000");
  EXPECT_TRUE(shell_.app().probe().shows("3,000 pages"));
  const inspector::Picture before = shell_.picture();
  int vertices = 0;
  const ImDrawData* data = ImGui::GetDrawData();
  for (int i = 0; i < data->CmdListsCount; ++i) vertices += data->CmdLists[i]->VtxBuffer.Size;
  EXPECT_LT(vertices, 40'000) << "nodes and words, no edges";
  // There and back: the same places, the same picture.
  run_step(shell_, "drag", "graph 200 100");
  EXPECT_NE(shell_.picture(), before);
  run_step(shell_, "drag", "graph -200 -100");
  run_step(shell_, "hover", "crumb.panel");
  EXPECT_TRUE(shell_.app().probe().shows("3,000 pages"));
}

TEST_F(LargePagesPanels, GatherTheFirstOfManyNodesForAFirstPicture) {
  const PageView view = must(PageView::open(must(Snapshot::open(path_, {.pin = false}))));
  inspector::GraphQuestion question;
  question.centre = inspector::PageThing{"pages", 7};
  question.depth = 2;
  question.nodes_max = 10'000;
  constexpr std::uint64_t kRounds = 100;  // of the layout, which takes seconds
  const auto gather_only = [](std::uint64_t, std::uint64_t total) { return total != kRounds; };
  const auto first = inspector::find_scene(view, question, {}, 1, gather_only);
  EXPECT_EQ(first->scene->graph.nodes.size(), 3000);
  EXPECT_TRUE(first->scene->is_rough);
  question.is_thorough = true;
  const auto best =
      inspector::find_scene(view, question, {nullptr, first->scene.get()}, 2, gather_only);
  EXPECT_EQ(best->scene->graph.nodes.size(), 10'000);
  EXPECT_FALSE(best->scene->is_rough);
}

// acceptance: 4
TEST_F(LargePagesPanels, FilterWhileSomebodyGoesOnTyping) {
  run_step(shell_, "goto", "pages");
  run_step(shell_, "click", "pages.filter");
  run_step(shell_, "type", "h13.example/1");
  const auto* item = shell_.app().probe().find("pages[13].url");
  EXPECT_EQ(item, nullptr);
  std::uint64_t count = 0;
  const PageView view = must(PageView::open(must(Snapshot::open(path_, {.pin = false}))));
  must(view.for_each_page([&](const PageInfo& page) {
    count += page.url.find("h13.example/1") != page.url.npos ? 1U : 0U;
    return true;
  }));
  EXPECT_TRUE(shell_.app().probe().shows(std::to_string(count) + " of 60,000"));
}

}  // namespace
}  // namespace crawlstore::testing
