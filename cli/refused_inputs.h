// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Inputs that are refused for what they are (input_kind.h), with exit code 1, while the others are
/// read. Threads: for the main thread.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/open_input.h"
#include "cli/stop_signals.h"

namespace crawlstore::cli {

/// Says which input is refused, and why.
void note_refused_input(const std::string& path, std::string_view why);

/// The inputs, looked at before FILE is opened, or made.
struct LookedInputs {
  std::uint64_t refused_count = 0;
  OpenInputPtr first;  ///< the first that is left, if FILE is to be made for it, or nullptr
};

/// Takes refused inputs off the list, and says why, so that nothing is made for them. A pipe can be
/// read once: it is looked at here only where FILE is not there and no input before it makes it.
LookedInputs drop_refused_inputs(std::vector<std::string>& inputs, const std::string& file,
                                 const StopSignals& stop);

}  // namespace crawlstore::cli
