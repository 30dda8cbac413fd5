// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The parts that descriptions of all kinds of runs share.

#include <algorithm>
#include <functional>
#include <optional>

#include "container/description.h"

namespace crawlstore::container {

template <class T>
std::optional<Error> error_of(const Result<T>& result) {
  if (result) return std::nullopt;
  return result.error();
}

/// The footer of a run, when it can be relied on to find the rest.
///   parse  as format::parse_link_footer
template <class Footer>
std::optional<Footer> describe_footer(Description& out, const RunSource& source,
                                      format::Fields (*describe)(std::span<const std::byte>),
                                      Result<Footer> (*parse)(std::span<const std::byte>,
                                                              std::uint64_t payload_bytes)) {
  const auto& run = source.run();
  const auto length = std::min<std::uint64_t>(run.payload_bytes, sizeof(Footer));
  const std::uint64_t start = run.payload_bytes - length;
  const std::size_t mark = out.mark();
  out.open("footer", "struct", {run.offset_bytes + start, length});
  const RunBytes bytes = source.read(start, length);
  out.add_fields(describe(bytes.bytes), run.offset_bytes + start);
  out.close();
  const auto footer = parse(bytes.bytes, run.payload_bytes);
  note_problems(out, mark, run.offset_bytes, bytes, error_of(footer));
  if (!footer) return std::nullopt;
  return *footer;
}

/// The header that a run begins with.
struct HeaderForm {
  const char* name;
  std::uint64_t length_bytes;
  format::Fields (*describe)(std::span<const std::byte>);
};

/// The header, and what `check` finds wrong with a run that is not too long to be read whole.
void describe_header(Description& out, const RunSource& source, const HeaderForm& form,
                     decltype(Kind::check) check);

/// The places of the blocks of a run according to its index, which may not ascend.
struct BlockMap {
  const RunSource& source;
  std::uint64_t count;
  std::uint64_t end_bytes;  ///< of the last block
  std::function<std::uint64_t(std::uint64_t i)> begin_of;

  /// The extent of a block in the payload.
  [[nodiscard]] Extent block(std::uint64_t i) const;
  /// The last block that begins at or before `place`.
  [[nodiscard]] std::uint64_t find(std::uint64_t place) const;
};

/// A block, and what `check` finds broken in one that is not too long to be read whole.
void describe_block(
    Description& out, const BlockMap& map, std::uint64_t i,
    format::Fields (*describe)(std::span<const std::byte>),
    const std::function<std::optional<Error>(std::span<const std::byte> block)>& check);

}  // namespace crawlstore::container
