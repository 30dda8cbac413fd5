// SPDX-License-Identifier: Apache-2.0
//
// Invariants checked: whatever is done to a DRUM, in whatever order, with reopening between,
//   - each request is answered once, as a std::map of requests as they arrive would answer it, with
//     its own auxiliary and a sequence of its own;
//   - after merge() nothing is pending, and keys and values are those of the map, ascending.

#include <deque>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include <crawlstore/drum.h>

#include "container/create.h"
#include "require.h"

namespace {
using namespace crawlstore;
using fuzz::must;
using fuzz::require;

constexpr auto kText = StringBytes<std::string>::load;
using Expected = std::tuple<DrumOperation, bool, std::string, std::string>;
struct World {
  World(std::uint8_t shape, bool is_wide) : file(make_memory_file({}, 1 << 24)) {
    options.bucket_count = 1 + shape % 4;
    const bool has_window = shape / 64 == 1;  // keys alone, merged from memory
    options.array_elements = has_window ? 0 : 1 + shape / 4 % 4;
    options.partition_keys_max = 2 + shape / 16 % 4;
    options.bucket_bytes = has_window ? 0 : 200;
    options.memory_bytes = 1 << 14;
    options.parallel = false;
    options.key_bytes = is_wide ? 16 : 8;
    options.durability = static_cast<Durability>(has_window ? 0 : shape / 64);
    must(container::write_empty_store(*open_memory_storage(file, OpenMode::kWrite), {}, 1));
    open();
  }
  void open() {
    if (store) must(store->close());
    store.emplace(must(Store::open(open_memory_storage(file, OpenMode::kWrite))));
    core = must(DrumCore::open(*store, "fuzz", options.bucket_bytes == 0 ? 0 : -1, options));
    core->attach({}, [this](std::span<const RawAnswer> answers) {
      for (const RawAnswer& answer : answers) {
        auto& due = expected[Key16(answer.key, answer.key_tail)];
        require(!due.empty() && used.insert(answer.sequence).second);
        require(due.front() == Expected(answer.operation, answer.duplicate, kText(answer.value),
                                        kText(answer.aux)));
        due.pop_front();
      }
    });
  }
  void submit(std::uint8_t code, Key16 key, std::string value, const std::string& aux) {
    const auto operation = static_cast<DrumOperation>(code % 3);
    if (operation == DrumOperation::kCheck || options.bucket_bytes == 0) value.clear();
    const bool duplicate = map.contains(key) && operation != DrumOperation::kUpdate;
    if (operation != DrumOperation::kCheck) map[key] = value;
    expected[key].emplace_back(operation, duplicate, map.contains(key) ? map[key] : "", aux);
    must(core->submit({operation,
                       {},
                       key.head,
                       std::as_bytes(std::span(value)),
                       std::as_bytes(std::span(aux)),
                       key.tail}));
  }
  void merge() {
    must(core->merge());
    require(core->status().pending_count == 0 && core->status().key_count == map.size());
    for (const auto& [key, due] : expected) require(due.empty());
    must(store->commit());
    auto next = map.begin();
    must(must(DrumView::open(must(store->snapshot()), "fuzz")).for_each_key([&](auto key, auto v) {
      require(next != map.end() && key == next->first && kText(v) == (next++)->second);
      return true;
    }));
    require(next == map.end());
  }
  std::shared_ptr<MemoryFile> file;
  DrumOptions options;
  std::optional<Store> store;
  std::shared_ptr<DrumCore> core;
  std::map<Key16, std::string> map;
  std::map<Key16, std::deque<Expected>> expected;
  std::set<std::uint64_t> used;
};
}  // namespace
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  World world(size == 0 ? 0 : data[0], size % 2 == 1);
  for (std::size_t i = 1; i + 2 < size && i < 900; i += 3) {
    const std::uint64_t head = data[i + 1] / (size % 2 == 1 ? 8 : 1);  // some share it
    const Key16 key(head * 0x0101010101010101, size % 2 * data[i + 1]);
    const std::string aux(data[i + 2] / 16, static_cast<char>(i));
    if (data[i] < 240) world.submit(data[i], key, std::string(data[i + 2] % 16, 'v'), aux);
    if (data[i] >= 240 && data[i] < 248) world.merge();
    if (data[i] >= 248) world.open();
  }
  world.merge();
  return 0;
}
