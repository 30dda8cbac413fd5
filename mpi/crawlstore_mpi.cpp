// SPDX-License-Identifier: Apache-2.0
//
// crawlstore-mpi: what the shards of a crawl do together, a rank of MPI each. See --help.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <crawlstore/pages.h>
#include <crawlstore/shard_exchange.h>
#include <crawlstore/shard_scores.h>

#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/hits_options.h"
#include "cli/memory_limit.h"
#include "cli/options.h"
#include "cli/stop_signals.h"
#include "model/format_text.h"
#include "model/parse_text.h"
#include "model/table.h"
#include "mpi/shard_job.h"

namespace crawlstore::mpi {
namespace {

using model::Unit;

struct Options {
  std::string verb;
  std::vector<std::string> patterns;
  std::string database = "pages";
  std::string name;
  std::string hubs = HitsOptions{}.hubs;
  RankOptions rank;
  bool is_cold = false;
  std::uint64_t memory_bytes = 0;
  std::uint64_t round_bytes = MpiPeers::kRoundBytes;
  double lock_wait_seconds = 60;
  bool as_json = false;
  bool quiet = false;
};

/// A process that no mpirun started is the first, too.
bool is_first_rank() {
  for (const char* const name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"}) {
    const char* const rank = std::getenv(name);
    if (rank != nullptr) return std::string_view(rank) == "0";
  }
  return true;
}

/// Says what went wrong here, unless it went wrong elsewhere, and returns the exit code.
int report_error(const std::string& subject, const Error& error, const cli::StopSignals& stop) {
  if (stop.requested() != 0) return cli::exit_code_of_signal(stop.requested());
  // The exit code of the job is that of the rank which knows why.
  if (error.code == Errc::kCancelled) return cli::kExitDone;
  const bool is_of_shard = error.code == Errc::kInvalidArgument && error.offset != Error::kNoOffset;
  if (!subject.empty() && !is_of_shard) return cli::fail_with(subject, error);
  std::string text = error.text;
  if (!subject.empty()) text = fmt::format("{}: {}", model::format_printable(subject), text);
  if (is_of_shard) text += fmt::format(", {}", error.offset);
  return cli::fail_with(text, cli::exit_code(error.code));
}

/// A table of all shards, which the first one prints; and sums of columns before it.
int print(ShardJob& job, const std::vector<model::Column>& columns,
          const std::vector<ShardRow>& rows, std::vector<model::Field> fields, bool as_json) {
  if (job.shard() != 0) return cli::kExitDone;
  model::Table table{"shards", {{"shard", Unit::kId}, {"path", Unit::kText}}, {}};
  table.columns.insert(table.columns.end(), columns.begin(), columns.end());
  for (std::size_t shard = 0; shard < rows.size(); ++shard) {
    std::vector<model::Cell> cells{std::uint64_t{shard}, rows[shard].path};
    for (const std::uint64_t number : rows[shard].numbers) cells.emplace_back(number);
    table.rows.push_back(std::move(cells));
  }
  return cli::print_document({std::move(fields), {std::move(table)}}, as_json);
}

Result<int> exchange(ShardJob& job, const Options& options, const cli::StopSignals& stop) {
  RankProgressLines lines(job.shard(), options.quiet, stop);
  const Progress progress = [&lines](std::uint64_t done, std::uint64_t total) {
    return lines.update("superstep", done, total);
  };
  CRAWLSTORE_TRY(auto store, cli::open_store(job.path(), options.lock_wait_seconds));
  CRAWLSTORE_TRY(const auto snapshot, store.snapshot());
  const auto names = PageView::names(snapshot);
  if (!names.empty() && std::ranges::find(names, options.database) == names.end()) {
    return fail(Errc::kUnknownName, "there is no page database of that name");
  }
  PagesOptions made;
  if (options.memory_bytes != 0) made.memory_bytes = options.memory_bytes;
  made.progress = progress;
  CRAWLSTORE_TRY(auto pages, PageDb::open(store, options.database, made));
  CRAWLSTORE_TRY(const auto report, exchange_step(store, pages, job.peers(), progress));
  CRAWLSTORE_TRY(pages.merge(progress));
  CRAWLSTORE_TRY(pages.close());
  CRAWLSTORE_TRY(store.close());
  CRAWLSTORE_TRY(const auto rows,
                 job.gather({report.state.step, report.sent.url_count, report.sent.byte_count,
                             report.received.url_count, report.received.new_count}));
  std::uint64_t new_count = 0;
  for (const ShardRow& row : rows) new_count += row.numbers.back();
  return print(job,
               {{"step", Unit::kId},
                {"sent_url_count", Unit::kCount},
                {"sent_bytes", Unit::kBytes},
                {"received_url_count", Unit::kCount},
                {"new_page_count", Unit::kCount}},
               rows,
               {{"step", Unit::kId, report.step}, {"new_page_count", Unit::kCount, new_count}},
               options.as_json);
}

HitsOptions hits_options(const Options& options) {
  HitsOptions hits = cli::hits_options_of(options.rank);
  if (!options.name.empty()) hits.authorities = options.name;
  hits.hubs = options.hubs;
  return hits;
}

Result<ShardRanks> compute(ShardJob& job, const PageView& pages, const Options& options) {
  if (options.verb == "hits") return compute_hits(pages, job.peers(), hits_options(options));
  if (options.verb == "rank") return compute_rank(pages, job.peers(), options.rank);
  return compute_opic(pages, job.peers(),
                      {.database = options.database,
                       .is_warm = options.rank.is_warm,
                       .progress = options.rank.progress});
}

int print_ranks(ShardJob& job, const std::vector<ShardRow>& rows, const ShardRanks& ranks,
                const Options& options) {
  const RankReport& report = ranks.ranked.report();
  std::uint64_t link_count = 0;
  std::uint64_t sent_bytes = 0;
  for (const ShardRow& row : rows) {
    link_count += row.numbers[1];
    sent_bytes += row.numbers[2];
  }
  std::vector<model::Field> fields = {{"is_converged", Unit::kFlag, report.converged},
                                      {"page_count", Unit::kCount, ranks.page_count},
                                      {"link_count", Unit::kCount, link_count},
                                      {"elsewhere_count", Unit::kCount, ranks.elsewhere_count},
                                      {"unknown_count", Unit::kCount, ranks.unknown_count},
                                      {"sent_bytes", Unit::kBytes, sent_bytes},
                                      {"read_seconds", Unit::kSeconds, report.build_seconds},
                                      {"solve_seconds", Unit::kSeconds, report.solve_seconds}};
  if (options.verb != "opic") {
    fields.push_back({"iteration_count", Unit::kCount, std::uint64_t{report.residuals.size()}});
    fields.push_back(
        {"residual", Unit::kScore, report.residuals.empty() ? 0.0 : report.residuals.back()});
  }
  const int code = print(
      job,
      {{"page_count", Unit::kCount}, {"link_count", Unit::kCount}, {"sent_bytes", Unit::kBytes}},
      rows, std::move(fields), options.as_json);
  if (code != cli::kExitDone || job.shard() != 0) return code;
  if (ranks.unknown_count != 0) {
    cli::note(
        fmt::format("{} that others link to: not known to their shards, as they were found "
                    "since the last `crawlstore-mpi exchange`, or forgotten there",
                    model::format_counted(ranks.unknown_count, "page")));
  }
  return code;
}

Result<int> rank(ShardJob& job, Options options, const cli::StopSignals& stop) {
  RankProgressLines lines(job.shard(), options.quiet, stop);
  options.rank.progress = [&lines](std::uint32_t iteration, double residual) {
    return lines.update_iteration(iteration, residual);
  };
  if (!options.name.empty()) options.rank.name = options.name;
  options.rank.is_warm = !options.is_cold;
  if (options.rank.thread_count == 0) options.rank.thread_count = job.thread_count();
  options.rank.memory_bytes = options.memory_bytes != 0
                                  ? options.memory_bytes
                                  : cli::memory_limit_bytes() / 4 * 3 * job.thread_count() /
                                        std::max(1U, std::thread::hardware_concurrency());
  options.rank.folder = cli::folder_of(job.path());
  CRAWLSTORE_TRY(const auto snapshot, cli::open_snapshot(job.path(), false));
  CRAWLSTORE_TRY(const auto pages, PageView::open(snapshot, options.database));
  CRAWLSTORE_TRY(const auto ranks, compute(job, pages, options));
  const bool has_converged = ranks.ranked.report().converged;
  if (has_converged) {
    CRAWLSTORE_TRY(auto store, cli::open_store(job.path(), options.lock_wait_seconds));
    CRAWLSTORE_TRY(store_ranked(store, ranks.ranked));
    CRAWLSTORE_TRY(store.close());
  }
  const PagesInfo& info = pages.info();
  CRAWLSTORE_TRY(const auto rows, job.gather({info.page_count - info.elsewhere_count,
                                              info.link_count, ranks.sent_bytes}));
  const int code = print_ranks(job, rows, ranks, options);
  if (code != cli::kExitDone || has_converged) return code;
  if (job.shard() != 0) return cli::kExitNo;
  return cli::fail_with(
      fmt::format("after {} the precision is not reached; nothing was stored. --max-iterations "
                  "allows more, --precision asks for less",
                  model::format_counted(ranks.ranked.report().residuals.size(), "iteration")),
      cli::kExitNo);
}

int run(int count, char** words, const Options& options) {
  const MpiSession session(count, words);
  const cli::StopSignals stop;
  std::string problem;
  auto job = ShardJob::open(options.patterns, options.round_bytes, problem);
  if (!job) return report_error(problem, job.error(), stop);
  const auto done =
      options.verb == "exchange" ? exchange(*job, options, stop) : rank(*job, options, stop);
  if (done) return *done;
  job->peers().give_up();
  return report_error(job->path(), done.error(), stop);
}

/// An option that takes a size, such as 64MiB.
void add_bytes(CLI::App& app, const std::string& name, std::uint64_t& to, const std::string& help) {
  app.add_option_function<std::string>(
         name,
         [&to, name](const std::string& text) {
           const auto bytes = model::parse_bytes(text);
           if (!bytes || *bytes == 0) {
             throw CLI::ValidationError(name, "a size such as 64MiB is expected, not " + text);
           }
           to = *bytes;
         },
         help)
      ->type_name("SIZE");
}

void add_common(CLI::App& verb, Options& options) {
  verb.add_option("FILE", options.patterns, "of the shards, or a pattern of them")->required();
  verb.add_option("--database", options.database, "the page database (default: pages)")
      ->type_name("NAME");
  add_bytes(verb, "--memory", options.memory_bytes, "for each rank");
  add_bytes(verb, "--round", options.round_bytes,
            "how much a rank sends at once, to all others together (default: 64MiB)");
  verb.add_option("--lock-wait", options.lock_wait_seconds,
                  "how long to wait for another writer (default: 60)")
      ->type_name("SECONDS")
      ->check(CLI::Range(0.0, 4e6).description(""));
  verb.add_flag("--json", options.as_json, "print JSON");
  verb.add_flag("-q,--quiet", options.quiet, "no progress");
}

void add_scorer(CLI::App& verb, Options& options) {
  verb.add_option("--name", options.name, "of the scores (default: pagerank; authorities)")
      ->type_name("NAME");
  verb.add_option("--precision", options.rank.precision, "the residual to reach (default: 1e-6)")
      ->type_name("P")
      ->check(CLI::Range(0.0, 1.0).description(""));
  verb.add_option("--max-iterations", options.rank.max_iterations, "at most (default: 300)")
      ->type_name("N")
      ->check(CLI::Range(1U, 65'536U).description(""));
  verb.add_option("--threads", options.rank.thread_count,
                  "of each rank (default: the cores of its machine, shared evenly)")
      ->type_name("N")
      ->check(CLI::Range(1U, 1024U).description(""));
  verb.add_flag("--content-scores", options.rank.by_content_scores,
                "teleports, or links for hubs, go by the scores that the crawl gave pages");
}

/// Parses, then runs; returns the exit code.
int main_of(int count, char** words) {
  Options options;
  CLI::App app("what the shards of a crawl do together, a rank of MPI each", "crawlstore-mpi");
  app.set_version_flag("--version", "crawlstore-mpi " CRAWLSTORE_VERSION);
  app.require_subcommand(1);
  app.footer(
      "A crawl on N machines has a file on each (crawlstore create --shard I/N); a rank runs "
      "beside "
      "each:\n"
      "  mpirun -np 4 crawlstore-mpi exchange 'crawl-*of4.crawl'   between two steps of a crawl\n"
      "  mpirun -np 4 crawlstore-mpi rank 'crawl-*of4.crawl'       PageRank over all of them\n"
      "A rank that sees the files of all shards takes the one of its number; where machines have "
      "their own disks, it takes one that it sees. Where one shard fails, all end, and nothing is "
      "lost: what was committed stays, and the command can be given again.");
  CLI::App* const exchanging = app.add_subcommand(
      "exchange", "end a step of the crawl, and tell the other shards what was found of theirs");
  CLI::App* const ranking = app.add_subcommand("rank", "compute PageRank over all shards");
  CLI::App* const hubs = app.add_subcommand("hits", "compute HITS over all shards");
  CLI::App* const cash = app.add_subcommand("opic", "bring OPIC up to date over all shards");
  for (CLI::App* const verb : {exchanging, ranking, hubs, cash}) {
    add_common(*verb, options);
    verb->callback([verb, &options] { options.verb = verb->get_name(); });
  }
  add_scorer(*ranking, options);
  add_scorer(*hubs, options);
  for (CLI::App* const verb : {ranking, hubs, cash}) {
    verb->add_flag("--cold", options.is_cold, "begin anew, not with the scores before");
  }
  ranking->add_option("--damping", options.rank.damping, "how often a link is followed (0.85)")
      ->type_name("D")
      ->check(CLI::Range(0.0, 1.0).description(""));
  hubs->add_option("--hubs", options.hubs, "name of the hubs (default: hubs)")->type_name("NAME");
  try {
    app.parse(count, words);
  } catch (const CLI::ParseError& error) {
    if (!is_first_rank()) return error.get_exit_code() == 0 ? cli::kExitDone : cli::kExitUsage;
    return app.exit(error) == 0 ? cli::kExitDone : cli::kExitUsage;
  }
  return run(count, words, options);
}

}  // namespace
}  // namespace crawlstore::mpi

int main(int count, char** words) {
  try {
    return crawlstore::mpi::main_of(count, words);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "crawlstore-mpi: %s\n", error.what());
    return crawlstore::cli::kExitSystem;
  }
}
