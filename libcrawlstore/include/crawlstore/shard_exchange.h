// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The exchange between the shards of a crawl (shard.h): each tells the others the URLs of pages
/// that it found and that are theirs.
///
/// A crawl goes in *steps*, numbered from 1 on. What a shard does in a step, the program decides:
/// one level of links, say. end_step() ends it: edits become pages, and those of them that are new
/// since the step before and elsewhere are the *outbox* of the step. Nothing is stored of it but
/// how many pages there were: write_outbox() writes the same messages as often as it is called.
/// note_sent() says that they were handed over. receive_outbox() takes messages of the others for
/// this step, in any order and as often as they come: the pages become known, unless they are here
/// already. When the outbox was sent, and those of all others were received, the next step begins.
///
/// So a shard that was killed at any moment does what its state says, and so does the crawl: shards
/// are one step apart, not more. To a shard that is brought back from an older copy the others
/// write their outboxes of the steps from its own on once more; what it fetched since is lost,
/// nothing else.
///
///   CRAWLSTORE_TRY(pages.add(...));                                     // a level of the crawl
///   CRAWLSTORE_TRY(const auto state, end_step(store, pages));
///   CRAWLSTORE_TRY(write_outbox(snapshot, state.step, send));           // send(to, bytes)
///   CRAWLSTORE_TRY(note_sent(store, pages));
///   CRAWLSTORE_TRY(receive_outbox(store, pages, source));               // of each other shard
///
/// Programs that run at the same time on all shards need exchange_step() alone.
///
/// Ownership: as in crawlstore.hpp. Threads: any; of end_step() and receive_outbox() one
/// at a time. Errors: also those of Store and PageDb. Source: Valiant, "A Bridging Model for
/// Parallel Computation", 1990; spec/shards.md.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include <crawlstore/error.h>
#include <crawlstore/event_stream.h>
#include <crawlstore/pages.h>
#include <crawlstore/shard.h>
#include <crawlstore/shard_peers.h>
#include <crawlstore/snapshot.h>
#include <crawlstore/store.h>

#pragma GCC visibility push(default)
namespace crawlstore {

/// The newest steps that have ended, whose outboxes can be written.
inline constexpr std::uint64_t kStepsKept = 400;

/// The place of a shard in the exchange.
struct ExchangeState {
  Shard shard{};
  std::uint64_t step = 1;  ///< under way, or ended and not complete
  bool has_ended = false;  ///< its outbox is fixed
  bool is_sent = false;    ///< and was handed over
  /// Shards whose outboxes of this step were not received yet, ascending.
  std::vector<std::uint32_t> missing{};
};

/// Reads it. A shard that never exchanged anything is in step 1.
///   errors  as read_shard(); kInvalidArgument: the file is alone; kSegmentInvalid
[[nodiscard]] Result<ExchangeState> read_exchange(const Snapshot& snapshot,
                                                  std::string_view database = "pages");

/// Ends the step: a superstep, and a commit. Where it was ended before and is not complete, nothing
/// happens but the superstep.
///   progress  of the superstep: see PageDb::merge()
///   errors    kInvalidArgument: the file is alone; as PageDb::merge() and Store::commit(): the
///             step goes on, call it again
[[nodiscard]] Result<ExchangeState> end_step(Store& store, PageDb& pages,
                                             const Progress& progress = {});

/// Notes, in a commit, that the outbox of the step that has ended was handed over to where it is
/// safe. A shard that is killed before writes it again.
///   errors  kInvalidArgument: the step has not ended
[[nodiscard]] Result<ExchangeState> note_sent(Store& store, PageDb& pages);

/// Takes bytes of the message to a shard, piece by piece. An error ends write_outbox().
using OutboxSink = std::function<Result<void>(std::uint32_t to, std::span<const std::byte> bytes)>;

struct OutboxReport {
  std::uint64_t url_count = 0;
  std::uint64_t byte_count = 0;
};

/// Writes the outbox of a step that has ended: for each other shard one message, also where there
/// is nothing to tell.
///   step    the newest that has ended, or an earlier one. The pages of steps before the last
///           kStepsKept are all in the outbox of the oldest of these
///   errors  kInvalidArgument: the step has not ended, or is older than that; what `sink` returned
///   cost    a URL of each new page that is elsewhere; memory: some 256 KiB for each shard
[[nodiscard]] Result<OutboxReport> write_outbox(const Snapshot& snapshot, std::uint64_t step,
                                                const OutboxSink& sink,
                                                std::string_view database = "pages");

struct InboxReport {
  std::uint64_t message_count = 0;
  std::uint64_t stale_count = 0;  ///< of them, of steps before, or that had come already
  std::uint64_t early_count = 0;  ///< of steps that have not ended here: left out
  std::uint64_t url_count = 0;
  std::uint64_t new_count = 0;  ///< of them, not here when the call began
};

/// Takes messages of others to this shard, up to the end of the source, in one commit with the fact
/// that they were received. Edits that wait become pages before.
///   progress  of this superstep
///   errors    kInvalidArgument: the message is of another crawl, or page database, or one with
///             another normaliser, of another number of shards, to another shard, or has pages of
///             other shards;
///             kChunkDamaged, kSegmentInvalid, kTruncated: the source is damaged, or ends inside a
///             message; what the source returned. Messages before this one are received, and of
///             it some pages may be known: send it again
///   cost      a lookup of each URL, and a superstep's share of those that are new
[[nodiscard]] Result<InboxReport> receive_outbox(Store& store, PageDb& pages,
                                                 const EventSource& source,
                                                 const Progress& progress = {});

/// A step of one shard that has been exchanged with all others.
struct StepReport {
  std::uint64_t step = 0;  ///< that was exchanged: the least of all shards
  ExchangeState state{};   ///< after it
  OutboxReport sent{};
  InboxReport received{};
};

/// end_step(), write_outbox(), receive_outbox() and note_sent() in one, on all shards at once: the
/// messages are carried by `peers`, and are noted as sent when all shards have taken them. The step
/// is the least that any shard is in. A shard that is further, as another one was killed or brought
/// back from a copy, ends none; it sends its outbox of that step once more.
///   errors  those of the four, and of `peers`; kInvalidArgument: the others are not the shards of
///           this crawl in their order. What was received stays: call it again, on all
///   cost    three times bytes to and from each shard; memory: the messages of the step
[[nodiscard]] Result<StepReport> exchange_step(Store& store, PageDb& pages, ShardPeers& peers,
                                               const Progress& progress = {});

}  // namespace crawlstore
#pragma GCC visibility pop
