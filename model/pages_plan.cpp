// SPDX-License-Identifier: Apache-2.0
#include "model/pages_plan.h"

#include <algorithm>

#include <crawlstore/tools/link_runs.h>

#include "model/file_forecast.h"

namespace crawlstore::model {
namespace {

double mean_bytes(std::uint64_t amount, std::uint64_t count) {
  return count == 0 ? 0.0 : static_cast<double>(amount) / static_cast<double>(count);
}

/// A row of `parts`, and sums of all.
class Parts {
 public:
  void add(const char* part, std::uint64_t count, std::optional<double> fresh_bits,
           double compacted_bits) {
    const auto bytes = [count](double bits) {
      return whole(static_cast<double>(count) * bits / 8);
    };
    Cell fresh;
    if (fresh_bits) fresh = bytes(*fresh_bits);
    fresh_bytes_ += fresh_bits ? bytes(*fresh_bits) : 0;
    is_fresh_known_ = is_fresh_known_ && fresh_bits.has_value();
    compacted_bytes_ += bytes(compacted_bits);
    table_.rows.push_back({std::string(part), count, fresh_bits ? Cell(*fresh_bits) : Cell(),
                           compacted_bits, fresh, bytes(compacted_bits)});
  }

  [[nodiscard]] Cell fresh_bytes() const { return is_fresh_known_ ? Cell(fresh_bytes_) : Cell(); }
  [[nodiscard]] std::uint64_t compacted_bytes() const { return compacted_bytes_; }
  [[nodiscard]] const Table& table() const { return table_; }

 private:
  Table table_{"parts",
               {{"part", Unit::kText},
                {"item_count", Unit::kCount},
                {"fresh_bits_per_item", Unit::kRatio},
                {"compacted_bits_per_item", Unit::kRatio},
                {"fresh_bytes", Unit::kBytes},
                {"compacted_bytes", Unit::kBytes}},
               {}};
  std::uint64_t fresh_bytes_ = 0;
  std::uint64_t compacted_bytes_ = 0;
  bool is_fresh_known_ = true;
};

}  // namespace

PagesFigures usual_figures() {
  return {.source = "a crawl of 48,198 pages of documentation",
          .key_bytes = 15.9,
          .origin_bytes = 12.5,
          .record_bytes = 15.1,
          .fresh_out_bits = 8.55,
          .fresh_in_bits = 7.04,
          .compacted_out_bits = 2.70,
          .compacted_in_bits = 2.47};
}

Result<PagesFigures> figures_of(const PageView& view) {
  const PagesInfo& info = view.info();
  PagesFigures figures;
  figures.source = "the database " + info.name;
  figures.key_bytes = mean_bytes(info.key_bytes, info.page_count);
  figures.origin_bytes = mean_bytes(info.origin_bytes, info.page_count);
  figures.record_bytes = mean_bytes(info.record_bytes, info.page_count);
  const auto runs = link_runs(view);
  if (std::ranges::none_of(runs, &LinkRunInfo::is_dense)) {
    figures.fresh_out_bits = 8 * mean_bytes(info.out_link_bytes, info.link_count);
    figures.fresh_in_bits = 8 * mean_bytes(info.in_link_bytes, info.link_count);
  }
  CRAWLSTORE_TRY(const auto compacted, estimate_compacted_links(view));
  figures.compacted_out_bits = 8 * mean_bytes(compacted.out_bytes, info.link_count);
  figures.compacted_in_bits = 8 * mean_bytes(compacted.in_bytes, info.link_count);
  return figures;
}

Document pages_plan_view(std::uint64_t page_count, std::uint64_t link_count,
                         const PagesFigures& figures) {
  Parts parts;
  for (const auto& [part, bytes] :
       {std::pair{"keys", figures.key_bytes}, std::pair{"origins", figures.origin_bytes},
        std::pair{"records", figures.record_bytes}}) {
    parts.add(part, page_count, 8 * bytes, 8 * bytes);
  }
  parts.add("out_links", link_count, figures.fresh_out_bits, figures.compacted_out_bits);
  parts.add("in_links", link_count, figures.fresh_in_bits, figures.compacted_in_bits);
  return {{{"page_count", Unit::kCount, page_count},
           {"link_count", Unit::kCount, link_count},
           {"figures_of", Unit::kText, figures.source},
           {"fresh_bytes", Unit::kBytes, parts.fresh_bytes()},
           {"compacted_bytes", Unit::kBytes, parts.compacted_bytes()}},
          {parts.table()}};
}

}  // namespace crawlstore::model
