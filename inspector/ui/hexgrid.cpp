// SPDX-License-Identifier: Apache-2.0
#include "inspector/ui/hexgrid.h"

#include <algorithm>

#include <fmt/format.h>

#include "inspector/ui/internal.h"

namespace crawlstore::inspector {
namespace {

constexpr std::uint64_t kColumns = 16;
constexpr std::uint64_t kUnitLines = 4096 / kColumns;
constexpr float kGridScrollbar = 14;
constexpr std::uint64_t kWheelLines = 3;

bool is_letter(std::byte byte) {
  return byte >= std::byte{0x20} && byte < std::byte{0x7f};
}

}  // namespace

struct HexGrid::Layout {
  ImVec2 origin;
  float letter = 0;  // width of one
  float line_height = 0;
  std::uint64_t page = 0;  // whole lines that fit
  std::uint64_t lines = 0;

  [[nodiscard]] float hex_x(std::size_t column) const {
    const float gap = column >= 8 ? 1 : 0;
    return origin.x + letter * (14 + 3 * static_cast<float>(column) + gap);
  }
  [[nodiscard]] float text_x(std::size_t column) const {
    return origin.x + letter * (65 + static_cast<float>(column));
  }
  [[nodiscard]] float y(std::size_t line) const {
    return origin.y + line_height * static_cast<float>(line);
  }
};

void HexGrid::go(std::uint64_t offset) {
  cursor_ = offset;
  must_show_cursor_ = true;
}

void HexGrid::draw_byte(Ui& ui, const Layout& layout, std::size_t line, std::size_t column,
                        const std::vector<HexMark>& marks) const {
  const std::size_t index = line * kColumns + column;
  const std::uint64_t offset = (first_line_ + line) * kColumns + column;
  const std::byte byte = window_[index];
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const float top = layout.y(line);
  const ImVec2 low(layout.hex_x(column) - layout.letter / 2, top);
  const ImVec2 high(layout.hex_x(column) + layout.letter * 2.5F, top + layout.line_height);
  const ImVec2 text_low(layout.text_x(column), top);
  const ImVec2 text_high(layout.text_x(column) + layout.letter, top + layout.line_height);
  for (const HexMark& mark : marks) {
    if (offset < mark.extent.offset_bytes || offset >= mark.extent.end_bytes()) continue;
    if (mark.is_framed) {
      list.AddRectFilled(ImVec2(low.x, high.y - ui.px(2)), high, mark.colour);
      list.AddRectFilled(low, ImVec2(high.x, low.y + ui.px(1)), mark.colour);
    } else {
      list.AddRectFilled(low, high, mark.colour);
      list.AddRectFilled(text_low, text_high, mark.colour);
    }
  }
  if (offset == cursor_) {
    list.AddRect(low, high, ui.palette.accent, 0, 0, ui.px(1.5F));
    list.AddRect(text_low, text_high, ui.palette.accent);
  }
  const Colour colour = byte == std::byte{0} ? ui.palette.faint : ui.palette.text;
  const std::string hex = fmt::format("{:02x}", byte);
  list.AddText(ImVec2(layout.hex_x(column), top), colour, hex.c_str());
  const char letter = is_letter(byte) ? static_cast<char>(byte) : '.';
  list.AddText(ImVec2(layout.text_x(column), top), is_letter(byte) ? colour : ui.palette.faint,
               &letter, &letter + 1);
}

void HexGrid::draw_line(Ui& ui, const Layout& layout, std::size_t line,
                        const std::vector<HexMark>& marks) const {
  const std::uint64_t number = first_line_ + line;
  const std::string offset = fmt::format("{:012x}", number * kColumns);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const float top = layout.y(line);
  if (number % kUnitLines == 0 && number > 0) {
    // The line at the beginning of a unit; one of a chunk of 64 KiB from the start of the file is
    // thicker.
    const bool is_chunk = number % (16 * kUnitLines) == 0;
    list.AddLine(ImVec2(layout.origin.x, top), ImVec2(layout.text_x(kColumns), top),
                 ui.palette.border, ui.px(is_chunk ? 2 : 1));
  }
  list.AddText(ImVec2(layout.origin.x, top), ui.palette.faint, offset.c_str());
  std::string shown;
  for (std::size_t column = 0; column < kColumns; ++column) {
    if (line * kColumns + column >= window_.size()) break;
    draw_byte(ui, layout, line, column, marks);
    if (ui.probe.is_on()) shown += fmt::format("{:02x} ", window_[line * kColumns + column]);
  }
  ui.probe.note("hex." + offset, shown, ImVec2(layout.hex_x(0), top),
                ImVec2(layout.hex_x(1), top + layout.line_height));
}

void HexGrid::take_input(Ui& ui, const Layout& layout) {
  const ImGuiIO& io = ImGui::GetIO();
  hovered_.reset();
  has_moved_ = false;
  const std::uint64_t last_line = layout.lines > layout.page ? layout.lines - layout.page : 0;
  if (ImGui::IsWindowHovered()) {
    const auto notches = static_cast<std::int64_t>(-io.MouseWheel * kWheelLines);
    const auto distance = static_cast<std::uint64_t>(notches < 0 ? -notches : notches);
    first_line_ = notches < 0 ? first_line_ - std::min(first_line_, distance)
                              : std::min(last_line, first_line_ + distance);
    const ImVec2 mouse = ImGui::GetMousePos();
    const auto line =
        static_cast<std::size_t>(std::max(0.0F, (mouse.y - layout.origin.y) / layout.line_height));
    for (std::size_t column = 0; column < kColumns; ++column) {
      const bool is_hex = mouse.x >= layout.hex_x(column) - layout.letter / 2 &&
                          mouse.x < layout.hex_x(column) + layout.letter * 2.5F;
      const bool is_text =
          mouse.x >= layout.text_x(column) && mouse.x < layout.text_x(column) + layout.letter;
      const std::uint64_t offset = (first_line_ + line) * kColumns + column;
      if ((is_hex || is_text) && offset < size_) hovered_ = offset;
    }
    if (hovered_ && ImGui::IsMouseClicked(ImGuiMouseButton_Left)) {
      has_moved_ = cursor_ != *hovered_;
      cursor_ = *hovered_;
    }
  }
  first_line_ = std::min(first_line_, last_line);
  const ImVec2 low = ImGui::GetWindowPos();
  const ImVec2 high(low.x + ImGui::GetWindowSize().x, low.y + ImGui::GetWindowSize().y);
  if (!ui.focus.owns_keys("hex.bytes", low, high) || size_ == 0) return;
  const std::uint64_t before = cursor_;
  const auto back = [this](std::uint64_t n) { cursor_ -= std::min(cursor_, n); };
  const auto forward = [this](std::uint64_t n) {
    cursor_ += std::min(size_ - 1 - std::min(cursor_, size_ - 1), n);
  };
  const std::uint64_t page_bytes = layout.page * kColumns;
  if (ImGui::IsKeyPressed(kKeyLeft) && !io.KeyAlt) back(1);
  if (ImGui::IsKeyPressed(kKeyRight) && !io.KeyAlt) forward(1);
  if (ImGui::IsKeyPressed(kKeyUp)) back(kColumns);
  if (ImGui::IsKeyPressed(kKeyDown)) forward(kColumns);
  if (ImGui::IsKeyPressed(kKeyPageUp)) back(page_bytes);
  if (ImGui::IsKeyPressed(kKeyPageDown)) forward(page_bytes);
  if (ImGui::IsKeyPressed(kKeyHome)) cursor_ = 0;
  if (ImGui::IsKeyPressed(kKeyEnd)) cursor_ = size_ - 1;
  if (cursor_ == before) return;
  has_moved_ = true;
  must_show_cursor_ = true;
}

void HexGrid::draw(Ui& ui, const model::FileBytes& bytes, const std::vector<HexMark>& marks,
                   float height) {
  ImGui::PushFont(ui.fonts.mono());
  Layout layout;
  layout.letter = ImGui::CalcTextSize("0").x;
  layout.line_height = ImGui::GetTextLineHeight() + ui.px(2);
  size_ = bytes.size().value_or(0);
  const float width = layout.letter * 82;
  const float bar = ui.px(kGridScrollbar);
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  ImGui::BeginChild("bytes", ImVec2(width, height), false,
                    ImGuiWindowFlags_NoNavInputs | ImGuiWindowFlags_NoScrollbar |
                        ImGuiWindowFlags_NoScrollWithMouse);
  layout.origin = ImVec2(corner.x + ui.px(4), corner.y + ui.px(2));
  layout.page = static_cast<std::uint64_t>(std::max(1.0F, height / layout.line_height - 1));
  layout.lines = (size_ + kColumns - 1) / kColumns;
  take_input(ui, layout);
  const std::uint64_t cursor_line = cursor_ / kColumns;
  if (must_show_cursor_ &&
      (cursor_line < first_line_ || cursor_line >= first_line_ + layout.page)) {
    first_line_ = cursor_line - std::min(cursor_line, layout.page / 4);
  }
  must_show_cursor_ = false;

  const auto read =
      bytes.read(first_line_ * kColumns, static_cast<std::size_t>((layout.page + 1) * kColumns));
  if (read) {
    window_ = *read;
    ui.probe.begin_scrolled();
    for (std::size_t line = 0; line * kColumns < window_.size(); ++line) {
      draw_line(ui, layout, line, marks);
    }
    ui.probe.end_scrolled();
  } else {
    draw_problem(ui, read.error());
  }
  ImGui::EndChild();
  ImGui::PopFont();
  ImGui::SameLine(0, 0);
  (void)draw_row_scrollbar("hexbar", ImVec2(corner.x + width, corner.y),
                           ImVec2(corner.x + width + bar, corner.y + height),
                           {layout.page, layout.lines}, first_line_);
  ImGui::Dummy(ImVec2(bar, height));
}

}  // namespace crawlstore::inspector
