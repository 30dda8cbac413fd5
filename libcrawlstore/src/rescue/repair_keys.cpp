// SPDX-License-Identifier: Apache-2.0
#include "rescue/repair_keys.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <crawlstore/page_key.h>

#include "drum/key_table.h"
#include "pages/fresh_keys.h"
#include "rescue/readable_origins.h"

namespace crawlstore::rescue {
namespace {

constexpr std::uint64_t kKeyEditBytes = 128;  // of a key in memory: its value, its edit
constexpr std::uint32_t kKeyBuckets = 16;

}  // namespace

bool KeysRepair::is_needed() const {
  if (database_.is_any_forgotten) return true;
  if (!database_.table.keys) return false;
  const auto* drum = database_.writer.directory()->find(database_.table.keys);
  return drum == nullptr || database_.patient.has_damage(*drum) ||
         database_.is_damaged(database_.table.fresh_keys);
}

Result<void> KeysRepair::drop() {
  if (const auto* drum = database_.writer.directory()->find(database_.table.keys))
    database_.patient.remove(*drum);
  if (database_.table.fresh_keys) database_.writer.remove(database_.table.fresh_keys);
  database_.table.fresh_keys = {};
  no_keys_ = drum::make_state(database_.table.keys, database_.state.name, pages::kPageKeyShape,
                              kKeyBuckets);
  no_keys_.key_scheme = KeyScheme::kPage;
  return drum::put_state(database_.writer, *database_.writer.runs, no_keys_, {});
}

Result<void> KeysRepair::make() {
  if (!database_.table.origins) return {};
  drum::KeyTableOptions options;
  options.value_bytes = format::kPageValueBytes;
  const auto* log = database_.writer.directory()->find(database_.table.origins);
  const Snapshot written = database_.patient.snapshot();
  const ReadableOrigins origins(Inside::of(written), *log);
  const std::uint64_t edits_max =
      std::max<std::uint64_t>(1024, database_.patient.memory_bytes / kKeyEditBytes);
  CRAWLSTORE_TRY(auto keys, drum::KeyTable::open(database_.writer, database_.state.name, options));
  std::vector<Key> keys_of_pages;
  std::vector<drum::KeyEdit> edits;
  for (std::uint64_t page = 0; page < database_.table.page_count; ++page) {
    CRAWLSTORE_TRY(database_.look());
    CRAWLSTORE_TRY(const auto origin, origins.find(page));
    if (!origin.url.empty()) {
      const PageKey key = page_key(origin.url, database_.writer.identity().key_seed);
      keys_of_pages.push_back({key.key, pages::make_key_value(page, key.witness)});
    }
    if (keys_of_pages.size() < edits_max && page + 1 < database_.table.page_count) continue;
    std::ranges::sort(keys_of_pages, {}, &Key::key);
    edits.clear();
    for (const Key& key : keys_of_pages) edits.push_back({key.key, false, key.value});
    if (!edits.empty()) CRAWLSTORE_TRY(keys.apply(database_.writer, edits));
    keys_of_pages.clear();
    CRAWLSTORE_TRY(database_.writer.commit());
    keys.committed();
  }
  return {};
}

}  // namespace crawlstore::rescue
