// SPDX-License-Identifier: Apache-2.0
#include "pages/link_survey.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>
#include <vector>

#include "format/dense_contexts.h"
#include "links/dense_run.h"

namespace crawlstore::pages {

using links::DenseCutter;
using links::DenseRows;
using links::LinksCursor;
using links::LinksLookup;
using links::LinkView;
using links::LogRun;

namespace {

/// Blocks that an estimate looks at: 10 to 20 ms of coding.
constexpr std::uint64_t kSampledBlocks = 64;
/// No estimate is longer, whatever a damaged file says of its links.
constexpr double kBytesMax = 1e15;

DenseRowSums::Part part_of(std::size_t context) {
  using Part = DenseRowSums::Part;
  constexpr std::array kEnds{std::pair{format::degree_context(0), Part::kTypes},
                             std::pair{format::first_run_context(0), Part::kDegrees},
                             std::pair{format::extra_count_context(0), Part::kCopies},
                             std::pair{format::first_extra_context(0, 0), Part::kExtraCounts},
                             std::pair{format::second_extra_context(0, 0), Part::kFirstExtras}};
  for (const auto& [end, part] : kEnds) {
    if (context < end) return part;
  }
  return Part::kGaps;
}

/// A block of a dense run that was traced.
void add_block(const format::LinkRows& rows, std::span<const format::DenseNumber> numbers,
               DenseRowSums& sums) {
  std::uint64_t extra_count = 0;
  for (const format::DenseNumber& number : numbers) {
    const DenseRowSums::Part part = part_of(number.context);
    sums.bits[part] += number.end_bits - number.begin_bits;
    if (part == DenseRowSums::kDegrees) extra_count += number.value + 1;
    if (part == DenseRowSums::kExtraCounts) extra_count += number.value;
    if (!format::is_type_context(number.context) || number.value == format::kEmptyRows) continue;
    if (number.value == format::kPlainRow) {
      ++sums.plain_count;
    } else {
      ++(number.value < format::kEqualRow ? sums.referring_count : sums.equal_count);
    }
  }
  sums.link_count += rows.links().size();
  sums.copied_link_count += rows.links().size() - extra_count;
}

/// Codes some rows as a dense run would, to see how long they are.
class Sample {
 public:
  Sample()
      : encoder_(format::rough_dense_model()),
        cutter_([this](const DenseRows& block) { return take(block); }) {}

  /// Blocks here and there.
  Result<void> read(const LinksLookup& run) {
    const std::uint64_t block_count = run.footer().block_count;
    const std::uint64_t count = std::min(block_count, kSampledBlocks);
    for (std::uint64_t i = 0; i < count; ++i) {
      CRAWLSTORE_TRY(const auto page, run.first_page(block_count * i / count));
      CRAWLSTORE_TRY(const auto cursor, LinksCursor::open(run, page));
      CRAWLSTORE_TRY(add(cursor.rows()));
    }
    return cutter_.finish();
  }

  /// Returns the bytes of a dense run for each byte of blocks of a fresh run with the same rows; 1
  /// if no row had links.
  [[nodiscard]] double dense_per_fresh() const {
    if (fresh_bytes_ == 0) return 1;
    const auto lengths = format::dense_model(counts_, format::kPageMax);
    std::uint64_t bits =
        block_count_ * 8 * sizeof(format::DenseIndexGroup) / format::kDenseGroupBlocks;
    for (std::size_t context = 0; context < format::kDenseContexts; ++context) {
      for (std::size_t token = 0; token < format::kDenseTokens; ++token) {
        bits += counts_[context][token] * (lengths[context][token] + format::dense_raw_bits(token));
      }
    }
    return static_cast<double>(bits) / 8 / static_cast<double>(fresh_bytes_);
  }

 private:
  Result<void> add(const format::LinkRows& rows) {
    for (std::size_t row = 0; row < rows.row_count(); ++row) {
      const bool is_behind = cutter_.totals().row_count == 0 ||
                             rows.page(row) > cutter_.totals().last_page;  // or the index lies
      if (is_behind) CRAWLSTORE_TRY(cutter_.append(rows.page(row), rows.links(row)));
    }
    return {};
  }

  Result<void> take(const DenseRows& block) {
    if (block.rows.pages.empty()) return {};
    ++block_count_;
    encoder_.count(block.place.first_page, block.rows, 1, counts_);
    fresh_.clear();
    format::encode_link_block(block.rows, fresh_);
    fresh_bytes_ += fresh_.size() - sizeof(format::LinkBlockHeader);
    return {};
  }

  format::DenseBlockEncoder encoder_;
  DenseCutter cutter_;
  format::DenseCounts counts_{};
  std::uint64_t block_count_ = 0;
  std::vector<std::byte> fresh_;  // a block
  std::uint64_t fresh_bytes_ = 0;
};

}  // namespace

LinkRunInfo describe_run(const LogRun& log_run, bool is_incoming) {
  const format::LinkRunFooter& footer = log_run.run.footer();
  const format::RunRef& run = log_run.run.run();
  LinkRunInfo info;
  info.id = run.run_id;
  info.place = run.extent();
  info.is_incoming = is_incoming;
  info.is_gone = log_run.is_gone;
  info.is_dense = log_run.run.is_dense();
  info.row_count = footer.row_count;
  info.link_count = footer.link_count;
  info.block_count = footer.block_count;
  info.model_bytes = info.is_dense ? format::kDenseModelBytes : 0;
  info.block_bytes = footer.index_offset_bytes - info.model_bytes;
  info.index_bytes = run.payload_bytes - footer.index_offset_bytes - sizeof footer;
  info.frame_bytes =
      info.place.length_bytes - info.block_bytes - info.model_bytes - info.index_bytes;
  return info;
}

void expect_rows(const LinksLookup& run, container::WorkSteps& steps) {
  if (run.is_dense()) steps.expect(format::dense_model_offset(run.footer()));
}

Result<void> add_rows(const LinksLookup& run, DenseRowSums& sums, container::WorkSteps& steps) {
  if (!run.is_dense()) return {};
  format::LinkRows rows;
  std::vector<format::DenseNumber> numbers;
  std::uint64_t left_bytes = format::dense_model_offset(run.footer());
  for (std::uint64_t i = 0; i < format::dense_group_count(run.footer()); ++i) {
    CRAWLSTORE_TRY(const auto group, run.group(i));
    for (const format::DenseBlockPlace& place : group.blocks()) {
      if (place.length_bytes == 0) continue;
      CRAWLSTORE_TRY(run.trace(place, rows, numbers));
      add_block(rows, numbers, sums);
      if (place.page_count == 0) --sums.plain_count;  // more of the row before
      left_bytes -= std::min<std::uint64_t>(left_bytes, place.length_bytes);
      CRAWLSTORE_TRY(steps.add(place.length_bytes));
    }
  }
  return steps.add(left_bytes);  // the padding behind the blocks
}

Result<std::uint64_t> estimate_compacted_bytes(const LinkView& view, bool is_incoming,
                                               std::uint64_t link_count) {
  const std::vector<LogRun>& runs = is_incoming ? view.in_runs() : view.out_runs();
  std::uint64_t now_bytes = 0;
  const LogRun* largest = nullptr;
  for (const LogRun& log_run : runs) {
    now_bytes += log_run.run.run().extent().length_bytes;
    if (log_run.is_gone) continue;
    const bool is_larger =
        largest == nullptr || log_run.run.footer().link_count > largest->run.footer().link_count;
    if (is_larger) largest = &log_run;
  }
  if (largest == nullptr) return now_bytes;
  const LinksLookup& run = largest->run;
  const format::LinkRunFooter& footer = run.footer();
  const bool is_compact = runs.size() == 1 && run.is_dense();
  const bool stays_fresh =
      footer.link_count == 0 ||
      !links::is_dense_worth_it(footer.first_page, footer.last_page, link_count);
  if (is_compact || stays_fresh) return now_bytes;
  const LinkRunInfo info = describe_run(*largest, is_incoming);
  auto bytes = static_cast<double>(info.block_bytes);
  if (run.is_dense()) {
    bytes += static_cast<double>(info.index_bytes);
  } else {
    Sample sample;
    CRAWLSTORE_TRY(sample.read(run));
    bytes *= sample.dense_per_fresh();
    bytes += static_cast<double>(links::dense_gap_bytes(footer.first_page, footer.last_page));
  }
  bytes *= static_cast<double>(link_count) / static_cast<double>(footer.link_count);
  format::RunRef compacted;
  compacted.payload_bytes = static_cast<std::uint64_t>(std::min(bytes, kBytesMax)) +
                            format::kDenseModelBytes + sizeof(format::LinkRunFooter);
  return compacted.extent().length_bytes;
}

}  // namespace crawlstore::pages
