// SPDX-License-Identifier: Apache-2.0
#include "inspector/core/pane_layout.h"

#include <algorithm>
#include <array>

namespace crawlstore::inspector {

std::span<const NamedLayout> named_layouts() {
  static const std::array kLayouts{
      NamedLayout{
          "Explore",
          "what the file holds: its numbers, segments, keys and generations",
          {"explore",
           {"overview", "segments", "buckets", "pages", "page_detail", "hosts", "generations"},
           "overview"}},
      // Runs and decoded fields of a segment stand in the details: they get room, the navigator
      // gives it.
      NamedLayout{"Structure",
                  "how the file is built: map, segments, bytes with their fields",
                  {"structure", {"map", "segments", "hex"}, "map", 150, 340}},
      // The waiting requests, and the effect of each commit on them: requests in the buckets,
      // commits while following, requests that came and went.
      NamedLayout{
          "Queue",
          "what waits, beside a writer: requests in the buckets, commits, changes",
          {"queue", {"buckets", "queue", "frontier", "generations", "diff", "jobs"}, "buckets"}},
      // Findings have long texts: the details are wide.
      NamedLayout{
          "Forensics",
          "what is wrong with the file: findings, their bytes, older generations",
          {"forensics", {"problems", "hex", "map", "generations", "log"}, "problems", 150, 400}},
  };
  return kLayouts;
}

const NamedLayout* find_layout(std::string_view name) {
  const auto layouts = named_layouts();
  const auto found = std::ranges::find_if(
      layouts, [&](const NamedLayout& named) { return named.layout.name == name; });
  return found == layouts.end() ? nullptr : &*found;
}

}  // namespace crawlstore::inspector
