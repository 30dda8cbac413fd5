// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The oracle of the simulation: what was published or attempted, in order, and what of it may be
/// seen. A crash leaves none before the acknowledged one, readers see none before the known one.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pages/simulation/model.h"

namespace crawlstore::testing::simulation {

/// The generation of a snapshot, and what it shows.
struct Sight {
  std::uint64_t generation = 0;
  Content content;
  friend bool operator==(const Sight&, const Sight&) = default;
};

Sight sight_of(const Snapshot& snapshot);

class History {
 public:
  /// The place of a state, which may be published from now on.
  std::size_t add(State state);
  [[nodiscard]] const State& at(std::size_t place) const { return states_[place].state; }
  [[nodiscard]] std::size_t end() const { return states_.size(); }

  /// Published by a commit that has returned: nothing before it comes back.
  void acknowledge(std::size_t place, std::uint64_t generation);

  // Each adds a failure to the test for what must not be.

  /// A reader of the newest generation. Without `is_known`, the next one may see less.
  void see_newest(const Sight& sight, bool is_known);
  /// A reader of the generation before the newest.
  void see_previous(const Sight& sight);
  /// A writer after an operation that could lead to one of the states from `first` on: which.
  std::size_t see_result(const Sight& sight, std::size_t first, bool is_known);
  /// A writer that opens the store: the state that it is in; attempts after that are forgotten.
  State see_opened(const Sight& sight);
  /// The place of what a snapshot shows, the last one from `first` on.
  [[nodiscard]] std::optional<std::size_t> find_last(const Content& content,
                                                     std::size_t first) const;
  /// Generations that were seen and not acknowledged may be lost, and others have their numbers.
  void forget_seen();
  /// The machine dies: readers may see less than before.
  void crash();

 private:
  struct Attempted {
    State state;
    Content content;
  };

  [[nodiscard]] std::optional<std::size_t> find(const Content& content, std::size_t first) const;
  /// A generation always shows the same.
  void expect_same(const Sight& sight);
  [[nodiscard]] std::string told(const Content& content) const;

  std::vector<Attempted> states_;
  std::map<std::uint64_t, Content> seen_;  ///< by generation
  std::size_t acknowledged_ = 0;
  std::size_t known_ = 0;
  std::uint64_t acknowledged_generation_ = 0;
  std::uint64_t known_generation_ = 0;
  std::uint64_t newest_before_crash_ = 0;  ///< 0: none
};

}  // namespace crawlstore::testing::simulation
