// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include <crawlstore/page_key.h>
#include <crawlstore/tools/page_copies.h>

#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/options.h"
#include "cli/output_file.h"
#include "cli/page_source.h"
#include "cli/table_form.h"
#include "cli/verb.h"
#include "model/format_text.h"
#include "model/json.h"

namespace crawlstore::cli {
namespace {

struct LinksOptions {
  PageSourceOptions source;
  std::optional<std::string> page;
  std::string content;
  bool incoming = false;
  bool only_other_hosts = false;
  std::optional<std::uint64_t> limit;
  TableForm form;
};

void append_json_name(std::string& to, std::uint64_t index, std::string_view url) {
  fmt::format_to(std::back_inserter(to), "\"index\":{},", index);
  model::append_json_bytes(to, "url", url);
}

/// Calls `visit`, which can fail, for each link that is meant.
template <class Visit>
Result<void> for_each_link(const PageView& view, std::uint64_t page, const LinksOptions& options,
                           const Visit& visit) {
  CRAWLSTORE_TRY(const auto links, options.incoming ? view.in_links(page) : view.out_links(page));
  CRAWLSTORE_TRY(const auto page_url, view.url(page));
  std::uint64_t left = options.limit.value_or(links.size());
  for (auto link = links.begin(); link != links.end() && left != 0; ++link) {
    CRAWLSTORE_TRY(const auto url, view.url(*link));
    if (options.only_other_hosts && url_host(url) == url_host(page_url)) continue;
    CRAWLSTORE_TRY(visit(*link, url));
    --left;
  }
  return {};
}

Result<bool> has_content(const PageView& view, std::span<const std::byte> content) {
  bool is_there = false;
  CRAWLSTORE_TRY(for_each_page_of_content(view, content, [&is_there](std::uint64_t) {
    is_there = true;
    return false;
  }));
  return is_there;
}

/// Calls `visit`, which can fail, for each page that one with the content links to, or that links
/// to one. Memory: a bit a page.
template <class Visit>
Result<void> for_each_link_of_content(const PageView& view, const LinksOptions& options,
                                      const Visit& visit) {
  std::vector<bool> is_linked(view.info().page_count);
  Result<void> read;
  CRAWLSTORE_TRY(for_each_page_of_content(view, bytes_of(options.content), [&](std::uint64_t page) {
    const auto links = options.incoming ? view.in_links(page) : view.out_links(page);
    if (!links) read = tl::unexpected<Error>(links.error());
    if (links) std::ranges::for_each(*links, [&](auto link) { is_linked[link] = true; });
    return read.has_value();
  }));
  CRAWLSTORE_TRY(read);
  std::uint64_t left = options.limit.value_or(is_linked.size());
  for (std::uint64_t link = 0; link < is_linked.size() && left != 0; ++link) {
    if (!is_linked[link]) continue;
    CRAWLSTORE_TRY(const auto url, view.url(link));
    CRAWLSTORE_TRY(visit(link, url));
    --left;
  }
  return {};
}

/// The page whose links are shown, or nothing for those of a content.
using Source = std::optional<std::uint64_t>;

template <class Visit>
Result<void> for_each_link(const PageView& view, Source page, const LinksOptions& options,
                           const Visit& visit) {
  return page ? for_each_link(view, *page, options, visit)
              : for_each_link_of_content(view, options, visit);
}

Result<void> print_json(const PageView& view, Source page, const LinksOptions& options,
                        OutputFile& output) {
  std::string& tail = output.tail();
  tail += '{';
  if (page) {
    CRAWLSTORE_TRY(const auto page_url, view.url(*page));
    append_json_name(tail, *page, page_url);
  } else {
    tail += "\"content_hash\":\"";
    model::append_hex(tail, options.content);
    tail += '"';
  }
  tail +=
      options.incoming ? ",\"direction\":\"in\",\"links\":[" : ",\"direction\":\"out\",\"links\":[";
  bool is_first = true;
  CRAWLSTORE_TRY(
      for_each_link(view, page, options, [&](std::uint64_t link, const std::string& url) {
        tail += is_first ? "\n  {" : ",\n  {";
        append_json_name(tail, link, url);
        tail += '}';
        is_first = false;
        return output.room();
      }));
  tail += is_first ? "]" : "\n]";
  if (options.source.skips_damaged) append_gaps_json(tail, gaps_of(view));
  tail += "}\n";
  return output.finish();
}

Result<void> print_lines(const PageView& view, Source page, const LinksOptions& options,
                         const model::TableLines& lines, OutputFile& output) {
  const bool is_table = options.form.is_table_only();
  std::string& tail = output.tail();
  if (is_table) lines.append_header(tail);
  CRAWLSTORE_TRY(
      for_each_link(view, page, options, [&](std::uint64_t link, const std::string& url) {
        if (is_table) {
          lines.append_row(tail, {link, url});
        } else {
          fmt::format_to(std::back_inserter(tail), "#{}\t{}\n", link, model::format_line(url));
        }
        return output.room();
      }));
  return output.finish();
}

int run(const LinksOptions& options) {
  if (!options.page && options.content.empty()) {
    return fail_with("links: names a PAGE, or --content HEX", kExitUsage);
  }
  int code = kExitDone;
  const auto view = open_pages(options.source, code);
  if (!view) return code;
  if (options.only_other_hosts && !check_has_urls(*view, options.source, "--other-hosts")) {
    return kExitUsage;
  }
  Source page;
  if (options.content.empty()) {
    page = choose_page(*view, options.source, *options.page, code);
    if (!page) return code;
  } else {
    const auto is_there = has_content(*view, bytes_of(options.content));
    if (!is_there) return fail_unread(options.source, is_there.error());
    if (!*is_there) return fail_without_copies(options.source);
  }
  const auto lines =
      choose_lines({{"index", model::Unit::kId}, {"url", model::Unit::kText}}, options.form, code);
  if (!lines) return code;
  auto output = OutputFile::open("");
  if (!output) return fail_with("standard output", output.error());
  const auto printed = options.form.as_json ? print_json(*view, page, options, *output)
                                            : print_lines(*view, page, options, *lines, *output);
  if (!printed) return fail_unread(options.source, printed.error());
  return tell_gaps(gaps_of(*view), options.source);
}

}  // namespace

Action define_links(Parser& parser) {
  auto options = std::make_shared<LinksOptions>();
  parser.footer(
      "#INDEX TAB URL a line, ascending. Exit code 1 when there is no such page. A URL with "
      "controls "
      "is escaped; with --json bytes that are no UTF-8 come as hexadecimal digits in `url_hex` "
      "instead of `url`.");
  add_page_source(parser, options->source);
  add_skip_damaged(parser, options->source);
  const auto content = add_content(
      parser, options->content,
      "in place of PAGE: the links of all pages whose content has this hash, each once");
  add_page(parser, options->page).excludes(content);
  const auto in = parser.flag("--in", options->incoming, "the pages that link to PAGE");
  parser
      .flag(
          "--out", [] {}, "the pages that PAGE links to (default)")
      .excludes(in);
  parser.flag("--other-hosts", options->only_other_hosts, "only links from host to host")
      .excludes(content);
  add_count(parser, "--limit", options->limit, "so many links at most");
  add_table_form(parser, options->form);
  return [options] { return run(*options); };
}

}  // namespace crawlstore::cli
