// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The words that tests of page databases say often.

#include <gtest/gtest.h>

#include <crawlstore/page_view.h>
#include <crawlstore/tools/verify.h>

#include "drum/memory_store.h"

namespace crawlstore::testing {

inline PageView view_of(const Store& store) {
  return must(PageView::open(must(store.snapshot())));
}

/// Deep verification finds nothing.
inline void expect_whole(const MemoryStore& store) {
  VerifyOptions options;
  options.level = VerifyLevel::kDeep;
  const auto report = must(verify(*open_memory_storage(store.file(), OpenMode::kRead), options));
  for (const Finding& finding : report.findings) ADD_FAILURE() << describe(finding.error);
}

}  // namespace crawlstore::testing
