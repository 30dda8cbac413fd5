// SPDX-License-Identifier: Apache-2.0
#pragma once

/// All that a crawler needs, in one include: the store, its seen URLs, pages, links, scores, queue,
/// frontier and shards. Programs that look into files, compare or mend them include more:
/// crawlstore/tools/.
///
/// Ownership, in all headers: what a call is given is copied, or not kept when the call returns.
/// What a call returns is the caller's. What a callback is given lives until the callback returns.
/// Each part that is opened (a Drum, PageDb, Queue, Frontier) keeps the inside of its Store alive,
/// and gives kClosed once the store is closed. Each view keeps its Snapshot, and with it the
/// generation that it shows.
///
/// Errors, in all headers: a call that can fail returns a Result (error.h). Exceptions come only
/// from must(), from callbacks of the program, from memory that has run out, and from ICU without
/// its data (url.h).

#include <crawlstore/crawl_event.h>
#include <crawlstore/crawled_page.h>
#include <crawlstore/drum.h>
#include <crawlstore/error.h>
#include <crawlstore/event_stream.h>
#include <crawlstore/external_sort.h>
#include <crawlstore/frontier.h>
#include <crawlstore/frontier_view.h>
#include <crawlstore/host_rates.h>
#include <crawlstore/must.h>
#include <crawlstore/page_key.h>
#include <crawlstore/page_order.h>
#include <crawlstore/page_view.h>
#include <crawlstore/pages.h>
#include <crawlstore/queue.h>
#include <crawlstore/ranking.h>
#include <crawlstore/registered_domain.h>
#include <crawlstore/report.h>
#include <crawlstore/robots.h>
#include <crawlstore/schedule.h>
#include <crawlstore/scores.h>
#include <crawlstore/shard.h>
#include <crawlstore/shard_exchange.h>
#include <crawlstore/shard_peers.h>
#include <crawlstore/shard_scores.h>
#include <crawlstore/shard_set.h>
#include <crawlstore/snapshot.h>
#include <crawlstore/storage.h>
#include <crawlstore/store.h>
#include <crawlstore/timed_drum.h>
#include <crawlstore/transaction.h>
#include <crawlstore/types.h>
#include <crawlstore/url.h>
#include <crawlstore/url_seen.h>
#include <crawlstore/values.h>
#include <crawlstore/webdb.h>
