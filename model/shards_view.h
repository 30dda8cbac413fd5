// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The shards of a crawl side by side: how far each is, and whether they are all there.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <crawlstore/page_view.h>
#include <crawlstore/shard_exchange.h>

#include "model/table.h"

namespace crawlstore::model {

struct ShardRow {
  std::string path;
  std::uint64_t key_seed = 0;
  ExchangeState state;
  PagesInfo pages;  ///< of a database that is not there yet: none
};

/// Reads the row of a file. errors as read_exchange()
Result<ShardRow> shard_row(const std::string& path, const Snapshot& snapshot,
                           std::string_view database);

/// Says to people why the rows are no whole crawl; empty: they are.
std::string shards_problem(std::span<const ShardRow> rows);

/// Sums, and the table `shards`, in the order of the rows. Pages are those that are not elsewhere.
Document shards_view(std::span<const ShardRow> rows);

}  // namespace crawlstore::model
