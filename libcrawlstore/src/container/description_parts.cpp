// SPDX-License-Identifier: Apache-2.0
#include "container/description_parts.h"

namespace crawlstore::container {

void describe_header(Description& out, const RunSource& source, const HeaderForm& form,
                     decltype(Kind::check) check) {
  const auto& run = source.run();
  const std::size_t mark = out.mark();
  out.open(form.name, "struct", {run.offset_bytes, form.length_bytes});
  const bool is_short = run.payload_bytes <= kWholeBytesMax;
  const RunBytes bytes = source.read(0, is_short ? run.payload_bytes : form.length_bytes);
  const auto header =
      std::span(bytes.bytes).first(std::min<std::uint64_t>(bytes.bytes.size(), form.length_bytes));
  out.add_fields(form.describe(header), run.offset_bytes);
  out.close();
  std::optional<Error> broken;
  if (is_short && !bytes.problem) {
    broken = error_of(
        check(payload_in_memory(bytes.bytes), [](std::uint64_t) { return Result<void>{}; }));
  }
  note_problems(out, mark, run.offset_bytes, bytes, broken);
}

Extent BlockMap::block(std::uint64_t i) const {
  const std::uint64_t begin = begin_of(i);
  const std::uint64_t end = i + 1 < count ? begin_of(i + 1) : end_bytes;
  return {begin, end > begin ? end - begin : 0};
}

std::uint64_t BlockMap::find(std::uint64_t place) const {
  std::uint64_t low = 0;
  std::uint64_t high = count;
  while (high - low > 1) {
    const std::uint64_t middle = low + (high - low) / 2;
    (begin_of(middle) <= place ? low : high) = middle;
  }
  return low;
}

void describe_block(
    Description& out, const BlockMap& map, std::uint64_t i,
    format::Fields (*describe)(std::span<const std::byte>),
    const std::function<std::optional<Error>(std::span<const std::byte> block)>& check) {
  const Extent block = map.block(i);
  const std::uint64_t base = map.source.run().offset_bytes + block.offset_bytes;
  const std::size_t mark = out.mark();
  out.open("blocks[" + std::to_string(i) + "]", "struct", {base, block.length_bytes});
  const RunBytes bytes =
      map.source.read(block.offset_bytes, std::min(block.length_bytes, kWholeBytesMax));
  out.add_fields(describe(bytes.bytes), base);
  out.close();
  const bool is_whole = bytes.bytes.size() == block.length_bytes;
  note_problems(out, mark, base, bytes, is_whole ? check(bytes.bytes) : std::nullopt);
}

}  // namespace crawlstore::container
