// SPDX-License-Identifier: Apache-2.0

#include <crawlstore/types.h>

namespace crawlstore {

std::string to_string(const Uuid& uuid) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(36);
  for (std::size_t byte_index = 0; byte_index < uuid.size(); ++byte_index) {
    if (byte_index == 4 || byte_index == 6 || byte_index == 8 || byte_index == 10) text += '-';
    const auto byte = std::to_integer<unsigned>(uuid[byte_index]);
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

std::string_view name_of(StorageClass storage_class) {
  switch (storage_class) {
    case StorageClass::kBlob:
      return "blob";
    case StorageClass::kLog:
      return "log";
    case StorageClass::kTiled:
      return "tiled";
  }
  return "unknown";
}

std::string_view name_of(KeyScheme scheme) {
  switch (scheme) {
    case KeyScheme::kOpaque:
      return "opaque";
    case KeyScheme::kUrl:
      return "url";
    case KeyScheme::kUrlRabin:
      return "url_rabin";
    case KeyScheme::kPage:
      return "page";
  }
  return "unknown";
}

std::string_view name_of(PageState state) {
  switch (state) {
    case PageState::kKnown:
      return "known";
    case PageState::kCrawled:
      return "crawled";
    case PageState::kGone:
      return "gone";
    case PageState::kFailed:
      return "failed";
    case PageState::kRedirect:
      return "redirect";
    case PageState::kDenied:
      return "denied";
    case PageState::kDuplicate:
      return "duplicate";
    case PageState::kElsewhere:
      return "elsewhere";
  }
  return "unknown";
}

std::string_view name_of(Scorer scorer) {
  switch (scorer) {
    case Scorer::kPageRank:
      return "page_rank";
    case Scorer::kHitsAuthority:
      return "hits_authority";
    case Scorer::kHitsHub:
      return "hits_hub";
    case Scorer::kOpicCash:
      return "opic_cash";
    case Scorer::kOpicHistory:
      return "opic_history";
    case Scorer::kOpicCrawls:
      return "opic_crawls";
    case Scorer::kOwn:
      break;
  }
  return scorer >= Scorer::kOwn ? "own" : "unknown";
}

}  // namespace crawlstore
