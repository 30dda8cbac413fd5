// SPDX-License-Identifier: Apache-2.0
//
// Invariants: what is described is read anew and believed only so far as to find the next piece;
// whatever breaks on the way becomes the `problem` of a line.
#include <algorithm>

#include <crawlstore/tools/inspect.h>

#include "base/inside.h"
#include "container/description.h"
#include "container/inspect_directory.h"
#include "container/reader.h"
#include "container/superblocks.h"
#include "io/pin_holders.h"

namespace crawlstore::container {
namespace {

using format::kSuperblockBytes;
using format::kSuperblockOffsets;

/// Up to `length` bytes; fewer where the file ends or cannot be read.
std::vector<std::byte> read_some(Storage& storage, std::uint64_t offset, std::uint64_t length) {
  std::vector<std::byte> bytes(length);
  const auto got = storage.read(offset, bytes);
  bytes.resize(got ? *got : 0);
  return bytes;
}

/// Returns the uuid, whether the page is whole or not.
Uuid describe_identity(Description& out, Storage& storage) {
  const auto page = read_some(storage, 0, sizeof(format::Identity));
  const std::size_t mark = out.mark();
  out.open("identity", "struct", {0, sizeof(format::Identity)});
  out.add_fields(format::describe_identity(page), 0);
  out.close();
  const auto parsed = format::parse_identity(page);
  if (!parsed) out.note(mark, parsed.error().offset, parsed.error().text);
  Uuid uuid{};
  if (page.size() >= offsetof(format::Identity, uuid) + uuid.size()) {
    std::copy_n(page.begin() + offsetof(format::Identity, uuid), uuid.size(), uuid.begin());
  }
  return uuid;
}

void describe_copy(Description& out, Storage& storage, const Uuid& uuid, std::uint32_t slot,
                   std::uint32_t copy) {
  const Extent place{kSuperblockOffsets[slot][copy], kSuperblockBytes};
  const auto bytes = read_some(storage, place.offset_bytes, place.length_bytes);
  const std::size_t mark = out.mark();
  const auto name = "superblocks[" + std::to_string(slot) + "][" + std::to_string(copy) + "]";
  if (format::is_empty_copy(bytes)) {
    out.add(name, "zeros", place, "empty");
    return;
  }
  const auto parsed = format::parse_superblock(bytes, uuid, slot, copy);
  out.open(name, "struct", place, parsed ? "valid" : "not valid");
  out.add_fields(format::describe_superblock(bytes), place.offset_bytes);
  out.close();
  if (!parsed) out.note(mark, Error::kNoOffset, parsed.error().text);
}

/// Describes the piece before the data that holds `offset`; returns false if that is in the data.
bool describe_head_at(Description& out, Storage& storage, std::uint64_t offset) {
  if (offset >= format::kDataStart) return false;
  if (offset < sizeof(format::Identity)) {
    describe_identity(out, storage);
    return true;
  }
  Description ignored({});
  const Uuid uuid = describe_identity(ignored, storage);
  std::uint64_t begin = sizeof(format::Identity);
  std::uint64_t end = format::kDataStart;
  for (const auto& place : format::kSuperblockPlaces) {
    if (offset < place.offset_bytes) {
      end = place.offset_bytes;
      break;
    }
    begin = place.offset_bytes + kSuperblockBytes;
    if (offset < begin) {
      describe_copy(out, storage, uuid, place.slot, place.copy);
      return true;
    }
  }
  const auto gap = read_some(storage, begin, end - begin);
  out.add("gap", "zeros", {begin, end - begin}, {});
  const bool is_zero =
      std::all_of(gap.begin(), gap.end(), [](std::byte byte) { return byte == std::byte{0}; });
  if (!is_zero) out.note_last("bytes are not zero");
  return true;
}

/// Ends the call when the file is not ours at all; what else is wrong is described.
Result<void> check_described(Storage& storage) {
  CRAWLSTORE_TRY(storage.check_process());
  const auto identity = read_identity(storage);
  if (identity || category(identity.error().code) == ErrorCategory::kDamage) return {};
  const Errc code = identity.error().code;
  if (code == Errc::kNewerVersion || code == Errc::kOlderVersion) return {};
  return tl::unexpected<Error>(identity.error());
}

}  // namespace

Result<std::vector<FieldInfo>> describe_storage(Storage& storage, const DescribeOptions& options) {
  CRAWLSTORE_TRY(check_described(storage));
  Description out(options);
  const Uuid uuid = describe_identity(out, storage);
  for (std::uint32_t slot = 0; slot < 2; ++slot) {
    for (std::uint32_t copy = 0; copy < 2; ++copy) describe_copy(out, storage, uuid, slot, copy);
  }
  const auto set = read_superblock_set(storage, uuid);
  if (set && set->winner() != nullptr) {
    DirectoryDescriber(storage, uuid, *set->winner()).describe(out);
  }
  return out.take();
}

Result<std::vector<FieldInfo>> describe_place(Storage& storage, std::uint64_t offset,
                                              const DescribeOptions& options) {
  CRAWLSTORE_TRY(check_described(storage));
  CRAWLSTORE_TRY(const auto size, storage.size());
  if (offset >= size) {
    return fail(Errc::kInvalidArgument, "the offset lies behind the end of the file", offset);
  }
  Description out(options);
  if (describe_head_at(out, storage, offset)) return out.take();
  Description ignored({});
  const Uuid uuid = describe_identity(ignored, storage);
  const auto set = read_superblock_set(storage, uuid);
  bool is_known = false;
  if (set) {
    for (const auto* superblock : {set->winner(), set->previous()}) {
      if (superblock == nullptr) continue;
      const DirectoryDescriber directory(storage, uuid, *superblock);
      if (directory.describe_at(out, offset)) return out.take();
      is_known = is_known || directory.is_whole();
    }
  }
  const std::uint64_t unit = offset / format::kUnitBytes * format::kUnitBytes;
  out.add(is_known ? "free" : "unknown", "bytes", {unit, std::min(format::kUnitBytes, size - unit)},
          {});
  if (!is_known) out.note_last("no directory is whole: what lies here cannot be told");
  return out.take();
}

Result<std::vector<FieldInfo>> describe_segment(Reader& reader, SegmentId segment,
                                                const DescribeOptions& options) {
  CRAWLSTORE_TRY(reader.storage()->check_process());
  const Directory& directory = reader.directory();
  const auto* entry = directory.find(segment);
  if (entry == nullptr) {
    return fail(Errc::kUnknownName, "no segment has this id", Error::kNoOffset, segment);
  }
  Description out(options);
  const Uuid& uuid = reader.identity().uuid;
  DirectoryDescriber(*reader.storage(), uuid, directory.superblock, *directory.kinds)
      .describe_entry(out, *entry);
  std::size_t described = 0;
  for (const auto& run : entry->runs) {
    if (described++ == out.entries_max()) break;
    const RunSource source(*reader.storage(), uuid, *entry, run);
    out.open("run", "struct", run.extent(), "run_id " + std::to_string(run.run_id.value));
    describe_run(out, source, directory.kinds->of(*entry));
    out.close();
  }
  return out.take();
}

}  // namespace crawlstore::container

namespace crawlstore {

Result<std::vector<FieldInfo>> describe(const Snapshot& snapshot, SegmentId segment,
                                        const DescribeOptions& options) {
  return container::describe_segment(Inside::of(snapshot), segment, options);
}

Result<std::vector<FieldInfo>> describe_file(Storage& storage, const DescribeOptions& options) {
  return container::describe_storage(storage, options);
}

Result<std::vector<FieldInfo>> describe_at(Storage& storage, std::uint64_t offset,
                                           const DescribeOptions& options) {
  return container::describe_place(storage, offset, options);
}

Result<std::vector<FieldInfo>> describe_file(const std::string& path,
                                             const DescribeOptions& options) {
  CRAWLSTORE_TRY(const auto storage, open_storage(path, OpenMode::kReadNoPin));
  return describe_file(*storage, options);
}

Result<std::vector<FieldInfo>> describe_at(const std::string& path, std::uint64_t offset,
                                           const DescribeOptions& options) {
  CRAWLSTORE_TRY(const auto storage, open_storage(path, OpenMode::kReadNoPin));
  return describe_at(*storage, offset, options);
}

std::vector<std::int64_t> writer_processes(const std::string& path) {
  return io::find_writers(path);
}

}  // namespace crawlstore
