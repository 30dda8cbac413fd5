// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Readers of the simulation: each pins a generation, looks at it again and again, and goes.

#include <array>
#include <exception>
#include <optional>
#include <utility>

#include <gtest/gtest.h>

#include "drum/memory_store.h"
#include "pages/simulation/counts.h"
#include "pages/simulation/history.h"
#include "pages/simulation/machine.h"

namespace crawlstore::testing::simulation {

class Readers {
 public:
  Readers(Random& random, Machine& machine, History& history, Counts& counts)
      : random_(random), machine_(machine), history_(history), counts_(counts) {}

  void step() {
    const Machine::Undisturbed undisturbed(machine_);
    auto& reader = readers_[random_.below(kReaders)];
    try {
      if (!reader) {
        reader = open_reader();
      } else if (random_.below(2) == 0) {
        EXPECT_TRUE(sight_of(reader->snapshot) == reader->sight) << "a snapshot has changed";
        ++counts_.looks;
      } else {
        reader.reset();
      }
    } catch (const std::exception& error) {
      ADD_FAILURE() << "a reader: " << error.what();
    }
  }

  void close() {
    const Machine::Undisturbed undisturbed(machine_);
    for (auto& reader : readers_) reader.reset();
  }

 private:
  struct Reader {
    Snapshot snapshot;
    Sight sight;
  };

  Reader open_reader() {
    SnapshotOptions options;
    options.previous = random_.below(4) == 0;
    auto snapshot = must(Snapshot::open(machine_.open(OpenMode::kRead), options));
    Sight sight = sight_of(snapshot);
    if (options.previous) {
      history_.see_previous(sight);
      ++counts_.looks_at_previous;
    } else {
      history_.see_newest(sight, !machine_.evicts());
    }
    ++counts_.looks;
    return {std::move(snapshot), std::move(sight)};
  }

  static constexpr std::size_t kReaders = 8;

  Random& random_;
  Machine& machine_;
  History& history_;
  Counts& counts_;
  std::array<std::optional<Reader>, kReaders> readers_;
};

}  // namespace crawlstore::testing::simulation
