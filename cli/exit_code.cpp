// SPDX-License-Identifier: Apache-2.0
#include "cli/exit_code.h"

#include <array>

namespace crawlstore::cli {

std::span<const ExitCodeMeaning> exit_code_meanings() {
  static constexpr std::array kMeanings{
      ExitCodeMeaning{"0", "done"},
      ExitCodeMeaning{"1",
                      "the answer is \"no\": damaged, not found, differs, exists already; or "
                      "lines were refused"},
      ExitCodeMeaning{"2", "the command line is wrong, or a line of `frontier --put` or `done`"},
      ExitCodeMeaning{"3", "the system said no: I/O, space, permission, locked by another writer"},
      ExitCodeMeaning{"4", "not a crawl file, or of a version that this program does not read"},
      ExitCodeMeaning{"129, 130, 143",
                      "ended cleanly after SIGHUP, SIGINT or SIGTERM; the last commit stands"},
  };
  return kMeanings;
}

int exit_code(Errc code) {
  switch (code) {
    case Errc::kNotFound:
    case Errc::kExists:
    case Errc::kUnknownName:
    case Errc::kNoPreviousGeneration:
      return kExitNo;
    case Errc::kInvalidArgument:
    case Errc::kTooLarge:
    case Errc::kTypeMismatch:
      return kExitUsage;
    default:
      break;
  }
  switch (category(code)) {
    case ErrorCategory::kFormat:
      return kExitFormat;
    case ErrorCategory::kDamage:
      return kExitNo;
    case ErrorCategory::kConflict:
    case ErrorCategory::kSystem:
    case ErrorCategory::kCaller:
      break;
  }
  return kExitSystem;
}

}  // namespace crawlstore::cli
