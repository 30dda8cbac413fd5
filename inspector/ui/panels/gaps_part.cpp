// SPDX-License-Identifier: Apache-2.0
#include "inspector/ui/panels/gaps_part.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include <imgui.h>

#include "model/format_text.h"

namespace crawlstore::inspector {
namespace {

std::string power(unsigned exponent) {
  return "2^" + std::to_string(exponent);
}

std::vector<HistogramBar> bars_of(const GapHistogram& histogram) {
  std::vector<HistogramBar> bars;
  for (unsigned i = 0; i < histogram.counts.size(); ++i) {
    bars.push_back({power(i), histogram.counts[i]});
  }
  return bars;
}

std::uint64_t count_in(const GapHistogram& histogram, const model::GapRange& range) {
  const auto begin = histogram.counts.begin();
  return std::accumulate(begin + range.low, begin + range.high + 1, std::uint64_t{0});
}

}  // namespace

void GapsPart::draw(Ui& ui, const DrumView& drum, std::uint64_t bucket, std::uint64_t number) {
  if (drum.info().key_bytes > sizeof(std::uint64_t)) {
    return draw_paragraph(ui,
                          "Gaps are those of keys of 8 bytes. Keys of pages begin with 8 bytes of "
                          "their host, so keys of one host are neighbours. They differ in the 8 "
                          "bytes behind.",
                          ui.palette.faint);
  }
  if (gaps_ == nullptr || bucket_ != bucket || number_ != number) {
    if (bucket_ != bucket) range_.reset();
    bucket_ = bucket;
    number_ = number;
    count(ui, drum);
    if (range_) list_keys(ui, drum, *range_);
  }
  if (gaps_->problem) return draw_problem(ui, *gaps_->problem);
  if (!gaps_->histogram) return draw_text(ui, "reading the keys ...", ui.palette.faint);
  draw_paragraph(ui,
                 "gaps between neighbouring keys by their power of two, of " +
                     model::format_count(gaps_->histogram->key_count) +
                     " keys; a drag over the bars lists the keys behind such gaps",
                 ui.palette.faint);
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const float height = range_ ? std::max(room.y * 0.5F, ui.px(80)) : std::max(room.y, ui.px(80));
  const BarRange chosen = range_ ? BarRange{range_->low, range_->high} : BarRange();
  const auto dragged =
      draw_histogram(ui, "gaps", bars_of(*gaps_->histogram), chosen, ImVec2(room.x, height));
  if (dragged && *dragged == BarRange()) range_.reset();
  if (dragged && *dragged != BarRange()) {
    list_keys(ui, drum,
              {static_cast<unsigned>(dragged->first), static_cast<unsigned>(dragged->last)});
  }
  if (range_) draw_keys(ui, drum);
}

void GapsPart::let_go(Jobs& jobs) {
  jobs.cancel_slot("gaps");
  jobs.cancel_slot("gap keys");
  gaps_.reset();
}

void GapsPart::count(Ui& ui, const DrumView& drum) {
  gaps_ = std::make_shared<Gaps>();
  ui.jobs.start("gaps of bucket " + model::format_count(bucket_), "gaps",
                [drum, bucket = bucket_, box = gaps_](JobContext& context) -> Jobs::Finish {
                  GapOptions options;
                  options.bucket = bucket;
                  options.progress = [&context](std::uint64_t done, std::uint64_t total) {
                    return context.progress(done, total);
                  };
                  auto found = std::make_shared<Gaps>();
                  if (auto result = gap_histogram(drum, options)) {
                    found->histogram = *result;
                  } else {
                    found->problem = result.error();
                  }
                  return [box, found] { *box = *found; };
                });
}

void GapsPart::list_keys(Ui& ui, const DrumView& drum, model::GapRange range) {
  if (range_ != range) table_ = Table64();
  range_ = range;
  keys_ = std::make_shared<Keys>();
  ui.jobs.start("keys of gaps", "gap keys",
                [drum, bucket = bucket_, range, box = keys_](JobContext& context) -> Jobs::Finish {
                  auto found = std::make_shared<Keys>();
                  auto table = model::gap_keys(drum, bucket, range, [&context](auto... at) {
                    return context.progress(at...);
                  });
                  if (table) {
                    found->rows = std::make_shared<model::TableRows>(std::move(*table));
                  } else {
                    found->problem = table.error();
                  }
                  return [box, found] { *box = *found; };
                });
}

void GapsPart::draw_keys(Ui& ui, const DrumView& drum) {
  if (keys_->problem) return draw_problem(ui, *keys_->problem);
  if (keys_->rows == nullptr) return draw_text(ui, "reading the keys ...", ui.palette.faint);
  const std::uint64_t listed = keys_->rows->row_count();
  const std::uint64_t all = count_in(*gaps_->histogram, *range_);
  std::string text = model::format_counted(all, "key") + " with gaps from " + power(range_->low) +
                     " to below " + power(range_->high + 1);
  if (listed < all) text += ", the first " + model::format_count(listed) + " of them";
  draw_paragraph(ui, text, ui.palette.text);
  table_.draw(ui, keys_->rows, {.id = "gap_keys", .drum = drum.info().name});
}

}  // namespace crawlstore::inspector
