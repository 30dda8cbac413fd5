// SPDX-License-Identifier: Apache-2.0
//
// Stores with counts that lie under right checksums: whatever is done with such a file ends, in an
// error or not, and takes no more memory than a file of its length may ask for.
#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <limits>
#include <new>
#include <vector>

#include <gtest/gtest.h>

#include <crawlstore/pages.h>
#include <crawlstore/snapshot.h>
#include <crawlstore/store.h>
#include <crawlstore/tools/diff.h>

#include "container/tile_tree.h"
#include "format/drum_table.h"
#include "format/endian.h"
#include "format/pages_table.h"
#include "fuzz/store_image.h"
#include "fuzz/store_walk.h"
#include "golden/crafted_file.h"
#include "support/allocation_failure.h"
#include "support/seeded.h"

namespace crawlstore::testing {
namespace {

using Bytes = std::vector<std::byte>;

/// More than what is done with the whole files takes, and less than a count that is believed.
constexpr std::int64_t kBytesMax = std::int64_t{64} << 20;
/// One number, or two of 32 bits that stay below the limits of requests and rows, or one to which
/// little can be added.
constexpr std::array kLies{(std::uint64_t{1} << 36) - 1, std::uint64_t{0x00FFFFFF'00FFFFFF},
                           ~std::uint64_t{0xFFF}};

/// A whole store, and what is written to it in the end.
struct Base {
  Bytes bytes;
  bool (*write)(std::unique_ptr<Storage> file);
};

template <class Work>
bool with_pages(std::unique_ptr<Storage> file, bool has_urls, const Work& work) {
  auto store = Store::open(std::move(file));
  if (!store) return false;
  PagesOptions options;
  options.has_urls = has_urls;
  auto pages = PageDb::open(*store, "fuzz", options);
  return pages && work(*pages) && pages->close() && store->close();
}

bool forget_pages(std::unique_ptr<Storage> file) {
  return with_pages(std::move(file), true, [](PageDb& pages) {
    return pages.forget([](std::string_view) { return true; }) && pages.compact();
  });
}

bool link_pages(std::unique_ptr<Storage> file) {
  return with_pages(std::move(file), false, [](PageDb& pages) {
    const std::array links{EventLink{{}, 3, 0}, EventLink{{}, 10'000, 0}};
    CrawlEvent event;
    event.index = 9'000;
    event.links = links;
    return pages.add(event) && pages.merge() && pages.compact();
  });
}

Bytes written(const Bytes& bytes, bool (*write)(std::unique_ptr<Storage> file)) {
  const auto file = make_memory_file(bytes, std::uint64_t{1} << 22);
  EXPECT_TRUE(write(open_memory_storage(file, OpenMode::kWrite)));
  return contents(*file);
}

const Base& drum() {
  static const Base kBase{fuzz::StoreImage(fuzz::Content::kDrum).bytes(), fuzz::write};
  return kBase;
}
/// Edits wait.
const Base& pages() {
  static const Base kBase{fuzz::StoreImage(fuzz::Content::kPages).bytes(), fuzz::write_pages};
  return kBase;
}
/// No edits wait, so that forgetting comes before any superstep.
const Base& merged_pages() {
  static const Base kBase{written(pages().bytes,
                                  [](std::unique_ptr<Storage> file) {
                                    return with_pages(std::move(file), true, [](PageDb& pages) {
                                      return pages.merge().has_value();
                                    });
                                  }),
                          forget_pages};
  return kBase;
}
/// Pages without URLs, in two tiles.
const Base& graph() {
  static const Base kBase{written(drum().bytes, link_pages), link_pages};
  return kBase;
}

/// Compares the pages with those of another file, by their URLs.
void compare(const Bytes& bytes, const Bytes& others) {
  const auto open = [](const Bytes& of) {
    return Snapshot::open(open_memory_storage(make_memory_file(of), OpenMode::kRead));
  };
  const auto lying = open(bytes);
  const auto whole = open(others);
  if (!lying || !whole) return;
  (void)diff(*lying, *whole);
  (void)diff(*whole, *lying);
}

/// Whether all that can be done with the file keeps within the limit.
bool keeps_limit(const Base& base, const Bytes& bytes) {
  an_allocation_failed = false;
  live_bytes_max = live_bytes + kBytesMax;
  try {
    fuzz::check_file(bytes, base.write);
    compare(bytes, base.bytes);
  } catch (const std::bad_alloc&) {
    an_allocation_failed = true;
  }
  live_bytes_max = std::numeric_limits<std::int64_t>::max();
  return !an_allocation_failed;
}

template <class Change>
bool keeps_limit_after(const Base& base, const Change& change) {
  CraftedFile file(base.bytes);
  change(file);
  file.assemble();
  return keeps_limit(base, file.bytes);
}

/// The lies in the 8-byte words of one run that may be of a header or a footer.
void lie_in_run(const Base& base, std::size_t table, std::size_t entry, std::size_t run) {
  const CraftedFile whole(base.bytes);
  const Bytes payload = whole.payload(whole.tables[table][entry], run);
  for (std::size_t place = 0; place + 8 <= payload.size(); place += 8) {
    if (place >= 48 && place + 72 < payload.size()) continue;
    for (std::size_t i = 0; i < kLies.size(); ++i) {
      // Words are many: one lie each, by seed.
      if (!is_long() && i != (place / 8 + test_seed()) % kLies.size()) continue;
      const std::uint64_t lie = kLies[i];
      EXPECT_TRUE(keeps_limit_after(base,
                                    [&](CraftedFile& file) {
                                      Bytes changed = payload;
                                      format::store<std::uint64_t>(changed.data() + place, lie);
                                      file.set_payload(file.tables[table][entry], changed, run);
                                    }))
          << "run " << run << ", byte " << place << ", " << lie;
    }
  }
}

void lie_in_runs(const Base& base) {
  const CraftedFile whole(base.bytes);
  for (std::size_t table = 0; table < whole.tables.size(); ++table) {
    for (std::size_t i = 0; i < whole.tables[table].size(); ++i) {
      const format::SegmentEntry& entry = whole.tables[table][i];
      SCOPED_TRACE(name_of(entry.kind));
      for (std::size_t run = 0; run < entry.runs.size(); ++run) lie_in_run(base, table, i, run);
    }
  }
}

/// The lie in a count of the table of pages, and in the tiles of records if they are to agree.
void lie_in_pages(const Base& base, std::uint64_t format::PagesTable::*field, std::uint64_t lie,
                  bool in_tiles) {
  EXPECT_TRUE(keeps_limit_after(base, [&](CraftedFile& file) {
    auto& entry = file.segment(SegmentKind::kPages);
    auto table = *format::parse_pages_table(file.payload(entry));
    table.*field = lie;
    file.set_payload(entry, format::encode_pages_table(table));
    if (!in_tiles) return;
    auto& records = file.segment(SegmentKind::kPageRecords);
    const format::RunRef tile = container::tile_ref(records, 0);
    const auto run = std::find(records.runs.begin(), records.runs.end(), tile);
    const auto payload =
        file.payload(records, static_cast<std::size_t>(run - records.runs.begin()));
    const std::uint64_t others = records.runs.back().record_count - tile.record_count;
    file.set_tile(records, 0, payload, lie - others);
  })) << lie;
}

TEST(Resealed, TakesNoMemoryOnTheWordOfATableOfPages) {
  using Table = format::PagesTable;
  for (const Base* base : {&pages(), &merged_pages(), &graph()}) {
    for (const auto field :
         {&Table::page_count, &Table::crawled_count, &Table::link_count, &Table::event_count,
          &Table::superstep_count, &Table::collision_count, &Table::unparsed_count}) {
      for (const std::uint64_t lie : kLies) lie_in_pages(*base, field, lie, false);
    }
  }
}

TEST(Resealed, TakesNoMemoryOnTheWordOfTiles) {
  for (const Base* base : {&pages(), &merged_pages(), &graph()}) {
    for (const std::uint64_t lie : {kLies[0], std::uint64_t{1} << 40}) {
      lie_in_pages(*base, &format::PagesTable::page_count, lie, true);
    }
  }
}

TEST(Resealed, TakesNoMemoryOnTheWordOfATableOfADrum) {
  for (const Base* base : {&drum(), &pages()}) {
    for (const std::uint64_t lie : kLies) {
      const auto change = [&](const std::function<void(format::DrumTable&)>& lie_in) {
        EXPECT_TRUE(keeps_limit_after(*base, [&](CraftedFile& file) {
          auto& entry = file.segment(SegmentKind::kDrum);
          auto table = *format::parse_drum_table(file.payload(entry));
          lie_in(table);
          file.set_payload(entry, format::encode_drum_table(table));
        })) << lie;
      };
      change([&](auto& table) { table.buckets.front().key_count = lie; });
      change([&](auto& table) { table.buckets.front().pending_count = lie; });
      change([&](auto& table) { table.consumers.back().result_count = lie; });
      change([&](auto& table) { table.next_sequence = lie; });
      change([&](auto& table) { table.merge_bytes = table.merge_requests = lie; });
      change([&](auto& table) { table.partition_keys_max = lie; });
      change([&](auto& table) { table.value_bytes = 1 << 24; });
    }
  }
}

TEST(Resealed, TakesNoMemoryOnTheWordOfReferences) {
  for (const Base* base : {&drum(), &graph(), &pages()}) {
    const CraftedFile whole(base->bytes);
    for (std::size_t table = 0; table < whole.tables.size(); ++table) {
      for (std::size_t i = 0; i < whole.tables[table].size(); ++i) {
        for (const std::uint64_t lie : kLies) {
          EXPECT_TRUE(keeps_limit_after(*base,
                                        [&](CraftedFile& file) {
                                          for (auto& run : file.tables[table][i].runs)
                                            run.record_count = lie;
                                        }))
              << "segment " << whole.tables[table][i].id.value;
        }
      }
    }
  }
}

TEST(Resealed, TakesNoMemoryOnTheWordOfRunsOfADrum) {
  lie_in_runs(drum());
}

TEST(Resealed, TakesNoMemoryOnTheWordOfRunsOfPages) {
  lie_in_runs(pages());
}

/// A generation whose runs end behind the file; as the newest one, and as the one before it.
TEST(Resealed, TakesNoMemoryForRunsBehindTheEndOfTheFile) {
  for (const Base* base : {&drum(), &graph(), &pages()}) {
    const CraftedFile whole(base->bytes);
    for (std::size_t i = 0; i < whole.tables.front().size(); ++i) {
      CraftedFile file(base->bytes);
      for (auto& run : file.tables.front()[i].runs) run.payload_bytes = std::uint64_t{1} << 47;
      file.assemble();
      file.superblock.high_water_bytes = std::uint64_t{1} << 50;
      file.write_superblocks();
      EXPECT_TRUE(keeps_limit(*base, file.bytes)) << i;
      format::Superblock next = file.superblock;
      const auto slot = static_cast<std::uint32_t>(++next.generation % 2);
      next.high_water_bytes = file.bytes.size();
      next = format::seal_superblock(next, file.identity.uuid, slot, 0);
      std::memcpy(file.bytes.data() + format::kSuperblockOffsets[slot][0], &next, sizeof next);
      EXPECT_TRUE(keeps_limit(*base, file.bytes)) << i;
    }
  }
}

}  // namespace
}  // namespace crawlstore::testing
