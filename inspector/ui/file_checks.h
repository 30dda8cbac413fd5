// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "inspector/ui/app_state.h"

namespace crawlstore::inspector {

/// Looks for what is wrong with the file, and saves what can be read of it, in the background.
class FileChecks {
 public:
  explicit FileChecks(AppState& state) : state_(state) {}
  /// Nothing where no file is open.
  void verify(VerifyLevel level);
  void cancel() { state_.jobs.cancel_slot("verify"); }
  /// Counts what could not be read among the problems of the file.
  void meet(const Error& error);
  void recover_to(const std::string& new_path);

 private:
  void take(Checked checked);

  AppState& state_;
};

}  // namespace crawlstore::inspector
