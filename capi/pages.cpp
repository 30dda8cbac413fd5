// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include <crawlstore/pages.h>

#include "call.h"
#include "handles.h"
#include "texts.h"

struct crwl_pages {
  std::shared_ptr<crawlstore::Store> store;
  crawlstore::PageDb pages;
};

namespace crawlstore::c {
namespace {

/// The links of an event: by URL, or by index.
Result<std::vector<EventLink>> links_of(const crwl_event& event) {
  CRAWLSTORE_TRY(const auto urls, Texts::of(event.links));
  CRAWLSTORE_TRY(need_array(event.link_count, event.link_indexes));
  if (urls.count() != 0 && event.link_count != 0) {
    return fail(Errc::kInvalidArgument, "links are by URL or by index, not both");
  }
  std::vector<EventLink> links(urls.count() + event.link_count);
  for (std::size_t i = 0; i < links.size(); ++i) {
    if (urls.count() != 0) links[i].url = urls[i];
    if (event.link_count != 0) links[i].index = event.link_indexes[i];
    if (event.link_scores != nullptr) links[i].score = event.link_scores[i];
  }
  return links;
}

Result<void> add_event(PageDb& pages, const crwl_event& given) {
  CrawlEvent event;
  event.kind = static_cast<CrawlEventKind>(given.kind);
  if (given.kind > CRWL_EVENT_DUPLICATE) {
    return fail(Errc::kInvalidArgument, "there is no such kind of event");
  }
  CRAWLSTORE_TRY(event.url, text_of(given.url, given.url_bytes));
  CRAWLSTORE_TRY(need_array(given.content_hash_bytes, given.content_hash));
  CRAWLSTORE_TRY(const auto links, links_of(given));
  if (!links.empty() && !has_links(event.kind)) {
    return fail(Errc::kInvalidArgument, "events of this kind have no links");
  }
  event.index = given.index;
  event.time_us = given.time_us;
  event.score = static_cast<float>(given.score);
  event.content_hash = {static_cast<const std::byte*>(given.content_hash),
                        given.content_hash_bytes};
  event.links = links;
  event.http_status = given.http_status;
  return pages.add(event);
}

}  // namespace

extern "C" {

int crwl_pages_open(crwl_store* store, const char* name, const crwl_pages_options* options,
                    crwl_pages** pages, crwl_error* error) {
  if (pages != nullptr) *pages = nullptr;
  return call(error, [&]() -> Result<void> {
    CRAWLSTORE_TRY(need(store, pages));
    CRAWLSTORE_TRY(const auto given, options_of(options));
    PagesOptions wanted;
    wanted.has_urls = given.without_urls == 0;
    if (given.memory_bytes != 0) wanted.memory_bytes = given.memory_bytes;
    const auto database = name_or(name, PageDb::kDefaultName);
    CRAWLSTORE_TRY(auto opened, PageDb::open(*store->store, database, wanted));
    give_handle(pages, crwl_pages{store->store, std::move(opened)});
    return {};
  });
}

int crwl_pages_add(crwl_pages* pages, const crwl_event* event, crwl_error* error) {
  return call(error, [&]() -> Result<void> {
    CRAWLSTORE_TRY(need(pages));
    CRAWLSTORE_TRY(check_input(event));
    return add_event(pages->pages, *event);
  });
}

int crwl_pages_merge(crwl_pages* pages, crwl_progress progress, void* context, crwl_error* error) {
  return call(error, [&]() -> Result<void> {
    CRAWLSTORE_TRY(need(pages));
    CRAWLSTORE_TRY(pages->pages.merge(progress_of(progress, context)));
    return {};
  });
}

int crwl_pages_compact(crwl_pages* pages, crwl_progress progress, void* context,
                       crwl_error* error) {
  return call(error, [&]() -> Result<void> {
    CRAWLSTORE_TRY(need(pages));
    CRAWLSTORE_TRY(pages->pages.compact(progress_of(progress, context)));
    return {};
  });
}

int crwl_pages_get_status(crwl_pages* pages, crwl_pages_status* status, crwl_error* error) {
  return call(error, [&]() -> Result<void> {
    CRAWLSTORE_TRY(need(pages));
    CRAWLSTORE_TRY(need_open(pages->store));
    CRAWLSTORE_TRY(check_size(status));
    const PagesStatus now = pages->pages.status();
    crwl_pages_status told{};
    told.has_urls = now.has_urls ? 1 : 0;
    told.edit_count = now.edit_count;
    told.memory_bytes = now.memory_bytes;
    told.page_count = now.page_count;
    told.crawled_count = now.crawled_count;
    told.link_count = now.link_count;
    give(status, told);
    return {};
  });
}

void crwl_pages_free(crwl_pages* pages) {
  free_handle(pages);
}

}  // extern "C"

}  // namespace crawlstore::c
