// SPDX-License-Identifier: Apache-2.0
//
// For LD_PRELOAD: a program whose wall clock is ahead by 365 days.
#include <ctime>

#include <sys/syscall.h>
#include <unistd.h>

extern "C" int clock_gettime(clockid_t clock, std::timespec* time) {
  const long failed = ::syscall(SYS_clock_gettime, clock, time);
  if (failed == 0 && clock == CLOCK_REALTIME) time->tv_sec += 365 * 86'400;
  return static_cast<int>(failed);
}
