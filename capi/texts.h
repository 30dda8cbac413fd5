// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Text of callers and for them: lists as one blob, verdicts for each entry, arrays of characters.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "call.h"

namespace crawlstore::c {

/// Checked texts. Ownership: borrows the caller's arrays for the call.
class Texts {
 public:
  /// errors kInvalidArgument: an array is missing, or an end lies before the one before; kTooLarge
  static Result<Texts> of(const crwl_texts& given) {
    CRAWLSTORE_TRY(need_array(given.count, given.ends));
    if (!std::is_sorted(given.ends, given.ends + given.count)) {
      return fail(Errc::kInvalidArgument, "the ends of texts do not ascend");
    }
    if (given.count != 0) CRAWLSTORE_TRY(need_array(given.ends[given.count - 1], given.bytes));
    const Texts texts(given);
    for (std::uint64_t i = 0; i < given.count; ++i) {
      if (texts[i].size() > kTextBytesMax) {
        return fail(Errc::kTooLarge, "a text has more than 64 MiB");
      }
    }
    return texts;
  }

  [[nodiscard]] std::uint64_t count() const { return given_.count; }
  std::string_view operator[](std::uint64_t i) const {
    const std::uint64_t begin = i == 0 ? 0 : given_.ends[i - 1];
    return {given_.bytes + begin, given_.ends[i] - begin};
  }

 private:
  explicit Texts(const crwl_texts& given) : given_(given) {}
  crwl_texts given_;
};

/// Texts one after another, with their ends.
struct TextColumn {
  std::string bytes;
  std::vector<std::uint64_t> ends;

  void add(std::string_view text) {
    bytes += text;
    ends.push_back(bytes.size());
  }
  [[nodiscard]] crwl_texts view() const { return {bytes.data(), ends.data(), ends.size()}; }
};

/// Copies text to an array of characters, cut where it is longer, with NUL after it.
template <std::size_t kBytes>
void copy_text(std::string_view text, char (&out)[kBytes]) {
  text = text.substr(0, kBytes - 1);
  std::fill(std::copy(text.begin(), text.end(), out), out + kBytes, '\0');
}

/// Asks for each of `count` entries and writes the answers, up to the first error.
template <class Ask>
Result<void> answer_each(std::uint64_t count, std::uint8_t* verdicts, const Ask& ask) {
  CRAWLSTORE_TRY(need_array(count, verdicts));
  std::fill_n(verdicts, count, static_cast<std::uint8_t>(CRWL_NOT_ASKED));
  for (std::uint64_t i = 0; i < count; ++i) {
    CRAWLSTORE_TRY(const bool is_so, ask(i));
    verdicts[i] = is_so ? CRWL_YES : CRWL_NO;
  }
  return {};
}

}  // namespace crawlstore::c
