// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A dispatcher that writes down what it is told, one line a call: "unique update 5 value aux".

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <crawlstore/drum.h>

namespace crawlstore::testing {

template <class T>
std::string text_of(const T& object) {
  if constexpr (std::is_arithmetic_v<T>) {
    return std::to_string(object);
  } else if constexpr (std::is_convertible_v<T, std::string_view>) {
    return std::string(object);
  } else {
    return {};  // NoValue, NoAux
  }
}

struct CallLog {
  std::vector<std::string> calls;
  std::vector<std::uint64_t> sequences;
  /// Called after a call was written down.
  std::function<void(const std::string& call)> then;

  void unique_key_check(const auto& answer) { add("unique check", answer); }
  void duplicate_key_check(const auto& answer) { add("duplicate check", answer); }
  void unique_key_update(const auto& answer) { add("unique update", answer); }
  void duplicate_key_update(const auto& answer) { add("duplicate update", answer); }
  void update(const auto& answer) { add("update", answer); }

 private:
  void add(std::string line, const auto& answer) {
    line += ' ' + text_of(answer.key);
    for (const std::string& part : {text_of(answer.value), text_of(answer.aux)}) {
      if (!part.empty()) line += ' ' + part;
    }
    calls.push_back(line);
    sequences.push_back(answer.sequence);
    if (then) then(calls.back());
  }
};

using Calls = std::vector<std::string>;

}  // namespace crawlstore::testing
