// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Tells from the first bytes of an input what kind of data it is, so that no verb takes packed or
/// binary data for lines.
/// Threads: pure functions.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace crawlstore::cli {

/// Stands before the text of an input in UTF-8, and is no part of it.
inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

enum class InputKind : std::uint8_t {
  kPlain,  ///< lines, or a stream of events
  kGzip,
  kZstd,
  kBzip2,
  kXz,
  kUtf16,
  kWarc,
  kArc,
  kCrawlFile,
  kXml,
};

/// Bytes of a head that decide in every case.
inline constexpr std::size_t kInputHeadBytes = 4096;

/// Returns the kind of an input that begins with `head`, or nullopt if more bytes decide.
///   is_all  nothing comes after `head`
std::optional<InputKind> find_input_kind(std::string_view head, bool is_all);

/// Returns why an input of this kind, not plain, is not read, and what to do.
const char* refusal_of(InputKind kind);

}  // namespace crawlstore::cli
