// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Scores of the pages of a crawl that is spread over shards (shard.h), computed by all of them
/// together. Each shard reads its own links. Where they lead to pages elsewhere, sums go to the
/// owners of these once an iteration: a number for each page elsewhere, not for each link. Scores
/// of all shards add up to 1, as those of one file, and each shard stores those of its own pages;
/// cash of OPIC adds up to the number of pages that began with 1.
///
/// All shards call these functions with the same options, in the same order (shard_peers.h).
///
///   CRAWLSTORE_TRY(const auto pages, PageView::open(snapshot));
///   CRAWLSTORE_TRY(const auto shared, compute_rank(pages, peers));
///   CRAWLSTORE_TRY(store_ranked(store, shared.ranked));
///
/// The result depends on the number of shards within rounding; for one number of shards it has the
/// same bits, whatever carries them and however many threads there are.
///
/// Ownership: as in crawlstore.hpp. Threads: any, one call at a time for each `peers`.
/// Errors: of one's own, after which the others have to be told (ShardPeers); what exchange()
/// returned; kInvalidArgument: the shards do not belong together, or were asked for different
/// things. Source: Valiant, "A Bridging Model for Parallel Computation", 1990; spec/shards.md,
/// Scores.

#include <cstdint>

#include <crawlstore/error.h>
#include <crawlstore/page_view.h>
#include <crawlstore/ranking.h>
#include <crawlstore/shard_peers.h>

#pragma GCC visibility push(default)
namespace crawlstore {

/// Scores that all shards have computed together.
struct ShardRanks {
  RankedPages ranked;                 ///< of this shard's pages; for store_ranked()
  std::uint64_t page_count = 0;       ///< of all shards, each page once
  std::uint64_t elsewhere_count = 0;  ///< pages elsewhere, added over all shards
  /// Pages among them that their own shard does not know: found since the last exchange of URLs, or
  /// forgotten there. Readers who follow a link to them are teleported.
  std::uint64_t unknown_count = 0;
  std::uint64_t sent_bytes = 0;  ///< by this shard to others, all iterations
};

/// compute_rank() over all shards: PageRank of pages. Seeds are indexes of this shard's own pages;
/// where no shard has any, teleports go everywhere. It begins with the arrays before where all
/// shards have one.
///   errors  as compute_rank(); kInvalidArgument: options.by is not kPage
///   cost    some seven exchanges to begin with, two an iteration; memory: as compute_rank(),
///           8 bytes for each page elsewhere, here and at its owner, and 4 (doubles: 8) a page
[[nodiscard]] Result<ShardRanks> compute_rank(const PageView& pages, ShardPeers& peers,
                                              const RankOptions& options = {});

/// compute_hits() over all shards.
///   errors  as compute_hits()
///   cost    as compute_rank(); four exchanges an iteration
[[nodiscard]] Result<ShardRanks> compute_hits(const PageView& pages, ShardPeers& peers,
                                              const HitsOptions& options = {});

/// Brings OPIC up to date over all shards, as opic() (ranking.h) does in one file. Each shard's
/// pages give in the order of their indexes, all shards at once. What pages elsewhere get goes to
/// their owners at the end of the update, to be given on in the next one. What pages without links
/// give, and what unknown pages would get, goes in equal parts to the homes of all shards.
///
/// Homes are pages without a first linker in any shard. Where there are none, pages without one in
/// their own shard are homes, but begin with cash only if all begin anew. A home that another shard
/// links to later on is none any more, and keeps its cash: the sum of cash over all shards is the
/// number of pages that began with 1. Pages elsewhere have 0 in all three arrays.
///
/// It goes on from the arrays where all shards have them of one update; else all begin anew, as
/// where one shard forgot pages, came back from an older copy, or did not store the last update.
/// To tell updates apart each array has one residual, a number of the generations of all shards.
/// The report counts homes and givers of this shard.
///   errors  as compute_opic(): of what is damaged in the arrays before, too
///   cost    nine exchanges; memory: as compute_opic(), 16 bytes for each page elsewhere, here and
///           at its owner, and 8 a page
[[nodiscard]] Result<ShardRanks> compute_opic(const PageView& pages, ShardPeers& peers,
                                              const OpicOptions& options = {});

}  // namespace crawlstore
#pragma GCC visibility pop
