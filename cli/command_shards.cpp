// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include <crawlstore/pages.h>
#include <crawlstore/shard_exchange.h>

#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/memory_limit.h"
#include "cli/open_input.h"
#include "cli/options.h"
#include "cli/output_file.h"
#include "cli/stop_signals.h"
#include "cli/table_form.h"
#include "cli/verb.h"
#include "model/format_text.h"
#include "model/shards_view.h"

namespace crawlstore::cli {
namespace {

struct ShardsOptions {
  std::string action;
  std::vector<std::string> paths;  // FILE, or files of shards; then inputs
  std::string database = "pages";
  std::string folder = ".";
  std::optional<std::uint64_t> step;
  std::optional<std::uint64_t> memory_bytes;
  double lock_wait_seconds = 60;
  bool as_json = false;
  bool quiet = false;
};

model::Field number_of(const char* name, std::uint64_t count) {
  return {name, model::Unit::kCount, count};
}

model::Field step_of(std::uint64_t step) {
  return {"step", model::Unit::kId, step};
}

/// A store and its pages, open for an exchange.
struct OpenShard {
  Store store;
  PageDb pages;

  Result<void> close() {
    CRAWLSTORE_TRY(pages.close());
    return store.close();
  }
};

Result<OpenShard> open_shard(const ShardsOptions& options) {
  CRAWLSTORE_TRY(auto store, open_store(options.paths.front(), options.lock_wait_seconds));
  PagesOptions made;
  if (options.memory_bytes) made.memory_bytes = *options.memory_bytes;
  CRAWLSTORE_TRY(auto pages, PageDb::open(store, options.database, made));
  return OpenShard{std::move(store), std::move(pages)};
}

/// The files of an outbox, each of which is there as a whole or not at all.
class OutboxFiles {
 public:
  OutboxFiles(const ShardsOptions& options, std::uint64_t step, const Shard& shard)
      : options_(options), step_(step), shard_(shard) {}

  Result<void> write(std::uint32_t to, std::span<const std::byte> bytes) {
    auto file = files_.find(to);
    if (file == files_.end()) {
      last_path_ = (std::filesystem::path(options_.folder) /
                    fmt::format("{}.{}-{}.outbox", step_, shard_.index, to))
                       .string();
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
  const ShardsOptions& options_;
  std::uint64_t step_;
  Shard shard_;
  std::map<std::uint32_t, OutputFile> files_;
  std::string last_path_;
};

/// Ends the step, unless it has ended, or --step asks for one that has.
Result<ExchangeState> ended_state(const ShardsOptions& options) {
  CRAWLSTORE_TRY(auto shard, open_shard(options));
  CRAWLSTORE_TRY(auto state, end_step(shard.store, shard.pages));
  CRAWLSTORE_TRY(shard.close());
  return state;
}

Result<void> note_as_sent(const ShardsOptions& options) {
  CRAWLSTORE_TRY(auto shard, open_shard(options));
  CRAWLSTORE_TRY(note_sent(shard.store, shard.pages));
  return shard.close();
}

int send(const ShardsOptions& options) {
  const std::string& path = options.paths.front();
  std::uint64_t step = options.step.value_or(0);
  if (!options.step) {
    const auto state = ended_state(options);
    if (!state) return fail_with(path, state.error());
    step = state->step;
  }
  const auto snapshot = open_snapshot(path, false);
  if (!snapshot) return fail_with(path, snapshot.error());
  const auto state = read_exchange(*snapshot, options.database);
  if (!state) return fail_with(path, state.error());
  std::error_code ignored;
  std::filesystem::create_directory(options.folder, ignored);
  OutboxFiles files(options, step, state->shard);
  bool is_output = false;
  const auto written = write_outbox(
      *snapshot, step,
      [&](std::uint32_t to, std::span<const std::byte> bytes) {
        const auto done = files.write(to, bytes);
        is_output = !done;
        return done;
      },
      options.database);
  if (!written && is_output) return fail_with_output(files.last_path(), written.error());
  if (!written) return fail_with(path, written.error());
  if (const auto done = files.finish(); !done) {
    return fail_with_output(options.folder, done.error());
  }
  if (!options.step) {
    if (const auto noted = note_as_sent(options); !noted) return fail_with(path, noted.error());
  }
  return print_document({{step_of(step),
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

/// Takes the messages of an input. On failure says why, and leaves the exit code in `code`.
std::optional<InboxReport> take_messages(const std::string& input_path, OpenShard& shard,
                                         const ShardsOptions& options, const StopSignals& stop,
                                         int& code) {
  OpenInput input(input_path, stop);
  if (input.descriptor() < 0) {
    code = fail_with_input(input_path, fail_errno(input.open_errno(), "the input").value());
    return std::nullopt;
  }
  bool has_input_failed = false;
  const EventSource source = [&](std::span<std::byte> into) -> Result<std::size_t> {
    auto* const begin = static_cast<char*>(static_cast<void*>(into.data()));
    const auto read = input.bytes().read({begin, into.size()});
    has_input_failed = !read;
    return read.map([](const auto& got) { return got.length; });
  };
  const auto report = receive_outbox(shard.store, shard.pages, source);
  if (stop.requested() != 0) {
    code = exit_code_of_signal(stop.requested());
  } else if (!report) {
    code = has_input_failed || is_of_message(report.error())
               ? fail_with_input(input_path, report.error())
               : fail_with(options.paths.front(), report.error());
  } else {
    return *report;
  }
  return std::nullopt;
}

Result<ExchangeState> state_of(const ShardsOptions& options) {
  CRAWLSTORE_TRY(const auto snapshot, open_snapshot(options.paths.front(), false));
  return read_exchange(snapshot, options.database);
}

/// Takes the messages of all inputs; what was wrong ends it, behind the input before.
int receive(const ShardsOptions& options) {
  const StopSignals stop;
  const std::string& path = options.paths.front();
  if (const auto state = state_of(options); !state) return fail_with(path, state.error());
  auto shard = open_shard(options);
  if (!shard) return fail_with(path, shard.error());
  InboxReport sum;
  for (const std::string& input_path : std::span(options.paths).subspan(1)) {
    int code = kExitDone;
    const auto report = take_messages(input_path, *shard, options, stop, code);
    if (!report) return code;
    sum.message_count += report->message_count;
    sum.stale_count += report->stale_count;
    sum.url_count += report->url_count;
    sum.new_count += report->new_count;
  }
  if (const auto merged = shard->pages.merge(); !merged) return fail_with(path, merged.error());
  if (const auto closed = shard->close(); !closed) return fail_with(path, closed.error());
  const auto state = state_of(options);
  if (!state) return fail_with(path, state.error());
  return print_document(
      {{step_of(state->step), number_of("message_count", sum.message_count),
        number_of("stale_count", sum.stale_count), number_of("url_count", sum.url_count),
        number_of("new_page_count", sum.new_count),
        number_of("missing_count", state->missing.size())},
       {}},
      options.as_json);
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

int run(const ShardsOptions& options) {
  if (options.action == "info") return info(options);
  if (options.action == "receive") return receive(options);
  if (options.paths.size() != 1) return fail_with("shards send: give one FILE", kExitUsage);
  return send(options);
}

}  // namespace

Action define_shards(Parser& parser) {
  auto options = std::make_shared<ShardsOptions>();
  parser.footer(
      "A crawl on several machines has a file on each (`create --shard I/N`), and goes in steps: "
      "each crawls what it knows, say one level of links, then tells the others what it found that "
      "is theirs.\n"
      "  crawlstore shards send 0.crawl --to out        ends the step; out/STEP.0-TO.outbox\n"
      "  rsync out/*.0-1.outbox machine1:in/            by whatever moves files\n"
      "  crawlstore shards receive 0.crawl in/*-0.outbox\n"
      "With the outboxes of all others the next step begins. Whatever is done again, or comes "
      "twice, changes nothing; what is damaged, of another crawl or to another shard is refused. "
      "To a shard that was brought back from a copy the others send once more what they sent "
      "since: "
      "--step N, from its step on. `info` shows how far all are, and exits with 1 when they do not "
      "make a whole crawl.");
  parser.text("ACTION", options->action, "info, send or receive")
      .required()
      .one_of({"info", "send", "receive"});
  parser
      .texts("FILE", options->paths,
             "of one shard; of `info` those of all; behind the one of `receive` the messages, `-`: "
             "standard input")
      .required();
  add_database(parser, options->database, "the page database");
  parser.text("--to FOLDER", options->folder,
              "where `send` writes (default: here); made if it is not there");
  add_count(parser, "--step", options->step,
            "send the outbox of this step, which has ended, and end none", {1, ~std::uint64_t{0}});
  add_memory(parser, options->memory_bytes);
  add_lock_wait(parser, options->lock_wait_seconds);
  add_quiet(parser, options->quiet);
  add_json(parser, options->as_json);
  return [options] { return run(*options); };
}

}  // namespace crawlstore::cli
