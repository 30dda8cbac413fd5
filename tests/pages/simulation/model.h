// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Values that the simulation (T6) compares: what a generation shows, and what a writer has made of
/// DRUM, pages, queue, frontier and scores, said once more without a file.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <crawlstore/snapshot.h>

#include "pages/page_model.h"
#include "pages/simulation/frontier_part.h"
#include "queue/queue_words.h"

namespace crawlstore::testing::simulation {

inline constexpr std::string_view kRounds = "rounds";

/// The content of a generation, each part in bytes that tell all that is known of it.
struct Content {
  std::uint64_t round_count = 0;  ///< keys of the DRUM, those that wait included
  std::string waiting;            ///< edits of pages, as they came
  std::string pages;              ///< with their links in both directions
  std::string queue;              ///< pages and priorities, the first to leave first
  std::string scores;             ///< arrays by name
  std::string frontier;           ///< as frontier_of() tells it
  friend bool operator==(const Content&, const Content&) = default;
};

/// Throws what is damaged, and when a page is not found by its URL.
Content content_of(const Snapshot& snapshot);

/// The parts that differ, in words.
std::string difference(const Content& found, const Content& expected);

/// The work of a writer, whether it is committed or not.
struct State {
  std::uint64_t round_count = 0;
  std::vector<Edit> waiting;
  PageModel pages;                 ///< the edits that wait included
  std::string merged_pages;        ///< of Content: without them
  std::uint64_t merged_count = 0;  ///< pages without them
  QueueModel queue;
  FrontierModel frontier{frontier_options().default_rule};
  std::map<std::string, std::vector<float>> scores;

  void add(const Edit& edit) {
    pages.apply(edit);
    waiting.push_back(edit);
  }
  [[nodiscard]] Content content() const;
  /// After a superstep.
  [[nodiscard]] State merged() const;
  /// Without the pages of a host, after a superstep. Scores go with the first page.
  [[nodiscard]] State without_host(const std::string& prefix) const;
  [[nodiscard]] bool has_pages_of(const std::string& prefix) const;
  [[nodiscard]] State with_rounds(std::uint64_t count) const;
};

}  // namespace crawlstore::testing::simulation
