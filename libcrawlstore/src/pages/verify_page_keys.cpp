// SPDX-License-Identifier: Apache-2.0
#include "pages/verify_page_keys.h"

#include <algorithm>

#include <crawlstore/page_key.h>

#include "container/run_io.h"
#include "pages/fresh_keys.h"
#include "pages/origins_run.h"
#include "pages/superstep.h"

namespace crawlstore::pages {
namespace {

constexpr std::uint64_t kCheckedPages = std::uint64_t{1} << 23;

/// Mixes what a key says of a page into one number, which is never 0.
std::uint64_t print_of(Key16 key, std::uint32_t witness) {
  return mixed(mixed(key.head, key.tail), witness) | 1;
}

tl::unexpected<Error> invalid(const char* text, SegmentId segment) {
  return fail(Errc::kSegmentInvalid, text, Error::kNoOffset, segment);
}

}  // namespace

std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
  std::uint64_t x = a * 0x9E3779B97F4A7C15 ^ (b + 0x632BE59BD9B4E019) * 0xD6E8FEB86659FD93;
  x = (x ^ (x >> 32)) * 0xD6E8FEB86659FD93;
  return x ^ (x >> 32);
}

Result<void> PageKeysVerifier::verify() {
  do {
    end_ = std::min(parts_.page_count, first_ + kCheckedPages);
    CRAWLSTORE_TRY(verify_window());
    first_ = end_;
  } while (first_ < parts_.page_count);
  return {};
}

Result<void> PageKeysVerifier::verify_window() {
  prints_.assign(end_ - first_, 0);
  keyed_.assign(end_ - first_, false);
  CRAWLSTORE_TRY(print_origins());
  CRAWLSTORE_TRY(const auto fresh, open_fresh_keys());
  for (const auto& bucket : parts_.table.buckets) {
    if (!bucket.partition) continue;
    const format::RunRef& run = parts_.directory.find(bucket.partition)->runs.front();
    drum::PartitionCursor cursor(
        verification_.storage,
        container::run_name(verification_.identity, bucket.partition, run.run_id), run,
        bucket.key_count, kPageKeyShape);
    CRAWLSTORE_TRY(cursor.start(0, ~std::uint64_t{0}));
    while (!cursor.at_end()) {
      CRAWLSTORE_TRY(pass_fresh_keys(*fresh, cursor.key()));
      CRAWLSTORE_TRY(take_key(bucket.partition, cursor.key(), cursor.value()));
      CRAWLSTORE_TRY(cursor.advance());
    }
  }
  CRAWLSTORE_TRY(pass_fresh_keys(*fresh, std::nullopt));
  for (std::uint64_t i = 0; i < prints_.size(); ++i) {
    if (keyed_[i] && prints_[i] != 0)
      return invalid("a page with a URL has no key", parts_.drum.id);
  }
  return {};
}

Result<void> PageKeysVerifier::print_origins() {
  if (parts_.origins == nullptr) return {};
  for (const auto& run : parts_.origins->runs) {
    const auto name = container::run_name(verification_.identity, parts_.origins->id, run.run_id);
    CRAWLSTORE_TRY(auto cursor, OriginsCursor::open(verification_.storage, name, run));
    const auto& footer = cursor->footer();
    if (footer.first_page + footer.page_count <= first_ || footer.first_page >= end_) continue;
    while (!cursor->at_end() && cursor->page() < end_) {
      if (cursor->page() >= first_) {
        const std::uint64_t place = cursor->page() - first_;
        const std::string_view url = cursor->origin().url;
        const PageKey key = page_key(url, verification_.identity.key_seed);
        prints_[place] = print_of(key.key, key.witness);
        keyed_[place] = !url.empty();
      }
      CRAWLSTORE_TRY(cursor->advance());
    }
  }
  return {};
}

Result<std::unique_ptr<drum::MergedKeys>> PageKeysVerifier::open_fresh_keys() {
  std::vector<std::unique_ptr<drum::KeySource>> sources;
  for (std::size_t i = 0; parts_.fresh != nullptr && i < parts_.fresh->runs.size(); ++i) {
    const format::RunRef& run = parts_.fresh->runs[i];
    CRAWLSTORE_TRY(auto opened,
                   drum::PartitionKeys::open(
                       verification_.storage,
                       container::run_name(verification_.identity, parts_.fresh->id, run.run_id),
                       run, kPageKeyShape));
    sources.push_back(std::move(opened));
  }
  return drum::MergedKeys::open(std::move(sources));
}

/// Those below the key, which must not be among them, or all.
Result<void> PageKeysVerifier::pass_fresh_keys(drum::KeySource& keys, std::optional<Key16> limit) {
  while (!keys.at_end() && (!limit || keys.key() < *limit)) {
    CRAWLSTORE_TRY(take_key(parts_.fresh->id, keys.key(), keys.edit().value));
    CRAWLSTORE_TRY(keys.advance());
  }
  if (keys.at_end() || !limit || keys.key() != *limit) return {};
  return invalid("a fresh key of a page is also in the drum of keys", parts_.fresh->id);
}

Result<void> PageKeysVerifier::take_key(SegmentId segment, Key16 key,
                                        std::span<const std::byte> value) {
  const std::uint64_t index = index_in(value);
  if (index >= parts_.page_count) return invalid("a key has an index that no page has", segment);
  if (index < first_ || index >= end_) return {};
  std::uint64_t& print = prints_[index - first_];
  if (print != print_of(key, witness_in(value))) {
    return invalid("the key of a page is not that of its URL, or has the index of another",
                   segment);
  }
  print = 0;
  return {};
}

}  // namespace crawlstore::pages
