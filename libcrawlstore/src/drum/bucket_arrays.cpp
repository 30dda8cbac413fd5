// SPDX-License-Identifier: Apache-2.0
#include "drum/bucket_arrays.h"

namespace crawlstore::drum {

void append_to(RequestColumns& columns, Shape shape, const RawRequest& request) {
  const bool inserts = request.operation != DrumOperation::kCheck;
  columns.append(tag_of(request), key_of(request), shape,
                 inserts ? request.value : std::span<const std::byte>{}, request.aux);
}

void BucketArrays::tune(std::size_t recent_key_count, Repeats repeats) {
  drops_repeats_ = repeats == Repeats::kDrop;
  if (recent_.size() != recent_key_count) recent_.resize(recent_key_count);
}

std::vector<RequestColumns> BucketArrays::exchange(std::size_t bucket_count) {
  std::vector<RequestColumns> arrays;
  for (std::size_t b = 0; b < bucket_count; ++b) arrays.emplace_back(pool_);
  return std::exchange(arrays_, std::move(arrays));
}

void BucketArrays::append(std::size_t bucket, const RawRequest& request) {
  RequestColumns& columns = arrays_[bucket];
  const Key16 key = key_of(request);
  const std::uint64_t name = RecentKeys::name_of(key);
  const bool looks = recent_.is_awake();
  if (looks) recent_.wake();
  const auto repeated = looks ? recent_.find(name, columns.number()) : recent_.kNotFound;
  const bool repeats = repeated != recent_.kNotFound &&
                       (drops_repeats_ || columns.can_repeat(repeated)) &&
                       columns.has_key(repeated, key);
  recent_.count(1, repeats ? 1 : 0);
  const std::uint64_t before = columns.request_bytes();
  if (repeats) {
    ++(drops_repeats_ ? dropped_count_ : repeat_count_);
    if (drops_repeats_) return;
    columns.append_repeat(tag_of(request), repeated, request.aux);
  } else {
    if (columns.empty()) columns.set_number(recent_.begin_array());
    append_to(columns, shape_, request);
    if (looks && request.operation != DrumOperation::kCheck) {
      recent_.note(name, columns.number(), columns.key_count() - 1);
    }
  }
  bytes_ += columns.request_bytes() - before;
}

void BucketArrays::add_to(DrumStatus& status) const {
  status.repeat_count += repeat_count_;
  status.dropped_count += dropped_count_;
  status.memory_bytes += recent_.memory_bytes();
}

}  // namespace crawlstore::drum
