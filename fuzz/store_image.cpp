// SPDX-License-Identifier: Apache-2.0
#include "store_image.h"

#include <algorithm>
#include <cstring>
#include <string>

#include <crawlstore/drum_core.h>
#include <crawlstore/pages.h>

#include "container/create.h"
#include "container/superblocks.h"
#include "container/writer.h"
#include "format/endian.h"
#include "format/layout.h"
#include "format/root_extent.h"
#include "require.h"

namespace crawlstore::fuzz {
namespace {

/// Keys 1, 1 + step, ... as check_update requests with values and auxiliaries.
void submit(DrumCore& drum, std::uint64_t count, std::uint64_t step, ConsumerId consumer) {
  std::vector<std::byte> bytes(24, std::byte{'x'});
  for (std::uint64_t i = 0; i < count; ++i) {
    RawRequest request;
    request.operation = DrumOperation::kCheckUpdate;
    request.consumer = consumer;
    request.key = (1 + i * step) * 0x9e3779b97f4a7c15U;
    request.value = std::span(bytes).first(i % 9);
    request.aux = std::span(bytes).first(i % 24);
    must(drum.submit(request));
  }
}

void add_page(PageDb& pages, std::uint64_t number, std::uint64_t link_count) {
  const auto url = [](std::uint64_t i) {
    return "http://h" + std::to_string(i % 3) + ".test/" + std::to_string(i);
  };
  CrawledPage page(url(number), 1'000'000);
  page.set_content_hash(number);
  for (std::uint64_t i = 0; i < link_count; ++i) page.add_link(url((number * 7 + i * 5) % 90));
  must(pages.add(page));
}

/// Three supersteps, with pages that are crawled again, and edits that wait.
std::vector<std::byte> make_pages() {
  const auto file = make_memory_file({}, std::uint64_t{1} << 22);
  must(container::write_empty_store(*open_memory_storage(file, OpenMode::kWrite), {}, 1));
  auto store = must(Store::open(open_memory_storage(file, OpenMode::kWrite)));
  PagesOptions options;
  options.bucket_count = 2;
  auto pages = must(PageDb::open(store, "fuzz", options));
  for (std::uint64_t step = 0; step < 3; ++step) {
    for (std::uint64_t i = 0; i < 20; ++i) add_page(pages, step * 12 + i, (i + step) % 7);
    must(pages.merge());
  }
  for (std::uint64_t i = 0; i < 5; ++i) add_page(pages, i, 3);
  must(pages.close());
  const auto segments = must(store.snapshot()).segments();
  require(std::any_of(segments.begin(), segments.end(), [](const SegmentInfo& segment) {
    return segment.kind == SegmentKind::kFreshKeys;
  }));
  must(store.close());
  return contents(*file);
}

std::vector<std::byte> make_store() {
  const auto file = make_memory_file({}, std::uint64_t{1} << 22);
  must(container::write_empty_store(*open_memory_storage(file, OpenMode::kWrite), {}, 1));
  auto store = must(Store::open(open_memory_storage(file, OpenMode::kWrite)));
  DrumOptions options;
  options.bucket_count = 2;
  options.array_elements = 64;
  options.partition_keys_max = 400;
  options.parallel = false;
  options.auto_merge = false;
  const auto drum = must(DrumCore::open(store, "fuzz", -1, options));
  const auto consumer = must(drum->consumer("later"));
  submit(*drum, 300, 1, {});
  must(drum->merge());
  submit(*drum, 200, 2, consumer);
  must(drum->merge());
  submit(*drum, 100, 3, consumer);
  must(store.commit());
  must(store.close());
  return contents(*file);
}

void store_checksum(std::vector<std::byte>& bytes, std::uint64_t at, std::uint64_t checksum) {
  std::memcpy(bytes.data() + at, &checksum, sizeof checksum);
}

}  // namespace

StoreImage::StoreImage(Content content)
    : bytes_(content == Content::kDrum ? make_store() : make_pages()) {
  const auto storage = open_memory_storage(make_memory_file(bytes_), OpenMode::kRead);
  identity_ = must(container::read_identity(*storage));
  superblock_ = *must(container::read_superblocks(*storage, identity_.uuid)).winner();
  const auto directory = must(
      container::load_directory(*storage, identity_.uuid, superblock_, {}, container::all_kinds()));
  for (const auto& table : directory->tables) {
    add_runs(*table);
    add_piece(table->ref.extent(), format::ChecksumDomain::kTable, table->ref.born,
              table->ref.checksum, directory->root_extent);
  }
  for (const auto& table : directory->held_tables) {
    add_piece(table->ref.extent(), format::ChecksumDomain::kHeldTable, table->ref.born,
              table->ref.checksum, directory->root_extent);
  }
  require(runs_.size() >= 6);
  auto again = bytes_;
  seal(again);
  require(again == bytes_);
}

std::uint64_t StoreImage::find(std::uint64_t checksum, Extent within) const {
  for (std::uint64_t at = within.offset_bytes; at + 8 <= within.end_bytes(); ++at) {
    if (std::memcmp(bytes_.data() + at, &checksum, 8) == 0) return at;
  }
  return within.end_bytes();
}

void StoreImage::add_runs(const container::Table& table) {
  for (const auto& segment : table.segments) {
    for (std::size_t i = 0; i < segment.runs.size(); ++i) {
      const auto& run = segment.runs[i];
      // The table names the root of a tiled segment, which comes last; a node names any other run.
      Extent parent = table.ref.extent();
      std::uint64_t place = find(run.checksum, parent);
      for (std::size_t above = i + 1; place == parent.end_bytes(); ++above) {
        require(above < segment.runs.size());
        parent = segment.runs[above].extent();
        place = find(run.checksum, parent);
      }
      runs_.push_back({{identity_.uuid, segment.id, run.run_id}, run, place});
    }
  }
}

void StoreImage::add_piece(Extent extent, format::ChecksumDomain domain, Generation born,
                           std::uint64_t checksum, Extent parent) {
  const std::uint64_t place = find(checksum, parent);
  require(place != parent.end_bytes());
  pieces_.push_back(
      {extent, format::extent_seed(identity_.uuid, domain, born, extent.offset_bytes), place});
}

void StoreImage::seal(std::vector<std::byte>& bytes) const {
  for (const Run& run : runs_) {
    format::ChecksumTreeBuilder tree(run.name);
    const auto padded = format::round_up(run.ref.payload_bytes, 8);
    for (std::uint64_t begin = 0; begin < padded; begin += format::kChunkBytes) {
      tree.add_chunk(std::span(bytes).subspan(run.ref.offset_bytes + begin,
                                              std::min(format::kChunkBytes, padded - begin)));
    }
    // The fuzzer may have changed the end; the length is that of the directory.
    auto end = format::load_struct<format::RunEnd>(bytes.data() + run.ref.extent().end_bytes() -
                                                   sizeof(format::RunEnd));
    end.payload_bytes = run.ref.payload_bytes;
    const auto tail = tree.finish(end);
    std::memcpy(bytes.data() + run.ref.offset_bytes + padded, tail.bytes.data(), tail.bytes.size());
    store_checksum(bytes, run.checksum_at, tail.checksum);
  }
  for (const Piece& piece : pieces_) {
    const auto content =
        std::span(bytes).subspan(piece.extent.offset_bytes, piece.extent.length_bytes);
    store_checksum(bytes, piece.checksum_at, format::checksum(content, piece.seed));
  }
  std::byte* const root = bytes.data() + superblock_.root_offset_bytes;
  format::Superblock sealed = superblock_;
  const auto extent = format::seal_root({root, superblock_.root_payload_bytes}, identity_, sealed);
  std::memcpy(root, extent.data(), extent.size());
  for (std::uint32_t slot = 0; slot < 2; ++slot) {
    for (std::uint32_t copy = 0; copy < 2; ++copy) {
      std::byte* place = bytes.data() + format::kSuperblockOffsets[slot][copy];
      format::Superblock superblock;
      std::memcpy(&superblock, place, sizeof superblock);
      if (slot == superblock_.slot_index) superblock.root_checksum = sealed.root_checksum;
      superblock = format::seal_superblock(superblock, identity_.uuid, slot, copy);
      std::memcpy(place, &superblock, sizeof superblock);
    }
  }
  format::Identity identity;
  std::memcpy(&identity, bytes.data(), sizeof identity);
  identity = format::seal_identity(identity);
  std::memcpy(bytes.data(), &identity, sizeof identity);
}

std::size_t patch_offset(std::span<const std::uint8_t> data) {
  if (data.size() < 3) return 0;
  return data[0] + (std::size_t{data[1]} << 8) + (std::size_t{data[2]} << 16);
}

std::span<const std::uint8_t> patch(std::span<const std::uint8_t> data,
                                    std::vector<std::byte>& bytes) {
  if (data.size() < 5) return {};
  const std::size_t offset = patch_offset(data) % bytes.size();
  const std::size_t wanted = data[3] == 0 ? 256 : data[3];
  data = data.subspan(4);
  const std::size_t length = std::min({wanted, data.size(), bytes.size() - offset});
  std::memcpy(bytes.data() + offset, data.data(), length);
  return data.subspan(std::min(wanted, data.size()));
}

std::vector<std::byte> damaged(const StoreImage& image, std::span<const std::uint8_t> data) {
  constexpr std::size_t kPatchesMax = 16;
  auto bytes = image.bytes();
  auto rest = data.subspan(1);
  const std::size_t cut = patch_offset(rest);
  for (std::size_t i = 0; i < kPatchesMax && !rest.empty(); ++i) rest = patch(rest, bytes);
  if ((data[0] & 1U) != 0) image.seal(bytes);
  if ((data[0] & 2U) != 0) bytes.resize(cut % bytes.size());
  return bytes;
}

}  // namespace crawlstore::fuzz
