// SPDX-License-Identifier: Apache-2.0
//
// Invariants:
// - descriptor_ is -1 or an open file description that nobody else uses: the writer's questions go
//   through the data descriptor and therefore see these pins.
// - A generation is in counts_ iff its byte is locked through descriptor_.
// - The destructor closes and never unlocks: in a forked child the pins stay the parent's. The
//   parent calls unpin_all() first, so that its children do not keep pins that nobody uses.

#include "io/pins.h"

#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/lock_bytes.h"
#include "io/ofd_locks.h"
#include "io/open_descriptor.h"

namespace crawlstore::io {
namespace {

bool same_file(int one_descriptor, int other_descriptor) {
  struct stat one = {};
  struct stat other = {};
  return ::fstat(one_descriptor, &one) == 0 && ::fstat(other_descriptor, &other) == 0 &&
         one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

int open_for_pins(const char* path) {
  return open_descriptor(path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
}

}  // namespace

Pins::Pins(int data_descriptor, std::string path)
    : data_descriptor_(data_descriptor), path_(std::move(path)) {}

Pins::~Pins() {
  if (descriptor_ != -1) ::close(descriptor_);
}

Result<void> Pins::open_descriptor() {
  if (descriptor_ != -1) return {};
  const std::string link = "/proc/self/fd/" + std::to_string(data_descriptor_);
  int opened = open_for_pins(link.c_str());
  if (opened == -1 && !path_.empty()) opened = open_for_pins(path_.c_str());
  if (opened == -1) return fail_errno(errno, "cannot open the file a second time, for pins");
  if (!same_file(opened, data_descriptor_)) {
    ::close(opened);
    return fail(Errc::kReplaced, "the path leads to another file than the one opened");
  }
  descriptor_ = opened;
  return {};
}

Result<void> Pins::pin(Generation generation) {
  if (generation.value >= kPinnableGenerationEnd) {
    return fail(Errc::kInvalidArgument, "no lock byte for so high a generation");
  }
  const std::lock_guard lock(mutex_);
  if (const auto count = counts_.find(generation.value); count != counts_.end()) {
    ++count->second;
    return {};
  }
  CRAWLSTORE_TRY(open_descriptor());
  CRAWLSTORE_TRY(try_lock_byte(descriptor_, kPinLockBase + generation.value, LockKind::kShared));
  counts_.emplace(generation.value, 1);
  return {};
}

void Pins::unpin(Generation generation) {
  const std::lock_guard lock(mutex_);
  const auto count = counts_.find(generation.value);
  if (count == counts_.end() || --count->second != 0) return;
  unlock_byte(descriptor_, kPinLockBase + generation.value);
  counts_.erase(count);
}

void Pins::unpin_all() {
  const std::lock_guard lock(mutex_);
  for (const auto& [generation, count] : counts_) {
    unlock_byte(descriptor_, kPinLockBase + generation);
  }
  counts_.clear();
}

}  // namespace crawlstore::io
