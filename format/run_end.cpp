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
  if (label.first == kAnyFirst && found.first < found.run_id) expected.first = found.first;
  expected.checksum = run_end_checksum(top, uuid, expected);
  if (std::memcmp(&found, &expected, sizeof found) == 0) return {};
  return fail(Errc::kSegmentInvalid, kRunEndText, run.extent().end_bytes() - sizeof(RunEnd),
              label.segment);
}

}  // namespace crawlstore::format
