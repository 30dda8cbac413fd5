// SPDX-License-Identifier: Apache-2.0
// main() for fuzz targets without libFuzzer: runs the target once over each file named on the
// command line. An input lies in a heap block of exactly its size: ASan sees a read past its end.
// Exit code: 0 = all ran, 2 = a file could not be read; a failing target dies by itself.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <vector>

extern "C" {
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
// Targets with a custom mutator call this; a replay never mutates.
std::size_t LLVMFuzzerMutate(std::uint8_t* /*data*/, std::size_t size, std::size_t /*size_max*/) {
  return size;
}
}

int main(int argc, char** argv) {
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
