// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The shards of a crawl that is spread over several files: each host, or key of a queue, is of one
/// of them, whoever asks. Shards are ranges of hashes, so that of twice as many shards two have
/// what one had before.
///
/// Threads: any. Source: Cho and Garcia-Molina, "Parallel Crawlers", 2002 (partition by host);
/// spec/service.md, Nodes, with vectors.

#include <cstdint>
#include <string_view>

#pragma GCC visibility push(default)
namespace crawlstore {

/// Returns the shard of a host: (XXH3-64(host, seed 0) * count) >> 64.
///   host   bytes, as they are: those of url_host(), or of a group
///   count  of shards; 0 counts as 1
///   cost   some nanoseconds
[[nodiscard]] std::uint32_t shard_of(std::string_view host, std::uint32_t count);

}  // namespace crawlstore
#pragma GCC visibility pop
