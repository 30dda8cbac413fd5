// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Lines of the client of URLFrontier: what its DumpURLs writes and its PutURLs reads. A line is a
/// message URLItem in the JSON of protobuf, or a URL alone. Threads: one a parser.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "service/core/crawl.h"

namespace crawlstore::cli {

/// A URL as a line has it.
struct UrlItem {
  std::string url{};
  std::string key{};                         ///< of its queue
  std::string crawl{};                       ///< ID
  std::string metadata{};                    ///< as a record has them
  double priority = 0;                       ///< that the metadata say
  std::optional<std::uint64_t> refetch_s{};  ///< 0: it is completed; nothing: it is discovered
  std::optional<std::uint64_t> created_s{};
};

class UrlItemParser {
 public:
  /// Bytes of a line, at most: some times what a crawl takes.
  static constexpr std::size_t kLineBytesMax = std::size_t{1} << 20;

  /// `crawl`: the ID of the crawl of URLs that stand alone.
  explicit UrlItemParser(std::string crawl);
  ~UrlItemParser();
  UrlItemParser(const UrlItemParser&) = delete;
  UrlItemParser& operator=(const UrlItemParser&) = delete;

  /// Returns a URL that a crawl can take, until the next call. An empty key has become its host,
  /// an empty crawl the one that this means. Unknown fields are left out.
  ///   errors  kInvalidArgument, with what is wrong
  [[nodiscard]] Result<const UrlItem*> parse(std::string_view line);

 private:
  struct Json;
  std::string crawl_;
  std::unique_ptr<Json> json_;
  UrlItem item_;
};

/// The part of a URL that is not in its line, as JSON takes UTF-8 alone.
enum class UrlItemLoss : std::uint8_t { kNone, kMetadata, kAll };
/// Appends the line of a URL, with its end.
UrlItemLoss append_url_item(std::string& to, const service::KnownUrl& url, std::string_view queue,
                            std::string_view crawl);

}  // namespace crawlstore::cli
