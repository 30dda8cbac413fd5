// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Handles of the C interface. Each shares the store, or owns a snapshot, so that handles may be
/// freed in any order: a member is destroyed before those above it.

#include <memory>
#include <string>

#include <crawlstore/crawlstore.h>
#include <crawlstore/page_view.h>
#include <crawlstore/snapshot.h>
#include <crawlstore/store.h>

struct crwl_store {
  std::shared_ptr<crawlstore::Store> store;
};

struct crwl_view {
  std::string path;
  std::string name;
  crawlstore::Snapshot snapshot;
  crawlstore::PageView pages;
};
