// SPDX-License-Identifier: Apache-2.0
#include "cli/shards_set.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <crawlstore/page_key.h>
#include <crawlstore/shard_set.h>
#include <crawlstore/tools/verify.h>
#include <crawlstore/url.h>

#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/stop_signals.h"
#include "model/format_text.h"
#include "model/page_fields.h"
#include "model/shards_look.h"
#include "model/shards_view.h"
#include "model/verify_view.h"

namespace crawlstore::cli {
namespace {

using model::Unit;

constexpr std::uint64_t kTopUsual = 10;
/// Pages that `verify` lists; it counts the others.
constexpr std::size_t kListedMax = 100;
constexpr std::uint64_t kPagesAStep = 1 << 12;

std::optional<ShardSet> open_set(const ShardSetSource& source, int& code) {
  std::string problem;
  auto set = ShardSet::open(source.paths, source.database, &problem);
  if (set) return std::move(*set);
  code = fail_with(model::format_printable(problem), exit_code(set.error().code));
  return std::nullopt;
}

/// Pages of all files that link to a page; also the shards that know the page as elsewhere.
struct Linkers {
  std::uint64_t count = 0;
  std::vector<std::string> shards;
};

Result<Linkers> linkers_of(const ShardSet& set, std::string_view url) {
  Linkers linkers;
  for (const ShardFile& file : set.shards()) {
    CRAWLSTORE_TRY(const auto index, file.pages.find(url));
    if (!index) continue;
    CRAWLSTORE_TRY(const auto in_links, file.pages.in_links(*index));
    linkers.count += in_links.size();
    linkers.shards.push_back(to_text(file.shard));
  }
  return linkers;
}

Result<model::Document> page_document(const ShardSet& set, const ShardPage& page) {
  const ShardFile& file = set.shards()[page.shard];
  CRAWLSTORE_TRY(const auto info, file.pages.page(page.index));
  CRAWLSTORE_TRY(const auto out_links, file.pages.out_links(page.index));
  CRAWLSTORE_TRY(const auto linkers, linkers_of(set, info.url));
  model::Document document{
      {{"path", Unit::kText, file.path}, {"shard", Unit::kText, to_text(file.shard)}}, {}};
  for (model::Field& field : model::page_fields(info)) {
    document.fields.push_back(std::move(field));
  }
  document.fields.push_back({"in_link_count", Unit::kCount, linkers.count});
  document.fields.push_back({"out_link_count", Unit::kCount, std::uint64_t{out_links.size()}});
  return document;
}

/// Says that no shard has a page as its own, and which ones know it all the same.
int fail_not_found(const ShardSet& set, const std::string& url) {
  const auto linkers = linkers_of(set, url);
  std::string text = fmt::format("no page {} in any shard", model::format_printable(url));
  if (linkers && !linkers->shards.empty()) {
    text = fmt::format(
        "no page {} in its own shard yet: {} can tell of it, by `crawlstore shards send`",
        model::format_printable(url), fmt::join(linkers->shards, ", "));
  }
  return fail_with(text, kExitNo);
}

/// Notes which arrays are older than the pages of their files.
void note_stale(const ShardSet& set, std::string_view name) {
  std::vector<std::string> stale;
  for (const ShardFile& file : set.shards()) {
    const auto scores = ScoreView::open(file.pages, name);
    if (scores && scores->info().is_stale) stale.push_back(to_text(file.shard));
  }
  if (stale.empty()) return;
  note(fmt::format("pages or links of {} have changed since the scores were computed",
                   fmt::join(stale, ", ")));
}

/// A page that its owner was told of, and does not know.
struct UnknownPage {
  ShardPage page{};
  std::string url;
};

/// URLs of edits that wait in files, each of which is read when it is first asked for: a shard that
/// was killed after it took a message has the pages of it there.
class EditedUrls {
 public:
  explicit EditedUrls(const ShardSet& set) : set_(set), keys_(set.shards().size()) {}

  [[nodiscard]] Result<bool> has(const std::string& url) {
    const auto count = static_cast<std::uint32_t>(keys_.size());
    const std::uint32_t owner = shard_of(url_host(url), count);
    const PageView& pages = set_.shards()[owner].pages;
    if (pages.info().event_count == 0) return false;
    auto& keys = keys_[owner];
    if (!keys) {
      keys.emplace();
      CRAWLSTORE_TRY(pages.for_each_event([&keys](const CrawlEvent& event) {
        keys->insert(url_key16(event.url, 0));
        return true;
      }));
    }
    return keys->contains(url_key16(url, 0));
  }

 private:
  const ShardSet& set_;
  std::vector<std::optional<std::set<Key16>>> keys_;  // by shard
};

/// The pages of one file that their owners were told of.
struct ToldPages {
  std::uint64_t count = 0;
  std::uint64_t unknown_count = 0;
};

/// All that a verification of shards found.
struct SetFindings {
  std::vector<VerifyReport> reports;  // by path
  std::optional<ShardSet> set;        // if they are one
  std::vector<ToldPages> told;        // by shard
  std::vector<UnknownPage> unknown;   // the first kListedMax
  std::string problem;                // of the files together; empty: none

  [[nodiscard]] bool is_damaged() const {
    return std::ranges::any_of(reports, &VerifyReport::damaged);
  }
  [[nodiscard]] bool is_whole() const { return std::ranges::all_of(reports, &VerifyReport::whole); }
  [[nodiscard]] ToldPages all_told() const {
    ToldPages sum;
    for (const ToldPages& of_file : told) {
      sum.count += of_file.count;
      sum.unknown_count += of_file.unknown_count;
    }
    return sum;
  }
};

Result<VerifyReport> verify_file(const std::string& path, const StopSignals& stop, bool quiet) {
  ProgressBar bar("verify", Unit::kBytes, "", quiet);
  VerifyOptions options;
  options.progress = [&](std::uint64_t done, std::uint64_t total) {
    bar.update_of(done, total);
    return stop.requested() == 0;
  };
  return verify(path, options);
}

/// Looks for the pages of a file in the shards that were told of them.
///   errors  kCancelled: `progress` said so; of damage
Result<void> look_for_told(const ShardFile& file, const Progress& progress, EditedUrls& waiting,
                           SetFindings& findings) {
  ToldPages told;
  for (std::uint64_t index = 0; index < file.told_count; ++index) {
    if (index % kPagesAStep == 0 && !progress(index, file.told_count)) {
      return fail(Errc::kCancelled, "cancelled");
    }
    CRAWLSTORE_TRY(const auto state, file.pages.state(index));
    if (state != PageState::kElsewhere) continue;
    ++told.count;
    CRAWLSTORE_TRY(auto url, file.pages.url(index));
    CRAWLSTORE_TRY(const auto found, findings.set->find_text(url));
    if (found) continue;
    CRAWLSTORE_TRY(const bool waits, waiting.has(url));
    if (waits) continue;
    ++told.unknown_count;
    if (findings.unknown.size() == kListedMax) continue;
    findings.unknown.push_back({{file.shard.index, index}, std::move(url)});
  }
  findings.told.push_back(told);
  return {};
}

/// Says which shards are not as far as others; empty: they are one step apart at most.
std::string steps_problem(const ShardSet& set) {
  std::vector<model::ShardRow> rows;
  for (const ShardFile& file : set.shards()) {
    rows.push_back({file.path, 0, file.state, file.pages.info()});
  }
  return model::shards_problem(rows);
}

/// Returns the row of a file, with what is known of it.
std::vector<model::Cell> file_row(const std::string& path, const VerifyReport& report,
                                  const SetFindings& findings) {
  std::vector<model::Cell> row{path,          model::Cell(),
                               model::Cell(), std::string(model::health_name(report)),
                               model::Cell(), model::Cell()};
  if (!findings.set) return row;
  const auto file = std::ranges::find(findings.set->shards(), path, &ShardFile::path);
  row[1] = to_text(file->shard);
  row[2] = file->state.step;
  if (file->shard.index >= findings.told.size()) return row;
  row[4] = findings.told[file->shard.index].count;
  row[5] = findings.told[file->shard.index].unknown_count;
  return row;
}

/// The findings of each file, with its path in front.
model::Table findings_table(const std::vector<std::string>& paths, const SetFindings& findings) {
  model::Table table = model::findings_table({});
  table.columns.insert(table.columns.begin(), {"path", Unit::kText});
  for (std::size_t i = 0; i < paths.size(); ++i) {
    for (auto& row : model::findings_table(findings.reports[i].findings).rows) {
      row.insert(row.begin(), paths[i]);
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

model::Document findings_document(const std::vector<std::string>& paths,
                                  const SetFindings& findings) {
  model::Table files{"shards",
                     {{"path", Unit::kText},
                      {"shard", Unit::kText},
                      {"step", Unit::kId},
                      {"health", Unit::kText},
                      {"told_count", Unit::kCount},
                      {"unknown_count", Unit::kCount}},
                     {}};
  for (std::size_t i = 0; i < paths.size(); ++i) {
    files.rows.push_back(file_row(paths[i], findings.reports[i], findings));
  }
  model::Table unknown{
      "unknown_pages", {{"shard", Unit::kText}, {"index", Unit::kId}, {"url", Unit::kText}}, {}};
  for (const UnknownPage& page : findings.unknown) {
    const auto count = static_cast<std::uint32_t>(findings.set->shards().size());
    unknown.rows.push_back({to_text(Shard{page.page.shard, count}), page.page.index, page.url});
  }
  const auto number_if_set = [&](std::uint64_t number) {
    return findings.set ? model::Cell(number) : model::Cell();
  };
  const ToldPages told = findings.all_told();
  const char* health = findings.is_damaged() ? "damaged"
                       : findings.is_whole() ? "whole"
                                             : "reduced_redundancy";
  return {{{"health", Unit::kText, std::string(health)},
           {"page_count", Unit::kCount,
            number_if_set(findings.set ? findings.set->counts().page_count : 0)},
           {"told_count", Unit::kCount, number_if_set(told.count)},
           {"unknown_count", Unit::kCount, number_if_set(told.unknown_count)}},
          {std::move(files), findings_table(paths, findings), std::move(unknown)}};
}

/// Prints what was found, and says what to do about it.
int tell_findings(const ShardSetSource& source, const SetFindings& findings) {
  int code = print_document(findings_document(source.paths, findings), source.as_json);
  if (code != kExitDone) return code;
  if (findings.is_damaged()) {
    code =
        fail_with("a file is damaged: what shards know of each other was not looked at", kExitNo);
  }
  if (!findings.problem.empty()) code = fail_with(findings.problem, kExitNo);
  const std::uint64_t unknown_count = findings.all_told().unknown_count;
  if (unknown_count == 0) return code;
  return fail_with(
      fmt::format("{} pages that shards were told of in complete steps are not known there: an "
                  "outbox was not received, or they were forgotten. What to do: send the outboxes "
                  "of all steps again, by `crawlstore shards send FILE --step N`, or forget the "
                  "pages in all shards",
                  model::format_count(unknown_count)),
      kExitNo);
}

}  // namespace

void add_shard_set(Parser& parser, ShardSetOptions& options) {
  parser.text("--url URL", options.url, "the page that `find` looks for");
  parser.text("--name NAME", options.name, "the scores that `top` goes by (default: pagerank)");
  add_count(parser, "-n,--limit", options.count, "so many rows of `top` (default: 10)",
            {1, 100'000'000});
}

std::string shard_set_misuse(const std::string& action, const ShardSetOptions& options) {
  if (action != "find" && !options.url.empty()) return "--url goes with `find`";
  if (action == "find" && options.url.empty()) return "`find` needs --url URL";
  if (action != "top" && !options.name.empty()) return "--name goes with `top`";
  if (action != "top" && options.count) return "--limit goes with `top`";
  return {};
}

int find_in_shards(const ShardSetSource& source, const ShardSetOptions& options) {
  int code = kExitDone;
  const auto set = open_set(source, code);
  if (!set) return code;
  const auto page = set->find(options.url);
  if (!page) return fail_with("the shard of the URL", page.error());
  if (!*page) return fail_not_found(*set, options.url);
  const auto document = page_document(*set, **page);
  if (!document) return fail_with("the shard of the URL", document.error());
  return print_document(*document, source.as_json);
}

int top_of_shards(const ShardSetSource& source, const ShardSetOptions& options) {
  int code = kExitDone;
  const auto set = open_set(source, code);
  if (!set) return code;
  const std::string name =
      options.name.empty() ? std::string(ScoreView::kDefaultName) : options.name;
  std::string problem;
  const auto best = set->top(options.count.value_or(kTopUsual), name, &problem);
  if (!best) return fail_with(model::format_printable(problem), exit_code(best.error().code));
  note_stale(*set, name);
  auto table = model::best_of_shards(*set, *best);
  if (!table) return fail_with("a page of the list", table.error());
  return print_document({{}, {std::move(*table)}}, source.as_json);
}

int verify_shards(const ShardSetSource& source) {
  const StopSignals stop;
  SetFindings findings;
  for (const std::string& path : source.paths) {
    auto report = verify_file(path, stop, source.quiet);
    if (stop.requested() != 0) return exit_code_of_signal(stop.requested());
    if (!report) return fail_with(path, report.error());
    findings.reports.push_back(std::move(*report));
  }
  if (findings.is_damaged()) return tell_findings(source, findings);
  std::string problem;
  auto set = ShardSet::open(source.paths, source.database, &problem);
  problem = model::format_printable(problem);
  if (!set && set.error().code != Errc::kInvalidArgument) {
    return fail_with(problem, exit_code(set.error().code));
  }
  if (!set) {
    findings.problem = problem;
    return tell_findings(source, findings);
  }
  findings.set = std::move(*set);
  findings.problem = steps_problem(*findings.set);
  WorkBar bar("verify", stop, source.quiet, "pages");
  EditedUrls waiting(*findings.set);
  for (const ShardFile& file : findings.set->shards()) {
    const auto looked = look_for_told(file, bar.progress(), waiting, findings);
    if (stop.requested() != 0) return exit_code_of_signal(stop.requested());
    if (!looked) return fail_with(file.path, looked.error());
  }
  return tell_findings(source, findings);
}

}  // namespace crawlstore::cli
