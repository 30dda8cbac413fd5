// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include <crawlstore/pages.h>
#include <crawlstore/shard_exchange.h>

#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/memory_limit.h"
#include "cli/open_input.h"
#include "cli/options.h"
#include "cli/output_file.h"
#include "cli/progress.h"
#include "cli/refused_inputs.h"
#include "cli/shards_set.h"
#include "cli/shards_split.h"
#include "cli/stop_signals.h"
#include "cli/verb.h"
#include "model/format_text.h"
#include "model/shards_view.h"

namespace crawlstore::cli {
namespace {

constexpr std::uint64_t kPagesMemoryMin = std::uint64_t{1} << 20;

struct ShardsOptions {
  std::string action;
  std::vector<std::string> paths;  // FILE, or files of shards; then inputs
  std::string database = "pages";
  std::string folder;  // empty: this one
  std::optional<std::uint64_t> step;
  std::vector<std::string> left;  // of `split`
  std::optional<std::uint64_t> memory_bytes;
  double lock_wait_seconds = 60;
  bool as_json = false;
  bool quiet = false;
  ShardSetOptions set;

  [[nodiscard]] ShardSetSource source() const { return {paths, database, as_json, quiet}; }
};

model::Field number_of(const char* name, std::uint64_t count) {
  return {name, model::Unit::kCount, count};
}

model::Field step_of(std::uint64_t step) {
  return {"step", model::Unit::kId, step};
}

Result<ExchangeState> state_of(const ShardsOptions& options) {
  CRAWLSTORE_TRY(const auto snapshot, open_snapshot(options.paths.front(), false));
  CRAWLSTORE_TRY(const auto row,
                 model::shard_row(options.paths.front(), snapshot, options.database));
  return row.state;
}

/// A store and its pages, open for an exchange, and who is told of supersteps.
struct OpenShard {
  Store store;
  PageDb pages;
  Progress progress;

  Result<void> close() {
    CRAWLSTORE_TRY(pages.close());
    return store.close();
  }
};

Result<OpenShard> open_shard(const ShardsOptions& options, Progress progress) {
  CRAWLSTORE_TRY(auto store, open_store(options.paths.front(), options.lock_wait_seconds));
  PagesOptions made;
  made.memory_bytes =
      std::max(options.memory_bytes.value_or(default_memory_bytes()), kPagesMemoryMin);
  made.progress = progress;
  CRAWLSTORE_TRY(auto pages, PageDb::open(store, options.database, made));
  return OpenShard{std::move(store), std::move(pages), std::move(progress)};
}

/// The files of an outbox, each of which is there as a whole or not at all.
class OutboxFiles {
 public:
  OutboxFiles(const ShardsOptions& options, std::uint64_t step, const Shard& shard)
      : options_(options), step_(step), shard_(shard) {}

  Result<void> write(std::uint32_t to, std::span<const std::byte> bytes) {
    auto file = files_.find(to);
    if (file == files_.end()) {
      last_path_ = path_to(to);
      CRAWLSTORE_TRY(auto opened, OutputFile::open(last_path_));
      file = files_.emplace(to, std::move(opened)).first;
    }
    return file->second.write(bytes);
  }
  Result<void> finish() {
    for (auto& [to, file] : files_) CRAWLSTORE_TRY(file.finish());
    return {};
  }
  [[nodiscard]] std::size_t count() const { return files_.size(); }
  /// The path of the file that was opened last.
  [[nodiscard]] const std::string& last_path() const { return last_path_; }

 private:
  /// Outboxes of several databases may lie in one folder.
  [[nodiscard]] std::string path_to(std::uint32_t to) const {
    const bool is_usual = options_.database == PageDb::kDefaultName;
    const std::string name = fmt::format("{}{}{}.{}-{}.outbox", is_usual ? "" : options_.database,
                                         is_usual ? "" : ".", step_, shard_.index, to);
    return (std::filesystem::path(options_.folder) / name).string();
  }

  const ShardsOptions& options_;
  std::uint64_t step_;
  Shard shard_;
  std::map<std::uint32_t, OutputFile> files_;
  std::string last_path_;
};

/// Makes the folder of the outbox, before anything else is done.
Result<void> make_folder(const std::string& folder) {
  if (folder.empty()) return {};
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) return fail_errno(failed.value(), "the folder");
  return ::access(folder.c_str(), W_OK | X_OK) == 0 ? Result<void>()
                                                    : fail_errno(errno, "the folder");
}

/// The step to send: the one under way, which ends now unless it has, or an earlier one.
Result<std::uint64_t> step_to_send(const ShardsOptions& options, Progress progress) {
  CRAWLSTORE_TRY(const auto state, state_of(options));
  if (options.step && *options.step != state.step) return *options.step;
  CRAWLSTORE_TRY(auto shard, open_shard(options, std::move(progress)));
  CRAWLSTORE_TRY(const auto ended, end_step(shard.store, shard.pages, shard.progress));
  CRAWLSTORE_TRY(shard.close());
  return ended.step;
}

Result<void> note_as_sent(const ShardsOptions& options) {
  CRAWLSTORE_TRY(auto shard, open_shard(options, {}));
  CRAWLSTORE_TRY(note_sent(shard.store, shard.pages));
  return shard.close();
}

int send(const ShardsOptions& options) {
  const std::string& path = options.paths.front();
  const StopSignals stop;
  WorkBar bar("superstep", stop, options.quiet);
  if (const auto made = make_folder(options.folder); !made) {
    return fail_with_output(options.folder, made.error());
  }
  const auto step = step_to_send(options, bar.progress());
  if (stop.requested() != 0) return exit_code_of_signal(stop.requested());
  if (!step) return fail_with(path, step.error());
  const auto snapshot = open_snapshot(path, false);
  if (!snapshot) return fail_with(path, snapshot.error());
  const auto state = read_exchange(*snapshot, options.database);
  if (!state) return fail_with(path, state.error());
  OutboxFiles files(options, *step, state->shard);
  bool is_output = false;
  const auto sink = [&](std::uint32_t to, std::span<const std::byte> bytes) -> Result<void> {
    if (stop.requested() != 0) return fail(Errc::kCancelled, "cancelled");
    const auto done = files.write(to, bytes);
    is_output = !done;
    return done;
  };
  const auto written = write_outbox(*snapshot, *step, sink, options.database);
  if (stop.requested() != 0) return exit_code_of_signal(stop.requested());
  if (!written) {
    return is_output ? fail_with_output(files.last_path(), written.error())
                     : fail_with(path, written.error());
  }
  if (const auto done = files.finish(); !done) {
    return fail_with_output(files.last_path(), done.error());
  }
  if (*step == state->step) {
    if (const auto noted = note_as_sent(options); !noted) return fail_with(path, noted.error());
  }
  return print_document({{step_of(*step),
                          number_of("message_count", files.count()),
                          number_of("url_count", written->url_count),
                          {"message_bytes", model::Unit::kBytes, written->byte_count}},
                         {}},
                        options.as_json);
}

/// Whether the message is to blame, and not the store that takes it.
bool is_of_message(const Error& error) {
  const bool is_of_content = error.code == Errc::kTruncated || error.code == Errc::kChunkDamaged ||
                             error.code == Errc::kSegmentInvalid ||
                             error.code == Errc::kInvalidArgument;
  return is_of_content && !error.segment;
}

/// Takes the messages of one input after the other, and adds up what they were.
class Receiving {
 public:
  Receiving(OpenShard& shard, const std::string& path, const StopSignals& stop)
      : shard_(shard), path_(path), stop_(stop) {}

  /// Returns the exit code, and says why it is not 0. A fault of an input is kExitNo.
  int take(const std::string& input_path) {
    OpenInput input(input_path, stop_);
    if (input.descriptor() < 0) {
      return fail_with_input(input_path, fail_errno(input.open_errno(), "the input").value());
    }
    bool has_input_failed = false;
    const EventSource source = [&](std::span<std::byte> into) -> Result<std::size_t> {
      auto* const begin = static_cast<char*>(static_cast<void*>(into.data()));
      const auto read = input.bytes().read({begin, into.size()});
      has_input_failed = !read;
      return read.map([](const auto& got) { return got.length; });
    };
    const auto report = receive_outbox(shard_.store, shard_.pages, source, shard_.progress);
    if (stop_.requested() != 0) return exit_code_of_signal(stop_.requested());
    const std::string& refusal = input.bytes().refusal();
    if (!refusal.empty()) return refuse(input_path, refusal);
    if (!report && is_of_message(report.error())) {
      ++refused_count_;
      (void)fail_with_input(input_path, report.error());
      return kExitNo;
    }
    if (!report && has_input_failed) return fail_with_input(input_path, report.error());
    if (!report) return fail_with(path_, report.error());
    if (report->message_count == 0)
      return refuse(input_path, "there is no message of a shard in it");
    sum_.message_count += report->message_count;
    sum_.stale_count += report->stale_count;
    sum_.early_count += report->early_count;
    sum_.url_count += report->url_count;
    sum_.new_count += report->new_count;
    return kExitDone;
  }

  [[nodiscard]] std::uint64_t refused_count() const { return refused_count_; }
  [[nodiscard]] std::vector<model::Field> fields(const ExchangeState& state) const {
    return {step_of(state.step),
            number_of("message_count", sum_.message_count),
            number_of("stale_count", sum_.stale_count),
            number_of("early_count", sum_.early_count),
            number_of("refused_input_count", refused_count_),
            number_of("url_count", sum_.url_count),
            number_of("new_page_count", sum_.new_count),
            number_of("missing_count", state.missing.size())};
  }

 private:
  int refuse(const std::string& input_path, const std::string& why) {
    ++refused_count_;
    note_refused_input(input_path, why);
    return kExitNo;
  }

  OpenShard& shard_;
  const std::string& path_;
  const StopSignals& stop_;
  InboxReport sum_;
  std::uint64_t refused_count_ = 0;
};

/// Goes through all inputs; those that are refused keep no other out.
int receive(const ShardsOptions& options) {
  const StopSignals stop;
  const std::string& path = options.paths.front();
  if (const auto state = state_of(options); !state) return fail_with(path, state.error());
  WorkBar bar("superstep", stop, options.quiet);
  auto shard = open_shard(options, bar.progress());
  if (!shard) return fail_with(path, shard.error());
  Receiving receiving(*shard, path, stop);
  for (const std::string& input : std::span(options.paths).subspan(1)) {
    const int code = receiving.take(input);
    if (code != kExitDone && code != kExitNo) return code;
  }
  const auto merged = shard->pages.merge(shard->progress);
  if (stop.requested() != 0) return exit_code_of_signal(stop.requested());
  if (!merged) return fail_with(path, merged.error());
  if (const auto closed = shard->close(); !closed) return fail_with(path, closed.error());
  const auto state = state_of(options);
  if (!state) return fail_with(path, state.error());
  const int printed = print_document({receiving.fields(*state), {}}, options.as_json);
  return printed != kExitDone || receiving.refused_count() == 0 ? printed : kExitNo;
}

/// One line a file, and a word about all of them.
int info(const ShardsOptions& options) {
  std::vector<model::ShardRow> rows;
  for (const std::string& path : options.paths) {
    const auto snapshot = open_snapshot(path, false);
    if (!snapshot) return fail_with(path, snapshot.error());
    auto row = model::shard_row(path, *snapshot, options.database);
    if (!row) return fail_with(path, row.error());
    rows.push_back(std::move(*row));
  }
  const std::string problem = model::shards_problem(rows);
  const int printed = print_document(model::shards_view(rows), options.as_json);
  if (printed != kExitDone || problem.empty()) return printed;
  return fail_with(problem, kExitNo);
}

/// Says why the words make no sense together; empty: they do.
std::string misuse(const ShardsOptions& options) {
  const bool sends = options.action == "send";
  if (!sends && options.step) return "--step goes with `send`";
  if (!sends && !options.folder.empty()) return "--to goes with `send`";
  const bool splits = options.action == "split";
  if (!splits && !options.left.empty()) return "--leave goes with `split`";
  if (splits && options.paths.size() != 3) return "`split` takes FILE, LOWER and UPPER";
  if (sends && options.paths.size() != 1) return "`send` takes one FILE";
  if (options.action == "receive" && options.paths.size() == 1) {
    return "`receive` takes FILE and messages";
  }
  return shard_set_misuse(options.action, options.set);
}

int run(const ShardsOptions& options) {
  if (const std::string text = misuse(options); !text.empty()) {
    return fail_with("shards: " + text, kExitUsage);
  }
  if (options.action == "info") return info(options);
  if (options.action == "find") return find_in_shards(options.source(), options.set);
  if (options.action == "top") return top_of_shards(options.source(), options.set);
  if (options.action == "verify") return verify_shards(options.source());
  if (options.action == "split") {
    return split_shard({options.paths, options.database, options.left, options.memory_bytes,
                        options.as_json, options.quiet});
  }
  return options.action == "send" ? send(options) : receive(options);
}

}  // namespace

Action define_shards(Parser& parser) {
  auto options = std::make_shared<ShardsOptions>();
  parser.footer(
      "A crawl on several machines has a file on each (`create --shard I/N`), and goes in steps: "
      "each crawls what it knows, say one level of links, then tells the others what it found "
      "that is theirs.\n"
      "  crawlstore shards send 0.crawl --to out        ends the step; out/STEP.0-TO.outbox\n"
      "  rsync out/*.0-1.outbox machine1:in/            by whatever moves files\n"
      "  crawlstore shards receive 0.crawl in/*-0.outbox\n"
      "With the outboxes of all others the next step begins. Messages that came before change "
      "nothing; those of a step that has not ended here are left out (`early_count`), and given "
      "again later; what is damaged, of another crawl or to another shard is told, and makes "
      "exit code 1. A script that may have to do things again names the step: `send --step N` "
      "ends it if it is under way, and sends it once more if it is over. The others also send "
      "once more for a shard that was brought back from a copy, from its step on. `info` shows "
      "how far all are, and exits with 1 when they do not make a whole crawl. Depths and scores "
      "do not cross shards.\n"
      "`find`, `top` and `verify` read all shards as one. `find` shows a page where its own "
      "shard has it, with the in-links of all shards; exit code 1 when there is none. `top` "
      "compares scores that one computation made in all shards, and no others. `verify` reads "
      "each file as the verb of that name does, then looks whether shards know the pages that "
      "they were told of; exit code 1 when something is damaged, missing, older than the others "
      "or not known.\n"
      "" +
      std::string(kSplitFooter));
  parser.text("ACTION", options->action, "info, send, receive, find, top, verify or split")
      .required()
      .one_of({"info", "send", "receive", "find", "top", "verify", "split"});
  parser
      .texts("FILE", options->paths,
             "the file of one shard; for `info`, `find`, `top` and `verify` the files of all; "
             "for `receive`, then the messages, `-`: standard input; for `split`, then the two "
             "new files")
      .required();
  add_database(parser, options->database, "the page database");
  parser.text("--to FOLDER", options->folder,
              "where `send` writes (default: here); made if it is not there");
  add_count(parser, "--step", options->step,
            "send the outbox of this step (default: of the one under way)", {1, ~std::uint64_t{0}});
  add_shard_set(parser, options->set);
  parser
      .texts("--leave KIND", options->left,
             "of `split`: what may be lost, as it cannot be computed anew: counts (crawls and "
             "failures of a page beyond 1000), drums, frontiers, graphs (pages without URLs), "
             "queues, scores")
      .one_of(split_leave_words());
  add_memory(parser, options->memory_bytes);
  add_lock_wait(parser, options->lock_wait_seconds);
  add_quiet(parser, options->quiet);
  add_json(parser, options->as_json);
  return [options] { return run(*options); };
}

}  // namespace crawlstore::cli
