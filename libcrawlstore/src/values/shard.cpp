// SPDX-License-Identifier: Apache-2.0
#include <charconv>

#include <crawlstore/shard.h>
#include <crawlstore/storage.h>
#include <crawlstore/url.h>
#include <crawlstore/values.h>

#include "base/inside.h"
#include "container/create.h"
#include "container/store_impl.h"
#include "format/superblock.h"
#include "values/pending_values.h"
#include "values/stored_values.h"

namespace crawlstore {
namespace values {

Result<Shard> shard_in(std::span<const std::byte> bytes) {
  std::string text;
  for (const std::byte byte : bytes) text += static_cast<char>(byte);
  const auto shard = parse_shard(text);
  if (shard && !shard->is_alone()) return *shard;
  return fail(Errc::kSegmentInvalid, "the small value `.shard` is no shard of several");
}

Result<Shard> shard_in(const SmallValues& values) {
  const auto found = values.find(kShardName);
  return found == values.end() ? Result<Shard>() : shard_in(found->second);
}

}  // namespace values

std::uint32_t shard_of(std::string_view host, std::uint32_t count) {
  using Wide = unsigned __int128;
  return static_cast<std::uint32_t>((Wide{url_key(host, 0)} * count) >> 64);
}

std::string to_text(const Shard& shard) {
  return std::to_string(shard.index) + '/' + std::to_string(shard.count);
}

std::optional<Shard> parse_shard(std::string_view text) {
  Shard shard;
  const char* const end = text.data() + text.size();
  const auto [slash, no_index] = std::from_chars(text.data(), end, shard.index);
  if (no_index != std::errc() || slash == end || *slash != '/') return std::nullopt;
  const auto [rest, no_count] = std::from_chars(slash + 1, end, shard.count);
  if (no_count != std::errc() || rest != end) return std::nullopt;
  if (shard.count > kShardsMax || shard.index >= shard.count) return std::nullopt;
  return to_text(shard) == text ? std::optional(shard) : std::nullopt;
}

/// The file is made in memory, so that it is never there without its shard.
Result<Store> create_shard(const std::string& path, const Shard& shard,
                           const CreateOptions& options) {
  if (shard.count > kShardsMax || shard.index >= shard.count) {
    return fail(Errc::kInvalidArgument, "a shard is one of 1 to 4096, and counted from 0 on");
  }
  if (shard.is_alone()) return Store::create(path, options);
  const auto memory = make_memory_file({});
  CRAWLSTORE_TRY(container::write_new_store(*open_memory_storage(memory, OpenMode::kWrite), options,
                                            format::kShardsFeature));
  OpenOptions open_options;
  open_options.time_us = options.time_us;
  CRAWLSTORE_TRY(auto made,
                 Store::open(open_memory_storage(memory, OpenMode::kWrite), open_options));
  const std::string text = to_text(shard);
  CRAWLSTORE_TRY(values::set_reserved(Inside::of(made).shared_from_this(), values::kShardName,
                                      std::as_bytes(std::span(text))));
  CRAWLSTORE_TRY(made.commit());
  CRAWLSTORE_TRY(const auto snapshot, made.snapshot());
  CRAWLSTORE_TRY(copy_snapshot(snapshot, path));
  open_options.report = options.report;
  return Store::open(path, open_options);
}

/// Without the feature bit nothing is read, so that damage of small values is that of shards alone.
Result<Shard> read_shard(const Snapshot& snapshot) {
  const auto& superblock = Inside::of(snapshot).directory().superblock;
  if ((superblock.features_incompat & format::kShardsFeature) == 0) return Shard();
  CRAWLSTORE_TRY(const auto values, read_values(snapshot));
  return values::shard_in(values);
}

Result<Shard> read_shard(const Store& store) {
  CRAWLSTORE_TRY(const auto snapshot, store.snapshot());
  return read_shard(snapshot);
}

}  // namespace crawlstore
