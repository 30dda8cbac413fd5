// SPDX-License-Identifier: Apache-2.0
#include "pages/page_content.h"

#include <algorithm>

#include "format/event_run.h"
#include "format/record_tile.h"

namespace crawlstore::pages {

using container::RunContentPtr;

Result<RunContentPtr> check_event_run(std::span<const std::byte> payload) {
  CRAWLSTORE_TRY(auto reader, format::EventRunReader::open(payload));
  format::EventBatch batch;
  auto content = std::make_unique<EventContent>(reader.record_count());
  const auto note = [&content](std::string_view url, std::uint64_t index) {
    content->names_urls = content->names_urls || !url.empty();
    if (url.empty()) content->index_max = std::max(content->index_max, index);
  };
  auto more = reader.next(batch);
  for (; more && *more; more = reader.next(batch)) {
    for (const CrawlEvent& event : batch.events()) {
      note(event.url, event.index);
      for (const EventLink& link : event.links) note(link.url, link.index);
    }
  }
  if (!more) return tl::unexpected<Error>(more.error());
  return content;
}

Result<RunContentPtr> check_record_tile(std::span<const std::byte> payload) {
  CRAWLSTORE_TRY(const auto tile, format::RecordTile::parse(payload));
  CRAWLSTORE_TRY(tile.check());
  auto content = std::make_unique<RecordContent>(tile.page_count());
  for (std::uint32_t i = 0; i < tile.page_count(); ++i) {
    CRAWLSTORE_TRY(const auto record, tile.record(i));
    if (record.crawl_count != 0) ++content->crawled_count;
    if (record.state == PageState::kElsewhere) ++content->elsewhere_count;
  }
  return content;
}

}  // namespace crawlstore::pages
