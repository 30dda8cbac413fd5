// SPDX-License-Identifier: Apache-2.0
// Encoding and decoding of key blocks, the hot path of a merge. Keys are uniform, at the density of
// 50 million and of a billion keys in a file. Reports nanoseconds and bits a key.

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <vector>

#include <benchmark/benchmark.h>

#include "format/key_block.h"  // tidy: inside, the codec itself is measured

namespace crawlstore::format {
namespace {

/// `count` sorted keys with exponential gaps of mean 2^64 / density.
std::vector<std::uint64_t> uniform_keys(std::size_t count, double density) {
  std::mt19937_64 random(7);
  std::exponential_distribution<double> gap(density / 18446744073709551616.0);
  std::vector<std::uint64_t> keys(count);
  std::uint64_t key = 0;
  for (std::uint64_t& out : keys) {
    out = key += 1 + static_cast<std::uint64_t>(gap(random));
  }
  return keys;
}

constexpr std::size_t kBlocks = 256;

struct Blocks {
  std::vector<std::byte> bytes;
  std::vector<std::size_t> offsets;
};

Blocks encode_blocks(std::span<const std::uint64_t> keys) {
  Blocks blocks;
  for (std::size_t i = 0; i < kBlocks; ++i) {
    blocks.offsets.push_back(blocks.bytes.size());
    encode_key_block(keys.subspan(i * kBlockKeysMax, kBlockKeysMax), kNoValue, {}, {},
                     blocks.bytes);
  }
  return blocks;
}

void report(benchmark::State& state) {
  const auto keys = static_cast<double>(state.iterations()) * kBlocks * kBlockKeysMax;
  state.counters["ns_per_key"] =
      benchmark::Counter(keys / 1e9, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

void encode(benchmark::State& state) {
  const auto keys = uniform_keys(kBlocks * kBlockKeysMax, static_cast<double>(state.range(0)));
  std::vector<std::byte> out;
  for (auto _ : state) {
    out.clear();
    for (std::size_t i = 0; i < kBlocks; ++i) {
      encode_key_block(std::span(keys).subspan(i * kBlockKeysMax, kBlockKeysMax), kNoValue, {}, {},
                       out);
    }
    benchmark::DoNotOptimize(out.data());
  }
  report(state);
  state.counters["bits_per_key"] =
      static_cast<double>(out.size()) * 8 / static_cast<double>(keys.size());
}

void decode(benchmark::State& state) {
  const auto keys = uniform_keys(kBlocks * kBlockKeysMax, static_cast<double>(state.range(0)));
  const Blocks blocks = encode_blocks(keys);
  std::array<std::uint64_t, kBlockKeysMax> out{};
  for (auto _ : state) {
    for (const std::size_t offset : blocks.offsets) {
      const auto block = parse_key_block(std::span(blocks.bytes).subspan(offset), kNoValue);
      if (!block || !decode_keys(*block, out)) {
        state.SkipWithError("a block does not decode");
        return;
      }
      benchmark::DoNotOptimize(out);
    }
  }
  report(state);
}

BENCHMARK(encode)->Arg(50'000'000)->Arg(1'000'000'000);
BENCHMARK(decode)->Arg(50'000'000)->Arg(1'000'000'000);

}  // namespace
}  // namespace crawlstore::format

BENCHMARK_MAIN();
