// SPDX-License-Identifier: Apache-2.0
#include "rescue/damaged_payload.h"

#include <algorithm>

namespace crawlstore::rescue {

std::uint64_t DamagedPayload::whole_bytes() const {
  const auto lost = std::ranges::find(is_lost, true);
  const auto chunks = static_cast<std::uint64_t>(lost - is_lost.begin());
  return std::min<std::uint64_t>(bytes.size(), chunks * format::kChunkBytes);
}

Result<DamagedPayload> read_damaged(const container::RunReader& reader) {
  DamagedPayload payload;
  payload.bytes.resize(reader.run().payload_bytes);
  for (std::uint64_t at = 0; at < payload.bytes.size(); at += format::kChunkBytes) {
    const auto chunk =
        reader.bytes(at, std::min<std::uint64_t>(format::kChunkBytes, payload.bytes.size() - at));
    if (!chunk && category(chunk.error().code) != ErrorCategory::kDamage) {
      return tl::unexpected<Error>(chunk.error());
    }
    payload.is_lost.push_back(!chunk);
    if (chunk) {
      std::ranges::copy(*chunk, payload.bytes.begin() + static_cast<std::ptrdiff_t>(at));
    }
  }
  return payload;
}

}  // namespace crawlstore::rescue
