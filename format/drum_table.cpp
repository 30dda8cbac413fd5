// SPDX-License-Identifier: Apache-2.0
#include "drum_table.h"

#include <algorithm>

#include "drum_generated.h"
#include "flatbuffer_input.h"
#include "key_block.h"
#include "name.h"

namespace crawlstore::format {

namespace {

/// nullptr, or the text that names the broken rule.
using Broken = const char*;

Broken check_bucket(const DrumBucket& bucket) {
  if (static_cast<bool>(bucket.partition) != (bucket.key_count != 0)) {
    return "a bucket has keys but no partition, or the other way round";
  }
  if (static_cast<bool>(bucket.key_log) != (bucket.pending_count != 0)) {
    return "a bucket has pending requests but no key log, or the other way round";
  }
  if (bucket.aux_log && !bucket.key_log) {
    return "a bucket has an auxiliary log but no key log";
  }
  return nullptr;
}

Broken copy_buckets(const fb::Drum& from, DrumTable& table) {
  const std::size_t count = size_of(from.buckets());
  if (!is_aligned(from.buckets())) {
    return "a vector is not aligned";
  }
  if (count == 0 || count > kBucketsMax) {
    return "the number of buckets is out of range";
  }
  table.buckets.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const fb::DrumBucket& entry = *from.buckets()->Get(static_cast<flatbuffers::uoffset_t>(i));
    const DrumBucket bucket{entry.first_key(), {entry.partition()}, {entry.key_log()},
                            {entry.aux_log()}, entry.key_count(),   entry.pending_count()};
    if (i == 0 ? bucket.first_key != 0 : bucket.first_key <= table.buckets.back().first_key) {
      return "the first keys of the buckets do not ascend from zero";
    }
    if (const Broken broken = check_bucket(bucket)) {
      return broken;
    }
    table.buckets.push_back(bucket);
  }
  return nullptr;
}

Broken copy_consumers(const fb::Drum& from, std::size_t input_bytes, DrumTable& table) {
  const std::size_t count = size_of(from.consumers());
  table.consumers.reserve(count);
  std::size_t name_bytes = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const fb::DrumConsumer& entry = *from.consumers()->Get(static_cast<flatbuffers::uoffset_t>(i));
    if (i == 0 ? entry.id() != 0 : entry.id() <= table.consumers.back().id.value) {
      return "the ids of the consumers do not ascend from zero";
    }
    if (entry.id() > kConsumersMax) {
      return "the id of a consumer is out of range";
    }
    const std::string_view name = view_of(entry.name());
    name_bytes += name.size();
    if (!is_valid_name(name) || name_bytes > input_bytes) {
      return "the name of a consumer is not valid";
    }
    if ((entry.results() != 0) != (entry.result_count() != 0)) {
      return "a consumer has results but no results log, or the other way round";
    }
    table.consumers.push_back(
        {entry.id(), std::string(name), {entry.results()}, entry.result_count()});
  }
  return count == 0 ? "there is no consumer 0" : nullptr;
}

Broken check_unique_names(const DrumTable& table) {
  std::vector<std::string_view> names;
  names.reserve(table.consumers.size());
  for (const DrumConsumer& consumer : table.consumers) {
    names.push_back(consumer.name);
  }
  std::sort(names.begin(), names.end());
  const bool repeats = std::adjacent_find(names.begin(), names.end()) != names.end();
  return repeats ? "two consumers have the same name" : nullptr;
}

Broken check_unique_segments(const DrumTable& table) {
  std::vector<SegmentId> ids;
  for (const DrumBucket& bucket : table.buckets) {
    for (const SegmentId id : {bucket.partition, bucket.key_log, bucket.aux_log}) {
      if (id) ids.push_back(id);
    }
  }
  for (const DrumConsumer& consumer : table.consumers) {
    if (consumer.results) ids.push_back(consumer.results);
  }
  std::sort(ids.begin(), ids.end());
  const bool repeats = std::adjacent_find(ids.begin(), ids.end()) != ids.end();
  return repeats ? "a segment is named twice" : nullptr;
}

Broken copy_normalizer(const fb::Drum& from, DrumTable& table) {
  table.normalizer = view_of(from.normalizer());
  if (!is_valid_name(table.normalizer)) return "the name of a normaliser is not valid";
  const bool has_urls =
      table.key_scheme == KeyScheme::kUrl || table.key_scheme == KeyScheme::kUrlRabin;
  return has_urls || table.normalizer.empty() ? nullptr
                                              : "keys that are not of URLs have a normaliser";
}

Broken copy_numbers(const fb::Drum& from, DrumTable& table) {
  table.key_bytes = from.key_bytes();
  table.key_scheme = KeyScheme{from.key_scheme()};
  table.value_bytes = from.value_bytes();
  table.next_sequence = from.next_sequence();
  table.merge_count = from.merge_count();
  table.unparsed_count = from.unparsed_count();
  table.merge_bytes = from.merge_bytes();
  table.merge_requests = from.merge_requests();
  table.partition_keys_max = from.partition_keys_max();
  if (!is_key_bytes(table.key_bytes)) {
    return "the key length is not supported";
  }
  if (table.key_scheme > KeyScheme::kPage) {
    return "the key scheme is unknown";
  }
  if (table.key_scheme == KeyScheme::kUrlRabin && table.key_bytes != kKeyBytes) {
    return "Rabin fingerprints have 8 bytes";
  }
  if (table.key_scheme == KeyScheme::kPage && table.key_bytes != kWideKeyBytes) {
    return "page keys have 16 bytes";
  }
  if (!is_value_bytes(table.value_bytes)) {
    return "the value length is out of range";
  }
  return nullptr;
}

}  // namespace

std::vector<std::byte> encode_drum_table(const DrumTable& table) {
  flatbuffers::FlatBufferBuilder builder;
  std::vector<fb::DrumBucket> buckets;
  buckets.reserve(table.buckets.size());
  for (const DrumBucket& bucket : table.buckets) {
    buckets.emplace_back(bucket.first_key, bucket.partition.value, bucket.key_log.value,
                         bucket.aux_log.value, bucket.key_count, bucket.pending_count);
  }
  std::vector<flatbuffers::Offset<fb::DrumConsumer>> consumers;
  consumers.reserve(table.consumers.size());
  for (const DrumConsumer& consumer : table.consumers) {
    const char* name = consumer.name.empty() ? nullptr : consumer.name.c_str();
    consumers.push_back(fb::CreateDrumConsumerDirect(
        builder, consumer.id.value, name, consumer.results.value, consumer.result_count));
  }
  builder.Finish(fb::CreateDrumDirect(
      builder, table.key_bytes, static_cast<std::uint16_t>(table.key_scheme), table.value_bytes,
      table.next_sequence, table.merge_count, table.unparsed_count, &buckets, &consumers,
      table.merge_bytes, table.merge_requests, table.partition_keys_max,
      table.normalizer.empty() ? nullptr : table.normalizer.c_str()));
  return padded_bytes(builder);
}

Result<DrumTable> parse_drum_table(std::span<const std::byte> bytes) {
  const FlatbufferInput<fb::Drum> input(bytes, kConsumersMax + 1, &fb::Drum::consumers);
  if (input.root() == nullptr) {
    return fail(Errc::kSegmentInvalid, "a drum is not a FlatBuffer of its schema", 0);
  }
  DrumTable table;
  Broken broken = copy_numbers(*input.root(), table);
  if (broken == nullptr) broken = copy_normalizer(*input.root(), table);
  if (broken == nullptr) broken = copy_buckets(*input.root(), table);
  if (broken == nullptr) broken = copy_consumers(*input.root(), bytes.size(), table);
  if (broken == nullptr) broken = check_unique_names(table);
  if (broken == nullptr) broken = check_unique_segments(table);
  if (broken != nullptr) {
    return fail(Errc::kSegmentInvalid, broken, 0);
  }
  return table;
}

}  // namespace crawlstore::format
