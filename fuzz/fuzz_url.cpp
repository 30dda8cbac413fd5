// SPDX-License-Identifier: Apache-2.0
//
// Invariants checked:
//   - no input crashes the normalizer, and none makes it read or write outside its bounds;
//   - an input that is not parsed comes back as it is: the same bytes at the same place;
//   - a text is parsed if and only if its input was, and normalising it changes nothing, and copies
//     nothing;
//   - a text of a parsed input is printable ASCII without a fragment;
//   - white space around an input, a line break in it and a fragment behind its text change
//   nothing, so
//     that the short way for normal URLs and the long one agree;
//   - a parsed input resolves to its text against any base of another scheme, and the text against
//     any base at all;
//   - what a reference resolves to is normal;
//   - the host is that of the text, and lies in it;
//   - a normalizer gives the same answer whatever it saw before.

#include <cstdint>
#include <string>
#include <string_view>

#include <crawlstore/page_key.h>
#include <crawlstore/url.h>

#include "require.h"

namespace {

using crawlstore::NormalizedUrl;
using crawlstore::UrlNormalizer;
using crawlstore::fuzz::require;

void check_text(std::string_view text) {
  for (const char c : text) require(c >= ' ' && c <= '~' && c != '#');
  require(text.size() <= crawlstore::kUrlTextBytesMax);
  const std::string host = crawlstore::url_host(text);
  require(host.size() <= crawlstore::kUrlHostBytesMax && text.find(host) != text.npos);
  require(host.find_first_of("/?@") == std::string::npos);
}

void check_spellings(const std::string& url, const std::string& text) {
  UrlNormalizer normalizer;
  const std::size_t middle = url.size() / 2;
  for (const std::string& same : {" " + url + "\n", text + "#x y", "\x01" + url,
                                  url.substr(0, middle) + "\t" + url.substr(middle)}) {
    const NormalizedUrl result = normalizer.normalize(same);
    require(result.parsed && result.text == text);
  }
  require(crawlstore::url_host(url) == crawlstore::url_host(text));
}

// The input against bases of all shapes.
void check_references(const std::string& url, const NormalizedUrl& known) {
  for (const std::string_view base :
       {"http://u@h:81/a/b?q", "file:///C:/a", "x:/.//a", "x://h", "mailto:a"}) {
    UrlNormalizer normalizer;
    const NormalizedUrl result = normalizer.resolve(url, base);
    if (!result.parsed) {
      require(!known.parsed && result.text.data() == url.data());
      continue;
    }
    check_text(result.text);
    const std::string text(result.text);
    require(normalizer.normalize(text).text.data() == text.data());
    if (!known.parsed) continue;
    require(normalizer.resolve(known.text, base).text == known.text);
    if (base.substr(0, base.find(':')) != text.substr(0, text.find(':'))) {
      require(text == known.text);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string url(reinterpret_cast<const char*>(data), size);
  UrlNormalizer fresh;
  const NormalizedUrl once = fresh.normalize(url);
  if (once.parsed) {
    check_text(once.text);
    check_spellings(url, std::string(once.text));
  } else {
    require(once.text.data() == url.data() && once.text.size() == size);
  }
  check_references(url, once);

  static UrlNormalizer warm;
  const NormalizedUrl other = warm.normalize(url);
  require(other.parsed == once.parsed && other.text == once.text);
  require(crawlstore::url_key(other.text, size) == crawlstore::url_key(once.text, size));
  static_cast<void>(crawlstore::rabin_fingerprint(once.text));

  const NormalizedUrl again = fresh.normalize(once.text);
  require(again.parsed == once.parsed && again.text.data() == once.text.data() &&
          again.text.size() == once.text.size());
  return 0;
}
