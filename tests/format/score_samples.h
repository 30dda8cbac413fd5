// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Small score arrays, made in the three ways in which they differ, and what breaks each rule.

#include <cstdint>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "format/format_samples.h"
#include "format/score_array.h"

namespace crawlstore::testing {

/// A score array before it is encoded. Fields that follow from the rest are filled in by
/// `encoded()`.
template <class Float>
struct Scores {
  format::ScoreArray array;
  std::vector<Float> values;
  std::vector<std::uint64_t> first_pages;
  std::vector<double> residuals;
};

template <class Float>
Bytes encoded(Scores<Float> scores) {
  format::ScoreArray& array = scores.array;
  array.codec = sizeof(Float) == 8 ? format::ScoreCodec::kFloat64 : format::ScoreCodec::kFloat32;
  array.entry_count = scores.values.size();
  array.iteration_count = static_cast<std::uint32_t>(scores.residuals.size());
  array.residual = scores.residuals.empty() ? 0 : scores.residuals.back();
  array.sum = std::accumulate(scores.values.begin(), scores.values.end(), 0.0);
  const auto bytes = std::as_bytes(std::span(scores.values));
  Bytes payload(bytes.begin(), bytes.end());
  format::encode_score_tail(array, scores.first_pages, scores.residuals, payload);
  return payload;
}

/// PageRank of five pages: 20 bytes of values, 4 of padding, two residuals; 144 bytes.
inline Scores<float> sample_page_scores() {
  return {{.scorer = Scorer::kPageRank,
           .subject = ScoreSubject::kPage,
           .page_count = 5,
           .link_count = 8,
           .superstep_count = 3,
           .generation = {7},
           .time_us = kSampleTimeUs,
           .damping = 0.85,
           .precision = 1e-6},
          {0.1F, 0.2F, 0.3F, 0.4F, 0},
          {},
          {0.5, 0.0625}};
}

/// Authorities of three hosts among ten pages, in doubles: 24 bytes of values, 24 of first pages,
/// one residual; 160 bytes.
inline Scores<double> sample_host_scores() {
  return {{.scorer = Scorer::kHitsAuthority,
           .subject = ScoreSubject::kHost,
           .flags = format::kScoresContentWeighted,
           .page_count = 10,
           .link_count = 30,
           .superstep_count = 4,
           .generation = {9},
           .time_us = kSampleTimeUs,
           .damping = 1,
           .precision = 0},
          {0.1, 0.2, 0.7},
          {0, 4, 9},
          {0.25}};
}

/// Scores of no pages, by a scorer that nobody else knows, without iterations.
inline Scores<float> sample_no_scores() {
  return {{.scorer = Scorer{format::kScorerPrivateMin},
           .subject = ScoreSubject::kPage,
           .flags = format::kScoresPersonalised,
           .generation = {format::kGenerationMax}},
          {},
          {},
          {}};
}

/// The page scores with another footer.
template <class Change>
Bytes with_score_footer(Change change) {
  Bytes bytes = encoded(sample_page_scores());
  std::byte* const place = bytes.data() + bytes.size() - sizeof(format::ScoreFooter);
  auto footer = format::load_struct<format::ScoreFooter>(place);
  change(footer);
  format::store_struct(place, footer);
  return bytes;
}

/// Payloads by name: what begins with "rule_N_" breaks rule N of scores.md#score-arrays, all others
/// keep all rules. The library and spec/scores.py are both held to it.
inline std::map<std::string, Bytes> sample_score_payloads() {
  using format::ScoreFooter;
  const Bytes pages = encoded(sample_page_scores());
  const Bytes hosts = encoded(sample_host_scores());
  constexpr std::uint64_t kNan = 0x7FF8000000000000;
  constexpr std::uint64_t kMinusZero = std::uint64_t{1} << 63U;
  return {
      {"pages", pages},
      {"hosts", hosts},
      {"none", encoded(sample_no_scores())},
      {"rule_1_magic", with_score_footer([](ScoreFooter& f) { f.magic ^= 1U; })},
      {"rule_1_codec", with_score_footer([](ScoreFooter& f) { f.codec = 3; })},
      {"rule_1_reserved", with_score_footer([](ScoreFooter& f) { f.reserved[1] = 1; })},
      {"rule_1_length", Bytes(pages.begin() + 4, pages.end())},
      {"rule_2_scorer", with_score_footer([](ScoreFooter& f) { f.scorer = 7; })},
      {"rule_2_subject", with_score_footer([](ScoreFooter& f) { f.subject = 4; })},
      {"rule_2_flags", with_score_footer([](ScoreFooter& f) { f.flags = 4; })},
      {"rule_3_pages", with_score_footer([](ScoreFooter& f) { f.page_count = ~0ULL; })},
      {"rule_3_entries", with_score_footer([](ScoreFooter& f) { f.page_count = 6; })},
      {"rule_4_iterations", with_score_footer([](ScoreFooter& f) { f.iteration_count = ~0U; })},
      {"rule_5_length", with_score_footer([](ScoreFooter& f) { f.iteration_count = 1; })},
      {"rule_6_generation", with_score_footer([](ScoreFooter& f) { f.generation = 0; })},
      {"rule_7_damping", with_score_footer([](ScoreFooter& f) { f.damping = kNan; })},
      {"rule_7_precision", with_score_footer([](ScoreFooter& f) { f.precision = kMinusZero; })},
      {"rule_8_value", with(pages, 4, 0xBF800000U)},
      {"rule_9_padding", with(pages, 23, std::uint8_t{1})},
      {"rule_10_order", with(hosts, 32, std::uint64_t{0})},
      {"rule_10_range", with(hosts, 40, std::uint64_t{10})},
      {"rule_11_residual", with(pages, 24, kNan)},
      {"rule_11_last", with_score_footer([](ScoreFooter& f) { ++f.residual; })},
      {"rule_12_sum", with_score_footer([](ScoreFooter& f) { ++f.sum; })},
  };
}

/// The verdict of the footer and then of the rules on a payload, taken in pieces of so many bytes.
inline Result<format::ScoreArray> check_scores(std::span<const std::byte> payload,
                                               std::size_t piece_bytes = std::size_t{1} << 20U) {
  const auto footer = payload.last(std::min(payload.size(), sizeof(format::ScoreFooter)));
  CRAWLSTORE_TRY(const auto array, format::parse_score_footer(footer, payload.size()));
  format::ScoreArrayRules rules(array);
  auto rest = payload.first(payload.size() - footer.size());
  while (!rest.empty()) {
    const auto piece = rest.first(std::min(rest.size(), piece_bytes));
    CRAWLSTORE_TRY(rules.take(piece));
    rest = rest.subspan(piece.size());
  }
  CRAWLSTORE_TRY(rules.finish());
  return array;
}

}  // namespace crawlstore::testing
