// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Lines of an input with the keys of their URLs, on the way from the thread that reads to the one
/// that asks. Threads: one at a time.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <crawlstore/types.h>

namespace crawlstore::cli {

class KeyedLines {
 public:
  struct Line {
    std::string_view url;  // lives until the next call that changes the lines
    Key16 key;
  };

  /// `is_parsed`: the URL is one by the URL Standard.
  void add(std::string_view url, Key16 key, bool is_parsed) {
    text_ += url;
    ends_.push_back({text_.size(), key});
    unparsed_count_ += is_parsed ? 0 : 1;
  }
  void clear() {
    text_.clear();
    ends_.clear();
    unparsed_count_ = 0;
  }

  [[nodiscard]] std::size_t size() const { return ends_.size(); }
  [[nodiscard]] bool empty() const { return ends_.empty(); }
  /// A few milliseconds of work.
  [[nodiscard]] bool is_full() const {
    return text_.size() >= kTextBytes || ends_.size() >= kLineCount;
  }
  [[nodiscard]] Line operator[](std::size_t i) const {
    const std::size_t begin = i == 0 ? 0 : ends_[i - 1].text_end;
    return {std::string_view(text_).substr(begin, ends_[i].text_end - begin), ends_[i].key};
  }
  [[nodiscard]] std::uint64_t unparsed_count() const { return unparsed_count_; }

 private:
  static constexpr std::size_t kTextBytes = std::size_t{1} << 20;
  static constexpr std::size_t kLineCount = std::size_t{1} << 14;
  struct End {
    std::size_t text_end;
    Key16 key;
  };

  std::string text_;
  std::vector<End> ends_;
  std::uint64_t unparsed_count_ = 0;
};

}  // namespace crawlstore::cli
