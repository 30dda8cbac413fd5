// SPDX-License-Identifier: Apache-2.0
// The headers of the C interface compile as C++20, and name the numbers that the library has.
#include <crawlstore/crawl_event.h>
#include <crawlstore/crawlstore.h>
#include <crawlstore/types.h>

namespace {

static_assert(CRWL_EVENT_DUPLICATE == static_cast<int>(crawlstore::CrawlEventKind::kDuplicate));
static_assert(CRWL_EVENT_REDIRECT == static_cast<int>(crawlstore::CrawlEventKind::kRedirect));
static_assert(static_cast<int>(crawlstore::PageState::kElsewhere) == 7);
// A struct without padding at its end can grow without a doubt about what a caller has set.
static_assert(sizeof(crwl_error) == 552 && sizeof(crwl_event) == 112);
static_assert(sizeof(crwl_store_options) == 32 && sizeof(crwl_seen_options) == 16);

}  // namespace
