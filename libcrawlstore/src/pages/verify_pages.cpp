// SPDX-License-Identifier: Apache-2.0
//
// Invariant: segments are compared with each other only when each of them is whole by itself.
#include "pages/verify_pages.h"

#include <algorithm>

#include "container/run_io.h"
#include "container/tile_tree.h"
#include "drum/drum_content.h"
#include "drum/verify_drum.h"
#include "format/drum_table.h"
#include "format/pages_table.h"
#include "format/record_tile.h"
#include "links/link_content.h"
#include "links/link_view.h"
#include "pages/content_index.h"
#include "pages/fresh_keys.h"
#include "pages/page_content.h"
#include "pages/verify_contents.h"
#include "pages/verify_page_keys.h"

namespace crawlstore::pages {
namespace {

constexpr const char* kTooLong = "a table is too long";

/// Verifies one page database.
class PagesVerifier {
 public:
  PagesVerifier(container::SegmentVerifier& segments, const format::SegmentEntry& entry)
      : segments_(segments),
        verification_(segments.verification()),
        directory_(segments.directory()),
        entry_(entry),
        storage_(std::shared_ptr<void>(), &verification_.storage) {}

  /// Whether the table could be read: only then is it known what it names.
  Result<bool> verify() {
    CRAWLSTORE_TRY(const auto payload,
                   segments_.read_table(entry_, format::kPagesTableBytesMax, kTooLong));
    if (!payload) return false;
    const auto table = format::parse_pages_table(*payload);
    if (!table) {
      broken(table.error().text);
      return false;
    }
    table_ = *table;
    CRAWLSTORE_TRY(verification_.advance(payload->size()));
    origins_ = member(table_.origins, SegmentKind::kPageOrigins);
    records_ = member(table_.records, SegmentKind::kPageRecords);
    out_ = member(table_.out_links, SegmentKind::kOutLinks);
    in_ = member(table_.in_links, SegmentKind::kInLinks);
    gone_ = member(table_.gone_links, SegmentKind::kGoneLinks);
    events_ = member(table_.events, SegmentKind::kPageEvents);
    fresh_ = member(table_.fresh_keys, SegmentKind::kFreshKeys);
    CRAWLSTORE_TRY(const bool records_are_whole, verify_records());
    CRAWLSTORE_TRY(verify_links());
    CRAWLSTORE_TRY(verify_events());
    CRAWLSTORE_TRY(const bool origins_are_whole, verify_origins());
    CRAWLSTORE_TRY(verify_keys(origins_are_whole));
    CRAWLSTORE_TRY(verify_index_of_contents(records_are_whole));
    if (table_.keys) segments_.name(SegmentKind::kPages, table_.keys);
    return true;
  }

 private:
  void broken(SegmentId segment, std::uint64_t offset, const char* text) {
    segments_.broken(segment, offset, text);
  }
  void broken(const char* text) { broken(entry_.id, entry_.runs.front().offset_bytes, text); }

  /// The segment that the table names, when it is what the table takes it for.
  const format::SegmentEntry* member(SegmentId id, SegmentKind kind) {
    if (!id) return nullptr;
    const auto* entry = directory_.find(id);
    if (entry == nullptr) {
      broken("a page database names a segment that does not exist");
      return nullptr;
    }
    segments_.name(SegmentKind::kPages, id);
    if (entry->kind == kind && entry->owner == entry_.id) return entry;
    broken(id, entry_.runs.front().offset_bytes,
           "a segment is not what the page database that names it takes it for");
    return nullptr;
  }

  /// Calls `visit` with each run and its content; false if one is not whole.
  template <class Content, class Visit>
  Result<bool> for_each_run(const format::SegmentEntry& entry, const Visit& visit) {
    bool is_whole = true;
    for (const auto& run : entry.runs) {
      CRAWLSTORE_TRY(const auto content, segments_.content_of<Content>(entry, run));
      is_whole = is_whole && content != nullptr;
      if (content != nullptr) visit(run, *content);
    }
    return is_whole;
  }

  /// Returns whether all records are there.
  Result<bool> verify_records() {
    if (records_ == nullptr) return table_.page_count == 0;
    const std::uint64_t count = container::tile_count(*records_);
    std::uint64_t page_count = 0;
    std::uint64_t crawled_count = 0;
    std::uint64_t elsewhere_count = 0;
    bool is_whole = true;
    for (std::uint64_t i = 0; i < count; ++i) {
      const format::RunRef& run = container::tile_ref(*records_, i);
      CRAWLSTORE_TRY(const auto content, segments_.content_of<RecordContent>(*records_, run));
      page_count += run.record_count;
      is_whole = is_whole && content != nullptr;
      if (content == nullptr) continue;
      crawled_count += content->crawled_count;
      elsewhere_count += content->elsewhere_count;
    }
    if (!is_whole) return false;
    if (page_count != table_.page_count) broken("there are not as many records as pages");
    if (crawled_count != table_.crawled_count) {
      broken("another number of pages was crawled than the table says");
    }
    if (elsewhere_count != table_.elsewhere_count) {
      broken("another number of pages is of other shards than the table says");
    }
    return page_count == table_.page_count;
  }

  Result<void> verify_events() {
    if (events_ == nullptr) return {};
    std::uint64_t count = 0;
    const auto whole = for_each_run<EventContent>(*events_, [&](const auto& run,
                                                                const auto& content) {
      count += run.record_count;
      if (table_.has_urls && content.index_max != 0) {
        broken(events_->id, run.offset_bytes, "an event names a page by its index, not its URL");
      }
      if (content.index_max >= format::kPagesMax) {
        broken(events_->id, run.offset_bytes, "an event names a page that cannot be");
      }
      if (content.names_urls && !table_.has_urls) {
        broken(events_->id, run.offset_bytes, "an event names a page by a URL, not its index");
      }
    });
    if (!whole) return tl::unexpected<Error>(whole.error());
    if (*whole && count != table_.event_count) {
      broken("another number of edits waits than the table says");
    }
    return {};
  }

  Result<void> verify_links() {
    bool is_whole = true;
    for (const auto* log : {out_, in_, gone_}) {
      if (log == nullptr) continue;
      const auto whole =
          for_each_run<links::LinkContent>(*log, [&](const auto& run, const auto& content) {
            if (content.page_max < table_.page_count && content.target_max < table_.page_count)
              return;
            broken(log->id, run.offset_bytes, "a row or a link is of a page that does not exist");
            is_whole = false;
          });
      if (!whole) return tl::unexpected<Error>(whole.error());
      is_whole = is_whole && *whole;
    }
    const bool is_known = (out_ != nullptr || !table_.out_links) &&
                          (in_ != nullptr || !table_.in_links) &&
                          (gone_ != nullptr || !table_.gone_links);
    if (!is_whole || !is_known || table_.link_count > verification_.compared_max) return {};
    if (const auto compared = compare_links(); !compared) return segments_.failed(compared.error());
    return {};
  }

  /// Both directions hold the same pairs, as many as the table says.
  Result<void> compare_links() {
    const auto view = links::LinkView::open(
        [this](SegmentId segment) { return directory_.find(segment); },
        [this](SegmentId segment, const format::RunRef& run) { return reader_of(segment, run); },
        {table_.out_links, table_.in_links, table_.gone_links});
    if (!view) return tl::unexpected<Error>(view.error());
    std::uint64_t out_count = 0;
    std::uint64_t out_sum = 0;
    auto rows = view->out_rows();
    CRAWLSTORE_TRY(sum_links(rows, out_count, [&](std::uint64_t page, std::uint64_t link) {
      out_sum += mixed(page, link);
    }));
    std::uint64_t in_count = 0;
    std::uint64_t in_sum = 0;
    rows = view->in_rows();
    CRAWLSTORE_TRY(sum_links(rows, in_count, [&](std::uint64_t page, std::uint64_t link) {
      in_sum += mixed(link, page);
    }));
    if (out_count != table_.link_count) broken("there are not as many links as the table says");
    if (in_count != out_count || in_sum != out_sum) {
      broken(in_ == nullptr ? entry_.id : in_->id, Error::kNoOffset,
             "in-links are not out-links turned round");
    }
    return {};
  }

  template <class Add>
  Result<void> sum_links(Result<links::CombinedRows>& rows, std::uint64_t& count, const Add& add) {
    if (!rows) return tl::unexpected<Error>(rows.error());
    for (;;) {
      CRAWLSTORE_TRY(const auto more, rows->next());
      if (!more) return {};
      for (const std::uint64_t link : rows->links()) add(rows->page(), link);
      count += rows->links().size();
    }
  }

  std::shared_ptr<const container::RunReader> reader_of(SegmentId segment,
                                                        const format::RunRef& run) {
    return std::make_shared<const container::RunReader>(
        storage_, container::run_name(verification_.identity, segment, run.run_id), run);
  }

  /// Returns whether the runs cover all pages.
  Result<bool> verify_origins() {
    if (origins_ == nullptr) return !table_.origins;
    std::uint64_t next_page = 0;
    const format::RunRef* gap = nullptr;
    const auto whole =
        for_each_run<OriginContent>(*origins_, [&](const auto& run, const auto& content) {
          if (content.page_min != next_page && gap == nullptr) gap = &run;
          next_page = content.page_max + 1;
        });
    if (!whole) return tl::unexpected<Error>(whole.error());
    if (!*whole) return false;
    if (gap != nullptr) {
      broken(origins_->id, gap->offset_bytes,
             "a run of origins does not begin where the last ends");
    } else if (next_page != table_.page_count) {
      broken("there are not as many origins as pages");
    } else {
      return true;
    }
    return false;
  }

  Result<void> verify_keys(bool origins_are_whole) {
    if (!table_.keys) return {};
    const auto* drum = directory_.find(table_.keys);
    if (drum == nullptr || drum->kind != SegmentKind::kDrum || drum->name != entry_.name) {
      broken("the keys of a page database are not the drum of its name");
      return {};
    }
    CRAWLSTORE_TRY(const auto payload, segments_.read_table(*drum, drum::kDrumBytesMax, kTooLong));
    if (!payload) return {};
    const auto table = format::parse_drum_table(*payload);
    if (!table) return {};  // noted with the drum
    const bool is_waiting =
        std::any_of(table->buckets.begin(), table->buckets.end(),
                    [](const auto& bucket) { return bucket.pending_count != 0; }) ||
        std::any_of(table->consumers.begin(), table->consumers.end(),
                    [](const auto& consumer) { return consumer.result_count != 0; });
    if (table->key_scheme != KeyScheme::kPage || table->key_bytes != kPageKeyShape.key_bytes ||
        table->value_bytes != kPageKeyShape.value_bytes || is_waiting) {
      broken(drum->id, drum->runs.front().offset_bytes,
             "a drum does not hold the keys of pages as their database asks for");
      return {};
    }
    if (table_.fresh_keys && fresh_ == nullptr) return {};
    CRAWLSTORE_TRY(
        const bool fresh_is_whole,
        verify_key_runs(fresh_, kPageKeyShape, "a run of fresh keys does not hold keys of pages"));
    if (!fresh_is_whole || !origins_are_whole) return {};
    for (const auto& bucket : table->buckets) {
      const auto* partition = directory_.find(bucket.partition);
      if (!bucket.partition) continue;
      if (partition == nullptr) return {};  // noted with the drum
      CRAWLSTORE_TRY(const auto content, segments_.content_of(*partition, partition->runs.front()));
      if (content == nullptr) return {};
    }
    if (table_.page_count > verification_.compared_max) return {};
    const PageKeyParts parts{directory_, *drum, *table, fresh_, origins_, table_.page_count};
    const auto right = PageKeysVerifier(verification_, parts).verify();
    if (!right) return segments_.failed(right.error());
    return {};
  }

  /// That the runs of a log, which need not be there, are whole, and their keys have the shape.
  Result<bool> verify_key_runs(const format::SegmentEntry* log, drum::Shape shape,
                               const char* problem) {
    if (log == nullptr) return true;
    bool has_shape = true;
    const auto whole =
        for_each_run<drum::KeyContent>(*log, [&](const auto& run, const auto& content) {
          if (content.key_bytes == shape.key_bytes && content.value_bytes == shape.value_bytes) {
            return;
          }
          has_shape = false;
          broken(log->id, run.offset_bytes, problem);
        });
    if (!whole) return whole;
    return *whole && has_shape;
  }

  Result<void> verify_index_of_contents(bool records_are_whole) {
    const auto* contents = member(table_.contents, SegmentKind::kPageContents);
    if (!table_.has_contents || (table_.contents && contents == nullptr)) return {};
    CRAWLSTORE_TRY(const auto is_whole,
                   verify_key_runs(contents, kContentKeyShape,
                                   "a run of the index of contents does not hold its keys"));
    if (!is_whole || !records_are_whole || table_.page_count > verification_.compared_max) {
      return {};
    }
    const auto right = verify_contents(verification_, records_, contents, entry_.id);
    if (!right) return segments_.failed(right.error());
    return {};
  }

  container::SegmentVerifier& segments_;
  container::Verification& verification_;
  const container::Directory& directory_;
  const format::SegmentEntry& entry_;
  std::shared_ptr<Storage> storage_;  // borrowed
  format::PagesTable table_;
  const format::SegmentEntry* origins_ = nullptr;
  const format::SegmentEntry* records_ = nullptr;
  const format::SegmentEntry* out_ = nullptr;
  const format::SegmentEntry* in_ = nullptr;
  const format::SegmentEntry* gone_ = nullptr;
  const format::SegmentEntry* events_ = nullptr;
  const format::SegmentEntry* fresh_ = nullptr;
};

/// That a drum which no page database names does not hold the keys of pages.
Result<void> verify_other_drum(container::SegmentVerifier& segments,
                               const format::SegmentEntry& entry) {
  CRAWLSTORE_TRY(const auto payload, segments.read_table(entry, drum::kDrumBytesMax, kTooLong));
  if (!payload) return {};
  const auto table = format::parse_drum_table(*payload);
  if (table && table->key_scheme == KeyScheme::kPage) {
    segments.broken(entry.id, entry.runs.front().offset_bytes,
                    "a drum holds the keys of pages, but no page database names it");
  }
  return {};  // what is wrong with the table was noted with the drum
}

}  // namespace

Result<bool> verify_pages(container::SegmentVerifier& segments, const format::SegmentEntry& entry) {
  return PagesVerifier(segments, entry).verify();
}

Result<void> verify_other_drums(container::SegmentVerifier& segments) {
  if (!segments.all_read(SegmentKind::kPages)) return {};  // not known which drums are named
  for (const auto& table : segments.directory().tables) {
    for (const auto& entry : table->segments) {
      if (entry.kind != SegmentKind::kDrum) continue;
      if (segments.is_named(SegmentKind::kPages, entry.id)) continue;
      CRAWLSTORE_TRY(verify_other_drum(segments, entry));
    }
  }
  return {};
}

/// The nodes were checked with the directory.
Result<bool> verify_record_tiles(container::SegmentVerifier& segments,
                                 const format::SegmentEntry& entry) {
  const std::uint64_t count = container::tile_count(entry);
  for (std::uint64_t tile = 0; tile < count; ++tile) {
    const format::RunRef& run = container::tile_ref(entry, tile);
    CRAWLSTORE_TRY(segments.content_of(entry, run));
    if (tile + 1 < count && run.record_count != format::kTilePagesMax) {
      segments.broken(entry.id, run.offset_bytes, "a record tile is not full, and not the last");
    }
  }
  return true;
}

}  // namespace crawlstore::pages
