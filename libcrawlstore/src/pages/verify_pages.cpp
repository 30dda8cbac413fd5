// SPDX-License-Identifier: Apache-2.0
//
// Invariant: segments are compared with each other only when each of them is whole by itself.
#include "pages/verify_pages.h"

#include <algorithm>
#include <set>

#include "container/run_io.h"
#include "container/tile_tree.h"
#include "format/drum_table.h"
#include "format/pages_table.h"
#include "format/record_tile.h"
#include "format/superblock.h"
#include "links/link_view.h"
#include "pages/fresh_keys.h"
#include "pages/verify_page_keys.h"

namespace crawlstore::pages {
namespace {

constexpr std::uint64_t kTableBytesMax = 65536;
/// Drums have no more: verify_segments.cpp.
constexpr std::uint64_t kDrumBytesMax = 16 * 1024 * 1024;

/// Of one page database, or of a drum that belongs to none.
class PagesVerifier {
 public:
  PagesVerifier(container::Verification& verification, container::SegmentVerifier& segments,
                const container::Directory& directory, FindingKind kind,
                const format::SegmentEntry& entry)
      : verification_(verification),
        segments_(segments),
        directory_(directory),
        kind_(kind),
        entry_(entry),
        storage_(std::shared_ptr<void>(), &verification.storage) {}

  /// Whether the table could be read: only then is it known what it names.
  Result<bool> verify(std::set<SegmentId>& members) {
    const format::RunRef& run = entry_.runs.front();
    CRAWLSTORE_TRY(const auto read, read_payload(entry_, run, kTableBytesMax));
    if (!read) return false;
    const auto table = format::parse_pages_table(payload_);
    if (!table) {
      broken(entry_.id, run.offset_bytes, table.error().text);
      return false;
    }
    table_ = *table;
    CRAWLSTORE_TRY(verification_.advance(payload_.size()));
    origins_ = member(table_.origins, SegmentKind::kPageOrigins, members);
    records_ = member(table_.records, SegmentKind::kPageRecords, members);
    out_ = member(table_.out_links, SegmentKind::kOutLinks, members);
    in_ = member(table_.in_links, SegmentKind::kInLinks, members);
    gone_ = member(table_.gone_links, SegmentKind::kGoneLinks, members);
    events_ = member(table_.events, SegmentKind::kPageEvents, members);
    fresh_ = member(table_.fresh_keys, SegmentKind::kFreshKeys, members);
    CRAWLSTORE_TRY(verify_records());
    CRAWLSTORE_TRY(verify_links());
    CRAWLSTORE_TRY(verify_events());
    CRAWLSTORE_TRY(verify_origins());
    CRAWLSTORE_TRY(verify_keys());
    if (table_.keys) members.insert(table_.keys);
    return true;
  }

  /// That the entry, a drum which no page database names, does not hold the keys of pages.
  Result<void> verify_other_drum() {
    const format::RunRef& run = entry_.runs.front();
    CRAWLSTORE_TRY(const auto read, read_payload(entry_, run, kDrumBytesMax));
    if (!read) return {};
    const auto table = format::parse_drum_table(payload_);
    if (table && table->key_scheme == format::KeyScheme::kPage) {
      broken("a drum holds the keys of pages, but no page database names it");
    }
    return {};  // what is wrong with the table was noted with the drum
  }

 private:
  void broken(SegmentId segment, std::uint64_t offset, const char* text) {
    verification_.found(kind_, directory_.generation(),
                        {Errc::kSegmentInvalid, 0, segment.value, offset, text});
  }
  void broken(const char* text) { broken(entry_.id, entry_.runs.front().offset_bytes, text); }
  /// What a reading that failed means.
  Result<void> failed(const Error& error) {
    return verification_.found_or_fail(kind_, directory_.generation(), error);
  }

  /// The payload of a run with whole checksums, in payload_.
  Result<bool> read_payload(const format::SegmentEntry& entry, const format::RunRef& run,
                            std::uint64_t bytes_max) {
    if (segments_.is_damaged(entry, run)) return false;
    if (run.payload_bytes > bytes_max) {
      broken(entry.id, run.offset_bytes, "a table is too long");
      return false;
    }
    const auto name = container::run_name(verification_.identity, entry.id, run.run_id);
    const auto read = container::read_run(verification_.storage, name, run, payload_);
    if (read) return true;
    CRAWLSTORE_TRY(failed(read.error()));
    return false;
  }

  /// The segment that the table names, when it is what the table takes it for.
  const format::SegmentEntry* member(SegmentId id, SegmentKind kind, std::set<SegmentId>& members) {
    if (!id) return nullptr;
    const auto* entry = directory_.find(id);
    if (entry == nullptr) {
      broken("a page database names a segment that does not exist");
      return nullptr;
    }
    members.insert(id);
    if (entry->kind == kind && entry->owner == entry_.id) return entry;
    broken(id, entry_.runs.front().offset_bytes,
           "a segment is not what the page database that names it takes it for");
    return nullptr;
  }

  /// Calls `visit` with each run and its content; false if one is not whole.
  template <class Visit>
  Result<bool> for_each_run(const format::SegmentEntry& entry, const Visit& visit) {
    bool is_whole = true;
    for (const auto& run : entry.runs) {
      CRAWLSTORE_TRY(const auto content, segments_.content_of(entry, run));
      is_whole = is_whole && content != nullptr;
      if (content != nullptr) visit(run, *content);
    }
    return is_whole;
  }

  Result<void> verify_records() {
    if (records_ == nullptr) return {};
    const std::uint64_t count = container::tile_count(*records_);
    std::uint64_t page_count = 0;
    std::uint64_t crawled_count = 0;
    bool is_whole = true;
    for (std::uint64_t i = 0; i < count; ++i) {
      const format::RunRef& run = container::tile_ref(*records_, i);
      CRAWLSTORE_TRY(const auto content, segments_.content_of(*records_, run));
      page_count += run.record_count;
      is_whole = is_whole && content != nullptr;
      if (content != nullptr) crawled_count += content->crawled_count;
    }
    if (!is_whole) return {};
    if (page_count != table_.page_count) broken("there are not as many records as pages");
    if (crawled_count != table_.crawled_count) {
      broken("another number of pages was crawled than the table says");
    }
    return {};
  }

  Result<void> verify_events() {
    if (events_ == nullptr) return {};
    std::uint64_t count = 0;
    const auto whole = for_each_run(*events_, [&](const auto& run, const auto& content) {
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
      const auto whole = for_each_run(*log, [&](const auto& run, const auto& content) {
        if (content.page_max < table_.page_count && content.target_max < table_.page_count) return;
        broken(log->id, run.offset_bytes, "a row or a link is of a page that does not exist");
        is_whole = false;
      });
      if (!whole) return tl::unexpected<Error>(whole.error());
      is_whole = is_whole && *whole;
    }
    const bool is_known = (out_ != nullptr || !table_.out_links) &&
                          (in_ != nullptr || !table_.in_links) &&
                          (gone_ != nullptr || !table_.gone_links);
    if (!is_whole || !is_known) return {};
    if (const auto compared = compare_links(); !compared) return failed(compared.error());
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
  Result<void> sum_links(Result<links::RowStream>& rows, std::uint64_t& count, const Add& add) {
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

  /// The runs cover all pages.
  Result<void> verify_origins() {
    if (origins_ == nullptr) return {};
    std::uint64_t next_page = 0;
    const format::RunRef* gap = nullptr;
    const auto whole = for_each_run(*origins_, [&](const auto& run, const auto& content) {
      if (content.page_min != next_page && gap == nullptr) gap = &run;
      next_page = content.page_max + 1;
    });
    if (!whole) return tl::unexpected<Error>(whole.error());
    if (!*whole) return {};
    if (gap != nullptr) {
      broken(origins_->id, gap->offset_bytes,
             "a run of origins does not begin where the last ends");
    } else if (next_page != table_.page_count) {
      broken("there are not as many origins as pages");
    } else {
      origins_are_whole_ = true;
    }
    return {};
  }

  Result<void> verify_keys() {
    if (!table_.keys) return {};
    const auto* drum = directory_.find(table_.keys);
    if (drum == nullptr || drum->kind != SegmentKind::kDrum || drum->name != entry_.name) {
      broken("the keys of a page database are not the drum of its name");
      return {};
    }
    CRAWLSTORE_TRY(const auto read, read_payload(*drum, drum->runs.front(), kDrumBytesMax));
    if (!read) return {};
    const auto table = format::parse_drum_table(payload_);
    if (!table) return {};  // noted with the drum
    const bool is_waiting =
        std::any_of(table->buckets.begin(), table->buckets.end(),
                    [](const auto& bucket) { return bucket.pending_count != 0; }) ||
        std::any_of(table->consumers.begin(), table->consumers.end(),
                    [](const auto& consumer) { return consumer.result_count != 0; });
    if (table->key_scheme != format::KeyScheme::kPage ||
        table->key_bytes != kPageKeyShape.key_bytes ||
        table->value_bytes != kPageKeyShape.value_bytes || is_waiting) {
      broken(drum->id, drum->runs.front().offset_bytes,
             "a drum does not hold the keys of pages as their database asks for");
      return {};
    }
    CRAWLSTORE_TRY(const auto fresh_is_whole, verify_fresh_runs());
    if (!fresh_is_whole || (table_.origins && !origins_are_whole_)) return {};
    for (const auto& bucket : table->buckets) {
      const auto* partition = directory_.find(bucket.partition);
      if (!bucket.partition) continue;
      if (partition == nullptr) return {};  // noted with the drum
      CRAWLSTORE_TRY(const auto content, segments_.content_of(*partition, partition->runs.front()));
      if (content == nullptr) return {};
    }
    const PageKeyParts parts{directory_, *drum, *table, fresh_, origins_, table_.page_count};
    const auto right = PageKeysVerifier(verification_, parts).verify();
    if (!right) return failed(right.error());
    return {};
  }

  /// That the runs of fresh keys are whole, and hold what keys of pages are.
  Result<bool> verify_fresh_runs() {
    if (table_.fresh_keys && fresh_ == nullptr) return false;
    if (fresh_ == nullptr) return true;
    bool has_shape = true;
    const auto whole = for_each_run(*fresh_, [&](const auto& run, const auto& content) {
      if (content.key_bytes == kPageKeyShape.key_bytes &&
          content.value_bytes == kPageKeyShape.value_bytes) {
        return;
      }
      has_shape = false;
      broken(fresh_->id, run.offset_bytes, "a run of fresh keys does not hold keys of pages");
    });
    if (!whole) return whole;
    return *whole && has_shape;
  }

  container::Verification& verification_;
  container::SegmentVerifier& segments_;
  const container::Directory& directory_;
  FindingKind kind_;
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
  bool origins_are_whole_ = false;
  std::vector<std::byte> payload_;
};

}  // namespace

Result<void> verify_pages(container::Verification& verification,
                          container::SegmentVerifier& segments,
                          const container::Directory& directory, FindingKind kind) {
  std::set<SegmentId> members;
  std::set<SegmentId> unread;
  for (const auto& table : directory.tables) {
    for (const auto& entry : table->segments) {
      if (entry.kind != SegmentKind::kPages) continue;
      CRAWLSTORE_TRY(const auto read,
                     PagesVerifier(verification, segments, directory, kind, entry).verify(members));
      if (!read) unread.insert(entry.id);
    }
  }
  if (unread.empty()) {  // otherwise it is not known which drums are named
    for (const auto& table : directory.tables) {
      for (const auto& entry : table->segments) {
        if (entry.kind != SegmentKind::kDrum || members.contains(entry.id)) continue;
        CRAWLSTORE_TRY(
            PagesVerifier(verification, segments, directory, kind, entry).verify_other_drum());
      }
    }
  }
  directory.for_each_segment([&](const format::SegmentEntry& entry) {
    const bool is_owned =
        entry.kind != SegmentKind::kPages && format::feature_of(entry.kind) != format::kDrumFeature;
    if (!is_owned || members.contains(entry.id) || unread.contains(entry.owner)) return;
    const std::uint64_t offset =
        entry.runs.empty() ? Error::kNoOffset : entry.runs.front().offset_bytes;
    verification.found(
        kind, directory.generation(),
        {Errc::kSegmentInvalid, 0, entry.id.value, offset, "no page database names this segment"});
  });
  return {};
}

}  // namespace crawlstore::pages
