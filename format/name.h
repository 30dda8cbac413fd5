// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Names of the parts of a store and of consumers: spec/container.md#names. Pure; any thread.

#include <string_view>

#include <crawlstore/error.h>

namespace crawlstore::format {

/// Whether the name is at most kNameBytesMax bytes of strict UTF-8 (shortest forms, no surrogates,
/// up to U+10FFFF) without control characters (U+0000-U+001F, U+007F-U+009F). Empty is valid.
bool is_valid_name(std::string_view name);

/// That a caller may give this name to a part of a store.
///   errors  kTooLarge: it is empty or too long; kInvalidArgument: it is not valid
Result<void> check_name(std::string_view name);

}  // namespace crawlstore::format
