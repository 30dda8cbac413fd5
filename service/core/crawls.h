// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <crawlstore/pages.h>
#include <crawlstore/store.h>

#include "service/core/crawl.h"

namespace crawlstore::service {

struct CrawlsOptions {
  std::uint64_t memory_bytes = std::uint64_t{32} << 20;  ///< of each crawl, and of the pages
  /// The order of URLs in a queue (Settings); nothing: as the file has it.
  std::optional<bool> is_by_priority{};
  /// Further URLs are pages, too, also when the file is opened again without it.
  bool has_pages = false;
  std::optional<Node> node{};  ///< nothing: as the file has it
};

/// The crawls of a store, and what belongs to the service itself.
/// Threads: one at a time. Errors: those of Store and Crawl.
class Crawls {
 public:
  /// Opens all crawls of the store, which must outlive them. Commits what is new.
  ///   errors  kInvalidArgument: crawls of the file are in the other order, or of another node;
  ///           its page database has no URLs; those of Crawl::open() and PageDb::open()
  static Result<Crawls> open(Store& store, const CrawlsOptions& options);

  /// The ID under which a crawl is kept: an empty one is that of "DEFAULT".
  static std::string_view id_of(std::string_view given) {
    return given.empty() ? "DEFAULT" : given;
  }
  /// errors  kUnknownName: it is not open
  [[nodiscard]] Result<Crawl*> find(std::string_view id) const;
  /// Returns why make() has refused an ID; nullptr: it has not, or that was long ago.
  [[nodiscard]] const Error* refusal(std::string_view id) const;
  /// Makes a crawl, or opens it. Outside of transactions.
  ///   errors  kInvalidArgument: the ID; kTooLarge: it, or there are kCrawlsMax
  [[nodiscard]] Result<Crawl*> make(std::string_view id);
  static constexpr std::size_t kCrawlsMax = 1000;
  [[nodiscard]] std::vector<Crawl*> all() const;
  /// Crawls with a URL, in the order of their IDs.
  [[nodiscard]] Result<std::vector<std::string>> ids();
  /// Forgets a crawl. Returns how many URLs it had. Outside of transactions; commits.
  [[nodiscard]] Result<std::uint64_t> forget(std::string_view id);

  /// Makes a page of a URL that is new, where URLs are pages.
  ///   score  finite; beyond a float it counts as the largest
  [[nodiscard]] Result<void> add_page(std::string_view url, double score);

  [[nodiscard]] const Node& node() const { return settings_.node; }
  /// Whether URLs are given out; a state in the file.
  [[nodiscard]] bool is_active() const { return settings_.is_active; }
  [[nodiscard]] Result<void> set_active(bool is_active);

  /// Before a commit.
  [[nodiscard]] Result<void> write_counts();
  /// After a transaction was dropped.
  void drop_counts();
  /// Between transactions.
  [[nodiscard]] Result<void> merge_if_full();
  /// Merges the pages before.
  [[nodiscard]] Result<void> close();

 private:
  Crawls(Store& store, std::uint64_t memory_bytes) : store_(&store), memory_bytes_(memory_bytes) {}
  [[nodiscard]] Result<void> set_up(const CrawlsOptions& options, bool has_crawls);

  Store* store_;
  std::uint64_t memory_bytes_;
  Settings settings_;
  std::map<std::string, std::unique_ptr<Crawl>, std::less<>> open_;
  std::map<std::string, Error, std::less<>> refused_;  // IDs that no crawl can have, some
  std::optional<PageDb> pages_;
};

}  // namespace crawlstore::service
