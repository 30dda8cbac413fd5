// SPDX-License-Identifier: Apache-2.0
#include "drum/drum_open.h"

#include <crawlstore/tools/merge_rules.h>

#include "drum/choose_buckets.h"
#include "format/name.h"

namespace crawlstore::drum {
namespace {

constexpr std::uint64_t kExpectedKeysMax = std::uint64_t{1} << 40;

}  // namespace

Result<void> check_options(const DrumOptions& options) {
  if (options.bucket_count > format::kBucketsMax) {
    return fail(Errc::kInvalidArgument, "bucket_count must be from 1 to 65536, or 0");
  }
  if (options.expected_keys > kExpectedKeysMax) {
    return fail(Errc::kInvalidArgument, "expected_keys must be at most 2^40");
  }
  if (options.memory_bytes < kArrayBytesMin) {
    return fail(Errc::kInvalidArgument, "memory_bytes must be at least 4096");
  }
  if (options.partition_keys_max < 2) {
    return fail(Errc::kInvalidArgument, "partition_keys_max must be at least 2");
  }
  if (options.key_bytes != 0 && !format::is_key_bytes(options.key_bytes)) {
    return fail(Errc::kInvalidArgument, "key_bytes must be 8 or 16, or 0");
  }
  if (options.key_scheme > KeyScheme::kUrlRabin ||
      (options.key_scheme == KeyScheme::kUrlRabin && options.key_bytes == 16)) {
    return fail(Errc::kInvalidArgument,
                "key_scheme must be opaque or URLs, or with 8-byte keys Rabin fingerprints");
  }
  if (!format::is_valid_name(options.normalizer) ||
      (options.key_scheme == KeyScheme::kOpaque && !options.normalizer.empty())) {
    return fail(Errc::kInvalidArgument, "only keys of URLs have a normalizer, with a valid name");
  }
  if (options.recent_keys > kSortCountMax) {
    return fail(Errc::kInvalidArgument, "recent_keys must be at most 16777216");
  }
  if (options.array_elements > kSortCountMax) {
    return fail(Errc::kInvalidArgument, "array_elements must be at most 16777216");
  }
  return {};
}

bool is_like(Shape shape, std::int32_t value_bytes, const DrumOptions& options) {
  return shape.value_bytes == value_bytes &&
         (options.key_bytes == 0 || options.key_bytes == shape.key_bytes);
}

Result<DrumState> load_or_make(StoreImpl& store, std::string_view name, std::int32_t value_bytes,
                               const DrumOptions& options) {
  container::Writer& writer = *store.writer;
  if (const auto* entry = writer.directory()->find_named(SegmentKind::kDrum, name)) {
    CRAWLSTORE_TRY(auto state, load_state(writer, *entry));
    if (!is_like(state.shape(), value_bytes, options)) {
      return fail(Errc::kTypeMismatch, "the DRUM holds keys or values of another size",
                  Error::kNoOffset, entry->id);
    }
    if (state.key_scheme == KeyScheme::kPage) {
      return fail(Errc::kTypeMismatch, "the DRUM holds the keys of pages; open it as a PageDb",
                  Error::kNoOffset, entry->id);
    }
    return state;
  }
  if (store.find(SegmentKind::kPages, name) != nullptr) {
    return fail(
        Errc::kTypeMismatch,
        "a page database of this name is open, and may keep its keys in a DRUM of its name");
  }
  const Shape shape{options.key_bytes != 0 ? options.key_bytes : format::kKeyBytes, value_bytes};
  const std::uint32_t buckets =
      options.bucket_count != 0 ? options.bucket_count : choose_buckets(options, shape);
  auto state = make_state(writer.new_segment_id(), name, shape, buckets);
  state.key_scheme = options.key_scheme;
  state.normalizer = options.normalizer;
  return state;
}

}  // namespace crawlstore::drum
