// SPDX-License-Identifier: Apache-2.0
#include "seen_batch.h"

#include <algorithm>
#include <array>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace crawlstore::bench {
namespace {

constexpr std::uint64_t kIndexMask = (std::uint64_t{1} << 24) - 1;

/// Requests to a batch: as many as there may be, but all batches of one size.
std::uint64_t batch_size(const SeenOptions& options) {
  if (options.batch != 0) return std::min(options.batch, options.operations);
  std::uint64_t most = 8'000'000;
  if (options.cap_bytes != 0) {
    const std::uint64_t request_bytes = options.has_aux ? 102 : 26;
    most = std::clamp<std::uint64_t>(options.cap_bytes * 28 / 100 / request_bytes, 1000, most);
  }
  const std::uint64_t count = (options.operations + most - 1) / most;
  return (options.operations + count - 1) / count;
}

}  // namespace

SeenBatch::SeenBatch(std::size_t capacity, bool has_aux) : has_aux_(has_aux) {
  if (capacity > kIndexMask + 1) fail("a batch has at most 16777216 requests");
  keys_.reserve(capacity);
  order_.reserve(capacity);
  distinct_keys_.reserve(capacity);
  was_there_.reserve(capacity);
  is_unique_.reserve(capacity);
  if (!has_aux) return;
  values_.reserve(capacity);
  distinct_values_.reserve(capacity);
  auxes_.reserve(capacity);
}

void SeenBatch::add(std::uint64_t key) {
  keys_.push_back(key);
}

void SeenBatch::add(const SeenRequest& request) {
  keys_.push_back(request.key);
  values_.push_back(request.value);
  auxes_.push_back(request.aux);
}

void SeenBatch::sort() {
  order_.resize(keys_.size());
  for (std::size_t i = 0; i < keys_.size(); ++i) order_[i] = (keys_[i] & ~kIndexMask) | i;
  sort_by_leading_bits();
  order_equal_leading_bits();

  distinct_keys_.clear();
  distinct_values_.clear();
  for (const std::uint64_t word : order_) {
    const std::uint64_t first = word & kIndexMask;
    const std::uint64_t key = keys_[first];
    if (!distinct_keys_.empty() && distinct_keys_.back() == key) continue;
    order_[distinct_keys_.size()] = first;
    distinct_keys_.push_back(key);
    if (has_aux_) distinct_values_.push_back(values_[first]);
  }
  was_there_.assign(distinct_keys_.size(), 0);
}

/// Four stable passes of ten bits.
void SeenBatch::sort_by_leading_bits() {
  constexpr int kPassBits = 10;
  constexpr std::uint64_t kPassMask = (1U << kPassBits) - 1;
  distinct_keys_.resize(order_.size());
  for (int shift = 24; shift < 64; shift += kPassBits) {
    std::array<std::size_t, kPassMask + 1> starts{};
    for (const std::uint64_t word : order_) ++starts[(word >> shift) & kPassMask];
    std::size_t sum = 0;
    for (std::size_t& start : starts) sum += std::exchange(start, sum);
    for (const std::uint64_t word : order_) {
      distinct_keys_[starts[(word >> shift) & kPassMask]++] = word;
    }
    order_.swap(distinct_keys_);
  }
}

/// Requests with equal leading bits have, but for a few, one key, and are in the order of arrival.
void SeenBatch::order_equal_leading_bits() {
  const auto key = [this](std::uint64_t word) { return keys_[word & kIndexMask]; };
  const auto is_before = [&](std::uint64_t a, std::uint64_t b) {
    return key(a) != key(b) ? key(a) < key(b) : a < b;
  };
  for (auto begin = order_.begin(); begin != order_.end();) {
    const auto end = std::find_if(begin + 1, order_.end(), [begin](std::uint64_t word) {
      return (word & ~kIndexMask) != (*begin & ~kIndexMask);
    });
    const bool is_one_key =
        std::all_of(begin, end, [&](std::uint64_t word) { return key(word) == key(*begin); });
    if (!is_one_key) std::sort(begin, end, is_before);
    begin = end;
  }
}

void SeenBatch::answer(Tally& answers) {
  is_unique_.assign(keys_.size(), false);
  for (std::size_t i = 0; i < distinct_keys_.size(); ++i) {
    if (was_there_[i] == 0) is_unique_[order_[i]] = true;
  }
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    if (has_aux_) {
      const std::string_view aux(auxes_[i].data(), auxes_[i].size());
      answers.add(is_unique_[i], fingerprint(keys_[i], values_[i], aux));
    } else {
      answers.add(is_unique_[i], fingerprint(keys_[i]));
    }
  }
  keys_.clear();
  values_.clear();
  auxes_.clear();
}

int sorted_main(int argc, char** argv, const OpenSortedStore& open,
                std::span<const OwnOption> own) {
  return guarded_main(argv, [&] {
    const SeenOptions options = parse_options(std::span(argv, static_cast<std::size_t>(argc)), own);
    const auto store = open(options);
    const std::uint64_t size = batch_size(options);
    SeenBatch batch(size, options.has_aux);
    SeenRun run(options);
    run.start();
    while (const std::uint64_t count = run.take(size)) {
      for (std::uint64_t i = 0; i < count; ++i) {
        if (options.has_aux) {
          batch.add(run.next_request());
        } else {
          batch.add(run.next_key());
        }
      }
      batch.sort();
      store->check_update(batch.keys(), batch.values(), batch.was_there());
      batch.answer(run.answers());
      run.step();
    }
    run.finish();
    run.verify_lookups([&](std::uint64_t key) { return store->find(key); });
    store->close();
    run.print({store->name(), store->version(),
               fmt::format("sorted batches of {}; {}", size, store->tuning()),
               allocated_bytes(options.path)},
              nlohmann::ordered_json::object());
  });
}

}  // namespace crawlstore::bench
