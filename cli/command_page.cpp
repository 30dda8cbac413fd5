// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>
#include <utility>

#include <crawlstore/tools/page_copies.h>

#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/options.h"
#include "cli/output_file.h"
#include "cli/page_source.h"
#include "cli/verb.h"
#include "model/page_fields.h"
#include "model/scores_view.h"
#include "model/table_lines.h"

namespace crawlstore::cli {
namespace {

/// If the way from the seed is longer, its last pages are shown.
constexpr std::size_t kPathMax = 1000;

struct PageOptions {
  PageSourceOptions source;
  std::optional<std::string> page;
  std::string content;
  bool as_json = false;
};

/// From the seed to the page: each was first linked to by the one before.
Result<std::vector<PageInfo>> path_to(const PageView& view, PageInfo page) {
  std::vector<PageInfo> path{std::move(page)};
  while (path.size() < kPathMax) {
    const auto linker = path.back().linked_from;
    if (!linker || *linker >= path.back().index) break;  // pages are linked to by older ones
    CRAWLSTORE_TRY(auto found, view.page(*linker));
    path.push_back(std::move(found));
  }
  std::reverse(path.begin(), path.end());
  return path;
}

model::Table path_table(const std::vector<PageInfo>& path) {
  model::Table table{"path_pages",
                     {{"index", model::Unit::kId},
                      {"depth", model::Unit::kCount},
                      {"state", model::Unit::kText},
                      {"url", model::Unit::kText}},
                     {}};
  for (const PageInfo& page : path) {
    table.rows.push_back(
        {page.index, std::uint64_t{page.depth}, std::string(name_of(page.state)), page.url});
  }
  return table;
}

/// A page, and what of its scores cannot be read.
struct PageDescription {
  model::Document document;
  std::vector<Error> problems;
};

void add_scores(const PageView& view, std::uint64_t index, PageDescription& page) {
  auto scores = model::score_fields(view, index);
  std::ranges::move(scores.fields, std::back_inserter(page.document.fields));
  for (const auto& [name, error] : scores.problems) page.problems.push_back(error);
}

Result<PageDescription> describe_page(const PageView& view, std::uint64_t index, bool for_people) {
  CRAWLSTORE_TRY(const auto page, view.page(index));
  CRAWLSTORE_TRY(const auto in_links, view.in_links(index));
  CRAWLSTORE_TRY(const auto out_links, view.out_links(index));
  PageDescription described{{model::page_fields(page), {}}, {}};
  model::Document& document = described.document;
  if (for_people) {
    for (model::Field& field : document.fields) {
      if (field.name == "score") field.value = model::format_score(page.score);
    }
  }
  document.fields.push_back({"in_link_count", model::Unit::kCount, std::uint64_t{in_links.size()}});
  document.fields.push_back(
      {"out_link_count", model::Unit::kCount, std::uint64_t{out_links.size()}});
  add_scores(view, index, described);
  if (!view.info().has_urls) return described;
  CRAWLSTORE_TRY(const auto path, path_to(view, page));
  document.tables.push_back(path_table(path));
  return described;
}

/// The pages with a content, each as `pages` shows it. Returns how many there are.
Result<std::uint64_t> print_copies(const PageView& view, const PageOptions& options,
                                   OutputFile& output) {
  const model::TableLines lines(model::page_columns(), model::LineForm::kAligned);
  std::string& tail = output.tail();
  std::uint64_t count = 0;
  Result<void> shown;
  CRAWLSTORE_TRY(
      for_each_page_of_content(view, bytes_of(options.content), [&](std::uint64_t index) {
        shown = view.page(index).and_then([&](const PageInfo& page) {
          if (count == 0 && options.as_json) tail += "{\n  \"pages\": [";
          if (count == 0 && !options.as_json) lines.append_header(tail);
          if (options.as_json) {
            tail += count == 0 ? "\n    " : ",\n    ";
            model::append_page_json(tail, page);
          } else {
            lines.append_row(tail, model::page_cells(page));
          }
          ++count;
          return output.room();
        });
        return shown.has_value();
      }));
  CRAWLSTORE_TRY(shown);
  if (options.as_json) tail += count == 0 ? "{\n  \"pages\": []\n}\n" : "\n  ]\n}\n";
  CRAWLSTORE_TRY(output.finish());
  return count;
}

int run(const PageOptions& options) {
  if (!options.page && options.content.empty()) {
    return fail_with("page: names a PAGE, or --content HEX", kExitUsage);
  }
  int code = kExitDone;
  const auto view = open_pages(options.source, code);
  if (!view) return code;
  if (!options.content.empty()) {
    auto output = OutputFile::open("");
    if (!output) return fail_with("standard output", output.error());
    const auto count = print_copies(*view, options, *output);
    if (!count) return fail_with(options.source.path, count.error());
    return *count != 0 ? kExitDone : fail_without_copies(options.source);
  }
  const auto index = choose_page(*view, options.source, *options.page, code);
  if (!index) return code;
  const auto described = describe_page(*view, *index, !options.as_json);
  if (!described) return fail_with(options.source.path, described.error());
  code = print_document(described->document, options.as_json);
  for (const Error& error : described->problems) code = fail_with(options.source.path, error);
  return code;
}

}  // namespace

Action define_page(Parser& parser) {
  auto options = std::make_shared<PageOptions>();
  parser.footer(
      "Exit code 1 when there is no such page, and when scores are damaged: all else is shown. "
      "`changes_per_day`: estimated from what crawls saw of them (Cho and Garcia-Molina, 2003). "
      "`path_pages`: from a seed to the page, each "
      "page the one that linked to the next one first; of a longer way its last 1000 pages. "
      "`score:NAME`, `rank:NAME`: by scores that `crawlstore rank` made, nothing (-; null in JSON) "
      "for a page that came since, and no rank for one with 0.");
  add_page_source(parser, options->source);
  const auto content = add_content(
      parser, options->content,
      "in place of PAGE: all pages whose content has this hash, as "
      "`pages` shows them, without edits that wait; by the index of contents, or all records");
  add_page(parser, options->page).excludes(content);
  add_json(parser, options->as_json);
  return [options] { return run(*options); };
}

}  // namespace crawlstore::cli
