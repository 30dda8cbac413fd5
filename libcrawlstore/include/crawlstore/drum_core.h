// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The DRUM without types: keys of 8 or 16 bytes, values and auxiliaries as bytes. Most programs
/// use Drum<> (drum.h) or UrlSeen (url_seen.h); tools that must open any DRUM use this.
///
/// Ownership: as in crawlstore.hpp. Threads, order and safety: as in drum.h.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <crawlstore/drum_options.h>
#include <crawlstore/error.h>
#include <crawlstore/report.h>
#include <crawlstore/snapshot.h>
#include <crawlstore/store.h>

#pragma GCC visibility push(default)
namespace crawlstore {

/// The operation that a request asks for. The numbers are in the file.
enum class DrumOperation : std::uint8_t { kCheck = 0, kUpdate = 1, kCheckUpdate = 2 };

/// One request, as bytes. For kCheck `value` is empty; fixed-size values have the DRUM's size.
struct RawRequest {
  DrumOperation operation{};
  ConsumerId consumer{};             ///< who gets the answer; 0 always exists
  std::uint64_t key = 0;             ///< of 16-byte keys the head
  std::span<const std::byte> value;  ///< at most 16 MiB
  std::span<const std::byte> aux;    ///< at most 64 MiB
  std::uint64_t key_tail = 0;        ///< of 16-byte keys, else 0
};

/// One answer. `value`: as in Answer (drum.h). `duplicate` is false for kUpdate.
struct RawAnswer {
  std::uint64_t key = 0;
  std::uint64_t sequence = 0;
  std::span<const std::byte> value;
  std::span<const std::byte> aux;
  ConsumerId consumer{};
  DrumOperation operation{};
  bool duplicate = false;
  std::uint64_t key_tail = 0;
};

/// Receives answers in order, many at a time. May submit to any DRUM of the store; may throw, which
/// drops the transaction. Empty = nobody.
using RawSink = std::function<void(std::span<const RawAnswer>)>;

/// Whether a key is dropped, with the value that it has by then. A callback (store.h).
using ShouldDropKey = std::function<bool(Key16 key, std::span<const std::byte> value)>;

/// A DRUM now, pending requests included.
struct DrumStatus {
  std::uint64_t key_count = 0;      ///< unique keys, as of the last merge
  std::uint64_t pending_count = 0;  ///< in memory and on disk
  std::uint64_t bucket_count = 0;
  std::uint64_t merge_count = 0;     ///< sweeps from memory among them, since the DRUM was made
  std::uint64_t transfer_count = 0;  ///< of arrays to the disk, since it was opened
  std::uint64_t unparsed_count = 0;  ///< URLs keyed as they were, since it was made
  std::uint64_t repeat_count = 0;    ///< requests that the window knew, since it was opened
  std::uint64_t dropped_count = 0;   ///< the same, with Repeats::kDrop
  std::uint64_t memory_bytes = 0;    ///< of the arrays and the window now
};

class DrumCore {
 public:
  /// Opens a DRUM as Drum::open does. value_bytes: size of every value; 0 none; -1 any length.
  [[nodiscard]] static Result<std::shared_ptr<DrumCore>> open(Store& store, std::string_view name,
                                                              std::int32_t value_bytes,
                                                              const DrumOptions& options);
  DrumCore(const DrumCore&) = delete;
  DrumCore& operator=(const DrumCore&) = delete;
  ~DrumCore();

  /// Sends the consumer's answers to the sink from now on; an empty sink detaches.
  void attach(ConsumerId consumer, RawSink sink);
  /// errors kTooLarge (auxiliary over 64 MiB, value over 16 MiB), kInvalidArgument (value size,
  /// consumer), kNoSpace and the like when arrays had to be written first: the request was
  /// not taken. An automatic merge, or the commit that `durability` asks for, comes after it was
  /// taken: its error leaves the request pending, so do not submit it again; merge() later
  [[nodiscard]] Result<void> submit(const RawRequest& request);
  /// Many requests, with one lock; stops at the first failure: those before it were taken.
  [[nodiscard]] Result<void> submit(std::span<const RawRequest> requests);
  /// Many keys without value and auxiliary; stops at the first failure. errors as submit(), and
  /// kInvalidArgument for keys of the other length
  [[nodiscard]] Result<void> submit_keys(DrumOperation operation,
                                         std::span<const std::uint64_t> keys, ConsumerId consumer);
  [[nodiscard]] Result<void> submit_keys(DrumOperation operation, std::span<const Key16> keys,
                                         ConsumerId consumer);
  /// Merges as Drum::merge does.
  [[nodiscard]] Result<MergeReport> merge();
  /// merge() that sends answers of consumer 0 to `sink`. The sink that is attached stays so.
  [[nodiscard]] Result<MergeReport> merge(RawSink sink);
  /// Merges, as merge() does, the buckets that have heads from the first to the last (of keys of 8
  /// bytes: the keys), both included, and drops keys in that range; all others stay. Answers are
  /// those of merge(). Returns how many are gone. DRUMs with and without values can.
  ///   should_drop  asked once for each key in the range, ascending, on this thread; keys that
  ///                wait among them. What it throws is thrown on: no bucket that is not committed
  ///                has changed, and what waits for it still does
  ///   errors       those of merge(): buckets that are committed by then, some at a time, stay so
  ///   cost         reads these buckets, and writes them anew
  [[nodiscard]] Result<std::uint64_t> drop_keys(std::uint64_t first_head, std::uint64_t last_head,
                                                const ShouldDropKey& should_drop);
  /// Merges if some bucket calls for it, as submissions do with auto_merge. errors those of merge()
  [[nodiscard]] Result<MergeReport> merge_if_full();
  /// Sends answers as Drum::take_results does.
  ///   errors  kUnknownName, kReentrant, kDispatcherFailed (nothing is removed)
  [[nodiscard]] Result<std::uint64_t> take_results(ConsumerId consumer, const RawSink& sink);
  /// The id of the consumer of this name, which is made when it does not exist; kept by the next
  /// commit. errors kTooLarge (name over 255 bytes, more than 16383 consumers), kInvalidArgument
  [[nodiscard]] Result<ConsumerId> consumer(std::string_view name);
  /// The value's bytes, copied; nullopt = absent, as of the last merge.
  [[nodiscard]] Result<std::optional<std::vector<std::byte>>> lookup(Key16 key) const;
  /// Whether the DRUM has the key, as Drum::contains tells.
  [[nodiscard]] Result<bool> contains(Key16 key) const;
  /// The value's bytes, copied, of a key that the DRUM has or will have, as Drum::find tells.
  [[nodiscard]] Result<std::optional<std::vector<std::byte>>> find(Key16 key) const;
  /// Inserts as Drum::insert does; value as of an update. No other consumer is named ".insert".
  [[nodiscard]] Result<bool> insert(Key16 key, std::span<const std::byte> value);
  /// Adds to the count of URLs that were keyed as they are.
  void count_unparsed(std::uint64_t count);
  [[nodiscard]] DrumStatus status() const;
  /// The options of these names, as the DRUM has them: see DrumOptions.
  [[nodiscard]] std::uint16_t key_bytes() const;
  [[nodiscard]] KeyScheme key_scheme() const;
  [[nodiscard]] std::string normalizer() const;
  /// Changes the options from now on. errors kInvalidArgument
  [[nodiscard]] Result<void> tune(const DrumOptions& options);
  /// Commits what is pending and closes the DRUM for all its handles. Again: no effect.
  ///   errors  kReentrant; those of the commit: it stays open with what waits, try again
  [[nodiscard]] Result<void> close();

 private:
  struct Impl;
  template <class Key>
  [[nodiscard]] Result<void> submit_any_keys(DrumOperation operation, std::span<const Key> keys,
                                             ConsumerId consumer);
  explicit DrumCore(std::shared_ptr<Impl> impl);
  friend struct Inside;  ///< for UrlSeen, whose rules are callbacks
  std::shared_ptr<Impl> impl_;
};

}  // namespace crawlstore
#pragma GCC visibility pop
