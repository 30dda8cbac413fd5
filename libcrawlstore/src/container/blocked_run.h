// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The parts that all blocked runs share: blocks from front to back, an index that names their
/// places in ascending order, a footer that counts them. Families supply the bytes' meaning.
///
/// Invariants:
///   - counts and offsets of a footer are used only after its parse function has compared them with
///     the length of the payload; offsets of an index are bounded whenever they are used;
///   - a check sees every block and entry once, in order, in memory that does not grow with the
///   run;
///   - errors of a family are relative to the block or the payload; the functions here add places.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "container/payload_window.h"
#include "container/run_io.h"

namespace crawlstore::container {

/// Takes the last bytes of a payload, fewer than a footer's only if the payload is shorter.
template <class Footer>
using FooterParser = Result<Footer> (*)(std::span<const std::byte> footer_bytes,
                                        std::uint64_t payload_bytes);

/// Reads the footer of a payload that is checked.
template <class Footer>
Result<Footer> read_footer(const PayloadSource& payload, FooterParser<Footer> parse) {
  const auto length = std::min<std::uint64_t>(payload.length_bytes, sizeof(Footer));
  CRAWLSTORE_TRY(const auto bytes, payload.view({payload.length_bytes - length, length}));
  return parse({bytes, length}, payload.length_bytes);
}

/// Adds the place of a run in the file to an error about its payload.
template <class Value>
Result<Value> in_file(Result<Value> found, const RunReader& reader) {
  if (found || found.error().segment) return found;
  Error error = found.error();
  if (error.code != Errc::kSegmentInvalid && error.code != Errc::kUnknownFeature) return found;
  error.segment = reader.segment();
  error.offset = reader.run().offset_bytes + (error.offset == Error::kNoOffset ? 0 : error.offset);
  return tl::unexpected<Error>(error);
}

/// Reads the footer of a run in the file.
///   errors  kSegmentInvalid, and those of RunReader::bytes()
template <class Footer>
Result<Footer> read_footer(const RunReader& reader, FooterParser<Footer> parse) {
  const std::uint64_t payload_bytes = reader.run().payload_bytes;
  const auto length = std::min<std::uint64_t>(payload_bytes, sizeof(Footer));
  CRAWLSTORE_TRY(const auto bytes, reader.bytes(payload_bytes - length, length));
  return in_file(parse(bytes, payload_bytes), reader);
}

/// Parses the block that begins `place`, and adds its place to the error. Loads only a window if
/// that is enough: most blocks are short, as are most bytes that are none.
template <class Parse>
auto parse_block(PayloadWindow& blocks, Extent place, const Parse& parse)
    -> decltype(parse(std::span<const std::byte>())) {
  decltype(parse(std::span<const std::byte>())) parsed;
  for (const std::uint64_t tried :
       {std::min(place.length_bytes, PayloadWindow::kWindowBytes), place.length_bytes}) {
    CRAWLSTORE_TRY(const auto bytes, blocks.at(place.offset_bytes, tried));
    parsed = parse(std::span(bytes, tried));
    if (parsed || tried == place.length_bytes) break;
  }
  if (!parsed) parsed.error().offset += place.offset_bytes;
  return parsed;
}

/// Checks the blocks of a payload against its index, then what they hold together.
///   walk.entry(i)         reads entry i of the index, that at `block_count` being the blocks' end
///   walk.check_block(..)  checks the block of an entry, which the next entry says to end at an
///                         offset, and returns where it does end
///   walk.check_end()      follows the last block
template <class Walk>
Result<void> check_blocked(Walk& walk, std::uint64_t block_count, std::uint64_t payload_bytes,
                           const ContentProgress& progress) {
  constexpr std::uint64_t kProgressBytes = std::uint64_t{1} << 20;
  std::uint64_t reported = 0;
  CRAWLSTORE_TRY(auto entry, walk.entry(0));
  for (std::uint64_t i = 1; i <= block_count; ++i) {
    CRAWLSTORE_TRY(const auto next, walk.entry(i));
    CRAWLSTORE_TRY(const std::uint64_t end, walk.check_block(entry, next.offset_bytes));
    if (end - reported >= kProgressBytes) {
      CRAWLSTORE_TRY(progress(end - reported));
      reported = end;
    }
    entry = next;
  }
  CRAWLSTORE_TRY(walk.check_end());
  return progress(payload_bytes - reported);
}

}  // namespace crawlstore::container
