// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/options.h"
#include "cli/page_import.h"
#include "cli/url_import.h"
#include "cli/urlfrontier_import.h"
#include "cli/verb.h"

namespace crawlstore::cli {
namespace {

struct ImportOptions {
  UrlSessionOptions session;
  std::string format;
  std::string drum;  // empty: not given
  std::vector<std::string> inputs;
  std::string database;
  bool names_database = false;  // was it given?
  std::optional<std::uint64_t> index_gap;
  std::string unparsed;
  std::string crawl;
  std::optional<std::string> frontier;  // that gets the new pages; empty: the usual one
  bool no_merge = false;
  bool is_strict = false;
  bool as_json = false;
  bool quiet = false;
};

/// Whether the input can be read twice: then lines are checked before the first is taken.
bool is_regular(const std::string& path) {
  std::error_code ignored;
  return path != "-" && std::filesystem::is_regular_file(path, ignored);
}

const char* const kUrlFrontierLines = "urlfrontier";

/// Whether an option is given that goes with a page database alone.
bool is_of_pages(const ImportOptions& options) {
  return options.names_database || options.index_gap || options.session.raw || options.no_merge ||
         options.frontier;
}

/// Empty: nothing speaks against it.
std::string misuse(const ImportOptions& options) {
  if (!options.crawl.empty() && options.format != kUrlFrontierLines)
    return "--crawl goes with urlfrontier";
  if (options.format == kUrlFrontierLines && is_of_pages(options)) {
    return "--database, --index-gap, --raw, --no-merge and --frontier do not go with urlfrontier, "
           "which fills no page database";
  }
  if (!options.drum.empty() && options.format != "urls") {
    return "--drum goes with --format urls; --database NAME chooses what the other formats fill";
  }
  if (options.index_gap && options.format == "urls") {
    return "--index-gap goes with edges, events and jsonl: urls name pages by URL";
  }
  if (options.is_strict && options.format == "events") {
    return "--strict goes with urls, edges, jsonl and urlfrontier";
  }
  if (options.is_strict && !std::ranges::all_of(options.inputs, is_regular)) {
    return "--strict reads each INPUT twice, which must be a file";
  }
  return {};
}

int run(ImportOptions& options) {
  if (const std::string why = misuse(options); !why.empty()) {
    return fail_with("import: " + why, kExitUsage);
  }
  if (!options.drum.empty()) {
    options.session.drum = options.drum;
    return import_urls({.session = options.session,
                        .inputs = options.inputs,
                        .unparsed = options.unparsed,
                        .is_strict = options.is_strict,
                        .as_json = options.as_json,
                        .quiet = options.quiet});
  }
  if (options.format == kUrlFrontierLines) {
    return import_urlfrontier({.path = options.session.path,
                               .inputs = options.inputs,
                               .crawl = options.crawl,
                               .memory_bytes = options.session.memory_bytes,
                               .lock_wait_seconds = options.session.lock_wait_seconds,
                               .unparsed = options.unparsed,
                               .is_strict = options.is_strict,
                               .as_json = options.as_json,
                               .quiet = options.quiet});
  }
  return import_pages({.path = options.session.path,
                       .format = options.format,
                       .inputs = options.inputs,
                       .database = options.database,
                       .memory_bytes = options.session.memory_bytes,
                       .lock_wait_seconds = options.session.lock_wait_seconds,
                       .raw = options.session.raw,
                       .index_gap = options.index_gap,
                       .unparsed = options.unparsed,
                       .frontier = options.frontier,
                       .no_merge = options.no_merge,
                       .is_strict = options.is_strict,
                       .as_json = options.as_json,
                       .quiet = options.quiet});
}

constexpr const char* kImportFooter =
    "All formats fill a page database; urls with --drum fills a bare set instead, urlfrontier "
    "the crawls of `crawlstored`.\n"
    "urls: plain text, a URL a line, such as the seeds of a crawl. Blanks before a URL are no "
    "part of it, and a TAB ends it: the rest of the line, as the metadata of seed lists, is left "
    "out and counted (cut_count). Empty lines and comments are skipped as in edges. Each URL is "
    "an event of the kind known: a page that is new (new_page_count) gets depth 0, one that is "
    "there stays as it is.\n"
    "With --drum NAME the URLs become keys of a DRUM, some 6 bytes each where a page takes 40 "
    "(after compact). `seen` asks both; pages, queue and next know pages only. The counts are "
    "those of verdicts then (unique_count, duplicate_count), and --repeats drop counts most "
    "repeats in dropped_count alone.\n"
    "edges: FROM TO a line: the page FROM has a link to TO more. Both are URLs, with one TAB in "
    "between: blanks belong to them; or both are indexes, `#N` or `N`, in a database whose pages "
    "have no URLs, with any spaces and TABs between and around them: there all indexes below the "
    "largest exist, so a wild one is refused. Lists of arcs of SNAP, KONECT and WebGraph "
    "(ArcListASCIIGraph) can be read. Skipped are empty lines, lines of blanks, and comments: "
    "`%` at the start, or `#` that no digit follows, nor a sign and a digit. A third column is "
    "refused, so that no list of successors is taken for edges: `cut` or `awk '{print $1, $2}'` "
    "leaves out weights and times. A page that is only listed counts as known, not as crawled.\n"
    "events: crawl events as Cap'n Proto messages, share/crawlstore/crawl_event.capnp.\n"
    "jsonl: the same, an event a line: {\"kind\": \"page\", \"url\": \"http://a.test/\", "
    "\"time\": \"2026-11-21T10:11:12Z\", \"score\": 0.5, \"content_hash\": \"00ff\", \"links\": "
    "[\"http://b.test/\", {\"url\": \"http://c.test/\", \"score\": 2}]}. Kinds: page, known, "
    "gone, failed, linkAdded, linkRemoved, unchanged (304 Not Modified: a crawl more), redirect "
    "(its one link is where it leads), denied (by robots.txt), duplicate (of another page). Each "
    "may have the HTTP `status`, such as 404. `time` may be microseconds since 1970. A URL that "
    "is no UTF-8 comes in hexadecimal digits as `url_hex`; without URLs there is `index`. A link "
    "is refused alone if it has other bytes, or half of a surrogate pair (`\\udc80`, as Python "
    "writes such a byte): refused_link_count, exit code 1.\n"
    "urlfrontier: lines that `DumpURLs` of URLFrontier's client, or `export`, writes: "
    "{\"known\": {\"info\": {\"url\": \"http://a.test/\", \"key\": \"a.test\", \"metadata\": "
    "{\"k\": {\"values\": [\"v\"]}}, \"crawlID\": \"c\"}, \"refetchableFromDate\": "
    "\"1799999999\"}, \"creationDate\": \"1700000000\"}, or \"discovered\" without a date; and "
    "URLs alone, which are discovered, of the crawl that --crawl names. A known URL waits until "
    "its date; without one, or with 0, it is completed (completed_count) and has no metadata. A "
    "new URL keeps its creationDate; one that is known keeps the one it had. A URL that is "
    "discovered and known, or waits just so, stays as it is (unchanged_count); another date for "
    "one that waits is a look through all that wait. Without a key the queue is the host, "
    "without a crawlID the crawl DEFAULT. Lines that the service refuses (spec/service.md), and "
    "those of more than 1 MiB, are refused. `import` commits every 50,000 of these lines; a run "
    "that ended early can be run again.\n"
    "Text that is no URL by the URL Standard is kept as it is and counted as unparsed. The first "
    "five are told with file, number and reason, an edge by the lines of its page; --unparsed "
    "lists all.\n"
    "Lines that are not of the format, or that name pages in another way than the database, are "
    "refused (exit code 1); the others are taken. The first five refused lines are told with "
    "file and number, with --quiet too. A UTF-8 byte order mark before the first line of an "
    "input is skipped. A stream of events is taken up to what is wrong with it.\n"
    "Inputs that are packed by gzip or zstd are unpacked as they are read, members and frames "
    "one after another (zstd: windows of up to 128 MiB); one that is cut off or damaged is an "
    "error, after what came before. An input, packed or not, is refused as a whole if its first "
    "bytes are those of one of these: bzip2, xz, UTF-16, WARC, ARC, XML such as a sitemap, a "
    "crawl file. Refused inputs are counted (refused_input_count, exit code 1); the others are "
    "read.\n"
    "FILE is created when it does not exist, and so is the database, with URLs or without as its "
    "first page is named. At the end the superstep runs, which makes edits pages and links. "
    "Lines that were read before an error or a signal are remembered; reading an input again "
    "does no harm, except that a page event counts as one crawl more. A first Ctrl-C stops the "
    "reading, or a superstep, soon: the edits wait in the file then, for `merge` or the next "
    "import.\n"
    "With --frontier, which comes after all INPUTs, a crawl needs no `schedule`: each import "
    "puts what is new (put_count), but for what left_out_count and over_limit_count count, which "
    "are `schedule`'s left_out_count and refused_count (exit code 1). An import that ends early "
    "puts nothing; the next one does.\n"
    "If the database has the scores of `crawlstore rank FILE opic`, the commit of the last "
    "superstep brings them up to date. So one rollback takes back both; opic_giver_count is how "
    "many pages gave their cash on.";

}  // namespace

Action define_import(Parser& parser) {
  auto options = std::make_shared<ImportOptions>();
  parser.footer(kImportFooter);
  add_file(parser, options->session.path);
  parser
      .text("--format F", options->format,
            "the format of the inputs: urls, edges, events, jsonl, urlfrontier")
      .required()
      .one_of({"urls", "edges", "events", "jsonl", kUrlFrontierLines});
  parser.texts("INPUT", options->inputs, "files to read; - is standard input").required();
  const auto drum = add_drum(parser, options->drum,
                             "with urls: fill the DRUM of this name, a bare set, and no page "
                             "database; `seen` asks the one named urls");
  add_database(parser, options->database, "the page database to fill")
      .excludes(drum)
      .check([options](const std::string& /*name*/) {
        options->names_database = true;
        return std::string();
      });
  parser.text("--crawl ID", options->crawl,
              "with urlfrontier: the crawl of URLs that stand alone (default: DEFAULT)");
  parser.flag("--raw", options->session.raw,
              "take URLs as they are, without normalising; what is made so stays so");
  add_count(parser, "--index-gap", options->index_gap,
            "without URLs: by how much an index may exceed all before it (default: 268,435,456)",
            {1, std::uint64_t{1} << 40});
  parser.text("--unparsed OUT", options->unparsed,
              "list in this file all that is no URL by the URL Standard: where, why, what");
  const auto no_merge =
      parser
          .flag("--no-merge", options->no_merge,
                "run no superstep at the end: edits wait in the file, for `merge` or the next "
                "import; a superstep that memory calls for runs all the same")
          .excludes(drum);
  add_frontier_filled(parser, options->frontier).excludes(drum).excludes(no_merge);
  parser.flag(
      "--strict", options->is_strict,
      "import nothing when an input or a line of it is refused (exit 1): reads each INPUT twice, "
      "which must be a file, of urls, edges, jsonl or urlfrontier. A line that only the database "
      "refuses, such as an index far above the others, is left out, and the rest is imported");
  add_repeats(parser, options->session.repeats).needs(drum);
  add_memory(parser, options->session.memory_bytes);
  add_json(parser, options->as_json);
  add_quiet(parser, options->quiet);
  add_lock_wait(parser, options->session.lock_wait_seconds);
  return [options] { return run(*options); };
}

}  // namespace crawlstore::cli
