// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Sixteen bytes a line, hexadecimal and as letters, of a file of up to 2^64 bytes. A line of the
/// file is on the screen, or it is not read.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "inspector/ui/ui.h"
#include "model/file_bytes.h"

namespace crawlstore::inspector {

/// Bytes to set off from the others.
struct HexMark {
  Extent extent;
  Colour colour = 0;
  bool is_framed = false;  ///< an outline instead of a ground
};

class HexGrid {
 public:
  /// Draws the lines that fit. `marks` later in the list win.
  void draw(Ui& ui, const model::FileBytes& bytes, const std::vector<HexMark>& marks, float height);

  /// Puts the cursor on a byte, and brings it into sight.
  void go(std::uint64_t offset);
  void set_first_line(std::uint64_t line) { first_line_ = line; }
  [[nodiscard]] std::uint64_t first_line() const { return first_line_; }
  [[nodiscard]] std::uint64_t cursor() const { return cursor_; }
  /// The byte under the pointer.
  [[nodiscard]] std::optional<std::uint64_t> hovered() const { return hovered_; }
  /// A byte was clicked, or reached by keys, in this frame.
  [[nodiscard]] bool has_moved() const { return has_moved_; }

 private:
  struct Layout;
  void take_input(Ui& ui, const Layout& layout);
  void draw_line(Ui& ui, const Layout& layout, std::size_t line,
                 const std::vector<HexMark>& marks) const;
  void draw_byte(Ui& ui, const Layout& layout, std::size_t line, std::size_t column,
                 const std::vector<HexMark>& marks) const;

  std::uint64_t cursor_ = 0;
  std::uint64_t first_line_ = 0;
  bool must_show_cursor_ = false;
  bool has_moved_ = false;
  std::optional<std::uint64_t> hovered_;
  std::vector<std::byte> window_;
  std::uint64_t size_ = 0;
};

}  // namespace crawlstore::inspector
