// SPDX-License-Identifier: Apache-2.0
//
// The rejected golden files with broken origin runs.
#include "format/origin_index.h"
#include "golden/rejected_maker.h"

namespace crawlstore::testing {
namespace {

/// The blocks of a run of the first pages, with its tail.
Bytes run_of(const Bytes& blocks, const std::vector<format::OriginEntry>& entries,
             format::OriginFooter footer) {
  Bytes payload = blocks;
  encode_origin_tail(entries, footer, blocks.size(), payload);
  return payload;
}

// In the base with two blocks:
constexpr std::size_t kDistances = 16;
constexpr std::size_t kDepths = 18;
constexpr std::size_t kLengths = 20;
constexpr std::size_t kSecond = 28;
constexpr std::size_t kIndex = 49;  // entries of 2 bytes; then 3 bytes of padding

/// Files with a run of two blocks, without frames: of pages 0 and 1, and of page 2.
class RunMaker {
 public:
  explicit RunMaker(Maker& make) : make_(make) {}

  /// The file whose run was changed.
  void operator()(const std::string& name, const std::function<void(Bytes&)>& change) {
    make_.payload(name, "pages_of_two_origin_blocks", SegmentKind::kPageOrigins, change);
  }
  /// The file whose footer was changed.
  void footer(const std::string& name, const std::function<void(format::OriginFooter&)>& change) {
    (*this)(name, [&](Bytes& b) {
      format::OriginFooter fields{};
      std::byte* const place = &b[b.size() - sizeof fields];
      std::memcpy(&fields, place, sizeof fields);
      change(fields);
      std::memcpy(place, &fields, sizeof fields);
    });
  }

 private:
  Maker& make_;
};

void add_footers(RunMaker& run) {
  run("origin_run_shorter_than_footer", [](Bytes& b) { b.resize(56); });
  run("origin_run_length_not_of_8", [](Bytes& b) { b.insert(b.begin(), 4, std::byte{0}); });
  run.footer("origin_run_magic", [](auto& f) { f.magic ^= 1; });
  run.footer("origin_run_codec", [](auto& f) { f.codec = 2; });
  run.footer("origin_run_reserved", [](auto& f) { f.reserved = 1; });
  run.footer("origin_run_without_blocks", [](auto& f) { f.block_count = 0; });
  run.footer("origin_run_block_count_huge", [](auto& f) { f.block_count = ~std::uint64_t{0}; });
  run.footer("origin_run_fewer_pages_than_blocks", [](auto& f) { f.page_count = 1; });
  run.footer("origin_run_more_pages_than_blocks_hold", [](auto& f) { f.page_count = 129; });
  run.footer("origin_run_pages_overflow", [](auto& f) { f.first_page = ~std::uint64_t{2}; });
  run.footer("origin_run_page_count", [](auto& f) { f.page_count += 1; });
  run.footer("origin_run_url_bytes", [](auto& f) { f.url_bytes += 1; });
  run.footer("origin_run_url_bytes_over_limit", [](auto& f) { f.url_bytes = 255 * 120 + 1; });
  run.footer("origin_run_dictionary_over_limit", [](auto& f) {
    f.codec = 1;
    f.dictionary_bytes = 65'537;
  });
  run.footer("origin_run_dictionary_without_frames", [](auto& f) { f.dictionary_bytes = 1; });
  run("origin_run_dictionary_without_tables", [](Bytes& b) {
    Bytes blocks(16);
    put<std::uint32_t>(blocks, 0, 0xEC30A437);
    blocks.insert(blocks.end(), b.begin(), b.begin() + kIndex);
    format::OriginFooter fields{};
    fields.page_count = 3;
    fields.url_bytes = 8;
    fields.codec = 1;
    fields.dictionary_bytes = 16;
    b = run_of(blocks, {{0, 16}, {2, 16 + kSecond}}, fields);
  });
  run.footer("origin_run_entry_pages_over_8_bytes", [](auto& f) { f.entry_page_bytes = 9; });
  run.footer("origin_run_entry_offsets_over_8_bytes", [](auto& f) { f.entry_offset_bytes = 9; });
  run.footer("origin_run_index_outside", [](auto& f) { f.index_offset_bytes = 1000; });
  run.footer("origin_run_index_too_early", [](auto& f) { f.index_offset_bytes = 40; });
  run.footer("origin_run_blocks_too_many", [](auto& f) {
    f.block_count = 4;
    f.page_count = 4;
    f.entry_page_bytes = f.entry_offset_bytes = 0;
    f.index_offset_bytes = 56;
  });
}

void add_indexes(RunMaker& run) {
  run("origin_run_entry_page", [](Bytes& b) { b[kIndex + 2] = std::byte{1}; });
  run("origin_run_entry_offset", [](Bytes& b) { b[kIndex + 3] = std::byte{29}; });
  run("origin_run_first_entry", [](Bytes& b) { b[kIndex + 1] = std::byte{1}; });
  run("origin_run_gap_before_index", [](Bytes& b) {
    b.insert(b.begin() + kIndex, std::byte{0});
    b.erase(b.begin() + kIndex + 5);
    add<std::uint64_t>(b, b.size() - 32, 1);
  });
  run("origin_run_entry_wider_than_it_must", [](Bytes& b) {
    constexpr std::array<std::uint8_t, 6> kWide{0, 0, 0, 2, 0, kSecond};
    std::memcpy(&b[kIndex], kWide.data(), kWide.size());
    b[b.size() - 18] = std::byte{2};
  });
  run("origin_run_block_left_over", [](Bytes& b) {
    std::fill_n(&b[kIndex + 2], 2, std::byte{0});
    put<std::uint64_t>(b, b.size() - 48, 1);
  });
  run.footer("origin_run_block_missing", [](auto& f) { f.block_count = 3; });
  run("origin_run_padding", [](Bytes& b) { b[kIndex + 4] = std::byte{1}; });
}

void add_blocks(RunMaker& run) {
  run("origin_block_without_pages", [](Bytes& b) { put<std::uint16_t>(b, 8, 0); });
  run("origin_block_of_65_pages", [](Bytes& b) { put<std::uint16_t>(b, 8, 65); });
  run("origin_block_distances_over_8_bytes", [](Bytes& b) { b[10] = std::byte{9}; });
  run("origin_block_depths_over_4_bytes", [](Bytes& b) { b[11] = std::byte{5}; });
  run("origin_block_lengths_over_4_bytes", [](Bytes& b) { b[12] = std::byte{5}; });
  run("origin_block_reserved", [](Bytes& b) { b[15] = std::byte{1}; });
  run("origin_block_ends_outside", [](Bytes& b) {
    put<std::uint32_t>(b, kSecond, 100);
    put<std::uint32_t>(b, kSecond + 4, 100);
  });
  run("origin_distances_wider_than_they_must", [](Bytes& b) { b[kDistances + 1] = std::byte{0}; });
  run("origin_depths_wider_than_they_must", [](Bytes& b) { b[kDepths + 1] = std::byte{0}; });
  run("origin_lengths_wider_than_they_must", [](Bytes& b) {
    Bytes blocks(b.begin(), b.begin() + kSecond + 19);  // without the URL
    put<std::uint32_t>(blocks, kSecond, 1);
    put<std::uint32_t>(blocks, kSecond + 4, 1);
    blocks.back() = std::byte{0};
    format::OriginFooter fields{};
    fields.page_count = 3;
    fields.url_bytes = 6;
    b = run_of(blocks, {{0, 0}, {2, kSecond}}, fields);
  });
  run("origin_linked_from_no_page", [](Bytes& b) { b[kSecond + 16] = std::byte{3}; });
  run("origin_redirect_from_nowhere", [](Bytes& b) { b[kDepths] = std::byte{1}; });
  run("origin_lengths_do_not_add_up", [](Bytes& b) { b[kLengths + 1] = std::byte{5}; });
  run("origin_block_raw_shorter_than_lengths", [](Bytes& b) {
    put<std::uint32_t>(b, 0, 1);
    put<std::uint32_t>(b, 4, 1);
  });
  run("origin_block_compressed_without_codec", [](Bytes& b) { put<std::uint32_t>(b, 0, 9); });
}

/// A run of one block of one frame: two pages, whose URLs and lengths are 90 bytes.
struct FrameRun {
  std::uint32_t raw_bytes = 90;
  Bytes frame{};
};

Bytes encode(const FrameRun& run) {
  Bytes block(20);  // distances: 0 and 1, depths: twice that
  put<std::uint32_t>(block, 0, run.raw_bytes);
  put<std::uint32_t>(block, 4, static_cast<std::uint32_t>(run.frame.size()));
  put<std::uint16_t>(block, 8, 2);
  for (const std::size_t place : {10U, 11U, 12U, 17U}) block[place] = std::byte{1};
  block[19] = std::byte{2};
  block.insert(block.end(), run.frame.begin(), run.frame.end());
  format::OriginFooter footer{};
  footer.page_count = 2;
  footer.url_bytes = 88;
  footer.codec = 1;
  return run_of(block, {{0, 0}}, footer);
}

void add_frames(Maker& make) {
  const auto frame = [&make](const std::string& name,
                             const std::function<void(FrameRun&)>& change) {
    make.payload(name, "pages_of_one_origin_frame", SegmentKind::kPageOrigins, [&](Bytes& b) {
      constexpr std::size_t kFrame = 20;
      FrameRun run{.frame = {b.begin() + kFrame, b.begin() + kFrame + 35}};
      change(run);
      b = encode(run);
    });
  };
  // Byte 4 of a frame describes its header, byte 5 is its content size; its block begins at 6.
  frame("origin_frame_over_255_times", [](FrameRun& r) { r.raw_bytes = 255 * 35 + 1; });
  frame("origin_frame_of_a_block_over_262144", [](FrameRun& r) {
    r.frame.resize(2000);
    r.raw_bytes = 262'145;
  });
  frame("origin_frame_longer_than_raw", [](FrameRun& r) { r.frame.resize(91); });
  frame("origin_frame_magic", [](FrameRun& r) { r.frame[0] ^= std::byte{1}; });
  frame("origin_frame_skippable", [](FrameRun& r) { put<std::uint32_t>(r.frame, 0, 0x184D2A50); });
  frame("origin_frame_content_size", [](FrameRun& r) { r.frame[5] = std::byte{91}; });
  frame("origin_frame_without_content_size", [](FrameRun& r) {
    r.frame[4] = std::byte{0};
    r.frame[5] = std::byte{0};  // a window of 1 KiB
  });
  frame("origin_frame_with_checksum", [](FrameRun& r) {
    r.frame[4] |= std::byte{4};
    r.frame.resize(r.frame.size() + 4);
  });
  frame("origin_frame_with_dictionary_id", [](FrameRun& r) {
    r.frame[4] |= std::byte{1};
    r.frame.insert(r.frame.begin() + 5, std::byte{7});
  });
  frame("origin_frame_window_over_8_mib", [](FrameRun& r) {
    constexpr std::array kHeader{std::byte{0x80}, std::byte{14 << 3}, std::byte{90},
                                 std::byte{0},    std::byte{0},       std::byte{0}};
    r.frame.erase(r.frame.begin() + 4, r.frame.begin() + 6);
    r.frame.insert(r.frame.begin() + 4, kHeader.begin(), kHeader.end());
  });
  frame("origin_frame_block_reserved", [](FrameRun& r) { r.frame[6] |= std::byte{6}; });
  frame("origin_frame_cut", [](FrameRun& r) { r.frame.resize(r.frame.size() - 1); });
  frame("origin_frame_too_long", [](FrameRun& r) { r.frame.resize(r.frame.size() + 1); });
  frame("origin_frame_of_fewer_bytes", [](FrameRun& r) {
    r.frame[5] = std::byte{91};
    r.raw_bytes = 91;
  });
}

void add_logs(Maker& make) {
  const auto first_page = [&make](const std::string& name, std::size_t run, std::uint64_t page) {
    make.directory(
        name, "pages",
        [=](CraftedFile& f) {
          auto& log = f.segment(SegmentKind::kPageOrigins);
          Bytes bytes = f.payload(log, run);
          put<std::uint64_t>(bytes, bytes.size() - 64, page);
          f.set_payload(log, bytes, run);
        },
        Errc::kSegmentInvalid);
  };
  first_page("origin_log_begins_behind_page_0", 0, 1);
  first_page("origin_log_with_a_gap", 1, 4);
  make.directory(
      "origin_run_records", "pages",
      [](auto& f) { f.segment(SegmentKind::kPageOrigins).runs.front().record_count += 1; },
      Errc::kSegmentInvalid);
}

}  // namespace

void add_rejected_origins(Maker& make) {
  RunMaker run(make);
  add_footers(run);
  add_indexes(run);
  add_blocks(run);
  add_frames(make);
  add_logs(make);
}

}  // namespace crawlstore::testing
