// SPDX-License-Identifier: Apache-2.0
#include "rescue/copy.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "container/run_scan.h"
#include "container/superblocks.h"
#include "format/checksum.h"
#include "format/endian.h"
#include "format/root_extent.h"

namespace crawlstore::rescue {
namespace {

/// Writes the pieces of a directory one behind the other.
class DirectoryCopy {
 public:
  DirectoryCopy(container::Reader& reader, Storage& target)
      : identity_(reader.identity()), directory_(reader.directory()), target_(target) {
    for (const Extent& extent : directory_.live_extents()) {
      end_bytes_ = std::max(end_bytes_, extent.end_bytes());
    }
  }

  Result<void> write() {
    format::DirectoryRoot root;
    root.generation = directory_.generation();
    root.next_segment_id = directory_.next_segment_id;
    root.next_run_id = directory_.next_run_id;
    root.taken_back = directory_.taken_back;
    for (const auto& table : directory_.tables) {
      CRAWLSTORE_TRY(const auto ref, write_table(*table));
      root.tables.push_back(ref);
    }
    format::Superblock superblock = directory_.superblock;
    const auto payload = format::encode_root(root);
    superblock.root_offset_bytes = end_bytes_;
    superblock.high_water_bytes = end_bytes_ + format::root_extent_bytes(payload.size());
    const auto bytes = format::seal_root(payload, identity_, superblock);
    CRAWLSTORE_TRY(target_.write(end_bytes_, bytes));
    return write_head(superblock);
  }

 private:
  Result<format::TableRef> write_table(const container::Table& table) {
    const auto payload = format::encode_table(table.segments);
    std::vector<std::byte> bytes = payload;
    bytes.resize(format::round_up(bytes.size(), format::kUnitBytes));
    format::TableRef ref;
    ref.offset_bytes = end_bytes_;
    ref.born = directory_.generation();
    ref.first_segment = table.segments.front().id;
    ref.payload_bytes = static_cast<std::uint32_t>(payload.size());
    ref.segment_count = static_cast<std::uint32_t>(table.segments.size());
    ref.checksum =
        format::checksum(bytes, format::extent_seed(identity_.uuid, format::ChecksumDomain::kTable,
                                                    ref.born, ref.offset_bytes));
    CRAWLSTORE_TRY(target_.write(end_bytes_, bytes));
    end_bytes_ += bytes.size();
    return ref;
  }

  /// The copy has this generation only: a tombstone says that the one before it is not there.
  Result<void> write_head(const format::Superblock& superblock) {
    CRAWLSTORE_TRY(
        target_.write(0, std::as_bytes(std::span<const format::Identity, 1>(&identity_, 1))));
    for (std::uint32_t copy = 0; copy < 2; ++copy) {
      CRAWLSTORE_TRY(container::write_superblock(target_, superblock, identity_.uuid,
                                                 container::slot_of(superblock.generation), copy));
    }
    if (superblock.generation == 1) return {};
    return container::write_tombstone(target_, identity_.uuid, superblock.generation - 1);
  }

  const format::Identity& identity_;
  const container::Directory& directory_;
  Storage& target_;
  std::uint64_t end_bytes_ = format::kDataStart;
};

/// Copies the whole pieces of a run. Returns whether these were all.
Result<bool> copy_pieces(container::Reader& reader, SegmentId segment, const format::RunRef& run,
                         Storage& target) {
  bool is_whole = true;
  const auto name = container::run_name(reader.identity(), segment, run.run_id);
  const auto copy = [&](const container::RunPiece& piece) -> Result<void> {
    if (piece.is_whole()) return target.write(piece.extent.offset_bytes, piece.bytes);
    is_whole = false;
    return {};
  };
  CRAWLSTORE_TRY(container::scan_run(*reader.storage(), name, run, copy));
  return is_whole;
}

}  // namespace

Result<std::set<RunId>> copy_readable(container::Reader& reader, Storage& target,
                                      const Advance& advance) {
  CRAWLSTORE_TRY(DirectoryCopy(reader, target).write());
  std::set<RunId> damaged;
  for (const auto& table : reader.directory().tables) {
    for (const auto& entry : table->segments) {
      for (const auto& run : entry.runs) {
        CRAWLSTORE_TRY(const bool is_whole, copy_pieces(reader, entry.id, run, target));
        if (!is_whole) damaged.insert(run.run_id);
        CRAWLSTORE_TRY(advance(run.extent().length_bytes));
      }
    }
  }
  return damaged;
}

}  // namespace crawlstore::rescue
