// SPDX-License-Identifier: Apache-2.0
#include "model/host_name.h"

#include <array>
#include <cstdint>

#include <unicode/uidna.h>

namespace crawlstore::model {
namespace {

/// nullptr if ICU lacks its data.
const UIDNA* uts46() {
  static const UIDNA* const kProcessor = [] {
    UErrorCode status = U_ZERO_ERROR;
    const UIDNA* const processor = uidna_openUTS46(
        UIDNA_CHECK_BIDI | UIDNA_CHECK_CONTEXTJ | UIDNA_NONTRANSITIONAL_TO_UNICODE, &status);
    return U_SUCCESS(status) ? processor : nullptr;
  }();
  return kProcessor;
}

/// Errors that hosts of URLs may have all the same.
constexpr std::uint32_t kAllowedErrors =
    UIDNA_ERROR_EMPTY_LABEL | UIDNA_ERROR_LABEL_TOO_LONG | UIDNA_ERROR_DOMAIN_NAME_TOO_LONG |
    UIDNA_ERROR_LEADING_HYPHEN | UIDNA_ERROR_TRAILING_HYPHEN | UIDNA_ERROR_HYPHEN_3_4;

}  // namespace

std::string host_name(std::string_view host) {
  return std::string(host.empty() ? kNoHost : host);
}

std::string host_of_name(std::string_view name) {
  return name == kNoHost ? std::string() : std::string(name);
}

std::string unicode_host(std::string_view host) {
  std::array<char, 4096> text{};
  const bool has_punycode = host.starts_with("xn--") || host.find(".xn--") != host.npos;
  if (!has_punycode || host.size() > text.size() || uts46() == nullptr) return {};
  UIDNAInfo info = UIDNA_INFO_INITIALIZER;
  UErrorCode status = U_ZERO_ERROR;
  const std::int32_t size =
      uidna_nameToUnicodeUTF8(uts46(), host.data(), static_cast<std::int32_t>(host.size()),
                              text.data(), static_cast<std::int32_t>(text.size()), &info, &status);
  if (U_FAILURE(status) || (info.errors & ~kAllowedErrors) != 0) return {};
  return {text.data(), static_cast<std::size_t>(size)};
}

std::string both_host_names(std::string_view host) {
  const std::string unicode = unicode_host(host);
  return host_name(host) + (unicode.empty() ? "" : " (" + unicode + ")");
}

}  // namespace crawlstore::model
