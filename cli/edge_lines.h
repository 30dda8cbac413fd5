// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Lines `FROM TAB TO` as crawl events: each end is a URL, or `#N`, an index. Lines that follow
/// each other with one FROM become one event, which adds links. Ownership: an event's views are
/// into the collector. Threads: one.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <crawlstore/crawl_event.h>
#include <crawlstore/error.h>

#include "model/event_json.h"

namespace crawlstore::cli {

/// One line; views into it. Of an index the text is empty.
struct Edge {
  std::string_view from;
  std::string_view to;
  std::uint64_t from_index = 0;
  std::uint64_t to_index = 0;
  model::PageNaming naming = model::PageNaming::kUrls;
};

/// The index that `#N` names; nothing when the text is not of that form.
std::optional<std::uint64_t> parse_index_name(std::string_view text);

/// errors  kInvalidArgument; the text says what is wrong with the line
Result<Edge> parse_edge(std::string_view line);

class EdgeCollector {
 public:
  /// The edge begins another event: take() first what was collected.
  [[nodiscard]] bool begins_event(const Edge& edge) const;
  void add(const Edge& edge);
  [[nodiscard]] bool empty() const { return targets_.empty(); }
  [[nodiscard]] model::PageNaming naming() const { return naming_; }
  /// The event, and a new beginning. Valid until the next add().
  CrawlEvent take();

 private:
  std::string from_;
  std::uint64_t from_index_ = 0;
  model::PageNaming naming_ = model::PageNaming::kUrls;
  struct Target {
    std::size_t url_end = 0;
    std::uint64_t index = 0;
  };
  std::string url_bytes_;  // of the targets
  std::vector<Target> targets_;
  std::vector<EventLink> links_;  // of the event taken last
  bool is_taken_ = false;
};

}  // namespace crawlstore::cli
