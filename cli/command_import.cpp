// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/input_size.h"
#include "cli/line_reader.h"
#include "cli/merge_order_output.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/url_session.h"
#include "cli/verb.h"

namespace crawlstore::cli {
namespace {

/// Keys that are submitted at once.
constexpr std::size_t kKeysAtOnce = 4096;

struct Options {
  UrlSessionOptions session;
  std::string format;
  std::vector<std::string> inputs;
  bool as_json = false;
  bool quiet = false;
};

/// An input of the command: a file, or standard input for "-".
class InputFile {
 public:
  explicit InputFile(const std::string& path)
      : descriptor_(path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~InputFile() {
    if (descriptor_ > STDIN_FILENO) ::close(descriptor_);
  }
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  [[nodiscard]] int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

/// Lines in, keys out. The URLs themselves are not kept: nobody waits for their verdicts.
class ImportRun {
 public:
  ImportRun(UrlSession& session, bool quiet)
      : session_(session), progress_("import", model::Unit::kCount, " lines", quiet) {}

  Result<void> answer_leftovers();
  Result<void> read(int descriptor, const StopSignals& stop);
  Result<void> finish();
  [[nodiscard]] const model::LineCounts& counts() const { return counts_; }

 private:
  Result<void> submit();

  UrlSession& session_;
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
  const auto taken = core.take_results(session_.import_consumer(), ignore);
  if (!taken) return tl::unexpected<Error>(taken.error());
  if (core.status().pending_count != 0) {
    const auto answered = session_.merge(true);
    if (!answered) return tl::unexpected<Error>(answered.error());
  }
  core.attach(session_.import_consumer(), [this](std::span<const RawAnswer> answers) {
    for (const RawAnswer& answer : answers) count(counts_, verdict_of(answer));
  });
  return {};
}

Result<void> ImportRun::submit() {
  const auto consumer = session_.import_consumer();
  CRAWLSTORE_TRY(
      session_.has_wide_keys()
          ? session_.core().submit_keys(DrumOperation::kCheckUpdate, wide_keys_, consumer)
          : session_.core().submit_keys(DrumOperation::kCheckUpdate, keys_, consumer));
  keys_.clear();
  wide_keys_.clear();
  const auto merged = session_.merge(false);
  if (!merged) return tl::unexpected<Error>(merged.error());
  return {};
}

Result<void> ImportRun::read(int descriptor, const StopSignals& stop) {
  LineReader reader(descriptor, stop);
  const InputSize size(descriptor);
  std::string_view line;
  while (true) {
    const auto next = reader.next(line);
    if (!next) return tl::unexpected<Error>(next.error());
    if (*next == LineReader::Next::kEnd) return {};
    ++counts_.lines;
    if (*next == LineReader::Next::kTooLong) {
      ++counts_.refused;
    } else if (line.empty()) {
      ++counts_.skipped;
    } else {
      const Key16 key = session_.key_of(line);
      if (session_.has_wide_keys()) {
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
  const auto merged = session_.merge(true);
  if (!merged) return tl::unexpected<Error>(merged.error());
  counts_.unparsed = session_.unparsed_count();
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
                                 : import.read(file.descriptor(), stop);
    if (!done) subject = path;
    if (!done || stop.requested() != 0) break;
  }
  CRAWLSTORE_TRY(import.finish());
  return done;
}

int run(const Options& options) {
  const StopSignals stop;
  auto session = UrlSession::open(options.session);
  if (!session) return fail_with(options.session.path, session.error());
  ImportRun import(*session, options.quiet);
  std::string subject = options.session.path;
  const auto done = import_all(import, options, stop, subject);
  const auto closed = session->close();
  if (!done) return fail_with(subject, done.error());
  if (!closed) return fail_with(options.session.path, closed.error());
  const int printed = print_document(model::lines_view(import.counts()), options.as_json);
  if (printed != kExitDone) return printed;
  if (stop.requested() != 0) return exit_code_of_signal(stop.requested());
  return import.counts().refused == 0 ? kExitDone : kExitNo;
}

}  // namespace

Action define_import(CLI::App& parser) {
  auto options = std::make_shared<Options>();
  parser.footer(
      "urls: plain text, a URL a line; ends of lines and empty lines as in `seen`. Prints how many "
      "were unique and duplicate. FILE is created when it does not exist. What was read before an "
      "error or a signal is remembered; reading an input again does no harm.");
  add_file(parser, options->session.path);
  parser.add_option("--format", options->format, "the format of the inputs: urls")
      ->required()
      ->type_name("F")
      ->check(CLI::IsMember({"urls"}));
  parser.add_option("INPUT", options->inputs, "files to read; - is standard input")->required();
  add_drum(parser, options->session.drum, "the DRUM to fill (default: urls)");
  parser.add_flag("--raw", options->session.raw, "key the bytes of a line without normalising");
  add_repeats(parser, options->session.repeats);
  add_memory(parser, options->session.memory_bytes);
  add_json(parser, options->as_json);
  add_quiet(parser, options->quiet);
  add_lock_wait(parser, options->session.lock_wait_seconds);
  return [options] { return run(*options); };
}

}  // namespace crawlstore::cli
