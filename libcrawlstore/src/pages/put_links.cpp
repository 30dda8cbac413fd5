// SPDX-License-Identifier: Apache-2.0
#include "pages/put_links.h"

#include <algorithm>

namespace crawlstore::pages {

links::LinkSegments make_link_segments(container::SegmentWriter& writer, PagesState& state) {
  const auto make = [&](SegmentId& id, SegmentKind kind) {
    if (id) return;
    id = writer.new_segment_id();
    writer.put({id, kind, StorageClass::kLog, state.id, {}, {}});
  };
  make(state.table.out_links, SegmentKind::kOutLinks);
  make(state.table.in_links, SegmentKind::kInLinks);
  make(state.table.gone_links, SegmentKind::kGoneLinks);
  return {state.table.out_links, state.table.in_links, state.table.gone_links};
}

Result<void> put_run(container::SegmentWriter& writer, SegmentId segment, links::LinksWriter& run) {
  CRAWLSTORE_TRY(const auto ref, run.finish());
  if (!ref) return {};
  run.give_back();
  links::append_run(writer, segment, *ref);
  return {};
}

namespace {

/// Rows of links that went are many and short: nearly always this is room enough for them.
constexpr std::uint64_t kGoneLinkBytes = 2;
constexpr std::uint64_t kGoneRowBytes = 6;
constexpr std::uint64_t kGoneBytesMore = 4096;

using LinkPairs = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

Result<void> put_pairs(container::SegmentWriter& writer, SegmentId segment, const LinkPairs& links,
                       std::uint64_t bytes_max, container::WorkSteps& steps) {
  CRAWLSTORE_TRY(auto run,
                 links::LinksWriter::start(writer, container::new_run(writer, segment), bytes_max));
  std::vector<std::uint64_t> row;
  for (std::size_t i = 0; i < links.size();) {
    const std::uint64_t target = links[i].first;
    row.clear();
    for (; i < links.size() && links[i].first == target; ++i) row.push_back(links[i].second);
    CRAWLSTORE_TRY(steps.add(row.size()));
    CRAWLSTORE_TRY(run.append(target, row));
  }
  return put_run(writer, segment, run);
}

}  // namespace

Result<void> put_gone_links(container::SegmentWriter& writer, const GoneLinksPlace& place,
                            LinkPairs& links, container::WorkSteps& steps) {
  if (links.empty()) return {};
  steps.expect(links.size());
  std::sort(links.begin(), links.end());
  std::uint64_t row_count = 0;
  for (std::size_t i = 0; i < links.size(); ++i) {
    if (i == 0 || links[i].first != links[i - 1].first) ++row_count;
  }
  const std::uint64_t bytes_max =
      links::link_run_bytes_max(row_count, links.size(), place.number_max);
  const std::uint64_t bytes =
      kGoneLinkBytes * links.size() + kGoneRowBytes * row_count + kGoneBytesMore;
  auto put = put_pairs(writer, place.segment, links, std::min(bytes, bytes_max), steps);
  if (!put && put.error().code == Errc::kTooLarge) {
    put = put_pairs(writer, place.segment, links, bytes_max, steps);
  }
  return put;
}

}  // namespace crawlstore::pages
