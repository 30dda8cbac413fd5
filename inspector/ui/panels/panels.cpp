// SPDX-License-Identifier: Apache-2.0
// The one list of panels. A new one: a file here, a line below, a line in CMakeLists.txt.
#include "inspector/ui/panels/panels.h"

#include <array>

namespace crawlstore::inspector {
namespace {

bool no_thing(const Thing& /*thing*/) {
  return false;
}
template <class T>
bool is_a(const Thing& thing) {
  return std::holds_alternative<T>(thing);
}

bool is_drum_thing(const Thing& thing) {
  return is_a<BucketThing>(thing) || is_a<KeyThing>(thing);
}

constexpr std::array kPanels{
    PanelKind{"start", "Start", "File", "opens a file", no_thing, make_start_panel},
    PanelKind{"overview", "Overview", "File", "what the file is, what it holds, how it is",
              is_a<std::monostate>, make_overview_panel},
    PanelKind{"segments", "Segments", "File", "every segment with its runs, fields and bytes",
              is_a<SegmentThing>, make_segments_panel},
    PanelKind{"map", "Map", "File", "what every byte of the file is, by place and by size",
              no_thing, make_map_panel},
    PanelKind{"hex", "Hex", "File", "the bytes, and what they mean", is_a<ExtentThing>,
              make_hex_panel},
    PanelKind{"buckets", "Buckets", "DRUM",
              "the buckets of a DRUM, their keys and requests, and where a key is", is_drum_thing,
              make_buckets_panel},
    PanelKind{"generations", "Generations", "File",
              "the superblocks, commits while following, pins and what they hold back",
              is_a<GenerationThing>, make_generations_panel},
    PanelKind{"problems", "Problems", "File", "what checks found; each row leads to its bytes",
              no_thing, make_problems_panel},
    PanelKind{"diff", "Diff", "File", "what changed between two generations, or two files",
              no_thing, make_diff_panel},
    PanelKind{"jobs", "Jobs", "Inspector", "what runs in the background", no_thing,
              make_jobs_panel},
    PanelKind{"log", "Log", "Inspector", "what was said", no_thing, make_log_panel},
    PanelKind{"keys", "Settings and keys", "Inspector", "colours, size, and every command",
              no_thing, make_keys_panel},
    PanelKind{"report", "Report", "Inspector", "the state of the file as Markdown, for an issue",
              no_thing, make_report_panel},
    PanelKind{"pages", "Pages", kPagesGroup, "the pages of a page database, all or of a host",
              is_a<HostThing>, make_pages_panel},
    PanelKind{"page_detail", "Page", kPagesGroup,
              "what is known of a page, how it was found, its links", is_a<PageThing>,
              make_page_panel},
    PanelKind{"hosts", "Hosts", kPagesGroup, "hosts, with how many pages they have", no_thing,
              make_hosts_panel},
    PanelKind{"links", "Links", kPagesGroup,
              "what links take, run by run and part by part, now and after compaction", no_thing,
              make_links_panel},
    PanelKind{"scores", "Scores", kPagesGroup,
              "what pages are worth by the links between them: the best, and how scores spread",
              no_thing, make_scores_panel},
    PanelKind{"queue", "Queue", kPagesGroup,
              "the pages that wait in a queue: the first of them, and how the queue lies", no_thing,
              make_queue_panel},
    PanelKind{"graph", "Graph", kPagesGroup, "the links around a page or a host", no_thing,
              make_graph_panel},
    PanelKind{"events", "Pending edits", kPagesGroup, "edits that wait for the next superstep",
              no_thing, make_events_panel},
};

}  // namespace

std::span<const std::string_view> Panel::export_endings() const {
  static constexpr std::array<std::string_view, 3> kOfRows{".csv", ".tsv", ".jsonl"};
  return kOfRows;
}

std::span<const PanelKind> panel_kinds() {
  return kPanels;
}

}  // namespace crawlstore::inspector
