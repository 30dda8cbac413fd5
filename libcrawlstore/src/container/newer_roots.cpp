// SPDX-License-Identifier: Apache-2.0
//
// Invariants: what free space holds is hostile like any other byte, so the search keeps no more
// than kRootsMax candidates and reads only those again.
#include "container/newer_roots.h"

#include <algorithm>
#include <array>

#include "format/endian.h"
#include "format/layout.h"
#include "format/root_extent.h"

namespace crawlstore::container {
namespace {

constexpr std::size_t kRootsMax = 64;
constexpr std::uint64_t kStepBytes = 1024 * 1024;  // between two calls of advance()

bool is_newer(const format::Superblock& a, const format::Superblock& b) {
  return a.generation > b.generation;
}

struct Search {
  Storage& storage;
  const Uuid& uuid;
  std::uint64_t above;
  const std::function<Result<void>(std::uint64_t bytes)>& advance;
  std::vector<format::Superblock> found{};  // newest first

  /// Reads the end of a unit only: the rest of free space is nobody's.
  Result<void> look_at(std::uint64_t end_bytes) {
    std::array<std::byte, sizeof(format::RootEnd)> last{};
    CRAWLSTORE_TRY(storage.read(end_bytes - last.size(), last));
    if (format::load<std::uint64_t>(last.data()) != format::kRootEndMagic) return {};
    const auto superblock = format::superblock_of_root_end(last, end_bytes, uuid);
    if (!superblock || superblock->generation <= above) return {};
    found.insert(std::upper_bound(found.begin(), found.end(), *superblock, is_newer), *superblock);
    if (found.size() > kRootsMax) found.pop_back();
    return {};
  }

  Result<void> search(std::uint64_t begin, std::uint64_t end) {
    end &= ~(format::kUnitBytes - 1);
    while ((begin = storage.next_data(begin) & ~(format::kUnitBytes - 1)) < end) {
      const std::uint64_t stop = std::min(end, begin + kStepBytes);
      CRAWLSTORE_TRY(advance(stop - begin));
      for (; begin < stop; begin += format::kUnitBytes) {
        CRAWLSTORE_TRY(look_at(begin + format::kUnitBytes));
      }
    }
    return {};
  }

  [[nodiscard]] bool is_whole(const format::Superblock& superblock) const {
    const Extent extent = format::root_extent(superblock);
    std::vector<std::byte> bytes(extent.length_bytes);
    const auto got = storage.read(extent.offset_bytes, bytes);
    return got && *got == bytes.size() && format::is_root_whole(bytes, uuid, superblock);
  }
};

}  // namespace

Result<std::vector<NewerRoot>> find_newer_roots(
    Storage& storage, const Uuid& uuid, const Directory* newest, std::uint64_t above,
    const std::function<Result<void>(std::uint64_t bytes)>& advance) {
  CRAWLSTORE_TRY(const auto size, storage.size());
  Search search{storage, uuid, above, advance};
  std::uint64_t begin = format::kDataStart;
  auto live = newest == nullptr ? std::vector<Extent>() : newest->live_extents();
  std::sort(live.begin(), live.end());
  for (const Extent& extent : live) {
    CRAWLSTORE_TRY(search.search(begin, std::min(extent.offset_bytes, size)));
    begin = extent.end_bytes();
  }
  CRAWLSTORE_TRY(search.search(begin, size));
  std::vector<NewerRoot> roots;
  for (const auto& superblock : search.found) {
    roots.push_back({superblock, search.is_whole(superblock)});
  }
  return roots;
}

}  // namespace crawlstore::container
