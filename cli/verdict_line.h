// SPDX-License-Identifier: Apache-2.0
#pragma once

/// One line of output of `seen`: the verdict and the URL.

#include <cstdint>
#include <string>
#include <string_view>

#include <crawlstore/drum_core.h>

#include "model/any_byte.h"
#include "model/format_text.h"
#include "model/json.h"

namespace crawlstore::cli {

enum class Verdict : std::uint8_t { kUnique, kDuplicate, kUpdated };

inline Verdict verdict_of(const RawAnswer& answer) {
  if (answer.operation == DrumOperation::kUpdate) return Verdict::kUpdated;
  return answer.duplicate ? Verdict::kDuplicate : Verdict::kUnique;
}

inline std::string_view name_of(Verdict verdict) {
  if (verdict == Verdict::kUpdated) return "updated";
  return verdict == Verdict::kUnique ? "unique" : "duplicate";
}

/// The URL of an answer.
inline std::string_view url_of(const RawAnswer& answer) {
  return {static_cast<const char*>(static_cast<const void*>(answer.aux.data())), answer.aux.size()};
}

/// Plain: verdict TAB url, escaped if it would look like more than one field or line. JSON:
/// {"verdict":"unique","url":"..."}, or `url_hex` for what is no UTF-8.
inline void append_line(std::string& to, Verdict verdict, std::string_view url, bool as_json) {
  if (as_json) {
    to += R"({"verdict":")";
    to += name_of(verdict);
    to += "\",";
    model::append_json_bytes(to, "url", url);
    to += "}\n";
  } else {
    to += name_of(verdict);
    to += '\t';
    if (model::breaks_lines(url)) {
      to += model::format_printable(url);
    } else {
      to += url;
    }
    to += '\n';
  }
}

}  // namespace crawlstore::cli
