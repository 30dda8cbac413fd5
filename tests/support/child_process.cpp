// SPDX-License-Identifier: Apache-2.0

#include "support/child_process.h"

#include <array>
#include <cerrno>
#include <csignal>

#include <sys/wait.h>
#include <unistd.h>

#include "base/assert.h"

namespace crawlstore::testing {
namespace {

int wait_for(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) == -1) CRAWLSTORE_ASSERT(errno == EINTR);
  return WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

int run_in_child(const std::function<int()>& body) {
  const pid_t pid = ::fork();
  CRAWLSTORE_ASSERT(pid != -1);
  if (pid == 0) ::_exit(body());
  return wait_for(pid);
}

WaitingChild::WaitingChild(const std::function<bool()>& body) {
  std::array<int, 2> pipe_ends = {};
  CRAWLSTORE_ASSERT(::pipe(pipe_ends.data()) == 0);
  pid_ = ::fork();
  CRAWLSTORE_ASSERT(pid_ != -1);
  if (pid_ == 0) {
    ::close(pipe_ends[0]);
    const char ready = body() ? 'y' : 'n';
    if (::write(pipe_ends[1], &ready, 1) != 1 || ready == 'n') ::_exit(1);
    for (;;) ::pause();
  }
  ::close(pipe_ends[1]);
  char ready = 'n';
  is_ready_ = ::read(pipe_ends[0], &ready, 1) == 1 && ready == 'y';
  ::close(pipe_ends[0]);
}

WaitingChild::~WaitingChild() {
  kill();
}

void WaitingChild::kill() {
  if (pid_ == -1) return;
  ::kill(pid_, SIGKILL);
  wait_for(pid_);
  pid_ = -1;
}

bool become_nobody() {
  constexpr uid_t kNobody = 65534;
  if (::setresgid(kNobody, kNobody, kNobody) != 0) return false;
  return ::setresuid(kNobody, kNobody, kNobody) == 0;
}

}  // namespace crawlstore::testing
