// SPDX-License-Identifier: Apache-2.0
//
// Invariants: an edit is its kind, then a message of one event, or of two: the second is the link,
// as a page of the target's URL with the content that it comes from.
#include "webdb/webdb_edits.h"

#include <array>
#include <vector>

#include "format/endian.h"

namespace crawlstore::webdb {
namespace {

constexpr std::size_t kIndexBytes = sizeof(std::uint64_t);

std::string_view characters_of(std::span<const std::byte> bytes) {
  return {format::numbers<char>(bytes).data(), bytes.size()};
}

std::span<const std::byte> bytes_in(std::string_view text) {
  return std::as_bytes(std::span(text));
}

/// The link as an event, which carries what a link has.
CrawlEvent event_of(const WebDbLink& link) {
  CrawlEvent event;
  event.url = link.target_url;
  event.content_hash = link.content_hash;
  return event;
}

}  // namespace

Result<void> check_edit(const CrawlEvent& event) {
  CRAWLSTORE_TRY(format::check_event(event));
  if (event.url.empty() || event.index != 0) {
    return fail(Errc::kInvalidArgument, "a page of a WebDB is named by a URL");
  }
  for (const EventLink& link : event.links) {
    if (link.url.empty() || link.index != 0) {
      return fail(Errc::kInvalidArgument, "a link of a WebDB leads to a URL");
    }
  }
  // Half of a message, so that a link that goes with it has room.
  if (format::event_bytes(event) < kEventMessageBytesMax / 2) return {};
  return fail(Errc::kTooLarge, "a page has links of more than 32 MiB; add some of them by content");
}

Result<void> check_link(const WebDbLink& link) {
  if (link.content_hash.empty()) {
    return fail(Errc::kInvalidArgument, "a link comes from a content: a hash of 1 to 64 bytes");
  }
  return check_edit(event_of(link));
}

std::string encode_edit(EditKind kind, const CrawlEvent& event,
                        const std::optional<WebDbLink>& link) {
  std::vector<CrawlEvent> events{event};
  if (link) events.push_back(event_of(*link));
  std::vector<std::byte> message;
  format::encode_event_batch(events, message);
  std::string record(1, static_cast<char>(kind));
  return record += characters_of(message);
}

Result<void> DecodedEdit::decode(std::string_view record) {
  if (record.empty()) return fail(Errc::kIo, "the file of edits was changed");
  kind_ = static_cast<EditKind>(record.front());
  if (batch_.parse(bytes_in(record.substr(1))) && !batch_.events().empty()) return {};
  return fail(Errc::kIo, "the file of edits was changed");
}

std::optional<WebDbLink> DecodedEdit::link() const {
  if (batch_.events().size() < 2) return std::nullopt;
  const CrawlEvent& event = batch_.events()[1];
  return WebDbLink{event.content_hash, event.url};
}

std::string content_key(std::span<const std::byte> content_hash, ContentKind kind,
                        std::uint64_t index) {
  std::string key(1, static_cast<char>(content_hash.size()));
  key += characters_of(content_hash);
  key += static_cast<char>(kind == ContentKind::kLostPage ? ContentKind::kOldPage : kind);
  std::array<std::byte, kIndexBytes> ordered;
  format::store(ordered.data(), __builtin_bswap64(index));
  key += characters_of(ordered);
  return key += static_cast<char>(kind);
}

ContentKey::ContentKey(std::string_view key)
    : content_hash(bytes_in(key.substr(1, static_cast<unsigned char>(key.front())))),
      kind(static_cast<ContentKind>(key.back())),
      index(__builtin_bswap64(
          format::load<std::uint64_t>(bytes_in(key).data() + content_hash.size() + 2))) {}

}  // namespace crawlstore::webdb
