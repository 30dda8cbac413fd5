// SPDX-License-Identifier: Apache-2.0
#include "cli/page_export.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include <fmt/format.h>

#include <crawlstore/event_stream.h>

#include "cli/database_events.h"
#include "cli/edge_lines.h"
#include "cli/page_source.h"
#include "model/event_json.h"
#include "model/graph_text.h"
#include "model/page_fields.h"

namespace crawlstore::cli {
namespace {

/// Calls `visit`, which can fail, for every page.
template <class Visit>
Result<void> for_each_page(const PageExport& what, std::uint64_t total, const Visit& visit) {
  Result<void> done;
  const auto walked = what.views.walk.for_each_page([&](const PageInfo& page) {
    done = what.look(page.index, total);
    if (done) done = visit(page);
    if (done) done = what.output.room();
    return done.has_value();
  });
  return done ? walked : done;
}

/// Calls `visit`, which can fail, for every page that has links, and what it is told counts behind
/// `done`.
template <class Visit>
Result<void> for_each_row(const PageExport& what, std::uint64_t done, const Visit& visit) {
  LinkStreamOptions options;
  options.only_other_hosts = what.only_other_hosts;
  CRAWLSTORE_TRY(auto stream, what.views.walk.links(options));
  const std::uint64_t total = done + what.views.walk.info().page_count;
  while (true) {
    CRAWLSTORE_TRY(const auto more, stream.next());
    if (!more) return {};
    CRAWLSTORE_TRY(what.look(done + stream.page(), total));
    CRAWLSTORE_TRY(visit(stream.page(), stream.links()));
  }
}

Result<ExportLosses> tell_events(const PageExport& what, DatabaseEvents::Visit visit) {
  const std::uint64_t total = 2 * what.views.walk.info().page_count;
  DatabaseEvents events(what.views, std::move(visit),
                        [&](std::uint64_t done) { return what.look(done, total); });
  CRAWLSTORE_TRY(events.run());
  return ExportLosses{.cut_page_count = events.cut_page_count()};
}

Result<ExportLosses> export_events(const PageExport& what) {
  EventStreamWriter writer(
      [&](std::span<const std::byte> bytes) { return what.output.write(bytes); });
  const auto losses = tell_events(what, [&](const CrawlEvent& event) { return writer.add(event); });
  if (losses) CRAWLSTORE_TRY(writer.flush());
  return losses;
}

Result<ExportLosses> export_jsonl(const PageExport& what) {
  const auto naming =
      what.views.walk.info().has_urls ? model::PageNaming::kUrls : model::PageNaming::kIndexes;
  return tell_events(what, [&](const CrawlEvent& event) {
    model::append_event_line(what.output.tail(), event, naming);
    return what.output.room();
  });
}

Result<ExportLosses> export_csv(const PageExport& what) {
  CRAWLSTORE_TRY(auto stream, what.views.walk.links());
  auto more = stream.next();
  what.output.tail() += model::page_csv_header();
  const std::uint64_t total = what.views.walk.info().page_count;
  const auto written = for_each_page(what, total, [&](const PageInfo& page) -> Result<void> {
    while (more && *more && stream.page() < page.index) more = stream.next();
    if (!more) return tl::unexpected<Error>(more.error());
    const bool has_links = *more && stream.page() == page.index;
    model::append_page_csv(what.output.tail(), page, has_links ? stream.links().size() : 0,
                           what.for_spreadsheet);
    return {};
  });
  if (!written) return tl::unexpected<Error>(written.error());
  return ExportLosses{.waiting_count = what.views.walk.info().event_count};
}

class EdgeWriter {
 public:
  explicit EdgeWriter(const PageExport& what) : what_(what), urls_(what.views.look) {}

  Result<void> write(std::uint64_t page, std::span<const std::uint64_t> links) {
    return what_.views.walk.info().has_urls ? write_urls(page, links) : write_indexes(page, links);
  }
  [[nodiscard]] std::uint64_t left_out_count() const { return left_out_count_; }

 private:
  Result<void> write_indexes(std::uint64_t page, std::span<const std::uint64_t> links) {
    for (const std::uint64_t link : links) {
      fmt::format_to(std::back_inserter(what_.output.tail()), "#{}\t#{}\n", page, link);
      CRAWLSTORE_TRY(what_.output.room());
    }
    return {};
  }
  Result<void> write_urls(std::uint64_t page, std::span<const std::uint64_t> links) {
    CRAWLSTORE_TRY(const auto from, urls_.url(page));
    from_ = from;
    if (!fits_edge_from(from_)) {
      left_out_count_ += links.size();
      return {};
    }
    for (const std::uint64_t link : links) {
      CRAWLSTORE_TRY(const auto to, urls_.url(link));
      if (!fits_edge_to(to)) {
        ++left_out_count_;
        continue;
      }
      what_.output.tail().append(from_).append("\t").append(to).append("\n");
      CRAWLSTORE_TRY(what_.output.room());
    }
    return {};
  }

  const PageExport& what_;
  UrlCache urls_;
  std::string from_;
  std::uint64_t left_out_count_ = 0;
};

Result<ExportLosses> export_edges(const PageExport& what) {
  EdgeWriter edges(what);
  const auto written =
      for_each_row(what, 0, [&edges](std::uint64_t page, std::span<const std::uint64_t> links) {
        return edges.write(page, links);
      });
  if (!written) return tl::unexpected<Error>(written.error());
  return ExportLosses{.link_count = edges.left_out_count(),
                      .waiting_count = what.views.walk.info().event_count};
}

/// A text format of nodes and edges.
struct GraphText {
  std::string_view head;
  void (*append_node)(std::string& to, const PageInfo& page, bool has_urls);
  void (*append_edge)(std::string& to, std::uint64_t from, std::uint64_t to_page);
  std::string_view end;
};

Result<ExportLosses> export_graph(const PageExport& what, const GraphText& text) {
  std::string& tail = what.output.tail();
  const PagesInfo& info = what.views.walk.info();
  tail += text.head;
  auto written = for_each_page(what, 2 * info.page_count, [&](const PageInfo& page) {
    text.append_node(tail, page, info.has_urls);
    return Result<void>{};
  });
  if (!written) return tl::unexpected<Error>(written.error());
  written = for_each_row(what, info.page_count,
                         [&](std::uint64_t page, std::span<const std::uint64_t> links) {
                           Result<void> done;
                           for (std::size_t i = 0; i < links.size() && done; ++i) {
                             text.append_edge(tail, page, links[i]);
                             done = what.output.room();
                           }
                           return done;
                         });
  if (!written) return tl::unexpected<Error>(written.error());
  tail += text.end;
  return ExportLosses{.waiting_count = info.event_count};
}

void append_dot_node(std::string& to, const PageInfo& page, bool has_urls) {
  fmt::format_to(std::back_inserter(to), "  {}", page.index);
  if (has_urls) {
    to += " [label=";
    model::append_dot_label(to, page.url);
    to += ']';
  }
  to += ";\n";
}

void append_dot_edge(std::string& to, std::uint64_t from, std::uint64_t to_page) {
  fmt::format_to(std::back_inserter(to), "  {} -> {};\n", from, to_page);
}

Result<ExportLosses> export_dot(const PageExport& what) {
  return export_graph(what, {"digraph pages {\n", append_dot_node, append_dot_edge, "}\n"});
}

constexpr std::string_view kGraphmlHead =
    R"(<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns"
    xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
    xsi:schemaLocation="http://graphml.graphdrawing.org/xmlns
    http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd">
  <key id="url" for="node" attr.name="url" attr.type="string"/>
  <key id="state" for="node" attr.name="state" attr.type="string"/>
  <key id="score" for="node" attr.name="score" attr.type="float"/>
  <key id="depth" for="node" attr.name="depth" attr.type="long"/>
  <graph id="pages" edgedefault="directed">
)";

void append_graphml_node(std::string& to, const PageInfo& page, bool has_urls) {
  fmt::format_to(std::back_inserter(to), "    <node id=\"n{}\">", page.index);
  if (has_urls) {
    to += "<data key=\"url\">";
    model::append_xml_text(to, page.url);
    to += "</data>";
  }
  fmt::format_to(std::back_inserter(to),
                 "<data key=\"state\">{}</data><data key=\"score\">{}</data>"
                 "<data key=\"depth\">{}</data></node>\n",
                 name_of(page.state), model::format_score(page.score), page.depth);
}

void append_graphml_edge(std::string& to, std::uint64_t from, std::uint64_t to_page) {
  fmt::format_to(std::back_inserter(to), "    <edge source=\"n{}\" target=\"n{}\"/>\n", from,
                 to_page);
}

Result<ExportLosses> export_graphml(const PageExport& what) {
  return export_graph(
      what, {kGraphmlHead, append_graphml_node, append_graphml_edge, "  </graph>\n</graphml>\n"});
}

/// With as few digits as give the number back.
std::string score_text(const ScoreView& scores, const std::optional<double>& score) {
  if (!score) return {};
  return scores.info().has_doubles ? fmt::to_string(*score)
                                   : model::format_score(static_cast<float>(*score));
}

Result<ExportLosses> export_scores_csv(const PageExport& what) {
  const PageView& view = what.views.walk;
  std::string& tail = what.output.tail();
  tail += "index,url,score\n";
  for (std::uint64_t index = 0; index < view.info().page_count; ++index) {
    CRAWLSTORE_TRY(what.look(index, view.info().page_count));
    CRAWLSTORE_TRY(const auto url, view.url(index));
    CRAWLSTORE_TRY(const auto score, what.scores->score(index));
    fmt::format_to(std::back_inserter(tail), "{},", index);
    model::append_csv_field(tail, url, what.for_spreadsheet);
    tail.append(",").append(score_text(*what.scores, score)).append("\n");
    CRAWLSTORE_TRY(what.output.room());
  }
  return ExportLosses{.waiting_count = view.info().event_count};
}

/// The head of a file of NumPy, version 1.0, which is to be a multiple of 64 bytes long: behind the
/// magic number, the version and the length of the rest, a dictionary in Python, filled with spaces
/// up to the end of its line.
std::string npy_head(const ScoresInfo& info) {
  constexpr std::string_view kFixed("\x93NUMPY\x01\x00\x76\x00", 10);
  const std::string dictionary =
      fmt::format("{{'descr': '<f{}', 'fortran_order': False, 'shape': ({},), }}",
                  info.has_doubles ? sizeof(double) : sizeof(float), info.page_count);
  return fmt::format("{}{:<117}\n", kFixed, dictionary);
}

/// The array as it is mapped.
Result<std::span<const std::byte>> bytes_of(const ScoreView& scores) {
  CRAWLSTORE_TRY(scores.top(1));  // which finds what is no score
  if (scores.info().has_doubles) {
    CRAWLSTORE_TRY(const auto values, scores.doubles());
    return std::as_bytes(values);
  }
  CRAWLSTORE_TRY(const auto values, scores.floats());
  return std::as_bytes(values);
}

Result<ExportLosses> export_scores_npy(const PageExport& what) {
  constexpr std::size_t kPieceBytes = std::size_t{1} << 20;
  CRAWLSTORE_TRY(const auto bytes, bytes_of(*what.scores));
  what.output.tail() += npy_head(what.scores->info());
  for (std::size_t at = 0; at < bytes.size(); at += kPieceBytes) {
    CRAWLSTORE_TRY(what.look(at, bytes.size()));
    CRAWLSTORE_TRY(what.output.write(bytes.subspan(at, std::min(kPieceBytes, bytes.size() - at))));
  }
  return ExportLosses{};
}

struct Format {
  std::string_view name;
  ExportFormat run;
};

constexpr std::array kFormats{Format{"events", export_events},
                              Format{"jsonl", export_jsonl},
                              Format{"csv", export_csv},
                              Format{"edges", export_edges},
                              Format{"dot", export_dot},
                              Format{"graphml", export_graphml},
                              Format{"scores-csv", export_scores_csv},
                              Format{"scores-npy", export_scores_npy}};

}  // namespace

ExportFormat find_export_format(const std::string& name) {
  for (const Format& format : kFormats) {
    if (format.name == name) return format.run;
  }
  return nullptr;
}

}  // namespace crawlstore::cli
