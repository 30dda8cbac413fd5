// SPDX-License-Identifier: Apache-2.0
#include "cli/queue_source.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/memory_limit.h"
#include "cli/options.h"
#include "model/format_text.h"

namespace crawlstore::cli {
namespace {

/// The least that a queue takes.
constexpr std::uint64_t kQueueMemoryMin = std::uint64_t{32} << 20;

/// Tells which queues there are instead.
std::string missing_queue(const QueueSourceOptions& options, const QueueSource& source) {
  const std::string path = model::format_printable(options.pages.path);
  if (source.names.empty()) {
    return fmt::format(
        "{0}: the store has no queue; `crawlstore queue {0} --fill-from SCORE` "
        "makes one",
        path);
  }
  std::string text = path + ": ";
  if (!options.name.empty()) text += fmt::format("the store has no queue `{}`; ", options.name);
  text += "there are ";
  for (const std::string& name : source.names) {
    text += fmt::format("{}`{}`", &name == &source.names.front() ? "" : ", ", name);
  }
  return text + ": --name NAME chooses";
}

bool has_chosen(const QueueSource& source, const QueueSourceOptions& options) {
  return std::ranges::find(source.names, queue_name(source, options)) != source.names.end();
}

Result<void> read_queues(const QueueSourceOptions& options, bool may_be_damaged,
                         QueueSource& source) {
  source.names = names_of_queues(source.snapshot);
  if (!has_chosen(source, options)) return {};
  const std::string name = queue_name(source, options);
  auto queue = QueueView::open(source.snapshot, name);
  if (queue) {
    source.page_count = queue->info().page_count;
    source.queue = std::move(*queue);
    return {};
  }
  const bool is_damaged = category(queue.error().code) == ErrorCategory::kDamage;
  if (!is_damaged || !may_be_damaged) return tl::unexpected<Error>(queue.error());
  if (const auto queues = QueueView::list(source.snapshot)) {  // all tables are whole
    source.page_count = std::ranges::find(*queues, name, &QueueInfo::name)->page_count;
  }
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

void add_queue_memory(Parser& parser, QueueSourceOptions& options) {
  add_bytes(parser, "--memory", options.memory_bytes,
            "what the queue may keep in memory, such as 256MiB, at least 32MiB; with little, many "
            "changes write it anew more often (default: a quarter of what the cgroup, ulimit and "
            "the machine allow, 32 MiB to 1 GiB)",
            kQueueMemoryMin);
}

QueueOptions queue_options(const QueueSourceOptions& options) {
  const std::uint64_t usual =
      std::clamp(default_memory_bytes(), kQueueMemoryMin, QueueOptions{}.memory_bytes);
  return {.memory_bytes = options.memory_bytes.value_or(usual)};
}

std::optional<QueueSource> open_queues(const QueueSourceOptions& options, QueueNeeds needs,
                                       int& code) {
  const auto snapshot =
      open_snapshot(options.pages.path, options.pages.no_pin, options.pages.no_mmap);
  if (!snapshot) {
    code = fail_with(options.pages.path, snapshot.error());
    return std::nullopt;
  }
  QueueSource source{*snapshot};
  if (const auto read = read_queues(options, needs.may_be_damaged, source); !read) {
    code = fail_with_queue(*snapshot, options.pages.path, read.error());
    if (needs.names_skip) note_skip_damaged(options.pages.path, read.error());
    return std::nullopt;
  }
  const bool is_missing =
      source.names.empty() || (!options.name.empty() && !has_chosen(source, options));
  if (needs.queue && is_missing) {
    code = fail_with(missing_queue(options, source), kExitNo);
    return std::nullopt;
  }
  if (needs.may_be_damaged && !needs.pages && !needs.urls) return source;
  const auto databases = PageView::names(*snapshot);
  if (has_chosen(source, options) && databases.size() > 1 && !options.pages.names_database) {
    code = fail_with(fmt::format("{}: the store has several page databases, and a queue does not "
                                 "say of which its pages are: --database NAME does",
                                 model::format_printable(options.pages.path)),
                     kExitUsage);
    return std::nullopt;
  }
  if (needs.pages || !databases.empty()) {
    source.pages = open_pages(*snapshot, options.pages, code);
    if (!source.pages) return std::nullopt;
  }
  return source;
}

std::string queue_name(const QueueSource& source, const QueueSourceOptions& options) {
  if (!options.name.empty()) return options.name;
  return source.names.size() == 1 ? source.names.front() : std::string(Queue::kDefaultName);
}

std::vector<std::string> names_of_queues(const Snapshot& snapshot) {
  std::vector<std::string> names;
  for (const SegmentInfo& segment : snapshot.segments()) {
    if (segment.kind == SegmentKind::kQueue) names.push_back(segment.name);
  }
  std::ranges::sort(names);
  return names;
}

int fail_with_queue(const Snapshot& snapshot, const std::string& path, const Error& error) {
  const int code = fail_with(path, error);
  if (category(error.code) != ErrorCategory::kDamage) return code;
  const auto segments = snapshot.segments();
  const auto find = [&segments](SegmentId id) {
    return std::ranges::find(segments, id, &SegmentInfo::id);
  };
  auto damaged = find(error.segment);
  if (damaged != segments.end() && damaged->kind == SegmentKind::kQueueEntries) {
    damaged = find(damaged->owner);
  }
  if (damaged == segments.end() || damaged->kind != SegmentKind::kQueue) return code;
  note(
      fmt::format("`crawlstore queue {} --name {} --clear` drops all pages of the damaged queue, "
                  "and --fill-from SCORE --replace puts others in their place",
                  model::format_printable(path), model::format_printable(damaged->name)));
  return code;
}

bool check_chosen(const QueueSource& source, const QueueSourceOptions& options, int& code) {
  const bool is_chosen = has_chosen(source, options);
  if (!is_chosen) code = fail_with(missing_queue(options, source), kExitNo);
  return is_chosen;
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
