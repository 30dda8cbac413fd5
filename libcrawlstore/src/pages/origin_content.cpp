// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "container/blocked_run.h"
#include "format/invalid.h"
#include "format/origin_index.h"
#include "pages/page_content.h"

namespace crawlstore::pages {

using container::ContentProgress;
using container::PayloadSource;
using container::PayloadWindow;
using format::invalid;
namespace {

/// More than any block that keeps the limits.
constexpr std::uint64_t kBlockBytesMax = std::uint64_t{17} << 20;

/// The blocks of an origin run, for check_blocked(): each begins where the one before it ends.
class OriginRunWalk {
 public:
  OriginRunWalk(const PayloadSource& payload, const format::OriginFooter& footer,
                format::OriginBlockDecoder decoder, const ContentProgress& progress)
      : footer_(footer),
        footer_offset_(payload.length_bytes - sizeof footer),
        decoder_(std::move(decoder)),
        rules_(footer),
        blocks_(payload,
                {footer.dictionary_bytes, footer.index_offset_bytes - footer.dictionary_bytes},
                progress),
        index_(payload, {footer.index_offset_bytes, footer_offset_ - footer.index_offset_bytes},
               progress) {}

  Result<format::OriginEntry> entry(std::uint64_t i) {
    if (i == footer_.block_count) return format::OriginEntry{};
    CRAWLSTORE_TRY(const auto bytes, in_index(format::origin_entry_place(footer_, i)));
    return format::load_origin_entry(footer_, bytes);
  }

  Result<std::uint64_t> check_block(const format::OriginEntry& entry, std::uint64_t /*end*/) {
    const std::uint64_t offset = rules_.offset_bytes();
    const std::uint64_t length = std::min(footer_.index_offset_bytes - offset, kBlockBytesMax);
    if (length == 0) return invalid("an origin run has fewer blocks than it says", offset);
    CRAWLSTORE_TRY(container::parse_block(blocks_, {offset, length}, [&](auto bytes) {
      return decoder_.decode(bytes, footer_.first_page + rules_.page());
    }));
    url_bytes_ += decoder_.url_bytes();
    CRAWLSTORE_TRY(rules_.take(entry, decoder_.page_count(), decoder_.block_bytes()));
    return rules_.offset_bytes();
  }

  Result<void> check_end() {
    const std::uint64_t index_end = format::origin_index_end(footer_);
    const std::uint64_t padding_bytes = footer_offset_ - index_end;
    CRAWLSTORE_TRY(const auto padding, in_index({index_end, padding_bytes}));
    CRAWLSTORE_TRY(rules_.finish({padding, padding_bytes}));
    if (url_bytes_ == footer_.url_bytes) return {};
    return invalid("the URLs of an origin run have another length than its footer says",
                   footer_offset_);
  }

 private:
  Result<const std::byte*> in_index(Extent place) {
    if (place.length_bytes == 0) return nullptr;
    return index_.at(place.offset_bytes, place.length_bytes);
  }

  const format::OriginFooter& footer_;
  const std::uint64_t footer_offset_;
  format::OriginBlockDecoder decoder_;
  format::OriginIndexRules rules_;
  PayloadWindow blocks_;
  PayloadWindow index_;
  std::uint64_t url_bytes_ = 0;
};

}  // namespace

Result<container::RunContentPtr> check_origin_run(const PayloadSource& payload,
                                                  const ContentProgress& progress) {
  CRAWLSTORE_TRY(const auto footer, container::read_footer(payload, format::parse_origin_footer));
  std::vector<std::byte> dictionary(footer.dictionary_bytes);
  if (!dictionary.empty()) {
    CRAWLSTORE_TRY(const auto view, payload.view({0, dictionary.size()}));
    std::copy_n(view, dictionary.size(), dictionary.begin());
  }
  CRAWLSTORE_TRY(auto decoder, format::OriginBlockDecoder::make(codec_of(footer), dictionary));
  OriginRunWalk walk(payload, footer, std::move(decoder), progress);
  CRAWLSTORE_TRY(
      container::check_blocked(walk, footer.block_count, payload.length_bytes, progress));
  auto content = std::make_unique<OriginContent>(footer.page_count);
  content->page_min = footer.first_page;
  content->page_max = footer.first_page + footer.page_count - 1;
  return content;
}

}  // namespace crawlstore::pages
