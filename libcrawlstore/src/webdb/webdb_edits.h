// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Edits of a session of the WebDB as records of its sorts, in memory and in files of its own.
/// Threads: one at a time.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <crawlstore/crawl_event.h>
#include <crawlstore/error.h>
#include <crawlstore/webdb.h>

#include "format/crawl_events.h"

namespace crawlstore::webdb {

enum class EditKind : std::uint8_t { kAdd, kAddWithScore, kAddIfNew, kDelete };

/// Kinds of records that are sorted by content, in the order in which they are read: its links,
/// then by index the pages that had it, each behind a record that it lost it, if it did, then the
/// pages that got it. Pages that had it are there only where no index finds them.
enum class ContentKind : std::uint8_t { kLink, kLostPage, kOldPage, kGainedPage };

/// Checks an event as PageDb::add() does, and that it fits a record.
///   errors  kTooLarge, kInvalidArgument
[[nodiscard]] Result<void> check_edit(const CrawlEvent& event);
/// The same of a link.
[[nodiscard]] Result<void> check_link(const WebDbLink& link);

/// Returns the bytes of an edit, and of the link that goes with it.
[[nodiscard]] std::string encode_edit(EditKind kind, const CrawlEvent& event,
                                      const std::optional<WebDbLink>& link = {});

/// An edit, decoded. Views are valid until the next call of decode().
class DecodedEdit {
 public:
  /// errors  kIo: the record was changed
  Result<void> decode(std::string_view record);
  [[nodiscard]] EditKind kind() const { return kind_; }
  [[nodiscard]] CrawlEvent event() const { return batch_.events().front(); }
  [[nodiscard]] std::optional<WebDbLink> link() const;

 private:
  EditKind kind_{};
  format::EventBatch batch_;
};

/// Returns the key of a content's record; `index` is that of a kLostPage or kOldPage.
[[nodiscard]] std::string content_key(std::span<const std::byte> content_hash, ContentKind kind,
                                      std::uint64_t index = 0);

/// A key of a content's record, parsed. A view of it.
struct ContentKey {
  explicit ContentKey(std::string_view key);
  std::span<const std::byte> content_hash;
  ContentKind kind;
  std::uint64_t index;
};

}  // namespace crawlstore::webdb
