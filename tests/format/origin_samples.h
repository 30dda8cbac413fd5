// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Origins of pages and what is made of them: shared by the tests of origin runs.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "format/origin_block.h"
#include "format/origin_index.h"

namespace crawlstore::testing {

using Bytes = std::vector<std::byte>;

/// An origin that owns its URL.
struct Page {
  std::string url;
  std::optional<std::uint64_t> linked_from;
  std::uint32_t depth = 0;
  bool by_redirect = false;
  [[nodiscard]] format::Origin origin() const { return {url, linked_from, depth, by_redirect}; }
  static Page of(const format::Origin& origin) {
    return {std::string(origin.url), origin.linked_from, origin.depth, origin.by_redirect};
  }
  friend bool operator==(const Page&, const Page&) = default;
};
using Pages = std::vector<Page>;

/// Pages from `first_page` on: URLs of a few sites, some linked from any page before.
inline Pages site_pages(std::size_t count, std::uint64_t first_page = 0, std::uint64_t seed = 1) {
  std::mt19937_64 random(seed);
  Pages pages(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t page = first_page + i;
    pages[i].url = "http://site" + std::to_string(random() % 9) + ".test/section" +
                   std::to_string(random() % 30) + "/page" + std::to_string(page) + ".html";
    if (page != 0 && random() % 8 != 0) pages[i].linked_from = random() % page;
    pages[i].depth = static_cast<std::uint32_t>(pages[i].linked_from ? 1 + random() % 6 : 0);
  }
  return pages;
}

/// Pages of any bytes and of any numbers, URLs of up to `url_bytes_max`.
inline Pages odd_pages(std::size_t count, std::uint64_t first_page, std::size_t url_bytes_max,
                       std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Pages pages(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t page = first_page + i;
    pages[i].url.resize(random() % (url_bytes_max + 1) >> random() % 12);
    for (char& letter : pages[i].url) letter = static_cast<char>(random());
    const std::uint64_t distance = random() >> random() % 64;
    if (distance != 0 && distance <= page) pages[i].linked_from = page - distance;
    pages[i].depth = static_cast<std::uint32_t>(random() >> (33 + random() % 31));
    pages[i].by_redirect = pages[i].linked_from && random() % 4 == 0;
  }
  return pages;
}

/// An origin run made with the codecs alone.
inline Bytes origin_run(const Pages& pages, std::uint64_t first_page, const Bytes& dictionary = {},
                        format::OriginCodec codec = format::OriginCodec::kZstd) {
  format::FrameCompressor zstd(dictionary, 6);
  format::FrameCompressor* compressor = codec == format::OriginCodec::kZstd ? &zstd : nullptr;
  Bytes payload = dictionary;
  std::vector<format::OriginEntry> entries;
  format::OriginFooter footer{};
  format::OriginBatch batch(first_page);
  const auto flush = [&] {
    entries.push_back({batch.first_page() - first_page, payload.size()});
    batch.encode(compressor, payload);
    batch = format::OriginBatch(batch.first_page() + batch.page_count());
  };
  for (const Page& page : pages) {
    if (!batch.has_room(page.url.size())) flush();
    batch.add(page.origin());
    footer.url_bytes += page.url.size();
  }
  flush();
  footer.first_page = first_page;
  footer.page_count = pages.size();
  footer.dictionary_bytes = static_cast<std::uint32_t>(dictionary.size());
  footer.codec = static_cast<std::uint16_t>(codec);
  encode_origin_tail(entries, footer, payload.size(), payload);
  return payload;
}

}  // namespace crawlstore::testing
