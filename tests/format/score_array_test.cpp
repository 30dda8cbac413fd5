// SPDX-License-Identifier: Apache-2.0
#include "format/score_array.h"

#include <bit>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "format/field.h"
#include "format/format_samples.h"
#include "format/score_samples.h"

namespace crawlstore::format {
namespace {

using namespace crawlstore::testing;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::uint64_t bits(double number) {
  return std::bit_cast<std::uint64_t>(number);
}

/// The verdict on the page scores when their footer is another one.
template <class Change>
std::string verdict_after(Change change) {
  return text_of(check_scores(with_score_footer(change)));
}

/// The text and the place of what is wrong.
std::string place_of(const Bytes& payload) {
  const auto checked = check_scores(payload);
  return text_of(checked) + (checked ? "" : " at " + std::to_string(checked.error().offset));
}

TEST(ScoreArray, ReturnsWhatWasEncoded) {
  const auto array = check_scores(encoded(sample_host_scores()));
  ASSERT_TRUE(array);
  ScoreArray expected = sample_host_scores().array;
  expected.codec = ScoreCodec::kFloat64;
  expected.entry_count = 3;
  expected.iteration_count = 1;
  expected.residual = 0.25;
  expected.sum = 0.1 + 0.2 + 0.7;
  EXPECT_EQ(*array, expected);
}

TEST(ScoreArray, PutsValuesFirstAndFooterLast) {
  const Bytes bytes = encoded(sample_page_scores());
  const auto array = check_scores(bytes);
  ASSERT_TRUE(array);
  const ScorePlaces places = score_places(*array);
  EXPECT_EQ(places.value_bytes, 20U);
  EXPECT_EQ(places.first_pages, (Extent{24, 0}));
  EXPECT_EQ(places.residuals, (Extent{24, 16}));
  EXPECT_EQ(places.footer_offset, 40U);
  EXPECT_EQ(places.payload_bytes(), bytes.size());
  EXPECT_EQ(load<std::uint32_t>(bytes.data() + 12), std::bit_cast<std::uint32_t>(0.4F));
  EXPECT_EQ(load<std::uint64_t>(bytes.data() + 32), bits(0.0625));
}

TEST(ScoreArray, SaysOfEverySampleWhatItsNameSays) {
  for (const auto& [name, payload] : sample_score_payloads()) {
    EXPECT_EQ(check_scores(payload).has_value(), !name.starts_with("rule_")) << name;
  }
}

TEST(ScoreArray, SaysTheSameWhateverThePieces) {
  for (const auto& [name, payload] : sample_score_payloads()) {
    const std::string whole = place_of(payload);
    for (const std::size_t piece_bytes : {8U, 16U, 40U}) {
      const auto checked = check_scores(payload, piece_bytes);
      const std::string place = checked ? "" : " at " + std::to_string(checked.error().offset);
      EXPECT_EQ(text_of(checked) + place, whole) << name << " in pieces of " << piece_bytes;
    }
  }
}

// spec: scores.md#score-arrays rule 1
TEST(ScoreArray, RejectsAnotherEnd) {
  const Bytes bytes = encoded(sample_page_scores());
  constexpr auto kText = "the length of a score array is out of range";
  EXPECT_EQ(text_of(check_scores(std::span(bytes).subspan(4))), kText);
  EXPECT_EQ(text_of(check_scores(std::span(bytes).last(88))), kText);
  EXPECT_EQ(text_of(check_scores({})), kText);
  EXPECT_EQ(verdict_after([](auto& f) { f.magic ^= 1; }),
            "the magic number of a score array is wrong");
  for (const std::uint16_t codec : std::vector<std::uint16_t>{0, 3}) {
    EXPECT_EQ(verdict_after([&](auto& f) { f.codec = codec; }),
              "the codec of a score array is unknown");
  }
  EXPECT_EQ(verdict_after([](auto& f) { f.reserved[0] = 1; }),
            "reserved bytes of a score array are not zero");
}

// spec: scores.md#score-arrays rule 2
TEST(ScoreArray, RejectsUnknownNumbers) {
  for (const std::uint16_t scorer : std::vector<std::uint16_t>{0, 7, 32'767}) {
    EXPECT_EQ(verdict_after([&](auto& f) { f.scorer = scorer; }),
              "the scorer of a score array is unknown");
  }
  for (const std::uint16_t scorer : std::vector<std::uint16_t>{6, 32'768, 65'535}) {
    EXPECT_EQ(verdict_after([&](auto& f) { f.scorer = scorer; }), "accepted");
  }
  for (const std::uint16_t subject : std::vector<std::uint16_t>{0, 4}) {
    EXPECT_EQ(verdict_after([&](auto& f) { f.subject = subject; }),
              "the subject of a score array is unknown");
  }
  EXPECT_EQ(verdict_after([](auto& f) { f.flags = 3; }), "accepted");
  EXPECT_EQ(verdict_after([](auto& f) { f.flags = 7; }), "unknown flags of a score array are set");
}

// spec: scores.md#score-arrays rule 3
TEST(ScoreArray, RejectsCountsThatDoNotFitThePages) {
  EXPECT_EQ(verdict_after([](auto& f) { f.page_count = (1ULL << 40U) + 1; }),
            "the page count of a score array is out of range");
  constexpr auto kText = "the entry count of a score array does not fit its page count";
  EXPECT_EQ(verdict_after([](auto& f) { f.page_count = 6; }), kText);
  EXPECT_EQ(verdict_after([](auto& f) { f.page_count = 4; }), kText);
  EXPECT_EQ(verdict_after([](auto& f) { f.subject = 2, f.page_count = 4; }), kText);
  EXPECT_EQ(verdict_after([](auto& f) { f.page_count = 0; }),
            "a score array without pages has links");
}

// spec: scores.md#score-arrays rule 4
// spec: scores.md#score-arrays rule 5
TEST(ScoreArray, RejectsCountsThatDoNotFitTheLength) {
  EXPECT_EQ(verdict_after([](auto& f) { f.iteration_count = 65'537; }),
            "the iteration count of a score array is out of range");
  constexpr auto kText = "the counts of a score array do not fit its length";
  EXPECT_EQ(verdict_after([](auto& f) { f.iteration_count = 3; }), kText);
  EXPECT_EQ(verdict_after([](auto& f) { f.iteration_count = 0; }), kText);
  EXPECT_EQ(verdict_after([](auto& f) { f.subject = 3; }), kText);
  EXPECT_EQ(verdict_after([](auto& f) { f.codec = 2; }), kText);
  EXPECT_EQ(verdict_after([](auto& f) { f.entry_count = f.page_count = 1ULL << 40U; }), kText);
}

// spec: scores.md#score-arrays rule 6
TEST(ScoreArray, RejectsAGenerationThatCannotBe) {
  constexpr auto kText = "the generation of a score array is out of range";
  EXPECT_EQ(verdict_after([](auto& f) { f.generation = 0; }), kText);
  EXPECT_EQ(verdict_after([](auto& f) { f.generation = kGenerationMax + 1; }), kText);
}

// spec: scores.md#score-arrays rule 7
TEST(ScoreArray, RejectsNumbersOutOfRange) {
  for (const double damping : {-0.0, -0.5, 1.0000000000000002, kNan, kInfinity}) {
    EXPECT_EQ(verdict_after([&](auto& f) { f.damping = bits(damping); }),
              "the damping of a score array is not from 0 to 1");
  }
  for (const double damping : {0.0, 1.0}) {
    EXPECT_EQ(verdict_after([&](auto& f) { f.damping = bits(damping); }), "accepted");
  }
  for (const double number : {-0.0, -1.0, kNan, -kNan, kInfinity}) {
    EXPECT_EQ(verdict_after([&](auto& f) { f.precision = bits(number); }),
              "the precision of a score array is not a finite number from 0 on");
    EXPECT_EQ(verdict_after([&](auto& f) { f.residual = bits(number); }),
              "the residual of a score array is not a finite number from 0 on");
    EXPECT_EQ(verdict_after([&](auto& f) { f.sum = bits(number); }),
              "the sum of a score array is not a finite number from 0 on");
  }
}

// spec: scores.md#score-arrays rule 8
TEST(ScoreArray, RejectsValuesThatAreNoScores) {
  const std::string text = "a score is not a finite number from 0 on at ";
  const Bytes pages = encoded(sample_page_scores());
  const Bytes hosts = encoded(sample_host_scores());
  for (const float value :
       {-0.0F, -1e-30F, static_cast<float>(kNan), static_cast<float>(kInfinity)}) {
    EXPECT_EQ(place_of(with(pages, 12, std::bit_cast<std::uint32_t>(value))), text + "12");
    EXPECT_EQ(place_of(with(hosts, 16, bits(static_cast<double>(value)))), text + "16");
  }
  EXPECT_EQ(place_of(with(pages, 16, std::bit_cast<std::uint32_t>(-1.0F))), text + "16");
}

// spec: scores.md#score-arrays rule 9
TEST(ScoreArray, RejectsPaddingThatIsNotZero) {
  EXPECT_EQ(place_of(with(encoded(sample_page_scores()), 20, std::uint32_t{1} << 31U)),
            "padding of a score array is not zero at 20");
}

// spec: scores.md#score-arrays rule 10
TEST(ScoreArray, RejectsFirstPagesThatDoNotAscend) {
  const Bytes hosts = encoded(sample_host_scores());
  const std::string text = "the first pages of a score array do not ascend at ";
  EXPECT_EQ(place_of(with(hosts, 32, std::uint64_t{0})), text + "32");
  EXPECT_EQ(place_of(with(hosts, 24, std::uint64_t{9})), text + "32");
  EXPECT_EQ(place_of(with(hosts, 40, std::uint64_t{4})), text + "40");
  EXPECT_EQ(place_of(with(hosts, 40, std::uint64_t{10})),
            "a first page of a score array is out of range at 40");
  EXPECT_EQ(place_of(with(hosts, 40, ~std::uint64_t{0})),
            "a first page of a score array is out of range at 40");
}

// spec: scores.md#score-arrays rule 11
TEST(ScoreArray, RejectsResidualsOutOfRange) {
  const Bytes pages = encoded(sample_page_scores());
  for (const double residual : {-0.0, -1.0, kNan, kInfinity}) {
    EXPECT_EQ(place_of(with(pages, 24, bits(residual))),
              "a residual of a score array is not a finite number from 0 on at 24");
  }
  constexpr auto kText = "the residual of a score array is not its last one at 40";
  EXPECT_EQ(place_of(with_score_footer([](auto& f) { f.residual = bits(0.5); })), kText);
  EXPECT_EQ(place_of(with(pages, 32, bits(0.5))), kText);
  Bytes none = encoded(sample_no_scores());
  EXPECT_EQ(text_of(check_scores(with(none, offsetof(ScoreFooter, residual), bits(0.5)))),
            "the residual of a score array is not its last one");
}

// spec: scores.md#score-arrays rule 12
TEST(ScoreArray, RejectsAnotherSum) {
  constexpr auto kText = "the sum of a score array is not that of its values";
  EXPECT_EQ(verdict_after([](auto& f) { ++f.sum; }), kText);
  EXPECT_EQ(text_of(check_scores(with(encoded(sample_page_scores()), 16, 0x3F000000U))), kText);
  Scores<double> huge = sample_host_scores();
  Bytes bytes = encoded(huge);
  for (const std::size_t at : {0U, 8U}) bytes = with(bytes, at, bits(1.7e308));
  EXPECT_EQ(text_of(check_scores(bytes)), kText);
}

TEST(ScoreArray, AddsInTheOrderOfEntries) {
  const std::vector<double> values{1e16, 1.0, 1.0};
  EXPECT_EQ(add_scores(0, ScoreCodec::kFloat64, std::as_bytes(std::span(values))), 1e16);
  EXPECT_EQ(add_scores(2, ScoreCodec::kFloat64, std::as_bytes(std::span(values).last(2))), 4.0);
  EXPECT_EQ(add_scores(2, ScoreCodec::kFloat32, {}), 2.0);
}

TEST(ScoreArray, DescribesItsFooter) {
  const Bytes bytes = encoded(sample_page_scores());
  std::string text;
  for (const Field& field : describe_score_footer(std::span(bytes).last(sizeof(ScoreFooter)))) {
    if (field.type == "f64" || field.length_bytes == 2) {
      text += field.name + " " + field.type + " " + field.value + "\n";
    }
  }
  EXPECT_EQ(
      text,
      "damping f64 0.85\nprecision f64 1e-06\nresidual f64 0.0625\n"
      "sum f64 1.0000000223517418\nscorer u16 1\nsubject u16 1\ncodec u16 1\nflags hex16 0x0\n");
}

}  // namespace
}  // namespace crawlstore::format
