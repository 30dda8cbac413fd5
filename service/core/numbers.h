// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Numbers as records and the protocol's messages have them: LEB128, seven bits a byte, the lowest
/// first. Threads: pure functions.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace crawlstore::service {

void put_number(std::string& bytes, std::uint64_t number);
/// Takes a number off the front.
///   nothing  there is none, or it has more than 64 bits
std::optional<std::uint64_t> take_number(std::string_view& bytes);

}  // namespace crawlstore::service
