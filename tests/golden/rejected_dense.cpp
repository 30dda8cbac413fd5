// SPDX-License-Identifier: Apache-2.0
//
// The rejected golden files with broken dense link runs.
#include "format/dense_index.h"
#include "golden/crafted_dense.h"
#include "golden/rejected_maker.h"

namespace crawlstore::testing {
namespace {

constexpr const char* kBase = "graph_of_dense_blocks";
constexpr std::uint64_t kPageEnd = std::uint64_t{1} << 40;

void change_run(Maker& make, const std::string& name, const std::function<void(Bytes&)>& change) {
  make.payload(name, kBase, SegmentKind::kOutLinks, change);
}

/// The places of the parts of a run, by its footer.
struct Parts {
  Bytes& bytes;
  format::LinkRunFooter footer{};

  explicit Parts(Bytes& b) : bytes(b) {
    std::memcpy(&footer, &b[b.size() - sizeof footer], sizeof footer);
  }
  void store() { std::memcpy(&bytes[bytes.size() - sizeof footer], &footer, sizeof footer); }
  [[nodiscard]] std::size_t model() const { return footer.index_offset_bytes - 1968; }
  [[nodiscard]] std::size_t group(std::size_t number) const {
    return footer.index_offset_bytes + number * sizeof(format::DenseIndexGroup);
  }
};

void add_footers(Maker& make) {
  const auto footer = [&make](const std::string& name,
                              const std::function<void(format::LinkRunFooter&)>& change) {
    change_run(make, name, [&](Bytes& b) {
      Parts parts(b);
      change(parts.footer);
      parts.store();
    });
  };
  footer("dense_run_without_blocks", [](auto& f) { f.block_count = 0; });
  footer("dense_run_block_count", [](auto& f) { f.block_count = 64; });
  footer("dense_run_block_count_huge", [](auto& f) { f.block_count = ~std::uint64_t{0}; });
  footer("dense_run_index_offset", [](auto& f) { f.index_offset_bytes += 8; });
  change_run(make, "dense_run_shorter_than_a_model", [](Bytes& b) {
    Parts parts(b);
    b.erase(b.begin(), b.begin() + static_cast<std::ptrdiff_t>(parts.model()) + 8);
    parts.footer.index_offset_bytes = 1960;
    parts.store();
  });
  footer("dense_run_without_rows", [](auto& f) { f.row_count = 0; });
  footer("dense_run_more_rows_than_blocks_hold", [](auto& f) {
    f.last_page = 10'000;
    f.row_count = 32 * 66 + 1;
    f.link_count = f.row_count;
  });
  footer("dense_run_more_rows_than_pages", [](auto& f) { f.last_page = 8; });
  footer("dense_run_fewer_links_than_rows", [](auto& f) { f.link_count = 4; });
  footer("dense_run_more_links_than_blocks_hold", [](auto& f) { f.link_count = 8192 * 66 + 1; });
  footer("dense_run_last_page_over_limit", [](auto& f) { f.last_page = kPageEnd; });
  footer("dense_run_last_page", [](auto& f) { f.last_page += 1; });
  footer("dense_run_row_count", [](auto& f) { f.row_count += 1; });
  footer("dense_run_link_count", [](auto& f) { f.link_count += 1; });
  footer("dense_run_target_max", [](auto& f) { f.target_max += 1; });
}

void add_indexes(Maker& make) {
  const auto parts = [&make](const std::string& name, const std::function<void(Parts&)>& change) {
    change_run(make, name, [&](Bytes& b) {
      Parts it(b);
      change(it);
    });
  };
  const auto group = [&parts](const std::string& name, std::size_t number,
                              const std::function<void(format::DenseIndexGroup&)>& change) {
    parts(name, [&](Parts& it) {
      format::DenseIndexGroup stored{};
      std::memcpy(&stored, &it.bytes[it.group(number)], sizeof stored);
      change(stored);
      std::memcpy(&it.bytes[it.group(number)], &stored, sizeof stored);
    });
  };
  group("dense_index_first_page", 0, [](auto& g) { g.first_page = 4; });
  group("dense_index_first_offset", 0, [](auto& g) { g.offset_bytes = 1; });
  group("dense_index_page_of_a_group", 1, [](auto& g) { g.first_page -= 1; });
  group("dense_index_offset_of_a_group", 1, [](auto& g) { g.offset_bytes -= 1; });
  group("dense_index_block_of_nothing", 0, [](auto& g) { g.page_counts[1] = 0; });
  group("dense_index_pages_behind_the_last_block", 1, [](auto& g) { g.page_counts[2] = 1; });
  group("dense_index_bytes_behind_the_last_block", 1, [](auto& g) { g.block_bytes[63] = 1; });
  group("dense_index_pages_over_the_last", 1, [](auto& g) { g.page_counts[1] = 2; });
  parts("dense_blocks_end_before_the_model", [](Parts& it) {
    it.bytes.insert(it.bytes.begin() + static_cast<std::ptrdiff_t>(it.model()), 8, std::byte{0});
    it.footer.index_offset_bytes += 8;
    it.store();
  });
  group("dense_blocks_end_in_the_model", 1, [](auto& g) { g.block_bytes[1] += 16; });
  parts("dense_blocks_padding", [](Parts& it) { it.bytes[it.model() - 1] = std::byte{1}; });
  parts("dense_model_incomplete", [](Parts& it) { it.bytes[it.model()] = std::byte{0x67}; });
  parts("dense_model_over_full", [](Parts& it) { it.bytes[it.model()] = std::byte{0x65}; });
  parts("dense_model_of_one_code",
        [](Parts& it) { it.bytes[it.model() + 48 * kContextWithoutCodes] = std::byte{1}; });
}

void add_runs(Maker& make) {
  const auto run = [&make](const std::string& name, const std::vector<DenseBlock>& blocks,
                           const format::LinkTotals& totals) {
    make.directory(
        name, kBase,
        [&](CraftedFile& f) {
          auto& segment = f.segment(SegmentKind::kOutLinks);
          segment.runs.front().record_count = totals.link_count;
          f.set_payload(segment, dense_run(5, blocks, totals));
        },
        Errc::kSegmentInvalid);
  };
  const DenseBlock row{1, {{0, 1}, {7, 0}, {23, 0}}};
  const DenseBlock goes_on{0, {{0, 1}, {7, 0}, {23, 2}}};
  const DenseBlock none{1, {}};
  run("dense_run_begins_without_bytes", {none, row}, {1, 1, 6, 6});
  run("dense_run_ends_without_bytes", {row, none}, {1, 1, 6, 5});
  run("dense_run_begins_with_a_row_that_goes_on", {goes_on, row}, {1, 1, 5, 5});
  run("dense_row_goes_on_behind_no_row", {row, none, goes_on, row}, {2, 3, 7, 7});
  run("dense_row_goes_on_with_the_same_link", {row, {0, {{0, 1}, {7, 0}, {23, 0}}}}, {1, 2, 5, 5});
  run("dense_row_goes_on_without_links", {row, {0, {{0, 0}, {6, 0}}}}, {1, 1, 5, 5});
}

/// The numbers of a plain row whose links follow each other from its page on.
std::vector<DenseNumber> plain_row(std::size_t type_context, std::size_t first_context,
                                   std::uint64_t count) {
  return {{type_context, 1}, {7, count - 1}, {first_context, 0}, {28, 0},
          {31, 0},           {31, 0},        {40, count - 4}};
}

void add_blocks(Maker& make) {
  const auto block = [&make](const std::string& name, std::uint32_t page_count,
                             const std::vector<DenseNumber>& numbers,
                             const std::vector<DenseNumber>& more = {}) {
    change_run(make, name, [&](Bytes& b) {
      std::vector<DenseNumber> all = numbers;
      all.insert(all.end(), more.begin(), more.end());
      b = dense_run(5, {{page_count, all}}, {1, 25, 4 + page_count, 199});
    });
  };
  const std::vector<DenseNumber> one{{0, 1}, {7, 0}, {23, 0}};  // 5 to 5
  const std::vector<DenseNumber> ten = plain_row(0, 23, 10);    // 5 to 5 ... 14
  std::vector<DenseNumber> rows = one;
  for (std::size_t i = 1; i < 33; ++i) rows.push_back({i == 1 ? 2U : 5U, 49});
  block("dense_block_of_33_rows", 33, rows);
  block("dense_block_of_a_row_of_8193_links", 1, plain_row(0, 23, 8193));
  block("dense_block_of_two_rows_of_2049_links", 2, plain_row(0, 23, 2048),
        {{2, 1}, {9, 0}, {24, 0}});
  block("dense_block_of_equal_rows_of_2050_links", 2, plain_row(0, 23, 1025), {{2, 49}});
  block("dense_block_of_copies_of_2050_links", 2, plain_row(0, 23, 1025),
        {{2, 2}, {13, 0}, {20, 0}});
  block("dense_block_of_extras_of_2049_links", 2, plain_row(0, 23, 1024),
        {{2, 2}, {13, 0}, {20, 1}, {26, 1}});
  block("dense_block_row_without_links", 2, one, {{2, 2}, {10, 1}, {21, 0}});
  block("dense_block_ends_without_links", 2, one, {{2, 0}, {6, 0}});
  block("dense_block_context_without_codes", 2, ten, {{2, 2}, {11, 2}, {18, 0}});
  block("dense_block_type_of_no_row", 1, {{0, 48}});
  block("dense_block_first_row_refers", 1, {{0, 2}});
  block("dense_block_row_refers_too_far", 2, one, {{2, 3}});
  block("dense_block_row_equals_one_too_far", 2, one, {{2, 50}});
  block("dense_block_empty_rows_in_two_parts", 4, one, {{2, 0}, {6, 0}, {1, 0}, {6, 0}, {1, 1}});
  block("dense_block_run_of_copies_too_long", 2, one, {{2, 2}, {10, 3}});
  block("dense_block_run_left_out_too_long", 2, ten, {{2, 2}, {11, 2}, {18, 10}});
  block("dense_block_zeros_too_many", 1,
        {{0, 1}, {7, 4}, {23, 0}, {27, 0}, {31, 0}, {31, 0}, {40, 2}});
  block("dense_block_first_extra_is_copied", 2, one, {{2, 2}, {10, 0}, {20, 1}, {25, 1}});
  block("dense_block_link_below_zero", 1, {{0, 1}, {7, 0}, {23, 11}});
  block("dense_block_link_over_limit", 1, {{0, 1}, {7, 0}, {23, 2 * kPageEnd}});
  block("dense_block_link_over_limit_by_a_gap", 1, {{0, 1}, {7, 1}, {23, 0}, {27, kPageEnd - 6}});
  block("dense_block_link_over_limit_by_zeros", 1,
        {{0, 1}, {7, 4}, {23, 2 * (kPageEnd - 9)}, {27, 0}, {31, 0}, {31, 0}, {40, 1}});
  block("dense_block_link_over_limit_by_copies", 2, {{0, 1}, {7, 0}, {23, 2 * (kPageEnd - 6)}},
        {{2, 2}, {10, 0}, {20, 2}, {25, 2}, {29, kPageEnd - 7}});
  block("dense_block_longer_than_its_bits", 1, one, std::vector<DenseNumber>(2, {31, 0}));
  change_run(make, "dense_block_shorter_than_its_bits", [](Bytes& b) {
    b = dense_run(5, {{1, {{0, 1}, {7, 0}}}}, {1, 25, 5, 199});
  });
  change_run(make, "dense_block_bit_behind_the_last", [](Bytes& b) {
    b = dense_run(5, {{1, {{0, 1}, {7, 0}, {23, 0}}}}, {1, 25, 5, 199});
    b[2] |= std::byte{0x80};
  });
}

}  // namespace

void add_rejected_dense_links(Maker& make) {
  add_footers(make);
  add_indexes(make);
  add_runs(make);
  add_blocks(make);
}

}  // namespace crawlstore::testing
