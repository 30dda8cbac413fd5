// SPDX-License-Identifier: Apache-2.0
//
// Invariants: no byte reaches the copy before the checksum that covers it has matched; the copy is
// as long as its superblock promises, and what is not live in it is a hole.
#include "container/copy_store.h"

#include <crawlstore/snapshot.h>

#include "base/inside.h"
#include "container/run_scan.h"
#include "container/superblocks.h"
#include "format/root_extent.h"

namespace crawlstore::container {
namespace {

struct Copy {
  Reader& reader;
  Storage& target;

  [[nodiscard]] Storage& source() const { return *reader.storage(); }

  /// A piece of the directory, which one checksum covers as a whole.
  Result<void> copy_piece(Extent extent, format::ChecksumDomain domain, Generation born,
                          std::uint64_t expected) const {
    std::vector<std::byte> bytes(extent.length_bytes);
    CRAWLSTORE_TRY(const auto got, source().read(extent.offset_bytes, bytes));
    if (got < bytes.size()) {
      return fail(Errc::kTruncated, "the file ends inside its directory", extent.offset_bytes);
    }
    const auto& uuid = reader.identity().uuid;
    const bool is_whole =
        domain == format::ChecksumDomain::kRoot
            ? format::is_root_whole(bytes, uuid, reader.directory().superblock)
            : format::checksum(
                  bytes, format::extent_seed(uuid, domain, born, extent.offset_bytes)) == expected;
    if (!is_whole) {
      return fail(Errc::kDirectoryDamaged, "the checksum of a directory piece does not match",
                  extent.offset_bytes);
    }
    return target.write(extent.offset_bytes, bytes);
  }

  Result<void> copy_directory() const {
    const Directory& directory = reader.directory();
    CRAWLSTORE_TRY(copy_piece(directory.root_extent, format::ChecksumDomain::kRoot,
                              directory.generation(), directory.superblock.root_checksum));
    for (const auto& table : directory.tables) {
      CRAWLSTORE_TRY(copy_piece(table->ref.extent(), format::ChecksumDomain::kTable,
                                table->ref.born, table->ref.checksum));
    }
    for (const auto& table : directory.held_tables) {
      CRAWLSTORE_TRY(copy_piece(table->ref.extent(), format::ChecksumDomain::kHeldTable,
                                table->ref.born, table->ref.checksum));
    }
    return {};
  }

  Result<void> copy_segments() const {
    for (const auto& table : reader.directory().tables) {
      for (const auto& entry : table->segments) {
        for (const auto& run : entry.runs) CRAWLSTORE_TRY(copy_run(entry.id, run));
      }
    }
    return {};
  }

  Result<void> copy_run(SegmentId segment, const format::RunRef& run) const {
    const auto name = run_name(reader.identity(), segment, run.run_id);
    return scan_run(source(), name, run, [this](const RunPiece& piece) -> Result<void> {
      if (!piece.is_whole()) return tl::unexpected<Error>(piece.error);
      return target.write(piece.extent.offset_bytes, piece.bytes);
    });
  }

  /// The copy has this generation only: a tombstone says that the one before it is not there.
  Result<void> copy_head() const {
    const auto& identity = reader.identity();
    const auto& superblock = reader.directory().superblock;
    CRAWLSTORE_TRY(
        target.write(0, std::as_bytes(std::span<const format::Identity, 1>(&identity, 1))));
    for (std::uint32_t copy = 0; copy < 2; ++copy) {
      CRAWLSTORE_TRY(write_superblock(target, superblock, identity.uuid,
                                      slot_of(superblock.generation), copy));
    }
    if (superblock.generation == 1) return {};
    return write_tombstone(target, identity.uuid, superblock.generation - 1);
  }

  /// Held extents may lie behind all that was copied.
  Result<void> stretch() const {
    const std::uint64_t end = reader.directory().superblock.high_water_bytes;
    CRAWLSTORE_TRY(const auto size, target.size());
    if (size >= end) return {};
    const std::array<std::byte, format::kUnitBytes> zeros{};
    return target.write(end - zeros.size(), zeros);
  }
};

struct Errand {
  Reader& reader;
};

}  // namespace

Result<void> copy_generation_to(Reader& reader, Storage& target) {
  CRAWLSTORE_TRY(reader.storage()->check_process());
  const Copy copy{reader, target};
  CRAWLSTORE_TRY(copy.copy_head());
  CRAWLSTORE_TRY(copy.copy_directory());
  CRAWLSTORE_TRY(copy.copy_segments());
  return copy.stretch();
}

Result<void> copy_generation(Reader& reader, const std::string& path) {
  Errand errand{reader};
  return create_file(
      path,
      [](Storage& target, void* context) {
        return copy_generation_to(static_cast<Errand*>(context)->reader, target);
      },
      &errand);
}

}  // namespace crawlstore::container

namespace crawlstore {

Result<void> copy_snapshot(const Snapshot& snapshot, const std::string& path) {
  return container::copy_generation(Inside::of(snapshot), path);
}

}  // namespace crawlstore
