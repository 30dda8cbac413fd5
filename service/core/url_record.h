// SPDX-License-Identifier: Apache-2.0
#pragma once

/// URLs of a crawl: the keys by which the store knows them, and the bytes that it keeps of them.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <crawlstore/types.h>

namespace crawlstore::service {

/// A URL in its queue. Texts are the caller's.
struct UrlInQueue {
  std::string_view queue;  ///< key
  std::string_view url;
  double priority = 0;  ///< the highest of a queue leaves first, in a crawl that goes by it
};

/// The key of a URL in the table of known URLs. All keys of a queue have one head.
///   seed  of the store
Key16 known_key(const UrlInQueue& url, std::uint64_t seed);
/// The key of what is known of a queue; the head alone.
Key16 queue_key(std::string_view queue, std::uint64_t seed);
/// The key of what is known of the crawl. No queue has it.
inline constexpr Key16 kCrawlKey{0, 0};
inline bool is_of_url(Key16 key) {
  return key.tail != 0;
}
/// The id of the item of a URL that waits or is leased.
std::uint64_t item_id(Key16 key);

/// The queue of a URL that comes without one: its host, with lower-case letters of ASCII. Text
/// without "://" begins with its host.
///   nothing  it has none
std::optional<std::string> host_of(std::string_view url);

/// A URL as it is kept: in the body of its item while it waits or is leased, or in the table of
/// known URLs when it is completed.
struct UrlRecord {
  std::string url{};
  std::uint64_t created_s = 0;  ///< seconds since 1970
  std::string metadata{};       ///< bytes of the caller's; none of a completed URL
  /// The time from which it may be given out, where the priority of its item does not tell it.
  std::optional<std::uint64_t> refetch_s{};
  friend bool operator==(const UrlRecord&, const UrlRecord&) = default;
};

/// The bytes of a record. They leave out what the queue's key says.
std::string encode(const UrlRecord& record, std::string_view queue);
/// nothing: these are not the bytes of a record
std::optional<UrlRecord> decode(std::string_view bytes, std::string_view queue);
/// The time of a record, whatever its queue.
std::optional<std::uint64_t> created_of(std::string_view bytes);

/// The priority of an item of a crawl that goes by date: the earliest leaves first.
double priority_of(std::uint64_t refetch_s);
/// A priority that a caller says, as text; 0 where it is no finite number.
double priority_of(std::string_view text);
/// The time from which the URL of an item may be given out.
std::uint64_t refetch_of(const UrlRecord& record, double priority);

/// Counts of a queue, or of the whole crawl.
struct Counts {
  std::uint64_t completed = 0;  ///< URLs
  std::uint64_t limit = 0;      ///< of a queue: completed URLs that end it; 0: none
  std::uint64_t queues = 0;     ///< of the crawl: those with any URL
  std::uint64_t active = 0;     ///< of the crawl: queues with a URL that is not completed
  std::uint64_t purges = 0;     ///< of the crawl: 1 while keys are dropped that are still counted
  friend bool operator==(const Counts&, const Counts&) = default;
};
std::string encode(const Counts& counts);
std::optional<Counts> decode_counts(std::string_view bytes);

}  // namespace crawlstore::service
