// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>

#include <crawlstore/snapshot.h>

#include "container/reader.h"
#include "container/superblocks.h"
#include "format/layout.h"

namespace crawlstore {
namespace {

SegmentInfo info_of(const format::SegmentEntry& entry) {
  SegmentInfo info{entry.id, entry.kind, entry.storage_class, entry.owner, entry.name, {}};
  for (const auto& run : entry.runs) {
    info.runs.push_back({run.extent(), run.born, run.run_id, run.payload_bytes, run.record_count});
  }
  return info;
}

}  // namespace

std::uint64_t SegmentInfo::payload_bytes() const {
  return std::accumulate(runs.begin(), runs.end(), std::uint64_t{0},
                         [](auto sum, const RunInfo& run) { return sum + run.payload_bytes; });
}

std::uint64_t SegmentInfo::allocated_bytes() const {
  return std::accumulate(runs.begin(), runs.end(), std::uint64_t{0},
                         [](auto sum, const auto& run) { return sum + run.extent.length_bytes; });
}

std::uint64_t SegmentInfo::record_count() const {
  if (storage_class == StorageClass::kTiled) return runs.back().record_count;  // of the root
  return std::accumulate(runs.begin(), runs.end(), std::uint64_t{0},
                         [](auto sum, const RunInfo& run) { return sum + run.record_count; });
}

Snapshot::Snapshot(std::shared_ptr<container::Reader> reader) : impl_(std::move(reader)) {}

Result<Snapshot> Snapshot::open(const std::string& path, const SnapshotOptions& options) {
  CRAWLSTORE_TRY(auto storage,
                 open_storage(path, options.pin ? OpenMode::kRead : OpenMode::kReadNoPin));
  if (!options.mapped) storage = unmapped(std::move(storage));
  return open(std::shared_ptr<Storage>(std::move(storage)), options);
}

Result<Snapshot> Snapshot::open(std::shared_ptr<Storage> storage, const SnapshotOptions& options) {
  container::ReaderOptions reader_options;
  reader_options.pin = options.pin;
  reader_options.previous = options.previous;
  CRAWLSTORE_TRY(auto reader, container::Reader::open(std::move(storage), reader_options));
  return Snapshot(std::move(reader));
}

Generation Snapshot::generation() const {
  return impl_->directory().generation();
}
Uuid Snapshot::uuid() const {
  return impl_->identity().uuid;
}
std::uint64_t Snapshot::key_seed() const {
  return impl_->identity().key_seed;
}

Result<StoreInfo> Snapshot::info() const {
  CRAWLSTORE_TRY(impl_->storage()->check_process());
  const auto& directory = impl_->directory();
  const auto& superblock = directory.superblock;
  StoreInfo info;
  info.format_version = impl_->identity().format_version;
  info.uuid = impl_->identity().uuid;
  info.generation = directory.generation();
  info.created_us = impl_->identity().created_us;
  info.commit_time_us = superblock.commit_time_us;
  info.features_compat = superblock.features_compat;
  info.features_ro_compat = superblock.features_ro_compat;
  info.features_incompat = superblock.features_incompat;
  info.high_water_bytes = superblock.high_water_bytes;
  info.segment_count = directory.segment_count();
  CRAWLSTORE_TRY(const auto size, impl_->storage()->size());
  info.file_bytes = size;
  for (const auto& extent : directory.live_extents()) info.live_bytes += extent.length_bytes;
  info.directory_bytes = directory.root_extent.length_bytes;
  for (const auto& table : directory.tables) {
    info.directory_bytes += table->ref.extent().length_bytes;
  }
  for (const auto& table : directory.held_tables) {
    info.directory_bytes += table->ref.extent().length_bytes;
  }
  directory.for_each_held(
      [&info](const format::HeldExtent& held) { info.held_bytes += held.extent.length_bytes; });
  const auto used = format::kDataStart + info.live_bytes + info.held_bytes;
  info.free_bytes = info.file_bytes > used ? info.file_bytes - used : 0;
  const auto set = container::read_superblock_set(*impl_->storage(), info.uuid);
  info.has_previous = set && set->winner() != nullptr && set->previous() != nullptr;
  return info;
}

std::vector<SegmentInfo> Snapshot::segments() const {
  std::vector<SegmentInfo> all;
  impl_->directory().for_each_segment(
      [&all](const format::SegmentEntry& entry) { all.push_back(info_of(entry)); });
  return all;
}

std::vector<HeldInfo> Snapshot::held() const {
  std::vector<HeldInfo> all;
  impl_->directory().for_each_held([&all](const format::HeldExtent& held) {
    all.push_back({held.extent, held.born, held.retired});
  });
  return all;
}

Result<std::vector<Extent>> Snapshot::free_extents() const {
  CRAWLSTORE_TRY(const auto size, impl_->storage()->size());
  auto used = impl_->directory().live_extents();
  for (const auto& entry : held()) used.push_back(entry.extent);
  std::sort(used.begin(), used.end());
  std::vector<Extent> free;
  std::uint64_t end = format::kDataStart;
  for (const Extent& extent : used) {
    if (extent.offset_bytes > end) free.push_back({end, extent.offset_bytes - end});
    end = extent.end_bytes();
  }
  if (size > end) free.push_back({end, size - end});
  return free;
}

Result<std::vector<PinInfo>> Snapshot::pins() const {
  CRAWLSTORE_TRY(impl_->storage()->check_process());
  std::vector<PinInfo> pins;
  const auto list = held();
  for (const PinHolder& holder : impl_->storage()->pin_holders()) {
    PinInfo pin{holder.generation, holder.pid, 0};
    for (const auto& entry : list) {
      if (entry.born <= pin.generation && pin.generation < entry.retired) {
        pin.held_bytes += entry.extent.length_bytes;
      }
    }
    pins.push_back(pin);
  }
  std::sort(pins.begin(), pins.end(), [](const PinInfo& a, const PinInfo& b) {
    return a.generation != b.generation ? a.generation < b.generation : a.pid < b.pid;
  });
  return pins;
}

Result<Generation> Snapshot::newest() const {
  return impl_->newest();
}

Result<std::vector<std::byte>> Snapshot::read_run(SegmentId segment, RunId run) const {
  CRAWLSTORE_TRY(impl_->storage()->check_process());
  const auto* entry = impl_->directory().find(segment);
  if (entry == nullptr) return fail(Errc::kUnknownName, "no segment has this id");
  const auto* ref = entry->find_run(run);
  if (ref == nullptr) {
    return fail(Errc::kUnknownName, "the segment has no run of this id", Error::kNoOffset, segment);
  }
  std::vector<std::byte> payload;
  CRAWLSTORE_TRY(container::read_run(
      *impl_->storage(), container::run_name(impl_->identity(), segment, run), *ref, payload));
  return payload;
}

StorageCounters Snapshot::counters() const {
  return impl_->storage()->counters();
}

}  // namespace crawlstore
