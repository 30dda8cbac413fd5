// SPDX-License-Identifier: Apache-2.0
#include "cli/exit_code.h"

namespace crawlstore::cli {

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
