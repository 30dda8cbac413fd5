// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The choice of the normalizer that a DRUM of URLs or a page database is opened with.

#include <optional>
#include <string_view>

#include <crawlstore/error.h>
#include <crawlstore/url.h>

namespace crawlstore {

/// The one that is given, else the one that the file names.
///   errors  kTypeMismatch (the file names another one, or rules of a user's own, and none is
///   given)
[[nodiscard]] Result<UrlNormalizer> choose_normalizer(std::string_view stored_name,
                                                      const std::optional<UrlNormalizer>& given);

/// Rejects a normalizer of rules whose name may not stand in the file for them.
///   errors  kInvalidArgument
[[nodiscard]] Result<void> check_normalizer(const std::optional<UrlNormalizer>& given);

}  // namespace crawlstore
