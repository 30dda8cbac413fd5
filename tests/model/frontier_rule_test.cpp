// SPDX-License-Identifier: Apache-2.0
#include "model/frontier_rule.h"

#include <gtest/gtest.h>

namespace crawlstore::model {
namespace {

FrontierRule changed(std::string_view text, FrontierRule rule = {}) {
  RuleChange change;
  EXPECT_EQ(parse_rule(text, change), "");
  EXPECT_EQ(change_rule(change, rule), "");
  return rule;
}

TEST(FrontierRuleText, ChangesWhatItNames) {
  EXPECT_EQ(changed("delay=2s"), (FrontierRule{.delay_ms = 2000, .hard_ms = 2000}));
  EXPECT_EQ(changed("delay=2s,hard=500ms"), (FrontierRule{.delay_ms = 2000, .hard_ms = 500}));
  EXPECT_EQ(changed("none"), (FrontierRule{.delay_ms = 0, .hard_ms = 0}));
  EXPECT_EQ(changed("burst=3,in-flight=4,active=no"),
            (FrontierRule{.burst = 3, .in_flight_max = 4, .is_active = false}));
  EXPECT_EQ(changed("until=1970-01-01T00:00:01.5Z").blocked_until_ms, 1500U);
  EXPECT_EQ(changed("limit=0,finished-limit=9"), (FrontierRule{.put_max = 0, .finished_max = 9}));
  EXPECT_EQ(changed("limit=none", {.put_max = 3}), FrontierRule{});
  EXPECT_EQ(changed("burst=2,parent=a,b"), (FrontierRule{.burst = 2, .parent = "a,b"}));
  EXPECT_EQ(changed("parent=none", {.parent = "a"}), FrontierRule{});
  const FrontierRule blocked{.blocked_until_ms = 9, .is_active = false};
  EXPECT_EQ(changed("until=none,active=yes", blocked), FrontierRule{});
}

TEST(FrontierRuleText, NamesWhatIsTakenInsteadOfAnother) {
  for (const char* text :
       {"", "delay", "delay=", "delay=2", "hard=-1s", "burst=0", "in-flight=none",
        "burst=4294967296", "limit=-1", "finished-limit=4294967296", "active=1", "until=2s",
        "delay=1s,", "Delay=1s"}) {
    RuleChange change;
    EXPECT_NE(parse_rule(text, change), "") << text;
  }
  RuleChange change;
  EXPECT_NE(parse_rule("speed=1", change).find("in-flight"), std::string::npos);
}

TEST(FrontierRuleText, RefusesAHardIntervalAboveTheDelay) {
  FrontierRule rule;
  EXPECT_NE(change_rule({.hard_ms = 1001}, rule), "");
}

TEST(FrontierRuleText, IsParsedAsItIsFormatted) {
  for (const FrontierRule& rule :
       {FrontierRule{}, FrontierRule{.delay_ms = 0, .hard_ms = 0},
        FrontierRule{.delay_ms = 7'200'000, .hard_ms = 60'000, .burst = 5, .in_flight_max = 9},
        FrontierRule{.delay_ms = 86'400'001, .blocked_until_ms = 1'700'000'000'123},
        FrontierRule{.is_active = false, .put_max = 4'294'967'295, .finished_max = 0},
        FrontierRule{.burst = 2, .parent = "192.0.2.1"}}) {
    EXPECT_EQ(changed(format_rule(rule)), rule) << format_rule(rule);
  }
}

}  // namespace
}  // namespace crawlstore::model
