// SPDX-License-Identifier: Apache-2.0
#include "model/shards_look.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include <crawlstore/tools/generations.h>

#include "model/format_text.h"
#include "model/shards_view.h"

namespace crawlstore::model {
namespace {

/// A file that could be read.
struct ReadShard {
  ShardRow row;
  std::uint64_t file_bytes = 0;
  std::vector<std::string> arrays;
};

Result<ReadShard> read_file(const std::string& path, const std::string& database) {
  CRAWLSTORE_TRY(const auto snapshot, Snapshot::open(path));
  ReadShard read;
  CRAWLSTORE_TRY(read.row, shard_row(path, snapshot, database));
  CRAWLSTORE_TRY(const auto info, snapshot.info());
  read.file_bytes = info.file_bytes;
  const auto names = PageView::names(snapshot);
  if (std::ranges::find(names, database) == names.end()) return read;
  CRAWLSTORE_TRY(const auto pages, PageView::open(snapshot, database));
  read.arrays = ScoreView::names(pages);
  return read;
}

/// Paths without the folder that they have in common.
std::vector<std::string> without_folder(std::span<const std::string> paths) {
  if (paths.empty()) return {};
  std::size_t length = paths.front().rfind('/') + 1;  // 0: no folder
  for (const std::string& path : paths) {
    std::size_t common = 0;
    std::size_t folder = 0;
    while (common < std::min(length, path.size()) && path[common] == paths.front()[common]) {
      if (path[common++] == '/') folder = common;
    }
    length = folder;
  }
  std::vector<std::string> names;
  for (const std::string& path : paths) names.push_back(path.substr(length));
  return names;
}

/// Puts what is in no row of shards_view() behind it, and a row for each file that has none.
Table table_of(Table read_rows, std::span<const std::optional<ReadShard>> files,
               std::span<const std::string> names) {
  std::uint64_t greatest_step = 0;
  for (const auto& file : files) {
    if (file) greatest_step = std::max(greatest_step, file->row.state.step);
  }
  Table table{read_rows.name, std::move(read_rows.columns), {}};
  table.columns.push_back({"steps_behind", Unit::kCount});
  table.columns.push_back({"file_bytes", Unit::kBytes});
  auto read_row = read_rows.rows.begin();
  for (std::size_t i = 0; i < files.size(); ++i) {
    Row row(table.columns.size());
    if (files[i]) {
      row = std::move(*read_row++);
      row.emplace_back(greatest_step - files[i]->row.state.step);
      row.emplace_back(files[i]->file_bytes);
    }
    row.front() = names[i];
    table.rows.push_back(std::move(row));
  }
  return table;
}

/// The array of the question, if any file has it; else the usual one, else the first.
std::string chosen_array(const std::vector<std::string>& arrays, const std::string& wanted) {
  for (const std::string_view name : {std::string_view(wanted), ScoreView::kDefaultName}) {
    if (std::ranges::find(arrays, name) != arrays.end()) return std::string(name);
  }
  return arrays.empty() ? std::string() : arrays.front();
}

void find_best(const ShardsQuestion& question, ShardsLook& look) {
  std::string problem;
  const auto set = ShardSet::open(question.paths, question.database, &problem);
  if (!set) {
    look.best_problem = format_printable(problem);
    return;
  }
  if (look.scores.empty()) {
    look.best_problem =
        "There are no scores of these pages: a program on each machine computes them of all shards "
        "together.";
    return;
  }
  const auto best = set->top(question.best_max, look.scores, &problem);
  if (!best) {
    look.best_problem = format_printable(problem);
    return;
  }
  auto table = best_of_shards(*set, *best);
  if (!table) {
    look.best_problem = "a page of the list: " + describe(table.error());
    return;
  }
  table->name = "best";
  look.best = std::make_shared<TableRows>(std::move(*table));
}

}  // namespace

Result<ShardsLook> look_at_shards(const ShardsQuestion& question,
                                  const std::function<bool(std::size_t, std::size_t)>& progress) {
  ShardsLook look;
  look.names = without_folder(question.paths);
  std::vector<std::optional<ReadShard>> files;
  std::vector<ShardRow> rows;
  std::set<std::string> arrays;
  for (std::size_t i = 0; i < question.paths.size(); ++i) {
    if (!progress(i, question.paths.size())) return fail(Errc::kCancelled, "looking at shards");
    auto read = read_file(question.paths[i], question.database);
    if (!read) {
      look.unreadable.push_back(format_printable(look.names[i]) + ": " + describe(read.error()));
      look.shards.emplace_back();
      files.emplace_back();
      continue;
    }
    look.shards.push_back(to_text(read->row.state.shard));
    rows.push_back(read->row);
    arrays.insert(read->arrays.begin(), read->arrays.end());
    files.emplace_back(std::move(*read));
  }
  Document document = shards_view(rows);
  const auto sum = [&document](const char* name) {
    return std::get<std::uint64_t>(find_field(document, name)->value);
  };
  look.page_count = sum("page_count");
  look.crawled_count = sum("crawled_count");
  look.link_count = sum("link_count");
  look.problem = shards_problem(rows);
  look.rows =
      std::make_shared<TableRows>(table_of(std::move(document.tables.front()), files, look.names));
  look.arrays.assign(arrays.begin(), arrays.end());
  look.scores = chosen_array(look.arrays, question.scores);
  find_best(question, look);
  return look;
}

std::string shards_trace(std::span<const std::string> paths) {
  std::string trace;
  for (const std::string& path : paths) {
    const auto copies = generations(path);
    if (!copies) {
      trace += fmt::format("{};", static_cast<int>(copies.error().code));
      continue;
    }
    for (const GenerationInfo& copy : *copies) {
      trace += fmt::format("{}.{}.{},", copy.generation.value, copy.commit_time_us,
                           static_cast<int>(copy.state));
    }
    trace += ';';
  }
  return trace;
}

Result<Table> best_of_shards(const ShardSet& set, std::span<const ScoredShardPage> best) {
  Table table{"pages",
              {{"shard", Unit::kText},
               {"index", Unit::kId},
               {"rank", Unit::kCount},
               {"score", Unit::kScore},
               {"state", Unit::kText},
               {"url", Unit::kText}},
              {}};
  for (const ScoredShardPage& page : best) {
    const ShardFile& file = set.shards()[page.page.shard];
    CRAWLSTORE_TRY(const auto state, file.pages.state(page.page.index));
    CRAWLSTORE_TRY(auto url, file.pages.url(page.page.index));
    table.rows.push_back({to_text(file.shard), page.page.index,
                          std::uint64_t{table.rows.size() + 1}, page.score,
                          std::string(name_of(state)), std::move(url)});
  }
  return table;
}

}  // namespace crawlstore::model
