// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The block index and the footer of a link run: spec/links.md#link-runs. Pure functions over
/// bytes; any thread.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <crawlstore/error.h>

#include "layout.h"
#include "link_block.h"

namespace crawlstore::format {

/// codec of LinkRunFooter: the run has blocks of link_block.h. Another one is kDenseFamily.
inline constexpr std::uint16_t kLinkFamily = 1;

/// The length of the index and the footer.
constexpr std::uint64_t link_tail_bytes(std::uint64_t block_count) {
  return block_count * sizeof(LinkIndexEntry) + sizeof(LinkRunFooter);
}

/// Appends the bytes that end a link run. `blocks_bytes` is the length of all blocks; there must be
/// one.
void encode_link_tail(std::span<const LinkIndexEntry> index, const LinkTotals& totals,
                      std::uint64_t blocks_bytes, std::vector<std::byte>& out);

/// `footer_bytes` is the last 72 bytes, `payload_bytes` the whole length; counts and offsets are
/// consistent with it when this returns.
/// errors kSegmentInvalid (offset relative to the payload)
Result<LinkRunFooter> parse_link_footer(std::span<const std::byte> footer_bytes,
                                        std::uint64_t payload_bytes);

/// That first pages and offsets ascend and stay in range, for entries taken one after another. A
/// reader that bounds each offset when it uses it does not need this; deep verification does.
/// errors kSegmentInvalid (offset relative to the payload)
class LinkIndexRules {
 public:
  explicit LinkIndexRules(const LinkRunFooter& footer) : footer_(footer) {}
  /// The next entry; there are as many as blocks.
  Result<void> take(const LinkIndexEntry& entry);

 private:
  const LinkRunFooter& footer_;
  std::uint64_t count_ = 0;
  LinkIndexEntry last_{};
};

}  // namespace crawlstore::format
