// SPDX-License-Identifier: Apache-2.0
//
// The rejected golden files with broken links: blocks that are put together number by number, runs
// of such blocks, and runs that do not fit each other.
#include "format/link_block.h"
#include "format/link_index.h"
#include "golden/rejected_maker.h"

namespace crawlstore::testing {
namespace {

using Numbers = std::vector<std::uint64_t>;

/// A graph whose out-links are rows of the pages 5, 6 and 7 in a block of 32 bytes, and of 9 and 10
/// in another: 5 to 3, 6, 199; 6 to none; 7 to 7; 9 to 11; 10 to 8. The index stands at 64.
constexpr const char* kTwoBlocks = "graph_of_two_link_blocks";

constexpr std::uint64_t kPageEnd = std::uint64_t{1} << 40;

std::size_t width_of(std::uint64_t number) {
  if (number >> 16 != 0) return 4;
  return number >> 8 != 0 ? 2 : number != 0 ? 1 : 0;
}
std::size_t selector_of(std::size_t width) {
  return width == 4 ? 3 : width;
}

/// The statements of a block, whether they are allowed or not.
struct Block {
  std::uint64_t first_page = 0;
  std::uint16_t codec = 1;
  std::uint16_t flags = 0;
  Numbers gaps{};     ///< for flag 1
  Numbers degrees{};  ///< one a row
  Numbers numbers{};  ///< one a link
};

/// Selectors, then data, of the sequences of a block.
struct Parts {
  Bytes selectors{};
  Bytes data{};

  void add(const Numbers& numbers, std::uint16_t codec) {
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const std::size_t width = codec == 1 ? width_of(numbers[i]) : 8;
      if (codec == 1 && i % 4 == 0) selectors.emplace_back();
      if (codec == 1) selectors.back() |= std::byte(selector_of(width) << 2 * (i % 4));
      for (std::size_t k = 0; k < width; ++k) data.push_back(std::byte(numbers[i] >> 8 * k));
    }
  }
};

Bytes encode(const Block& block) {
  Parts parts;
  parts.add(block.gaps, block.codec);
  parts.add(block.degrees, block.codec);
  parts.add(block.numbers, block.codec);
  Bytes bytes(24);
  put<std::uint64_t>(bytes, 0, block.first_page);
  put<std::uint32_t>(bytes, 8, static_cast<std::uint32_t>(block.degrees.size()));
  put<std::uint32_t>(bytes, 12, static_cast<std::uint32_t>(block.numbers.size()));
  put<std::uint32_t>(bytes, 16, static_cast<std::uint32_t>(parts.data.size()));
  put<std::uint16_t>(bytes, 20, block.codec);
  put<std::uint16_t>(bytes, 22, block.flags);
  bytes.insert(bytes.end(), parts.selectors.begin(), parts.selectors.end());
  bytes.insert(bytes.end(), parts.data.begin(), parts.data.end());
  bytes.resize(format::round_up(bytes.size(), 8));
  return bytes;
}

/// A run of blocks that begin with these pages.
Bytes run_of(const std::vector<Bytes>& blocks, const Numbers& first_pages,
             const format::LinkTotals& totals) {
  Bytes payload;
  std::vector<format::LinkIndexEntry> index;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    index.push_back({first_pages[i], payload.size()});
    payload.insert(payload.end(), blocks[i].begin(), blocks[i].end());
  }
  format::encode_link_tail(index, totals, payload.size(), payload);
  return payload;
}

void add_blocks(Maker& make) {
  const auto bytes = [&make](const std::string& name, const Block& block,
                             const std::function<void(Bytes&)>& change) {
    make.payload(name, "graph_of_one_link", SegmentKind::kOutLinks, [&](Bytes& b) {
      Bytes encoded = encode(block);
      change(encoded);
      b = run_of({encoded}, {block.first_page},
                 {block.degrees.size(), block.numbers.size(), kPageEnd - 1,
                  block.numbers.empty() ? 0 : kPageEnd - 1});
    });
  };
  const auto block = [&bytes](const std::string& name, const Block& what) {
    bytes(name, what, [](Bytes&) {});
  };
  const auto first = [&make](const std::string& name, const std::function<void(Bytes&)>& change) {
    make.payload(name, kTwoBlocks, SegmentKind::kOutLinks, change);
  };
  const Block gaps{5, 1, 1, {2, 0}, {3, 0, 1}, {3, 2, 192, 0}};
  const Block plain{5, 2, 0, {}, {1}, {kPageEnd}};
  // Selectors of degrees at 24, of links at 25; data of degrees at 26.
  bytes("short_number_with_too_many_bytes", {5, 1, 0, {}, {1}, {0}}, [](Bytes& b) {
    b[25] = std::byte{1};
    b[16] = std::byte{2};
    b[27] = std::byte{0};
  });
  bytes("short_number_of_2_bytes_in_4", {5, 1, 0, {}, {1}, {600}}, [](Bytes& b) {
    b[25] = std::byte{3};
    b[16] = std::byte{5};
  });
  first("short_number_selector_behind_the_last", [](Bytes& b) { b[24] |= std::byte{0x40}; });
  first("short_numbers_longer_than_data", [](Bytes& b) { b[25] = std::byte{0xFF}; });
  first("short_numbers_shorter_than_data", [](Bytes& b) { add<std::uint32_t>(b, 16, 1); });
  first("link_block_without_rows", [](Bytes& b) { put<std::uint32_t>(b, 8, 0); });
  first("link_block_row_count_over_limit", [](Bytes& b) { put<std::uint32_t>(b, 8, 16'777'217); });
  first("link_block_link_count_over_limit",
        [](Bytes& b) { put<std::uint32_t>(b, 12, 268'435'457); });
  first("link_block_first_page_over_limit", [](Bytes& b) { put<std::uint64_t>(b, 0, kPageEnd); });
  first("link_block_codec", [](Bytes& b) { put<std::uint16_t>(b, 20, 3); });
  first("link_block_flag_unknown", [](Bytes& b) { put<std::uint16_t>(b, 22, 2); });
  first("link_block_too_long", [](Bytes& b) {
    b.insert(b.begin() + 64, 8, std::byte{0});
    add<std::uint64_t>(b, b.size() - 48, 8);  // where the index begins
  });
  bytes("link_block_padding", {5, 1, 0, {}, {1}, {3}}, [](Bytes& b) { b.back() = std::byte{1}; });
  first("link_block_data_bytes", [](Bytes& b) { add<std::uint32_t>(b, 16, 100); });
  bytes("link_block_data_bytes_of_plain_numbers", plain,
        [](Bytes& b) { add<std::uint32_t>(b, 16, 8); });
  block("link_block_plain_numbers_that_are_short", {5, 2, 0, {}, {1}, {4}});
  block("link_block_gaps_that_are_zero", {5, 1, 1, {0}, {0, 0}, {}});
  block("link_block_page_over_limit", {kPageEnd - 3, 1, 1, {1, 0}, {0, 0, 0}, {}});
  first("link_block_degrees", [](Bytes& b) { b[26] = std::byte{2}; });
  bytes("link_block_degrees_over_the_links", gaps, [](Bytes& b) { b[28] = std::byte{4}; });
  block("link_below_zero", {5, 1, 0, {}, {1}, {11}});
  block("link_over_limit", {kPageEnd - 3, 1, 0, {}, {1}, {6}});
  block("link_over_limit_behind_others", {kPageEnd - 3, 1, 0, {}, {2}, {0, 2}});
  block("link_of_64_bits", {5, 2, 0, {}, {1}, {~std::uint64_t{0} - 1}});
}

void add_runs(Maker& make) {
  const auto run = [&make](const std::string& name, const std::function<void(Bytes&)>& change) {
    make.payload(name, kTwoBlocks, SegmentKind::kOutLinks, change);
  };
  const auto footer = [&run](const std::string& name,
                             const std::function<void(format::LinkRunFooter&)>& change) {
    run(name, [&](Bytes& b) {
      const std::size_t place = b.size() - sizeof(format::LinkRunFooter);
      format::LinkRunFooter fields{};
      std::memcpy(&fields, &b[place], sizeof fields);
      change(fields);
      std::memcpy(&b[place], &fields, sizeof fields);
    });
  };
  const std::size_t index = 64;
  run("link_run_shorter_than_footer", [](Bytes& b) { b.resize(64); });
  run("link_run_length_not_of_8", [](Bytes& b) { b.resize(b.size() + 4); });
  footer("link_run_magic", [](auto& f) { f.magic ^= 1; });
  footer("link_run_codec", [](auto& f) { f.codec = 3; });
  footer("link_run_reserved", [](auto& f) { f.reserved[2] = 1; });
  footer("link_run_without_blocks", [](auto& f) { f.block_count = 0; });
  footer("link_run_block_count", [](auto& f) { f.block_count = 3; });
  footer("link_run_block_count_huge", [](auto& f) { f.block_count = ~std::uint64_t{0}; });
  footer("link_run_index_offset", [](auto& f) { f.index_offset_bytes += 8; });
  footer("link_run_blocks_too_many", [](auto& f) {
    f.block_count = 3;
    f.index_offset_bytes = 48;
  });
  footer("link_run_first_page_above_last", [](auto& f) { f.first_page = 11; });
  footer("link_run_last_page_over_limit", [](auto& f) { f.last_page = kPageEnd; });
  footer("link_run_target_over_limit", [](auto& f) { f.target_max = kPageEnd; });
  footer("link_run_target_without_links", [](auto& f) { f.link_count = 0; });
  footer("link_run_fewer_rows_than_blocks", [](auto& f) { f.row_count = 1; });
  footer("link_run_more_rows_than_pages", [](auto& f) { f.row_count = 7; });
  footer("link_run_row_count_over_bytes", [](auto& f) {
    f.last_page = 10'000;
    f.row_count = 257;
  });
  footer("link_run_link_count_over_bytes", [](auto& f) { f.link_count = 257; });
  run("link_run_index_descends", [=](Bytes& b) { put<std::uint64_t>(b, index + 16, 0); });
  run("link_run_index_first_page", [=](Bytes& b) { put<std::uint64_t>(b, index, 6); });
  run("link_run_index_page_over_last", [=](Bytes& b) { put<std::uint64_t>(b, index + 16, 11); });
  run("link_run_first_offset", [=](Bytes& b) { put<std::uint64_t>(b, index + 8, 8); });
  run("link_run_offsets_descend", [=](Bytes& b) { put<std::uint64_t>(b, index + 24, 0); });
  run("link_run_offset_not_of_8", [=](Bytes& b) { put<std::uint64_t>(b, index + 24, 36); });
  run("link_run_offset_outside", [=](Bytes& b) { put<std::uint64_t>(b, index + 24, 64); });
  run("link_run_block_ends_elsewhere", [=](Bytes& b) { put<std::uint64_t>(b, index + 24, 24); });
  run("link_run_block_shorter_than_header",
      [=](Bytes& b) { put<std::uint64_t>(b, index + 24, 16); });
  run("link_run_page_of_a_block", [](Bytes& b) { put<std::uint64_t>(b, 32, 10); });
  run("link_run_blocks_overlap", [](Bytes& b) {
    const Bytes second(b.begin() + 32, b.begin() + 64);
    b = run_of({encode({5, 1, 1, {2, 0}, {3, 0, 1}, {3, 2, 192, 0}}), second}, {5, 9},
               {5, 6, 10, 199});
  });
  footer("link_run_last_page", [](auto& f) { f.last_page += 1; });
  footer("link_run_row_count", [](auto& f) { f.row_count -= 1; });
  footer("link_run_link_count", [](auto& f) { f.link_count += 1; });
  footer("link_run_target_max", [](auto& f) { f.target_max += 1; });
  for (const auto& [name, kind] :
       {std::pair{"link_run_records_of_out_links", SegmentKind::kOutLinks},
        std::pair{"link_run_records_of_in_links", SegmentKind::kInLinks}}) {
    make.directory(
        name, "graph", [kind = kind](auto& f) { f.segment(kind).runs.front().record_count += 1; },
        Errc::kSegmentInvalid);
  }
}

/// One row, of a page with one link, or with none.
struct Row {
  std::uint64_t page = 0;
  Numbers links{};
};

Bytes run_of(const Row& row) {
  const Numbers pages{row.page};
  const std::vector<std::uint32_t> degrees{static_cast<std::uint32_t>(row.links.size())};
  Bytes block;
  format::encode_link_block({pages, degrees, row.links}, block);
  return run_of({block}, pages,
                {1, row.links.size(), row.page, row.links.empty() ? 0 : row.links.back()});
}

/// The links of a graph: runs, in the order of their ids. Runs of the same kinds as those of the
/// base, an out-link and an in-link, take their places.
using Runs = std::vector<std::pair<SegmentKind, Row>>;

void set_links(CraftedFile& f, std::uint64_t link_count, const Runs& runs) {
  constexpr std::array kKinds{SegmentKind::kOutLinks, SegmentKind::kInLinks,
                              SegmentKind::kGoneLinks};
  const std::array base{f.segment(kKinds[0]).runs.front(), f.segment(kKinds[1]).runs.front()};
  for (const auto kind : kKinds) f.segment(kind).runs.clear();
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto& [kind, row] = runs[i];
    auto& log = f.segment(kind);
    if (i < base.size() && kind == kKinds[i]) {
      log.runs.push_back(base[i]);
      log.runs.back().record_count = row.links.size();
      f.set_payload(log, run_of(row));
    } else {
      log.runs.push_back(f.add_run(log.id, run_of(row), row.links.size()));
    }
  }
  auto& entry = f.segment(SegmentKind::kPages);
  auto table = *format::parse_pages_table(f.payload(entry));
  table.link_count = link_count;
  std::array<SegmentId*, 2> named{&table.out_links, &table.in_links};
  for (std::size_t i = 0; i < named.size(); ++i) {
    if (!f.segment(kKinds[i]).runs.empty()) continue;
    f.remove_segment(kKinds[i]);
    *named[i] = {};
  }
  f.set_payload(f.segment(SegmentKind::kPages), format::encode_pages_table(table));
}

void add_links(Maker& make) {
  constexpr auto kOut = SegmentKind::kOutLinks;
  constexpr auto kIn = SegmentKind::kInLinks;
  constexpr auto kGone = SegmentKind::kGoneLinks;
  const auto links = [&make](const std::string& name, std::uint64_t link_count, const Runs& runs) {
    make.directory(
        name, "graph_of_one_link", [&](CraftedFile& f) { set_links(f, link_count, runs); },
        Errc::kSegmentInvalid);
  };
  links("links_of_no_page", 1, {{kOut, {200, {1}}}, {kIn, {1, {200}}}});
  links("links_to_no_page", 1, {{kOut, {1, {200}}}, {kIn, {200, {1}}}});
  links("links_row_of_no_page", 1, {{kOut, {1, {2}}}, {kIn, {2, {1}}}, {kOut, {200, {}}}});
  links("links_gone_of_no_page", 1, {{kOut, {1, {2}}}, {kIn, {2, {1}}}, {kGone, {200, {1}}}});
  links("links_count", 2, {{kOut, {1, {2}}}, {kIn, {2, {1}}}});
  links("links_count_of_replaced_rows", 2, {{kOut, {1, {2}}}, {kIn, {2, {1}}}, {kOut, {1, {2}}}});
  links("links_in_from_another_page", 1, {{kOut, {1, {2}}}, {kIn, {2, {3}}}});
  links("links_in_not_turned_round", 1, {{kOut, {1, {2}}}, {kIn, {1, {2}}}});
  links("links_in_one_more", 1, {{kOut, {1, {2}}}, {kIn, {2, {1, 3}}}});
  links("links_in_without_out", 0, {{kIn, {2, {1}}}});
  links("links_out_without_in", 0, {{kOut, {1, {2}}}});
  links("links_gone_that_is_there", 1, {{kOut, {1, {2}}}, {kIn, {2, {1}}}, {kGone, {2, {1}}}});
  links("links_gone_before_it_came", 0,
        {{kOut, {1, {2}}}, {kGone, {2, {1}}}, {kIn, {2, {1}}}, {kOut, {1, {}}}});
}

}  // namespace

void add_rejected_links(Maker& make) {
  add_blocks(make);
  add_runs(make);
  add_links(make);
}

}  // namespace crawlstore::testing
