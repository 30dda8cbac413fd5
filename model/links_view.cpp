// SPDX-License-Identifier: Apache-2.0
#include "model/links_view.h"

#include <optional>

namespace crawlstore::model {
namespace {

std::string way_name(bool incoming) {
  return incoming ? "in" : "out";
}

double each(std::uint64_t amount, std::uint64_t count) {
  return count == 0 ? 0.0 : static_cast<double>(amount) / static_cast<double>(count);
}

double bits_each(std::uint64_t bytes, std::uint64_t count) {
  return 8 * each(bytes, count);
}

/// The runs of one way of a database.
struct Way {
  std::uint64_t run_count = 0;
  std::uint64_t dense_count = 0;
  std::uint64_t bytes = 0;
};

Way sum_of(const std::vector<LinkRunInfo>& runs, bool incoming) {
  Way way;
  for (const LinkRunInfo& run : runs) {
    if (run.is_incoming != incoming) continue;
    ++way.run_count;
    way.dense_count += run.is_dense ? 1U : 0U;
    way.bytes += run.place.length_bytes;
  }
  return way;
}

}  // namespace

Result<std::vector<PageView>> page_views(const Snapshot& snapshot) {
  std::vector<PageView> views;
  for (const std::string& name : PageView::names(snapshot)) {
    CRAWLSTORE_TRY(auto view, PageView::open(snapshot, name));
    views.push_back(std::move(view));
  }
  return views;
}

LinkDirections link_directions(const std::vector<PageView>& databases) {
  LinkDirections found;
  found.table = Table{"link_directions",
                      {{"database", Unit::kText},
                       {"direction", Unit::kText},
                       {"run_count", Unit::kCount},
                       {"dense_run_count", Unit::kCount},
                       {"link_count", Unit::kCount},
                       {"allocated_bytes", Unit::kBytes},
                       {"bits_per_link", Unit::kRatio},
                       {"compacted_bytes", Unit::kBytes},
                       {"compacted_bits_per_link", Unit::kRatio}},
                      {}};
  for (const PageView& view : databases) {
    const std::uint64_t link_count = view.info().link_count;
    const auto runs = link_runs(view);
    const auto compacted = estimate_compacted_links(view);
    if (!compacted) found.problems.push_back(compacted.error());
    for (const bool incoming : {false, true}) {
      const Way way = sum_of(runs, incoming);
      Cell bytes;
      Cell bits;
      if (compacted) {
        const std::uint64_t of_way = incoming ? compacted->in_bytes : compacted->out_bytes;
        bytes = of_way;
        bits = bits_each(of_way, link_count);
      }
      found.table.rows.push_back({view.info().name, way_name(incoming), way.run_count,
                                  way.dense_count, link_count, way.bytes,
                                  bits_each(way.bytes, link_count), bytes, bits});
    }
  }
  return found;
}

Table link_runs_table(const std::vector<PageView>& databases) {
  Table table{"link_runs",
              {{"database", Unit::kText},
               {"direction", Unit::kText},
               {"run_id", Unit::kId},
               {"offset_bytes", Unit::kOffset},
               {"codec", Unit::kText},
               {"row_count", Unit::kCount},
               {"link_count", Unit::kCount},
               {"bits_per_link", Unit::kRatio},
               {"block_count", Unit::kCount},
               {"block_bytes", Unit::kBytes},
               {"model_bytes", Unit::kBytes},
               {"index_bytes", Unit::kBytes},
               {"frame_bytes", Unit::kBytes}},
              {}};
  for (const PageView& view : databases) {
    for (const LinkRunInfo& run : link_runs(view)) {
      table.rows.push_back(
          {view.info().name, run.is_gone ? "gone" : way_name(run.is_incoming), run.id.value,
           run.place.offset_bytes, std::string(run.is_dense ? "dense" : "fresh"), run.row_count,
           run.link_count, bits_each(run.place.length_bytes, run.link_count), run.block_count,
           run.block_bytes, run.model_bytes, run.index_bytes, run.frame_bytes});
    }
  }
  return table;
}

Table dense_rows_table(const std::vector<DenseWay>& ways) {
  Table table{"dense_rows",
              {{"database", Unit::kText},
               {"direction", Unit::kText},
               {"plain_count", Unit::kCount},
               {"referring_count", Unit::kCount},
               {"equal_count", Unit::kCount},
               {"link_count", Unit::kCount},
               {"copied_link_count", Unit::kCount},
               {"type_bits_per_link", Unit::kRatio},
               {"degree_bits_per_link", Unit::kRatio},
               {"copy_bits_per_link", Unit::kRatio},
               {"extra_count_bits_per_link", Unit::kRatio},
               {"first_extra_bits_per_link", Unit::kRatio},
               {"gap_bits_per_link", Unit::kRatio}},
              {}};
  for (const DenseWay& way : ways) {
    const DenseRowSums& sums = way.sums;
    std::vector<Cell> row{
        way.name,         way_name(way.incoming), sums.plain_count,      sums.referring_count,
        sums.equal_count, sums.link_count,        sums.copied_link_count};
    for (const std::uint64_t bits : sums.bits) row.emplace_back(each(bits, sums.link_count));
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace crawlstore::model
