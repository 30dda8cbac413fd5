// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A table of up to 2^64 rows. Only the rows on the screen are ever asked for; the scroll position
/// is a row number, so that row 3,123,456,789 is exactly there. Filters and sorts run in the
/// background; filters show their first hits at once. A source that is not in memory is not sorted
/// as a whole: a job finds its kTopRows largest or smallest rows. A column of URLs takes the width
/// that others leave; borders can be dragged, and the settings keep the widths.

#include <atomic>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "inspector/core/filter.h"
#include "inspector/ui/ui.h"
#include "model/table_source.h"

namespace crawlstore::inspector {

/// The rows that a filter lets through, in their order; grows while the job runs.
class RowSelection {
 public:
  void append(const std::vector<std::uint64_t>& rows);
  [[nodiscard]] std::uint64_t size() const;
  /// The source's numbers of rows first .. first + count_max of the selection.
  [[nodiscard]] std::vector<std::uint64_t> rows(std::uint64_t first, std::size_t count_max) const;
  /// The place of that row of the source; nullopt = not, or not yet.
  [[nodiscard]] std::optional<std::uint64_t> find(std::uint64_t row) const;
  /// Finds the first one whose number is larger; nullopt = none is. Only where nothing is
  /// sorted.
  [[nodiscard]] std::optional<std::uint64_t> find_after(std::uint64_t row) const;
  std::atomic<std::uint64_t> scanned_count{0};
  std::atomic<std::uint64_t> matched_count{0};  ///< that the filter lets through: of these the best
  std::atomic<bool> is_complete{false};

 private:
  mutable std::mutex mutex_;
  std::vector<std::uint64_t> rows_;
};

struct TableLayout;

struct TableOptions {
  std::string id{};     ///< unique in the panel; labels begin with it
  std::string drum{};   ///< that its buckets and keys belong to
  std::string pages{};  ///< page database that its indexes and hosts belong to
  /// The target of a cell, when it is not that of its column's name.
  std::function<Location(const model::Column&, const model::Row&)> link{};
  /// The row is chosen (Enter, double click).
  std::function<void(const model::Row&)> choose{};
  /// The rows are of other files: cells of this column choose theirs, and no cell is a link.
  std::string choose_column{};
  float height = 0;  ///< pixels; 0 = all there is
  bool has_filter = true;
  /// No taller than its rows, as far as they fit: for short tables between other things.
  bool fits_rows = false;
  /// The panel is for this table: where it has no room, what stands above it scrolls away.
  bool is_main = false;
  /// The first column marks kinds of segments with their colours.
  bool has_swatches = false;
  /// Columns of numbers with a bar behind each cell, as long as it is large. In-memory sources
  /// only.
  std::vector<std::string> bars{};
  /// Columns with bars as long as the cell is of the number beside it; in another colour above it.
  std::vector<std::pair<std::string, double>> bars_against{};
};

class Table64 {
 public:
  static constexpr std::size_t kTopRows = 1000;
  /// Rows that a table has room for, or all that it has; the panel scrolls when there is none.
  static constexpr std::uint64_t kRowsLeast = 5;

  /// Draws the table. `source` may change from frame to frame: the selection and the top row are
  /// found again by their first cell. Not kept beyond the call, neither by a filter that runs.
  void draw(Ui& ui, const std::shared_ptr<const model::TableSource>& source,
            const TableOptions& options);

  /// Row of the source; nullopt = none.
  [[nodiscard]] std::optional<std::uint64_t> selected() const { return selected_; }
  /// Its cells, when they are known.
  [[nodiscard]] const std::optional<model::Row>& selected_row() const { return selected_cells_; }
  /// Selects a row of the source, and scrolls to it when the table is drawn next.
  void select(std::uint64_t row);
  /// That row on top, nothing selected.
  void scroll_to_top(std::uint64_t row);
  void clear_selection() {
    selected_.reset();
    selected_cells_.reset();
  }
  /// Whether all rows are shown, in their order.
  [[nodiscard]] bool is_in_order() const { return !selection_; }
  /// The first row of an in-memory source whose column holds this.
  bool select_where(const std::shared_ptr<const model::TableSource>& source,
                    std::string_view column, const model::Cell& value);
  void set_filter(std::string text);

  [[nodiscard]] std::string view_state() const;
  void restore(std::string_view state);
  /// Writes the rows shown, whole; in the background, atomically. False for an unknown ending.
  /// While a filter has not looked at all rows it says so instead.
  bool export_to(Ui& ui, const std::string& path) const;
  /// The table of a panel that somebody did something with last; the first, if nobody did anything.
  static const Table64& last_used(std::initializer_list<const Table64*> tables);

 private:
  using Layout = TableLayout;
  void follow_source(const std::shared_ptr<const model::TableSource>& source);
  void find_bars(const TableOptions& options);
  void draw_bar(Ui& ui, const Layout& layout, std::size_t column, const model::Cell& cell,
                float top) const;
  void start_selection(Ui& ui);
  void fetch(std::size_t count);
  void draw_filter(Ui& ui, const TableOptions& options);
  void draw_header(Ui& ui, const Layout& layout);
  void place_columns(const Ui& ui, float room, Layout& layout) const;
  [[nodiscard]] std::string width_key(std::size_t column) const;
  bool take_border(Ui& ui, const Layout& layout);
  void take_header_click(Ui& ui, const Layout& layout);
  void sort_by(Ui& ui, std::size_t column);
  void draw_rows(Ui& ui, const Layout& layout, const TableOptions& options);
  void draw_row(Ui& ui, const Layout& layout, const TableOptions& options, std::size_t index);
  void draw_cell(Ui& ui, const Layout& layout, const TableOptions& options, std::size_t index,
                 std::size_t column);
  void take_input(Ui& ui, const Layout& layout, const TableOptions& options);
  void take_wheel(Ui& ui, std::uint64_t page);
  [[nodiscard]] ImVec2 size_of(const Ui& ui, float row_height, const TableOptions& options) const;
  void scroll_by(std::int64_t rows, std::uint64_t page);
  void move_selection(std::int64_t rows, std::uint64_t page);
  void select_next(std::uint64_t page);
  void measure(const Ui& ui, const TableOptions& options);
  [[nodiscard]] bool has_swatch(const TableOptions& options, std::size_t column) const;
  static float draw_kind(const Ui& ui, const std::string& name, ImVec2 at);
  void draw_problems(Ui& ui, const Layout& layout) const;
  void draw_menu(Ui& ui, const TableOptions& options);
  void draw_menu_places(Ui& ui, const TableOptions& options, const model::Row& row);
  void show_details(Ui& ui, const TableOptions& options) const;
  [[nodiscard]] std::uint64_t row_count() const;
  [[nodiscard]] Location link_of(const TableOptions& options, std::size_t column,
                                 const model::Row& row) const;

  std::shared_ptr<const model::TableSource> source_;  // while it is drawn
  std::weak_ptr<const model::TableSource> drawn_;     // not its owner, for a source may hold a pin
  std::string filter_text_;
  std::string filter_problem_;
  std::optional<std::size_t> sort_column_;
  bool is_descending_ = false;
  std::shared_ptr<RowSelection> selection_;  // empty = all rows, in their order
  std::string selection_of_;                 // what it was made for
  std::uint64_t first_ = 0;                  // row of the view at the top
  float wheel_left_ = 0;                     // notches beyond the ends, for the panel around
  int used_frame_ = 0;                       // when it had the focus last
  std::optional<std::uint64_t> selected_;
  std::optional<model::Row> selected_cells_;
  std::optional<std::uint64_t> scroll_to_;  // row of the source to bring into sight

  // The window: rows first .. of the view, as last fetched.
  struct Window {
    std::uint64_t first = 0;
    std::size_t count = 0;
    std::uint64_t view_rows = 0;
    std::vector<std::uint64_t> numbers;  // of the source
    std::vector<model::Row> rows;
    std::vector<Error> problems;
  };
  Window window_;
  std::vector<float> widths_;  // what the cells seen so far need
  struct Drag {
    std::size_t column = 0;
    float from = 0;   // of the mouse
    float width = 0;  // of the column then
  };
  std::optional<Drag> drag_;
  std::vector<double> bar_max_;  // by column; 0 = no bars
  std::optional<std::size_t> menu_row_;
  std::size_t menu_column_ = 0;
};

}  // namespace crawlstore::inspector
