// SPDX-License-Identifier: Apache-2.0
#include "values/stored_values.h"

#include "base/inside.h"
#include "container/run_io.h"
#include "format/small_values.h"

namespace crawlstore {
namespace values {

static_assert(kSmallValueBytesMax == format::kSmallValueBytesMax);
static_assert(kSmallValuesMax == format::kSmallValuesMax);

const format::SegmentEntry* find_values(const container::Directory& directory) {
  return directory.find_named(SegmentKind::kValues, format::kValuesName);
}

Result<SmallValues> load(Storage& storage, const Uuid& store, const format::SegmentEntry* entry) {
  SmallValues values;
  if (entry == nullptr) return values;
  const format::RunRef& run = entry->runs.front();
  const auto broken = [&](const Error& error) {
    return fail(error.code, error.text, run.offset_bytes + error.offset, entry->id);
  };
  if (run.payload_bytes > format::kValuesBytesMax) {
    return broken({Errc::kSegmentInvalid, 0, entry->id, 0, "the length of values is out of range"});
  }
  std::vector<std::byte> payload;
  CRAWLSTORE_TRY(container::read_run(storage, {store, entry->id, run.run_id}, run, payload));
  const auto parsed = format::parse_values(payload);
  if (!parsed) return broken(parsed.error());
  for (const format::SmallValue& value : *parsed) {
    values.emplace_hint(values.end(), value.name,
                        std::vector<std::byte>(value.bytes.begin(), value.bytes.end()));
  }
  return values;
}

}  // namespace values

Result<SmallValues> read_values(const Snapshot& snapshot) {
  container::Reader& reader = Inside::of(snapshot);
  return values::load(*reader.storage(), reader.identity().uuid,
                      values::find_values(reader.directory()));
}

}  // namespace crawlstore
