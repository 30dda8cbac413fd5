// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/input_file.h"
#include "cli/input_size.h"
#include "cli/line_reader.h"
#include "cli/merge_order_output.h"
#include "cli/options.h"
#include "cli/page_import.h"
#include "cli/progress.h"
#include "cli/unparsed_report.h"
#include "cli/url_session.h"
#include "cli/verb.h"
#include "model/format_text.h"

namespace crawlstore::cli {
namespace {

/// Keys that are submitted at once.
constexpr std::size_t kKeysAtOnce = 4096;
constexpr std::uint64_t kRefusalsShown = 5;

struct Options {
  UrlSessionOptions session;
  std::string format;
  std::vector<std::string> inputs;
  std::string database;
  std::optional<std::uint64_t> index_gap;
  std::string unparsed;
  bool no_merge = false;
  bool is_strict = false;
  bool as_json = false;
  bool quiet = false;
};

/// Lines in, keys out. The URLs themselves are not kept: nobody waits for their verdicts.
class ImportRun {
 public:
  ImportRun(UrlSession& session, UnparsedReport& unparsed, bool quiet)
      : session_(session),
        keyer_(session.keyer()),
        unparsed_(unparsed),
        progress_("import", model::Unit::kCount, " lines", quiet) {}

  Result<void> answer_leftovers();
  Result<void> read(const std::string& path, int descriptor, const StopSignals& stop);
  Result<void> finish();
  [[nodiscard]] const model::LineCounts& counts() const { return counts_; }

 private:
  Result<void> submit();

  [[nodiscard]] bool has_wide_keys() const { return keyer_.kind() == UrlKeyKind::kXxh3Wide; }

  UrlSession& session_;
  UrlKeyer keyer_;
  UnparsedReport& unparsed_;
  model::LineCounts counts_;
  ProgressBar progress_;
  std::vector<std::uint64_t> keys_;  // one of the two is in use
  std::vector<Key16> wide_keys_;
};

/// Verdicts that an interrupted import did not count are of no use any more; those of other
/// consumers are kept in the file for them.
Result<void> ImportRun::answer_leftovers() {
  DrumCore& core = session_.core();
  const auto ignore = [](std::span<const RawAnswer>) {};
  core.attach(session_.import_consumer(), ignore);
  CRAWLSTORE_TRY(core.take_results(session_.import_consumer(), ignore));
  if (core.status().pending_count != 0) {
    CRAWLSTORE_TRY(session_.merge(true));
  }
  core.attach(session_.import_consumer(), [this](std::span<const RawAnswer> answers) {
    for (const RawAnswer& answer : answers) count(counts_, verdict_of(answer));
  });
  return {};
}

Result<void> ImportRun::submit() {
  const auto consumer = session_.import_consumer();
  const std::uint64_t unparsed_count = keyer_.unparsed_count() - counts_.unparsed;
  if (unparsed_count != 0) session_.core().count_unparsed(unparsed_count);
  counts_.unparsed += unparsed_count;
  CRAWLSTORE_TRY(
      has_wide_keys()
          ? session_.core().submit_keys(DrumOperation::kCheckUpdate, wide_keys_, consumer)
          : session_.core().submit_keys(DrumOperation::kCheckUpdate, keys_, consumer));
  keys_.clear();
  wide_keys_.clear();
  CRAWLSTORE_TRY(session_.merge(false));
  return {};
}

Result<void> ImportRun::read(const std::string& path, int descriptor, const StopSignals& stop) {
  LineReader reader(descriptor, stop);
  const std::uint64_t lines_before = counts_.lines;
  const InputSize size(descriptor);
  std::string_view line;
  while (true) {
    CRAWLSTORE_TRY(const auto next, reader.next(line));
    if (next == LineReader::Next::kEnd) return {};
    ++counts_.lines;
    const auto place = [&] { return fmt::format("{}:{}", path, counts_.lines - lines_before); };
    if (next == LineReader::Next::kTooLong) {
      if (++counts_.refused <= kRefusalsShown) {
        note(model::format_printable(place()) + ": refused: it is longer than 64 MiB");
      }
    } else if (line.empty()) {
      ++counts_.skipped;
    } else {
      const Key16 key = keyer_(line);
      const UrlProblem problem = keyer_.problem();
      CRAWLSTORE_TRY(session_.remember_page(line, key));
      if (problem != UrlProblem::kNone) unparsed_.add(place(), line, problem);
      if (has_wide_keys()) {
        wide_keys_.push_back(key);
      } else {
        keys_.push_back(key.head);
      }
    }
    if (keys_.size() + wide_keys_.size() < kKeysAtOnce) continue;
    CRAWLSTORE_TRY(submit());
    progress_.update(counts_.lines, size.fraction(reader.bytes_read()));
  }
}

Result<void> ImportRun::finish() {
  CRAWLSTORE_TRY(submit());
  CRAWLSTORE_TRY(session_.merge(true));
  counts_.dropped = session_.core().status().dropped_count;
  return {};
}

/// Reads all inputs; an input that cannot be read ends it, what was read before is kept.
Result<void> import_all(ImportRun& import, const Options& options, const StopSignals& stop,
                        std::string& subject) {
  CRAWLSTORE_TRY(import.answer_leftovers());
  Result<void> done;
  for (const std::string& path : options.inputs) {
    const InputFile file(path);
    done = file.descriptor() < 0 ? fail_errno(errno, "the input")
                                 : import.read(path, file.descriptor(), stop);
    if (!done) subject = path;
    if (!done || stop.requested() != 0) break;
  }
  CRAWLSTORE_TRY(import.finish());
  return done;
}

int run_urls(const Options& options) {
  const StopSignals stop;
  auto session = UrlSession::open(options.session);
  if (!session) return fail_with(options.session.path, session.error());
  auto unparsed =
      UnparsedReport::open(options.unparsed, options.session.path, options.inputs, options.quiet);
  if (!unparsed) return fail_with_output(options.unparsed, unparsed.error());
  ImportRun import(*session, *unparsed, options.quiet);
  std::string subject = options.session.path;
  const auto done = import_all(import, options, stop, subject);
  const auto closed = session->close();
  const auto listed = unparsed->finish();
  if (!done) return fail_with(subject, done.error());
  if (!closed) return fail_with(options.session.path, closed.error());
  if (!listed) return fail_with(options.unparsed, listed.error());
  const int printed = print_document(model::lines_view(import.counts()), options.as_json);
  if (printed != kExitDone) return printed;
  if (stop.requested() != 0) return exit_code_of_signal(stop.requested());
  return import.counts().refused == 0 ? kExitDone : kExitNo;
}

/// What cannot be read twice: lines are checked before the first is taken.
bool is_regular(const std::string& path) {
  std::error_code ignored;
  return path != "-" && std::filesystem::is_regular_file(path, ignored);
}

int run(const Options& options) {
  const bool has_lines = options.format == "edges" || options.format == "jsonl";
  if (options.is_strict && !has_lines) {
    return fail_with("import: --strict goes with edges and jsonl", kExitUsage);
  }
  if (options.is_strict && !std::ranges::all_of(options.inputs, is_regular)) {
    return fail_with("import: --strict reads each INPUT twice, which must be a file", kExitUsage);
  }
  if (options.format == "urls") return run_urls(options);
  return import_pages({.path = options.session.path,
                       .format = options.format,
                       .inputs = options.inputs,
                       .database = options.database,
                       .memory_bytes = options.session.memory_bytes,
                       .lock_wait_seconds = options.session.lock_wait_seconds,
                       .raw = options.session.raw,
                       .index_gap = options.index_gap,
                       .unparsed = options.unparsed,
                       .no_merge = options.no_merge,
                       .is_strict = options.is_strict,
                       .as_json = options.as_json,
                       .quiet = options.quiet});
}

constexpr const char* kFooter =
    "urls: plain text, a URL a line; ends of lines and empty lines as in `seen`. Fills a DRUM, and "
    "prints how many were unique and duplicate.\n"
    "The other formats fill a page database:\n"
    "edges: FROM TO a line: the page FROM has a link to TO more. Both are URLs, with one TAB in "
    "between: blanks belong to them; or both are indexes, `#N` or `N`, in a database whose "
    "pages have no URLs, with any spaces and TABs between and around them: there all indexes "
    "below the largest exist, so a wild one is refused. Lists of arcs of SNAP, KONECT and WebGraph "
    "(ArcListASCIIGraph) can be read. Skipped are empty lines, lines of blanks, and comments: `%` "
    "at the start, or `#` "
    "that no digit follows, nor a sign and a digit. A third column is refused, so that no list of "
    "successors is taken for "
    "edges: `cut` or `awk '{print $1, $2}'` leaves out weights and times. A page that is only "
    "listed counts as known, not as crawled.\n"
    "events: crawl events as Cap'n Proto messages, share/crawlstore/crawl_event.capnp.\n"
    "jsonl: the same, an event a line: {\"kind\": \"page\", \"url\": \"http://a.test/\", "
    "\"time\": \"2026-11-21T10:11:12Z\", \"score\": 0.5, \"content_hash\": \"00ff\", "
    "\"links\": [\"http://b.test/\", {\"url\": \"http://c.test/\", \"score\": 2}]}. "
    "Kinds: page, known, gone, "
    "failed, linkAdded, linkRemoved. `time` may be microseconds since 1970. A URL that is no UTF-8 "
    "comes in hexadecimal digits as `url_hex`; without URLs there is `index`.\n"
    "What is no URL by the URL Standard is kept as it is, counted as unparsed, and told with file, "
    "number and reason (the first five; --unparsed lists all); an edge by the lines of its page.\n"
    "Lines that are not of the format, or that name pages in another way than the database, are "
    "refused, with file and number (exit code 1; the "
    "first five are told, with --quiet too), the others "
    "are taken. A UTF-8 byte order mark before the first line of an input is skipped. A stream of "
    "events is taken up to what is wrong with it.\n"
    "FILE is created when it does not exist, and so is the database, with URLs or without as its "
    "first page is named. At the end the superstep runs, which makes edits pages and links. What "
    "was read before an error or a signal is remembered; reading an input again does no harm, but "
    "that a page event counts as one crawl more. A first Ctrl-C stops the reading, or a superstep, "
    "soon: the edits wait in the file then, for `merge` or the next import.\n"
    "Where the database has the scores of `crawlstore rank FILE opic`, they are brought up to date "
    "after the superstep; opic_giver_count is how many pages gave their cash on.";

}  // namespace

Action define_import(Parser& parser) {
  auto options = std::make_shared<Options>();
  parser.footer(kFooter);
  add_file(parser, options->session.path);
  parser.text("--format F", options->format, "the format of the inputs: urls, edges, events, jsonl")
      .required()
      .one_of({"urls", "edges", "events", "jsonl"});
  parser.texts("INPUT", options->inputs, "files to read; - is standard input").required();
  add_drum(parser, options->session.drum, "the DRUM that urls fill (default: urls)");
  add_database(parser, options->database, "the page database that the others fill");
  parser.flag("--raw", options->session.raw,
              "take URLs as they are, without normalising; what is made so stays so");
  add_count(parser, "--index-gap", options->index_gap,
            "without URLs: by how much an index may exceed all before it (default: 268,435,456)",
            {1, std::uint64_t{1} << 40});
  parser.text("--unparsed OUT", options->unparsed,
              "list in this file all that is no URL by the URL Standard: where, why, what");
  parser.flag("--no-merge", options->no_merge,
              "run no superstep at the end: edits wait in the file, for `merge` or the next "
              "import; a superstep that memory calls for runs all the same");
  parser.flag("--strict", options->is_strict,
              "import nothing when a line of edges or jsonl is not of the format (exit 1): reads "
              "each INPUT twice, which must be a file. What only the database refuses, such as an "
              "index far above the others, is left out, and the rest is imported");
  add_repeats(parser, options->session.repeats);
  add_memory(parser, options->session.memory_bytes);
  add_json(parser, options->as_json);
  add_quiet(parser, options->quiet);
  add_lock_wait(parser, options->session.lock_wait_seconds);
  return [options] { return run(*options); };
}

}  // namespace crawlstore::cli
