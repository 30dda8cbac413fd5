// SPDX-License-Identifier: Apache-2.0
//
// The numbers are looked at in windows, from the lowest on: a bit for each number of a window, set
// by the first run that holds it. A run reaches over at most 2^32 numbers, so the cost of a hostile
// one is bounded: 33 windows, and in each the numbers that it holds there.
//
// Invariants: between two windows no bit is set; a reading's `next` is the first record whose
// number is not below the window. Columns are read into private memory, so they are what one
// reading gave; bytes that changed since the content was checked cost a wrong verdict at worst.
#include "drum/verify_sequences.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "format/endian.h"

namespace crawlstore::drum {
namespace {

constexpr std::uint64_t kWindowNumbers = std::uint64_t{1} << 27;
constexpr std::uint64_t kNumbersPerRead = 16 * 1024;

/// Bits that know where they were set, so that clearing them costs no more than setting them did.
class WindowBits {
 public:
  explicit WindowBits(std::uint64_t count)
      : words_((count + 63) / 64), pages_(words_.size() / kPageWords + 1) {}

  /// Sets the bit. Returns whether it was set.
  bool set(std::uint64_t index) {
    std::uint64_t& word = words_[index / 64];
    const std::uint64_t bit = std::uint64_t{1} << index % 64;
    const bool was_set = (word & bit) != 0;
    word |= bit;
    pages_[index / 64 / kPageWords] = 1;
    return was_set;
  }

  void clear() {
    for (std::size_t page = 0; page < pages_.size(); ++page) {
      if (std::exchange(pages_[page], std::uint8_t{0}) == 0) continue;
      const auto begin = words_.begin() + static_cast<std::ptrdiff_t>(page * kPageWords);
      const auto left = words_.size() - page * kPageWords;
      std::fill_n(begin, std::min(left, kPageWords), 0);
    }
  }

 private:
  static constexpr std::size_t kPageWords = 512;
  std::vector<std::uint64_t> words_;
  std::vector<std::uint8_t> pages_;
};

template <class Runs, class SegmentOf>
bool is_one_segment(const Runs& runs, const SegmentOf& segment_of) {
  return std::all_of(runs.begin(), runs.end(),
                     [&](const auto& run) { return segment_of(run) == segment_of(runs.front()); });
}

/// A run, and how far it was read.
struct Reading {
  SequenceRun run;
  std::uint64_t next = 0;
  bool is_shared = false;
};

class SharedSequences {
 public:
  /// `span`: the highest number less the lowest.
  SharedSequences(container::Verification& verification, std::uint64_t span)
      : verification_(verification),
        window_(std::min(span, kWindowNumbers - 1) + 1),
        bits_(window_) {}

  /// `runs`: ascending by their lowest numbers.
  Result<std::vector<SequenceRun>> find(const std::vector<SequenceRun>& runs) {
    std::size_t coming = 0;
    for (std::uint64_t begin = 0;; begin += window_) {
      std::erase_if(readings_, [&](const Reading& one) { return one.run.highest < begin; });
      if (readings_.empty()) {
        if (coming == runs.size()) break;
        begin = runs[coming].lowest;
      }
      for (; coming < runs.size() && runs[coming].lowest - begin < window_; ++coming) {
        readings_.push_back({runs[coming]});
      }
      CRAWLSTORE_TRY(look_at_window(begin));
      if (begin > std::numeric_limits<std::uint64_t>::max() - window_) break;
    }
    return std::move(shared_);
  }

 private:
  /// Numbers of one segment are known to ascend, so one alone needs no look.
  Result<void> look_at_window(std::uint64_t begin) {
    if (is_one_segment(readings_, [](const Reading& one) { return one.run.segment; })) return {};
    for (Reading& reading : readings_) {
      CRAWLSTORE_TRY(verification_.advance(0));
      if (reading.run.column_offset_bytes == 0) {
        take_range(reading, begin);
      } else {
        CRAWLSTORE_TRY(take_column(reading, begin));
      }
    }
    bits_.clear();
    return {};
  }

  void take(Reading& reading, std::uint64_t index) {
    if (!bits_.set(index) || reading.is_shared) return;
    reading.is_shared = true;
    shared_.push_back(reading.run);
  }

  void take_range(Reading& reading, std::uint64_t begin) {
    const SequenceRun& run = reading.run;
    const std::uint64_t last = std::min(run.highest - begin, window_ - 1);
    for (std::uint64_t i = std::max(run.lowest, begin) - begin; i <= last; ++i) take(reading, i);
  }

  Result<void> take_column(Reading& reading, std::uint64_t begin) {
    const SequenceRun& run = reading.run;
    while (reading.next < run.count) {
      const std::uint64_t count = std::min(kNumbersPerRead, run.count - reading.next);
      const std::uint64_t offset = run.column_offset_bytes + reading.next * 4;
      buffer_.resize(count * 4);
      CRAWLSTORE_TRY(const auto got, verification_.storage.read(offset, buffer_));
      if (got < buffer_.size()) {
        return fail(Errc::kTruncated, "the file ends inside a run", offset + got);
      }
      for (std::uint64_t i = 0; i < count; ++i, ++reading.next) {
        const std::uint64_t number =
            run.lowest + format::load<std::uint32_t>(buffer_.data() + i * 4);
        if (number < begin) continue;
        if (number - begin >= window_) return {};
        take(reading, number - begin);
      }
    }
    return {};
  }

  container::Verification& verification_;
  const std::uint64_t window_;
  WindowBits bits_;
  std::vector<Reading> readings_;
  std::vector<std::byte> buffer_;
  std::vector<SequenceRun> shared_;
};

}  // namespace

Result<std::vector<SequenceRun>> find_shared_sequences(container::Verification& verification,
                                                       std::vector<SequenceRun> runs) {
  if (is_one_segment(runs, [](const SequenceRun& run) { return run.segment; })) {
    return std::vector<SequenceRun>{};
  }
  std::stable_sort(runs.begin(), runs.end(),
                   [](const SequenceRun& a, const SequenceRun& b) { return a.lowest < b.lowest; });
  std::uint64_t highest = 0;
  for (const SequenceRun& run : runs) highest = std::max(highest, run.highest);
  return SharedSequences(verification, highest - runs.front().lowest).find(runs);
}

}  // namespace crawlstore::drum
