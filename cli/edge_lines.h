// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Lines `FROM TO` as crawl events. Lines that follow each other with one FROM become one event,
/// which adds links. Ownership: an event's views are into the collector. Threads: one.
///
/// A line of nothing but two indexes, `#N` or `N`, is a link between indexes: blanks (spaces and
/// TABs, as many as there are) stand between them, and may stand around. So are SNAP, KONECT and
/// the lists of arcs of WebGraph. In any other line a single TAB stands between two URLs, which
/// may have blanks in them. Further columns are refused: a list of successors would be read as an
/// edge otherwise. Lines of blanks only, and comments, are skipped: `%...`, and `#...` unless a
/// digit follows, or a sign and a digit.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <crawlstore/crawl_event.h>
#include <crawlstore/error.h>

#include "model/event_json.h"

namespace crawlstore::cli {

/// One line; views into it. The text of an index is empty.
struct Edge {
  std::string_view from;
  std::string_view to;
  std::uint64_t from_index = 0;
  std::uint64_t to_index = 0;
  model::PageNaming naming = model::PageNaming::kUrls;
};

/// The index that `#N` names; nothing when the text is not of that form.
std::optional<std::uint64_t> parse_index_name(std::string_view text);

/// Nothing but blanks, or a comment.
bool is_comment_line(std::string_view line);

/// Parses a line that is neither.
///   errors  kInvalidArgument; the text says what is wrong with the line
Result<Edge> parse_edge(std::string_view line);

/// The number of indexes in a line of nothing else, or of texts with TABs in between.
std::size_t edge_column_count(std::string_view line);

/// A line with this URL as FROM, or as TO, says what is meant: parse_edge() gives it back.
bool fits_edge_from(std::string_view url);
bool fits_edge_to(std::string_view url);

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
