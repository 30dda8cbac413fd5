// SPDX-License-Identifier: Apache-2.0
#include "cli/url_session.h"

#include "cli/memory_limit.h"
#include "cli/options.h"

namespace crawlstore::cli {
namespace {

constexpr const char* kImportConsumer = "crawlstore import";

}  // namespace

Result<UrlSession> UrlSession::open(const UrlSessionOptions& options) {
  CRAWLSTORE_TRY(auto store, open_or_create_store(options.path, options.lock_wait_seconds));

  UrlSeen::Options url_options;
  if (options.raw) url_options.normalizer = UrlNormalizer::raw();
  url_options.drum.memory_bytes = options.memory_bytes.value_or(default_memory_bytes());
  // Merges happen where this program asks for them, between two lines, and take everything: the
  // next run answers what an interrupted one has left. Requests are in the log before a merge
  // answers them: so `seen` may print verdicts before the commit that holds them.
  url_options.drum.auto_merge = false;
  url_options.drum.log_first = true;
  url_options.drum.repeats = options.repeats;
  CRAWLSTORE_TRY(auto urls, UrlSeen::open(store, options.drum, url_options));
  CRAWLSTORE_TRY(const auto consumer, urls.drum().consumer(kImportConsumer));
  UrlSession session(std::move(store), std::move(urls), url_options.drum.memory_bytes);
  session.import_consumer_ = consumer;
  return session;
}

Result<std::uint64_t> UrlSession::merge(bool everything) {
  CRAWLSTORE_TRY(const auto report, everything ? core().merge() : core().merge_if_full());
  return report.request_count;
}

Result<void> UrlSession::close() {
  CRAWLSTORE_TRY(urls_.drum().close());
  return store_.close();
}

}  // namespace crawlstore::cli
