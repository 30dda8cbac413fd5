// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The surroundings of a panel while it draws: the session, read only, and the actions that it may
/// ask for.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <imgui.h>

#include <crawlstore/tools/verify.h>

#include "inspector/core/command.h"
#include "inspector/core/jobs.h"
#include "inspector/core/line_raster.h"
#include "inspector/core/location.h"
#include "inspector/core/palette.h"
#include "inspector/core/picture.h"
#include "inspector/core/session.h"
#include "inspector/core/settings.h"
#include "inspector/ui/focus.h"
#include "inspector/ui/fonts.h"
#include "inspector/ui/probe.h"

namespace crawlstore::inspector {

/// A line of the details pane.
struct DetailLine {
  std::string name;
  std::string text;
  Thing thing;                         ///< where a click leads; monostate = nowhere
  std::optional<std::string> bytes{};  ///< of a text: what it is, where `text` is what is shown
};

/// The details that the panel in front has about its selection.
struct Details {
  std::string title;
  std::vector<DetailLine> lines;
};

/// The actions that a panel may ask for; done after the frame is drawn.
class Actions {
 public:
  Actions() = default;
  Actions(const Actions&) = delete;
  Actions& operator=(const Actions&) = delete;
  virtual ~Actions() = default;
  virtual void go(const Location& location) = 0;
  virtual void open(const std::string& path) = 0;
  /// The same, and goes to a place in it.
  virtual void open_place(const FileLocation& /*file*/) {}
  virtual void verify(VerifyLevel level) = 0;
  /// To the clipboard; `what` is said in the log.
  virtual void copy(const std::string& text, std::string_view what) = 0;
  virtual void say(Severity severity, std::string text) = 0;
  /// Counts what could not be read among the problems of the file. At once, and each once.
  virtual void meet(const Error& error) = 0;
  virtual void run(std::string_view command, std::string_view argument = {}) = 0;
  /// Keeps the width of a table's column, in pixels at scale 1; 0 = as wide as it needs again.
  virtual void keep_width(const std::string& /*column*/, float /*width*/) {}
  /// The panel will look different in a moment: draw again.
  virtual void redraw() = 0;
  /// It will at a time: draw once then, unless nobody has looked for a minute.
  virtual void redraw_at(std::int64_t /*time_us*/) {}
  /// The mask as a texture that this frame may draw; nullptr = the shell has none.
  virtual ImTextureID texture(const std::shared_ptr<const Mask>& /*mask*/) { return nullptr; }
  /// Writes a picture to a path, from any thread; returns what went wrong. Empty = not possible.
  using WritePng = std::function<std::string(const Picture&, const std::string&)>;
  [[nodiscard]] virtual WritePng png_writer() const { return {}; }
};

struct Ui {
  const Session& session;
  const Settings& settings;
  const CommandRegistry& commands;
  Actions& actions;
  Jobs& jobs;
  Fonts& fonts;
  FocusWalk& focus;
  Probe& probe;
  const Palette& palette;
  float scale = 1;
  std::int64_t now_us = 0;
  Details details{};
  bool has_wheel = false;     ///< the mouse is on what takes the wheel itself
  bool brings_table = false;  ///< the first main table that is drawn comes into sight

  /// Pixels at this scale.
  [[nodiscard]] float px(float at_scale_1) const { return at_scale_1 * scale; }
};

// --- words -----------------------------------------------------------------------------------

/// Text as it is, but for letters that the fonts do not have yet, which are fetched.
void draw_text(Ui& ui, std::string_view text);
void draw_text(Ui& ui, std::string_view text, Colour colour);
/// Broken into lines at the right edge.
void draw_paragraph(Ui& ui, std::string_view text, Colour colour);
/// A heading inside a panel.
void draw_heading(Ui& ui, std::string_view text);
/// Returns as much of a line as fits so many pixels; "..." tells of the rest.
std::string fit_text(Ui& ui, std::string_view text, float width);
/// The same, but what is left out is in the middle: for names that differ at their ends.
std::string fit_middle(Ui& ui, std::string_view text, float width);
/// Text that leads somewhere when it is clicked; its right click copies the location.
void draw_link(Ui& ui, std::string_view label, std::string_view text, const Location& location);
/// In another colour than that of links.
void draw_link(Ui& ui, std::string_view label, std::string_view text, const Location& location,
               Colour colour);
/// Draws the name that people use for a field of the schema, with its own name in a tooltip.
/// Returns how wide it is.
float draw_name(Ui& ui, std::string_view name);
/// The tooltip of such a label, where it is not the name itself.
void draw_schema_name(Ui& ui, std::string_view name, std::string_view label);
/// A field of the schema as draw_name(), and behind it, in one column for all, its value; a link
/// when `thing` is something.
void draw_field(Ui& ui, std::string_view name, std::string_view text, const Thing& thing,
                float name_width);
/// A button; true when it was clicked.
bool draw_button(Ui& ui, std::string_view label, std::string_view text, std::string_view hint = {});
/// One of several that exclude each other; true when it was chosen. Unlike ImGui's, with any text.
bool draw_choice(Ui& ui, std::string_view label, std::string_view text, bool is_on);
/// A line to write in, as wide as the next item; true when Enter was pressed.
bool draw_input(Ui& ui, std::string_view label, const char* hint, std::string& text);
/// The item drawn last can be walked to by keys; true when Enter was pressed there.
bool take_stop(Ui& ui, std::string_view label);
/// Says in place why there is nothing to see, with the place in the file when there is one, and
/// counts it among the problems of the file.
void draw_problem(Ui& ui, const Error& error);
/// Links to its bytes and to its segment, on one line.
void draw_problem_links(Ui& ui, const Error& error);
/// For panels without a file.
void draw_no_file(Ui& ui);
/// A small filled square, hatched for kinds that a colour-blind person might mix up.
void draw_swatch(Ui& ui, Colour colour);

// --- where things stand ----------------------------------------------------------------------

/// The width of these.
float text_width(std::string_view text);
float button_width(std::string_view text);
float choice_width(std::string_view text);
/// Places the next item beside the last one, when it has room there; else below.
void place_beside(float width);
void place_beside(float width, float gap);

Colour colour_of(const Ui& ui, Severity severity);
/// A triangle with an exclamation mark, filled for what is bad, hollow for warnings; nothing for
/// notes. So that no meaning is carried by colour alone.
void draw_sign(Ui& ui, Severity severity);

}  // namespace crawlstore::inspector
