// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string_view>

#include <crawlstore/url_seen.h>

#include "call.h"
#include "handles.h"
#include "set_status.h"
#include "texts.h"

struct crwl_seen {
  std::shared_ptr<crawlstore::Store> store;
  crawlstore::UrlSeen seen;
};

namespace crawlstore::c {
namespace {

Result<UrlSeen> open_seen(Store& store, std::string_view name, const crwl_seen_options& given) {
  UrlSeen::Options options;
  if (given.memory_bytes != 0) options.drum.memory_bytes = given.memory_bytes;
  options.with_pages = given.without_pages == 0;
  switch (given.key) {
    case CRWL_KEY_AS_STORED:
      break;
    case CRWL_KEY_64:
      options.key = UrlKeyKind::kXxh3;
      break;
    case CRWL_KEY_128:
      options.key = UrlKeyKind::kXxh3Wide;
      break;
    default:
      return fail(Errc::kInvalidArgument, "a set of URLs has no such keys");
  }
  return UrlSeen::open(store, name, options);
}

}  // namespace

extern "C" {

int crwl_seen_open(crwl_store* store, const char* name, const crwl_seen_options* options,
                   crwl_seen** seen, crwl_error* error) {
  if (seen != nullptr) *seen = nullptr;
  return call(error, [&]() -> Result<void> {
    CRAWLSTORE_TRY(need(store, seen));
    CRAWLSTORE_TRY(const auto given, options_of(options));
    CRAWLSTORE_TRY(auto opened, open_seen(*store->store, name_or(name, "urls"), given));
    give_handle(seen, crwl_seen{store->store, std::move(opened)});
    return {};
  });
}

int crwl_seen_insert(crwl_seen* seen, const char* url, std::size_t url_bytes, std::uint8_t* is_new,
                     crwl_error* error) {
  return call(error, [&]() -> Result<void> {
    CRAWLSTORE_TRY(need(seen));
    CRAWLSTORE_TRY(const auto text, text_of(url, url_bytes));
    return answer_each(1, is_new, [&](std::uint64_t) { return seen->seen.insert(text); });
  });
}

int crwl_seen_insert_many(crwl_seen* seen, const crwl_texts* urls, std::uint8_t* is_new,
                          crwl_error* error) {
  return call(error, [&]() -> Result<void> {
    CRAWLSTORE_TRY(need(seen, urls));
    CRAWLSTORE_TRY(const auto texts, Texts::of(*urls));
    return answer_each(texts.count(), is_new,
                       [&](std::uint64_t i) { return seen->seen.insert(texts[i]); });
  });
}

int crwl_seen_contains(crwl_seen* seen, const char* url, std::size_t url_bytes,
                       std::uint8_t* is_seen, crwl_error* error) {
  return call(error, [&]() -> Result<void> {
    CRAWLSTORE_TRY(need(seen));
    CRAWLSTORE_TRY(const auto text, text_of(url, url_bytes));
    return answer_each(1, is_seen, [&](std::uint64_t) { return seen->seen.contains(text); });
  });
}

int crwl_seen_contains_many(crwl_seen* seen, const crwl_texts* urls, std::uint8_t* is_seen,
                            crwl_error* error) {
  return call(error, [&]() -> Result<void> {
    CRAWLSTORE_TRY(need(seen, urls));
    CRAWLSTORE_TRY(const auto texts, Texts::of(*urls));
    return answer_each(texts.count(), is_seen,
                       [&](std::uint64_t i) { return seen->seen.contains(texts[i]); });
  });
}

int crwl_seen_merge(crwl_seen* seen, crwl_error* error) {
  return call(error, [&]() -> Result<void> {
    CRAWLSTORE_TRY(need(seen));
    CRAWLSTORE_TRY(seen->seen.drum().merge());
    return {};
  });
}

int crwl_seen_get_status(crwl_seen* seen, crwl_set_status* status, crwl_error* error) {
  return call(error, [&]() -> Result<void> {
    CRAWLSTORE_TRY(need(seen));
    CRAWLSTORE_TRY(need_open(seen->store));
    return give_set_status(seen->seen.drum().core(), status);
  });
}

void crwl_seen_free(crwl_seen* seen) {
  free_handle(seen);
}

}  // extern "C"

}  // namespace crawlstore::c
