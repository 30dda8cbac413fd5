// SPDX-License-Identifier: Apache-2.0
#include "inspector/core/next_action.h"

#include <gtest/gtest.h>

namespace crawlstore::testing {
namespace {

using inspector::Health;
using inspector::next_action;

Health whole() {
  Health health;
  health.take({{}, VerifyLevel::kNormal, false, 0});
  return health;
}

/// With links and fresh PageRank.
model::FileView crawl() {
  model::FileView view;
  view.path = "/data/a crawl's file";
  view.pages.emplace_back().link_count = 5;
  ScoresInfo scores;
  scores.name = "pagerank";
  view.scores = {{scores}};
  return view;
}

TEST(NextAction, IsNothingWhereNothingIsDue) {
  EXPECT_EQ(next_action(crawl(), whole()).command, "show_diff");
}

TEST(NextAction, BeginsWithDamageThenWithACheck) {
  Health health;
  EXPECT_EQ(next_action(crawl(), health).command, "verify");
  model::FileView view = crawl();
  view.info.file_bytes = 1000;
  health.look(view);
  health.take({{}, VerifyLevel::kQuick, false, 0});
  EXPECT_EQ(next_action(crawl(), health).command, "verify");
  Error error;
  error.code = Errc::kChunkDamaged;
  error.offset = 4096;
  health.meet(error);
  EXPECT_EQ(next_action(crawl(), health).command, "show_problems");
}

TEST(NextAction, IsACommandLineForTheShell) {
  model::FileView view = crawl();
  view.pages[0].event_count = 3;
  const auto next = next_action(view, whole());
  EXPECT_TRUE(next.command.empty()) << "the inspector does not write";
  EXPECT_EQ(next.shell, R"(crawlstore merge '/data/a crawl'\''s file')");
}

TEST(NextAction, GoesByThresholdsScoresAndFreeBytes) {
  model::FileView view = crawl();
  auto& drum = view.drums.emplace_back();
  drum.pending_count = 99;
  drum.merge_requests = 100;
  EXPECT_EQ(next_action(view, whole()).command, "show_diff") << "not yet due";
  drum.pending_count = 100;
  EXPECT_NE(next_action(view, whole()).shell.find(" merge "), std::string::npos);
  view.drums.clear();
  view.scores[0][0].is_stale = true;
  EXPECT_NE(next_action(view, whole()).shell.find(" rank "), std::string::npos);
  view.scores[0].clear();
  EXPECT_NE(next_action(view, whole()).shell.find(" rank "), std::string::npos);
  view.pages[0].link_count = 0;
  EXPECT_EQ(next_action(view, whole()).command, "show_diff") << "no links, no scores";
  view.info.file_bytes = std::uint64_t{300} << 20;
  view.info.free_bytes = std::uint64_t{200} << 20;
  EXPECT_NE(next_action(view, whole()).shell.find(" compact "), std::string::npos);
}

}  // namespace
}  // namespace crawlstore::testing
