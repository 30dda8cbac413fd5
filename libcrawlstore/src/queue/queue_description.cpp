// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "container/description_parts.h"
#include "format/field.h"
#include "format/queue_table.h"
#include "queue/queue_content.h"

namespace crawlstore::queue {

using container::Description;
using container::RunSource;

namespace {

constexpr std::uint64_t kHeaderBytes = sizeof(format::QueueTableHeader);
constexpr std::uint64_t kCutBytes = sizeof(format::QueueRunCut);
constexpr std::uint64_t kFragmentBytes = sizeof(format::QueueFragment);

std::string item(const char* list, std::uint64_t i) {
  return std::string(list) + "[" + std::to_string(i) + "]";
}

/// A struct at a place of the payload.
void describe_struct(Description& out, const RunSource& source, std::string name, Extent place,
                     format::Fields (*describe)(std::span<const std::byte>)) {
  const std::uint64_t base = source.run().offset_bytes + place.offset_bytes;
  const std::size_t mark = out.mark();
  out.open(std::move(name), "struct", {base, place.length_bytes});
  const auto bytes = source.read(place.offset_bytes, place.length_bytes);
  out.add_fields(describe(bytes.bytes), base);
  out.close();
  container::note_problems(out, mark, base, bytes, std::nullopt);
}

/// The index, when it can be relied on; else what is wrong stands on the footer.
std::optional<format::QueueIndex> index_of(Description& out, const RunSource& source) {
  const std::size_t mark = out.mark();
  const auto footer = container::describe_footer(out, source, format::describe_queue_run_footer,
                                                 format::parse_queue_footer);
  if (!footer) return std::nullopt;
  const std::uint64_t length = footer->fragment_count * kFragmentBytes;
  if (length > container::kWholeBytesMax) return std::nullopt;
  const std::uint64_t payload_bytes = source.run().payload_bytes;
  const auto bytes = source.read(payload_bytes - sizeof(format::QueueRunFooter) - length, length);
  if (bytes.bytes.size() != length) return std::nullopt;
  const auto index = format::parse_queue_index(bytes.bytes, *footer, payload_bytes);
  container::note_problems(out, mark, source.run().offset_bytes, bytes, container::error_of(index));
  if (!index) return std::nullopt;
  return *index;
}

Extent index_place(const RunSource& source, const format::QueueIndex& index) {
  const std::uint64_t length = index.fragments.size() * kFragmentBytes;
  return {source.run().payload_bytes - sizeof(format::QueueRunFooter) - length, length};
}

void describe_index_entry(Description& out, const RunSource& source,
                          const format::QueueIndex& index, std::uint64_t i) {
  const Extent place{index_place(source, index).offset_bytes + i * kFragmentBytes, kFragmentBytes};
  describe_struct(out, source, item("index", i), place, format::describe_queue_fragment);
}

/// A fragment as a whole: its entries are not aligned.
void describe_fragment(Description& out, const RunSource& source, const format::QueueIndex& index,
                       std::uint64_t i) {
  const Extent place{index.offsets[i], index.offsets[i + 1] - index.offsets[i]};
  const std::uint64_t base = source.run().offset_bytes + place.offset_bytes;
  const std::size_t mark = out.mark();
  out.add(item("fragments", i), "bytes", {base, place.length_bytes},
          std::to_string(index.fragments[i].entry_count) + " entries");
  const auto bytes = source.read(place.offset_bytes, place.length_bytes);
  std::optional<Error> broken;
  if (bytes.bytes.size() == place.length_bytes) {
    std::vector<format::QueueEntry> entries(index.fragments[i].entry_count);
    broken = container::error_of(format::decode_queue_fragment(index, i, bytes.bytes, entries));
    if (!broken) {
      broken = container::error_of(format::check_queue_fragment(index, i, entries));
    }
  }
  container::note_problems(out, mark, source.run().offset_bytes, bytes, broken);
}

}  // namespace

void describe_queue(Description& out, const RunSource& source) {
  const auto& run = source.run();
  const std::size_t mark = out.mark();
  describe_struct(out, source, "header", {0, std::min(run.payload_bytes, kHeaderBytes)},
                  format::describe_queue_table);
  const auto bytes = source.read(0, std::min(run.payload_bytes, format::kQueueTableBytesMax));
  const auto table = format::parse_queue_table(bytes.bytes);
  container::note_problems(out, mark, run.offset_bytes, bytes, container::error_of(table));
  if (!table) return;
  const std::uint64_t count = table->runs.size();
  out.open("runs", "list", {run.offset_bytes + kHeaderBytes, count * kCutBytes},
           std::to_string(count));
  for (std::uint64_t i = 0; i < std::min<std::uint64_t>(count, out.entries_max()); ++i) {
    describe_struct(out, source, item("runs", i), {kHeaderBytes + i * kCutBytes, kCutBytes},
                    format::describe_queue_run_cut);
  }
  out.close();
  const Extent changes{
      kHeaderBytes + count * kCutBytes,
      std::min<std::uint64_t>(table->changes.size(), out.entries_max()) * sizeof(std::uint64_t)};
  const auto ids = source.read(changes.offset_bytes, changes.length_bytes);
  const std::uint64_t base = run.offset_bytes + changes.offset_bytes;
  out.open("change_runs", "list", {base, table->changes.size() * sizeof(std::uint64_t)},
           std::to_string(table->changes.size()));
  out.add_fields(format::describe_numbers({.name = "change_runs"}, ids.bytes), base);
  out.close();
}

void describe_queue_run(Description& out, const RunSource& source) {
  const auto index = index_of(out, source);
  if (!index) return;
  const std::uint64_t start = source.run().offset_bytes;
  const std::string count = std::to_string(index->fragments.size());
  const std::uint64_t shown = std::min<std::uint64_t>(index->fragments.size(), out.entries_max());
  const Extent place = index_place(source, *index);
  out.open("fragments", "list", {start, place.offset_bytes}, count);
  for (std::uint64_t i = 0; i < shown; ++i) describe_fragment(out, source, *index, i);
  out.close();
  out.open("index", "list", {start + place.offset_bytes, place.length_bytes}, count);
  for (std::uint64_t i = 0; i < shown; ++i) describe_index_entry(out, source, *index, i);
  out.close();
}

void describe_queue_run_at(Description& out, const RunSource& source, std::uint64_t place) {
  const auto index = index_of(out, source);
  if (!index) return;
  const Extent of_index = index_place(source, *index);
  if (place < index->offsets.back()) {
    const auto behind = std::ranges::upper_bound(index->offsets, place);
    describe_fragment(out, source, *index,
                      static_cast<std::uint64_t>(behind - index->offsets.begin()) - 1);
  } else if (place >= of_index.offset_bytes && place < of_index.end_bytes()) {
    describe_index_entry(out, source, *index, (place - of_index.offset_bytes) / kFragmentBytes);
  }
}

}  // namespace crawlstore::queue
