// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Writing a dense link run: rows are seen twice, first by a survey that makes the model, then by
/// the writer. spec/links.md#dense-link-runs.

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "container/run_io.h"
#include "format/dense_block.h"
#include "format/dense_index.h"

namespace crawlstore::links {

/// Runs with fewer links are not worth a model of 2 KB.
inline constexpr std::uint64_t kDenseLinksMin = 4096;

/// Bytes that the index of a dense run takes for pages without rows, at most.
constexpr std::uint64_t dense_gap_bytes(std::uint64_t first_page, std::uint64_t last_page) {
  return (last_page - first_page) / format::kDenseBlockPages * sizeof(format::DenseIndexGroup) /
         format::kDenseGroupBlocks;
}

/// Whether a run should be dense: it has links enough, and pages without rows take at most two bits
/// a link, of the four and more that a fresh run takes longer.
constexpr bool is_dense_worth_it(std::uint64_t first_page, std::uint64_t last_page,
                                 std::uint64_t link_count) {
  return link_count >= kDenseLinksMin && dense_gap_bytes(first_page, last_page) <= link_count / 4;
}

/// The rows of a block, and what the index says of it. Valid until the next one is taken.
struct DenseRows {
  format::DenseBlockPlace place;
  format::LinkRowSpans rows;  ///< none for pages without links
  std::uint64_t count = 1;    ///< so many such blocks without rows follow each other
};

/// Cuts rows into blocks. Memory: a block, and pages and links of the longest row.
class DenseCutter {
 public:
  using Take = std::function<Result<void>(const DenseRows& block)>;
  explicit DenseCutter(Take take) : take_(std::move(take)) {}

  /// Does the same as LinksWriter::append(), but leaves out rows without links.
  Result<void> append(std::uint64_t page, std::span<const std::uint64_t> links);
  /// The last block.
  Result<void> finish() { return pages_.empty() ? Result<void>{} : flush(); }
  [[nodiscard]] const format::LinkTotals& totals() const { return totals_; }
  /// The bytes of its vectors, which never shrink.
  [[nodiscard]] std::uint64_t memory_bytes() const;
  [[nodiscard]] std::uint64_t first_page() const { return first_page_; }

 private:
  Result<void> cover_gap(std::uint64_t page);
  Result<void> flush();

  Take take_;
  std::uint64_t next_page_ = 0;  // that the next block begins with
  std::uint64_t first_page_ = 0;
  std::vector<std::uint64_t> pages_;
  std::vector<std::uint32_t> degrees_;
  std::vector<std::uint64_t> links_;
  format::LinkTotals totals_;
};

/// Sees all rows and counts the numbers of some blocks.
class DenseSurvey {
 public:
  DenseSurvey();
  DenseSurvey(const DenseSurvey&) = delete;
  DenseSurvey& operator=(const DenseSurvey&) = delete;

  Result<void> append(std::uint64_t page, std::span<const std::uint64_t> links);
  Result<void> finish() { return cutter_.finish(); }
  /// Whether the run should be dense; not if a row is too long for one.
  [[nodiscard]] bool is_worth_it() const;
  [[nodiscard]] std::uint64_t link_count() const { return cutter_.totals().link_count; }
  [[nodiscard]] std::uint64_t gap_bytes() const {
    return dense_gap_bytes(cutter_.first_page(), cutter_.totals().last_page);
  }
  [[nodiscard]] format::DenseLengths model() const;
  /// The bytes that it holds, itself included; never less than before.
  [[nodiscard]] std::uint64_t memory_bytes() const;

 private:
  Result<void> take(const DenseRows& block);

  format::DenseBlockEncoder encoder_;
  DenseCutter cutter_;
  format::DenseCounts counts_{};
  std::uint64_t block_count_ = 0;
  std::uint64_t weight_ = 1;       // one of so many blocks is counted
  std::uint64_t next_weight_ = 0;  // the block from which on the weight is doubled
  bool has_too_long_row_ = false;
};

/// Writes a run of rows that a survey has seen. Threads share the coding; the bytes do not depend
/// on how many there are. Memory: some 4 MB, the longest row, and 3.25 bytes a block.
class DenseWriter {
 public:
  static Result<DenseWriter> start(container::SegmentWriter& writer, const format::RunLabel& label,
                                   std::uint64_t payload_bytes_max,
                                   const format::DenseLengths& model);

  /// Does the same as LinksWriter::append().
  Result<void> append(std::uint64_t page, std::span<const std::uint64_t> links);
  Result<std::optional<format::RunRef>> finish();
  void give_back() { state_->run.give_back(); }
  /// The most that it held, itself and its index included. After finish().
  [[nodiscard]] std::uint64_t memory_bytes() const { return state_->memory_bytes; }

 private:
  /// Blocks that wait to be coded together.
  struct Batch {
    struct Block {
      format::DenseBlockPlace place;
      std::size_t rows_end;
      std::size_t links_end;
      std::uint64_t count;
    };
    std::vector<Block> blocks;
    std::vector<std::uint64_t> pages;
    std::vector<std::uint32_t> degrees;
    std::vector<std::uint64_t> links;
  };
  struct State {
    State(container::RunWriter writer, const format::DenseLengths& lengths);
    Result<void> take(const DenseRows& block);
    Result<void> flush();
    void code(std::size_t task, unsigned worker);
    [[nodiscard]] std::uint64_t held_bytes() const;

    container::RunWriter run;
    format::DenseLengths model;
    DenseCutter cutter;
    Batch batch;
    std::vector<format::DenseBlockEncoder> encoders;  // one a thread
    std::vector<std::vector<std::byte>> coded;        // of each task
    format::DenseIndex index;
    std::uint64_t memory_bytes = 0;
  };
  explicit DenseWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}

  std::unique_ptr<State> state_;  // the cutter refers to it
};

}  // namespace crawlstore::links
