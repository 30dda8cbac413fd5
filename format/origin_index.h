// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The bytes after the blocks of an origin run: the index and the footer.
/// spec/pages.md#origin-runs. Pure functions over bytes; any thread.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <crawlstore/error.h>
#include <crawlstore/types.h>

#include "layout.h"
#include "origin_block.h"

namespace crawlstore::format {

/// The beginning of a block.
struct OriginEntry {
  std::uint64_t page = 0;          ///< its first one, counted from that of the run
  std::uint64_t offset_bytes = 0;  ///< in the payload
};

inline OriginCodec codec_of(const OriginFooter& footer) {
  return static_cast<OriginCodec>(footer.codec);
}
/// The bytes of an entry of the index.
inline std::uint64_t entry_bytes(const OriginFooter& footer) {
  return std::uint64_t{footer.entry_page_bytes} + footer.entry_offset_bytes;
}

/// Appends index and footer to `out`. `footer` says first_page, page_count, url_bytes,
/// dictionary_bytes and codec; the rest follows from the entries and from `blocks_end`, where the
/// index begins in the payload.
void encode_origin_tail(std::span<const OriginEntry> entries, OriginFooter footer,
                        std::uint64_t blocks_end, std::vector<std::byte>& out);

/// errors kSegmentInvalid. `footer_bytes` is the last 64 bytes, `payload_bytes` the whole length;
/// counts and offsets are consistent with it when this returns.
Result<OriginFooter> parse_origin_footer(std::span<const std::byte> footer_bytes,
                                         std::uint64_t payload_bytes);

/// Entry i in the payload.
Extent origin_entry_place(const OriginFooter& footer, std::uint64_t i);

/// The entry, as its bytes say. A reader bounds it when it uses it.
OriginEntry load_origin_entry(const OriginFooter& footer, const std::byte* entry);

/// That the entries, taken one after another, are those of the blocks. Deep verification needs it.
/// errors kSegmentInvalid (offset relative to the payload)
class OriginIndexRules {
 public:
  explicit OriginIndexRules(const OriginFooter& footer)
      : footer_(footer), offset_bytes_(footer.dictionary_bytes) {}
  /// The next entry, that of the block which has these pages and bytes.
  Result<void> take(const OriginEntry& entry, std::uint64_t page_count, std::uint64_t block_bytes);
  /// After the last one. `padding` is what stands between it and the footer.
  [[nodiscard]] Result<void> finish(std::span<const std::byte> padding) const;
  /// The offset at which the next block begins.
  [[nodiscard]] std::uint64_t offset_bytes() const { return offset_bytes_; }
  [[nodiscard]] std::uint64_t page() const { return page_; }

 private:
  const OriginFooter footer_;
  std::uint64_t count_ = 0;
  std::uint64_t page_ = 0;
  std::uint64_t offset_bytes_;
  OriginEntry last_;
};

/// The offset at which the index ends and the padding begins.
std::uint64_t origin_index_end(const OriginFooter& footer);

}  // namespace crawlstore::format
