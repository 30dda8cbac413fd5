// SPDX-License-Identifier: Apache-2.0
//
// Invariants: where blocks end depends on the rows alone, and so does which of them are counted. So
// equal rows have equal runs, whatever merges and threads made them.
#include "links/dense_run.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "base/assert.h"
#include "base/in_parallel.h"

namespace crawlstore::links {
namespace {

/// Blocks that are counted first; then as many of twice as many, and so on.
constexpr std::uint64_t kCountedBlocks = 2048;
/// A block that has as many rows ends before it has more links: who looks a row up decodes those
/// before it. On cnr-2000 99 % of rows take 4.5 us, not 6.7, and links 1 % (in) and 4 % more bits.
constexpr std::size_t kManyRows = 16;
constexpr std::size_t kManyRowsLinks = 512;
/// Links of a batch, and blocks of a task.
constexpr std::size_t kBatchLinks = std::size_t{1} << 18;
constexpr std::size_t kTaskBlocks = 32;
constexpr unsigned kThreadsMax = 8;

template <class T>
std::uint64_t bytes_of(const std::vector<T>& items) {
  return items.capacity() * sizeof(T);
}

}  // namespace

Result<void> DenseCutter::append(std::uint64_t page, std::span<const std::uint64_t> links) {
  if (links.empty()) return {};
  CRAWLSTORE_ASSERT(page <= format::kPageMax && links.back() <= format::kPageMax);
  CRAWLSTORE_ASSERT(totals_.row_count == 0 || page > totals_.last_page);
  if (totals_.row_count == 0) next_page_ = first_page_ = page;
  const std::size_t links_max =
      pages_.size() < kManyRows ? format::kDenseBlockLinks : kManyRowsLinks;
  const bool is_full = pages_.size() == format::kDenseBlockRows ||
                       links_.size() + links.size() > links_max ||
                       page - next_page_ >= format::kDenseBlockPages;
  const bool goes_on = !pages_.empty() && pages_.front() < next_page_;  // with the row before
  if (goes_on || (is_full && !pages_.empty())) CRAWLSTORE_TRY(flush());
  CRAWLSTORE_TRY(cover_gap(page));
  ++totals_.row_count;
  totals_.link_count += links.size();
  totals_.last_page = page;
  totals_.target_max = std::max(totals_.target_max, links.back());
  while (!links.empty()) {
    if (links_.size() + links.size() > format::kDenseBlockLinks && !pages_.empty()) {
      CRAWLSTORE_TRY(flush());  // the piece before
    }
    const auto piece = links.first(std::min(links.size(), format::kDensePieceLinks));
    pages_.push_back(page);
    degrees_.push_back(static_cast<std::uint32_t>(piece.size()));
    links_.insert(links_.end(), piece.begin(), piece.end());
    links = links.subspan(piece.size());
  }
  return {};
}

/// Blocks of no bytes, until one of rows can begin.
Result<void> DenseCutter::cover_gap(std::uint64_t page) {
  const std::uint64_t count = (page - next_page_) / format::kDenseBlockPages;
  if (count == 0) return {};
  CRAWLSTORE_TRY(take_({{next_page_, 0, format::kDenseBlockPages, 0}, {}, count}));
  next_page_ += count * format::kDenseBlockPages;
  return {};
}

Result<void> DenseCutter::flush() {
  const std::uint64_t end_page = pages_.back() + 1;
  const auto page_count = static_cast<std::uint32_t>(end_page - next_page_);
  // A block that goes on with a row is coded as if it began with the row's page.
  const std::uint64_t first_page = page_count == 0 ? pages_.back() : next_page_;
  CRAWLSTORE_TRY(take_({{first_page, 0, page_count, 0}, {pages_, degrees_, links_}}));
  next_page_ = end_page;
  pages_.clear();
  degrees_.clear();
  links_.clear();
  return {};
}

std::uint64_t DenseCutter::memory_bytes() const {
  return bytes_of(pages_) + bytes_of(degrees_) + bytes_of(links_);
}

DenseSurvey::DenseSurvey()
    : encoder_(format::rough_dense_model()),
      cutter_([this](const DenseRows& block) { return take(block); }),
      next_weight_(kCountedBlocks) {}

Result<void> DenseSurvey::append(std::uint64_t page, std::span<const std::uint64_t> links) {
  has_too_long_row_ = has_too_long_row_ || links.size() > format::kDenseRowLinksMax;
  return has_too_long_row_ ? Result<void>{} : cutter_.append(page, links);
}

Result<void> DenseSurvey::take(const DenseRows& block) {
  if (block.rows.pages.empty()) return {};
  if (block_count_ == next_weight_) {
    weight_ *= 2;
    next_weight_ += kCountedBlocks * weight_;
  }
  if (block_count_++ % weight_ == 0) {
    encoder_.count(block.place.first_page, block.rows, weight_, counts_);
  }
  return {};
}

bool DenseSurvey::is_worth_it() const {
  const format::LinkTotals& totals = cutter_.totals();
  return !has_too_long_row_ &&
         is_dense_worth_it(cutter_.first_page(), totals.last_page, totals.link_count);
}

format::DenseLengths DenseSurvey::model() const {
  const format::LinkTotals& totals = cutter_.totals();
  return format::dense_model(counts_, std::max(totals.last_page, totals.target_max));
}

std::uint64_t DenseSurvey::memory_bytes() const {
  return sizeof *this - sizeof encoder_ + encoder_.memory_bytes() + cutter_.memory_bytes();
}

DenseWriter::State::State(container::RunWriter writer, const format::DenseLengths& lengths)
    : run(std::move(writer)),
      model(lengths),
      cutter([this](const DenseRows& block) { return take(block); }),
      encoders(std::clamp(std::thread::hardware_concurrency(), 1U, kThreadsMax),
               format::DenseBlockEncoder(lengths)) {}

Result<DenseWriter> DenseWriter::start(container::SegmentWriter& writer,
                                       const format::RunLabel& label,
                                       std::uint64_t payload_bytes_max,
                                       const format::DenseLengths& model) {
  CRAWLSTORE_TRY(auto started, container::RunWriter::start(writer, label, payload_bytes_max));
  return DenseWriter(std::make_unique<State>(std::move(started), model));
}

Result<void> DenseWriter::append(std::uint64_t page, std::span<const std::uint64_t> links) {
  return state_->cutter.append(page, links);
}

Result<void> DenseWriter::State::take(const DenseRows& block) {
  batch.pages.insert(batch.pages.end(), block.rows.pages.begin(), block.rows.pages.end());
  batch.degrees.insert(batch.degrees.end(), block.rows.degrees.begin(), block.rows.degrees.end());
  batch.links.insert(batch.links.end(), block.rows.links.begin(), block.rows.links.end());
  batch.blocks.push_back({block.place, batch.pages.size(), batch.links.size(), block.count});
  return batch.links.size() < kBatchLinks ? Result<void>{} : flush();
}

/// Codes the blocks of a task into bytes of its own, and notes how long each is.
void DenseWriter::State::code(std::size_t task, unsigned worker) {
  const std::size_t first = task * kTaskBlocks;
  const std::size_t end = std::min(batch.blocks.size(), first + kTaskBlocks);
  std::vector<std::byte>& out = coded[task];
  out.clear();
  for (std::size_t i = first; i < end; ++i) {
    const std::size_t row = i == 0 ? 0 : batch.blocks[i - 1].rows_end;
    const std::size_t link = i == 0 ? 0 : batch.blocks[i - 1].links_end;
    Batch::Block& block = batch.blocks[i];
    if (row == block.rows_end) continue;
    const std::size_t row_count = block.rows_end - row;
    const std::size_t before = out.size();
    encoders[worker].encode(block.place.first_page,
                            {std::span(batch.pages).subspan(row, row_count),
                             std::span(batch.degrees).subspan(row, row_count),
                             std::span(batch.links).subspan(link, block.links_end - link)},
                            out);
    block.place.length_bytes = static_cast<std::uint32_t>(out.size() - before);
  }
}

Result<void> DenseWriter::State::flush() {
  const std::size_t task_count = (batch.blocks.size() + kTaskBlocks - 1) / kTaskBlocks;
  if (coded.size() < task_count) coded.resize(task_count);
  CRAWLSTORE_TRY(in_parallel(static_cast<unsigned>(encoders.size()), task_count,
                             [this](std::uint64_t task, unsigned worker) -> Result<void> {
                               code(task, worker);
                               return {};
                             }));
  for (const Batch::Block& block : batch.blocks) {
    for (std::uint64_t i = 0; i < block.count; ++i) index.add(block.place);
  }
  for (std::size_t task = 0; task < task_count; ++task) CRAWLSTORE_TRY(run.append(coded[task]));
  batch.blocks.clear();
  batch.pages.clear();
  batch.degrees.clear();
  batch.links.clear();
  return {};
}

/// No vector here shrinks, so that this is the most that was held so far.
std::uint64_t DenseWriter::State::held_bytes() const {
  std::uint64_t bytes = sizeof *this + cutter.memory_bytes() + index.memory_bytes() +
                        bytes_of(batch.blocks) + bytes_of(batch.pages) + bytes_of(batch.degrees) +
                        bytes_of(batch.links) + bytes_of(coded);
  for (const auto& task : coded) bytes += bytes_of(task);
  for (const auto& encoder : encoders) bytes += encoder.memory_bytes();
  return bytes;
}

Result<std::optional<format::RunRef>> DenseWriter::finish() {
  State& state = *state_;
  CRAWLSTORE_TRY(state.cutter.finish());
  if (state.cutter.totals().row_count == 0) return std::optional<format::RunRef>{};
  CRAWLSTORE_TRY(state.flush());
  std::vector<std::byte> tail;
  state.index.encode_tail(state.model, state.cutter.totals(), tail);
  CRAWLSTORE_TRY(state.run.append(tail));
  state.memory_bytes = state.held_bytes() + bytes_of(tail);
  CRAWLSTORE_TRY(const auto run, state.run.finish(state.cutter.totals().link_count));
  return std::optional(run);
}

}  // namespace crawlstore::links
