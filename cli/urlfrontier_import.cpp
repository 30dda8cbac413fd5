// SPDX-License-Identifier: Apache-2.0
//
// Invariants: a transaction holds the lines since the last commit; crawls are opened, and merged,
// outside of it. An entry of WaitingUrls says what the crawl has of its URL.
#include "cli/urlfrontier_import.h"

#include <algorithm>
#include <map>
#include <utility>

#include <crawlstore/transaction.h>
#include <crawlstore/url.h>

#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/memory_limit.h"
#include "cli/options.h"
#include "cli/refused_inputs.h"
#include "cli/stop_signals.h"
#include "cli/unparsed_report.h"
#include "cli/url_lines.h"
#include "cli/urlfrontier_json.h"
#include "service/core/crawls.h"
#include "service/core/listing.h"

namespace crawlstore::cli {
namespace {

using service::Crawl;
using service::Crawls;
using service::UrlInQueue;

/// Lines of a transaction, and bytes of their URLs and metadata.
constexpr std::size_t kUrlItemsAtOnce = 50'000;
constexpr std::size_t kUrlItemBytesAtOnce = std::size_t{32} << 20;

/// The dates and metadata of URLs that wait, as hashes: 16 bytes each. An import that is run again
/// leaves URLs that wait so already as they are: a change of one is a look through all of them.
class WaitingUrls {
 public:
  /// The crawl has committed all.
  static Result<WaitingUrls> of(const Store& store, Crawl& crawl);

  /// Whether a URL waits just so. If not, but it waits: it does from now on.
  bool has_or_set(const UrlInQueue& url, std::string_view metadata, std::uint64_t refetch_s);

 private:
  struct Entry {
    std::uint64_t id = 0;
    std::uint64_t state = 0;  // hash of metadata and date
    friend auto operator<=>(const Entry&, const Entry&) = default;
  };
  [[nodiscard]] Entry entry_of(const UrlInQueue& url, std::string_view metadata,
                               std::uint64_t refetch_s) const {
    return {service::item_id(known_key(url, seed_)), url_key(metadata, seed_ ^ refetch_s)};
  }

  std::uint64_t seed_ = 0;
  std::vector<Entry> entries_;  // ascending
};

Result<WaitingUrls> WaitingUrls::of(const Store& store, Crawl& crawl) {
  WaitingUrls waiting;
  waiting.seed_ = store.key_seed();
  CRAWLSTORE_TRY(const service::QueueStats stats, crawl.stats({}));
  if (stats.active == 0) return waiting;
  CRAWLSTORE_TRY(const auto snapshot, store.snapshot());
  const auto add = [&waiting](std::string_view queue, const service::KnownUrl& url) {
    if (url.refetch_s == 0) return false;  // completed ones come last
    waiting.entries_.push_back(
        waiting.entry_of({queue, url.record.url}, url.record.metadata, url.refetch_s));
    return true;
  };
  CRAWLSTORE_TRY(service::for_each_url(snapshot, crawl.name(), {}, add));
  std::ranges::sort(waiting.entries_);
  return waiting;
}

bool WaitingUrls::has_or_set(const UrlInQueue& url, std::string_view metadata,
                             std::uint64_t refetch_s) {
  const Entry entry = entry_of(url, metadata, refetch_s);
  const auto found = std::ranges::lower_bound(entries_, entry.id, {}, &Entry::id);
  if (found == entries_.end() || found->id != entry.id) return false;
  return std::exchange(found->state, entry.state) == entry.state;
}

struct UrlFrontierCounts {
  std::uint64_t discovered = 0;  ///< URLs that were not known
  std::uint64_t waiting = 0;     ///< with a date
  std::uint64_t completed = 0;
  std::uint64_t unchanged = 0;  ///< that were known so
};

class UrlFrontierImport {
 public:
  UrlFrontierImport(Store& store, Crawls crawls, UrlLines& lines, UnparsedReport& unparsed)
      : store_(store), crawls_(std::move(crawls)), lines_(lines), unparsed_(unparsed) {}

  /// Applies a line, which may be committed later.
  Result<void> take(const UrlItem& item);
  Result<void> commit();
  /// Brings all where a snapshot has it.
  Result<void> merge();
  Result<void> close() { return crawls_.close(); }
  [[nodiscard]] const UrlFrontierCounts& counts() const { return counts_; }
  [[nodiscard]] std::uint64_t unparsed_count() const { return unparsed_count_; }

 private:
  struct Target {
    Crawl* crawl = nullptr;  // nullptr: no crawl can have this ID
    WaitingUrls waiting;
    Error error{};
  };
  Result<Target*> target_of(const std::string& id);
  Result<void> apply(Target& target, const UrlItem& item);
  void check_url(std::string_view url);

  Store& store_;
  Crawls crawls_;
  UrlLines& lines_;
  UnparsedReport& unparsed_;
  UrlNormalizer normalizer_;
  std::map<std::string, Target> targets_;  // by ID
  std::optional<Transaction> transaction_;
  std::size_t line_count_ = 0;  // of the transaction
  std::size_t byte_count_ = 0;
  std::uint64_t unparsed_count_ = 0;
  UrlFrontierCounts counts_;
};

Result<UrlFrontierImport::Target*> UrlFrontierImport::target_of(const std::string& id) {
  if (const auto found = targets_.find(id); found != targets_.end()) return &found->second;
  CRAWLSTORE_TRY(commit());
  const auto crawl = crawls_.make(id);
  if (!crawl && crawls_.refusal(id) == nullptr) return tl::unexpected<Error>(crawl.error());
  Target target;
  if (crawl) {
    target.crawl = *crawl;
    CRAWLSTORE_TRY(target.waiting, WaitingUrls::of(store_, **crawl));
  } else {
    target.error = crawl.error();
  }
  return &targets_.emplace(id, std::move(target)).first->second;
}

void UrlFrontierImport::check_url(std::string_view url) {
  const UrlProblem problem = normalizer_.normalize(url).problem;
  if (problem == UrlProblem::kNone) return;
  ++unparsed_count_;
  unparsed_.add(lines_.place(), url, problem);
}

Result<void> UrlFrontierImport::apply(Target& target, const UrlItem& item) {
  Crawl& crawl = *target.crawl;
  const UrlInQueue url{item.key, item.url, item.priority};
  const std::uint64_t now_s = crawl.now_ms() / 1000;
  if (!item.refetch_s) {
    CRAWLSTORE_TRY(const bool is_new, crawl.discover(url, item.metadata, now_s, item.created_s));
    ++(is_new ? counts_.discovered : counts_.unchanged);
    return is_new ? crawls_.add_page(url.url, url.priority) : Result<void>{};
  }
  const bool is_completed = *item.refetch_s == 0;
  if (target.waiting.has_or_set(url, item.metadata, *item.refetch_s) && !is_completed) {
    ++counts_.unchanged;
    return {};
  }
  ++(is_completed ? counts_.completed : counts_.waiting);
  CRAWLSTORE_TRY(const bool is_new,
                 crawl.update(url, item.metadata, *item.refetch_s, now_s, item.created_s));
  return is_new ? crawls_.add_page(url.url, url.priority) : Result<void>{};
}

Result<void> UrlFrontierImport::take(const UrlItem& item) {
  CRAWLSTORE_TRY(Target* const target, target_of(item.crawl));
  if (target->crawl == nullptr) {
    lines_.refuse(target->error.text);
    return {};
  }
  if (!crawls_.node().has(item.key)) {
    lines_.refuse("its queue is of another node than the file");
    return {};
  }
  check_url(item.url);
  if (!transaction_) {
    CRAWLSTORE_TRY(transaction_, Transaction::begin(store_));
  }
  CRAWLSTORE_TRY(apply(*target, item));
  byte_count_ += item.url.size() + item.metadata.size();
  return ++line_count_ < kUrlItemsAtOnce && byte_count_ < kUrlItemBytesAtOnce ? Result<void>{}
                                                                              : commit();
}

Result<void> UrlFrontierImport::commit() {
  if (!transaction_) return {};
  CRAWLSTORE_TRY(crawls_.write_counts());
  CRAWLSTORE_TRY(transaction_->commit());
  transaction_.reset();
  line_count_ = 0;
  byte_count_ = 0;
  return crawls_.merge_if_full();
}

Result<void> UrlFrontierImport::merge() {
  for (const auto& [id, target] : targets_) {
    if (target.crawl != nullptr) CRAWLSTORE_TRY(target.crawl->merge());
  }
  return {};
}

/// Calls take(UrlItem) for lines that are right; refuses the others.
template <class Take>
Result<void> read_items(UrlLines& lines, const UrlFrontierImportOptions& options,
                        OpenInputPtr first, const Take& take) {
  UrlItemParser parser(options.crawl);
  const auto take_line = [&](std::string_view line) -> Result<void> {
    const auto item = parser.parse(line);
    if (item) return take(**item);
    lines.refuse(item.error().text);
    return {};
  };
  return lines.read(options.inputs, take_line, std::move(first));
}

/// Reads all lines, which are to be read again then, and takes none.
int check_lines(const UrlFrontierImportOptions& options, const StopSignals& stop,
                model::LineCounts counts) {
  UrlLines lines(stop, counts, true, UrlLines::Form::kOther);
  (void)read_items(lines, options, nullptr, [](const UrlItem&) { return Result<void>{}; });
  if (lines.failure()) return fail_with_input(lines.failure()->path, lines.failure()->error);
  if (stop.requested() != 0) return exit_code_of_signal(stop.requested());
  if (counts.refused + counts.refused_inputs == 0) return kExitDone;
  return fail_with("--strict: nothing was imported", kExitNo);
}

int print_counts(const model::LineCounts& lines, const UrlFrontierCounts& urls, bool as_json) {
  using model::Unit;
  return print_document({{{"line_count", Unit::kCount, lines.lines},
                          {"discovered_count", Unit::kCount, urls.discovered},
                          {"waiting_count", Unit::kCount, urls.waiting},
                          {"completed_count", Unit::kCount, urls.completed},
                          {"unchanged_count", Unit::kCount, urls.unchanged},
                          {"unparsed_count", Unit::kCount, lines.unparsed},
                          {"skipped_count", Unit::kCount, lines.skipped},
                          {"refused_count", Unit::kCount, lines.refused},
                          {"refused_input_count", Unit::kCount, lines.refused_inputs}},
                         {}},
                        as_json);
}

/// Reads the lines, and commits them; merges when it was not stopped.
Result<void> run_import(UrlFrontierImport& import, UrlLines& lines,
                        const UrlFrontierImportOptions& options, OpenInputPtr first,
                        const StopSignals& stop) {
  CRAWLSTORE_TRY(read_items(lines, options, std::move(first),
                            [&import](const UrlItem& item) { return import.take(item); }));
  CRAWLSTORE_TRY(import.commit());
  if (stop.requested() == 0) CRAWLSTORE_TRY(import.merge());
  return import.close();
}

int import_into(Store& store, const UrlFrontierImportOptions& options, OpenInputPtr first,
                model::LineCounts& counts, const StopSignals& stop) {
  auto crawls =
      Crawls::open(store, {.memory_bytes = options.memory_bytes.value_or(default_memory_bytes())});
  if (!crawls) return fail_with(options.path, crawls.error());
  auto unparsed =
      UnparsedReport::open(options.unparsed, options.path, options.inputs, options.quiet);
  if (!unparsed) return fail_with_output(options.unparsed, unparsed.error());
  UrlLines lines(stop, counts, options.quiet, UrlLines::Form::kOther);
  UrlFrontierImport import(store, *std::move(crawls), lines, *unparsed);
  const auto done = run_import(import, lines, options, std::move(first), stop);
  counts.unparsed = import.unparsed_count();
  const auto listed = unparsed->finish();
  if (!done) return fail_with(options.path, done.error());
  if (const auto closed = store.close(); !closed) return fail_with(options.path, closed.error());
  if (lines.failure()) return fail_with_input(lines.failure()->path, lines.failure()->error);
  if (!listed) return fail_with(options.unparsed, listed.error());
  const int printed = print_counts(counts, import.counts(), options.as_json);
  if (printed != kExitDone) return printed;
  if (stop.requested() != 0) return exit_code_of_signal(stop.requested());
  return counts.refused + counts.refused_inputs == 0 ? kExitDone : kExitNo;
}

}  // namespace

int import_urlfrontier(UrlFrontierImportOptions options) {
  const StopSignals stop;
  model::LineCounts counts;
  auto looked = drop_refused_inputs(options.inputs, options.path, stop);
  counts.refused_inputs = looked.refused_count;
  if (options.is_strict) {
    if (const int code = check_lines(options, stop, counts); code != kExitDone) return code;
  }
  if (options.inputs.empty()) {
    const int printed = print_counts(counts, {}, options.as_json);
    return printed == kExitDone ? kExitNo : printed;
  }
  auto store = open_or_create_store(options.path, options.lock_wait_seconds);
  if (!store) return fail_with(options.path, store.error());
  return import_into(*store, options, std::move(looked.first), counts, stop);
}

}  // namespace crawlstore::cli
