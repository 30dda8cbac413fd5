// SPDX-License-Identifier: Apache-2.0
#include "model/store_diff.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "model/format_text.h"
#include "model/frontiers_diff.h"
#include "model/pages_diff_view.h"
#include "model/queue_pass.h"
#include "model/scores_diff.h"
#include "model/values_diff.h"

namespace crawlstore::model {
namespace {

const Table* find_table(const Document& document, std::string_view name) {
  const auto found = std::ranges::find(document.tables, name, &Table::name);
  return found == document.tables.end() ? nullptr : &*found;
}

std::size_t column_of(const Table& table, std::string_view name) {
  const auto found = std::ranges::find(table.columns, name, &Column::name);
  return static_cast<std::size_t>(found - table.columns.begin());
}

/// 0 where there is nothing.
std::uint64_t number_in(const std::vector<Cell>& row, std::size_t column) {
  const auto* number = column < row.size() ? std::get_if<std::uint64_t>(&row[column]) : nullptr;
  return number == nullptr ? 0 : *number;
}

/// The sum over all rows.
std::uint64_t sum_of(const Document& document, std::string_view table, std::string_view column) {
  const Table* found = find_table(document, table);
  if (found == nullptr) return 0;
  const std::size_t at = column_of(*found, column);
  std::uint64_t sum = 0;
  for (const auto& row : found->rows) sum += number_in(row, at);
  return sum;
}

void add_part(std::string& to, const std::string& part) {
  if (!to.empty()) to += ", ";
  to += part;
}

/// "+3 and -1 links"; nothing where there are none.
void add_changes(std::string& to, std::uint64_t added, std::uint64_t gone, std::string_view what) {
  if (added == 0 && gone == 0) return;
  std::string text;
  if (added != 0) text += "+" + format_count(added);
  if (added != 0 && gone != 0) text += " and ";
  if (gone != 0) text += "-" + format_count(gone);
  add_part(to, text + " " + std::string(what) + (added + gone == 1 ? "" : "s"));
}

/// Counts the score arrays, or small values, that came, went or changed.
std::uint64_t count_changes(const Document& document, std::string_view name, Change change) {
  const Table* table = find_table(document, name);
  if (table == nullptr) return 0;
  const std::size_t at = column_of(*table, "change");
  const Cell wanted = std::string(name_of(change));
  return static_cast<std::uint64_t>(std::ranges::count_if(
      table->rows, [&](const auto& row) { return at < row.size() && row[at] == wanted; }));
}

void add_queues(std::string& to, const Document& document) {
  const Table* queues = find_table(document, "queues");
  if (queues == nullptr) return;
  const std::size_t name = column_of(*queues, "name");
  const std::size_t differs = column_of(*queues, "is_different");
  const std::size_t before = column_of(*queues, "old_page_count");
  const std::size_t after = column_of(*queues, "new_page_count");
  for (const auto& row : queues->rows) {
    const std::uint64_t was = number_in(row, before);
    const std::uint64_t is = number_in(row, after);
    const auto& called = std::get<std::string>(row[name]);
    const std::string which = called == "queue" ? "the queue" : "the queue " + called;
    if (was == is) {
      if (differs < row.size() && row[differs] == Cell{true})
        add_part(to, which + " with other pages or priorities");
      continue;
    }
    add_part(to,
             which + (is > was ? " +" + format_count(is - was) : " -" + format_count(was - is)));
  }
}

/// "+3 and -1 items of frontiers, 1,000 came to be leased, 2 came back, 1 changed, 1 group
/// changed, 1 group slowed".
void add_frontiers(std::string& to, const Document& document) {
  const auto of_frontiers = [&](std::string_view column) {
    return sum_of(document, "frontiers", column);
  };
  const auto add_items = [&](std::string_view column, const char* what) {
    const std::uint64_t count = of_frontiers(column);
    if (count != 0) add_part(to, format_counted(count, "item") + what);
  };
  add_changes(to, of_frontiers("added_item_count"), of_frontiers("gone_item_count"),
              "frontier item");
  add_items("leased_item_count", " came to be leased");
  add_items("returned_item_count", " came back");
  add_items("changed_item_count", " changed");
  add_changes(to, of_frontiers("added_group_count"), of_frontiers("gone_group_count"), "group");
  const std::uint64_t groups = of_frontiers("changed_group_count");
  if (groups != 0) add_part(to, format_counted(groups, "group") + " changed");
  const std::uint64_t slowed = of_frontiers("slowed_group_count");
  if (slowed != 0) add_part(to, format_counted(slowed, "group") + " slowed");
}

/// Whether no cell of the column says anything.
bool is_blank(const Table& table, std::size_t column) {
  const std::string& name = table.columns[column].name;
  const bool is_owner = name == "database" || name == "frontier";
  return std::ranges::all_of(table.rows, [&](const auto& row) {
    if (is_owner) return row[column] == table.rows.front()[column];
    const auto* text = std::get_if<std::string>(&row[column]);
    const auto* ratio = std::get_if<double>(&row[column]);
    return row[column] == Cell{} || (text != nullptr && text->empty()) ||
           (ratio != nullptr && *ratio == 0) || row[column] == Cell{std::uint64_t{0}} ||
           row[column] == Cell{std::int64_t{0}} || row[column] == Cell{false};
  });
}

/// Places of columns, by how early a screen has them.
std::vector<std::size_t> shown_order(const Table& table) {
  constexpr std::array<std::string_view, 7> kFirst{"page",  "host", "from",  "to",
                                                   "group", "body", "change"};
  const auto rank = [&](std::size_t column) {
    return std::ranges::find(kFirst, table.columns[column].name) - kFirst.begin();
  };
  std::vector<std::size_t> order(table.columns.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const bool names_them = std::ranges::any_of(order, [&](std::size_t c) { return rank(c) < 6; });
  if (names_them) std::ranges::stable_sort(order, {}, rank);
  return order;
}

/// Moves what was not compared from the list to the gaps.
template <class Found>
void set_aside(std::vector<Found>& list, const std::string& kind, DiffGaps& gaps) {
  std::erase_if(list, [&](const Found& found) {
    if (found.old_error) gaps.add(false, kind, found.name, *found.old_error);
    if (found.new_error) gaps.add(true, kind, found.name, *found.new_error);
    return found.old_error || found.new_error;
  });
}

}  // namespace

ShownDiff take_shown_diff(Document& document, const std::string& name) {
  const auto found = std::ranges::find(document.tables, name, &Table::name);
  if (found == document.tables.end()) return {std::make_shared<TableRows>(Table{name, {}, {}}), {}};
  Table table = std::move(*found);
  ShownDiff shown;
  Table arranged{name, {}, std::vector<Row>(table.rows.size())};
  for (const std::size_t column : shown_order(table)) {
    if (!table.rows.empty() && is_blank(table, column)) {
      shown.folded.push_back(table.columns[column].name);
      continue;
    }
    arranged.columns.push_back(table.columns[column]);
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
      arranged.rows[row].push_back(std::move(table.rows[row][column]));
    }
  }
  shown.rows = std::make_shared<TableRows>(std::move(arranged));
  return shown;
}

std::string diff_sentence(const Document& document) {
  const auto of_pages = [&](std::string_view column) {
    return sum_of(document, "page_databases", column);
  };
  const auto of_drums = [&](std::string_view column) { return sum_of(document, "drums", column); };
  std::string text;
  // A page database counts as gone also pages that it still has: those whose state it is.
  const std::uint64_t forgotten = of_pages("forgotten_page_count");
  const std::uint64_t became_gone = of_pages("gone_page_count") - forgotten;
  const auto add_pages = [&text](std::uint64_t count, const char* what) {
    if (count == 0) return;
    add_part(text, (text.empty() ? format_counted(count, "page") : format_count(count)) + what);
  };
  add_changes(text, of_pages("added_page_count"), forgotten, "page");
  add_pages(became_gone, " became gone");
  add_pages(of_pages("changed_page_count"), " changed");
  add_pages(of_pages("fetched_page_count"), " fetched");
  add_pages(of_pages("failed_page_count"), " failed");
  add_changes(text, of_pages("added_link_count"), of_pages("gone_link_count"), "link");
  add_changes(text, of_pages("added_edit_count"), of_pages("gone_edit_count"), "waiting edit");
  add_changes(text, of_drums("added_key_count"), of_drums("gone_key_count"), "key");
  const std::uint64_t values = of_drums("changed_value_count");
  if (values != 0) add_part(text, format_counted(values, "value") + " changed");
  add_changes(text, of_drums("added_request_count"), of_drums("gone_request_count"),
              "waiting request");
  const auto of_scores = [&](std::string_view column) {
    return sum_of(document, "scores", column);
  };
  add_changes(text, count_changes(document, "scores", Change::kAdded),
              count_changes(document, "scores", Change::kGone), "score array");
  add_changes(text, of_scores("added_score_count"), of_scores("gone_score_count"), "score");
  const std::uint64_t scores = of_scores("changed_score_count");
  if (scores != 0) add_part(text, format_counted(scores, "score") + " changed");
  add_queues(text, document);
  add_frontiers(text, document);
  add_changes(text, count_changes(document, "small_values", Change::kAdded),
              count_changes(document, "small_values", Change::kGone), "small value");
  const std::uint64_t set = count_changes(document, "small_values", Change::kChanged);
  if (set != 0) add_part(text, format_counted(set, "small value") + " changed");
  if (!text.empty()) return text;
  const bool differs = !document.fields.empty() && document.fields.front().value == Cell{true};
  return differs ? "no page, link, key, score, queue, frontier or small value differs, but other "
                   "things do"
                 : "nothing differs";
}

Result<Document> store_diff(const Snapshot& older, const Snapshot& newer,
                            const StoreDiffOptions& options) {
  DiffView view(options.view);
  DiffSink sink = view.sink();
  sink.failed = options.failed;
  DiffGaps* const gaps = options.view.gaps;
  const bool past_damage = gaps != nullptr;
  CRAWLSTORE_TRY(auto report, diff(older, newer, sink, {options.progress, past_damage}));
  if (past_damage) set_aside(report.drums, "drum", *gaps);
  PagesDiffView pages_view(older, newer, options.view);
  PagesDiffSink pages_sink = pages_view.sink();
  pages_sink.failed = options.failed;
  CRAWLSTORE_TRY(auto databases,
                 diff_pages(older, newer, pages_sink, {options.progress, past_damage}));
  for (const PagesDiff& found : databases) {
    if (past_damage) gaps->add_pages(false, found.name, found.old_gaps);
    if (past_damage) gaps->add_pages(true, found.name, found.new_gaps);
  }
  if (past_damage) set_aside(databases, "page_database", *gaps);
  CRAWLSTORE_TRY(auto document, view.document(older, newer, report));
  CRAWLSTORE_TRY(pages_view.add_to(document, databases));
  const PagesProgress asked = [&options](std::uint64_t done, std::uint64_t total) {
    return !options.progress || options.progress(done, total);
  };
  CRAWLSTORE_TRY(add_scores_diff(older, newer, databases, {asked, options.failed, gaps}, document));
  CRAWLSTORE_TRY(add_queues_diff(older, newer, asked, document, gaps));
  CRAWLSTORE_TRY(
      add_frontiers_diff(older, newer, {options.view, options.progress, options.failed}, document));
  CRAWLSTORE_TRY(add_values_diff(older, newer, options.failed, gaps, document));
  std::string sentence = diff_sentence(document);
  if (past_damage) {
    if (!gaps->all().empty()) sentence += ", of what can be read";
    document.tables.push_back(gaps->table());
  }
  document.fields.insert(document.fields.begin() + 1,
                         {"summary", Unit::kText, std::move(sentence)});
  return document;
}

}  // namespace crawlstore::model
