// SPDX-License-Identifier: Apache-2.0
#include "container/crash_workloads.h"

#include <array>
#include <stdexcept>
#include <utility>

#include <crawlstore/transaction.h>

#include "container/compact.h"
#include "container/create.h"
#include "container/rollback.h"
#include "container/run_io.h"
#include "container/superblocks.h"
#include "container/tile_writer.h"
#include "drum/memory_store.h"
#include "format/layout.h"
#include "support/another_thread.h"
#include "support/bytes.h"

namespace crawlstore::testing {
namespace {

using container::Writer;

void require(bool condition, const char* what) {
  if (!condition) throw std::runtime_error(what);
}

/// Reserves `count` segment ids and returns the first.
SegmentId new_ids(Writer& writer, std::uint64_t count) {
  const SegmentId first = writer.new_segment_id();
  for (std::uint64_t i = 1; i < count; ++i) (void)writer.new_segment_id();
  return first;
}

SegmentId at(SegmentId first, std::uint64_t index) {
  return {first.value + index};
}

/// A store with ids 2 to 9 reserved and blobs in 2, 3 and 4.
void fill_small(Writer& writer) {
  const SegmentId first = new_ids(writer, 8);
  for (std::uint64_t i = 0; i < 3; ++i) put_blob(writer, at(first, i), 9000, i + 2);
  must(writer.commit());
  put_blob(writer, first, 9000, 5);
  must(writer.commit());
}

/// The file comes into being, then has its first commits.
void record_create(Scenario& scenario) {
  scenario.begin_with_nothing();
  {
    const auto storage = scenario.recorder().open(OpenMode::kWrite);
    format::Identity identity{};
    identity.uuid[0] = std::byte{1};
    identity.key_seed = kFixedKeySeed;
    must(container::write_empty_store(*storage, identity, kFixedTimeUs));
    must(storage->sync());  // create_file() syncs before the file has its name
  }
  scenario.acknowledge();
  const auto writer = scenario.open_writer();
  (void)writer->new_segment_id();
  put_blob(*writer, kOwner, 100, 1);
  scenario.commit(*writer);
  put_blob(*writer, writer->new_segment_id(), 5000, 2);
  scenario.commit(*writer);
}

void record_log_appends(Scenario& scenario) {
  scenario.begin_with(fill_small);
  const auto writer = scenario.open_writer();
  for (std::uint64_t commit = 0; commit < 5; ++commit) {
    append_run(*writer, {6}, 3000 + commit * 2000, commit);
    append_run(*writer, {7}, 600, commit + 50);
    scenario.commit(*writer);
  }
  put_empty_log(*writer, {6});
  scenario.commit(*writer);
}

void record_replacing(Scenario& scenario) {
  scenario.begin_with(fill_small);
  const auto writer = scenario.open_writer();
  for (std::uint64_t commit = 0; commit < 5; ++commit) {
    put_blob(*writer, {2}, 9000, commit);
    if (commit == 2) writer->remove({3});
    scenario.commit(*writer);
  }
  require(writer->file_bytes() <= 80 * 1024 + 3 * 64 * 1024, "the file grows without need");
}

/// Readers that pin different generations while all they refer to is replaced or removed.
void record_pinned_reader(Scenario& scenario) {
  scenario.begin_with(fill_small);
  const auto writer = scenario.open_writer();
  append_run(*writer, {6}, 3000, 1);
  scenario.commit(*writer);
  scenario.pin();
  for (std::uint64_t commit = 0; commit < 5; ++commit) {
    if (commit < 2) append_run(*writer, {6}, 3000, commit + 2);
    if (commit == 2) writer->remove({6});
    put_blob(*writer, {2}, 9000, commit + 10);
    scenario.commit(*writer);
    if (commit == 1) scenario.pin();
  }
  scenario.unpin_all();
  put_blob(*writer, {2}, 9000, 20);
  scenario.commit(*writer);
}

/// A reader comes in between: pins the previous generation while a superblock is being written.
void record_pin_while_publishing(Scenario& scenario) {
  scenario.begin_with(fill_small);
  const auto writer = scenario.open_writer();
  put_blob(*writer, {2}, 9000, 1);
  scenario.commit(*writer);
  bool pinned = false;
  scenario.recorder().set_hook([&](CallKind kind, Extent extent) {
    if (pinned || kind != CallKind::kWrite || extent.offset_bytes >= format::kDataStart) return;
    pinned = true;
    scenario.pin(true);
  });
  for (std::uint64_t commit = 0; commit < 4; ++commit) {
    put_blob(*writer, {2}, 9000, commit + 10);
    scenario.commit(*writer);
  }
  scenario.recorder().set_hook(nullptr);
  require(pinned, "no superblock was written");
}

void record_truncation(Scenario& scenario) {
  scenario.begin_with(fill_small);
  const auto writer = scenario.open_writer();
  put_blob(*writer, {5}, 120'000, 5);
  scenario.commit(*writer);
  const std::uint64_t full_bytes = writer->file_bytes();
  writer->remove({5});
  scenario.commit(*writer);
  must(writer->trim(0));
  scenario.check(*writer);
  // Two directories list it still, and two superblocks promise a file that is long enough for them.
  for (std::uint64_t commit = 0; commit < 4; ++commit) {
    put_blob(*writer, {2}, 3000, commit);
    scenario.commit(*writer);
    must(writer->trim(0));
    scenario.check(*writer);
  }
  require(writer->file_bytes() + 120'000 < full_bytes, "the file did not shrink");
}

/// Free space in front of live data: it can be punched, not cut off.
void record_punching(Scenario& scenario) {
  scenario.begin_with([](Writer& writer) {
    fill_small(writer);
    put_blob(writer, {5}, 60'000, 5);
    must(writer.commit());
    put_blob(writer, {6}, 30'000, 6);
    must(writer.commit());
  });
  const auto writer = scenario.open_writer();
  writer->remove({5});
  scenario.commit(*writer);
  put_blob(*writer, {3}, 3000, 7);
  scenario.commit(*writer);
  must(writer->trim(0));
  scenario.check(*writer);
  put_blob(*writer, {4}, 40'000, 8);
  scenario.commit(*writer);
}

void record_compact(Scenario& scenario) {
  scenario.begin_with([](Writer& writer) {
    const SegmentId first = new_ids(writer, 8);
    for (std::uint64_t i = 0; i < 8; ++i) put_blob(writer, at(first, i), 12'000, i);
    must(writer.commit());
    for (std::uint64_t i = 0; i < 8; i += 2) writer.remove(at(first, i));
    must(writer.commit());
  });
  const auto writer = scenario.open_writer();
  const auto report = must(container::compact(*writer, {}));
  require(report.file_bytes_after < report.file_bytes_before, "compacting did not help");
  scenario.acknowledge();
  scenario.check(*writer);
  put_blob(*writer, {3}, 5000, 9);
  scenario.commit(*writer);
}

void record_rollback(Scenario& scenario) {
  scenario.begin_with(fill_small);
  const auto writer = scenario.open_writer();
  append_run(*writer, {6}, 3000, 1);
  scenario.commit(*writer);
  scenario.pin();
  append_run(*writer, {6}, 3000, 2);
  put_blob(*writer, {2}, 9000, 3);
  writer->remove({3});
  scenario.commit(*writer);
  must(container::rollback(*writer));
  scenario.acknowledge();
  scenario.check(*writer);
  for (std::uint64_t commit = 0; commit < 4; ++commit) {
    put_blob(*writer, {2}, 9000, commit + 10);
    put_blob(*writer, {3}, 9000, commit + 20);
    if (commit == 0) writer->remove({6});
    scenario.commit(*writer);
  }
}

std::uint64_t previous_digest(Scenario& scenario) {
  container::ReaderOptions options;
  options.previous = true;
  const auto reader =
      must(container::Reader::open(open_memory_storage(scenario.file(), OpenMode::kRead), options));
  return must(digest_of(*reader->storage(), reader->identity().uuid, reader->directory()));
}

/// The root of generation N is damaged; N-1 is published again.
void record_rollback_damaged(Scenario& scenario) {
  scenario.begin_with([](Writer& writer) {
    fill_small(writer);
    append_run(writer, {6}, 3000, 1);
    must(writer.commit());
  });
  Extent root;
  std::uint64_t generation = 0;
  {
    const auto writer = scenario.open_writer();
    root = writer->directory()->root_extent;
    generation = writer->directory()->generation().value;
  }
  const std::uint64_t fallback_digest = previous_digest(scenario);
  auto bytes = contents(*scenario.file());
  bytes[root.offset_bytes + 40] ^= std::byte{1};
  scenario.begin_with_bytes(std::move(bytes));
  scenario.damaged_generation = generation;
  scenario.fallback_digest = fallback_digest;
  container::WriterOptions options;
  options.fixed_time_us = kFixedTimeUs;
  options.policy = scenario.policy();
  must(container::rollback_damaged(scenario.recorder().open(OpenMode::kWrite), options));
  scenario.acknowledge();
  const auto writer = scenario.open_writer();
  for (std::uint64_t commit = 0; commit < 3; ++commit) {
    put_blob(*writer, {2}, 9000, commit + 10);
    scenario.commit(*writer);
  }
}

/// Commits with the nth sync failing, tries once more with the same writer, then with a new one.
void fail_and_go_on(Scenario& scenario, std::uint64_t nth, bool evict) {
  {
    const auto writer = scenario.open_writer();
    must(writer->prepare());
    put_blob(*writer, {2}, 9000, 30 + nth);
    scenario.recorder().inject({.calls = calls(CallKind::kSync), .nth = nth, .evict = evict});
    require(!writer->commit(), "a failed sync was not reported");
    scenario.recorder().stop_injecting();
    if (writer->commit()) scenario.acknowledge();
  }
  const auto writer = scenario.open_writer();
  for (std::uint64_t commit = 0; commit < 3; ++commit) {
    put_blob(*writer, {3}, 9000, 40 + commit);
    if (commit == 1) append_run(*writer, {6}, 3000, 50);
    scenario.commit(*writer);
  }
}

void record_failed_data_sync(Scenario& scenario) {
  scenario.begin_with(fill_small);
  fail_and_go_on(scenario, 1, false);
  fail_and_go_on(scenario, 1, true);
}

void record_failed_superblock_sync(Scenario& scenario) {
  scenario.begin_with(fill_small);
  fail_and_go_on(scenario, 2, false);
}

void record_failed_superblock_sync_evicted(Scenario& scenario) {
  scenario.begin_with(fill_small);
  fail_and_go_on(scenario, 2, true);
}

/// A file whose second copy of the newest slot is torn: step 0 fails in it, and a new writer comes.
void record_failed_settle(Scenario& scenario) {
  scenario.begin_with(fill_small);
  auto bytes = contents(*scenario.file());
  std::uint32_t slot = 0;
  {
    const auto writer = scenario.open_writer();
    slot = container::slot_of(writer->directory()->generation().value);
  }
  bytes[format::kSuperblockOffsets[slot][1] + 4090] ^= std::byte{1};
  scenario.begin_with_bytes(std::move(bytes));
  for (const std::uint64_t nth : {1UL, 2UL}) {
    const auto writer = scenario.open_writer();
    scenario.recorder().inject({.calls = calls(CallKind::kSync), .nth = nth});
    require(!writer->prepare(), "a failed sync was not reported");
    scenario.recorder().stop_injecting();
  }
  const auto writer = scenario.open_writer();
  put_blob(*writer, {2}, 9000, 30);
  scenario.commit(*writer);
}

/// Writers end without a word, with extents in flight; the next ones go on.
void record_dying_writers(Scenario& scenario) {
  scenario.begin_with(fill_small);
  for (std::uint64_t death = 0; death < 3; ++death) {
    {
      const auto writer = scenario.open_writer();
      put_blob(*writer, {2}, 9000, death);
      append_run(*writer, {6}, 3000, death);
      if (death == 1) must(writer->reserve(8192));
    }
    const auto writer = scenario.open_writer();
    must(writer->prepare());
    scenario.check(*writer);
    put_blob(*writer, {3}, 9000, death + 10);
    scenario.commit(*writer);
  }
}

/// More than 128 held extents: a table for them, dissolved later; a reader pins in between.
void record_held_tables(Scenario& scenario) {
  scenario.begin_with([](Writer& writer) {
    fill_small(writer);
    for (std::uint64_t i = 0; i < 140; ++i) append_run(writer, {6}, 100, i);
    must(writer.commit());
  });
  scenario.pin();
  const auto writer = scenario.open_writer();
  writer->remove({6});
  scenario.commit(*writer);
  require(!writer->directory()->held_tables.empty(), "no held table was written");
  put_blob(*writer, {2}, 3000, 1);
  scenario.commit(*writer);
  scenario.unpin_all();
  for (std::uint64_t commit = 0; commit < 3; ++commit) {
    put_blob(*writer, {2}, 3000, commit + 2);
    scenario.commit(*writer);
  }
  require(writer->directory()->held_tables.empty(), "a held table was never dissolved");
}

/// Several directory tables, some of which change.
void record_many_segments(Scenario& scenario) {
  scenario.begin_with([](Writer& writer) {
    fill_small(writer);
    const SegmentId first = new_ids(writer, 300);
    for (std::uint64_t i = 0; i < 300; ++i) put_empty_log(writer, at(first, i));
    must(writer.commit());
  });
  const auto writer = scenario.open_writer();
  require(writer->directory()->tables.size() > 1, "one table holds everything");
  append_run(*writer, {20}, 3000, 1);
  append_run(*writer, {300}, 3000, 2);
  scenario.commit(*writer);
  scenario.pin();
  for (std::uint64_t id = 30; id < 150; ++id) writer->remove({id});
  scenario.commit(*writer);
  append_run(*writer, {20}, 3000, 3);
  put_empty_log(*writer, {300});
  scenario.commit(*writer);
  put_blob(*writer, {2}, 3000, 4);
  scenario.commit(*writer);
}

/// A pages segment, and a tiled one of 65 tiles that it owns: its id.
SegmentId fill_tiles(Writer& writer) {
  const SegmentId pages = writer.new_segment_id();
  const auto run = must(container::write_run(
      writer, {pages, SegmentKind::kPages, {}, writer.new_run_ids(1)}, random_bytes(8, 1), 1));
  writer.put({pages, SegmentKind::kPages, StorageClass::kBlob, {}, "pages", {run}});
  auto tiles = container::TileWriter::create(writer, SegmentKind::kPageRecords, pages);
  for (std::uint64_t i = 0; i < 65; ++i) must(tiles.write(i, random_bytes(64, i), 1));
  must(tiles.finish());
  return tiles.segment();
}

void put_tiles(Writer& writer, SegmentId segment, std::span<const std::uint64_t> indexes,
               std::uint64_t seed) {
  auto tiles = must(container::TileWriter::open(writer, segment));
  for (const std::uint64_t index : indexes) {
    must(tiles.write(index, random_bytes(200, seed + index), 1));
  }
  must(tiles.finish());
}

void record_tiles(Scenario& scenario) {
  SegmentId segment;
  scenario.begin_with([&segment](Writer& writer) {
    segment = fill_tiles(writer);
    must(writer.commit());
  });
  const auto writer = scenario.open_writer();
  const auto change = [&](std::vector<std::uint64_t> indexes, std::uint64_t seed) {
    put_tiles(*writer, segment, indexes, seed);
    scenario.commit(*writer);
  };
  change({3}, 100);
  scenario.pin();
  change({3, 64}, 200);
  change({65, 66}, 300);
  must(container::rollback(*writer));
  scenario.acknowledge();
  scenario.check(*writer);
  scenario.unpin_all();
  change({0, 65}, 400);
  put_tiles(*writer, segment, std::array<std::uint64_t, 1>{1}, 500);
  change({2}, 600);  // on top of what was not committed
  change({64}, 700);
}

/// Tiles move, and the nodes above them are written anew, several times.
void record_tile_compact(Scenario& scenario) {
  SegmentId segment;
  scenario.begin_with([&segment](Writer& writer) {
    (void)new_ids(writer, 2);
    put_blob(writer, {2}, 20'000, 2);
    segment = fill_tiles(writer);
    must(writer.commit());
    writer.remove({2});
    put_tiles(writer, segment, std::array<std::uint64_t, 2>{5, 64}, 100);
    must(writer.commit());
    must(writer.commit(true));
  });
  const auto writer = scenario.open_writer();
  const auto report = must(container::compact(*writer, {}));
  require(report.file_bytes_after < report.file_bytes_before, "compacting did not help");
  scenario.acknowledge();
  scenario.check(*writer);
  put_tiles(*writer, segment, std::array<std::uint64_t, 1>{7}, 200);
  scenario.commit(*writer);
}

}  // namespace

Store open_store(std::unique_ptr<Storage> storage) {
  OpenOptions options;
  options.time_us = kFixedTimeUs;
  return must(Store::open(std::move(storage), options));
}

void transact_and_compact(Scenario& scenario, Store& store,
                          const std::function<void(bool commits)>& step) {
  const auto transact = [&](bool commits) {
    auto both = must(Transaction::begin(store));
    step(commits);
    if (!commits) return both.drop();
    must(both.commit());
    scenario.acknowledge();
  };
  for (const bool commits : {false, true, false, true}) transact(commits);
  int look = 0;
  must(store.compact([&](auto, auto) {
    if (++look <= 4) on_another_thread([&] { transact(look % 2 == 0); });
    return true;
  }));
  scenario.acknowledge();
}

std::span<const CrashWorkload> writer_workloads() {
  static constexpr auto kWorkloads = std::to_array<CrashWorkload>({
      {"create", record_create},
      {"log appends", record_log_appends},
      {"replacing", record_replacing},
      {"pinned reader", record_pinned_reader},
      {"pin while publishing", record_pin_while_publishing},
      {"truncation", record_truncation},
      {"punching", record_punching},
      {"compact", record_compact},
      {"rollback", record_rollback},
      {"rollback from a damaged generation", record_rollback_damaged},
      {"failed data sync", record_failed_data_sync},
      {"failed superblock sync", record_failed_superblock_sync},
      {"failed superblock sync, evicted", record_failed_superblock_sync_evicted},
      {"failed settle", record_failed_settle},
      {"dying writers", record_dying_writers},
      {"held tables", record_held_tables},
      {"many segments", record_many_segments},
      {"tiles", record_tiles},
      {"compact, tiles", record_tile_compact},
  });
  return kWorkloads;
}

}  // namespace crawlstore::testing
