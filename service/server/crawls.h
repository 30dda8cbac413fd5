// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <crawlstore/store.h>

#include "service/core/crawl.h"

namespace crawlstore::service {

/// The crawls of a store, and what belongs to the service itself.
/// Threads: one at a time. Errors: those of Store and Crawl.
class Crawls {
 public:
  /// Opens all crawls of the store, which must outlive them.
  ///   memory_bytes  of the table of known URLs of each crawl
  static Result<Crawls> open(Store& store, std::uint64_t memory_bytes);

  /// The ID under which a crawl is kept: an empty one is that of "DEFAULT".
  static std::string_view id_of(std::string_view given) {
    return given.empty() ? "DEFAULT" : given;
  }
  /// errors  kUnknownName: it is not open; those of make() where that has refused it
  [[nodiscard]] Result<Crawl*> find(std::string_view id) const;
  [[nodiscard]] bool refuses(std::string_view id) const { return refused_.contains(id); }
  /// Makes a crawl, or opens it. Outside of transactions.
  ///   errors  kInvalidArgument: the ID; kTooLarge: it, or there are kCrawlsMax
  [[nodiscard]] Result<Crawl*> make(std::string_view id);
  static constexpr std::size_t kCrawlsMax = 1000;
  [[nodiscard]] std::vector<Crawl*> all() const;
  /// Crawls with a URL, in the order of their IDs.
  [[nodiscard]] Result<std::vector<std::string>> ids();
  /// Forgets a crawl. Returns how many URLs it had. Outside of transactions; commits.
  [[nodiscard]] Result<std::uint64_t> forget(std::string_view id);

  /// Whether URLs are given out; a state in the file.
  [[nodiscard]] bool is_active() const { return is_active_; }
  [[nodiscard]] Result<void> set_active(bool is_active);

  /// Before a commit.
  [[nodiscard]] Result<void> write_counts();
  /// After a transaction was dropped.
  void drop_counts();
  /// Between transactions.
  [[nodiscard]] Result<void> merge_if_full();
  [[nodiscard]] Result<void> close();

 private:
  Crawls(Store& store, std::uint64_t memory_bytes) : store_(&store), memory_bytes_(memory_bytes) {}

  Store* store_;
  std::uint64_t memory_bytes_;
  std::map<std::string, std::unique_ptr<Crawl>, std::less<>> open_;
  std::map<std::string, Error, std::less<>> refused_;  // IDs that no crawl can have, some
  bool is_active_ = true;
};

}  // namespace crawlstore::service
