// SPDX-License-Identifier: Apache-2.0
#include "cli/url_import.h"

#include <utility>

#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/merge_order_output.h"
#include "cli/refused_inputs.h"
#include "cli/stop_signals.h"
#include "cli/unparsed_report.h"
#include "cli/url_lines.h"

namespace crawlstore::cli {
namespace {

/// Keys that are submitted at once.
constexpr std::size_t kKeysAtOnce = 4096;

/// URLs in, keys out. The URLs themselves are not kept: nobody waits for their verdicts.
class UrlImport {
 public:
  /// It writes the counts of verdicts and of lines that are no URL, and no others.
  UrlImport(UrlSession& session, UnparsedReport& unparsed, model::LineCounts& counts)
      : session_(session), keyer_(session.keyer()), unparsed_(unparsed), counts_(counts) {}

  Result<void> run(UrlLines& lines, const std::vector<std::string>& inputs, OpenInputPtr first);

 private:
  Result<void> answer_leftovers();
  Result<void> take(std::string_view url, const UrlLines& lines);
  Result<void> submit();

  [[nodiscard]] bool has_wide_keys() const { return keyer_.kind() == UrlKeyKind::kXxh3Wide; }

  UrlSession& session_;
  UrlKeyer keyer_;
  UnparsedReport& unparsed_;
  model::LineCounts& counts_;
  std::vector<std::uint64_t> keys_;  // one of the two is in use
  std::vector<Key16> wide_keys_;
};

/// Verdicts that an interrupted import did not count are of no use any more; those of other
/// consumers are kept in the file for them.
Result<void> UrlImport::answer_leftovers() {
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

Result<void> UrlImport::submit() {
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

Result<void> UrlImport::take(std::string_view url, const UrlLines& lines) {
  const Key16 key = keyer_(url);
  const UrlProblem problem = keyer_.problem();
  CRAWLSTORE_TRY(session_.remember_page(url, key));
  if (problem != UrlProblem::kNone) unparsed_.add(lines.place(), url, problem);
  if (has_wide_keys()) {
    wide_keys_.push_back(key);
  } else {
    keys_.push_back(key.head);
  }
  return keys_.size() + wide_keys_.size() < kKeysAtOnce ? Result<void>{} : submit();
}

Result<void> UrlImport::run(UrlLines& lines, const std::vector<std::string>& inputs,
                            OpenInputPtr first) {
  CRAWLSTORE_TRY(answer_leftovers());
  CRAWLSTORE_TRY(lines.read(
      inputs, [&](std::string_view url) { return take(url, lines); }, std::move(first)));
  CRAWLSTORE_TRY(submit());
  CRAWLSTORE_TRY(session_.merge(true));
  counts_.dropped = session_.core().status().dropped_count;
  return {};
}

/// Reads all lines, which are to be read again then, and takes none.
int check_lines(const UrlImportOptions& options, const StopSignals& stop,
                model::LineCounts counts) {
  UrlLines lines(stop, counts, true);
  (void)lines.read(options.inputs, [](std::string_view) { return Result<void>{}; });
  if (lines.failure()) return fail_with_input(lines.failure()->path, lines.failure()->error);
  if (stop.requested() != 0) return exit_code_of_signal(stop.requested());
  if (counts.refused + counts.refused_inputs == 0) return kExitDone;
  return fail_with("--strict: nothing was imported", kExitNo);
}

}  // namespace

int import_urls(UrlImportOptions options) {
  const StopSignals stop;
  model::LineCounts counts;
  auto looked = drop_refused_inputs(options.inputs, options.session.path, stop);
  counts.refused_inputs = looked.refused_count;
  if (options.is_strict) {
    if (const int code = check_lines(options, stop, counts); code != kExitDone) return code;
  }
  if (options.inputs.empty()) {
    const int printed = print_document(model::lines_view(counts), options.as_json);
    return printed == kExitDone ? kExitNo : printed;
  }
  auto session = UrlSession::open(options.session);
  if (!session) return fail_with(options.session.path, session.error());
  auto unparsed =
      UnparsedReport::open(options.unparsed, options.session.path, options.inputs, options.quiet);
  if (!unparsed) return fail_with_output(options.unparsed, unparsed.error());
  UrlLines lines(stop, counts, options.quiet);
  UrlImport import(*session, *unparsed, counts);
  const auto done = import.run(lines, options.inputs, std::move(looked.first));
  const auto closed = session->close();
  const auto listed = unparsed->finish();
  if (!done) return fail_with(options.session.path, done.error());
  if (lines.failure()) return fail_with_input(lines.failure()->path, lines.failure()->error);
  if (!closed) return fail_with(options.session.path, closed.error());
  if (!listed) return fail_with(options.unparsed, listed.error());
  const int printed = print_document(model::lines_view(counts), options.as_json);
  if (printed != kExitDone) return printed;
  if (stop.requested() != 0) return exit_code_of_signal(stop.requested());
  return counts.refused + counts.refused_inputs == 0 ? kExitDone : kExitNo;
}

}  // namespace crawlstore::cli
