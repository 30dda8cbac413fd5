// SPDX-License-Identifier: Apache-2.0
#include "drum/repeat_notes.h"

#include <algorithm>

#include "base/assert.h"

namespace crawlstore::drum {

void RepeatNotes::put_anywhere(std::uint64_t gap, std::uint64_t number) {
  if (next_ == end_) {
    next_ = bytes_of(list_.add());
    end_ = next_ + kSlabNotes * kNoteBytes;
  }
  put(gap, number);
}

void RepeatNotes::append(std::uint64_t key_count, std::uint64_t key_index, std::uint16_t tag,
                         std::uint16_t common_tag) {
  CRAWLSTORE_ASSERT(key_index < key_count && can_reach(key_count, key_index));
  while (key_count - key_count_ >= kMoreKeys) {
    const std::uint64_t more = std::min(key_count - key_count_, kDistanceMax);
    put_anywhere(kMoreKeys, more);
    key_count_ += more;
  }
  put_anywhere(key_count - key_count_, key_count - 1 - key_index);
  key_count_ = key_count;
  ++count_;
  if (tag == common_tag && tags_.empty()) return;
  if (tags_.empty()) tags_.assign(count_ - 1, common_tag);
  tags_.push_back(tag);
}

std::uint64_t RepeatNotes::duplicate_count(std::uint16_t common_tag) const {
  const auto is_told = [](std::uint16_t tag) {
    return format::operation_of(tag) != format::Operation::kUpdate;
  };
  if (tags_.empty()) return is_told(common_tag) ? count_ : 0;
  return static_cast<std::uint64_t>(std::count_if(tags_.begin(), tags_.end(), is_told));
}

}  // namespace crawlstore::drum
