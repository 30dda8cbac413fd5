// SPDX-License-Identifier: Apache-2.0
#include "model/pages_view.h"

#include <algorithm>

namespace crawlstore::model {
namespace {

double ratio(std::uint64_t amount, std::uint64_t count) {
  return count == 0 ? 0.0 : static_cast<double>(amount) / static_cast<double>(count);
}

double bytes_per_page(const PagesInfo& info) {
  return ratio(info.key_bytes + info.origin_bytes + info.record_bytes, info.page_count);
}

double bits_per_link(const PagesInfo& info) {
  return 8 * ratio(info.out_link_bytes, info.link_count);
}

double in_bits_per_link(const PagesInfo& info) {
  return 8 * ratio(info.in_link_bytes, info.link_count);
}

}  // namespace

Result<std::vector<PagesInfo>> page_databases(const Snapshot& snapshot) {
  std::vector<PagesInfo> databases;
  for (const std::string& name : PageView::names(snapshot)) {
    CRAWLSTORE_TRY(const auto view, PageView::open(snapshot, name));
    databases.push_back(view.info());
  }
  return databases;
}

Result<std::vector<PagesInfo>> page_databases(const Store& store) {
  CRAWLSTORE_TRY(const auto snapshot, store.snapshot());
  return page_databases(snapshot);
}

std::vector<Field> default_database_fields(const std::vector<PagesInfo>& databases) {
  const auto found = std::find_if(databases.begin(), databases.end(), [](const PagesInfo& info) {
    return info.name == PageDb::kDefaultName;
  });
  const PagesInfo info = found == databases.end() ? PagesInfo{} : *found;
  std::vector<Field> fields{{"page_count", Unit::kCount, info.page_count},
                            {"crawled_count", Unit::kCount, info.crawled_count},
                            {"link_count", Unit::kCount, info.link_count},
                            {"bits_per_link", Unit::kRatio, bits_per_link(info)},
                            {"in_bits_per_link", Unit::kRatio, in_bits_per_link(info)},
                            {"bytes_per_page", Unit::kRatio, bytes_per_page(info)},
                            {"edit_count", Unit::kCount, info.event_count},
                            {"collision_count", Unit::kCount, info.collision_count}};
  if (!info.shard.is_alone()) {
    fields.push_back({"elsewhere_count", Unit::kCount, info.elsewhere_count});
  }
  return fields;
}

Table page_databases_table(const std::vector<PagesInfo>& databases) {
  Table table{"page_databases",
              {{"name", Unit::kText},
               {"id", Unit::kId},
               {"has_urls", Unit::kFlag},
               {"page_count", Unit::kCount},
               {"crawled_count", Unit::kCount},
               {"link_count", Unit::kCount},
               {"bits_per_link", Unit::kRatio},
               {"in_bits_per_link", Unit::kRatio},
               {"bytes_per_page", Unit::kRatio},
               {"edit_count", Unit::kCount},
               {"collision_count", Unit::kCount},
               {"unparsed_count", Unit::kCount},
               {"normalizer", Unit::kText},
               {"superstep_count", Unit::kCount},
               {"key_bytes", Unit::kBytes},
               {"origin_bytes", Unit::kBytes},
               {"record_bytes", Unit::kBytes},
               {"out_link_bytes", Unit::kBytes},
               {"in_link_bytes", Unit::kBytes},
               {"edit_bytes", Unit::kBytes},
               {"content_bytes", Unit::kBytes}},
              {}};
  for (const PagesInfo& info : databases) {
    table.rows.push_back({info.name,           info.id.value,          info.has_urls,
                          info.page_count,     info.crawled_count,     info.link_count,
                          bits_per_link(info), in_bits_per_link(info), bytes_per_page(info),
                          info.event_count,    info.collision_count,   info.unparsed_count,
                          info.normalizer,     info.superstep_count,   info.key_bytes,
                          info.origin_bytes,   info.record_bytes,      info.out_link_bytes,
                          info.in_link_bytes,  info.event_bytes,       info.content_bytes});
  }
  return table;
}

Table supersteps_table(const std::vector<DatabaseSuperstep>& supersteps) {
  Table table{"supersteps",
              {{"name", Unit::kText},
               {"edit_count", Unit::kCount},
               {"new_page_count", Unit::kCount},
               {"added_link_count", Unit::kCount},
               {"gone_link_count", Unit::kCount},
               {"collision_count", Unit::kCount}},
              {}};
  for (const auto& [name, report] : supersteps) {
    table.rows.push_back({name, report.edit_count, report.new_page_count, report.added_link_count,
                          report.gone_link_count, report.collision_count});
  }
  return table;
}

Document import_view(const ImportCounts& counts, const PagesStatus& before,
                     const PagesStatus& after) {
  Document document{
      {{"line_count", Unit::kCount, counts.lines},
       {"event_count", Unit::kCount, counts.events},
       {"skipped_count", Unit::kCount, counts.skipped},
       {"refused_count", Unit::kCount, counts.refused},
       {"cut_count", Unit::kCount, counts.cut},
       {"refused_link_count", Unit::kCount, counts.refused_links},
       {"refused_input_count", Unit::kCount, counts.refused_inputs},
       {"new_page_count", Unit::kCount, after.page_count - before.page_count},
       {"page_count", Unit::kCount, after.page_count},
       {"crawled_count", Unit::kCount, after.crawled_count},
       {"link_count", Unit::kCount, after.link_count},
       {"edit_count", Unit::kCount, after.edit_count},
       {"superstep_count", Unit::kCount, after.superstep_count - before.superstep_count},
       {"collision_count", Unit::kCount, after.collision_count - before.collision_count},
       {"unparsed_count", Unit::kCount, after.unparsed_count - before.unparsed_count}},
      {}};
  if (counts.elsewhere != 0 || after.elsewhere_count != 0) {
    document.fields.push_back({"elsewhere_event_count", Unit::kCount, counts.elsewhere});
    document.fields.push_back({"elsewhere_count", Unit::kCount, after.elsewhere_count});
  }
  return document;
}

}  // namespace crawlstore::model
