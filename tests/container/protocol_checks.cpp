// SPDX-License-Identifier: Apache-2.0
#include "container/protocol_checks.h"

#include <array>
#include <functional>
#include <stdexcept>
#include <vector>

#include "container/crash_store.h"
#include "container/rollback.h"
#include "container/superblocks.h"
#include "drum/memory_store.h"
#include "format/layout.h"
#include "support/bytes.h"

namespace crawlstore::testing {
namespace {

using container::CommitPolicy;
using container::SuperblockCopy;
using container::SuperblockSet;
using container::Writer;

void require(bool condition, const char* what) {
  if (!condition) throw std::runtime_error(what);
}

void fill(Writer& writer) {
  for (std::uint64_t i = 0; i < 4; ++i) (void)writer.new_segment_id();
  put_blob(writer, {2}, 9000, 2);
  must(writer.commit());
  put_blob(writer, {3}, 9000, 3);
  must(writer.commit());
}

SuperblockSet superblocks_in(std::vector<std::byte> bytes) {
  const auto storage =
      open_memory_storage(make_memory_file(bytes, kCrashCapacityBytes), OpenMode::kRead);
  return must(
      container::read_superblock_set(*storage, must(container::read_identity(*storage)).uuid));
}

/// Damages one copy in the file and starts the record again.
void damage_copy(Scenario& scenario, std::uint32_t slot, std::uint32_t copy) {
  auto bytes = contents(*scenario.file());
  bytes[format::kSuperblockOffsets[slot][copy] + 4000] ^= std::byte{1};
  scenario.begin_with_bytes(std::move(bytes));
}

std::uint32_t newest_slot(Scenario& scenario) {
  return superblocks_in(contents(*scenario.file())).winner()->slot_index;
}

/// Commits with a writer of its own, past the recorder: another process.
void commit_elsewhere(Scenario& scenario, std::uint64_t seed) {
  container::WriterOptions options;
  options.fixed_time_us = kFixedTimeUs;
  const auto writer =
      must(Writer::open(open_memory_storage(scenario.file(), OpenMode::kWrite), options));
  put_blob(*writer, {2}, 9000, seed);
  must(writer->commit());
}

void check_settled_copies(const CommitPolicy& policy) {
  Scenario scenario(policy);
  scenario.begin_with(fill);
  const std::uint32_t slot = newest_slot(scenario);
  damage_copy(scenario, slot, 1);
  const auto writer = scenario.open_writer();
  must(writer->prepare());
  const auto set = superblocks_in(scenario.recorder().disk());
  for (const SuperblockCopy& copy : set.copies[slot]) {
    require(copy.state == SuperblockCopy::State::kValid, "step 0 left a copy that is not durable");
    require(copy.superblock.pass > writer->directory()->superblock.pass,
            "step 0 did not raise the pass");
  }
}

void check_other_slot_mended(const CommitPolicy& policy) {
  Scenario scenario(policy);
  scenario.begin_with(fill);
  const std::uint32_t other = 1 - newest_slot(scenario);
  damage_copy(scenario, other, 0);
  const auto writer = scenario.open_writer();
  must(writer->prepare());
  const auto set = superblocks_in(scenario.recorder().disk());
  for (const SuperblockCopy& copy : set.copies[other]) {
    require(copy.state == SuperblockCopy::State::kValid, "step 0 left an invalid copy");
  }
}

void check_both_copies_written(const CommitPolicy& policy) {
  Scenario scenario(policy);
  scenario.begin_with(fill);
  const auto writer = scenario.open_writer();
  put_blob(*writer, {2}, 9000, 5);
  const Generation generation = must(writer->commit());
  const auto set = superblocks_in(contents(*scenario.file()));
  for (const SuperblockCopy& copy : set.copies[container::slot_of(generation.value)]) {
    require(copy.state == SuperblockCopy::State::kValid &&
                copy.superblock.generation == generation.value,
            "a commit left one copy only");
  }
}

/// Somebody who does not care for locks publishes while step 0 is at work.
void check_intruder_noticed(const CommitPolicy& policy) {
  Scenario scenario(policy);
  scenario.begin_with(fill);
  const auto writer = scenario.open_writer();
  int sync_count = 0;
  scenario.recorder().set_hook([&](CallKind kind, Extent) {
    if (kind != CallKind::kSync || ++sync_count != 2) return;
    auto superblock = writer->directory()->superblock;
    const std::uint32_t slot = container::slot_of(++superblock.generation);
    const auto storage = open_memory_storage(scenario.file(), OpenMode::kWrite);
    must(container::write_superblock(*storage, superblock, writer->identity().uuid, slot, 0));
  });
  require(code_of(writer->prepare()) == Errc::kReplaced, "another winner after step 0 was missed");
}

/// Another writer commits and leaves just before the lock is ours.
void check_locked_before_read(const CommitPolicy& policy) {
  Scenario scenario(policy);
  scenario.begin_with(fill);
  bool committed = false;
  scenario.recorder().set_hook([&](CallKind kind, Extent) {
    if (kind != CallKind::kLockWriter || committed) return;
    committed = true;
    commit_elsewhere(scenario, 6);
  });
  const auto writer = scenario.open_writer();
  scenario.recorder().set_hook(nullptr);
  put_blob(*writer, {3}, 9000, 7);
  must(writer->commit());
}

/// The newest slot has one whole copy, and that one cannot be read: EIO.
void check_hidden_slot_refused(const CommitPolicy& policy) {
  Scenario scenario(policy);
  scenario.begin_with(fill);
  const std::uint32_t slot = newest_slot(scenario);
  damage_copy(scenario, slot, 1);
  // Reads: the identity page, then the copies in order.
  scenario.recorder().inject({.calls = calls(CallKind::kRead), .nth = 2 + 2 * std::uint64_t{slot}});
  const auto writer = scenario.try_open_writer();
  require(!writer && writer.error().code == Errc::kIo, "writing was allowed beside a hidden slot");
}

/// A reader pins; before the pin stands, the generation is committed over.
void check_reader_rereads(const CommitPolicy& policy) {
  Scenario scenario(policy);
  scenario.begin_with(fill);
  bool committed = false;
  scenario.recorder().set_hook([&](CallKind kind, Extent) {
    if (kind != CallKind::kPin || committed) return;
    committed = true;
    for (std::uint64_t seed = 10; seed < 14; ++seed) commit_elsewhere(scenario, seed);
  });
  container::ReaderOptions options;
  options.policy = policy;
  const auto reader =
      must(container::Reader::open(scenario.recorder().open(OpenMode::kRead), options));
  scenario.recorder().set_hook(nullptr);
  const auto read = [&] {
    return digest_of(*reader->storage(), reader->identity().uuid, reader->directory());
  };
  const auto digest = must(read());
  for (std::uint64_t seed = 20; seed < 24; ++seed) commit_elsewhere(scenario, seed);
  require(must(read()) == digest, "a pinned generation has changed");
}

/// One byte of the padding behind the root: nothing but the checksum shows it.
void check_directory_checksum(const CommitPolicy& policy) {
  Scenario scenario(policy);
  scenario.begin_with(fill);
  const Extent root = scenario.open_writer()->directory()->root_extent;
  auto bytes = contents(*scenario.file());
  bytes[root.end_bytes() - 1] ^= std::byte{1};
  scenario.begin_with_bytes(std::move(bytes));
  require(code_of(scenario.try_open_writer()) == Errc::kDirectoryDamaged,
          "a damaged root was believed");
}

/// A generation that nobody will see again is pinned by a reader that saw it. Takes a second.
void check_lost_generation_pinned(const CommitPolicy& policy) {
  Scenario scenario(policy);
  scenario.begin_with(fill);
  {
    const auto writer = scenario.open_writer();
    must(writer->prepare());
    put_blob(*writer, {2}, 9000, 5);
    scenario.recorder().inject({.calls = calls(CallKind::kSync), .nth = 2});
    require(!writer->commit(), "a failed sync was not reported");
    scenario.recorder().stop_injecting();
  }
  const auto reader = must(container::Reader::open(scenario.recorder().open(OpenMode::kRead), {}));
  scenario.recorder().evict_lost_pages();
  const auto writer = scenario.open_writer();
  require(reader->directory().generation() > writer->directory()->generation(),
          "the lost generation is still there");
  require(code_of(writer->prepare()) == Errc::kBusyPinned, "a lost generation's pin was ignored");
}

/// Watches which superblock copies are written, in which order.
std::vector<std::uint64_t> copies_written(Scenario& scenario, const std::function<void()>& work) {
  std::vector<std::uint64_t> offsets;
  scenario.recorder().set_hook([&offsets](CallKind kind, Extent extent) {
    const bool is_copy = extent.offset_bytes != 0 && extent.offset_bytes < format::kDataStart;
    if (kind == CallKind::kWrite && is_copy) offsets.push_back(extent.offset_bytes);
  });
  work();
  scenario.recorder().set_hook(nullptr);
  return offsets;
}

/// The copy that the first writer wrote last may not be durable: the next one begins with it.
void require_last_goes_first(Scenario& scenario, const std::vector<std::uint64_t>& first) {
  scenario.recorder().stop_injecting();
  const auto writer = scenario.open_writer();
  const auto second = copies_written(scenario, [&] { must(writer->prepare()); });
  require(!first.empty() && !second.empty() && first.back() == second.front(),
          "step 0 wrote over the only durable copy");
}

/// Acts like step 0 of a writer that no lock kept away: the pass of one copy is raised.
void settle_elsewhere(Scenario& scenario, const Writer& writer) {
  auto superblock = writer.directory()->superblock;
  superblock.pass += 100;
  const auto storage = open_memory_storage(scenario.file(), OpenMode::kWrite);
  must(container::write_superblock(*storage, superblock, writer.identity().uuid,
                                   superblock.slot_index, 0));
}

/// Intrudes at the first call of a kind, once.
void intrude_at(Scenario& scenario, const Writer& writer, CallKind at,
                std::vector<std::uint64_t>& offsets) {
  scenario.recorder().set_hook([&, at, intruded = false](CallKind kind, Extent extent) mutable {
    const bool is_superblock = extent.offset_bytes < format::kDataStart;
    if (kind == CallKind::kWrite && is_superblock) offsets.push_back(extent.offset_bytes);
    if (kind != at || intruded || !is_superblock) return;
    intruded = true;
    settle_elsewhere(scenario, writer);
  });
}

std::size_t operation_count(Scenario& scenario) {
  return scenario.recorder().log().operations.size();
}

void check_look_in_step_0(const CommitPolicy& policy) {
  Scenario scenario(policy);
  scenario.begin_with(fill);
  const auto writer = scenario.open_writer();
  std::vector<std::uint64_t> written;
  intrude_at(scenario, *writer, CallKind::kSync, written);
  require(code_of(writer->prepare()) == Errc::kReplaced && written.empty(),
          "step 0 wrote after another one");
}

void check_look_before_reserve(const CommitPolicy& policy) {
  Scenario scenario(policy);
  scenario.begin_with(fill);
  const auto writer = scenario.open_writer();
  must(writer->commit(true));
  settle_elsewhere(scenario, *writer);
  const auto before = operation_count(scenario);
  require(code_of(writer->reserve(4096)) == Errc::kReplaced && operation_count(scenario) == before,
          "bytes were reserved beside another writer");
}

void check_look_before_write(const CommitPolicy& policy) {
  Scenario scenario(policy);
  scenario.begin_with(fill);
  const auto writer = scenario.open_writer();
  const Extent place = must(writer->reserve(4096));
  settle_elsewhere(scenario, *writer);
  require(code_of(writer->write(place.offset_bytes, random_bytes(4096, 1))) == Errc::kReplaced,
          "a run was written beside another writer");
}

void check_look_before_draft(const CommitPolicy& policy) {
  Scenario scenario(policy);
  scenario.begin_with(fill);
  const auto writer = scenario.open_writer();
  put_blob(*writer, {2}, 9000, 5);
  settle_elsewhere(scenario, *writer);
  const auto before = operation_count(scenario);
  require(code_of(writer->commit()) == Errc::kReplaced && operation_count(scenario) == before,
          "a directory was written beside another writer");
}

void check_look_before_publish(const CommitPolicy& policy) {
  Scenario scenario(policy);
  scenario.begin_with(fill);
  const auto writer = scenario.open_writer();
  put_blob(*writer, {2}, 9000, 5);
  std::vector<std::uint64_t> written;
  intrude_at(scenario, *writer, CallKind::kSync, written);
  require(code_of(writer->commit()) == Errc::kReplaced && written.empty(),
          "a commit was published beside another writer");
}

void check_look_after_publish(const CommitPolicy& policy) {
  Scenario scenario(policy);
  scenario.begin_with(fill);
  const auto writer = scenario.open_writer();
  put_blob(*writer, {2}, 9000, 5);
  std::vector<std::uint64_t> written;
  intrude_at(scenario, *writer, CallKind::kWrite, written);
  require(code_of(writer->commit()) == Errc::kReplaced,
          "a commit was acknowledged beside another writer");
}

/// Step 0 stops in its last sync: one copy is durable, the other one may be.
void check_step_0_after_half_of_one(const CommitPolicy& policy) {
  Scenario scenario(policy);
  scenario.begin_with(fill);
  must(scenario.open_writer()->prepare());  // so that the next one writes copy 0 first
  const auto written = copies_written(scenario, [&] {
    const auto writer = scenario.open_writer();
    scenario.recorder().inject({.calls = calls(CallKind::kSync), .nth = 3});
    require(!writer->prepare(), "a failed sync was not reported");
  });
  require_last_goes_first(scenario, written);
}

/// The same after a rollback past a damaged generation, whose slot is the only whole one: the sync
/// fails that would have made its second copy durable.
void check_step_0_after_a_rollback(const CommitPolicy& policy) {
  Scenario scenario(policy);
  scenario.begin_with(fill);
  {
    const auto writer = scenario.open_writer();
    put_blob(*writer, {2}, 9000, 5);
    must(writer->commit());
  }
  const Extent root = scenario.open_writer()->directory()->root_extent;
  auto bytes = contents(*scenario.file());
  bytes[root.offset_bytes] ^= std::byte{1};
  scenario.begin_with_bytes(std::move(bytes));
  const auto written = copies_written(scenario, [&] {
    container::WriterOptions options;
    options.fixed_time_us = kFixedTimeUs;
    options.policy = policy;
    must(container::rollback_damaged(scenario.recorder().open(OpenMode::kWrite), options));
    const auto writer = scenario.open_writer();
    scenario.recorder().inject({.calls = calls(CallKind::kSync), .nth = 1});
    require(!writer->prepare(), "a failed sync was not reported");
  });
  require_last_goes_first(scenario, written);
}

}  // namespace

std::span<const ProtocolCheck> protocol_checks() {
  static constexpr auto kChecks = std::to_array<ProtocolCheck>({
      {"step 0 leaves two durable copies of a higher pass", check_settled_copies},
      {"step 0 mends the other slot", check_other_slot_mended},
      {"step 0 after half a step 0", check_step_0_after_half_of_one},
      {"step 0 after a rollback", check_step_0_after_a_rollback},
      {"a commit writes both copies", check_both_copies_written},
      {"step 0 notices an intruder", check_intruder_noticed},
      {"step 0 looks after its first sync", check_look_in_step_0},
      {"a reservation looks", check_look_before_reserve},
      {"a write looks", check_look_before_write},
      {"a commit looks before it allocates", check_look_before_draft},
      {"a commit looks before it publishes", check_look_before_publish},
      {"a commit looks before it is acknowledged", check_look_after_publish},
      {"the lock comes before the reading", check_locked_before_read},
      {"a hidden slot is not written over", check_hidden_slot_refused},
      {"a reader reads again under its pin", check_reader_rereads},
      {"a damaged directory is not believed", check_directory_checksum},
      {"the pin of a lost generation is respected", check_lost_generation_pinned},
  });
  return kChecks;
}

}  // namespace crawlstore::testing
