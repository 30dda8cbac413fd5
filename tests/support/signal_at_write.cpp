// SPDX-License-Identifier: Apache-2.0
//
// For LD_PRELOAD: a signal in the middle of the work of an unchanged program, at the same place
// each time. The environment says which and where:
//   SIGNAL            its number; SIGINT without it
//   SIGNAL_AT_PWRITE  before which pwrite() of the process, 1 = the first one
//   SIGNAL_AT_WRITE   before which write() to what is no standard stream
//   WRITES_COUNTED    a file that gets the numbers of both when the process ends
#include <atomic>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include <sys/syscall.h>
#include <unistd.h>

namespace {

long number_in(const char* name) {
  const char* const value = std::getenv(name);
  const std::string_view text = value == nullptr ? "" : value;
  long number = 0;
  (void)std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

/// One kind of call.
class Counter {
 public:
  explicit Counter(const char* name) : signal_at_(number_in(name)) {}
  void count() {
    if (++count_ == signal_at_) (void)std::raise(signal_ == 0 ? SIGINT : signal_);
  }
  [[nodiscard]] long calls() const { return count_; }

 private:
  long signal_at_;
  int signal_ = static_cast<int>(number_in("SIGNAL"));
  std::atomic<long> count_{0};
};

struct Counters {
  Counter pwrites{"SIGNAL_AT_PWRITE"};
  Counter writes{"SIGNAL_AT_WRITE"};
  ~Counters() {
    const char* const path = std::getenv("WRITES_COUNTED");
    std::FILE* const file = path == nullptr ? nullptr : std::fopen(path, "w");
    if (file == nullptr) return;
    std::fprintf(file, "%ld %ld\n", pwrites.calls(), writes.calls());
    std::fclose(file);
  }
};

Counters& counters() {
  static Counters counters;
  return counters;
}

}  // namespace

extern "C" ssize_t pwrite(int descriptor, const void* bytes, size_t length, off_t offset) {
  counters().pwrites.count();
  return ::syscall(SYS_pwrite64, descriptor, bytes, length, offset);
}

extern "C" ssize_t write(int descriptor, const void* bytes, size_t length) {
  if (descriptor > STDERR_FILENO) counters().writes.count();
  return ::syscall(SYS_write, descriptor, bytes, length);
}
