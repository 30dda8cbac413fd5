// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A cache in the file: byte strings by byte strings, each until the time when it expires. For what
/// a crawler asks of others and may not ask again and again: robots.txt by host, addresses by name.
///
///   CRAWLSTORE_TRY(auto robots, TimedDrum::open(store, "robots"));
///   CRAWLSTORE_TRY(robots.put("http://a.test", text, now_ms + 86'400'000));
///   CRAWLSTORE_TRY(const auto kept, robots.get("http://a.test", now_ms));
///   if (kept) rules = RobotsRules::from_text(kept->value);
///
/// It is a DRUM with keys of 8 bytes, url_key() of the key, and values of any length. A value in
/// the file is the time (8 bytes) and the length of the key (4 bytes), both little-endian, then the
/// key and the value. So two keys with one hash are told apart; the one put last is kept. Values
/// of other forms in a DRUM that was there before are left alone.
///
/// Times are milliseconds of any one clock, such as Frontier::now_ms(). Values are visible to get()
/// as soon as they are put, and durable with the next commit of the store, as what is submitted to
/// a Drum. What was put since the last merge is also kept in memory. A crash leaves what commits
/// had; the next open() merges that.
///
/// Ownership: as in crawlstore.hpp. Threads: one at a time. Merges wait for merges, commits and
/// transactions of other threads. Transactions: what is put stays whatever becomes of the
/// transactions of others, and in one of one's own nothing can be put.
/// Errors: as Drum; those of damage where values are read.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <crawlstore/drum_core.h>

#pragma GCC visibility push(default)
namespace crawlstore {

/// A value with the first time at which it is no longer given.
struct TimedValue {
  std::string value;
  std::uint64_t expires_ms = 0;
  friend bool operator==(const TimedValue&, const TimedValue&) = default;
};

struct TimedDrumOptions {
  /// Keys and values that were put since the last merge, beyond which the next put() merges first;
  /// at least 4096. They are in memory twice until a commit has written them.
  std::uint64_t memory_bytes = std::uint64_t{8} << 20;
};

class TimedDrum {
 public:
  /// Opens the cache `name` of the store, or makes it. Merges what a process has left unmerged.
  ///   errors  those of Drum::open; kTypeMismatch: the DRUM has other keys, or values of one size;
  ///           kInvalidArgument: it is open already; those of merge()
  [[nodiscard]] static Result<TimedDrum> open(Store& store, std::string_view name,
                                              const TimedDrumOptions& options = {});

  /// Keeps a value until `expires_ms`, in the place of the one before. It may have expired.
  ///   key, value  any bytes, or none; together 12 bytes less than 16 MiB at most
  ///   errors      kTooLarge; kReentrant inside a transaction; those of merge(), where it comes
  ///               first. After an error nothing has been put
  ///   cost        an append in memory. A merge that comes first drops what has expired by the
  ///               latest time that get() or merge() were told
  [[nodiscard]] Result<void> put(std::string_view key, std::string_view value,
                                 std::uint64_t expires_ms);

  /// Returns the value of the key; nothing if it was never put, or expires at `now_ms` or before.
  ///   cost    a search in memory, then Drum::lookup()
  ///   errors  of damage
  [[nodiscard]] Result<std::optional<TimedValue>> get(std::string_view key, std::uint64_t now_ms);

  /// Sorts what was put into the file, and drops all that expires at `now_ms` or before, with its
  /// key. The rest of the space is given back by later commits and Store::compact().
  ///   errors  those of Drum::merge(); what get() gives is as before then
  ///   cost    reads the whole cache, and writes the buckets of which something changes; commits
  [[nodiscard]] Result<void> merge(std::uint64_t now_ms);

  /// Bytes that put() counts against TimedDrumOptions::memory_bytes.
  [[nodiscard]] std::uint64_t memory_bytes() const { return memory_bytes_; }

  /// Commits what waits and closes, as Drum::close() does. Use afterwards gives kClosed.
  [[nodiscard]] Result<void> close();

 private:
  TimedDrum(std::shared_ptr<DrumCore> core, std::uint64_t key_seed, std::uint64_t memory_bytes_max)
      : core_(std::move(core)), key_seed_(key_seed), memory_bytes_max_(memory_bytes_max) {}
  void remember(std::string_view key, TimedValue value);

  std::shared_ptr<DrumCore> core_;
  std::map<std::string, TimedValue, std::less<>> recent_;  // what was put since the last merge
  std::uint64_t key_seed_;
  std::uint64_t memory_bytes_max_;
  std::uint64_t memory_bytes_ = 0;  // of recent_
  std::uint64_t now_ms_ = 0;        // the latest time that was told
};

}  // namespace crawlstore
#pragma GCC visibility pop
