// SPDX-License-Identifier: Apache-2.0
#include "drum/key_source.h"

#include <algorithm>

namespace crawlstore::drum {

void EditKeys::settle() {
  edit_.reset();
  if (!left_.empty()) edit_ = left_.front();
}

Result<void> EditKeys::advance() {
  left_ = left_.subspan(1);
  settle();
  return {};
}

Result<std::uint64_t> EditKeys::count_to(std::uint64_t last_head) {
  const auto after = std::upper_bound(
      left_.begin(), left_.end(), last_head,
      [](std::uint64_t head, const KeyEdit& edit) { return head < edit.key.head; });
  return static_cast<std::uint64_t>(after - left_.begin());
}

PartitionKeys::PartitionKeys(Storage& storage, const format::RunName& name,
                             const format::RunRef& run, Shape shape)
    : storage_(std::shared_ptr<void>(), &storage),
      name_(name),
      run_(run),
      shape_(shape),
      cursor_(storage, name, run, run.record_count, shape) {}

Result<std::unique_ptr<PartitionKeys>> PartitionKeys::open(Storage& storage,
                                                           const format::RunName& name,
                                                           const format::RunRef& run, Shape shape) {
  CRAWLSTORE_TRY(check_partition_count(run, run.record_count, shape));
  std::unique_ptr<PartitionKeys> keys(new PartitionKeys(storage, name, run, shape));
  CRAWLSTORE_TRY(keys->cursor_.start(0, ~std::uint64_t{0}));
  CRAWLSTORE_TRY(keys->settle());
  return keys;
}

Result<void> PartitionKeys::settle() {
  edit_.reset();
  if (cursor_.at_end()) return cursor_.finish();
  edit_ = KeyEdit{cursor_.key(), false, cursor_.value()};
  return {};
}

Result<void> PartitionKeys::advance() {
  ++passed_count_;
  CRAWLSTORE_TRY(cursor_.advance());
  return settle();
}

Result<std::uint64_t> PartitionKeys::count_to(std::uint64_t last_head) {
  if (last_head == ~std::uint64_t{0}) return run_.record_count - passed_count_;
  if (rows_ == nullptr) {
    CRAWLSTORE_TRY(
        const auto lookup,
        PartitionLookup::open(std::make_shared<const container::RunReader>(storage_, name_, run_),
                              shape_));
    CRAWLSTORE_TRY(auto rows, PartitionRows::open(lookup));
    rows_ = std::move(rows);
  }
  const auto end = rows_->lower_bound({last_head + 1, 0});
  if (!end) return end;
  return std::max(*end, passed_count_) - passed_count_;
}

Result<std::unique_ptr<MergedKeys>> MergedKeys::open(
    std::vector<std::unique_ptr<KeySource>> sources) {
  std::unique_ptr<MergedKeys> merged(new MergedKeys(std::move(sources)));
  CRAWLSTORE_TRY(merged->settle());
  return merged;
}

Result<void> MergedKeys::settle() {
  edit_.reset();
  first_ = nullptr;
  for (const auto& source : sources_) {
    if (source->at_end()) continue;
    if (first_ == nullptr || source->key() < first_->key()) {
      first_ = source.get();
    } else if (source->key() == first_->key()) {
      if (!source->edit().removes && !first_->edit().removes) {
        return fail(Errc::kSegmentInvalid, "a key of a page stands in two runs");
      }
      KeySource& kept = source->edit().removes ? *source : *first_;
      KeySource& dropped = source->edit().removes ? *first_ : *source;
      CRAWLSTORE_TRY(dropped.advance());
      first_ = &kept;
    }
  }
  if (first_ != nullptr) edit_ = first_->edit();
  return {};
}

Result<void> MergedKeys::advance() {
  CRAWLSTORE_TRY(first_->advance());
  return settle();
}

/// Counts the keys; one that a source removes and another has counts twice.
Result<std::uint64_t> MergedKeys::count_to(std::uint64_t last_head) {
  std::uint64_t count = 0;
  for (const auto& source : sources_) {
    const auto of_source = source->count_to(last_head);
    if (!of_source) return of_source;
    count += *of_source;
  }
  return count;
}

}  // namespace crawlstore::drum
