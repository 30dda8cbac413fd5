// SPDX-License-Identifier: Apache-2.0
//
// Invariants: recent_ has the newest value of each key that was put since the last merge that
// succeeded; its older values, and all others, are in partitions or expired. Requests are those of
// a consumer whose answers nobody receives, so that no merge leaves any in the file.
#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include <crawlstore/timed_drum.h>
#include <crawlstore/url.h>

#include "base/inside.h"
#include "drum/drum_impl.h"
#include "format/endian.h"

namespace crawlstore {
namespace {

constexpr std::size_t kTimeBytes = 8;
constexpr std::size_t kHeadBytes = kTimeBytes + 4;  // with the length of the key
/// Bytes of memory that an entry takes in addition to its key and value, about.
constexpr std::uint64_t kEntryBytes = 128;

/// A value as it is in the file. The views point into it.
struct Stored {
  std::uint64_t expires_ms;
  std::string_view key;
  std::string_view value;
};

std::vector<std::byte> encode(const Stored& stored) {
  std::vector<std::byte> bytes(kHeadBytes);
  format::store(bytes.data(), stored.expires_ms);
  format::store(bytes.data() + kTimeBytes, static_cast<std::uint32_t>(stored.key.size()));
  for (const std::string_view part : {stored.key, stored.value}) {
    const auto more = std::as_bytes(std::span(part));
    bytes.insert(bytes.end(), more.begin(), more.end());
  }
  return bytes;
}

std::optional<Stored> parse(std::span<const std::byte> bytes) {
  if (bytes.size() < kHeadBytes) return std::nullopt;
  const auto key_bytes = format::load<std::uint32_t>(bytes.data() + kTimeBytes);
  const auto* const text = static_cast<const char*>(static_cast<const void*>(bytes.data()));
  const std::string_view rest(text + kHeadBytes, bytes.size() - kHeadBytes);
  if (key_bytes > rest.size()) return std::nullopt;
  return Stored{format::load<std::uint64_t>(bytes.data()), rest.substr(0, key_bytes),
                rest.substr(key_bytes)};
}

DrumOptions drum_options(const TimedDrumOptions& options) {
  DrumOptions drum;
  drum.key_bytes = format::kKeyBytes;
  drum.memory_bytes = options.memory_bytes;
  drum.auto_merge = false;  // only merge() knows the time
  return drum;
}

/// An update whose answer nobody receives.
Result<RawRequest> update_of(const DrumCore& core, std::uint64_t key) {
  auto& drum = Inside::of(core);
  const MutexLock lock(drum.mutex);
  CRAWLSTORE_TRY(drum.check_usable());
  CRAWLSTORE_TRY(const ConsumerId nobody, drum.delivery.make_nobody());
  return RawRequest{DrumOperation::kUpdate, nobody, key, {}, {}};
}

}  // namespace

Result<TimedDrum> TimedDrum::open(Store& store, std::string_view name,
                                  const TimedDrumOptions& options) {
  CRAWLSTORE_TRY(auto core,
                 DrumCore::open(store, name, format::kVariableValue, drum_options(options)));
  if (core.use_count() != 1) return fail(Errc::kInvalidArgument, "the cache is open already");
  if (core->status().pending_count != 0) {
    const StoreCall call(Inside::of(*core).shared_from_this());
    CRAWLSTORE_TRY(Inside::of(*core).merge(drum::MergeCall::kAll));
  }
  return TimedDrum(std::move(core), store.key_seed(), options.memory_bytes);
}

Result<void> TimedDrum::put(std::string_view key, std::string_view value,
                            std::uint64_t expires_ms) {
  const auto& store = Inside::of(*core_).store;
  CRAWLSTORE_TRY(store->check_outside("no TimedDrum takes values inside a transaction"));
  if (key.size() > format::kValueBytesMax) {
    return fail(Errc::kTooLarge, "a key is larger than 16 MiB");
  }
  if (memory_bytes_ > memory_bytes_max_) {
    CRAWLSTORE_TRY(merge(now_ms_));
  }
  const auto bytes = encode({expires_ms, key, value});
  CRAWLSTORE_TRY(RawRequest request, update_of(*core_, url_key(key, key_seed_)));
  request.value = bytes;
  CRAWLSTORE_TRY(core_->submit(request));
  remember(key, {std::string(value), expires_ms});
  return {};
}

void TimedDrum::remember(std::string_view key, TimedValue value) {
  const auto bytes_of = [key](const TimedValue& kept) {
    return kEntryBytes + key.size() + kept.value.size();
  };
  memory_bytes_ += bytes_of(value);
  if (const auto known = recent_.find(key); known != recent_.end()) {
    memory_bytes_ -= bytes_of(known->second);
    known->second = std::move(value);
  } else {
    recent_.emplace(key, std::move(value));
  }
}

Result<std::optional<TimedValue>> TimedDrum::get(std::string_view key, std::uint64_t now_ms) {
  now_ms_ = std::max(now_ms_, now_ms);
  CRAWLSTORE_TRY(const auto bytes, core_->lookup(Key16{url_key(key, key_seed_)}));
  std::optional<TimedValue> found;
  if (const auto recent = recent_.find(key); recent != recent_.end()) {
    found = recent->second;
  } else if (const auto stored = bytes ? parse(*bytes) : std::nullopt; stored) {
    if (stored->key == key) found = TimedValue{std::string(stored->value), stored->expires_ms};
  }
  if (found && found->expires_ms <= now_ms) found.reset();
  return found;
}

Result<void> TimedDrum::merge(std::uint64_t now_ms) {
  now_ms_ = std::max(now_ms_, now_ms);
  const auto is_over = [now_ms, seed = key_seed_](Key16 key, std::span<const std::byte> at) {
    const auto stored = parse(at);
    const bool is_ours = stored && url_key(stored->key, seed) == key.head;
    return is_ours && stored->expires_ms <= now_ms;
  };
  CRAWLSTORE_TRY(core_->drop_keys(0, ~std::uint64_t{0}, is_over));
  recent_.clear();
  memory_bytes_ = 0;
  return {};
}

Result<void> TimedDrum::close() {
  return core_->close();
}

}  // namespace crawlstore
