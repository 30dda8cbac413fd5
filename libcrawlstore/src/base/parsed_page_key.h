// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Page keys of URLs that are known to be parsed: as crawlstore/page_key.h, without asking again,
/// which takes as long as normalising a URL.
///
/// `normalized` is `text` of a NormalizedUrl whose `parsed` is true; of any other text the result
/// is some key. Threads: pure functions.

#include <cstdint>
#include <string_view>

#include <crawlstore/page_key.h>

namespace crawlstore {

[[nodiscard]] PageKey parsed_page_key(std::string_view normalized, std::uint64_t key_seed);

}  // namespace crawlstore
