// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "container/description_parts.h"
#include "format/layout.h"
#include "format/pages_table.h"
#include "format/record_tile.h"
#include "pages/page_content.h"

namespace crawlstore::pages {

using container::Description;
using container::RunBytes;
using container::RunSource;

void describe_pages(Description& out, const RunSource& source) {
  const auto& run = source.run();
  const std::size_t mark = out.mark();
  out.open("pages", "struct", {run.offset_bytes, run.payload_bytes});
  const RunBytes payload = source.read(0, std::min(run.payload_bytes, container::kWholeBytesMax));
  out.add_fields(format::describe_pages(payload.bytes), run.offset_bytes);
  out.close();
  container::note_problems(out, mark, run.offset_bytes, payload,
                           container::error_of(format::parse_pages_table(payload.bytes)));
}

void describe_record_tile(Description& out, const RunSource& source) {
  const auto& run = source.run();
  const RunBytes bytes = source.read(0, std::min(run.payload_bytes, container::kWholeBytesMax));
  const std::size_t mark = out.mark();
  out.open("record_tile", "struct", {run.offset_bytes, sizeof(format::RecordTileHeader)});
  out.add_fields(format::describe_record_tile(bytes.bytes), run.offset_bytes);
  out.close();
  const auto tile = format::RecordTile::parse(bytes.bytes);
  container::note_problems(out, mark, run.offset_bytes, bytes,
                           tile ? container::error_of(tile->check()) : container::error_of(tile));
}

void describe_event_run(Description& out, const RunSource& source) {
  container::describe_header(
      out, source, {"event_run", sizeof(format::EventRunHeader), format::describe_event_run},
      container::check_whole<check_event_run>);
}

}  // namespace crawlstore::pages
