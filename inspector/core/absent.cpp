// SPDX-License-Identifier: Apache-2.0
#include "inspector/core/absent.h"

#include <algorithm>
#include <vector>

#include "inspector/core/shown_text.h"
#include "model/format_text.h"

namespace crawlstore::inspector {
namespace {

constexpr std::size_t kNamedMax = 8;

std::string in_quotes(std::string_view name) {
  return "\"" + shown_text(name) + "\"";
}

/// "There is no queue "x" in this generation: it has "queue" and 3 more."
template <class Info>
std::string no_such_name(const std::string& noun, std::string_view name,
                         const std::vector<Info>& infos) {
  std::string text = "There is no " + noun + " " + in_quotes(name) + " in this generation: it has ";
  if (infos.empty()) return text + "no " + noun + ".";
  const std::size_t named_count = std::min(infos.size(), kNamedMax);
  for (std::size_t i = 0; i < named_count; ++i) {
    if (i > 0) text += i + 1 == infos.size() ? " and " : ", ";
    text += in_quotes(infos[i].name);
  }
  if (infos.size() > named_count) {
    text += " and " + model::format_count(infos.size() - named_count) + " more";
  }
  return text + ".";
}

template <class Info>
bool has_name(const std::vector<Info>& infos, std::string_view name) {
  return std::ranges::find(infos, name, &Info::name) != infos.end();
}

std::string no_such_number(const std::string& noun, std::uint64_t number, const std::string& of,
                           std::uint64_t count) {
  std::string text =
      "There is no " + noun + " " + model::format_count(number) + ": " + of + " has ";
  if (count == 0) return text + "none.";
  return text + model::format_counted(count, noun) + ", from 0 to " +
         model::format_count(count - 1) + ".";
}

struct Absence {
  const model::FileView& view;
  std::string_view panel;

  std::string operator()(std::monostate) const { return {}; }
  std::string operator()(const RowThing& /*thing*/) const { return {}; }
  std::string operator()(const SegmentThing& thing) const {
    const bool is_there =
        std::ranges::find(view.segments, thing.id, &SegmentInfo::id) != view.segments.end();
    if (is_there) return {};
    return "There is no segment " + std::to_string(thing.id.value) +
           " in this generation: it has " + model::format_counted(view.segments.size(), "segment") +
           ".";
  }
  std::string operator()(const ExtentThing& thing) const {
    const std::uint64_t end_bytes = view.info.file_bytes;
    if (thing.extent.offset_bytes < end_bytes || thing.extent.offset_bytes == 0) return {};
    return "There is nothing at " + model::format_offset(thing.extent.offset_bytes) +
           ": the file ends at " + model::format_offset(end_bytes) + ".";
  }
  std::string operator()(const GenerationThing& thing) const {
    const std::uint64_t newest = view.info.generation.value;
    const bool is_there = thing.generation.value + 1 >= newest || panel != "generations";
    if (thing.generation.value != 0 && !is_there) {
      return "Generation " + model::format_count(thing.generation.value) +
             " is not in the file any more, which keeps the newest one, " +
             model::format_count(newest) + ", and the one before it.";
    }
    if (thing.generation.value != 0 && thing.generation.value <= newest) return {};
    return "There is no generation " + model::format_count(thing.generation.value) +
           ": the newest is " + model::format_count(newest) + ".";
  }
  std::string operator()(const BucketThing& thing) const {
    if (std::string text = no_drum(thing.drum); !text.empty()) return text;
    const auto drum = std::ranges::find(view.drums, thing.drum, &DrumInfo::name);
    if (drum == view.drums.end() || thing.bucket < drum->bucket_count) return {};
    return no_such_number("bucket", thing.bucket, "the DRUM " + in_quotes(drum->name),
                          drum->bucket_count);
  }
  std::string operator()(const KeyThing& thing) const { return no_drum(thing.drum); }
  std::string operator()(const PageThing& thing) const {
    if (std::string text = no_database(thing.pages); !text.empty()) return text;
    // Page 0 stands for all in the table, and queues have pages that no database knows.
    if ((panel == "pages" && thing.index == 0) || panel == "queue") return {};
    const auto found = model::find_pages(view, thing.pages);
    if (!found || thing.index < view.pages[*found].page_count) return {};
    return no_such_number("page", thing.index,
                          "the page database " + in_quotes(view.pages[*found].name),
                          view.pages[*found].page_count);
  }
  std::string operator()(const HostThing& thing) const { return no_database(thing.pages); }
  std::string operator()(const QueueThing& thing) const {
    if (view.queues_problem || has_name(view.queues, thing.name)) return {};
    return no_such_name("queue", thing.name, view.queues);
  }
  // The panel finds out which groups there are.
  std::string operator()(const FrontierThing& thing) const {
    if (has_name(view.frontiers, thing.name)) return {};
    return no_such_name("frontier", thing.name, view.frontiers);
  }
  std::string operator()(const ScoresThing& thing) const {
    if (std::string text = no_database(thing.pages); !text.empty()) return text;
    const auto found = model::find_pages(view, thing.pages);
    if (!found || view.scores_problem || has_name(view.scores[*found], thing.name)) return {};
    return no_such_name("score array", thing.name, view.scores[*found]);
  }

  [[nodiscard]] std::string no_drum(const std::string& name) const {
    if (name.empty() || view.drums_problem || has_name(view.drums, name)) return {};
    return no_such_name("DRUM", name, view.drums);
  }
  [[nodiscard]] std::string no_database(const std::string& name) const {
    if (name.empty() || view.pages_problem || has_name(view.pages, name)) return {};
    return no_such_name("page database", name, view.pages);
  }
};

}  // namespace

std::string why_absent(const model::FileView& view, const Location& location) {
  if (view.info.generation.value == 0) return {};  // nothing of it could be read
  return std::visit(Absence{view, location.panel}, location.thing);
}

}  // namespace crawlstore::inspector
