// SPDX-License-Identifier: Apache-2.0
#include "inspector/core/absent.h"

#include <string>

#include <gtest/gtest.h>

namespace crawlstore::inspector {
namespace {

model::FileView view_of_queues(int count) {
  model::FileView view;
  view.info.generation = Generation{7};
  for (int i = 0; i < count; ++i) {
    view.queues.push_back({.id = {}, .name = "q" + std::to_string(i)});
  }
  return view;
}

TEST(WhyAbsent, NamesWhatThereIsInstead) {
  const Location location{"queue", QueueThing{"x\n"}};
  EXPECT_EQ(why_absent(view_of_queues(0), location),
            "There is no queue \"x\\x0a\" in this generation: it has no queue.");
  EXPECT_EQ(why_absent(view_of_queues(1), location),
            "There is no queue \"x\\x0a\" in this generation: it has \"q0\".");
  EXPECT_EQ(why_absent(view_of_queues(8), location),
            "There is no queue \"x\\x0a\" in this generation: it has \"q0\", \"q1\", \"q2\", "
            "\"q3\", \"q4\", \"q5\", \"q6\" and \"q7\".");
  EXPECT_EQ(why_absent(view_of_queues(1010), location),
            "There is no queue \"x\\x0a\" in this generation: it has \"q0\", \"q1\", \"q2\", "
            "\"q3\", \"q4\", \"q5\", \"q6\", \"q7\" and 1,002 more.");
  EXPECT_EQ(why_absent(view_of_queues(3), {"queue", QueueThing{"q2"}}), "");
}

TEST(WhyAbsent, ClaimsNothingWhereDamageMayHideTheThing) {
  model::FileView view = view_of_queues(1);
  view.queues_problem = Error{};
  view.drums_problem = Error{};
  view.pages_problem = Error{};
  EXPECT_EQ(why_absent(view, {"", QueueThing{"x"}}), "");
  EXPECT_EQ(why_absent(view, {"", BucketThing{"x", 9}}), "");
  EXPECT_EQ(why_absent(view, {"", PageThing{"x", 9}}), "");
  EXPECT_EQ(why_absent(view, {"", ScoresThing{"x", "y"}}), "");
  EXPECT_EQ(why_absent({}, {"", GenerationThing{{9}}}), "") << "nothing could be read";
  EXPECT_EQ(why_absent(view, {"generations", GenerationThing{{5}}}),
            "Generation 5 is not in the file any more, which keeps the newest one, 7, and the one "
            "before it.");
  EXPECT_EQ(why_absent(view, {"generations", GenerationThing{{6}}}), "");
  EXPECT_NE(why_absent(view, {"generations", GenerationThing{{0}}}), "");
}

}  // namespace
}  // namespace crawlstore::inspector
