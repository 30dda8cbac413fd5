// SPDX-License-Identifier: Apache-2.0
//
// Invariants checked:
//   - no input crashes the normalizer, and none makes it read or write outside its bounds;
//   - a text is at most one byte longer than its input;
//   - an input that is not parsed comes back as it is: the same bytes at the same place;
//   - a text is parsed if and only if its input was, and normalising it changes nothing;
//   - a text of a parsed input is returned without a copy when it comes again as input;
//   - a text of a parsed input has no fragment, no byte outside printable ASCII, no "%2f", and no
//     dot segment under an authority;
//   - an input is parsed if and only if liburiparser, given all of it, finds an absolute URI, and
//     its head is within bounds;
//   - a normalizer gives the same answer whatever it saw before;
//   - equal texts have equal keys.

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include <uriparser/Uri.h>

#include <crawlstore/url.h>

#include "require.h"

namespace {

using crawlstore::NormalizedUrl;
using crawlstore::UrlNormalizer;
using crawlstore::fuzz::require;

// Bytes before the path, found as RFC 3986, appendix B, does it.
std::size_t head_size(std::string_view url) {
  const std::size_t colon = url.find(':');
  if (url.substr(colon + 1, 2) != "//") return colon + 1;
  return std::min(url.find_first_of("/?#", colon + 3), url.size());
}

bool is_absolute_uri(std::string_view url) {
  UriUriA uri;
  const int status = uriParseSingleUriExA(&uri, url.data(), url.data() + url.size(), nullptr);
  if (status != URI_SUCCESS) return false;
  const bool has_scheme = uri.scheme.first != nullptr;
  uriFreeUriMembersA(&uri);
  return has_scheme && head_size(url) <= crawlstore::kUrlHeadBytesMax;
}

bool has_dot_segment(std::string_view path) {
  for (std::size_t i = path.find('/'); i != std::string_view::npos; i = path.find('/', i + 1)) {
    const std::string_view segment = path.substr(i + 1, path.find('/', i + 1) - i - 1);
    if (segment == "." || segment == "..") return true;
  }
  return false;
}

void check_normal_form(std::string_view text) {
  require(text.find('#') == std::string_view::npos);
  for (const char c : text) require(c > ' ' && c <= '~');
  for (std::size_t i = text.find('%'); i != std::string_view::npos; i = text.find('%', i + 1)) {
    const auto is_lower = [](char c) { return c >= 'a' && c <= 'f'; };
    require(!is_lower(text.at(i + 1)) && !is_lower(text.at(i + 2)));
  }
  const std::size_t head = head_size(text);
  if (text[head - 1] == ':') return;  // no authority, since an empty port would be gone
  require(!has_dot_segment(text.substr(head, text.find('?', head) - head)));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view url(reinterpret_cast<const char*>(data), size);
  UrlNormalizer fresh;
  const NormalizedUrl once = fresh.normalize(url);
  require(once.text.size() <= size + 1);
  require(once.parsed == is_absolute_uri(url));
  if (once.parsed) {
    check_normal_form(once.text);
  } else {
    require(once.text.data() == url.data() && once.text.size() == size);
  }

  const NormalizedUrl again = fresh.normalize(once.text);
  require(again.parsed == once.parsed && again.text.data() == once.text.data() &&
          again.text.size() == once.text.size());

  static UrlNormalizer warm;
  const NormalizedUrl other = warm.normalize(url);
  require(other.parsed == once.parsed && other.text == once.text);
  require(crawlstore::url_key(other.text, size) == crawlstore::url_key(once.text, size));
  static_cast<void>(crawlstore::rabin_fingerprint(once.text));
  return 0;
}
