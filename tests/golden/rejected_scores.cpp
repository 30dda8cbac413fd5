// SPDX-License-Identifier: Apache-2.0
//
// The rejected golden files with a broken score array.
#include "format/layout.h"
#include "format/score_array.h"
#include "format/superblock.h"
#include "golden/rejected_maker.h"

namespace crawlstore::testing {
namespace {

constexpr const char* kBase = "graph_of_scores";
constexpr std::uint64_t kMinusZero = std::uint64_t{1} << 63U;
constexpr std::uint64_t kInfinity = 0x7FF0'0000'0000'0000;

/// The array of a name, among three.
format::SegmentEntry& array_of(CraftedFile& file, std::string_view name) {
  for (auto& table : file.tables) {
    for (auto& entry : table) {
      if (entry.kind == SegmentKind::kScoreArray && entry.name == name) return entry;
    }
  }
  return file.segment(SegmentKind::kScoreArray);
}

void add_array(Maker& make, const std::string& name, std::string_view array,
               const std::function<void(Bytes&)>& change) {
  make.directory(
      name, kBase,
      [&](CraftedFile& file) {
        auto& entry = array_of(file, array);
        Bytes bytes = file.payload(entry);
        change(bytes);
        file.set_payload(entry, bytes);
      },
      Errc::kSegmentInvalid);
}

template <class Change>
void add_footer(Maker& make, const std::string& name, const Change& change,
                std::string_view array = "own") {
  add_array(make, name, array, [&](Bytes& bytes) {
    std::byte* const place = bytes.data() + bytes.size() - sizeof(format::ScoreFooter);
    auto footer = format::load_struct<format::ScoreFooter>(place);
    change(footer);
    format::store_struct(place, footer);
  });
}

void add_footers(Maker& make) {
  using Footer = format::ScoreFooter;
  add_footer(make, "scores_magic", [](Footer& f) { f.magic ^= 1U; });
  add_footer(make, "scores_codec", [](Footer& f) { f.codec = 3; });
  add_footer(make, "scores_reserved", [](Footer& f) { f.reserved[1] = 1; });
  add_footer(make, "scores_scorer", [](Footer& f) { f.scorer = 7; });
  add_footer(make, "scores_subject", [](Footer& f) { f.subject = 4; });
  add_footer(make, "scores_flags", [](Footer& f) { f.flags = 4; });
  add_footer(make, "scores_page_count_over_2_40",
             [](Footer& f) { f.page_count = (std::uint64_t{1} << 40U) + 1; });
  add_footer(make, "scores_links_without_pages",
             [](Footer& f) { f.entry_count = f.page_count = 0; });
  add_footer(make, "scores_entry_count", [](Footer& f) { f.entry_count = 4; });
  add_footer(make, "scores_iteration_count", [](Footer& f) { f.iteration_count = 65'537; });
  add_footer(make, "scores_length", [](Footer& f) { f.iteration_count = 1; });
  add_footer(make, "scores_generation_zero", [](Footer& f) { f.generation = 0; });
  add_footer(make, "scores_damping", [](Footer& f) { f.damping = 0x3FF0'0000'0000'0001; });
  add_footer(make, "scores_precision", [](Footer& f) { f.precision = kMinusZero; });
  add_footer(make, "scores_residual", [](Footer& f) { f.residual = kInfinity; });
  add_footer(make, "scores_sum_infinite", [](Footer& f) { f.sum = kInfinity; });
  add_footer(make, "scores_residual_is_not_the_last", [](Footer& f) { f.residual = 1; });
  add_footer(make, "scores_sum", [](Footer& f) { ++f.sum; });
  add_footer(make, "scores_of_more_supersteps", [](Footer& f) { ++f.superstep_count; });
  add_footer(
      make, "scores_of_more_pages", [](Footer& f) { f.page_count = 6; }, "hosts");
  add_footer(make, "scores_of_a_generation_to_come", [](Footer& f) { f.generation = 1000; });
}

}  // namespace

void add_rejected_scores(Maker& make) {
  add_footers(make);
  add_array(make, "scores_shorter_than_a_footer", "own", [](Bytes& b) { b.resize(96); });
  add_array(make, "scores_value_negative", "own",
            [](Bytes& b) { put<std::uint32_t>(b, 4, 0xBF80'0000); });
  add_array(make, "scores_value_not_a_number", "hosts",
            [](Bytes& b) { put<std::uint64_t>(b, 8, 0x7FF8'0000'0000'0000); });
  add_array(make, "scores_padding", "own", [](Bytes& b) { b[20] = std::byte{1}; });
  add_array(make, "scores_first_pages_descend", "hosts",
            [](Bytes& b) { put<std::uint64_t>(b, 32, 0); });
  add_array(make, "scores_first_page_of_no_page", "hosts",
            [](Bytes& b) { put<std::uint64_t>(b, 40, 5); });
  add_array(make, "scores_residuals_negative", "hosts",
            [](Bytes& b) { put<std::uint64_t>(b, 48, kMinusZero); });
  make.directory(
      "scores_record_count", kBase,
      [](CraftedFile& file) { ++array_of(file, "own").runs.front().record_count; },
      Errc::kSegmentInvalid);
  const auto directory = [&make](const std::string& name, const auto& change) {
    make.directory(name, kBase, [&](CraftedFile& file) { change(array_of(file, "own")); });
  };
  directory("directory_scores_without_name", [](auto& entry) { entry.name.clear(); });
  directory("directory_scores_of_one_name", [](auto& entry) { entry.name = "hosts"; });
  directory("directory_scores_without_owner", [](auto& entry) { entry.owner = {}; });
  directory("directory_scores_as_log",
            [](auto& entry) { entry.storage_class = StorageClass::kLog; });
  make.directory("feature_bit_of_scores_missing", kBase, [](CraftedFile& file) {
    file.superblock.features_incompat = format::kPagesFeature;
  });
}

}  // namespace crawlstore::testing
