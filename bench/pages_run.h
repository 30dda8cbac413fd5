// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The shared parts of drivers of page databases. The made-up crawl of pages_stream.h goes into a
/// new store, page after page. Then random pages are looked up, and compared with the crawl.
///
/// A driver is a PagesStore; pages_main() does the rest and prints a line of JSON.
/// Errors: fail(). Threads: one.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include <crawlstore/crawl_event.h>

#include "seen_run.h"

namespace crawlstore::bench {

struct PagesRunOptions {
  std::string path;
  std::uint64_t pages = 0;         ///< crawled
  std::uint64_t memory_bytes = 0;  ///< what the store may take for itself
  double stop_seconds = 0;         ///< no new pages after that time; 0 = never
  std::uint64_t lookups = 20000;
};

/// The result of a look-up of a URL.
struct FoundPage {
  std::uint64_t index = 0;
  std::uint64_t crawl_count = 0;
  std::string url;
};

class PagesStore {
 public:
  PagesStore() = default;
  PagesStore(const PagesStore&) = delete;
  PagesStore& operator=(const PagesStore&) = delete;
  virtual ~PagesStore() = default;

  [[nodiscard]] virtual std::string name() const = 0;
  [[nodiscard]] virtual std::string tuning() const = 0;
  /// A crawled page with all its links.
  virtual void add(const CrawlEvent& event) = 0;
  /// The number of times that waiting pages went into the file.
  virtual std::uint64_t step_count() = 0;
  /// Everything is in the file, and can be looked up. The clock stops after it.
  virtual void finish() = 0;
  /// Fails when the page is not there.
  virtual FoundPage find(std::string_view url) = 0;
  virtual void out_links(std::uint64_t index, std::vector<std::uint64_t>& links) = 0;
  /// Returns false where there is no way to know.
  virtual bool in_links(std::uint64_t index, std::vector<std::uint64_t>& links) = 0;
  /// Figures that only this store has, after all look-ups.
  virtual nlohmann::ordered_json figures() = 0;
};

using OpenPagesStore = std::function<std::unique_ptr<PagesStore>(const PagesRunOptions& options)>;

/// `own`: options that only this driver has.
int pages_main(int argc, char** argv, const OpenPagesStore& open,
               std::span<const OwnOption> own = {});

}  // namespace crawlstore::bench
