// SPDX-License-Identifier: Apache-2.0
//
// The rejected golden files with a broken request run or result run.
#include "format/packed_keys.h"
#include "format/request_run.h"
#include "golden/rejected_maker.h"

namespace crawlstore::testing {
namespace {

/// The beginning of the column after the packed keys of a key run.
std::size_t behind_keys(const Bytes& b) {
  const auto count = format::load<std::uint64_t>(b.data() + 8);
  const auto bits = format::load<std::uint16_t>(b.data() + 34);
  return 48 + 8 * format::packed_words(count, bits);
}

/// The place of the offset of the first match of the first block of auxiliaries.
std::size_t first_offset(const Bytes& b) {
  std::size_t at = 40;
  std::size_t literals = std::to_integer<std::size_t>(b.at(at++)) >> 4;
  for (bool more = literals == 15; more; ++at) {
    literals += std::to_integer<std::size_t>(b.at(at));
    more = b.at(at) == std::byte{255};
  }
  return at + literals;
}

void add_key_runs(Maker& make) {
  const auto keys = [&make](const std::string& name, const std::function<void(Bytes&)>& change,
                            const std::string& base = "one_pending") {
    make.payload(name, base, SegmentKind::kDrumKeyLog, change);
  };
  keys("key_run_magic", [](Bytes& b) { b[0] ^= std::byte{1}; });
  keys("key_run_count", [](Bytes& b) { put<std::uint64_t>(b, 8, 2); });
  keys("key_run_count_huge", [](Bytes& b) { put<std::uint64_t>(b, 8, ~std::uint64_t{0}); });
  keys("key_run_count_zero", [](Bytes& b) { put<std::uint64_t>(b, 8, 0); });
  keys("key_run_flags", [](Bytes& b) { put<std::uint32_t>(b, 24, 64); });
  keys("key_run_value_bytes", [](Bytes& b) { put<std::int32_t>(b, 28, -2); });
  keys("key_run_operation", [](Bytes& b) { put<std::uint16_t>(b, 32, 3); });
  keys("key_run_consumer", [](Bytes& b) { put<std::uint16_t>(b, 32, 4 << 2 | 2); });
  keys("key_run_key_bytes", [](Bytes& b) { put<std::uint16_t>(b, 36, 12); });
  keys("key_run_reserved", [](Bytes& b) { put<std::uint16_t>(b, 38, 1); });
  keys("key_run_key_bits_zero", [](Bytes& b) { put<std::uint16_t>(b, 34, 0); });
  keys("key_run_key_bits_over_64", [](Bytes& b) { put<std::uint16_t>(b, 34, 65); });
  keys("key_run_unused_bits", [](Bytes& b) { b[55] = std::byte{0x80}; });
  keys("key_run_base_too_low", [](Bytes& b) {
    add<std::uint64_t>(b, 40, ~std::uint64_t{0});
    b[48] = std::byte{1};
  });
  keys(
      "key_run_key_overflows", [](Bytes& b) { put<std::uint64_t>(b, 40, ~std::uint64_t{0} - 1); },
      "keys_and_pending");
  keys("key_run_key_bits_not_minimal", [](Bytes& b) { put<std::uint16_t>(b, 34, 2); });
  keys("key_run_too_long", [](Bytes& b) { b.resize(b.size() + 8); });
  keys(
      "key_run_sequence_overflows", [](Bytes& b) { put<std::uint64_t>(b, 16, ~std::uint64_t{0}); },
      "keys_and_pending");
  keys(
      "key_run_sequences_descend", [](Bytes& b) { put<std::uint32_t>(b, behind_keys(b) + 4, 0); },
      "runs_joined");
  keys(
      "key_run_sequences_do_not_begin_with_first",
      [](Bytes& b) { put<std::uint32_t>(b, behind_keys(b), 1); }, "runs_joined");
  keys(
      "key_run_check_with_value",
      [](Bytes& b) {
        put<std::uint32_t>(b, behind_keys(b), 1);
        b.resize(b.size() + 8);
      },
      "values_variable");
}

void add_aux_runs(Maker& make) {
  const auto aux = [&make](const std::string& name, const std::string& base,
                           const std::function<void(Bytes&)>& change) {
    make.payload(name, base, SegmentKind::kDrumAuxLog, change);
  };
  aux("aux_run_magic", "aux_uniform", [](Bytes& b) { b[0] ^= std::byte{1}; });
  aux("aux_run_count", "aux_uniform", [](Bytes& b) { add<std::uint64_t>(b, 8, 1); });
  aux("aux_run_flags", "aux_uniform", [](Bytes& b) { put<std::uint32_t>(b, 16, 2); });
  aux("aux_run_reserved", "aux_uniform", [](Bytes& b) { put<std::uint16_t>(b, 28, 1); });
  aux("aux_run_codec", "aux_uniform", [](Bytes& b) { put<std::uint16_t>(b, 24, 2); });
  aux("aux_run_codec_without_blocks", "aux_uniform",
      [](Bytes& b) { put<std::uint16_t>(b, 24, 1); });
  aux("aux_run_uniform_zero", "aux_uniform", [](Bytes& b) { put<std::uint32_t>(b, 20, 0); });
  aux("aux_run_length", "aux_variable", [](Bytes& b) { add<std::uint32_t>(b, 32, 1000); });
  aux("aux_run_length_over_limit", "aux_variable",
      [](Bytes& b) { put<std::uint32_t>(b, 32, (64U << 20) + 1); });
  const auto block = [&aux](const std::string& name, const std::function<void(Bytes&)>& change) {
    aux(name, "aux_compressed_uniform", change);
  };
  // Two block lengths at 32; the first block begins at 40, with a token that is followed by
  // literals, then the offset of its match.
  block("aux_block_length_zero", [](Bytes& b) { put<std::uint32_t>(b, 32, 0); });
  block("aux_block_length_over_65536", [](Bytes& b) { put<std::uint32_t>(b, 32, 65'537); });
  block("aux_block_length_too_small", [](Bytes& b) { put<std::uint32_t>(b, 32, 256); });
  block("aux_block_length", [](Bytes& b) { add<std::uint32_t>(b, 32, 8); });
  block("aux_block_cut", [](Bytes& b) {
    add<std::uint32_t>(b, 32, ~std::uint32_t{0});
    add<std::uint32_t>(b, 36, 1);
  });
  block("aux_block_offset_zero", [](Bytes& b) { put<std::uint16_t>(b, first_offset(b), 0); });
  block("aux_block_offset_before_begin",
        [](Bytes& b) { put<std::uint16_t>(b, first_offset(b), 0xFFFF); });
  block("aux_block_gives_more_bytes", [](Bytes& b) { put<std::uint32_t>(b, 20, 2999); });
  make.directory(
      "aux_run_of_no_key_run", "aux_uniform",
      [](CraftedFile& f) {
        auto& log = f.segment(SegmentKind::kDrumAuxLog);
        const auto last = log.runs.size() - 1;
        const Bytes bytes = f.payload(log, last);
        log.runs[last].run_id = {f.root.next_run_id++};
        f.set_payload(log, bytes, last);
      },
      Errc::kSegmentInvalid);
}

void add_result_runs(Maker& make) {
  const auto result = [&make](const std::string& name, const std::function<void(Bytes&)>& change) {
    make.payload(name, "results_wait", SegmentKind::kDrumResults, change);
  };
  result("result_run_magic", [](Bytes& b) { b[0] ^= std::byte{1}; });
  result("result_run_count", [](Bytes& b) { add<std::uint64_t>(b, 8, 1); });
  result("result_run_key_bytes", [](Bytes& b) { put<std::uint16_t>(b, 20, 12); });
  result("result_run_reserved", [](Bytes& b) { put<std::uint16_t>(b, 22, 1); });
  result("result_run_too_long", [](Bytes& b) { b.resize(b.size() + 8); });
  result("result_run_value_bytes", [](Bytes& b) { put<std::int32_t>(b, 16, -2); });
  const auto verdicts = [](const Bytes& b) {
    const auto count = format::load<std::uint64_t>(b.data() + 8);
    return 24 + 16 * count + format::round_up(2 * count, 8);
  };
  result("result_run_verdict", [=](Bytes& b) { b[verdicts(b)] = std::byte{2}; });
  result("result_run_value_length", [=](Bytes& b) {
    const auto count = format::load<std::uint64_t>(b.data() + 8);
    put<std::uint32_t>(b, verdicts(b) + format::round_up(count, 8), (16U << 20) + 1);
  });
}

}  // namespace

void add_rejected_runs(Maker& make) {
  add_key_runs(make);
  add_aux_runs(make);
  add_result_runs(make);
}

}  // namespace crawlstore::testing
