// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The shards of a crawl that is spread over several files: each host, or key of a queue, is of one
/// of them, whoever asks. Shards are ranges of hashes, so that of twice as many shards two have
/// what one had before. A file of a shard is an ordinary crawl file, with a small value that says
/// which one it is; all files of a crawl have one key seed, so that a page has the same key in
/// each.
///
/// Ownership: as in crawlstore.hpp. Threads: any. Source: Cho and Garcia-Molina,
/// "Parallel Crawlers", 2002 (partition by host); spec/values.md, Small values; spec/service.md,
/// Nodes, with vectors of shard_of().

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <crawlstore/error.h>
#include <crawlstore/snapshot.h>
#include <crawlstore/store.h>

#pragma GCC visibility push(default)
namespace crawlstore {

/// Shards that a crawl may have.
inline constexpr std::uint32_t kShardsMax = 4096;

/// Returns the shard of a host: (XXH3-64(host, seed 0) * count) >> 64.
///   host   bytes, as they are: those of url_host(), or of a group
///   count  of shards; 0 counts as 1
///   cost   some nanoseconds
[[nodiscard]] std::uint32_t shard_of(std::string_view host, std::uint32_t count);

/// One of the shards of a crawl; the only one, unless something else is said.
struct Shard {
  std::uint32_t index = 0;  ///< from 0 on, below `count`
  std::uint32_t count = 1;  ///< 1 to kShardsMax
  auto operator<=>(const Shard&) const = default;

  [[nodiscard]] bool is_alone() const { return count == 1; }
  /// Whether a host is of this shard.
  [[nodiscard]] bool has(std::string_view host) const {
    return is_alone() || shard_of(host, count) == index;
  }
};

/// The shard as a file, the command and messages have it: "1/4" is the second of four.
[[nodiscard]] std::string to_text(const Shard& shard);
/// The reverse. nullopt: no shard, or written in another way, as "01/4".
[[nodiscard]] std::optional<Shard> parse_shard(std::string_view text);

/// Creates the file of a shard atomically and opens it; which shard it is never changes. Of a shard
/// that is alone the file is that of Store::create().
///   options  those of all shards of a crawl have the same key_seed: without it, pages have other
///            keys in each file
///   errors   as Store::create(); kInvalidArgument: there is no such shard
[[nodiscard]] Result<Store> create_shard(const std::string& path, const Shard& shard,
                                         const CreateOptions& options = {});

/// Reads which shard a file is. A file of which nothing is said is alone.
///   errors  as read_values(); kSegmentInvalid: what it says is no shard
[[nodiscard]] Result<Shard> read_shard(const Snapshot& snapshot);
/// The same of a store.
///   errors  also those of Store::snapshot()
[[nodiscard]] Result<Shard> read_shard(const Store& store);

}  // namespace crawlstore
#pragma GCC visibility pop
