// SPDX-License-Identifier: Apache-2.0
// What filters and sorts of a Table64 leave, made by jobs.
#include <algorithm>
#include <numeric>

#include "inspector/core/atomic_file.h"
#include "inspector/core/export_rows.h"
#include "inspector/ui/table64.h"
#include "model/format_text.h"

namespace crawlstore::inspector {
namespace {

constexpr std::size_t kPiece = 4096;
constexpr std::size_t kCostlyPiece = 256;  // so that who cancels does not wait

struct SelectionOrder {
  Filter filter;
  std::optional<std::size_t> column;
  bool is_descending = false;
};

bool names_costly(const Filter& filter, const model::TableSource& source) {
  for (std::size_t c = 0; c < source.columns().size(); ++c) {
    if (source.is_costly(c) && filter.names(c)) return true;
  }
  return false;
}

/// A piece from row `first` on. Where some of it is damaged a short one, as far as it can be read.
model::ReadableRows read_piece(const model::TableSource& source, const Filter& filter,
                               std::uint64_t first) {
  auto rows = names_costly(filter, source) ? source.full_rows(first, kCostlyPiece)
                                           : source.rows(first, kPiece);
  if (rows) return {std::move(*rows), {}};
  return source.readable_rows(first, kCostlyPiece);
}

/// The work of a job: until the owner of the source drops it.
struct Scan {
  std::weak_ptr<const model::TableSource> watched;
  SelectionOrder order;
  std::shared_ptr<RowSelection> into;
};

/// The result of a look: whether all rows were looked at, and which of them could not be read.
struct Looked {
  bool is_whole = false;
  std::vector<Error> problems;
};

/// Gives the rows that the filter lets through to `take`, with their numbers.
template <class Take>
Looked scan(const Scan& scan, JobContext& context, const Take& take) {
  model::ReadableRows all;
  for (std::uint64_t first = 0;;) {
    const auto source = scan.watched.lock();
    if (source == nullptr) break;
    const std::uint64_t count = source->row_count();
    if (first >= count) return {true, std::move(all.problems)};
    const auto piece = read_piece(*source, scan.order.filter, first);
    if (piece.rows.empty()) break;
    for (const Error& problem : piece.problems) all.note(problem);
    std::vector<std::uint64_t> found;
    for (std::size_t i = 0; i < piece.rows.size(); ++i) {
      if (scan.order.filter.matches(piece.rows[i])) found.push_back(i);
    }
    scan.into->matched_count += found.size();
    take(first, piece.rows, found);
    first += piece.rows.size();
    scan.into->scanned_count = first;
    if (!context.progress(first, count) && first < count) break;
  }
  return {false, std::move(all.problems)};
}

/// Rows as they are found.
std::vector<Error> take_all(const Scan& order, JobContext& context) {
  auto looked = scan(order, context,
                     [&](std::uint64_t first, const std::vector<model::Row>& /*rows*/,
                         std::vector<std::uint64_t> found) {
                       for (std::uint64_t& row : found) row += first;
                       order.into->append(found);
                     });
  order.into->is_complete = looked.is_whole;
  return std::move(looked.problems);
}

/// The largest or smallest rows of a source of any length, in the memory that these need. Cells
/// without a value are neither.
std::vector<Error> take_top(const Scan& order, JobContext& context) {
  using Ranked = std::pair<model::Cell, std::uint64_t>;
  const auto is_before = [is_descending = order.order.is_descending](const Ranked& a,
                                                                     const Ranked& b) {
    if (model::is_less(a.first, b.first)) return !is_descending;
    if (model::is_less(b.first, a.first)) return is_descending;
    return a.second < b.second;
  };
  std::vector<Ranked> best;  // a heap, the last of the order in front
  auto looked = scan(order, context,
                     [&](std::uint64_t first, const std::vector<model::Row>& rows,
                         const std::vector<std::uint64_t>& found) {
                       for (const std::uint64_t i : found) {
                         Ranked next{rows[i][*order.order.column], first + i};
                         if (std::holds_alternative<std::monostate>(next.first)) continue;
                         if (best.size() == Table64::kTopRows && !is_before(next, best.front()))
                           continue;
                         best.push_back(std::move(next));
                         std::ranges::push_heap(best, is_before);
                         if (best.size() <= Table64::kTopRows) continue;
                         std::ranges::pop_heap(best, is_before);
                         best.pop_back();
                       }
                     });
  if (!looked.is_whole) return std::move(looked.problems);  // half a look knows no order
  std::ranges::sort_heap(best, is_before);
  std::vector<std::uint64_t> numbers;
  numbers.reserve(best.size());
  for (const Ranked& ranked : best) numbers.push_back(ranked.second);
  order.into->append(numbers);
  order.into->is_complete = true;
  return std::move(looked.problems);
}

/// All at once: what is sorted is in memory, and a half-sorted list helps nobody.
std::vector<Error> sort(const model::TableSource& source, const SelectionOrder& order,
                        RowSelection& into) {
  const auto rows = source.rows(0, static_cast<std::size_t>(source.row_count()));
  if (!rows) return {rows.error()};
  std::vector<std::uint64_t> numbers;
  for (std::size_t i = 0; i < rows->size(); ++i) {
    if (order.filter.matches((*rows)[i])) numbers.push_back(i);
  }
  const std::size_t column = *order.column;
  std::ranges::stable_sort(numbers, [&](std::uint64_t a, std::uint64_t b) {
    const model::Cell& left = (*rows)[a][column];
    const model::Cell& right = (*rows)[b][column];
    return order.is_descending ? model::is_less(right, left) : model::is_less(left, right);
  });
  into.append(numbers);
  into.scanned_count = rows->size();
  into.is_complete = true;
  return {};
}

}  // namespace

void RowSelection::append(const std::vector<std::uint64_t>& rows) {
  const std::lock_guard lock(mutex_);
  rows_.insert(rows_.end(), rows.begin(), rows.end());
}

std::uint64_t RowSelection::size() const {
  const std::lock_guard lock(mutex_);
  return rows_.size();
}

std::vector<std::uint64_t> RowSelection::rows(std::uint64_t first, std::size_t count_max) const {
  const std::lock_guard lock(mutex_);
  const auto begin = std::min<std::uint64_t>(first, rows_.size());
  const auto end = std::min<std::uint64_t>(begin + count_max, rows_.size());
  return {rows_.begin() + static_cast<std::ptrdiff_t>(begin),
          rows_.begin() + static_cast<std::ptrdiff_t>(end)};
}

std::optional<std::uint64_t> RowSelection::find(std::uint64_t row) const {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(rows_, row);
  if (found == rows_.end()) return std::nullopt;
  return static_cast<std::uint64_t>(found - rows_.begin());
}

std::optional<std::uint64_t> RowSelection::find_after(std::uint64_t row) const {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::upper_bound(rows_, row);
  if (found == rows_.end()) return std::nullopt;
  return static_cast<std::uint64_t>(found - rows_.begin());
}

void Table64::start_selection(Ui& ui) {
  const bool is_sorted = sort_column_.has_value();
  const bool is_top = is_sorted && !source_->is_in_memory();
  std::string wanted = filter_text_;
  if (is_sorted) wanted += "\n" + std::to_string(*sort_column_) + (is_descending_ ? "-" : "+");
  if (wanted == selection_of_) return;
  selection_of_ = wanted;
  window_.count = 0;
  const std::string slot = "table " + source_->name();
  SelectionOrder order{Filter::parse(filter_text_, source_->columns()), {}, is_descending_};
  filter_problem_ = order.filter.problem() ? order.filter.problem()->text : "";
  if (is_sorted) order.column = sort_column_;
  if (order.filter.empty() && !is_sorted) {
    ui.jobs.cancel_slot(slot);
    selection_.reset();
    return;
  }
  first_ = 0;
  selection_ = std::make_shared<RowSelection>();
  const std::string what = is_top ? "best of " : is_sorted ? "sort " : "filter ";
  ui.jobs.start(what + source_->name(), slot,
                [scan = Scan{drawn_, order, selection_}, is_top,
                 &actions = ui.actions](JobContext& context) -> Jobs::Finish {
                  std::vector<Error> problems;
                  if (is_top) {
                    problems = take_top(scan, context);
                  } else if (!scan.order.column) {
                    problems = take_all(scan, context);
                  } else if (const auto source = scan.watched.lock(); source != nullptr) {
                    problems = sort(*source, scan.order, *scan.into);
                  }
                  if (problems.empty()) return nullptr;
                  return [&actions, problems] {
                    for (const Error& problem : problems) actions.meet(problem);
                    actions.say(Severity::kBad, "rows that cannot be read were passed over: " +
                                                    describe(problems.front()));
                  };
                });
}

bool Table64::export_to(Ui& ui, const std::string& path) const {
  const auto format = row_format_of(path);
  const auto drawn = drawn_.lock();
  if (!format || drawn == nullptr) return false;
  if (selection_ && !selection_->is_complete) {
    ui.actions.say(Severity::kWarning, "the filter has not looked at all rows yet");
    return true;
  }
  ui.jobs.start(
      "export " + path, {},
      [source = drawn, selection = selection_, path, format = *format,
       &actions = ui.actions](JobContext& context) -> Jobs::Finish {
        AtomicFile file(path);
        file.write(head_line(source->columns(), format));
        const std::uint64_t count = selection ? selection->size() : source->row_count();
        std::string problem;
        const auto write = [&](std::uint64_t number, const model::Row& row) {
          const auto whole = source->whole_row(number, row);
          if (!whole) problem = describe(whole.error());
          if (whole) file.write(row_line(source->columns(), *whole, format));
        };
        for (std::uint64_t at = 0; at < count && problem.empty();) {
          std::size_t taken = 0;
          if (selection) {
            for (const std::uint64_t row : selection->rows(at, kPiece)) {
              const auto rows = source->full_rows(row, 1);
              if (!rows) problem = describe(rows.error());
              if (rows && !rows->empty()) write(row, rows->front());
              ++taken;
            }
          } else if (const auto rows = source->full_rows(at, kPiece); rows) {
            for (const model::Row& row : *rows) write(at + taken++, row);
          } else {
            problem = describe(rows.error());
          }
          at += taken;
          if (taken == 0 || !context.progress(at, count)) break;
        }
        if (context.is_cancelled()) return nullptr;  // the unfinished file goes with `file`
        if (problem.empty()) problem = file.finish();
        return [&actions, path, count, problem] {
          if (problem.empty()) {
            actions.say(Severity::kNote, model::format_count(count) + " rows written to " + path);
          } else {
            actions.say(Severity::kBad, "nothing was written to " + path + ": " + problem);
          }
        };
      });
  return true;
}

}  // namespace crawlstore::inspector
