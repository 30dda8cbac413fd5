// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Scripts for the headless inspector: one step a line, blank lines and those that begin with '#'
/// say nothing. Before a step whatever runs in the background is waited for.
///
///   open PATH            close               goto LOCATION
///   command ID [ARG]     key CHORD           type TEXT
///   click LABEL          double_click LABEL  right_click LABEL    hover LABEL
///   wheel NOTCHES        drag LABEL DX DY    drop PATH            size WIDTH HEIGHT
///   advance SECONDS      frames N            screenshot PATH
///   expect TEXT          expect_not TEXT     expect_location LOCATION
///
/// A LABEL is the name of something on the screen, as `--labels` lists them.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace crawlstore::inspector {

struct ScriptStep {
  std::size_t line = 0;
  std::string verb;
  std::string argument;  ///< the rest of the line, without blanks around it
};

/// Parses any word as the name of a step: the shell alone knows which steps there are.
std::vector<ScriptStep> parse_script(std::string_view text);

}  // namespace crawlstore::inspector
