// SPDX-License-Identifier: Apache-2.0
#include "container/crash_store.h"

#include <algorithm>
#include <set>
#include <stdexcept>

#include "container/run_io.h"
#include "container/superblocks.h"
#include "drum/memory_store.h"
#include "format/layout.h"
#include "support/bytes.h"

namespace crawlstore::testing {
namespace {

using container::Directory;
using container::Writer;

void mix(std::uint64_t& digest, std::uint64_t number) {
  digest = Random(digest ^ number).next();
}

std::uint64_t length_of(const std::vector<Extent>& extents) {
  std::uint64_t bytes = 0;
  for (const Extent& extent : extents) bytes += extent.length_bytes;
  return bytes;
}

bool overlap(std::vector<Extent> a, std::vector<Extent> b) {
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  for (auto i = a.begin(), j = b.begin(); i != a.end() && j != b.end();) {
    if (i->end_bytes() <= j->offset_bytes) {
      ++i;
    } else if (j->end_bytes() <= i->offset_bytes) {
      ++j;
    } else {
      return true;
    }
  }
  return false;
}

/// The first byte of the file that none of the extents covers.
std::uint64_t first_uncovered(std::vector<Extent> extents) {
  std::sort(extents.begin(), extents.end());
  std::uint64_t end = format::kDataStart;
  for (const Extent& extent : extents) {
    if (extent.offset_bytes > end) break;
    end = std::max(end, extent.end_bytes());
  }
  return end;
}

/// The previous generation's directory; null when it is not there, or known to be damaged.
Result<container::DirectoryPtr> load_previous(Writer& writer, std::uint64_t damaged) {
  const auto set = container::read_superblock_set(writer.storage(), writer.identity().uuid);
  if (!set) return tl::unexpected<Error>(set.error());
  const auto* previous = set->winner() == nullptr ? nullptr : set->previous();
  if (previous == nullptr || previous->generation == damaged) return container::DirectoryPtr();
  return container::load_previous_directory(writer.storage(), writer.identity().uuid, *previous, {},
                                            container::all_kinds());
}

}  // namespace

Result<std::uint64_t> digest_of(Storage& storage, const Uuid& uuid, const Directory& directory,
                                SegmentId except) {
  std::uint64_t digest = 0;
  Result<void> read;
  std::vector<std::byte> payload;
  directory.for_each_segment([&](const format::SegmentEntry& entry) {
    if (entry.id == except || !read) return;
    mix(digest, entry.id.value);
    mix(digest, static_cast<std::uint64_t>(entry.kind));
    mix(digest, format::checksum(std::as_bytes(std::span(entry.name)), entry.owner.value));
    for (const auto& run : entry.runs) {
      mix(digest, run.run_id.value);
      mix(digest, run.record_count);
      if (read) read = container::read_run(storage, {uuid, entry.id, run.run_id}, run, payload);
      if (!read) return;
      mix(digest, format::checksum(payload, payload.size()));
    }
  });
  if (!read) return tl::unexpected<Error>(read.error());
  return digest;
}

Result<StoreState> read_state(const std::shared_ptr<MemoryFile>& file) {
  const auto reader = container::Reader::open(open_memory_storage(file, OpenMode::kRead), {});
  if (!reader) return tl::unexpected<Error>(reader.error());
  const Directory& directory = (*reader)->directory();
  const auto digest = digest_of(*(*reader)->storage(), (*reader)->identity().uuid, directory);
  if (!digest) return tl::unexpected<Error>(digest.error());
  return StoreState{directory.generation().value, *digest};
}

Fault check_space(Writer& writer, const std::vector<const Directory*>& pinned,
                  std::uint64_t damaged) {
  const auto previous = load_previous(writer, damaged);
  if (!previous) return "the previous generation is not whole: " + describe(previous.error());
  if (*previous != nullptr && !digest_of(writer.storage(), writer.identity().uuid, **previous)) {
    return "a segment of the previous generation is not whole";
  }
  const auto live = writer.directory()->live_extents();
  const auto free = writer.free_extents();
  if (overlap(live, free)) return "a live extent is free";
  std::vector<const Directory*> kept = pinned;
  if (*previous != nullptr) kept.push_back(previous->get());
  std::uint64_t bound = length_of(live);
  for (const Directory* directory : kept) {
    if (overlap(directory->live_extents(), free)) {
      return "an extent of generation " + std::to_string(directory->generation().value) +
             " is free";
    }
    bound += length_of(directory->live_extents());
  }
  auto all = live;
  all.insert(all.end(), free.begin(), free.end());
  writer.directory()->for_each_held([&](const auto& held) { all.push_back(held.extent); });
  const std::uint64_t size = writer.storage().size().value_or(0);
  if (writer.file_bytes() != size / format::kUnitBytes * format::kUnitBytes) {
    return "the writer does not know how long the file is";
  }
  if (first_uncovered(all) != writer.file_bytes()) {
    return "space has leaked at " + std::to_string(first_uncovered(all));
  }
  const std::uint64_t used = writer.file_bytes() - format::kDataStart - length_of(free);
  // Without the previous generation's directory nobody can say what it refers to.
  const bool all_known = *previous != nullptr || writer.directory()->generation().value == 1;
  if (all_known && used > bound) return "more is held back than generations refer to";
  return std::nullopt;
}

Fault check_allocated(const OperationLog& log) {
  constexpr std::uint64_t kUnit = format::kUnitBytes;
  std::set<std::uint64_t> allocated;
  for (std::uint64_t unit = 0; unit < log.initial.size() / kUnit; ++unit) allocated.insert(unit);
  for (const Operation& operation : log.operations) {
    if (operation.failed) continue;
    const std::uint64_t first = operation.extent.offset_bytes / kUnit;
    const std::uint64_t end = (operation.extent.end_bytes() + kUnit - 1) / kUnit;
    if (operation.kind == OperationKind::kAllocate) {
      for (std::uint64_t unit = first; unit < end; ++unit) allocated.insert(unit);
    } else if (operation.kind == OperationKind::kPunch) {
      allocated.erase(allocated.lower_bound(first), allocated.lower_bound(end));
    } else if (operation.kind == OperationKind::kTruncate) {
      allocated.erase(allocated.lower_bound(first), allocated.end());
    } else if (operation.kind == OperationKind::kWrite && first * kUnit >= format::kDataStart) {
      for (std::uint64_t unit = first; unit < end; ++unit) {
        if (!allocated.contains(unit)) return "written without blocks: " + describe(operation);
      }
    }
  }
  return std::nullopt;
}

void put_blob(Writer& writer, SegmentId id, std::size_t payload_bytes, std::uint64_t seed) {
  const RunId run_id = writer.new_run_ids(1);
  const auto payload = random_bytes((payload_bytes + 7) / 8 * 8, seed);
  format::SegmentEntry entry{id, SegmentKind::kDrumPartition, StorageClass::kBlob, kOwner, "", {}};
  const auto* owner = writer.find(kOwner);
  const bool has_owner = owner == nullptr || owner->kind == SegmentKind::kDrum;
  if (id == kOwner || !has_owner) {
    entry.kind = SegmentKind::kDrum;
    entry.owner = {};
    entry.name = id == kOwner ? "owner" : "another " + std::to_string(id.value);
  }
  entry.runs = {must(container::write_run(writer, label_of(entry, run_id), payload, 1))};
  writer.put(std::move(entry));
}

void append_run(Writer& writer, SegmentId id, std::size_t payload_bytes, std::uint64_t seed) {
  if (writer.find(id) == nullptr) put_empty_log(writer, id);
  const RunId run_id = writer.new_run_ids(1);
  const auto payload = random_bytes((payload_bytes + 7) / 8 * 8, seed);
  auto entry = *writer.find(id);
  entry.runs.push_back(must(container::write_run(writer, label_of(entry, run_id), payload, 1)));
  writer.put(std::move(entry));
}

void put_empty_log(Writer& writer, SegmentId id) {
  writer.put({id, SegmentKind::kDrumKeyLog, StorageClass::kLog, kOwner, "", {}});
}

Scenario::Scenario(const container::CommitPolicy& policy)
    : policy_(policy), file_(make_empty_store_file(kCrashCapacityBytes)) {
  recorder_ = std::make_unique<Recorder>(file_);
}

void Scenario::begin_with(const std::function<void(Writer&)>& fill) {
  {
    const auto writer = open_writer();
    (void)writer->new_segment_id();  // kOwner
    put_blob(*writer, kOwner, 100, 1);
    must(writer->commit());
    fill(*writer);
  }
  start_recording();
  acknowledge();
}

void Scenario::start_recording() {
  recorder_ = std::make_unique<Recorder>(file_);
  if (plan) recorder_->inject(*plan);
}

void Scenario::begin_with_nothing() {
  must(reset(*file_, {}));
  start_recording();
}

void Scenario::begin_with_bytes(std::vector<std::byte> bytes) {
  file_ = make_memory_file(bytes, kCrashCapacityBytes);
  start_recording();
  acknowledge();
}

Result<std::unique_ptr<Writer>> Scenario::try_open_writer() {
  container::WriterOptions options;
  options.fixed_time_us = kFixedTimeUs;
  options.policy = policy_;
  return Writer::open(recorder_->open(OpenMode::kWrite), options);
}

std::unique_ptr<Writer> Scenario::open_writer() {
  return must(try_open_writer());
}

void Scenario::commit(Writer& writer) {
  must(writer.commit());
  acknowledge();
  check(writer);
}

void Scenario::acknowledge() {
  recorder_->mark("acknowledged");
}

void Scenario::check(Writer& writer) {
  check_readers();
  std::vector<const Directory*> pinned;
  for (const auto& pin : readers_) pinned.push_back(&pin.reader->directory());
  if (const Fault fault = check_space(writer, pinned, damaged_generation)) {
    throw std::runtime_error(*fault);
  }
}

void Scenario::pin(bool previous) {
  container::ReaderOptions options;
  options.previous = previous;
  options.policy = policy_;
  auto reader = must(container::Reader::open(open_memory_storage(file_, OpenMode::kRead), options));
  const auto digest =
      must(digest_of(*reader->storage(), reader->identity().uuid, reader->directory()));
  readers_.push_back({std::move(reader), digest});
}

void Scenario::check_readers() {
  for (const auto& [reader, digest] : readers_) {
    const Uuid& uuid = reader->identity().uuid;
    const auto directory = container::load_directory(
        *reader->storage(), uuid, reader->directory().superblock, {}, container::all_kinds());
    if (!directory) throw std::runtime_error("a pinned directory: " + describe(directory.error()));
    const auto now = digest_of(*reader->storage(), uuid, **directory);
    if (!now) throw std::runtime_error("a pinned segment: " + describe(now.error()));
    if (*now != digest) throw std::runtime_error("a pinned generation has changed");
  }
}

}  // namespace crawlstore::testing
