// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A store with one of its URL DRUMs open, for `seen` and `import`.
///
/// Two consumers: 0, whose verdicts `seen` prints, and "crawlstore import", which only counts.
/// Verdicts that an interrupted `seen` left unwritten are therefore never swallowed by an import:
/// they wait in the file for the next `seen`. Threads: one at a time; a keyer that was taken has
/// its own.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <crawlstore/url_seen.h>

namespace crawlstore::cli {

struct UrlSessionOptions {
  std::string path;
  std::string drum = "urls";
  std::optional<std::uint64_t> memory_bytes;
  double lock_wait_seconds = 0;
  bool raw = false;
  Repeats repeats = Repeats::kAnswer;
};

class UrlSession {
 public:
  /// Opens FILE and the DRUM, making what does not exist.
  static Result<UrlSession> open(const UrlSessionOptions& options);

  [[nodiscard]] Store& store() { return store_; }
  [[nodiscard]] DrumCore& core() { return urls_.drum().core(); }
  [[nodiscard]] ConsumerId import_consumer() const { return import_consumer_; }
  [[nodiscard]] std::uint64_t memory_bytes() const { return memory_bytes_; }
  /// Makes the DRUM's keys, on any one thread.
  [[nodiscard]] UrlKeyer keyer() const { return urls_.keyer(); }
  /// UrlSeen::remember_page.
  Result<void> remember_page(std::string_view url, Key16 key) {
    return urls_.remember_page(url, key);
  }

  /// Merges everything, or only when a bucket calls for it; returns how many requests were
  /// answered.
  Result<std::uint64_t> merge(bool everything);

  /// Commits, and gives the file back.
  Result<void> close();

 private:
  UrlSession(Store store, UrlSeen urls, std::uint64_t memory_bytes)
      : store_(std::move(store)), urls_(std::move(urls)), memory_bytes_(memory_bytes) {}

  Store store_;
  UrlSeen urls_;
  std::uint64_t memory_bytes_;
  ConsumerId import_consumer_;
};

}  // namespace crawlstore::cli
