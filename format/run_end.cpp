// SPDX-License-Identifier: Apache-2.0
#include "run_end.h"

#include <cstring>

#include "checksum.h"
#include "endian.h"

namespace crawlstore::format {
RunEnd run_end(const RunLabel& label, std::uint64_t payload_bytes, std::uint64_t record_count) {
  return {kRunEndMagic,
          static_cast<std::uint16_t>(label.kind),
          0,
          label.segment.value,
          label.run.value,
          label.owner.value,
          payload_bytes,
          record_count,
          label.first,
          0};
}

Result<void> check_run_end(std::span<const std::byte> top, const Uuid& uuid, const RunLabel& label,
                           const RunRef& run) {
  const auto found = load_struct<RunEnd>(top.last<sizeof(RunEnd)>().data());
  RunEnd expected = run_end(label, run.payload_bytes, run.record_count);
  if (label.first == kAnyFirst) expected.first = found.first < found.run_id ? found.first : 0;
  expected.checksum = run_end_checksum(top, uuid, expected);
  if (std::memcmp(&found, &expected, sizeof found) == 0) return {};
  return fail(Errc::kSegmentInvalid, kRunEndText, run.extent().end_bytes() - sizeof(RunEnd),
              label.segment);
}

std::optional<EndedRun> run_of_end(std::span<const std::byte> end, std::uint64_t end_bytes) {
  const auto found = load_struct<RunEnd>(end.last<sizeof(RunEnd)>().data());
  if (found.magic != kRunEndMagic || found.reserved != 0) return std::nullopt;
  if (found.segment_id == 0 || found.run_id == 0 || found.payload_bytes == 0 ||
      found.payload_bytes > kPayloadBytesMax) {
    return std::nullopt;
  }
  const std::uint64_t length = extent_bytes(found.payload_bytes);
  if (end_bytes % kUnitBytes != 0 || end_bytes < kDataStart || length > end_bytes - kDataStart) {
    return std::nullopt;
  }
  return EndedRun{
      {{found.segment_id},
       static_cast<SegmentKind>(found.kind),
       {found.owner},
       {found.run_id},
       found.first},
      {end_bytes - length, {0}, {found.run_id}, found.payload_bytes, found.record_count, 0}};
}

bool prove_run_end(std::span<const std::byte> top, const Uuid& uuid, EndedRun& ended) {
  const RunName name{uuid, ended.label.segment, ended.label.run};
  const std::uint64_t level_count = checksum_tree(ended.run.payload_bytes).levels.size();
  ended.run.checksum = checksum(top, chunk_seed(name, level_count, 0));
  return check_run_end(top, uuid, ended.label, ended.run).has_value();
}

}  // namespace crawlstore::format
