// SPDX-License-Identifier: Apache-2.0
//
// Invariants: runs_ are finished, and released by whoever owns them: the destructor, until
// give_back(). plan_ begins behind the last of them.
#include "pages/origins_pieces.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "container/blocked_run.h"

namespace crawlstore::pages {
namespace {

constexpr std::uint64_t kPieces = 16;
constexpr std::uint64_t kPieceBytesMin = std::uint64_t{1} << 20;
/// A run of pages with short URLs, or with none, ends after so many times the pages of a mean one.
constexpr double kMeanPagesMax = 4;
constexpr std::uint64_t kPiecePagesMin = std::uint64_t{1} << 15;
/// Room for what compresses worse than the others: a part of what is reserved for all, and some.
constexpr std::uint64_t kPiecePartMore = 32;
constexpr std::uint64_t kPieceBytesMore = std::uint64_t{8} << 10;

std::uint64_t pages_of_piece(const OriginsPlan& plan, std::uint64_t piece_bytes) {
  if (plan.url_bytes <= piece_bytes) return plan.page_count;
  const double pieces = static_cast<double>(plan.url_bytes) / static_cast<double>(piece_bytes);
  const double mean_pages = static_cast<double>(plan.page_count) / pieces;
  return std::max(kPiecePagesMin, static_cast<std::uint64_t>(kMeanPagesMax * mean_pages) + 1);
}

}  // namespace

std::uint64_t origin_piece_bytes(std::uint64_t url_bytes) {
  return std::max(kPieceBytesMin, url_bytes / kPieces + 1);
}

Result<std::uint64_t> origin_url_bytes(container::SegmentWriter& writer,
                                       const format::SegmentEntry& log) {
  std::uint64_t url_bytes = 0;
  // The storage lives as long as the writer.
  const std::shared_ptr<Storage> storage(std::shared_ptr<void>(), &writer.storage());
  for (const auto& run : log.runs) {
    const container::RunReader reader(
        storage, container::run_name(writer.identity(), log.id, run.run_id), run);
    CRAWLSTORE_TRY(const auto footer, container::read_footer(reader, format::parse_origin_footer));
    url_bytes += footer.url_bytes;
  }
  return url_bytes;
}

std::uint64_t origin_pieces_max(const OriginsPlan& plan, std::uint64_t piece_bytes) {
  if (plan.url_bytes <= piece_bytes) return 1;
  return plan.url_bytes / piece_bytes + plan.page_count / pages_of_piece(plan, piece_bytes) + 1;
}

OriginsPieces::OriginsPieces(container::SegmentWriter& writer, const format::RunLabel& first_run,
                             OriginsPlan plan, std::uint64_t piece_bytes)
    : writer_(writer),
      next_run_(first_run),
      plan_(std::move(plan)),
      whole_(plan_),
      piece_bytes_(piece_bytes),
      piece_pages_(pages_of_piece(plan_, piece_bytes)) {}

OriginsPieces::~OriginsPieces() {
  for (const auto& run : runs_) writer_.release(run.extent());
}

/// Ends the run when it is long enough, and begins the next one.
Result<void> OriginsPieces::make_room(std::uint64_t url_bytes) {
  const bool is_full =
      run_ && (run_bytes_ >= piece_bytes_ || url_bytes > run_bytes_max_ - run_bytes_ ||
               run_->page_count() >= piece_pages_);
  if (is_full) CRAWLSTORE_TRY(end_run());
  if (run_) return {};
  if (url_bytes > plan_.url_bytes || plan_.page_count == 0) {
    return fail(Errc::kSegmentInvalid, "there are more origins than were counted");
  }
  OriginsPlan plan = plan_;
  plan.url_bytes = std::min(plan_.url_bytes, piece_bytes_ + format::kOriginBlockRawMax);
  plan.url_bytes = std::max(plan.url_bytes, url_bytes);
  plan.page_count = std::min(plan_.page_count, piece_pages_ + format::kOriginBlockPagesMax);
  if (plan.reserve_bytes != ~std::uint64_t{0} && plan.url_bytes < whole_.url_bytes) {
    const double part = static_cast<double>(std::min(plan.url_bytes, piece_bytes_)) /
                        static_cast<double>(whole_.url_bytes);
    const auto bytes = static_cast<std::uint64_t>(static_cast<double>(plan.reserve_bytes) * part);
    plan.reserve_bytes = bytes + bytes / kPiecePartMore + kPieceBytesMore;
  }
  CRAWLSTORE_TRY(auto started, OriginsWriter::start(writer_, next_run_, plan));
  ++next_run_.run.value;
  run_.emplace(std::move(started));
  run_bytes_ = 0;
  run_bytes_max_ = plan.url_bytes;
  return {};
}

Result<void> OriginsPieces::end_run() {
  const std::uint64_t page_count = run_->page_count();
  CRAWLSTORE_TRY(const auto ref, run_->finish());
  run_->give_back();
  runs_.push_back(ref);
  if (runs_.size() == 1) {
    plan_.source = DictionarySource::kGiven;
    plan_.dictionary = run_->dictionary();
  }
  run_.reset();
  plan_.first_page += page_count;
  plan_.page_count -= page_count;
  plan_.url_bytes -= std::min(plan_.url_bytes, run_bytes_);
  return {};
}

Result<void> OriginsPieces::append(const format::Origin& origin) {
  CRAWLSTORE_TRY(make_room(origin.url.size()));
  CRAWLSTORE_TRY(run_->append(origin));
  run_bytes_ += origin.url.size();
  return {};
}

Result<void> OriginsPieces::append_block(const format::OriginBlockDecoder& block) {
  CRAWLSTORE_TRY(make_room(block.url_bytes()));
  CRAWLSTORE_TRY(run_->append_block(block));
  run_bytes_ += block.url_bytes();
  return {};
}

Result<std::vector<format::RunRef>> OriginsPieces::finish() {
  CRAWLSTORE_ASSERT(run_ || !runs_.empty());
  if (run_) CRAWLSTORE_TRY(end_run());
  return runs_;
}

}  // namespace crawlstore::pages
