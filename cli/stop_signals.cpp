// SPDX-License-Identifier: Apache-2.0
#include "cli/stop_signals.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>

#include <poll.h>

namespace crawlstore::cli {
namespace {

// tidy: mutable state, a signal handler reaches nothing else
std::atomic<int> stop_signal{0};
static_assert(std::atomic<int>::is_always_lock_free);

timespec timespec_of(std::chrono::nanoseconds time) {
  const auto whole = std::chrono::floor<std::chrono::seconds>(time);
  timespec parts = {};
  parts.tv_sec = whole.count();
  parts.tv_nsec = (time - whole).count();
  return parts;
}

/// The first one is a wish; the second one, of whatever kind, has its default effect: SA_RESETHAND
/// has restored that, and the signal comes again when the handler returns.
extern "C" void remember_signal(int signal_number) {
  if (stop_signal.exchange(signal_number) != 0) (void)::raise(signal_number);
}

struct sigaction action_of_first_signal() {
  struct sigaction action = {};
  action.sa_handler = remember_signal;
  action.sa_flags = SA_RESTART | static_cast<int>(SA_RESETHAND);
  sigemptyset(&action.sa_mask);
  return action;
}

}  // namespace

StopSignals::StopSignals() {
  stop_signal = 0;
  const struct sigaction action = action_of_first_signal();
  ::sigaction(SIGINT, &action, &earlier_interrupt_);
  ::sigaction(SIGTERM, &action, &earlier_terminate_);
  // What was ignored stays so: a background job of a shell does not take its Ctrl-C.
  if (earlier_interrupt_.sa_handler == SIG_IGN) ::sigaction(SIGINT, &earlier_interrupt_, nullptr);
  if (earlier_terminate_.sa_handler == SIG_IGN) ::sigaction(SIGTERM, &earlier_terminate_, nullptr);
}

StopSignals::~StopSignals() {
  ::sigaction(SIGINT, &earlier_interrupt_, nullptr);
  ::sigaction(SIGTERM, &earlier_terminate_, nullptr);
}

int StopSignals::requested() const {
  return stop_signal;
}

StopSignals::Wait StopSignals::wait(int descriptor,
                                    std::optional<std::chrono::nanoseconds> patience) const {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  // Blocked between the look at the wish and the wait, so that none comes unseen in between.
  sigset_t both;
  sigset_t earlier;
  sigemptyset(&both);
  sigaddset(&both, SIGINT);
  sigaddset(&both, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &both, &earlier);
  pollfd input{descriptor, POLLIN, 0};
  int ready = -1;
  while (requested() == 0 && ready < 0) {
    timespec rest = {};
    if (patience) {
      const std::chrono::nanoseconds left = *patience - (Clock::now() - start);
      rest = timespec_of(std::max(left, std::chrono::nanoseconds(0)));
    }
    ready = ::ppoll(&input, 1, patience ? &rest : nullptr, &earlier);
    if (ready < 0 && errno != EINTR) break;
  }
  ::pthread_sigmask(SIG_SETMASK, &earlier, nullptr);
  if (requested() != 0) return Wait::kSignal;
  return ready == 0 ? Wait::kTimeout : Wait::kReadable;
}

}  // namespace crawlstore::cli
