// SPDX-License-Identifier: Apache-2.0
#include "cli/page_import.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include <crawlstore/event_stream.h>

#include "cli/console.h"
#include "cli/edge_lines.h"
#include "cli/exit_code.h"
#include "cli/input_size.h"
#include "cli/line_reader.h"
#include "cli/open_input.h"
#include "cli/options.h"
#include "cli/page_schedule.h"
#include "cli/page_sink.h"
#include "cli/progress.h"
#include "cli/refused_inputs.h"
#include "cli/stop_signals.h"
#include "cli/unparsed_report.h"
#include "cli/url_lines.h"
#include "model/event_json.h"
#include "model/format_text.h"
#include "model/pages_view.h"

namespace crawlstore::cli {
namespace {

using model::PageNaming;

constexpr std::uint64_t kPageRefusalsShown = 5;
constexpr std::uint64_t kEventsPerLook = 1024;

/// The error that ended an import: of the store, or, with a place, of an input.
struct Failure {
  std::string subject;
  Error error;
  bool is_of_input = false;
};

class PageImport {
 public:
  /// Without a sink lines are only checked. `counts` of what was done before; `first` is the input
  /// that is read first, or nullptr if it is not open.
  PageImport(PageSink* sink, const PageImportOptions& options, const StopSignals& stop,
             const model::ImportCounts& counts, OpenInputPtr first = nullptr)
      : sink_(sink),
        options_(options),
        stop_(stop),
        progress_("import", model::Unit::kCount, options.format == "events" ? "events" : "lines",
                  options.quiet),
        counts_(counts),
        first_(std::move(first)) {}

  /// The place of the event that is added now: a line, or the first and last of an edge's page.
  [[nodiscard]] std::string added_place() const;
  /// Returns false if it fails; failure() says why.
  bool read(const std::string& path);
  /// Tells of all that was refused and not told one by one.
  void tell_untold() const;
  /// Whether anything was.
  [[nodiscard]] bool has_refused() const {
    return counts_.refused + counts_.refused_links + counts_.refused_inputs != 0;
  }
  [[nodiscard]] const Failure& failure() const { return failure_; }
  [[nodiscard]] const model::ImportCounts& counts() const { return counts_; }

 private:
  bool read_lines(OpenInput& input);
  bool read_events(OpenInput& input);
  bool take_line(std::string_view line);
  bool take_edge(std::string_view line);
  bool finish_edges();
  bool take_url(std::string_view line);
  bool take_json(std::string_view line);
  bool add(const CrawlEvent& event, PageNaming naming);
  bool add_batch(std::span<const CrawlEvent> events);
  bool fail_store(const Error& error);
  bool fail_input(std::string place, const Error& error);
  void refuse(const char* why);
  void refuse_links(std::uint64_t count);
  bool refuse_input(std::string_view why);
  /// The place of the line or event that was read last.
  [[nodiscard]] std::string place() const {
    return options_.format == "events" ? fmt::format("{}: event {}", path_, event_)
                                       : fmt::format("{}:{}", path_, line_);
  }

  PageSink* sink_;
  const PageImportOptions& options_;
  const StopSignals& stop_;
  ProgressBar progress_;
  model::ImportCounts counts_;
  OpenInputPtr first_;  // until it is read
  Failure failure_;
  std::string path_;                // of the input
  std::uint64_t line_ = 0;          // in the input
  std::uint64_t event_ = 0;         // in the input
  std::uint64_t listed_count_ = 0;  // lines with more than two columns
  std::string first_cut_;           // where a URL first ended at a TAB
  EdgeCollector edges_;
  std::uint64_t first_edge_line_ = 0;  // of those that were collected
  std::uint64_t last_edge_line_ = 0;
  model::EventLineParser parser_;
};

/// The way in which an event of a stream names pages; if nothing but index 0 is named, both would
/// do.
PageNaming naming_of(const CrawlEvent& event, std::optional<PageNaming> usual) {
  const auto has_url = [](const auto& named) { return !named.url.empty(); };
  const auto has_index = [](const auto& named) { return named.url.empty() && named.index != 0; };
  if (has_url(event) || std::any_of(event.links.begin(), event.links.end(), has_url)) {
    return PageNaming::kUrls;
  }
  if (has_index(event) || std::any_of(event.links.begin(), event.links.end(), has_index)) {
    return PageNaming::kIndexes;
  }
  return usual.value_or(PageNaming::kIndexes);
}

std::span<char> characters_of(std::span<std::byte> bytes) {
  return {static_cast<char*>(static_cast<void*>(bytes.data())), bytes.size()};
}

bool PageImport::fail_store(const Error& error) {
  failure_ = {options_.path, error, false};
  return false;
}

bool PageImport::fail_input(std::string place, const Error& error) {
  failure_ = {std::move(place), error, true};
  return false;
}

void PageImport::refuse(const char* why) {
  if (++counts_.refused > kPageRefusalsShown) return;
  note(fmt::format("{}: refused: {}", model::format_printable(place()), why));
}

/// Some links of the line are refused, the others are taken.
void PageImport::refuse_links(std::uint64_t count) {
  const bool is_told = counts_.refused_links < kPageRefusalsShown;
  counts_.refused_links += count;
  if (!is_told) return;
  note(fmt::format("{}: {} refused: {}", model::format_printable(place()),
                   model::format_counted(count, "link"), parser_.broken_link_text()));
}

bool PageImport::refuse_input(std::string_view why) {
  ++counts_.refused_inputs;
  note_refused_input(path_, why);
  return true;
}

void PageImport::tell_untold() const {
  if (counts_.refused > kPageRefusalsShown) {
    note(fmt::format("{} more lines were refused",
                     model::format_count(counts_.refused - kPageRefusalsShown)));
  }
  if (counts_.refused_links > kPageRefusalsShown) {
    note(fmt::format("{} links were refused in all", model::format_count(counts_.refused_links)));
  }
  if (counts_.cut != 0 && !options_.quiet) note_cut_lines(counts_.cut, first_cut_);
  if (listed_count_ == 0) return;
  note(
      fmt::format("lines with more than two columns: {}; where they list the successors of a page, "
                  "`awk '{{for (i = 2; i <= NF; ++i) print $1 \"\\t\" $i}}'` makes edges of "
                  "them",
                  model::format_count(listed_count_)));
}

/// Events that break a rule are refused, and lines that name pages in another way than the first; a
/// stream that does ends.
bool PageImport::add(const CrawlEvent& event, PageNaming naming) {
  if (sink_ == nullptr) return true;
  const auto added = sink_->add(event, naming);
  // A signal stopped the superstep that memory called for: the reading ends soon, too.
  if (added || added.error().code == Errc::kCancelled) {
    ++counts_.events;
    return true;
  }
  const bool is_misfit = added.error().code == Errc::kTypeMismatch;
  if (is_misfit && (options_.format == "events" || !sink_->naming())) {
    return fail_input(place(), added.error());
  }
  if (!is_misfit && added.error().code != Errc::kInvalidArgument) return fail_store(added.error());
  refuse(added.error().text);
  return true;
}

bool PageImport::take_edge(std::string_view line) {
  const auto edge = parse_edge(line);
  if (!edge) {
    listed_count_ += edge_column_count(line) > 2 ? 1U : 0U;
    refuse(edge.error().text);
  }
  if (!edge || sink_ == nullptr) return true;
  // The first edge decides for a database that is not there yet. A misfit is told at once, so that
  // the message has the number of this line.
  auto usual = sink_->naming();
  if (!usual && !edges_.empty()) usual = edges_.naming();
  const bool is_misfit = usual && *usual != edge->naming;
  const auto is_near = [&] {
    return sink_->takes_index(edge->from_index) && sink_->takes_index(edge->to_index);
  };
  const bool may_be_far = !is_misfit && edge->naming == PageNaming::kIndexes && !is_near();
  if ((is_misfit || may_be_far || edges_.begins_event(*edge)) && !finish_edges()) return false;
  if (may_be_far && !is_near()) {  // what was collected has raised the limit, or has not
    refuse(PageSink::kIndexTooFar);
    return true;
  }
  if (edges_.empty()) first_edge_line_ = line_;
  last_edge_line_ = line_;
  edges_.add(*edge);
  return !is_misfit || finish_edges();
}

std::string PageImport::added_place() const {
  if (options_.format != "edges") return place();
  const bool is_one = first_edge_line_ == last_edge_line_;
  return fmt::format("{}:{}{}", path_, first_edge_line_,
                     is_one ? "" : fmt::format("-{}", last_edge_line_));
}

bool PageImport::finish_edges() {
  if (edges_.empty()) return true;
  const PageNaming naming = edges_.naming();
  return add(edges_.take(), naming);
}

/// A seed: a page that is known, and not crawled.
bool PageImport::take_url(std::string_view line) {
  const auto [url, goes_on] = parse_url_line(line);
  if (goes_on && counts_.cut++ == 0) first_cut_ = place();
  return add({.kind = CrawlEventKind::kKnown, .url = url}, PageNaming::kUrls);
}

bool PageImport::take_json(std::string_view line) {
  const auto event = parser_.parse(line);
  if (event && parser_.broken_link_count() != 0) refuse_links(parser_.broken_link_count());
  if (event) return add(*event, parser_.naming());
  refuse(event.error().text);
  return true;
}

bool PageImport::take_line(std::string_view line) {
  const bool is_json = options_.format == "jsonl";
  if (line.empty() || (!is_json && is_comment_line(line))) {
    ++counts_.skipped;
    return true;
  }
  if (is_json) return take_json(line);
  return options_.format == "edges" ? take_edge(line) : take_url(line);
}

bool PageImport::read_lines(OpenInput& input) {
  LineReader reader(std::move(input.bytes()));
  const InputSize size(input.descriptor());
  std::string_view line;
  while (true) {
    const auto next = reader.next(line);
    if (!next) return finish_edges() && fail_input(path_, next.error());
    if (*next == LineReader::Next::kEnd) return finish_edges();
    if (*next == LineReader::Next::kRefused) return refuse_input(reader.refusal());
    ++counts_.lines;
    ++line_;
    if (*next == LineReader::Next::kTooLong) {
      refuse("it is longer than 64 MiB");
    } else if (!take_line(line)) {
      return false;
    }
    if (counts_.lines % kEventsPerLook == 0) {
      progress_.update(counts_.lines, size.fraction(reader.bytes_read()));
    }
  }
}

bool PageImport::add_batch(std::span<const CrawlEvent> events) {
  for (const CrawlEvent& event : events) {
    ++event_;
    if (!add(event, naming_of(event, sink_->naming()))) return false;
  }
  return true;
}

bool PageImport::read_events(OpenInput& input) {
  const InputSize size(input.descriptor());
  InputBytes& bytes = input.bytes();
  // A signal ends the stream between two reads: what was read of a message then is left out.
  EventStreamReader reader([&bytes](std::span<std::byte> into) -> Result<std::size_t> {
    CRAWLSTORE_TRY(const auto read, bytes.read(characters_of(into)));
    return read.length;
  });
  while (true) {
    const auto batch = reader.next();
    if (!batch) {
      if (stop_.requested() != 0) return true;
      const std::uint64_t offset = batch.error().offset;
      return fail_input(
          offset == Error::kNoOffset ? path_ : fmt::format("{}: at byte {}", path_, offset),
          batch.error());
    }
    if (!bytes.refusal().empty()) return refuse_input(bytes.refusal());
    if (!*batch) return true;
    if (!add_batch(**batch)) return false;
    progress_.update(counts_.events, size.fraction(bytes.bytes_read()));
    if (stop_.requested() != 0) return true;
  }
}

bool PageImport::read(const std::string& path) {
  path_ = path;
  line_ = 0;
  event_ = 0;
  const auto input = first_ ? std::move(first_) : std::make_unique<OpenInput>(path, stop_);
  if (input->descriptor() < 0) {
    return fail_input(path, fail_errno(input->open_errno(), "the input").value());
  }
  return options_.format == "events" ? read_events(*input) : read_lines(*input);
}

int tell(const Failure& failure) {
  return failure.is_of_input ? fail_with_input(failure.subject, failure.error)
                             : fail_with(failure.subject, failure.error);
}

void tell_waiting(std::uint64_t edit_count) {
  note(fmt::format("{} edits wait in the file; `crawlstore merge` makes them pages and links",
                   model::format_count(edit_count)));
}

/// The superstep, with OPIC where it is in use. Returns how many pages gave their cash on. A signal
/// that stops it is no error.
Result<std::optional<std::uint64_t>> finish(PageSink& sink) {
  auto merged = sink.merge();
  if (!merged && merged.error().code == Errc::kCancelled) return std::nullopt;
  return merged;
}

PageScheduleOptions schedule_of(const PageImportOptions& options) {
  return {.source = {.path = options.path,
                     .name = *options.frontier,
                     .lock_wait_seconds = options.lock_wait_seconds},
          .database = options.database};
}

/// Whether the new pages can be put into the frontier, if they are to be. On failure says why, and
/// leaves the exit code in `code`.
bool can_fill_frontier(const PageImportOptions& options, int& code) {
  std::error_code ignored;
  if (!options.frontier || !std::filesystem::exists(options.path, ignored)) return true;
  const auto snapshot = open_snapshot(options.path, false);
  if (snapshot) return choose_frontier_of_pages(*snapshot, schedule_of(options), code).has_value();
  code = fail_with(options.path, snapshot.error());
  return false;
}

/// Puts the new pages into the frontier. On failure as can_fill_frontier().
std::optional<ScheduledPages> fill_frontier(PageSink& sink, const PageImportOptions& options,
                                            int& code) {
  if (!sink.naming()) return ScheduledPages{};
  const auto fail_here = [&](const Error& error) {
    code = fail_with(options.path, error);
    return std::nullopt;
  };
  const auto schedule = schedule_of(options);
  const auto snapshot = sink.store().snapshot();
  if (!snapshot) return fail_here(snapshot.error());
  const auto name = choose_frontier_of_pages(*snapshot, schedule, code);
  if (!name) return std::nullopt;
  const auto done = schedule_pages(sink.store(), *name, schedule);
  if (!done) return fail_here(done.error());
  return done->pages;
}

void add_put_counts(model::Document& document, const ScheduledPages& done) {
  document.fields.push_back({"put_count", model::Unit::kCount, done.put_count});
  document.fields.push_back({"left_out_count", model::Unit::kCount, done.left_out_count});
  document.fields.push_back({"over_limit_count", model::Unit::kCount, done.refused_count});
}

/// Reads all lines, which are to be read again then, and takes none.
int check_lines(const PageImportOptions& options, const StopSignals& stop,
                const model::ImportCounts& counts) {
  PageImport check(nullptr, options, stop, counts);
  for (const std::string& path : options.inputs) {
    if (!check.read(path)) return tell(check.failure());
    if (stop.requested() != 0) return exit_code_of_signal(stop.requested());
  }
  if (!check.has_refused()) return kExitDone;
  check.tell_untold();
  return fail_with("--strict: nothing was imported", kExitNo);
}

}  // namespace

int import_pages(PageImportOptions options) {
  int code = kExitDone;
  if (!can_fill_frontier(options, code)) return code;
  const StopSignals stop;
  model::ImportCounts counts;
  auto looked = drop_refused_inputs(options.inputs, options.path, stop);
  counts.refused_inputs = looked.refused_count;
  if (options.is_strict) {
    code = check_lines(options, stop, counts);
    if (code != kExitDone) return code;
  }
  std::error_code ignored;
  if (options.inputs.empty() && !std::filesystem::exists(options.path, ignored)) {
    const int printed = print_document(model::import_view(counts, {}, {}), options.as_json);
    return printed == kExitDone ? kExitNo : printed;
  }
  WorkBar bar("superstep", stop, options.quiet);
  auto unparsed =
      UnparsedReport::open(options.unparsed, options.path, options.inputs, options.quiet);
  if (!unparsed) return fail_with_output(options.unparsed, unparsed.error());
  PageImport* reader = nullptr;
  auto sink = PageSink::open({options.path, options.database, options.memory_bytes,
                              options.lock_wait_seconds, options.raw, options.index_gap,
                              bar.progress(), [&](std::string_view url, UrlProblem problem) {
                                unparsed->add(reader->added_place(), url, problem);
                              }});
  if (!sink) return fail_with(options.path, sink.error());
  PageImport import(&*sink, options, stop, counts, std::move(looked.first));
  reader = &import;
  bool is_read = true;
  for (const std::string& path : options.inputs) {
    is_read = import.read(path);
    if (!is_read || stop.requested() != 0) break;
  }
  import.tell_untold();
  const Result<void> listed = unparsed->finish();
  Result<std::optional<std::uint64_t>> finished;
  if (!options.no_merge && stop.requested() == 0) finished = finish(*sink);
  const bool fills = options.frontier && is_read && finished && stop.requested() == 0;
  const auto filled = fills ? fill_frontier(*sink, options, code) : std::nullopt;
  const PagesStatus status = sink->status();
  const Result<void> closed = sink->close();
  if (!is_read) return tell(import.failure());
  if (!finished) return fail_with(options.path, finished.error());
  if (!closed) return fail_with(options.path, closed.error());
  if (!listed) return fail_with(options.unparsed, listed.error());
  if (code != kExitDone) return code;
  model::ImportCounts counts_of_all = import.counts();
  counts_of_all.elsewhere = sink->elsewhere_count();
  model::Document document = model::import_view(counts_of_all, sink->first_status(), status);
  if (*finished) document.fields.push_back({"opic_giver_count", model::Unit::kCount, **finished});
  if (filled) add_put_counts(document, *filled);
  const int printed = print_document(document, options.as_json);
  if (printed != kExitDone) return printed;
  if (stop.requested() != 0) {
    if (status.edit_count != 0 && !options.quiet) tell_waiting(status.edit_count);
    return exit_code_of_signal(stop.requested());
  }
  return import.has_refused() || (filled && filled->refused_count != 0) ? kExitNo : kExitDone;
}

}  // namespace crawlstore::cli
