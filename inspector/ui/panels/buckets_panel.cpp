// SPDX-License-Identifier: Apache-2.0
// A DRUM: its buckets with what they hold, keys, requests that wait, gaps; and where a key is.
#include <algorithm>

#include <imgui.h>

#include "inspector/core/shown_text.h"
#include "inspector/ui/panels/choices.h"
#include "inspector/ui/panels/panels.h"
#include "inspector/ui/plot.h"
#include "inspector/ui/table64.h"
#include "model/drum_rows.h"
#include "model/format_text.h"
#include "model/key_text.h"
#include "model/parse_text.h"

namespace crawlstore::inspector {
namespace {

enum class Part : std::uint8_t { kKeys, kPending, kGaps };

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
      draw_summary(ui);
      draw_lookup(ui, *view);
    }
    if (buckets_ == nullptr) return;
    TableOptions options{.id = "buckets", .drum = name_};
    options.height = ImGui::GetContentRegionAvail().y * 0.42F;
    draw_scales(ui, options);
    buckets_table_.draw(ui, buckets_, options);
    if (!drum_) {
      return draw_paragraph(
          ui, "Keys and requests can be read again when the file is looked at again (F5).",
          ui.palette.faint);
    }
    Details of_bucket = ui.details;
    draw_parts(ui);
    if (part_ == Part::kGaps || !has_details_) ui.details = std::move(of_bucket);
    show_place(ui);
  }

  void let_go(Jobs& jobs) override {
    jobs.cancel_slot("look up");
    jobs.cancel_slot("gaps");
    gaps_.reset();
    number_ = 0;
    close();
  }
  void show(const Thing& thing) override {
    if (const auto* bucket = std::get_if<BucketThing>(&thing)) {
      choose(bucket->drum);
      wanted_bucket_ = bucket->bucket;
    }
    if (const auto* key = std::get_if<KeyThing>(&thing)) {
      if (!key->drum.empty()) choose(key->drum);
      lookup_ = model::format_key(key->key, key->is_wide);
      must_look_up_ = true;
    }
  }
  [[nodiscard]] std::string view_state() const override {
    return std::to_string(static_cast<int>(part_)) + "\n" + name_ + "\n" + lookup_ + "\n" +
           buckets_table_.view_state();
  }
  void restore(std::string_view state) override {
    const auto part = state.find('\n');
    const auto name = state.find('\n', part + 1);
    const auto lookup = state.find('\n', name + 1);
    if (part == state.npos || name == state.npos || lookup == state.npos) return;
    part_ = static_cast<Part>(
        std::min<std::uint64_t>(2, model::parse_count(state.substr(0, part)).value_or(0)));
    choose(std::string(state.substr(part + 1, name - part - 1)));
    lookup_ = state.substr(name + 1, lookup - name - 1);
    buckets_table_.restore(state.substr(lookup + 1));
    wanted_bucket_.reset();
  }
  bool export_to(Ui& ui, const std::string& path) override {
    const Table64& part = part_ == Part::kPending ? pending_table_ : keys_table_;
    if (part_ == Part::kGaps) return buckets_table_.export_to(ui, path);
    return Table64::last_used({&buckets_table_, &part}).export_to(ui, path);
  }

 private:
  /// What a job finds out, shared with it; a newer question gets a box of its own.
  struct Gaps {
    std::optional<GapHistogram> histogram;
    std::optional<Error> problem;
  };

  void choose(const std::string& name) {
    if (name_ == name) return;
    name_ = name;
    close();
    buckets_.reset();
    number_ = 0;
    place_.reset();
    gaps_.reset();
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
    keys_ = model::key_rows(*drum_);
    const DrumInfo& info = drum_->info();
    keys_max_ = info.partition_keys_max;
    merge_at_.clear();
    if (info.merge_bytes != 0) {
      merge_at_ = model::format_bytes(info.merge_bytes) + " of a log";
    } else if (info.merge_requests != 0) {
      merge_at_ = model::format_count(info.merge_requests) + " requests";
    }
    must_look_up_ = must_look_up_ || place_.has_value();
  }

  /// What reads the file goes, what was read stays.
  void close() {
    drum_.reset();
    keys_.reset();
    pending_.reset();
    pending_of_.reset();
  }

  void draw_drums(Ui& ui, const model::FileView& view) {
    const std::string& chosen = draw_names(ui, "buckets.drum.", view.drums, name_).name;
    if (chosen != name_) ui.actions.go({"buckets", BucketThing{chosen, 0}});
  }

  void draw_summary(Ui& ui) {
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
    draw_paragraph(ui, "What a live writer still keeps in memory is not in the file.",
                   ui.palette.faint);
  }

  /// What the bars are measured by; the same numbers in words.
  void draw_scales(Ui& ui, TableOptions& options) const {
    options.bars = {"partition_bytes", "pending_count", "key_log_bytes", "aux_log_bytes"};
    std::string text = "merge at " + merge_at_;
    if (merge_at_.empty()) {
      text = "when its writer merges is not stated";
    } else {
      options.bars_against.emplace_back("merge_ratio", 1);
    }
    if (keys_max_ != 0) {
      options.bars_against.emplace_back("key_count", static_cast<double>(keys_max_));
      text += ", split at " + model::format_count(keys_max_) + " keys";
    } else {
      options.bars.emplace_back("key_count");
    }
    draw_paragraph(ui, text + "; other bars against the largest", ui.palette.faint);
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
    look_up(ui, *key);
  }

  /// A few blocks, and the keys of one bucket's log: in the background, for logs may be large.
  void look_up(Ui& ui, Key16 key) {
    ui.jobs.start("look up " + lookup_, "look up",
                  [drum = *drum_, key, box = found_](JobContext&) -> Jobs::Finish {
                    auto place = std::make_shared<Result<KeyPlace>>(find_key(drum, key));
                    return [box, place, key] { *box = Found{key, place}; };
                  });
    place_ = key;
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
    for (const model::Field& field : model::key_place_view(*drum_, *place_, *place).fields) {
      Thing thing;
      const auto* number = std::get_if<std::uint64_t>(&field.value);
      if (number != nullptr && field.unit == model::Unit::kOffset) {
        thing = ExtentThing{{*number, 0}};
      }
      if (number != nullptr && field.name == "partition") thing = SegmentThing{{*number}};
      if (number != nullptr && field.name == "bucket") thing = BucketThing{name_, *number};
      ui.details.lines.push_back(
          {field.name, shown_text(field.value, field.unit), std::move(thing)});
    }
  }

  [[nodiscard]] std::uint64_t selected_bucket() const {
    return buckets_table_.selected().value_or(0);
  }

  void draw_parts(Ui& ui) {
    if (wanted_bucket_) buckets_table_.select(*std::exchange(wanted_bucket_, std::nullopt));
    constexpr std::pair<Part, const char*> kParts[] = {
        {Part::kKeys, "Keys"}, {Part::kPending, "Requests that wait"}, {Part::kGaps, "Gaps"}};
    ImGui::Dummy(ImVec2(0, ui.px(4)));
    for (const auto& [part, text] : kParts) {
      if (part != kParts[0].first) place_beside(choice_width(text));
      if (draw_choice(ui, std::string("buckets.") + text, text, part_ == part)) part_ = part;
    }
    const std::string of = "of bucket " + model::format_count(selected_bucket());
    place_beside(text_width(of));
    draw_text(ui, of, ui.palette.faint);
    has_details_ = false;
    if (part_ == Part::kKeys) draw_keys(ui);
    if (part_ == Part::kPending) draw_pending(ui);
    if (part_ == Part::kGaps) draw_gaps(ui);
  }

  /// All keys, with the first one of the selected bucket on top.
  void draw_keys(Ui& ui) {
    if (keys_of_ != selected_bucket()) {
      keys_of_ = selected_bucket();
      std::uint64_t row = 0;
      for (std::uint64_t i = 0; i < *keys_of_ && i < drum_->buckets().size(); ++i) {
        row += drum_->buckets()[i].key_count;
      }
      keys_table_.scroll_to_top(row);
    }
    keys_table_.draw(ui, keys_, {.id = "keys", .drum = name_});
    has_details_ = keys_table_.selected().has_value();
  }

  void draw_pending(Ui& ui) {
    if (pending_of_ != selected_bucket()) {
      pending_of_ = selected_bucket();
      pending_ = model::pending_rows(*drum_, *pending_of_);
      pending_table_ = Table64();
    }
    pending_table_.draw(ui, pending_, {.id = "pending", .drum = name_});
    has_details_ = pending_table_.selected().has_value();
  }

  void draw_gaps(Ui& ui) {
    if (gaps_ == nullptr || gaps_of_ != selected_bucket() || gaps_number_ != number_) {
      gaps_ = std::make_shared<Gaps>();
      gaps_of_ = selected_bucket();
      gaps_number_ = number_;
      ui.jobs.start(
          "gaps of bucket " + model::format_count(gaps_of_), "gaps",
          [drum = *drum_, bucket = gaps_of_, box = gaps_](JobContext& context) -> Jobs::Finish {
            GapOptions options;
            options.bucket = bucket;
            options.progress = [&context](std::uint64_t done, std::uint64_t total) {
              return context.progress(done, total);
            };
            auto result = std::make_shared<Result<GapHistogram>>(gap_histogram(drum, options));
            return [box, result] {
              if (*result) {
                box->histogram = **result;
              } else {
                box->problem = result->error();
              }
            };
          });
    }
    if (gaps_->problem) return draw_problem(ui, *gaps_->problem);
    if (!gaps_->histogram) return draw_text(ui, "reading the keys ...", ui.palette.faint);
    draw_paragraph(ui,
                   "gaps between neighbouring keys by their power of two, of " +
                       model::format_count(gaps_->histogram->key_count) + " keys",
                   ui.palette.faint);
    std::vector<HistogramBar> bars;
    for (std::size_t i = 0; i < gaps_->histogram->counts.size(); ++i) {
      bars.push_back({"2^" + std::to_string(i), gaps_->histogram->counts[i]});
    }
    draw_histogram(ui, "gaps", bars, std::max(ImGui::GetContentRegionAvail().y, ui.px(80)));
  }

  struct Found {
    Key16 key;
    std::shared_ptr<Result<KeyPlace>> place;
  };
  std::uint64_t number_ = 0;
  std::string name_;
  std::optional<DrumView> drum_;
  std::optional<Error> problem_;
  std::uint64_t keys_max_ = 0;  // as the file states them, and 0 and empty where it does not
  std::string merge_at_;
  std::shared_ptr<const model::RowSource> buckets_;
  std::shared_ptr<const model::RowSource> keys_;
  std::shared_ptr<const model::RowSource> pending_;
  std::optional<std::uint64_t> keys_of_;
  std::optional<std::uint64_t> pending_of_;
  std::optional<std::uint64_t> wanted_bucket_;
  Part part_ = Part::kKeys;
  bool has_details_ = false;
  std::string lookup_;
  bool must_look_up_ = false;
  std::optional<Key16> place_;
  // Shared with the job that fills it, which may outlive the panel.
  std::shared_ptr<std::optional<Found>> found_ = std::make_shared<std::optional<Found>>();
  std::shared_ptr<Gaps> gaps_;
  std::uint64_t gaps_of_ = 0;
  std::uint64_t gaps_number_ = 0;
  Table64 buckets_table_;
  Table64 keys_table_;
  Table64 pending_table_;
};

}  // namespace

std::unique_ptr<Panel> make_buckets_panel() {
  return std::make_unique<BucketsPanel>();
}

}  // namespace crawlstore::inspector
