// SPDX-License-Identifier: Apache-2.0
#include "cli/queue_source.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/options.h"
#include "model/format_text.h"

namespace crawlstore::cli {
namespace {

/// What there is instead.
std::string missing_queue(const QueueSourceOptions& options, const QueueSource& source) {
  const std::string path = model::format_printable(options.pages.path);
  if (source.queues.empty()) {
    return fmt::format(
        "{0}: the store has no queue; `crawlstore queue {0} --fill-from SCORE` "
        "makes one",
        path);
  }
  std::string text = path + ": ";
  if (!options.name.empty()) text += fmt::format("the store has no queue `{}`; ", options.name);
  text += "there are ";
  for (const QueueInfo& queue : source.queues) {
    text += fmt::format("{}`{}`", &queue == &source.queues.front() ? "" : ", ", queue.name);
  }
  return text + ": --name NAME chooses";
}

Result<void> read_queues(const Snapshot& snapshot, const QueueSourceOptions& options,
                         QueueSource& source) {
  CRAWLSTORE_TRY(source.queues, QueueView::list(snapshot));
  const std::string name = queue_name(source, options);
  if (std::ranges::find(source.queues, name, &QueueInfo::name) == source.queues.end()) return {};
  CRAWLSTORE_TRY(source.queue, QueueView::open(snapshot, name));
  return {};
}

Result<std::string> url_of(const QueueSource& source, std::uint64_t page) {
  if (!source.pages || page >= source.pages->info().page_count) return std::string();
  return source.pages->url(page);
}

}  // namespace

void add_queue_source(Parser& parser, QueueSourceOptions& options) {
  add_page_source(parser, options.pages);
  add_queue(parser, options.name, "the queue (default: the only one, or `queue`)");
}

std::optional<QueueSource> open_queues(const QueueSourceOptions& options, QueueNeeds needs,
                                       int& code) {
  const auto snapshot =
      open_snapshot(options.pages.path, options.pages.no_pin, options.pages.no_mmap);
  if (!snapshot) {
    code = fail_with(options.pages.path, snapshot.error());
    return std::nullopt;
  }
  QueueSource source;
  if (const auto read = read_queues(*snapshot, options, source); !read) {
    code = fail_with(options.pages.path, read.error());
    return std::nullopt;
  }
  const bool is_missing = source.queues.empty() || (!options.name.empty() && !source.queue);
  if (needs == QueueNeeds::kQueue && is_missing) {
    code = fail_with(missing_queue(options, source), kExitNo);
    return std::nullopt;
  }
  const auto databases = PageView::names(*snapshot);
  if (source.queue && databases.size() > 1 && !options.pages.names_database) {
    code = fail_with(fmt::format("{}: the store has several page databases, and a queue does not "
                                 "say of which its pages are: --database NAME does",
                                 model::format_printable(options.pages.path)),
                     kExitUsage);
    return std::nullopt;
  }
  if (needs == QueueNeeds::kPages || !databases.empty()) {
    source.pages = open_pages(*snapshot, options.pages, code);
    if (!source.pages) return std::nullopt;
  }
  return source;
}

std::string queue_name(const QueueSource& source, const QueueSourceOptions& options) {
  if (!options.name.empty()) return options.name;
  return source.queues.size() == 1 ? source.queues.front().name : std::string(Queue::kDefaultName);
}

bool check_chosen(const QueueSource& source, const QueueSourceOptions& options, int& code) {
  if (!source.queue) code = fail_with(missing_queue(options, source), kExitNo);
  return source.queue.has_value();
}

Result<void> for_each_url(
    const QueueSource& source, std::span<const QueuedPage> pages,
    const std::function<Result<void>(const QueuedPage& page, const std::string& url)>& visit) {
  constexpr std::size_t kPagesAtOnce = std::size_t{1} << 18;
  std::vector<std::size_t> places;  // by index
  std::vector<std::string> urls;
  for (; !pages.empty(); pages = pages.subspan(places.size())) {
    places.resize(std::min(pages.size(), kPagesAtOnce));
    std::iota(places.begin(), places.end(), std::size_t{0});
    std::ranges::sort(places, {}, [pages](std::size_t place) { return pages[place].page; });
    urls.resize(places.size());
    for (const std::size_t place : places) {
      CRAWLSTORE_TRY(urls[place], url_of(source, pages[place].page));
    }
    for (std::size_t i = 0; i < urls.size(); ++i) CRAWLSTORE_TRY(visit(pages[i], urls[i]));
  }
  return {};
}

}  // namespace crawlstore::cli
