// SPDX-License-Identifier: Apache-2.0
#include "cli/page_list.h"

#include <cerrno>
#include <cstring>
#include <optional>

#include <fmt/format.h>

#include <crawlstore/url.h>

#include "cli/console.h"
#include "cli/edge_lines.h"
#include "cli/exit_code.h"
#include "cli/input_file.h"
#include "cli/line_reader.h"
#include "cli/refused_inputs.h"
#include "cli/url_lines.h"
#include "model/format_text.h"

namespace crawlstore::cli {
namespace {

/// The page that is named; nothing when it is not there, was forgotten, or is of another shard.
Result<std::optional<std::uint64_t>> find_page(const PageView* pages, std::string_view name,
                                               bool takes_any_index) {
  constexpr std::uint64_t kPageEnd = std::uint64_t{1} << 40;  // of any database
  std::optional<std::uint64_t> page = parse_index_name(name);
  if (page && *page >= (pages == nullptr ? kPageEnd : pages->info().page_count)) {
    return std::nullopt;
  }
  if (pages == nullptr || (page && takes_any_index)) return page;
  if (!page && pages->info().has_urls) {
    CRAWLSTORE_TRY(page, pages->find(name));
  }
  if (!page) return std::nullopt;
  CRAWLSTORE_TRY(const auto state, pages->state(*page));
  if (state == PageState::kElsewhere && !takes_any_index) return std::nullopt;
  if (state != PageState::kGone || !pages->info().has_urls) return page;
  CRAWLSTORE_TRY(const auto url, pages->url(*page));
  return url.empty() ? std::nullopt : page;
}

/// Ends the reading before the last line.
struct ListFailure {
  Error error;
  bool is_of_input;
};

std::optional<ListFailure> read_lines(const PageList& list, const PageView* pages,
                                      LineReader& reader, LostLines& lost,
                                      const std::function<void(std::uint64_t)>& visit) {
  UrlNormalizer normalizer;
  std::string_view line;
  for (std::uint64_t number = 1;; ++number) {
    const auto next = reader.next(line);
    if (!next) return ListFailure{next.error(), true};
    if (*next == LineReader::Next::kEnd || *next == LineReader::Next::kRefused) return {};
    const bool is_whole = *next == LineReader::Next::kLine;
    if (is_whole && is_comment_line(line)) continue;
    const bool has_page = is_whole && (!list.take_front || list.take_front(line));
    if (has_page) {
      const auto [name, goes_on] = parse_url_line(line);
      line = name;
      if (goes_on && lost.cut_count++ == 0) lost.cut_line = number;
      const auto page = find_page(pages, line, list.takes_any_index);
      if (!page) return ListFailure{page.error(), false};
      if (*page) {
        visit(**page);
        continue;
      }
    }
    if (has_page && (parse_index_name(line) || normalizer.normalize(line).parsed)) {
      if (lost.unknown_count++ == 0) lost.unknown_page = line;
    } else if (lost.malformed_count++ == 0) {
      lost.malformed_line = number;
    }
  }
}

void note_lost_lines(const PageList& list, const LostLines& lost) {
  const std::string name = model::format_printable(list.path);
  if (lost.malformed_count != 0) {
    const std::uint64_t more = lost.malformed_count - 1;
    note(fmt::format("{}: line {} is no {}{}", name, lost.malformed_line, list.form,
                     more == 0 ? "" : ", nor are " + model::format_counted(more, "other line")));
  }
  if (lost.cut_count != 0) {
    note_cut_lines(lost.cut_count, fmt::format("{}:{}", list.path, lost.cut_line));
  }
  if (lost.unknown_count != 0) {
    note(fmt::format("{}: {} not in the database, left out; the first: {}", name,
                     model::format_counted(lost.unknown_count, "page"),
                     model::format_printable(lost.unknown_page)));
  }
}

}  // namespace

int read_page_list(const PageList& list, const PageView* pages, const StopSignals& stop,
                   LostLines& lost, const std::function<void(std::uint64_t page)>& visit) {
  const std::string name = model::format_printable(list.path);
  const InputFile input(list.path);
  if (input.descriptor() < 0) {
    const Error error = fail_errno(errno, "the list of pages").value();
    if (error.system_errno == EISDIR) return fail_with(list.path, error);
    return fail_with(fmt::format("{}: {}: {}", name, error.text, std::strerror(error.system_errno)),
                     exit_code(error.code));
  }
  LineReader reader(input.descriptor(), stop);
  if (const auto failure = read_lines(list, pages, reader, lost, visit)) {
    return failure->is_of_input ? fail_with_input(list.path, failure->error)
                                : fail_with(list.crawl_path, failure->error);
  }
  if (!reader.refusal().empty()) {
    note_refused_input(list.path, reader.refusal());
    return kExitNo;
  }
  if (stop.requested() != 0) return exit_code_of_signal(stop.requested());
  note_lost_lines(list, lost);
  return kExitDone;
}

}  // namespace crawlstore::cli
