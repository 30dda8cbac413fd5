// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include <crawlstore/shard_exchange.h>

#include "base/inside.h"
#include "format/endian.h"
#include "pages/page_db_impl.h"

namespace crawlstore {
namespace {

using Bytes = ShardPeers::Bytes;

/// The place of a shard in the exchange, as the others are told.
struct Place {
  std::uint64_t key_seed = 0;
  std::uint64_t step = 0;
  std::uint32_t index = 0;
  std::uint32_t count = 0;
};

/// Tells all others where this shard is, and returns the least step of all.
Result<std::uint64_t> least_step(const Place& mine, ShardPeers& peers) {
  Bytes told(sizeof(mine));
  format::store_struct(told.data(), mine);
  std::vector<Bytes> from;
  CRAWLSTORE_TRY(peers.exchange(std::vector<Bytes>(mine.count, told), from));
  if (from.size() != mine.count) {
    return fail(Errc::kInvalidArgument, "the crawl has another number of shards than exchange");
  }
  std::uint64_t least = mine.step;
  for (std::size_t shard = 0; shard < from.size(); ++shard) {
    Place place;
    if (from[shard].size() == sizeof(place)) place = format::load_struct<Place>(from[shard].data());
    if (place.key_seed != mine.key_seed || place.count != mine.count || place.index != shard) {
      return fail(Errc::kInvalidArgument,
                  "another shard is of another crawl, number of shards or place: the one that is "
                  "the offset",
                  shard);
    }
    least = std::min(least, place.step);
  }
  return least;
}

/// All messages, one behind the other.
EventSource source_of(const std::vector<Bytes>& messages) {
  std::size_t next = 0;
  std::size_t offset = 0;
  return [&messages, next, offset](std::span<std::byte> into) mutable -> Result<std::size_t> {
    while (next < messages.size() && offset == messages[next].size()) {
      ++next;
      offset = 0;
    }
    if (next == messages.size()) return 0;
    const std::size_t length = std::min(into.size(), messages[next].size() - offset);
    std::copy_n(messages[next].begin() + static_cast<std::ptrdiff_t>(offset), length, into.begin());
    offset += length;
    return length;
  };
}

}  // namespace

Result<StepReport> exchange_step(Store& store, PageDb& pages, ShardPeers& peers,
                                 const Progress& progress) {
  const PageDb::Impl& inside = Inside::of(pages);
  if (inside.store != Inside::of(store).shared_from_this()) {
    return fail(Errc::kInvalidArgument, "the pages are of another store");
  }
  const std::string database(inside.name());
  CRAWLSTORE_TRY(auto snapshot, store.snapshot());
  StepReport report;
  CRAWLSTORE_TRY(report.state, read_exchange(snapshot, database));
  const Shard shard = report.state.shard;
  CRAWLSTORE_TRY(
      report.step,
      least_step({store.key_seed(), report.state.step, shard.index, shard.count}, peers));
  if (report.state.step == report.step) {
    CRAWLSTORE_TRY(report.state, end_step(store, pages, progress));
    CRAWLSTORE_TRY(snapshot, store.snapshot());
  }
  std::vector<Bytes> to(shard.count);
  std::vector<Bytes> from;
  const auto send = [&to](std::uint32_t other, std::span<const std::byte> bytes) -> Result<void> {
    to[other].insert(to[other].end(), bytes.begin(), bytes.end());
    return {};
  };
  CRAWLSTORE_TRY(report.sent, write_outbox(snapshot, report.step, send, database));
  CRAWLSTORE_TRY(peers.exchange(to, from));
  to.assign(shard.count, {});
  CRAWLSTORE_TRY(report.received, receive_outbox(store, pages, source_of(from), progress));
  CRAWLSTORE_TRY(peers.exchange(to, from));  // all have taken theirs
  CRAWLSTORE_TRY(snapshot, store.snapshot());
  CRAWLSTORE_TRY(report.state, read_exchange(snapshot, database));
  if (report.state.step == report.step) {
    CRAWLSTORE_TRY(report.state, note_sent(store, pages));
  }
  return report;
}

}  // namespace crawlstore
