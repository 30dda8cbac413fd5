// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The one place where errors become exit codes.

#include <span>
#include <string_view>

#include <crawlstore/error.h>

namespace crawlstore::cli {

inline constexpr int kExitDone = 0;
inline constexpr int kExitNo = 1;      ///< damaged, not found, differs, exists already
inline constexpr int kExitUsage = 2;   ///< the command line asks for something that cannot be
inline constexpr int kExitSystem = 3;  ///< I/O, space, permission, locked by somebody
inline constexpr int kExitFormat = 4;  ///< no crawl file, or a version that is not read here

int exit_code(Errc code);

/// The meanings of exit codes for people, in the main help and the manual page.
struct ExitCodeMeaning {
  std::string_view codes;
  std::string_view meaning;
};
std::span<const ExitCodeMeaning> exit_code_meanings();

/// Returns the code by which the shell shows a command that a signal ended. Ours end cleanly first.
inline int exit_code_of_signal(int signal_number) {
  return 128 + signal_number;
}

}  // namespace crawlstore::cli
