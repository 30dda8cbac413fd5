// SPDX-License-Identifier: Apache-2.0
#include <mutex>

#include <crawlstore/url_seen.h>

#include "base/choose_normalizer.h"
#include "base/inside.h"
#include "container/caller_function.h"
#include "drum/drum_impl.h"
#include "format/drum_table.h"
#include "format/key_block.h"
#include "pages/seen_pages.h"

namespace crawlstore {
namespace {

/// Returns the kind of an open DRUM's keys; nullopt if they are not made from URLs.
std::optional<UrlKeyKind> kind_of(const DrumCore& core) {
  if (core.key_scheme() == KeyScheme::kUrlRabin) return UrlKeyKind::kRabin;
  if (core.key_scheme() != KeyScheme::kUrl) return std::nullopt;
  return core.key_bytes() == format::kWideKeyBytes ? UrlKeyKind::kXxh3Wide : UrlKeyKind::kXxh3;
}

/// While the rules of a normaliser run, which may be the caller's.
CallerFunction in_rules_of(const DrumCore& core) {
  return CallerFunction(Inside::of(core).store.get());
}

}  // namespace

Key16 UrlKeyer::operator()(std::string_view url) {
  const auto [text, parsed, problem] = normalizer_.normalize(url);
  problem_ = problem;
  if (!parsed) ++unparsed_count_;
  if (kind_ == UrlKeyKind::kXxh3Wide) return url_key16(text, key_seed_);
  return kind_ == UrlKeyKind::kRabin ? rabin_fingerprint(text) : url_key(text, key_seed_);
}

Result<UrlSeen> UrlSeen::open(Store& store, std::string_view name, const Options& options) {
  DrumOptions drum_options = options.drum;
  drum_options.key_scheme =
      options.key == UrlKeyKind::kRabin ? KeyScheme::kUrlRabin : KeyScheme::kUrl;
  drum_options.key_bytes = 0;
  CRAWLSTORE_TRY(check_normalizer(options.normalizer));
  if (options.normalizer) drum_options.normalizer = options.normalizer->name();
  if (options.key) drum_options.key_bytes = *options.key == UrlKeyKind::kXxh3Wide ? 16 : 8;
  CRAWLSTORE_TRY(auto core,
                 DrumCore::open(store, name, ValueTraits<NoValue>::kBytes, drum_options));
  const auto kind = kind_of(*core);
  if (!kind || (options.key && options.key != kind)) {
    return fail(Errc::kTypeMismatch, "the DRUM's keys were made in another way");
  }
  CRAWLSTORE_TRY(auto normalizer, choose_normalizer(core->normalizer(), options.normalizer));
  std::shared_ptr<pages::SeenPages> seen_pages;
  if (options.with_pages) {
    const auto inside = Inside::of(store).shared_from_this();
    const std::lock_guard lock(inside->turn);
    CRAWLSTORE_TRY(auto storage, inside->open_for_reading());
    seen_pages = std::make_shared<pages::SeenPages>(inside, std::move(storage), normalizer.name());
  }
  return UrlSeen(Answers(std::move(core)), {*kind, store.key_seed(), std::move(normalizer)},
                 std::move(seen_pages));
}

Key16 UrlSeen::key_of(std::string_view url) {
  const CallerFunction inside = in_rules_of(drum_.core());
  return keyer()(url);
}

/// The key, for a request: URLs that no parser took are counted.
Result<Key16> UrlSeen::request_key(std::string_view url) {
  CRAWLSTORE_TRY(Inside::of(drum_.core()).store->check_outside());  // the rules may call us
  const std::uint64_t before = keyer_.unparsed_count();
  const Key16 key = [&] {
    const CallerFunction inside = in_rules_of(drum_.core());
    return keyer_(url);
  }();
  if (keyer_.unparsed_count() != before) drum_.core().count_unparsed(1);
  return key;
}

/// Returns the text that the key is made of, valid until the keyer's next call.
std::string_view UrlSeen::text_of(std::string_view url) {
  const CallerFunction inside = in_rules_of(drum_.core());
  return keyer_.text_of(url);
}

Result<void> UrlSeen::remember_page(std::string_view url, Key16 key) {
  CRAWLSTORE_TRY(Inside::of(drum_.core()).store->check_outside());
  if (pages_ == nullptr) return {};
  CRAWLSTORE_TRY(const bool are_there, pages_->are_there());
  if (!are_there) return {};
  CRAWLSTORE_TRY(const bool is_known, drum_.contains(key));
  if (is_known) return {};
  CRAWLSTORE_TRY(const bool is_page, pages_->contain(text_of(url)));
  if (is_page) CRAWLSTORE_TRY(drum_.insert(key));
  return {};
}

Result<void> UrlSeen::check_update(std::string_view url) {
  CRAWLSTORE_TRY(const Key16 key, request_key(url));
  CRAWLSTORE_TRY(remember_page(url, key));
  return drum_.check_update(key, {}, url);
}

Result<void> UrlSeen::check(std::string_view url) {
  CRAWLSTORE_TRY(const Key16 key, request_key(url));
  CRAWLSTORE_TRY(remember_page(url, key));
  return drum_.check(key, url);
}

Result<void> UrlSeen::update(std::string_view url) {
  CRAWLSTORE_TRY(const Key16 key, request_key(url));
  return drum_.update(key, {}, url);
}

Result<bool> UrlSeen::insert(std::string_view url) {
  CRAWLSTORE_TRY(const Key16 key, request_key(url));
  CRAWLSTORE_TRY(remember_page(url, key));
  return drum_.insert(key);
}

Result<bool> UrlSeen::contains(std::string_view url) {
  CRAWLSTORE_TRY(Inside::of(drum_.core()).store->check_outside());
  CRAWLSTORE_TRY(const bool is_known, drum_.contains(key_of(url)));
  if (is_known || pages_ == nullptr) return is_known;
  return pages_->contain(text_of(url));
}

}  // namespace crawlstore
