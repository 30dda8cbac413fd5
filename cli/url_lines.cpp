// SPDX-License-Identifier: Apache-2.0
#include "cli/url_lines.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "cli/console.h"
#include "cli/edge_lines.h"
#include "cli/input_size.h"
#include "cli/line_reader.h"
#include "cli/refused_inputs.h"
#include "model/format_text.h"

namespace crawlstore::cli {
namespace {

constexpr std::uint64_t kUrlsPerProgress = 4096;
constexpr std::uint64_t kUrlRefusalsShown = 5;

}  // namespace

UrlLine parse_url_line(std::string_view line) {
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  const std::size_t tab = std::min(line.find('\t'), line.size());
  const bool goes_on = line.find_first_not_of(" \t", tab) != std::string_view::npos;
  return {line.substr(0, tab), goes_on};
}

UrlLines::UrlLines(const StopSignals& stop, model::LineCounts& counts, bool is_quiet, Form form)
    : stop_(stop),
      counts_(counts),
      progress_("import", model::Unit::kCount, "lines", is_quiet),
      is_quiet_(is_quiet),
      form_(form) {}

std::string UrlLines::place() const {
  return fmt::format("{}:{}", path_, line_);
}

void UrlLines::refuse(const char* why) {
  if (++counts_.refused > kUrlRefusalsShown) return;
  note(fmt::format("{}: refused: {}", model::format_printable(place()), why));
}

Result<void> UrlLines::take_line(std::string_view line, const Take& take) {
  if (is_comment_line(line)) {
    ++counts_.skipped;
    return {};
  }
  if (form_ == Form::kOther) return take(line);
  const auto [url, goes_on] = parse_url_line(line);
  if (goes_on && counts_.cut++ == 0) first_cut_ = place();
  return take(url);
}

Result<void> UrlLines::read(const std::vector<std::string>& inputs, const Take& take,
                            OpenInputPtr first) {
  for (const std::string& path : inputs) {
    path_ = path;
    line_ = 0;
    const auto input = first ? std::move(first) : std::make_unique<OpenInput>(path, stop_);
    CRAWLSTORE_TRY(read_input(*input, take));
    if (failure_ || stop_.requested() != 0) break;
  }
  tell_untold();
  return {};
}

Result<void> UrlLines::read_input(OpenInput& input, const Take& take) {
  if (input.descriptor() < 0) {
    failure_ = {path_, fail_errno(input.open_errno(), "the input").value()};
    return {};
  }
  LineReader reader(std::move(input.bytes()));
  const InputSize size(input.descriptor());
  std::string_view line;
  while (true) {
    const auto next = reader.next(line);
    if (!next) failure_ = {path_, next.error()};
    if (!next || *next == LineReader::Next::kEnd) return {};
    if (*next == LineReader::Next::kRefused) {
      ++counts_.refused_inputs;
      note_refused_input(path_, reader.refusal());
      return {};
    }
    ++counts_.lines;
    ++line_;
    if (*next == LineReader::Next::kTooLong) {
      refuse("it is longer than 64 MiB");
    } else {
      CRAWLSTORE_TRY(take_line(line, take));
    }
    if (counts_.lines % kUrlsPerProgress == 0) {
      progress_.update(counts_.lines, size.fraction(reader.bytes_read()));
    }
  }
}

void UrlLines::tell_untold() const {
  if (counts_.refused > kUrlRefusalsShown) {
    note(fmt::format("{} more lines were refused",
                     model::format_count(counts_.refused - kUrlRefusalsShown)));
  }
  if (counts_.cut != 0 && !is_quiet_) note_cut_lines(counts_.cut, first_cut_);
}

void note_cut_lines(std::uint64_t count, std::string_view first) {
  note(fmt::format("{} after a TAB, which ends the URL; the rest is left out; the first: {}",
                   count == 1 ? "1 line goes on" : model::format_count(count) + " lines go on",
                   model::format_printable(first)));
}

}  // namespace crawlstore::cli
