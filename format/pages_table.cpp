// SPDX-License-Identifier: Apache-2.0
#include "pages_table.h"

#include <algorithm>
#include <array>

#include "flatbuffer_input.h"
#include "name.h"
#include "pages_generated.h"

namespace crawlstore::format {
namespace {

/// nullptr, or the text that names the broken rule.
using Broken = const char*;

Broken check_counts(const PagesTable& table) {
  if (table.page_count > kPagesMax) return "there are too many pages";
  if (table.crawled_count > table.page_count) return "more pages were crawled than there are";
  if (table.elsewhere_count > table.page_count - table.crawled_count) {
    return "more pages were crawled, or are of other shards, than there are";
  }
  if (table.link_count != 0 && table.page_count == 0) return "there are links, but no pages";
  return nullptr;
}

Broken check_normalizer(const PagesTable& table) {
  if (!is_valid_name(table.normalizer)) return "the name of a normaliser is not valid";
  return table.has_urls || table.normalizer.empty() ? nullptr
                                                    : "pages without URLs have a normaliser";
}

Broken check_segments(const PagesTable& table) {
  if (static_cast<bool>(table.keys) != table.has_urls) {
    return "pages with URLs have no keys, or the other way round";
  }
  if (table.contents && (!table.has_contents || table.page_count == 0)) {
    return "there are keys of contents, but no index of them";
  }
  if (table.fresh_keys && !table.keys) return "there are fresh keys, but no drum of keys";
  if (static_cast<bool>(table.origins) != (table.has_urls && table.page_count != 0)) {
    return "pages with URLs have no origins, or the other way round";
  }
  if (static_cast<bool>(table.records) != (table.page_count != 0)) {
    return "pages have no records, or the other way round";
  }
  if (static_cast<bool>(table.events) != (table.event_count != 0)) {
    return "edits wait without a log, or the other way round";
  }
  if (table.link_count != 0 && (!table.out_links || !table.in_links)) {
    return "there are links, but not both logs of links";
  }
  std::array ids{table.keys,       table.origins, table.records,    table.out_links, table.in_links,
                 table.gone_links, table.events,  table.fresh_keys, table.contents};
  auto* const first =
      std::upper_bound((std::sort(ids.begin(), ids.end()), ids.begin()), ids.end(), SegmentId{});
  return std::adjacent_find(first, ids.end()) == ids.end() ? nullptr : "a segment is named twice";
}

}  // namespace

std::vector<std::byte> encode_pages_table(const PagesTable& table) {
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(fb::CreatePagesDirect(
      builder,
      (table.has_urls ? kPagesHaveUrls : 0) | (table.has_contents ? kPagesHaveContents : 0),
      table.page_count, table.crawled_count, table.link_count, table.event_count,
      table.superstep_count, table.collision_count, table.unparsed_count, table.keys.value,
      table.origins.value, table.records.value, table.out_links.value, table.in_links.value,
      table.gone_links.value, table.events.value, table.fresh_keys.value,
      table.normalizer.empty() ? nullptr : table.normalizer.c_str(), table.elsewhere_count,
      table.contents.value));
  return padded_bytes(builder);
}

Result<PagesTable> parse_pages_table(std::span<const std::byte> bytes) {
  const FlatbufferInput<fb::Pages> input(bytes);
  if (input.root() == nullptr) {
    return fail(Errc::kSegmentInvalid, "a page database is not a FlatBuffer of its schema", 0);
  }
  const fb::Pages& from = *input.root();
  if ((from.flags() & ~(kPagesHaveUrls | kPagesHaveContents)) != 0) {
    return fail(Errc::kSegmentInvalid, "a flag of a page database is unknown", 0);
  }
  PagesTable table;
  table.has_urls = (from.flags() & kPagesHaveUrls) != 0;
  table.has_contents = (from.flags() & kPagesHaveContents) != 0;
  table.page_count = from.page_count();
  table.crawled_count = from.crawled_count();
  table.link_count = from.link_count();
  table.event_count = from.event_count();
  table.superstep_count = from.superstep_count();
  table.collision_count = from.collision_count();
  table.unparsed_count = from.unparsed_count();
  table.keys = {from.keys()};
  table.origins = {from.origins()};
  table.records = {from.records()};
  table.out_links = {from.out_links()};
  table.in_links = {from.in_links()};
  table.gone_links = {from.gone_links()};
  table.events = {from.events()};
  table.fresh_keys = {from.fresh_keys()};
  table.normalizer = view_of(from.normalizer());
  table.elsewhere_count = from.elsewhere_count();
  table.contents = {from.contents()};
  Broken broken = check_counts(table);
  if (broken == nullptr) broken = check_normalizer(table);
  if (broken == nullptr) broken = check_segments(table);
  if (broken != nullptr) return fail(Errc::kSegmentInvalid, broken, 0);
  return table;
}

}  // namespace crawlstore::format
