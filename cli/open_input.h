// SPDX-License-Identifier: Apache-2.0
#pragma once

/// An input that is open, and knows the kind of its bytes before anybody takes them. Threads: one.

#include <cerrno>
#include <memory>
#include <string>

#include "cli/input_bytes.h"
#include "cli/input_file.h"
#include "cli/stop_signals.h"

namespace crawlstore::cli {

class OpenInput {
 public:
  /// Opens the input; `-` is standard input. `stop` outlives it.
  OpenInput(const std::string& path, const StopSignals& stop)
      : file_(path),
        open_errno_(file_.descriptor() < 0 ? errno : 0),
        bytes_(file_.descriptor(), stop) {}

  /// Below 0 if it could not be opened; open_errno() says why.
  [[nodiscard]] int descriptor() const { return file_.descriptor(); }
  [[nodiscard]] int open_errno() const { return open_errno_; }
  /// Its bytes, for a LineReader or a stream of events.
  [[nodiscard]] InputBytes& bytes() { return bytes_; }

 private:
  InputFile file_;
  int open_errno_;
  InputBytes bytes_;
};

using OpenInputPtr = std::unique_ptr<OpenInput>;

}  // namespace crawlstore::cli
