// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Forked children for tests of locks, limits and kills.

#include <functional>

#include <sys/types.h>

namespace crawlstore::testing {

/// Runs `body` in a forked child and returns its exit code: what `body` returns, or 1000 + signal.
int run_in_child(const std::function<int()>& body);

/// A child that sets something up and then stays until it is killed.
class WaitingChild {
 public:
  /// Returns after `body` has returned true in the child. When it returned false the child is gone
  /// and is_ready() is false.
  explicit WaitingChild(const std::function<bool()>& body);
  ~WaitingChild();
  WaitingChild(const WaitingChild&) = delete;
  WaitingChild& operator=(const WaitingChild&) = delete;

  [[nodiscard]] bool is_ready() const { return is_ready_; }
  [[nodiscard]] pid_t pid() const { return pid_; }
  /// kill -9, and waits until the child is gone.
  void kill();

 private:
  pid_t pid_ = -1;
  bool is_ready_ = false;
};

/// Gives up root in this (child) process; true when it is nobody afterwards.
bool become_nobody();

}  // namespace crawlstore::testing
