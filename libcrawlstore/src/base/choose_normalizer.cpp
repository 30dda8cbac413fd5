// SPDX-License-Identifier: Apache-2.0
#include "base/choose_normalizer.h"

#include "format/name.h"

namespace crawlstore {

Result<UrlNormalizer> choose_normalizer(std::string_view stored_name,
                                        const std::optional<UrlNormalizer>& given) {
  CRAWLSTORE_TRY(check_normalizer(given));
  if (given && given->name() == stored_name) return *given;
  if (given) {
    return fail(Errc::kTypeMismatch, "the URLs there are normalised by other rules than are given");
  }
  if (stored_name.empty()) return UrlNormalizer();
  if (stored_name == UrlNormalizer::raw().name()) return UrlNormalizer::raw();
  return fail(Errc::kTypeMismatch,
              "the URLs there are normalised by rules of their user's own, which are not given");
}

Result<void> check_normalizer(const std::optional<UrlNormalizer>& given) {
  if (!given || (format::is_valid_name(given->name()) && given->is_well_named())) return {};
  return fail(Errc::kInvalidArgument,
              "a normalizer has rules and a valid name, which is neither empty nor \"raw\"");
}

}  // namespace crawlstore
