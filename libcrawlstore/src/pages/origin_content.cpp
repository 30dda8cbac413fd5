// SPDX-License-Identifier: Apache-2.0
#include "pages/origin_content.h"

#include <algorithm>

#include "format/endian.h"
#include "format/invalid.h"
#include "format/origin_index.h"

namespace crawlstore::pages {

using container::ContentProgress;
using container::PayloadSource;
using container::PayloadWindow;
using format::invalid;
namespace {

constexpr std::uint64_t kProgressBytes = 1024 * 1024;
/// More than any block that keeps the limits.
constexpr std::uint64_t kBlockBytesMax = std::uint64_t{17} << 20;

/// Walks the blocks of an origin run beside its index.
class OriginBlockWalk {
 public:
  OriginBlockWalk(const PayloadSource& payload, const format::OriginFooter& footer,
                  format::OriginBlockDecoder decoder, const ContentProgress& progress)
      : footer_(footer),
        decoder_(std::move(decoder)),
        rules_(footer),
        progress_(progress),
        blocks_(payload,
                {footer.dictionary_bytes, footer.index_offset_bytes - footer.dictionary_bytes},
                progress),
        index_(payload, {footer.index_offset_bytes, index_bytes(payload.length_bytes)}, progress) {}

  Result<void> walk(std::uint64_t payload_bytes) {
    std::uint64_t reported = 0;
    for (std::uint64_t i = 0; i < footer_.block_count; ++i) {
      CRAWLSTORE_TRY(walk_block(i));
      if (rules_.offset_bytes() - reported < kProgressBytes) continue;
      CRAWLSTORE_TRY(progress_(rules_.offset_bytes() - reported));
      reported = rules_.offset_bytes();
    }
    const std::uint64_t index_end = format::origin_index_end(footer_);
    const std::uint64_t padding_bytes = payload_bytes - sizeof footer_ - index_end;
    CRAWLSTORE_TRY(const auto padding, in_index({index_end, padding_bytes}));
    CRAWLSTORE_TRY(rules_.finish({padding, padding_bytes}));
    if (url_bytes_ != footer_.url_bytes) {
      return invalid("the URLs of an origin run have another length than its footer says",
                     payload_bytes - sizeof footer_);
    }
    return progress_(payload_bytes - reported);
  }

 private:
  [[nodiscard]] std::uint64_t index_bytes(std::uint64_t payload_bytes) const {
    return payload_bytes - sizeof footer_ - footer_.index_offset_bytes;
  }

  Result<const std::byte*> in_index(Extent place) {
    if (place.length_bytes == 0) return nullptr;
    return index_.at(place.offset_bytes, place.length_bytes);
  }

  Result<void> walk_block(std::uint64_t i) {
    const Extent place = format::origin_entry_place(footer_, i);
    CRAWLSTORE_TRY(const auto entry, in_index(place));
    const std::uint64_t offset = rules_.offset_bytes();
    CRAWLSTORE_TRY(decode(offset));
    url_bytes_ += decoder_.url_bytes();
    return rules_.take(format::load_origin_entry(footer_, entry), decoder_.page_count(),
                       decoder_.block_bytes());
  }

  /// The block at `offset`. It is loaded only as far as it must be: most are short.
  Result<void> decode(std::uint64_t offset) {
    const std::uint64_t length = std::min(footer_.index_offset_bytes - offset, kBlockBytesMax);
    if (length == 0) return invalid("an origin run has fewer blocks than it says", offset);
    Result<void> decoded;
    for (const std::uint64_t tried : {std::min(length, PayloadWindow::kWindowBytes), length}) {
      CRAWLSTORE_TRY(const auto bytes, blocks_.at(offset, tried));
      decoded = decoder_.decode({bytes, tried}, footer_.first_page + rules_.page());
      if (decoded || tried == length) break;
    }
    if (!decoded) decoded.error().offset += offset;
    return decoded;
  }

  const format::OriginFooter footer_;
  format::OriginBlockDecoder decoder_;
  format::OriginIndexRules rules_;
  const ContentProgress& progress_;
  PayloadWindow blocks_;
  PayloadWindow index_;
  std::uint64_t url_bytes_ = 0;
};

}  // namespace

Result<container::RunContentPtr> check_origin_run(const PayloadSource& payload,
                                                  const ContentProgress& progress) {
  const auto footer_bytes =
      std::min<std::uint64_t>(payload.length_bytes, sizeof(format::OriginFooter));
  CRAWLSTORE_TRY(const auto bytes,
                 payload.view({payload.length_bytes - footer_bytes, footer_bytes}));
  CRAWLSTORE_TRY(const auto footer,
                 format::parse_origin_footer({bytes, footer_bytes}, payload.length_bytes));
  std::vector<std::byte> dictionary(footer.dictionary_bytes);
  if (!dictionary.empty()) {
    CRAWLSTORE_TRY(const auto view, payload.view({0, dictionary.size()}));
    std::copy_n(view, dictionary.size(), dictionary.begin());
  }
  CRAWLSTORE_TRY(auto decoder, format::OriginBlockDecoder::make(codec_of(footer), dictionary));
  CRAWLSTORE_TRY(
      OriginBlockWalk(payload, footer, std::move(decoder), progress).walk(payload.length_bytes));
  auto content = std::make_unique<OriginContent>(footer.page_count);
  content->page_min = footer.first_page;
  content->page_max = footer.first_page + footer.page_count - 1;
  return content;
}

}  // namespace crawlstore::pages
