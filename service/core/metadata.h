// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The metadata of a URL, as a record has them: a message URLInfo of the protocol that has metadata
/// alone, read and written without protobuf. Threads: pure functions.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace crawlstore::service {

/// Values by their names.
using Metadata = std::map<std::string, std::vector<std::string>>;

/// The bytes of a record's metadata; empty without any.
std::string encode(const Metadata& metadata);
/// Takes all bytes that protobuf takes, but groups; whether texts are UTF-8 is not looked at.
/// Fields that are none of metadata are left out.
///   nothing  these are not the bytes of such a message
///   cost     one pass over the bytes; memory: some times theirs
std::optional<Metadata> decode_metadata(std::string_view bytes);

}  // namespace crawlstore::service
