// SPDX-License-Identifier: Apache-2.0
#include "inspector/core/history.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/seeded.h"

namespace crawlstore::inspector {
namespace {

Location row(std::uint64_t number) {
  return {"segments", RowThing{number}};
}

/// The promise of the header, without its limit: a list and a cursor.
struct Model {
  std::vector<Visit> visits;
  std::size_t at = 0;

  void go(const Location& location, const std::string& view_state) {
    if (visits.empty()) {
      visits.push_back({location, ""});
      return;
    }
    visits[at].view_state = view_state;
    if (visits[at].location == location) return;
    visits.resize(at + 1);
    visits.push_back({location, ""});
    ++at;
  }
  const Visit* move(bool is_back, const std::string& view_state) {
    if (is_back ? at == 0 : at + 1 >= visits.size()) return nullptr;
    visits[at].view_state = view_state;
    at = is_back ? at - 1 : at + 1;
    return &visits[at];
  }
};

void expect_equal(const Visit* visit, const Visit* expected) {
  ASSERT_EQ(visit == nullptr, expected == nullptr);
  if (visit == nullptr) return;
  EXPECT_EQ(visit->location, expected->location);
  EXPECT_EQ(visit->view_state, expected->view_state);
}

// acceptance: 13
TEST(History, IsAListWithACursor) {
  testing::SeededRandom random;
  for (int run = 0; run < 100; ++run) {
    History history;
    Model model;
    for (int step = 0; step < 200; ++step) {
      const std::string state = "scroll " + std::to_string(step);
      const std::uint64_t what = random.below(5);
      if (what < 2 || model.visits.empty()) {
        const Location place = row(random.below(4));
        history.go(place, state);
        model.go(place, state);
      } else if (what == 2) {
        expect_equal(history.forward(state), model.move(false, state));
      } else {
        expect_equal(history.back(state), model.move(true, state));
      }
      expect_equal(&history.current(), &model.visits[model.at]);
      EXPECT_EQ(history.can_go_back(), model.at > 0);
      EXPECT_EQ(history.can_go_forward(), model.at + 1 < model.visits.size());
    }
  }
}

// acceptance: 13
TEST(History, GoesBackToTwoHundredPictures) {
  testing::SeededRandom random;
  History history;
  std::vector<Visit> left;
  history.go(row(1000), "");
  for (std::uint64_t i = 0; i < 200; ++i) {
    left.push_back({history.current().location, random.hostile_text(9)});
    history.go(row(i), left.back().view_state);
  }
  for (; !left.empty(); left.pop_back()) expect_equal(history.back("here"), &left.back());
  EXPECT_FALSE(history.can_go_back());
  EXPECT_EQ(history.back("here"), nullptr);
}

TEST(History, BeginsEmpty) {
  History history;
  EXPECT_TRUE(history.empty());
  EXPECT_FALSE(history.can_go_back());
  EXPECT_FALSE(history.can_go_forward());
  EXPECT_EQ(history.back(""), nullptr);
  EXPECT_EQ(history.forward(""), nullptr);
  EXPECT_TRUE(history.empty());
}

TEST(History, ForgetsTheOldestOfTooManyVisits) {
  History history;
  for (std::uint64_t i = 0; i < 2 * History::kVisitsMax; ++i) history.go(row(i), "");
  EXPECT_EQ(history.current().location, row(2 * History::kVisitsMax - 1));
  std::uint64_t count = 1;
  while (history.back("") != nullptr) ++count;
  EXPECT_EQ(count, History::kVisitsMax);
  EXPECT_EQ(history.current().location, row(History::kVisitsMax));
}

}  // namespace
}  // namespace crawlstore::inspector
