// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <chrono>
#include <csignal>
#include <utility>

#include <fmt/format.h>

#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/options.h"
#include "cli/refused_inputs.h"
#include "cli/seen_run.h"
#include "cli/verb.h"
#include "model/format_text.h"
#include "model/parse_text.h"

namespace crawlstore::cli {
namespace {

constexpr const char* kSeenFooter =
    "Reads URLs, a line each, from the inputs or from standard input. For each URL it prints "
    "`unique`, `duplicate` or (with --update) `updated`, a TAB and the line. The order is that "
    "in which merges decide: arrival order inside a bucket. With --repeats drop many `duplicate` "
    "(and `updated`) lines are missing. A URL of a page of FILE also counts as seen, since DRUM "
    "and pages are one memory; `crawlstore forget` takes it out of both. Edits that wait for "
    "`crawlstore merge` are no pages yet.\n"
    "Verdicts come:\n"
    "  when the input pauses, or a line has waited for a second (longer where merges take long), "
    "or as --flush-every says\n"
    "  when the lines that wait take --memory: at most 256 MiB, more in a FILE that remembers "
    "more than 64 million URLs, and a quarter of that with --ordered\n"
    "  at the end\n"
    "A line leaves FILE only after its verdict was written out. If a run is killed, the next run "
    "first prints the verdicts that were not written out. The same happens when the reader of a "
    "run goes away, which ends the run quietly, by SIGPIPE. So every verdict comes at least "
    "once; those of the last merge may come twice. Bytes that a pipe holds (64 KiB) when its "
    "reader goes away count as written out. FILE may not know lines that a killed run had read "
    "and no merge had begun with: give such an input again.\n"
    "Inputs that are packed by gzip or zstd are unpacked as they are read (zstd: windows of up "
    "to 128 MiB). An input is refused (exit code 1) if its first bytes are those of bzip2, xz, "
    "UTF-16, WARC, ARC, XML or a crawl file. The other inputs are read.\n"
    "A CR at the end of a line is dropped, and so is a UTF-8 byte order mark before the first "
    "line. Empty lines are skipped. A URL that holds a TAB or a CR is refused (exit code 1); "
    "with --json it is taken and escaped. If another program or a run with --json left such a "
    "URL, it is printed with escapes. JSON is one object a line: "
    "{\"verdict\":\"unique\",\"url\":\"...\"}; bytes that are no UTF-8 come as hexadecimal "
    "digits in `url_hex` instead of `url`.\n"
    "FILE is created when it does not exist. On SIGHUP, SIGINT or SIGTERM the lines that were "
    "read are answered, and the exit code is 129, 130 or 143. A second SIGINT or SIGTERM ends "
    "the run at once, and the last commit stands.";

std::string summary(const model::LineCounts& counts, double seconds) {
  const auto number = model::format_count;
  std::string text = fmt::format("{} lines: {} unique, {} duplicate", number(counts.lines),
                                 number(counts.unique), number(counts.duplicate));
  if (counts.updated != 0) text += fmt::format(", {} updated", number(counts.updated));
  if (counts.dropped != 0) text += fmt::format(", {} dropped", number(counts.dropped));
  if (counts.skipped != 0) text += fmt::format(", {} empty", number(counts.skipped));
  if (counts.refused != 0) text += fmt::format(", {} refused", number(counts.refused));
  if (counts.refused_inputs != 0) {
    text += ", " + model::format_counted(counts.refused_inputs, "input") + " refused";
  }
  if (counts.unparsed != 0) text += fmt::format("; {} no URLs", number(counts.unparsed));
  return text + fmt::format("; {}", model::format_duration(seconds));
}

std::string parse_flush_every(const std::string& text, FlushEvery& to) {
  constexpr std::uint64_t kLongestSeconds = 7 * 24 * 3600;
  to = {};
  if (const auto lines = model::parse_count(text)) {
    to.lines = *lines;
    return *lines == 0 ? "at least 1 line" : std::string();
  }
  to.time = model::parse_duration(text);
  if (!to.time)
    return "lines such as 1000, or a time such as 500ms or 2s, are expected, not " + text;
  const bool fits =
      std::chrono::milliseconds(1) <= *to.time && *to.time <= std::chrono::seconds(kLongestSeconds);
  return fits ? std::string() : "from 1ms to 168h";
}

int run(SeenOptions options) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  const StopSignals stop;
  // A reader that goes away still ends us quietly, after what was read is in the file.
  std::signal(SIGPIPE, SIG_IGN);
  auto inputs = options.inputs.empty() ? std::vector<std::string>{"-"} : options.inputs;
  auto looked = drop_refused_inputs(inputs, options.session.path, stop);
  if (inputs.empty()) return kExitNo;
  if (!options.inputs.empty()) options.inputs = inputs;
  end_torn_line();
  auto session = UrlSession::open(options.session);
  if (!session) return fail_with(options.session.path, session.error());
  auto unparsed =
      UnparsedReport::open(options.unparsed, options.session.path, options.inputs, options.quiet);
  if (!unparsed) return fail_with_output(options.unparsed, unparsed.error());
  SeenRun seen(options, *session, *unparsed, std::move(looked));
  const auto done = seen.run(stop);
  const auto output_failure = seen.output_failure();
  const auto closed = session->close();
  const auto listed = unparsed->finish();
  if (output_failure && output_failure->system_errno == EPIPE) {
    std::signal(SIGPIPE, SIG_DFL);
    (void)std::raise(SIGPIPE);
  }
  if (seen.is_of_input()) return fail_with_input(seen.subject(), done.error());
  if (!done) return fail_with(seen.subject(), done.error());
  if (!closed) return fail_with(options.session.path, closed.error());
  if (!listed) return fail_with(options.unparsed, listed.error());
  if (!options.quiet) {
    note(summary(seen.counts(), std::chrono::duration<double>(Clock::now() - start).count()));
  }
  if (stop.requested() != 0) return exit_code_of_signal(stop.requested());
  return seen.counts().refused + seen.counts().refused_inputs == 0 ? kExitDone : kExitNo;
}

}  // namespace

Action define_seen(Parser& parser) {
  auto options = std::make_shared<SeenOptions>();
  parser.footer(kSeenFooter);
  add_file(parser, options->session.path);
  parser.texts("INPUT", options->inputs,
               "files to read; - is standard input (default: standard input)");
  add_drum(parser, options->session.drum, "the DRUM to ask (default: urls)");
  const auto choose = [options](DrumOperation operation) {
    return [options, operation] { options->operation = operation; };
  };
  const auto check = parser.flag("--check", choose(DrumOperation::kCheck),
                                 "ask only: a URL is not remembered unless a page has it");
  const auto update = parser.flag("--update", choose(DrumOperation::kUpdate),
                                  "remember only: every line is `updated`");
  const auto both = parser.flag("--check-update", choose(DrumOperation::kCheckUpdate),
                                "ask and remember (default)");
  check.excludes(update).excludes(both);
  update.excludes(both);
  const auto ordered =
      parser.flag("--ordered", options->ordered, "verdicts in the order of the input");
  const auto parse = [options](const std::string& text) {
    return parse_flush_every(text, options->flush_every);
  };
  parser.parsed(
      "--flush-every N|TIME", parse,
      "answer all waiting lines after every N lines, or when the first has waited for TIME, such "
      "as 500ms, 2s or 1min (default: when the input pauses for 1s)");
  parser.flag("--raw", options->session.raw,
              "use the bytes of a line as the key, not the normal form; a DRUM made so stays so");
  parser.text("--unparsed OUT", options->unparsed,
              "list the lines that are no URLs by the URL Standard in this file: where, why, what");
  add_repeats(parser, options->session.repeats).excludes(ordered);
  add_memory(parser, options->session.memory_bytes);
  add_json(parser, options->as_json);
  add_quiet(parser, options->quiet);
  add_lock_wait(parser, options->session.lock_wait_seconds);
  return [options] { return run(*options); };
}

}  // namespace crawlstore::cli
