// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "container/description_parts.h"
#include "format/field.h"
#include "format/score_array.h"
#include "scores/score_content.h"

namespace crawlstore::scores {

using container::Description;
using container::RunBytes;
using container::RunSource;

namespace {

/// One part of a payload: numbers of one kind.
struct Part {
  const char* name;
  bool is_float;
  std::uint64_t offset_bytes;
  std::uint64_t count;
  std::uint64_t width;
  [[nodiscard]] std::uint64_t end_bytes() const { return offset_bytes + count * width; }
};

std::array<Part, 3> parts_of(const format::ScoreArray& array) {
  const format::ScorePlaces places = format::score_places(array);
  return {
      {{"values", true, 0, array.entry_count, format::score_bytes(array.codec)},
       {"first_pages", false, places.first_pages.offset_bytes, places.first_pages.length_bytes / 8,
        8},
       {"residuals", true, places.residuals.offset_bytes, places.residuals.length_bytes / 8, 8}}};
}

std::optional<format::ScoreArray> describe_footer(Description& out, const RunSource& source) {
  const auto& run = source.run();
  const auto length = std::min<std::uint64_t>(run.payload_bytes, sizeof(format::ScoreFooter));
  const std::uint64_t start = run.payload_bytes - length;
  const std::size_t mark = out.mark();
  out.open("footer", "struct", {run.offset_bytes + start, length});
  const RunBytes bytes = source.read(start, length);
  out.add_fields(format::describe_score_footer(bytes.bytes), run.offset_bytes + start);
  out.close();
  const auto array = format::parse_score_footer(bytes.bytes, run.payload_bytes);
  container::note_problems(out, mark, run.offset_bytes, bytes, container::error_of(array));
  if (!array) return std::nullopt;
  return *array;
}

/// Numbers first to end - 1 of a part.
void describe_numbers(Description& out, const RunSource& source, const Part& part,
                      std::uint64_t first, std::uint64_t end) {
  const std::uint64_t place = part.offset_bytes + first * part.width;
  const std::size_t mark = out.mark();
  const RunBytes bytes = source.read(place, (end - first) * part.width);
  const auto fields = format::describe_numbers(
      {part.name, first, static_cast<std::size_t>(part.width), part.is_float}, bytes.bytes);
  out.add_fields(fields, source.run().offset_bytes + place);
  if (!fields.empty()) {
    container::note_problems(out, mark, source.run().offset_bytes, bytes, std::nullopt);
  }
}

}  // namespace

void describe_score_array(Description& out, const RunSource& source) {
  const auto array = describe_footer(out, source);
  if (!array) return;
  for (const Part& part : parts_of(*array)) {
    if (part.count == 0) continue;
    out.open(part.name, "list",
             {source.run().offset_bytes + part.offset_bytes, part.count * part.width},
             std::to_string(part.count));
    describe_numbers(out, source, part, 0, std::min<std::uint64_t>(part.count, out.entries_max()));
    out.close();
  }
}

void describe_score_array_at(Description& out, const RunSource& source, std::uint64_t place) {
  const auto array = describe_footer(out, source);
  if (!array) return;
  for (const Part& part : parts_of(*array)) {
    if (place < part.offset_bytes || place >= part.end_bytes()) continue;
    const std::uint64_t number = (place - part.offset_bytes) / part.width;
    describe_numbers(out, source, part, number, number + 1);
  }
}

}  // namespace crawlstore::scores
