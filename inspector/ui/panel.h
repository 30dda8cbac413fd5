// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The interface of panels. A new one is a file in panels/ and a line in panels.cpp.

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "inspector/core/location.h"
#include "inspector/ui/ui.h"

namespace crawlstore::inspector {

/// Draws what the session holds, keeps nothing but its own look: scroll, filter, choices. Files are
/// read in windows of a screen, or by jobs. A panel lives no longer than its file is open: a view
/// of another number is another look at the same path.
class Panel {
 public:
  Panel() = default;
  Panel(const Panel&) = delete;
  Panel& operator=(const Panel&) = delete;
  virtual ~Panel() = default;

  /// Inside a window that is there already.
  virtual void draw(Ui& ui) = 0;
  /// Drops whatever reads the file: views, rows that are not in memory, and the jobs that would
  /// bring such, for each of these holds a pin. The app calls it for a panel that nobody sees when
  /// the session has another view; the next draw() opens again what it needs.
  virtual void let_go(Jobs& jobs) = 0;
  /// Turns to a thing: selects it, scrolls to it.
  virtual void show(const Thing& /*thing*/) {}
  /// The state that going back brings back, as text; and its return.
  [[nodiscard]] virtual std::string view_state() const { return {}; }
  virtual void restore(std::string_view /*state*/) {}
  /// Whether the window tells of the selection; else the panel does itself, and takes the room of
  /// the details.
  [[nodiscard]] virtual bool has_details() const { return true; }
  /// Writes what the panel shows, filtered as it is, to a file: ".csv", ".tsv" or ".jsonl". False =
  /// nothing here can be written.
  virtual bool export_to(Ui& /*ui*/, const std::string& /*path*/) { return false; }
  /// Endings that such a path may have, the usual one first.
  [[nodiscard]] virtual std::span<const std::string_view> export_endings() const;
};

/// Panels of this group stand in the navigator, and as tabs of a layout, where there are pages.
inline constexpr std::string_view kPagesGroup = "Pages";
/// The same for this group where there are frontiers.
inline constexpr std::string_view kCrawlGroup = "Crawl";
/// The same for this group where several files were opened as a set of shards.
inline constexpr std::string_view kSetGroup = "Set";

struct PanelKind {
  std::string_view id;     ///< in locations: "segments"
  std::string_view title;  ///< on the tab
  std::string_view group;  ///< in the navigator: "File", "DRUM", "Work"
  /// One sentence for tooltips, then the actions of the panel and the meaning of its signs.
  std::string_view help;
  /// The panel in which such a thing is shown when nothing else is said.
  bool (*is_home)(const Thing& thing);
  std::unique_ptr<Panel> (*make)();

  /// Returns the first sentence of the help, without its full stop.
  [[nodiscard]] std::string_view first_sentence() const { return help.substr(0, help.find(". ")); }
};

/// Whether the navigator and layouts have a panel for this file.
bool has_things(const Session& session, const PanelKind& kind);

/// In the order of the navigator.
std::span<const PanelKind> panel_kinds();

}  // namespace crawlstore::inspector
