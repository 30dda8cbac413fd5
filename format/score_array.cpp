// SPDX-License-Identifier: Apache-2.0
#include "score_array.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "base/assert.h"
#include "invalid.h"
#include "pages_table.h"

namespace crawlstore::format {

namespace {

// If they are read as numbers without a sign, the bits of finite numbers from 0 on lie below those
// of infinity. All negative numbers and what is no number lie above.
constexpr auto kInfinity32 = std::bit_cast<std::uint32_t>(std::numeric_limits<float>::infinity());
constexpr auto kInfinity64 = std::bit_cast<std::uint64_t>(std::numeric_limits<double>::infinity());

bool is_score(std::uint32_t bits) {
  return bits < kInfinity32;
}
bool is_score(std::uint64_t bits) {
  return bits < kInfinity64;
}

template <class Name>
bool is_from_1_to(std::uint16_t number, Name last) {
  return number >= 1 && number <= static_cast<std::uint16_t>(last);
}

/// nullptr, or the text that names the broken rule: of what the fields may hold.
const char* check_names(const ScoreFooter& footer) {
  if (footer.magic != kScoreArrayMagic) return "the magic number of a score array is wrong";
  if (!is_from_1_to(footer.codec, ScoreCodec::kFloat64)) {
    return "the codec of a score array is unknown";
  }
  if (footer.reserved != std::array<std::uint16_t, 2>{}) {
    return "reserved bytes of a score array are not zero";
  }
  if (!is_from_1_to(footer.scorer, Scorer::kOpicCrawls) && footer.scorer < kScorerPrivateMin) {
    return "the scorer of a score array is unknown";
  }
  if (!is_from_1_to(footer.subject, ScoreSubject::kDomain)) {
    return "the subject of a score array is unknown";
  }
  if ((footer.flags & ~(kScoresContentWeighted | kScoresPersonalised)) != 0) {
    return "unknown flags of a score array are set";
  }
  return nullptr;
}

/// The same, of counts.
const char* check_counts(const ScoreFooter& footer) {
  if (footer.page_count > kPagesMax) return "the page count of a score array is out of range";
  if (footer.page_count == 0 && footer.link_count != 0) {
    return "a score array without pages has links";
  }
  const bool is_by_page = footer.subject == static_cast<std::uint16_t>(ScoreSubject::kPage);
  if (footer.entry_count > footer.page_count ||
      (is_by_page && footer.entry_count != footer.page_count)) {
    return "the entry count of a score array does not fit its page count";
  }
  if (footer.iteration_count > kScoreIterationsMax) {
    return "the iteration count of a score array is out of range";
  }
  if (footer.generation == 0 || footer.generation > kGenerationMax) {
    return "the generation of a score array is out of range";
  }
  return nullptr;
}

/// The same, of what are numbers of IEEE 754.
const char* check_numbers(const ScoreFooter& footer) {
  if (footer.damping > std::bit_cast<std::uint64_t>(1.0)) {
    return "the damping of a score array is not from 0 to 1";
  }
  if (!is_score(footer.precision)) {
    return "the precision of a score array is not a finite number from 0 on";
  }
  if (!is_score(footer.residual)) {
    return "the residual of a score array is not a finite number from 0 on";
  }
  if (!is_score(footer.sum)) return "the sum of a score array is not a finite number from 0 on";
  return nullptr;
}

const char* check_footer(const ScoreFooter& footer) {
  if (const char* broken = check_names(footer)) return broken;
  if (const char* broken = check_counts(footer)) return broken;
  return check_numbers(footer);
}

ScoreFooter footer_of(const ScoreArray& array) {
  return {.entry_count = array.entry_count,
          .page_count = array.page_count,
          .link_count = array.link_count,
          .superstep_count = array.superstep_count,
          .generation = array.generation.value,
          .time_us = array.time_us,
          .damping = std::bit_cast<std::uint64_t>(array.damping),
          .precision = std::bit_cast<std::uint64_t>(array.precision),
          .residual = std::bit_cast<std::uint64_t>(array.residual),
          .sum = std::bit_cast<std::uint64_t>(array.sum),
          .iteration_count = array.iteration_count,
          .scorer = static_cast<std::uint16_t>(array.scorer),
          .subject = static_cast<std::uint16_t>(array.subject),
          .codec = static_cast<std::uint16_t>(array.codec),
          .flags = array.flags,
          .reserved = {},
          .magic = kScoreArrayMagic};
}

ScoreArray array_of(const ScoreFooter& footer) {
  return {.scorer = static_cast<Scorer>(footer.scorer),
          .subject = static_cast<ScoreSubject>(footer.subject),
          .codec = static_cast<ScoreCodec>(footer.codec),
          .flags = footer.flags,
          .iteration_count = footer.iteration_count,
          .entry_count = footer.entry_count,
          .page_count = footer.page_count,
          .link_count = footer.link_count,
          .superstep_count = footer.superstep_count,
          .generation = {footer.generation},
          .time_us = footer.time_us,
          .damping = std::bit_cast<double>(footer.damping),
          .precision = std::bit_cast<double>(footer.precision),
          .residual = std::bit_cast<double>(footer.residual),
          .sum = std::bit_cast<double>(footer.sum)};
}

/// Float and its bits.
template <class Float, class Bits>
std::optional<double> add_floats(double sum, std::span<const std::byte> values) {
  bool are_scores = true;
  for (std::size_t at = 0; at + sizeof(Bits) <= values.size(); at += sizeof(Bits)) {
    const Bits bits = load<Bits>(values.data() + at);
    are_scores &= is_score(bits);
    sum += static_cast<double>(std::bit_cast<Float>(bits));
  }
  if (!are_scores) return std::nullopt;
  return sum;
}

}  // namespace

ScorePlaces score_places(const ScoreArray& array) {
  ScorePlaces places;
  places.value_bytes = array.entry_count * score_bytes(array.codec);
  const std::uint64_t page_bytes =
      array.subject == ScoreSubject::kPage ? 0 : array.entry_count * sizeof(std::uint64_t);
  places.first_pages = {round_up(places.value_bytes, 8), page_bytes};
  places.residuals = {places.first_pages.offset_bytes + page_bytes,
                      array.iteration_count * sizeof(double)};
  places.footer_offset = places.residuals.offset_bytes + places.residuals.length_bytes;
  return places;
}

void encode_score_tail(const ScoreArray& array, std::span<const std::uint64_t> first_pages,
                       std::span<const double> residuals, std::vector<std::byte>& out) {
  const ScoreFooter footer = footer_of(array);
  const ScorePlaces places = score_places(array);
  CRAWLSTORE_ASSERT(check_footer(footer) == nullptr);
  CRAWLSTORE_ASSERT(first_pages.size_bytes() == places.first_pages.length_bytes &&
                    residuals.size_bytes() == places.residuals.length_bytes);
  const std::size_t start = out.size();
  out.resize(start + (places.payload_bytes() - places.value_bytes));
  std::byte* at = out.data() + start + (places.first_pages.offset_bytes - places.value_bytes);
  at = std::copy_n(std::as_bytes(first_pages).begin(), first_pages.size_bytes(), at);
  at = std::copy_n(std::as_bytes(residuals).begin(), residuals.size_bytes(), at);
  store_struct(at, footer);
}

Result<ScoreArray> parse_score_footer(std::span<const std::byte> footer_bytes,
                                      std::uint64_t payload_bytes) {
  if (footer_bytes.size() != sizeof(ScoreFooter) || payload_bytes < sizeof(ScoreFooter) ||
      payload_bytes > kPayloadBytesMax || payload_bytes % 8 != 0) {
    return invalid("the length of a score array is out of range", 0);
  }
  const std::uint64_t place = payload_bytes - sizeof(ScoreFooter);
  const auto footer = load_struct<ScoreFooter>(footer_bytes.data());
  if (const char* broken = check_footer(footer)) return invalid(broken, place);
  const ScoreArray array = array_of(footer);
  if (score_places(array).payload_bytes() != payload_bytes) {
    return invalid("the counts of a score array do not fit its length", place);
  }
  return array;
}

std::optional<double> add_scores(double sum, ScoreCodec codec, std::span<const std::byte> values) {
  return codec == ScoreCodec::kFloat64 ? add_floats<double, std::uint64_t>(sum, values)
                                       : add_floats<float, std::uint32_t>(sum, values);
}

Result<void> ScoreArrayRules::take(std::span<const std::byte> piece) {
  CRAWLSTORE_ASSERT(piece.size() % 8 == 0 && piece.size() <= places_.footer_offset - offset_);
  const auto until = [&](std::uint64_t end) {
    const auto words = piece.first(offset_ < end ? std::min(piece.size(), end - offset_) : 0);
    piece = piece.subspan(words.size());
    return words;
  };
  CRAWLSTORE_TRY(take_values(until(places_.first_pages.offset_bytes)));
  CRAWLSTORE_TRY(take_first_pages(until(places_.residuals.offset_bytes)));
  return take_residuals(until(places_.footer_offset));
}

Result<void> ScoreArrayRules::take_values(std::span<const std::byte> words) {
  const std::uint64_t width = score_bytes(array_.codec);
  const auto values = words.first(
      std::min(words.size(), places_.value_bytes - std::min(offset_, places_.value_bytes)));
  const auto sum = add_scores(sum_, array_.codec, values);
  if (!sum) {
    std::uint64_t at = 0;
    while (add_scores(0, array_.codec, values.subspan(at, width))) at += width;
    return invalid("a score is not a finite number from 0 on", offset_ + at);
  }
  if (!is_zero(words.subspan(values.size()))) {
    return invalid("padding of a score array is not zero", places_.value_bytes);
  }
  sum_ = *sum;
  offset_ += words.size();
  return {};
}

Result<void> ScoreArrayRules::take_first_pages(std::span<const std::byte> words) {
  for (std::size_t at = 0; at < words.size(); at += sizeof(std::uint64_t)) {
    const auto page = load<std::uint64_t>(words.data() + at);
    if (page >= array_.page_count) {
      return invalid("a first page of a score array is out of range", offset_ + at);
    }
    if (page < page_end_) {
      return invalid("the first pages of a score array do not ascend", offset_ + at);
    }
    page_end_ = page + 1;
  }
  offset_ += words.size();
  return {};
}

Result<void> ScoreArrayRules::take_residuals(std::span<const std::byte> words) {
  for (std::size_t at = 0; at < words.size(); at += sizeof(double)) {
    const auto bits = load<std::uint64_t>(words.data() + at);
    if (!is_score(bits)) {
      return invalid("a residual of a score array is not a finite number from 0 on", offset_ + at);
    }
    residual_ = std::bit_cast<double>(bits);
  }
  offset_ += words.size();
  return {};
}

Result<void> ScoreArrayRules::finish() const {
  CRAWLSTORE_ASSERT(offset_ == places_.footer_offset);
  if (residual_ != array_.residual) {
    return invalid("the residual of a score array is not its last one", places_.footer_offset);
  }
  if (sum_ != array_.sum) {
    return invalid("the sum of a score array is not that of its values", places_.footer_offset);
  }
  return {};
}

}  // namespace crawlstore::format
