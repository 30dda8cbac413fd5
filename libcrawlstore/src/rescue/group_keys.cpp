// SPDX-License-Identifier: Apache-2.0
#include "rescue/group_keys.h"

#include <algorithm>
#include <cstdint>
#include <span>

#include "format/group_run.h"
#include "rescue/damaged_payload.h"

namespace crawlstore::rescue {
namespace {

/// Bytes of all keys together, those that are not known as zeros.
struct KeyBytes {
  std::vector<std::byte> bytes;
  std::vector<bool> is_known;
};

/// Reads the blocks that are whole.
///   place  of the blocks in the payload
KeyBytes unpack(const format::AuxBlocks& blocks, const DamagedPayload& payload,
                std::uint64_t place) {
  KeyBytes keys{std::vector<std::byte>(blocks.raw_bytes), std::vector<bool>(blocks.raw_bytes)};
  std::uint64_t stored = 0;
  for (std::size_t i = 0; i < blocks.lengths.size(); ++i) {
    const std::uint64_t begin = std::uint64_t{i} * format::kAuxBlockBytes;
    const auto length = std::min<std::uint64_t>(format::kAuxBlockBytes, blocks.raw_bytes - begin);
    const std::uint64_t end = stored + blocks.lengths[i];
    const format::AuxBlocks one{length, blocks.lengths.subspan(i, 1),
                                blocks.bytes.subspan(stored, end - stored)};
    format::AuxReader reader({}, one);
    const bool is_whole = payload.is_whole(place + stored, place + end);
    stored = end;
    const auto raw = is_whole ? reader.next(length) : Result<std::span<const std::byte>>();
    if (!is_whole || !raw) continue;
    std::ranges::copy(*raw, keys.bytes.begin() + static_cast<std::ptrdiff_t>(begin));
    std::fill_n(keys.is_known.begin() + static_cast<std::ptrdiff_t>(begin), length, true);
  }
  return keys;
}

}  // namespace

Result<std::vector<GroupKey>> read_group_keys(const container::RunReader& reader,
                                              std::size_t first_group) {
  std::vector<GroupKey> found(reader.run().record_count);
  CRAWLSTORE_TRY(const DamagedPayload payload, read_damaged(reader));
  const auto run = format::parse_group_run(payload.bytes);
  if (!run) return found;
  const bool has_blocks = run->blocks.raw_bytes != 0;
  const auto stored = has_blocks ? run->blocks.bytes : run->keys;
  const auto place = static_cast<std::uint64_t>(stored.data() - payload.bytes.data());
  if (stored.empty() || !payload.is_whole(0, place)) return found;
  if (run->first_group != first_group || run->lengths.size() != found.size()) {
    return fail(Errc::kSegmentInvalid, "the runs of a frontier's groups do not follow each other");
  }
  const KeyBytes unpacked = has_blocks ? unpack(run->blocks, payload, place) : KeyBytes{};
  const auto bytes = has_blocks ? std::span<const std::byte>(unpacked.bytes) : stored;
  std::uint64_t begin = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const std::uint64_t end = begin + run->lengths[i];
    const auto first = unpacked.is_known.begin() + static_cast<std::ptrdiff_t>(begin);
    const bool is_known =
        has_blocks ? std::find(first, first + run->lengths[i], false) == first + run->lengths[i]
                   : payload.is_whole(place + begin, place + end);
    const auto key = bytes.subspan(begin, end - begin);
    if (is_known) found[i].emplace(key.begin(), key.end());
    begin = end;
  }
  return found;
}

}  // namespace crawlstore::rescue
