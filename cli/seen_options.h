// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The options on the command line of `seen`.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/url_session.h"

namespace crawlstore::cli {

/// When lines that wait are answered, beside what the memory calls for. Without a time: when the
/// input pauses for a second.
struct FlushEvery {
  std::uint64_t lines = ~std::uint64_t{0};
  std::optional<std::chrono::nanoseconds> time;  // since the first line that waits
};

struct SeenOptions {
  UrlSessionOptions session;
  DrumOperation operation = DrumOperation::kCheckUpdate;
  std::vector<std::string> inputs;  // none: standard input
  FlushEvery flush_every;
  std::string unparsed;  // a file that lists what is no URL; empty: none
  bool ordered = false;
  bool as_json = false;
  bool quiet = false;
};

}  // namespace crawlstore::cli
