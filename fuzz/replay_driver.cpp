// SPDX-License-Identifier: Apache-2.0
// main() for fuzz targets without libFuzzer: runs the target once over each file named on the
// command line. An input lies in a heap block of exactly its size: ASan sees a read past its end.
// Memory is limited, as with ./run-tests --long: an input that makes a target take more fails.
// Exit code: 0 = all ran, 2 = a file could not be read; a failing target dies by itself.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <vector>

#include <sys/resource.h>

extern "C" {
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
// Targets with a custom mutator call this; a replay never mutates.
std::size_t LLVMFuzzerMutate(std::uint8_t* /*data*/, std::size_t size, std::size_t /*size_max*/) {
  return size;
}
// A sanitizer's own memory counts for setrlimit(), so it is told in its own way.
// NOLINTNEXTLINE(readability-identifier-naming,bugprone-reserved-identifier): the sanitizer's
const char* __asan_default_options() {
  return "max_allocation_size_mb=256:hard_rss_limit_mb=1024";
}
// NOLINTNEXTLINE(readability-identifier-naming,bugprone-reserved-identifier)
const char* __tsan_default_options() {
  return "max_allocation_size_mb=256:hard_rss_limit_mb=4096";
}
}

namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kHasSanitizer = true;
#elif defined(__has_feature)
constexpr bool kHasSanitizer = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
constexpr bool kHasSanitizer = false;
#endif

}  // namespace

int main(int argc, char** argv) {
  // A file in memory maps 256 MiB, however few it touches.
  const rlimit limit{rlim_t{1} << 30, rlim_t{1} << 30};
  if (!kHasSanitizer && setrlimit(RLIMIT_DATA, &limit) != 0) {
    std::cerr << "setrlimit() failed\n";
    return 2;
  }
  for (int i = 1; i < argc; ++i) {
    std::ifstream file(argv[i], std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
    if (!file.is_open() || file.bad()) {
      std::cerr << argv[i] << ": cannot be read\n";
      return 2;
    }
    // Flushed first: the last name printed is the one that failed.
    std::cerr << "Running: " << argv[i] << " (" << bytes.size() << " bytes)\n";
    const auto input = std::make_unique<std::uint8_t[]>(bytes.size());
    std::copy(bytes.begin(), bytes.end(), input.get());
    LLVMFuzzerTestOneInput(input.get(), bytes.size());
  }
  std::cout << "replayed " << argc - 1 << " inputs\n";
  return 0;
}
