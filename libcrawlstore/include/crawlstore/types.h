// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Strong types for the numbers that must not be mixed up: an offset is not a generation.
///
/// All are plain values: 8 bytes, trivially copyable, ordered, no hidden state. `value` is the
/// number on disk (unsigned, little-endian there). Units stand in the names.

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#pragma GCC visibility push(default)
namespace crawlstore {

/// Number of a commit. 1 is the empty store; each commit adds 1; never returns once durable.
struct Generation {
  std::uint64_t value = 0;
  auto operator<=>(const Generation&) const = default;
  /// The generation that the next commit makes.
  [[nodiscard]] Generation next() const { return {value + 1}; }
};

/// Number of a segment, unique in its file for ever. 0 = none.
struct SegmentId {
  std::uint64_t value = 0;
  auto operator<=>(const SegmentId&) const = default;
  /// Whether it names a segment.
  explicit operator bool() const { return value != 0; }
};

/// Number of a run of a log, unique in its file for ever.
struct RunId {
  std::uint64_t value = 0;
  auto operator<=>(const RunId&) const = default;
};

/// Number of a consumer of a DRUM's answers (Drum::consumer), the same for ever. 0 always exists.
struct ConsumerId {
  std::uint16_t value = 0;
  auto operator<=>(const ConsumerId&) const = default;
};

/// A piece of the file, in bytes. Extents of the directory are multiples of the unit (4 KiB).
struct Extent {
  std::uint64_t offset_bytes = 0;
  std::uint64_t length_bytes = 0;
  auto operator<=>(const Extent&) const = default;
  /// Offset of the first byte behind it.
  [[nodiscard]] std::uint64_t end_bytes() const { return offset_bytes + length_bytes; }
};

/// A key of 16 bytes. Keys are ordered by their heads, then by their tails; a DRUM keeps keys that
/// share their head in one bucket.
struct Key16 {
  std::uint64_t head = 0;  ///< the first 8 bytes, as a big-endian number; of an 8-byte key, all
  std::uint64_t tail = 0;  ///< the last 8; of an 8-byte key, 0
  constexpr Key16() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): wherever keys of any DRUM are taken
  constexpr Key16(std::uint64_t head_bits, std::uint64_t tail_bits = 0)
      : head(head_bits), tail(tail_bits) {}
  auto operator<=>(const Key16&) const = default;
};

/// 16 bytes that name a store for its whole life; copies made by snapshot() keep it.
using Uuid = std::array<std::byte, 16>;

/// 8-4-4-4-12 hexadecimal, lower case.
std::string to_string(const Uuid& uuid);

/// The content of a segment; the numbers are in spec/registry.md.
enum class SegmentKind : std::uint16_t {
  kDrum = 1,             ///< one DRUM: its types, buckets and consumers
  kDrumPartition = 2,    ///< sorted unique keys of one bucket, with values
  kDrumKeyLog = 3,       ///< pending requests of one bucket: keys, operations, values
  kDrumAuxLog = 4,       ///< pending requests of one bucket: auxiliary bytes
  kDrumResults = 5,      ///< verdicts kept for a consumer that was absent at the merge
  kPages = 6,            ///< one page database: its counts, its options, its segments
  kPageOrigins = 7,      ///< by index: URL, who linked to it first, depth; never changes
  kPageRecords = 8,      ///< by index: what crawls found, and scores
  kOutLinks = 9,         ///< by index: the pages that a page links to
  kInLinks = 10,         ///< by index: the pages that link to a page
  kGoneLinks = 11,       ///< by index: the pages that no longer link to a page
  kPageEvents = 12,      ///< edits that wait for the next superstep
  kFreshKeys = 13,       ///< keys of pages that are not in the DRUM of keys yet
  kScoreArray = 14,      ///< by index: what pages are worth
  kQueue = 15,           ///< one queue: its runs, and how far each has left
  kQueueEntries = 16,    ///< pages of a queue with their priorities
  kFrontier = 17,        ///< one frontier: its counts, its runs
  kFrontierGroups = 18,  ///< keys of groups
  kFrontierItems = 19,   ///< items that wait, sorted by group or by time
  kFrontierSteps = 20,   ///< what was done, and the state of groups
  kValues = 21,          ///< small values of the program, each with its name
  kPageContents = 22,    ///< pages by the content that they have, or had
};

/// The way in which the keys of a DRUM were made; fixed when the DRUM is made.
enum class KeyScheme : std::uint16_t {
  kOpaque = 0,    ///< by the program
  kUrl = 1,       ///< of URLs, by XXH3 (url.h)
  kUrlRabin = 2,  ///< of URLs, by Rabin fingerprints, 8 bytes
  kPage = 3,      ///< of a page database: the hash of a page's URL, and its index
};

/// The way in which a segment's bytes may change (spec/design.md).
enum class StorageClass : std::uint8_t {
  kBlob = 1,   ///< written once, one extent
  kLog = 2,    ///< a list of runs, one extent each
  kTiled = 3,  ///< tiles that are replaced one by one, under a tree of nodes
};

/// The state of a page, as far as it is known.
enum class PageState : std::uint8_t {
  kKnown = 0,      ///< never crawled
  kCrawled = 1,    ///< the last crawl brought content, or told that it is as it was
  kGone = 2,       ///< deleted, or forgotten
  kFailed = 3,     ///< the last fetch failed
  kRedirect = 4,   ///< the last fetch was led elsewhere
  kDenied = 5,     ///< robots.txt forbids it
  kDuplicate = 6,  ///< another page has its content
  kElsewhere = 7,  ///< of another shard (shard.h), whatever became of it there
};

/// States of pages; they are numbered from 0 on.
inline constexpr std::size_t kPageStateCount = 8;

/// The computation that scores come from; the numbers are in spec/registry.md.
enum class Scorer : std::uint16_t {
  kPageRank = 1,       ///< how often a surfer is there who follows links at random
  kHitsAuthority = 2,  ///< how many good hubs link there
  kHitsHub = 3,        ///< how many good authorities it links to
  kOpicCash = 4,       ///< cash that it has got, and not yet given on
  kOpicHistory = 5,    ///< cash that it has given on so far
  kOpicCrawls = 6,     ///< crawls of the page that OPIC knows
  kOwn = 32768,        ///< this and what lies above: known to the program that computed it
};

/// Subject of scores: entry i is page i, or the host or domain whose first page is first page i.
enum class ScoreSubject : std::uint16_t { kPage = 1, kHost = 2, kDomain = 3 };

/// `drum_partition` and so on; "unknown" for numbers this version does not know.
std::string_view name_of(SegmentKind kind);
/// The kind of that name, or nothing.
std::optional<SegmentKind> find_segment_kind(std::string_view name);
std::string_view name_of(StorageClass storage_class);
std::string_view name_of(KeyScheme scheme);
std::string_view name_of(PageState state);
/// `page_rank` and so on; "own" for numbers that are for private use.
std::string_view name_of(Scorer scorer);

}  // namespace crawlstore
#pragma GCC visibility pop
