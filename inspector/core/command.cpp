// SPDX-License-Identifier: Apache-2.0
#include "inspector/core/command.h"

#include <utility>

#include "inspector/core/require.h"

namespace crawlstore::inspector {

void CommandRegistry::add(Command command) {
  require(find(command.id) == nullptr, "two commands of one id");
  if (!command.keys.empty()) {
    const auto chord = parse_key_chord(command.keys);
    require(chord.has_value(), "a command with keys that do not exist");
    require(find(*chord) == nullptr, "two commands on the same keys");
  }
  commands_.push_back(std::move(command));
}

const Command* CommandRegistry::find(std::string_view id) const {
  for (const Command& command : commands_) {
    if (command.id == id) return &command;
  }
  return nullptr;
}

const Command* CommandRegistry::find(const KeyChord& chord) const {
  for (const Command& command : commands_) {
    if (!command.keys.empty() && parse_key_chord(command.keys) == chord) return &command;
  }
  return nullptr;
}

bool CommandRegistry::run(std::string_view id, std::string_view argument) const {
  const Command* command = find(id);
  if (command == nullptr || !command->enabled()) return false;
  command->run(argument);
  return true;
}

}  // namespace crawlstore::inspector
