// SPDX-License-Identifier: Apache-2.0
#include <crawlstore/url_seen.h>

#include "format/drum_table.h"

namespace crawlstore {

Result<UrlSeen> UrlSeen::open(Store& store, std::string_view name, const Options& options) {
  DrumOptions drum_options = options.drum;
  drum_options.key_scheme = static_cast<std::uint16_t>(format::KeyScheme::kUrlV1);
  auto drum = Answers::open(store, name, drum_options);
  if (!drum) return tl::unexpected<Error>(drum.error());
  return UrlSeen(std::move(*drum), store.key_seed(), options.raw);
}

std::uint64_t UrlSeen::key_of(std::string_view url) {
  return url_key(raw_ ? url : normalizer_.normalize(url).text, key_seed_);
}

/// The key, for a request: URLs that no parser took are counted.
std::uint64_t UrlSeen::request_key(std::string_view url) {
  if (raw_) return url_key(url, key_seed_);
  const NormalizedUrl normalized = normalizer_.normalize(url);
  if (!normalized.parsed) {
    ++unparsed_count_;
    drum_.core().count_unparsed(1);
  }
  return url_key(normalized.text, key_seed_);
}

Result<void> UrlSeen::check_update(std::string_view url) {
  return drum_.check_update(request_key(url), {}, url);
}

Result<void> UrlSeen::check(std::string_view url) {
  return drum_.check(request_key(url), url);
}

Result<void> UrlSeen::update(std::string_view url) {
  return drum_.update(request_key(url), {}, url);
}

Result<bool> UrlSeen::contains(std::string_view url) {
  const auto found = drum_.lookup(key_of(url));
  if (!found) return tl::unexpected<Error>(found.error());
  return found->has_value();
}

}  // namespace crawlstore
