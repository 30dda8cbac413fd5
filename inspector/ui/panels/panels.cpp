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
    PanelKind{
        "start", "Start", "File",
        "Opens a file. Type or drop a path, choose one of the files that were open lately, or "
        "walk through the folders. A file may be open beside its writer.",
        no_thing, make_start_panel},
    PanelKind{
        "overview", "Overview", "File",
        "How the crawl is, at one look. Health, the next sensible step as a button, pages "
        "over the commits seen, queues and what waits against its thresholds; below, where "
        "the bytes are, the DRUMs, and what the file is. What is blue leads to the panel that "
        "has more of it.",
        is_a<std::monostate>, make_overview_panel},
    PanelKind{"segments", "Segments", "File",
              "Every segment with its runs, fields and bytes. Select one: below stand its runs "
              "and what its bytes say. The square is the colour of its kind, as on the map. "
              "Offsets lead to the bytes.",
              is_a<SegmentThing>, make_segments_panel},
    PanelKind{"map", "Map", "File",
              "What every byte of the file is, by place, by size, or as a table. Each group of "
              "kinds has a hue: DRUMs blue, pages red to brown, links green, scores and "
              "small values yellow, queues and frontiers pink, the file's own structures grey. "
              "Free space "
              "has a dot, unused zeros a frame, space held for readers a stripe, and what a check "
              "found damaged is hatched. A click on a "
              "tile "
              "selects it, a click on a kind in the legend dims all others.",
              no_thing, make_map_panel},
    PanelKind{"hex", "Hex", "File",
              "The bytes, and what they mean. Field and bytes under the mouse are framed on both "
              "sides; below the fields, the bytes at the cursor are read as each type of number. "
              "Arrows and pages move, Ctrl+G goes to any place, and the tools above find bytes and "
              "copy them.",
              is_a<ExtentThing>, make_hex_panel},
    PanelKind{
        "buckets", "Buckets", "DRUM",
        "The buckets of a DRUM, their keys and requests, and where a key is. Requests that "
        "wait stand above the axis, keys below it; the line on each side is the threshold, "
        "for a merge and for a split. A hollow triangle marks the bucket that is merged next, "
        "a filled one each that is due. A click chooses a bucket, whose keys, gaps and "
        "requests stand below; a drag over its gaps lists the keys behind them. A URL or key "
        "that is looked up is found in the keys, or among what waits.",
        is_drum_thing, make_buckets_panel},
    PanelKind{
        "generations", "Generations", "File",
        "The superblocks, commits while following, pins and what they hold back. A file has "
        "two superblocks, each in two copies; the newest valid one is what readers see. A pin "
        "keeps the space of a generation from reuse: the table says which process has it, and "
        "how many bytes that costs. Commits are listed from when this window began to follow.",
        is_a<GenerationThing>, make_generations_panel},
    PanelKind{"problems", "Problems", "File",
              "What checks found; each row leads to its bytes. F7 reads all checksums, Ctrl+F7 "
              "every rule of every format. A filled sign is damage, a hollow one a warning. Below "
              "stands which pages, hosts or keys a damage touches; what it does not touch can be "
              "read in all other panels.",
              no_thing, make_problems_panel},
    PanelKind{
        "diff", "Diff", "File",
        "What changed between two generations, or two files. Choose both sides above: a "
        "generation that can still be opened, or another file. A sentence says what changed, "
        "and a tab for pages, hosts, links, scores, queues, keys and segments has the rows of "
        "each.",
        no_thing, make_diff_panel},
    PanelKind{"jobs", "Jobs", "Inspector",
              "What runs in the background. Each job has its progress and can be cancelled; Escape "
              "cancels the newest. What ended stays for a while, with how long it took.",
              no_thing, make_jobs_panel},
    PanelKind{"log", "Log", "Inspector",
              "What was said. Notes, warnings and errors of this window, the last of which stands "
              "in the status bar.",
              no_thing, make_log_panel},
    PanelKind{
        "keys", "Settings and keys", "Inspector",
        "Colours, size, and every command. Themes and sizes take effect at once and are kept. "
        "The table has each command with its keys; its id is what scripts say.",
        no_thing, make_keys_panel},
    PanelKind{"report", "Report", "Inspector",
              "The state of the file as Markdown, for an issue. It has sizes, counts and problems, "
              "but neither keys nor URLs. Copy it from here.",
              no_thing, make_report_panel},
    PanelKind{
        "pages", "Pages", kPagesGroup,
        "The pages of a page database, all or of a host. Find a page by its URL, or only the "
        "pages of its host; the cross behind a host brings all back. A double click or Enter "
        "opens a page, a right click has what else can be done with it. A click on a column "
        "finds the 1,000 largest, a second one the smallest. Filters take names and labels of "
        "columns: depth>3, \"links in\">3.",
        is_a<HostThing>, make_pages_panel},
    PanelKind{
        "page_detail", "Page", kPagesGroup,
        "What is known of a page, how it was found, its links. The lists below lead from the "
        "seed to it, to what it links to, and to what links to it; a double click goes there, "
        "Alt+Left comes back. Buttons show it in the graph, in the table, and in the queue, "
        "where it says why it is not next.",
        is_a<PageThing>, make_page_panel},
    PanelKind{"hosts", "Hosts", kPagesGroup,
              "Hosts, the largest first, with how many pages they have. Rows come while pages are "
              "counted. Beside the pages stand what was crawled, is gone, failed, and waits in "
              "queues; of a damaged file also what cannot be read, which no share counts. A double "
              "click shows the pages of a host; those without one are under (no "
              "host).",
              no_thing, make_hosts_panel},
    PanelKind{"links", "Links", kPagesGroup,
              "What links take, run by run and part by part, now and after compaction. Bits a "
              "link are the bytes of a run by the number of its links. Compacted is about what "
              "the same links would take after crawlstore compact.",
              no_thing, make_links_panel},
    PanelKind{
        "scores", "Scores", kPagesGroup,
        "What pages are worth by the links between them: the best, and how scores spread. "
        "Both axes are logarithmic, four bars a power of ten. A drag over the bars, or the "
        "two fields, choose a range, and the table has its best pages; Escape ends that. Top 1 % "
        "is the range from p99 on, what 99 % of all pages have at most. Not yet crawled leaves "
        "only pages that are known, with their ranks among all. "
        "Another array against it is a point a page. Stale means that it was computed before "
        "the last superstep.",
        is_a<ScoresThing>, make_scores_panel},
    PanelKind{"queue", "Queue", kPagesGroup,
              "The pages that wait in a queue: the first of them, and how the queue lies. Bars are "
              "pages by priority, on a logarithmic axis; what has left is paler, and above them "
              "stands about which place such a page has. A drag over the bars, or the two fields, "
              "choose a range. A URL that is looked up says whether it waits, at which place, and "
              "why it is not next. Hosts are counted over all that waits.",
              is_a<QueueThing>, make_queue_panel},
    PanelKind{"graph", "Graph", kPagesGroup,
              "The links around a page or a host. Discs were crawled, rings are known, squares "
              "failed, frames are gone. Nodes are as large as their score, and coloured as the "
              "legend says. Drag or arrows move, the wheel zooms, a click selects; a double click "
              "adds up to 20 neighbours, and Fold takes them back. What found no room is told "
              "above.",
              no_thing, make_graph_panel},
    PanelKind{"events", "Pending edits", kPagesGroup,
              "Edits that wait for the next superstep. Each has what was crawled, failed or went, "
              "when, and how many links came with it. A superstep takes them all into the page "
              "database; then this is empty.",
              no_thing, make_events_panel},
    PanelKind{
        "frontier", "Frontier", kCrawlGroup,
        "The groups of a frontier, and when and why not now each may be visited. Bars are what "
        "falls "
        "due in the next ten minutes, in lanes for groups, for items whose time comes, and for "
        "leases that end; at the left stands what is due or overdue. A click on a group shows the "
        "items that leave first, its leases and its rule. Leases are listed by their ends.",
        is_a<FrontierThing>, make_frontier_panel},
    PanelKind{
        "shards", "Shards", kSetGroup,
        "The files of all shards of a crawl, that were opened together. Above stand the sums, "
        "and why they are no whole crawl if they are none; then how far each shard is. The "
        "other panels show one of the files: a click on a shard turns to another one. Below "
        "are the best pages of all, by scores that were computed of all shards together; a "
        "click on an index shows the page in its own shard.",
        no_thing, make_shards_panel},
};

}  // namespace

bool has_things(const Session& session, const PanelKind& kind) {
  const auto view = session.view();
  if (kind.group == kPagesGroup) return view != nullptr && !view->pages.empty();
  if (kind.group == kCrawlGroup) return view != nullptr && !view->frontiers.empty();
  if (kind.group == kSetGroup) return !session.shard_paths.empty();
  return true;
}

std::span<const std::string_view> Panel::export_endings() const {
  static constexpr std::array<std::string_view, 3> kOfRows{".csv", ".tsv", ".jsonl"};
  return kOfRows;
}

std::span<const PanelKind> panel_kinds() {
  return kPanels;
}

}  // namespace crawlstore::inspector
