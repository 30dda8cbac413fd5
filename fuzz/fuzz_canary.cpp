// SPDX-License-Identifier: Apache-2.0
// Invariants checked: none. This target must FAIL: it aborts on inputs that start with "CRWL", so a
// replay that passes the crash in corpus/fuzz_canary.txt, or a libFuzzer run that does not find the
// word within a minute, means that the fuzzing harness is broken.

#include <cstddef>
#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static constexpr char kWord[] = "CRWL";
  // Byte by byte, so that coverage leads a fuzzer there.
  for (std::size_t i = 0; i < sizeof(kWord) - 1; ++i) {
    if (i >= size || data[i] != static_cast<std::uint8_t>(kWord[i])) {
      return 0;
    }
  }
  std::abort();
}
