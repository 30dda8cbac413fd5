// SPDX-License-Identifier: Apache-2.0
// A DRUM: its buckets as a picture or a table; keys, requests that wait and gaps of one of them;
// and where a key is.
#include <algorithm>

#include <imgui.h>

#include "inspector/core/links.h"
#include "inspector/core/shown_text.h"
#include "inspector/ui/panels/buckets_picture.h"
#include "inspector/ui/panels/choices.h"
#include "inspector/ui/panels/gaps_part.h"
#include "inspector/ui/panels/panels.h"
#include "inspector/ui/table64.h"
#include "model/bucket_bars.h"
#include "model/drum_rows.h"
#include "model/format_text.h"
#include "model/key_text.h"
#include "model/parse_text.h"

namespace crawlstore::inspector {
namespace {

enum class BucketPart : std::uint8_t { kKeys, kPending, kGaps };
enum class BucketsLook : std::uint8_t { kByKey, kByFill, kTable };

class BucketsPanel final : public Panel {
 public:
  void draw(Ui& ui) override {
    const auto view = ui.session.view();
    if (view == nullptr) return draw_no_file(ui);
    if (view->drums_problem) return draw_problem(ui, *view->drums_problem);
    if (view->drums.empty()) {
      draw_paragraph(ui, "This generation has no DRUM, or none that can be read.",
                     ui.palette.faint);
      return;
    }
    follow(*view);
    draw_drums(ui, *view);
    if (problem_) return draw_problem(ui, *problem_);
    if (drum_) {
      draw_summary(ui, *view);
      draw_lookup(ui, *view);
      choose_found();
    }
    if (buckets_ == nullptr) return;
    draw_looks(ui);
    if (look_ == BucketsLook::kTable) {
      draw_table(ui);
    } else {
      draw_picture(ui);
    }
    if (!drum_) return;
    Details of_bucket = ui.details;
    draw_parts(ui);
    if (!has_details_) ui.details = std::move(of_bucket);
    show_place(ui);
  }

  void let_go(Jobs& jobs) override {
    jobs.cancel_slot("look up");
    gaps_.let_go(jobs);
    number_ = 0;
    close();
  }
  void show(const Thing& thing) override {
    if (const auto* bucket = std::get_if<BucketThing>(&thing)) {
      choose(bucket->drum);
      select(bucket->bucket);
    }
    if (const auto* key = std::get_if<KeyThing>(&thing)) {
      if (!key->drum.empty()) choose(key->drum);
      lookup_ = model::format_key(key->key, key->is_wide);
      must_look_up_ = true;
      is_bucket_wanted_ = true;
    }
  }
  [[nodiscard]] std::string view_state() const override {
    return std::to_string(static_cast<int>(part_)) + "\n" +
           std::to_string(static_cast<int>(look_)) + "\n" + std::to_string(bucket_) + "\n" + name_ +
           "\n" + lookup_ + "\n" + buckets_table_.view_state();
  }
  void restore(std::string_view state) override {
    const auto lines = take_lines<5>(state);
    if (!lines) return;
    const auto number = [&lines](std::size_t line, std::uint64_t max) {
      return std::min(max, model::parse_count((*lines)[line]).value_or(0));
    };
    part_ = static_cast<BucketPart>(number(0, 2));
    look_ = static_cast<BucketsLook>(number(1, 2));
    choose(std::string((*lines)[3]));
    bucket_ = number(2, UINT64_MAX);
    has_choice_ = true;
    lookup_ = (*lines)[4];
    buckets_table_.restore(state);
  }
  bool export_to(Ui& ui, const std::string& path) override {
    const Table64* part = part_ == BucketPart::kPending ? &pending_table_ : &keys_table_;
    if (part_ == BucketPart::kGaps) part = gaps_.table();
    if (part == nullptr) return buckets_table_.export_to(ui, path);
    return Table64::last_used({&buckets_table_, part}).export_to(ui, path);
  }

 private:
  void choose(const std::string& name) {
    if (name_ == name) return;
    name_ = name;
    close();
    buckets_.reset();
    number_ = 0;
    place_.reset();
    bucket_ = 0;
    has_choice_ = false;
    shown_bucket_.reset();
  }

  void select(std::uint64_t bucket) {
    bucket_ = bucket;
    has_choice_ = true;
    buckets_table_.select(bucket);
  }

  void follow(const model::FileView& view) {
    const bool is_there =
        std::ranges::any_of(view.drums, [&](const DrumInfo& drum) { return drum.name == name_; });
    if (!is_there) choose(view.drums.front().name);
    if (number_ == view.number) return;
    number_ = view.number;
    close();
    if (!view.snapshot) return;
    auto opened = DrumView::open(*view.snapshot, name_);
    problem_ = opened ? std::nullopt : std::optional(opened.error());
    drum_ = opened ? std::optional(std::move(*opened)) : std::nullopt;
    if (!drum_) return;
    buckets_ = std::make_shared<model::TableRows>(model::buckets_table(*drum_, view.segments));
    bars_ = model::bucket_bars(*drum_);
    by_fill_ = bars_;
    model::sort_by_fill(by_fill_.bars);
    // The first look is at the fullest one, and stays there.
    if (!has_choice_ && !by_fill_.bars.empty()) select(by_fill_.bars.front().bucket);
    const DrumInfo& info = drum_->info();
    keys_max_ = info.partition_keys_max;
    merge_at_.clear();
    merge_number_.clear();
    if (info.merge_bytes != 0) {
      merge_number_ = model::format_bytes(info.merge_bytes);
      merge_at_ = merge_number_ + " of a log";
    } else if (info.merge_requests != 0) {
      merge_number_ = model::format_count(info.merge_requests);
      merge_at_ = merge_number_ + " requests";
    }
    must_look_up_ = must_look_up_ || place_.has_value();
  }

  /// The readers of the file go, the rows that were read stay.
  void close() {
    drum_.reset();
    keys_.reset();
    pending_.reset();
    rows_of_.reset();
  }

  void draw_drums(Ui& ui, const model::FileView& view) {
    const std::string& chosen = draw_names(ui, "buckets.drum.", view.drums, name_).name;
    if (chosen != name_) ui.actions.go({"buckets", BucketThing{chosen, 0}});
  }

  void draw_summary(Ui& ui, const model::FileView& view) {
    const DrumInfo& info = drum_->info();
    std::string text = model::format_count(info.key_count) + " keys of " +
                       std::to_string(info.key_bytes) + " bytes in " +
                       model::format_count(drum_->buckets().size()) + " buckets, " +
                       model::format_bytes(info.partition_bytes);
    if (info.key_count > 0) {
      text += ", " + model::format_cell(info.bytes_per_key(), model::Unit::kRatio) + " bytes a key";
    }
    text += "; " + model::format_count(info.pending_count) + " requests wait in logs, " +
            model::format_bytes(info.pending_bytes) + "; " + model::format_count(info.merge_count) +
            " merges";
    draw_paragraph(ui, text, ui.palette.text);
    const auto pages = std::ranges::find(view.pages, info.name, &PagesInfo::name);
    const bool has_fresh = pages != view.pages.end() && pages->page_count > info.key_count;
    draw_paragraph(ui,
                   has_fresh ? "Keys of pages that came lately are in the page database's fresh "
                               "keys, and in no bucket yet."
                             : "What a live writer still keeps in memory is not in the file.",
                   ui.palette.faint);
  }

  void draw_looks(Ui& ui) {
    constexpr std::pair<BucketsLook, const char*> kLooks[] = {
        {BucketsLook::kByKey, "In key order"},
        {BucketsLook::kByFill, "Fullest first"},
        {BucketsLook::kTable, "As a table"}};
    for (const auto& [look, text] : kLooks) {
      if (look != kLooks[0].first) place_beside(choice_width(text));
      if (draw_choice(ui, std::string("buckets.") + text, text, look_ == look)) look_ = look;
    }
    // The thresholds in words: a picture has no room for them.
    std::string text =
        merge_at_.empty() ? "when its writer merges is not stated" : "merge at " + merge_at_;
    if (keys_max_ != 0) text += ", split at " + model::format_count(keys_max_) + " keys";
    if (look_ == BucketsLook::kTable) text += "; other bars against the largest";
    draw_paragraph(ui, text, ui.palette.faint);
    draw_merges(ui);
  }

  /// Draws which bucket is merged next, or how many should be already.
  void draw_merges(Ui& ui) const {
    if (by_fill_.bars.empty() || by_fill_.bars.front().mark == model::BucketMark::kNone) return;
    const model::BucketBar& fullest = by_fill_.bars.front();
    const auto due =
        std::ranges::count(by_fill_.bars, model::BucketMark::kMergeDue, &model::BucketBar::mark);
    std::string text = "merge next: bucket " + model::format_count(fullest.bucket);
    if (due > 0) {
      text = "merge due: " + model::format_counted(static_cast<std::uint64_t>(due), "bucket") +
             ", the fullest is bucket " + model::format_count(fullest.bucket);
    }
    place_beside(text_width(text));
    draw_link(ui, "buckets.fullest", text, {"buckets", BucketThing{name_, fullest.bucket}});
  }

  void draw_picture(Ui& ui) {
    const ImVec2 room = ImGui::GetContentRegionAvail();
    const ImVec2 size(room.x, std::max(room.y * 0.42F, ui.px(90)));
    const auto clicked = draw_buckets(ui,
                                      {look_ == BucketsLook::kByKey ? bars_ : by_fill_, bucket_,
                                       merge_number_, model::format_count(keys_max_)},
                                      size);
    if (clicked) select(*clicked);
    const auto rows = buckets_->rows(bucket_, 1);
    if (!rows || rows->empty()) return;
    ui.details.title = "bucket " + model::format_count(bucket_);
    ui.details.lines.clear();
    for (std::size_t i = 1; i < buckets_->columns().size(); ++i) {
      const model::Column& column = buckets_->columns()[i];
      const model::Cell& cell = rows->front()[i];
      ui.details.lines.push_back(
          {column.name, shown_text(cell, column.unit), thing_of(column, cell, name_)});
    }
  }

  /// Its bars are measured by the thresholds, or by the largest.
  void draw_table(Ui& ui) {
    TableOptions options{.id = "buckets", .drum = name_};
    options.is_main = true;
    options.height = ImGui::GetContentRegionAvail().y * 0.42F;
    options.bars = {"partition_bytes", "pending_count", "key_log_bytes", "aux_log_bytes"};
    if (!merge_at_.empty()) options.bars_against.emplace_back("merge_ratio", 1);
    if (keys_max_ != 0) {
      options.bars_against.emplace_back("key_count", static_cast<double>(keys_max_));
    } else {
      options.bars.emplace_back("key_count");
    }
    buckets_table_.draw(ui, buckets_, options);
    if (buckets_table_.selected()) bucket_ = *buckets_table_.selected();
  }

  void draw_lookup(Ui& ui, const model::FileView& view) {
    const float room = ImGui::GetContentRegionAvail().x;
    const float beside = room - button_width("Look up") - ui.px(8);
    ImGui::SetNextItemWidth(std::min(ui.px(520), beside < ui.px(160) ? room : beside));
    const bool is_entered =
        draw_input(ui, "buckets.lookup", "look up a key (hex digits) or a URL", lookup_);
    place_beside(button_width("Look up"));
    const bool is_clicked = draw_button(ui, "buckets.look_up", "Look up");
    if (!is_entered && !is_clicked && !must_look_up_) return;
    must_look_up_ = false;
    if (!view.snapshot) return;
    if (lookup_.find("\xef\xbf\xbd") != lookup_.npos) {
      ui.actions.say(Severity::kWarning,
                     "this field takes no code points beyond U+FFFF: write them percent-encoded");
      return;
    }
    const auto key = model::parse_key(lookup_, drum_->info(), view.snapshot->key_seed());
    if (!key) {
      ui.actions.say(Severity::kWarning, "a key of this DRUM is " +
                                             std::to_string(2 * drum_->info().key_bytes) +
                                             " hexadecimal digits");
      return;
    }
    if (is_entered || is_clicked) is_bucket_wanted_ = true;
    look_up(ui, view, *key);
  }

  /// A few blocks, and the keys of one bucket's log: in the background, for logs may be large.
  /// Keys of pages that came lately are in no bucket, but known to the page database.
  void look_up(Ui& ui, const model::FileView& view, Key16 key) {
    std::optional<PageView> pages;
    for (const PageView& database : view.page_views) {
      if (database.info().name == drum_->info().name) pages = database;
    }
    ui.jobs.start("look up " + shown_text(lookup_), "look up",
                  [drum = *drum_, key, pages, box = found_](JobContext& context) -> Jobs::Finish {
                    Found found{key, std::make_shared<Result<KeyPlace>>(find_key(drum, key)), {}};
                    if (pages && *found.place && !(**found.place).stored) {
                      auto page = model::page_of_key(
                          *pages, key, [&](auto... at) { return context.progress(at...); });
                      if (!page) *found.place = tl::unexpected<Error>(page.error());
                      if (page) found.page = *page;
                    }
                    return [box, found] { *box = found; };
                  });
    place_ = key;
  }

  [[nodiscard]] bool is_found() const {
    return place_ && *found_ && (*found_)->key == *place_ && *(*found_)->place;
  }

  /// Once after each question, and not when a new generation is asked the same.
  void choose_found() {
    if (!is_bucket_wanted_ || !is_found()) return;
    is_bucket_wanted_ = false;
    select((**(*found_)->place).bucket);
  }

  void show_place(Ui& ui) const {
    if (!place_ || !*found_ || !((*found_)->key == *place_)) return;
    const Result<KeyPlace>& place = *(*found_)->place;
    ui.details.lines.clear();
    if (!place) {
      ui.details.title = describe(place.error());
      return;
    }
    ui.details.title = lookup_;
    for (const model::Field& field :
         model::key_place_view(*drum_, *place_, *place, (*found_)->page).fields) {
      Thing thing;
      const auto* number = std::get_if<std::uint64_t>(&field.value);
      if (number != nullptr && field.unit == model::Unit::kOffset) {
        thing = ExtentThing{{*number, 0}};
      }
      if (number != nullptr && field.name == "partition") thing = SegmentThing{{*number}};
      if (number != nullptr && field.name == "bucket") thing = BucketThing{name_, *number};
      if (number != nullptr && field.name == "page") thing = PageThing{name_, *number};
      ui.details.lines.push_back(
          {field.name, shown_text(field.value, field.unit), std::move(thing)});
    }
  }

  void draw_parts(Ui& ui) {
    constexpr std::pair<BucketPart, const char*> kParts[] = {
        {BucketPart::kKeys, "Keys"},
        {BucketPart::kPending, "Requests that wait"},
        {BucketPart::kGaps, "Gaps"}};
    ImGui::Dummy(ImVec2(0, ui.px(4)));
    for (const auto& [part, text] : kParts) {
      if (part != kParts[0].first) place_beside(choice_width(text));
      if (draw_choice(ui, std::string("buckets.") + text, text, part_ == part)) part_ = part;
    }
    const std::string of = "of bucket " + model::format_count(bucket_);
    place_beside(text_width(of));
    draw_text(ui, of, ui.palette.faint);
    has_details_ = false;
    follow_bucket();
    if (part_ == BucketPart::kKeys) draw_rows(ui, keys_table_, keys_, "keys");
    if (part_ == BucketPart::kPending) draw_rows(ui, pending_table_, pending_, "pending");
    if (part_ != BucketPart::kGaps) return;
    gaps_.draw(ui, *drum_, bucket_, number_);
    has_details_ = gaps_.has_details();
  }

  /// The tables below show the chosen bucket alone.
  void follow_bucket() {
    if (rows_of_ == bucket_) return;
    rows_of_ = bucket_;
    keys_ = model::key_rows(*drum_, bucket_);
    pending_ = model::pending_rows(*drum_, bucket_);
    if (shown_bucket_ == bucket_) return;
    shown_bucket_ = bucket_;
    keys_table_ = Table64();
    pending_table_ = Table64();
  }

  void draw_rows(Ui& ui, Table64& table, const std::shared_ptr<const model::TableSource>& rows,
                 const char* id) {
    table.draw(ui, rows, {.id = id, .drum = name_});
    has_details_ = table.selected().has_value();
  }

  struct Found {
    Key16 key;
    std::shared_ptr<Result<KeyPlace>> place;
    std::optional<std::uint64_t> page;  // that has it, where no bucket does
  };
  std::uint64_t number_ = 0;
  std::string name_;
  std::optional<DrumView> drum_;
  std::optional<Error> problem_;
  std::uint64_t keys_max_ = 0;  // as the file states them, and 0 and empty where it does not
  std::string merge_at_;
  std::string merge_number_;  // of it
  std::shared_ptr<const model::TableSource> buckets_;
  model::BucketBars bars_;  // in the order of their keys, and by how full they are
  model::BucketBars by_fill_;
  std::uint64_t bucket_ = 0;  // that is chosen
  bool has_choice_ = false;
  std::shared_ptr<const model::TableSource> keys_;
  std::shared_ptr<const model::TableSource> pending_;
  std::optional<std::uint64_t> rows_of_;       // bucket that they read
  std::optional<std::uint64_t> shown_bucket_;  // that their tables were scrolled in
  BucketsLook look_ = BucketsLook::kByKey;
  BucketPart part_ = BucketPart::kKeys;
  bool has_details_ = false;
  std::string lookup_;
  bool must_look_up_ = false;
  bool is_bucket_wanted_ = false;  // the one of the key that is looked up
  std::optional<Key16> place_;
  // Shared with the job that fills it, which may outlive the panel.
  std::shared_ptr<std::optional<Found>> found_ = std::make_shared<std::optional<Found>>();
  GapsPart gaps_;
  Table64 buckets_table_;
  Table64 keys_table_;
  Table64 pending_table_;
};

}  // namespace

std::unique_ptr<Panel> make_buckets_panel() {
  return std::make_unique<BucketsPanel>();
}

}  // namespace crawlstore::inspector
