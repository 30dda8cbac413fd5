// SPDX-License-Identifier: Apache-2.0
//
// Invariants: only whole units between the start of the piece and the window are forgotten, so none
// that another window shows. A payload begins at a unit, as its extent does.
#include "container/payload_window.h"

#include "format/layout.h"

namespace crawlstore::container {

PayloadSource payload_in_memory(std::span<const std::byte> payload) {
  return {payload.size(),
          [payload](Extent extent) -> Result<const std::byte*> {
            return payload.data() + extent.offset_bytes;
          },
          [](Extent) {}};
}

Result<void> PayloadWindow::move_to(std::uint64_t offset, std::uint64_t length) {
  const std::uint64_t unit_start = offset / format::kUnitBytes * format::kUnitBytes;
  if (unit_start > kept_from_) {
    source_.forget({kept_from_, unit_start - kept_from_});
    kept_from_ = unit_start;
  }
  const std::uint64_t end =
      std::max(offset + length, std::min(piece_.end_bytes(), offset + kWindowBytes));
  begin_ = end_ = offset;
  for (std::uint64_t loaded = offset; loaded < end;) {
    const std::uint64_t step = std::min(kWindowBytes, end - loaded);
    CRAWLSTORE_TRY(source_.view({loaded, step}));
    loaded += step;
    CRAWLSTORE_TRY(progress_(0));
  }
  CRAWLSTORE_TRY(const auto whole, source_.view({offset, end - offset}));
  data_ = whole;
  end_ = end;
  return {};
}

}  // namespace crawlstore::container
