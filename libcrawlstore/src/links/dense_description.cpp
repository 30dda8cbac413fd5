// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "container/description_parts.h"
#include "format/dense_block.h"
#include "format/dense_contexts.h"
#include "format/dense_index.h"
#include "format/endian.h"
#include "format/field.h"
#include "links/link_content.h"

namespace crawlstore::links {

using container::Description;
using container::RunBytes;
using container::RunSource;

namespace {

constexpr std::uint64_t kIndexGroupBytes = sizeof(format::DenseIndexGroup);
/// Numbers of a row that are shown of a block that is described alone; most rows have fewer.
constexpr std::size_t kNumbersShown = 64;

bool is_type(const format::DenseNumber& number) {
  return format::is_type_context(number.context);
}

/// The count of numbers in the first row, those of pages without links before it among them.
std::size_t row_length(std::span<const format::DenseNumber> numbers) {
  const std::size_t least = numbers.front().value == format::kEmptyRows ? 3 : 1;
  if (numbers.size() < least) return numbers.size();
  const auto behind = numbers.subspan(least);
  return least + static_cast<std::size_t>(std::ranges::find_if(behind, is_type) - behind.begin());
}

/// Returns the form of a row as its type tells it. The row has at least one number.
std::string form_of(std::span<const format::DenseNumber> row) {
  const auto type = std::find_if(row.rbegin(), row.rend(), is_type)->value;
  if (type == format::kEmptyRows) return "cut short";
  if (type == format::kPlainRow) return "plain";
  if (type < format::kEqualRow) {
    return "refers " + std::to_string(type - format::kReferringRow) + " back";
  }
  return "equals the one " + std::to_string(type - format::kEqualRow) + " back";
}

/// Returns the name of a number in the spec's table.
const char* name_of(std::size_t context) {
  constexpr std::array kNames{std::pair{format::kEmptiesContext, "type"},
                              std::pair{format::degree_context(0), "empty_pages_less_1"},
                              std::pair{format::first_run_context(0), "links_less_1"},
                              std::pair{format::copy_context(0), "first_run"},
                              std::pair{format::skip_context(0), "copied"},
                              std::pair{format::extra_count_context(0), "left_out"},
                              std::pair{format::first_extra_context(0, 0), "extra_count"},
                              std::pair{format::second_extra_context(0, 0), "first_extra"},
                              std::pair{format::gap_context(0), "first_gap"},
                              std::pair{format::kZerosContext, "gap"}};
  for (const auto& [end, name] : kNames) {
    if (context < end) return name;
  }
  return "zeros";
}

/// The bytes of the file in which these numbers lie.
Extent place_of(const format::DenseNumber& first, const format::DenseNumber& last,
                std::uint64_t base) {
  const std::uint64_t begin = first.begin_bits / 8;
  return {base + begin, (last.end_bits + 7) / 8 - begin};
}

class DenseParts {
 public:
  DenseParts(Description& out, const RunSource& source, const format::LinkRunFooter& footer,
             std::size_t numbers_shown)
      : out_(out),
        source_(source),
        footer_(footer),
        start_(source.run().offset_bytes),
        numbers_shown_(numbers_shown) {
    const auto bytes = source.read(format::dense_model_offset(footer), format::kDenseModelBytes);
    if (bytes.bytes.size() < format::kDenseModelBytes) return;
    const auto model = format::parse_dense_model(
        std::span<const std::byte>(bytes.bytes).first<format::kDenseModelBytes>());
    if (model) decoder_.emplace(*model);
  }

  /// The entry of the index for a group's blocks, if it can be relied on.
  [[nodiscard]] std::optional<format::DenseGroup> group(std::uint64_t number) const {
    const auto bytes = source_.read(group_place(number), kIndexGroupBytes);
    if (bytes.bytes.size() < kIndexGroupBytes) return std::nullopt;
    const auto group = format::DenseGroup::parse(
        std::span<const std::byte>(bytes.bytes).first<kIndexGroupBytes>(), footer_, number);
    return group ? std::optional(*group) : std::nullopt;
  }

  void describe_group(std::uint64_t number) {
    const std::uint64_t base = start_ + group_place(number);
    const std::size_t mark = out_.mark();
    out_.open("index[" + std::to_string(number) + "]", "struct", {base, kIndexGroupBytes});
    const RunBytes bytes = source_.read(group_place(number), kIndexGroupBytes);
    out_.add_fields(format::describe_dense_index_group(bytes.bytes), base);
    if (bytes.bytes.size() == kIndexGroupBytes) {
      const auto stored = format::load_struct<format::DenseIndexGroup>(bytes.bytes.data());
      add_list("page_counts", "u8", base + offsetof(format::DenseIndexGroup, page_counts),
               stored.page_counts);
      add_list("block_bytes", "u16", base + offsetof(format::DenseIndexGroup, block_bytes),
               stored.block_bytes);
      const auto parsed = format::DenseGroup::parse(
          std::span<const std::byte>(bytes.bytes).first<kIndexGroupBytes>(), footer_, number);
      note(mark, bytes, start_, container::error_of(parsed));
    } else {
      note(mark, bytes, base, std::nullopt);
    }
    out_.close();
  }

  void describe_model() {
    const std::uint64_t place = format::dense_model_offset(footer_);
    const std::size_t mark = out_.mark();
    out_.open("model", "list", {start_ + place, format::kDenseModelBytes},
              std::to_string(format::kDenseContexts));
    const RunBytes bytes = source_.read(place, format::kDenseModelBytes);
    constexpr std::uint64_t kContextBytes = format::kDenseTokens / 2;
    for (std::uint64_t i = 0; (i + 1) * kContextBytes <= bytes.bytes.size() &&
                              i < std::min(format::kDenseContexts, out_.entries_max());
         ++i) {
      std::string lengths;
      for (std::uint64_t k = 0; k < kContextBytes; ++k) {
        const auto pair = std::to_integer<unsigned>(bytes.bytes[i * kContextBytes + k]);
        lengths += "0123456789abcdef"[pair & 15];
        lengths += "0123456789abcdef"[pair >> 4];
      }
      lengths.erase(lengths.find_last_not_of('0') + 1);
      out_.add("lengths[" + std::to_string(i) + "]", "string",
               {start_ + place + i * kContextBytes, kContextBytes}, lengths);
    }
    std::optional<Error> broken;
    if (bytes.bytes.size() == format::kDenseModelBytes) {
      broken = container::error_of(format::parse_dense_model(
          std::span<const std::byte>(bytes.bytes).first<format::kDenseModelBytes>()));
    }
    note(mark, bytes, start_ + place, broken);
    out_.close();
  }

  void describe_block(std::uint64_t number, const format::DenseBlockPlace& place) {
    const std::uint64_t base = start_ + place.offset_bytes;
    const std::size_t mark = out_.mark();
    const bool goes_on = place.page_count == 0;
    const std::uint64_t first_page = goes_on ? place.first_page - 1 : place.first_page;
    const std::uint64_t page_count = goes_on ? 1 : place.page_count;
    std::string pages =
        (goes_on ? "more links of page " : "pages from ") + std::to_string(first_page);
    if (!goes_on) pages += ", " + std::to_string(page_count);
    if (place.length_bytes == 0) pages += ", without links";
    out_.open("block[" + std::to_string(number) + "]", "struct", {base, place.length_bytes}, pages);
    if (place.length_bytes != 0) {
      const RunBytes bytes =
          source_.read(place.offset_bytes, place.length_bytes + format::kDenseSlackBytes);
      note(mark, bytes, base, describe_rows(bytes, first_page, page_count, base));
    }
    out_.close();
  }

 private:
  [[nodiscard]] std::uint64_t group_place(std::uint64_t number) const {
    return footer_.index_offset_bytes + number * kIndexGroupBytes;
  }

  void note(std::size_t mark, const RunBytes& bytes, std::uint64_t base,
            const std::optional<Error>& broken) {
    container::note_problems(out_, mark, base, bytes, broken);
  }

  template <class Numbers>
  void add_list(const char* name, const char* type, std::uint64_t offset, const Numbers& numbers) {
    std::string text;
    for (const auto number : numbers) text += (text.empty() ? "" : " ") + std::to_string(number);
    out_.add(name, type, {offset, sizeof numbers}, text);
  }

  std::optional<Error> describe_rows(const RunBytes& bytes, std::uint64_t first_page,
                                     std::uint64_t page_count, std::uint64_t base) {
    if (!decoder_) return std::nullopt;  // the model says why
    format::LinkRows rows;
    std::vector<format::DenseNumber> numbers;
    const auto decoded =
        format::trace_dense_block(bytes.bytes, *decoder_, {first_page, page_count}, rows, numbers);
    const bool is_whole = decoded.has_value();
    const std::size_t row_count = is_whole ? rows.row_count() : out_.entries_max();
    std::span<const format::DenseNumber> rest = numbers;
    for (std::size_t i = 0; i < std::min(row_count, out_.entries_max()) && !rest.empty(); ++i) {
      const auto row = rest.first(row_length(rest));
      rest = rest.subspan(row.size());
      const std::string name = std::to_string(is_whole ? rows.page(i) : i);
      const std::string links =
          is_whole ? std::to_string(rows.links(i).size()) + " links, " : std::string();
      out_.open("row[" + name + "]", "struct", place_of(row.front(), row.back(), base),
                links + form_of(row));
      for (const format::DenseNumber& number : row.first(std::min(row.size(), numbers_shown_))) {
        out_.add(name_of(number.context), "bits", place_of(number, number, base),
                 std::to_string(number.value) + ", bits " + std::to_string(number.begin_bits) +
                     " to " + std::to_string(number.end_bits));
      }
      out_.close();
    }
    return container::error_of(decoded);
  }

  Description& out_;
  const RunSource& source_;
  const format::LinkRunFooter& footer_;
  const std::uint64_t start_;
  const std::size_t numbers_shown_;  // of a row
  std::optional<format::DenseDecoder> decoder_;
};

}  // namespace

void describe_dense_run(Description& out, const RunSource& source,
                        const format::LinkRunFooter& footer) {
  DenseParts parts(out, source, footer, 0);
  const std::uint64_t start = source.run().offset_bytes;
  const std::uint64_t group_count = format::dense_group_count(footer);
  const std::uint64_t shown = std::min<std::uint64_t>(footer.block_count, out.entries_max());
  out.open("blocks", "list", {start, format::dense_model_offset(footer)},
           std::to_string(footer.block_count));
  std::optional<format::DenseGroup> group;
  for (std::uint64_t i = 0; i < shown; ++i) {
    if (i % format::kDenseGroupBlocks == 0) group = parts.group(i / format::kDenseGroupBlocks);
    if (group) parts.describe_block(i, group->block(i % format::kDenseGroupBlocks));
  }
  out.close();
  parts.describe_model();
  out.open("index", "list", {start + footer.index_offset_bytes, group_count * kIndexGroupBytes},
           std::to_string(group_count));
  for (std::uint64_t i = 0; i < std::min<std::uint64_t>(group_count, out.entries_max()); ++i) {
    parts.describe_group(i);
  }
  out.close();
}

void describe_dense_run_at(Description& out, const RunSource& source,
                           const format::LinkRunFooter& footer, std::uint64_t place) {
  DenseParts parts(out, source, footer, kNumbersShown);
  const std::uint64_t group_count = format::dense_group_count(footer);
  if (place >= footer.index_offset_bytes) {
    const std::uint64_t number = (place - footer.index_offset_bytes) / kIndexGroupBytes;
    if (number < group_count) parts.describe_group(number);
    return;
  }
  if (place >= format::dense_model_offset(footer)) return parts.describe_model();
  std::uint64_t low = 0;
  for (std::uint64_t high = group_count; high - low > 1;) {
    const std::uint64_t middle = low + (high - low) / 2;
    const auto entry =
        source.read(footer.index_offset_bytes + middle * kIndexGroupBytes + 8, 8);  // offset_bytes
    const bool is_before =
        entry.bytes.size() == 8 && format::load<std::uint64_t>(entry.bytes.data()) <= place;
    (is_before ? low : high) = middle;
  }
  const auto group = parts.group(low);
  if (!group) return parts.describe_group(low);
  for (std::size_t i = 0; i < group->block_count(); ++i) {
    const format::DenseBlockPlace block = group->block(i);
    if (place - block.offset_bytes < block.length_bytes) {
      return parts.describe_block(low * format::kDenseGroupBlocks + i, block);
    }
  }
}

}  // namespace crawlstore::links
