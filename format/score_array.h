// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Score arrays: what pages, hosts or domains are worth, as one plain array that maps as it is, and
/// how it was computed: spec/scores.md#score-arrays. Pure functions over bytes; any thread.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <crawlstore/error.h>
#include <crawlstore/types.h>

#include "endian.h"
#include "layout.h"

namespace crawlstore::format {

inline constexpr std::uint32_t kScoreIterationsMax = 65'536;
/// From here on a scorer is known to the program that plugged it in, and to no other.
inline constexpr auto kScorerPrivateMin = static_cast<std::uint16_t>(Scorer::kOwn);
/// flags of ScoreFooter
inline constexpr std::uint16_t kScoresContentWeighted = 1;
inline constexpr std::uint16_t kScoresPersonalised = 2;

/// The form in which a score is stored.
enum class ScoreCodec : std::uint16_t { kFloat32 = 1, kFloat64 = 2 };

/// The contents of a footer, its numbers as numbers.
struct ScoreArray {
  Scorer scorer{};
  ScoreSubject subject{};
  ScoreCodec codec{};
  std::uint16_t flags = 0;
  std::uint32_t iteration_count = 0;
  std::uint64_t entry_count = 0;
  std::uint64_t page_count = 0;  ///< of the page database, and link_count, when it was read
  std::uint64_t link_count = 0;
  std::uint64_t superstep_count = 0;  ///< likewise: by it one sees that an array is stale
  Generation generation{};            ///< what was read
  std::int64_t time_us = 0;
  double damping = 0;
  double precision = 0;  ///< asked for; 0: as many iterations as allowed
  double residual = 0;   ///< of the last iteration; 0 without iterations
  double sum = 0;        ///< of the values as they are stored: add_scores()
  bool operator==(const ScoreArray&) const = default;
};

constexpr std::uint64_t score_bytes(ScoreCodec codec) {
  return codec == ScoreCodec::kFloat64 ? 8 : 4;
}

/// The places of the parts of a payload: values at 0, zeros up to a multiple of 8, first pages
/// (none of the subject page), residuals, footer. All are multiples of 8 long but the values.
struct ScorePlaces {
  std::uint64_t value_bytes = 0;
  Extent first_pages;
  Extent residuals;
  std::uint64_t footer_offset = 0;
  [[nodiscard]] std::uint64_t payload_bytes() const { return footer_offset + sizeof(ScoreFooter); }
};
/// `array` has a page_count of at most kPagesMax, and no more entries.
ScorePlaces score_places(const ScoreArray& array);

/// Appends what stands behind the values: zeros, first pages, residuals, footer.
///   array        keeps the rules of a footer; its residual is the last one
///   first_pages  of hosts and domains entry_count, ascending; of pages none
///   residuals    iteration_count
void encode_score_tail(const ScoreArray& array, std::span<const std::uint64_t> first_pages,
                       std::span<const double> residuals, std::vector<std::byte>& out);

/// `footer_bytes` is the last sizeof(ScoreFooter) bytes, `payload_bytes` the whole length; counts
/// are consistent with it when this returns. errors kSegmentInvalid (offset relative to the
/// payload)
Result<ScoreArray> parse_score_footer(std::span<const std::byte> footer_bytes,
                                      std::uint64_t payload_bytes);

/// `sum` and the values, added one after another, which is the order that the sum of a footer has;
/// nothing if one of them is no score: negative (-0 too), infinite or not a number.
///   values  of `codec`, at any address
///   cost    a nanosecond a value: each addition waits for the one before
std::optional<double> add_scores(double sum, ScoreCodec codec, std::span<const std::byte> values);

/// The rules that need the whole payload, for pieces taken one after another from its start to the
/// footer: memory does not grow with the array. A reader that bounds what it loads does not need
/// this; deep verification does.
/// errors kSegmentInvalid (offset relative to the payload)
class ScoreArrayRules {
 public:
  explicit ScoreArrayRules(const ScoreArray& array) : array_(array), places_(score_places(array)) {}
  /// The next bytes, at any address: a multiple of 8, none of them of the footer.
  Result<void> take(std::span<const std::byte> piece);
  /// Checks the rules that need all bytes, when all are taken.
  [[nodiscard]] Result<void> finish() const;

 private:
  /// `words` lie in one part of the payload, from offset_ on.
  Result<void> take_values(std::span<const std::byte> words);
  Result<void> take_first_pages(std::span<const std::byte> words);
  Result<void> take_residuals(std::span<const std::byte> words);

  const ScoreArray array_;
  const ScorePlaces places_;
  std::uint64_t offset_ = 0;
  std::uint64_t page_end_ = 0;  // the next first page may not lie before it
  double sum_ = 0;
  double residual_ = 0;
};

}  // namespace crawlstore::format
