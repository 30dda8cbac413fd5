// SPDX-License-Identifier: Apache-2.0
//
// The rejected golden files with broken small values.
#include "format/superblock.h"
#include "format/value_samples.h"
#include "golden/rejected_maker.h"

namespace crawlstore::testing {

void add_rejected_values(Maker& make) {
  constexpr const char* kBase = "small_values";
  for (const auto& [name, payload] : sample_value_payloads()) {
    if (!name.starts_with("rule_")) continue;
    make.payload("values_" + name.substr(name.find('_', 5) + 1), kBase, SegmentKind::kValues,
                 [&payload = payload](Bytes& bytes) { bytes = payload; });
  }
  make.payload("values_shard_beyond", kBase, SegmentKind::kValues, [&](Bytes& bytes) {
    constexpr std::string_view kText = "3/3";
    const format::SmallValue value{".shard", std::as_bytes(std::span(kText))};
    bytes = format::encode_values(std::span(&value, 1));
  });
  make.payload("values_exchange_in_step_0", kBase, SegmentKind::kValues, [&](Bytes& bytes) {
    const Bytes state(17);
    const format::SmallValue value{".exchange.pages", state};
    bytes = format::encode_values(std::span(&value, 1));
  });
  const auto entry = [&](const std::string& name, Errc error, const auto& change) {
    make.directory(
        name, kBase, [&](CraftedFile& file) { change(file.segment(SegmentKind::kValues)); }, error);
  };
  entry("values_record_count", Errc::kSegmentInvalid,
        [](auto& values) { ++values.runs.front().record_count; });
  entry("values_of_another_name", Errc::kSegmentInvalid,
        [](auto& values) { values.name = "others"; });
  entry("directory_values_without_name", Errc::kDirectoryInvalid,
        [](auto& values) { values.name.clear(); });
  entry("directory_values_as_log", Errc::kDirectoryInvalid,
        [](auto& values) { values.storage_class = StorageClass::kLog; });
  make.directory("feature_bit_of_values_missing", kBase,
                 [](CraftedFile& file) { file.superblock.features_incompat = 0; });
}

}  // namespace crawlstore::testing
