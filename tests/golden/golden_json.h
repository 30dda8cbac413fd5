// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include <nlohmann/json.hpp>

#include <crawlstore/error.h>

namespace crawlstore::testing {

/// All of a crawl file's newest generation as the library reads it: the document that
/// spec/reader.py prints for the same file. A deep verification without damage comes first.
Result<nlohmann::json> read_as_json(std::span<const std::byte> file);

}  // namespace crawlstore::testing
