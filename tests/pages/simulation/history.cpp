// SPDX-License-Identifier: Apache-2.0
#include "pages/simulation/history.h"

#include <algorithm>
#include <stdexcept>

#include <gtest/gtest.h>

namespace crawlstore::testing::simulation {

Sight sight_of(const Snapshot& snapshot) {
  return {snapshot.generation().value, content_of(snapshot)};
}

std::size_t History::add(State state) {
  Content content = state.content();
  states_.push_back({std::move(state), std::move(content)});
  return states_.size() - 1;
}

void History::acknowledge(std::size_t place, std::uint64_t generation) {
  EXPECT_GE(generation, acknowledged_generation_);
  known_ = acknowledged_ = place;
  acknowledged_generation_ = generation;
  known_generation_ = std::max(known_generation_, generation);
}

void History::see_newest(const Sight& sight, bool is_known) {
  // A reader sees no less than the one before, but for an unsynced commit that left the cache.
  expect_same(sight);
  const auto place = find(sight.content, is_known ? known_ : acknowledged_);
  EXPECT_TRUE(place) << "a reader sees what is lost, or never was: " << told(sight.content);
  EXPECT_GE(sight.generation, is_known ? known_generation_ : acknowledged_generation_);
  if (!place || !is_known) return;
  known_ = *place;
  known_generation_ = sight.generation;
}

void History::see_previous(const Sight& sight) {
  expect_same(sight);
  EXPECT_TRUE(find(sight.content, 0)) << "the generation before was never published";
  EXPECT_GE(sight.generation + 1, acknowledged_generation_);
}

std::size_t History::see_result(const Sight& sight, std::size_t first, bool is_known) {
  expect_same(sight);
  const auto place = find_last(sight.content, first);
  if (!place) throw std::runtime_error("an operation made something else: " + told(sight.content));
  EXPECT_GE(sight.generation, is_known ? known_generation_ : acknowledged_generation_);
  known_generation_ = sight.generation;
  return *place;
}

void History::crash() {
  newest_before_crash_ = known_generation_;
  known_ = acknowledged_;
  known_generation_ = acknowledged_generation_;
}

State History::see_opened(const Sight& sight) {
  // The last one: what was attempted before it may be the generation before.
  const auto place = find_last(sight.content, acknowledged_);
  if (!place) throw std::runtime_error("acknowledged state lost: " + told(sight.content));
  EXPECT_GE(sight.generation, acknowledged_generation_);
  // Before a generation is published, the one before it is on the disk.
  EXPECT_GE(sight.generation + 1, std::exchange(newest_before_crash_, 0));
  expect_same(sight);
  forget_seen();
  seen_.emplace(sight.generation, sight.content);
  states_.erase(states_.begin() + static_cast<std::ptrdiff_t>(*place + 1), states_.end());
  known_ = *place;
  known_generation_ = sight.generation;
  return states_.back().state;
}

void History::forget_seen() {
  seen_.erase(seen_.upper_bound(acknowledged_generation_), seen_.end());
}

std::optional<std::size_t> History::find(const Content& content, std::size_t first) const {
  for (std::size_t place = first; place < states_.size(); ++place) {
    if (states_[place].content == content) return place;
  }
  return std::nullopt;
}

std::optional<std::size_t> History::find_last(const Content& content, std::size_t first) const {
  for (std::size_t place = states_.size(); place-- > first;) {
    if (states_[place].content == content) return place;
  }
  return std::nullopt;
}

void History::expect_same(const Sight& sight) {
  const auto [seen, is_new] = seen_.emplace(sight.generation, sight.content);
  EXPECT_TRUE(is_new || seen->second == sight.content)
      << "generation " << sight.generation
      << " has changed: " << difference(sight.content, seen->second);
}

std::string History::told(const Content& content) const {
  std::string words = "for those that are left";
  for (std::size_t place = acknowledged_; place < states_.size(); ++place) {
    words += "; " + difference(content, states_[place].content);
  }
  return words;
}

}  // namespace crawlstore::testing::simulation
