// SPDX-License-Identifier: Apache-2.0
//
// For LD_PRELOAD: a program that asks for no sync, and believes that each one was done.
#include <unistd.h>

extern "C" int fsync(int /*descriptor*/) {
  return 0;
}

extern "C" int fdatasync(int /*descriptor*/) {
  return 0;
}
