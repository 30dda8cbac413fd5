// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Everything that can be done, in one list: the menu, the palette, the keys, the scripts and the
/// list of keys are made from it.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "inspector/core/events.h"

namespace crawlstore::inspector {

struct Command {
  std::string id;     ///< for scripts: "go_back"
  std::string title;  ///< for people: "Back"
  std::string menu;   ///< "File", or "View/Layout"; empty = the palette only
  std::string keys;   ///< "Alt+Left"; empty = none
  std::string help;   ///< one line, what it does
  std::function<void(std::string_view argument)> run;
  std::function<bool()> enabled = [] { return true; };
  std::function<bool()> checked{};  ///< set = an option, shown with a tick
};

class CommandRegistry {
 public:
  /// Adds a command. Ids and keys are unique, and keys exist: anything else is a bug, and ends the
  /// process.
  void add(Command command);
  /// nullptr = none.
  [[nodiscard]] const Command* find(std::string_view id) const;
  /// The command on these keys; nullptr = none.
  [[nodiscard]] const Command* find(const KeyChord& chord) const;
  /// In the order in which they were added.
  [[nodiscard]] const std::vector<Command>& all() const { return commands_; }
  /// Runs it when there is one and it is enabled. Returns whether it ran.
  bool run(std::string_view id, std::string_view argument = {}) const;

 private:
  std::vector<Command> commands_;
};

}  // namespace crawlstore::inspector
