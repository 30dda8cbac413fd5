// SPDX-License-Identifier: Apache-2.0
#pragma once

/// URLs of crawlstored, the service on a crawl file, as the bodies of its items have them. Bytes:
/// spec/service.md, Record. Ownership: values. Threads: plain functions.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <crawlstore/frontier_view.h>

namespace crawlstore::model {

/// Whether a frontier of the snapshot is a crawl of crawlstored, whose bodies are records: it has
/// ids of its own, and a DRUM has its known URLs.
bool has_url_records(const Snapshot& snapshot, const FrontierInfo& frontier);

struct UrlRecord {
  std::string url;
  std::int64_t created_us = 0;
  std::uint64_t metadata_bytes = 0;
};
/// Returns nothing if the bytes are no record. `group` is the key of the item's group.
std::optional<UrlRecord> read_url_record(std::string_view bytes, std::string_view group);

}  // namespace crawlstore::model
