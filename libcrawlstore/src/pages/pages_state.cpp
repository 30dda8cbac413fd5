// SPDX-License-Identifier: Apache-2.0
#include "pages/pages_state.h"

#include "container/run_io.h"

namespace crawlstore::pages {
namespace {

/// A table has some two hundred bytes; later versions may add fields.
constexpr std::uint64_t kTableBytesMax = 65536;

}  // namespace

Result<PagesState> load_state(container::Writer& writer, const format::SegmentEntry& entry) {
  const format::RunRef& run = entry.runs.front();
  if (run.payload_bytes > kTableBytesMax) {
    return fail(Errc::kSegmentInvalid, "the table of a page database is too long", run.offset_bytes,
                entry.id.value);
  }
  std::vector<std::byte> payload;
  const auto name = container::run_name(writer.identity(), entry.id, run.run_id);
  CRAWLSTORE_TRY(container::read_run(writer.storage(), name, run, payload));
  const auto table = format::parse_pages_table(payload);
  if (!table) {
    return fail(Errc::kSegmentInvalid, table.error().text, run.offset_bytes, entry.id.value);
  }
  return PagesState{entry.id, entry.name, *table};
}

Result<void> put_state(container::Writer& writer, const PagesState& state) {
  const auto payload = format::encode_pages_table(state.table);
  const auto run = container::write_run(writer, state.id, writer.new_run_ids(1), payload, 1);
  if (!run) return tl::unexpected<Error>(run.error());
  writer.put({state.id, SegmentKind::kPages, StorageClass::kBlob, {}, state.name, {*run}});
  return {};
}

}  // namespace crawlstore::pages
