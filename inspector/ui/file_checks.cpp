// SPDX-License-Identifier: Apache-2.0
#include "inspector/ui/file_checks.h"

#include <filesystem>
#include <utility>

#include "model/format_text.h"

namespace crawlstore::inspector {

void FileChecks::verify(VerifyLevel level) {
  if (!state_.session.file) return;
  constexpr std::string_view kNames[] = {"quick check", "check of all checksums", "deep check"};
  const std::string path = state_.session.file->path();
  const bool mapped = state_.options.file.mapped;
  const auto work = [this, path, level, mapped](JobContext& context) -> Jobs::Finish {
    VerifyOptions options;
    options.level = level;
    options.mapped = mapped;
    VerifyReport so_far;  // when it is cancelled
    options.progress = [&](std::uint64_t done, std::uint64_t total) {
      so_far.checked_bytes = done;
      return context.progress(done, total);
    };
    options.sink = [&so_far](const Finding& finding) { so_far.findings.push_back(finding); };
    const auto report = crawlstore::verify(path, options);
    const bool is_partial = !report && report.error().code == Errc::kCancelled;
    std::optional<Error> problem;
    if (report) so_far = *report;
    if (!report && !is_partial) problem = report.error();
    return [this, so_far, level, is_partial, problem] {
      if (problem) {
        state_.say(Severity::kBad, "the check stopped: " + describe(*problem));
      } else {
        take({so_far, level, is_partial, state_.platform.now_us()});
      }
    };
  };
  state_.jobs.start(std::string(kNames[static_cast<std::size_t>(level)]), "verify", work);
}

void FileChecks::take(Checked checked) {
  const std::size_t count = checked.report.findings.size();
  const bool is_bad = checked.report.damaged();
  if (count > 0) {
    state_.say(is_bad ? Severity::kBad : Severity::kWarning,
               model::format_counted(count, "problem") + " found");
  } else if (checked.level != VerifyLevel::kQuick) {
    state_.say(Severity::kNote, "no problem found in " +
                                    model::format_bytes(checked.report.checked_bytes) +
                                    (checked.is_partial ? ", so far" : ""));
  }
  state_.session.health.take(std::move(checked));
}

void FileChecks::meet(const Error& error) {
  Session& session = state_.session;
  // Without a pin a writer may have reused what was read.
  if (!state_.options.file.pin && session.file && session.file->has_news()) return;
  if (session.health.meet(error)) state_.say(Severity::kBad, describe(error));
}

void FileChecks::recover_to(const std::string& new_path) {
  const std::string path = state_.session.recoverable_path();
  state_.jobs.start("recover " + std::filesystem::path(path).filename().string(), "recover",
                    recovery_work(path, new_path, [this](std::shared_ptr<const Recovery> ended) {
                      const bool is_there = ended->report.has_value();
                      const bool is_whole = is_there && ended->report->losses.empty();
                      state_.session.recovery = std::move(ended);
                      state_.say(is_whole   ? Severity::kNote
                                 : is_there ? Severity::kWarning
                                            : Severity::kBad,
                                 describe(*state_.session.recovery));
                    }));
}

}  // namespace crawlstore::inspector
