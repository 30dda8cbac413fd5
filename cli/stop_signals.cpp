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

/// SA_RESETHAND has restored the default effect of a second SIGINT or SIGTERM, of whatever kind the
/// first was; raised here, the signal comes again when the handler returns.
extern "C" void remember_signal(int signal_number) {
  int none = 0;
  if (stop_signal.compare_exchange_strong(none, signal_number)) return;
  if (signal_number != SIGHUP) (void)::raise(signal_number);
}

struct sigaction action_of(int signal_number) {
  struct sigaction action = {};
  action.sa_handler = remember_signal;
  action.sa_flags = SA_RESTART;
  if (signal_number != SIGHUP) action.sa_flags |= static_cast<int>(SA_RESETHAND);
  sigemptyset(&action.sa_mask);
  return action;
}

}  // namespace

StopSignals::StopSignals() {
  stop_signal = 0;
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    // Ignored signals stay ignored: a background job of a shell does not take its Ctrl-C.
    ::sigaction(kSignals[i], nullptr, &earlier_[i]);
    if (earlier_[i].sa_handler == SIG_IGN) continue;
    const struct sigaction action = action_of(kSignals[i]);
    ::sigaction(kSignals[i], &action, nullptr);
  }
}

StopSignals::~StopSignals() {
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    ::sigaction(kSignals[i], &earlier_[i], nullptr);
  }
}

int StopSignals::requested() const {
  return stop_signal;
}

StopSignals::Wait StopSignals::wait(int descriptor,
                                    std::optional<std::chrono::nanoseconds> patience) const {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  // Signals are blocked from the look at the request to the wait: none comes unseen in between.
  sigset_t ours;
  sigset_t earlier;
  sigemptyset(&ours);
  for (const int signal_number : kSignals) sigaddset(&ours, signal_number);
  ::pthread_sigmask(SIG_BLOCK, &ours, &earlier);
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
