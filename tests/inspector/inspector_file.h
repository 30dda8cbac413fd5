// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Words for the tests of the inspector: goldens, writers, and a shell that is asked things.

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <crawlstore/drum_view.h>
#include <crawlstore/store.h>
#include <crawlstore/url_seen.h>

#include "inspector/shell/headless_shell.h"
#include "support/temporary_folder.h"

namespace crawlstore::testing {

inline std::string golden(const std::string& name) {
  return std::string(CRAWLSTORE_SOURCE_DIR) + "/tests/golden/valid/" + name + ".crawl";
}

/// The URLs that wait in tests/golden/valid/unicode.crawl, as the library has them.
inline std::vector<std::string> waiting_urls() {
  std::vector<std::string> urls;
  const auto snapshot = Snapshot::open(golden("unicode"), {.pin = false});
  const auto view = DrumView::open(*snapshot, list_drums(*snapshot)->front().name);
  EXPECT_TRUE(view->for_each_pending(
      [&](std::uint64_t /*bucket*/, const RawRequest& request, std::uint64_t /*sequence*/) {
        std::string& url = urls.emplace_back();
        for (const std::byte byte : request.aux) url += static_cast<char>(byte);
        return true;
      }));
  return urls;
}

/// Runs a step that must succeed.
inline void run_step(inspector::HeadlessShell& shell, const std::string& verb,
                     const std::string& argument = {}) {
  EXPECT_EQ(shell.run_step({0, verb, argument}), "") << verb << " " << argument;
}

/// A shell with a file open.
inline void open_file(inspector::HeadlessShell& shell, const std::string& path) {
  run_step(shell, "open", path);
}

/// Adds URLs page/FIRST .. to the DRUM `urls`, merges and commits.
inline void add_urls(Store& store, std::uint64_t first, std::uint64_t count) {
  auto seen = UrlSeen::open(store);
  ASSERT_TRUE(seen);
  for (std::uint64_t i = first; i < first + count; ++i) {
    ASSERT_TRUE(seen->update("http://example.org/page/" + std::to_string(i)));
  }
  ASSERT_TRUE(seen->drum().merge());
  ASSERT_TRUE(store.commit());
}

}  // namespace crawlstore::testing
