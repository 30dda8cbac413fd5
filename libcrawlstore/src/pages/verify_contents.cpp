// SPDX-License-Identifier: Apache-2.0
#include "pages/verify_contents.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "container/run_io.h"
#include "container/tile_tree.h"
#include "drum/key_source.h"
#include "format/record_tile.h"
#include "pages/content_index.h"

namespace crawlstore::pages {
namespace {

constexpr std::uint64_t kCheckedTiles = (std::uint64_t{1} << 23) / format::kTilePagesMax;

/// For one use.
class ContentsVerifier {
 public:
  ContentsVerifier(container::Verification& verification, const format::SegmentEntry& records,
                   const format::SegmentEntry* contents, SegmentId database)
      : verification_(verification), records_(records), contents_(contents), database_(database) {}

  Result<void> verify() {
    const std::uint64_t tile_count = container::tile_count(records_);
    for (std::uint64_t first = 0; first < tile_count; first += kCheckedTiles) {
      CRAWLSTORE_TRY(verify_tiles(first, std::min(tile_count, first + kCheckedTiles)));
    }
    return {};
  }

 private:
  Result<void> verify_tiles(std::uint64_t first, std::uint64_t end) {
    CRAWLSTORE_TRY(gather(first, end));
    const std::uint64_t first_page = first * format::kTilePagesMax;
    CRAWLSTORE_TRY(const auto keys, open_keys());
    for (; !keys->at_end();) {
      const std::uint64_t page = keys->key().tail;
      if (page >= page_count()) return invalid("a content is of a page that does not exist");
      if (page >= first_page && page - first_page < heads_.size() &&
          heads_[page - first_page] == keys->key().head) {
        is_missed_[page - first_page] = false;
      }
      CRAWLSTORE_TRY(keys->advance());
    }
    if (std::ranges::find(is_missed_, true) == is_missed_.end()) return {};
    return invalid("the content of a page is not in the index of contents");
  }
  /// Notes how the keys of the pages in these tiles begin.
  Result<void> gather(std::uint64_t first, std::uint64_t end) {
    heads_.clear();
    is_missed_.clear();
    for (std::uint64_t i = first; i < end; ++i) {
      const format::RunRef& run = container::tile_ref(records_, i);
      const auto name = container::run_name(verification_.identity, records_.id, run.run_id);
      CRAWLSTORE_TRY(container::read_run(verification_.storage, name, run, payload_));
      CRAWLSTORE_TRY(decode_records(payload_, records_.id, tile_));
      for (const auto& record : tile_) {
        const std::span hash(record.hash.data(), record.hash_bytes);
        is_missed_.push_back(!hash.empty());
        heads_.push_back(hash.empty() ? 0
                                      : content_key(hash, 0, verification_.identity.key_seed).head);
      }
      CRAWLSTORE_TRY(verification_.advance(0));
    }
    return {};
  }
  Result<std::unique_ptr<drum::MergedKeys>> open_keys() {
    std::vector<std::unique_ptr<drum::KeySource>> sources;
    if (contents_ != nullptr) {
      for (const auto& run : contents_->runs) {
        const auto name = container::run_name(verification_.identity, contents_->id, run.run_id);
        CRAWLSTORE_TRY(auto opened, drum::PartitionKeys::open(verification_.storage, name, run,
                                                              kContentKeyShape));
        sources.push_back(std::move(opened));
      }
    }
    return drum::MergedKeys::open(std::move(sources));
  }
  [[nodiscard]] std::uint64_t page_count() const { return records_.runs.back().record_count; }
  [[nodiscard]] tl::unexpected<Error> invalid(const char* text) const {
    return fail(Errc::kSegmentInvalid, text, Error::kNoOffset,
                contents_ == nullptr ? database_ : contents_->id);
  }

  container::Verification& verification_;
  const format::SegmentEntry& records_;
  const format::SegmentEntry* contents_;
  SegmentId database_;
  std::vector<std::byte> payload_;
  std::vector<format::PageRecord> tile_;
  // By page of the tiles:
  std::vector<std::uint64_t> heads_;
  std::vector<bool> is_missed_;
};

}  // namespace

Result<void> verify_contents(container::Verification& verification,
                             const format::SegmentEntry* records,
                             const format::SegmentEntry* contents, SegmentId database) {
  if (records == nullptr) return {};
  return ContentsVerifier(verification, *records, contents, database).verify();
}

}  // namespace crawlstore::pages
