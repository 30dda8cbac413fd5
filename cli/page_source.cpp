// SPDX-License-Identifier: Apache-2.0
#include "cli/page_source.h"

#include <algorithm>

#include <fmt/format.h>

#include "cli/console.h"
#include "cli/edge_lines.h"
#include "cli/exit_code.h"
#include "cli/options.h"
#include "model/format_text.h"
#include "model/json.h"
#include "model/parse_text.h"

namespace crawlstore::cli {
namespace {

std::string missing_database(const Snapshot& snapshot, const PageSourceOptions& options) {
  std::string text = fmt::format("{}: the store has no page database `{}`",
                                 model::format_printable(options.path), options.database);
  const auto names = PageView::names(snapshot);
  if (names.empty()) {
    return text + "; `crawlstore import FILE --format urls|edges|events|jsonl INPUT` makes one";
  }
  text += "; it has ";
  for (std::size_t i = 0; i < names.size(); ++i) {
    text += fmt::format("{}`{}`", i == 0 ? "" : ", ", names[i]);
  }
  return text + ": --database NAME chooses";
}

/// Opens so many views of the generation; none on failure.
std::vector<PageView> open_views(const Snapshot& snapshot, const PageSourceOptions& options,
                                 std::size_t count, int& code) {
  std::vector<PageView> views;
  while (views.size() < count) {
    auto view = options.skips_damaged ? open_past_damage(snapshot, options.database)
                                      : PageView::open(snapshot, options.database);
    if (!view) {
      code = view.error().code == Errc::kUnknownName
                 ? fail_with(missing_database(snapshot, options), kExitNo)
                 : fail_with(options.path, view.error());
      return {};
    }
    views.push_back(std::move(*view));
  }
  return views;
}

std::vector<PageView> open_views(const PageSourceOptions& options, std::size_t count, int& code) {
  const auto snapshot = open_snapshot(options.path, options.no_pin, options.no_mmap);
  if (!snapshot) {
    code = fail_with(options.path, snapshot.error());
    return {};
  }
  return open_views(*snapshot, options, count, code);
}

}  // namespace

std::string describe_damage(const Error& error) {
  std::string reason(name_of(error.code));
  std::ranges::replace(reason, '_', ' ');
  if (error.offset != Error::kNoOffset) reason += fmt::format(" at offset {:#x}", error.offset);
  return reason;
}

std::string describe_gap(const PageGap& gap) {
  const std::uint64_t last = gap.end_page - 1;
  const std::string reason = describe_damage(gap.error);
  if (gap.part == PagePart::kEvents) {
    return fmt::format("{} edits that wait: {}", model::format_count(gap.end_page - gap.first_page),
                       reason);
  }
  if (gap.first_page == last) {
    return fmt::format("{} of page {}: {}", name_of(gap.part), model::format_count(last), reason);
  }
  return fmt::format("{} of pages {} to {}: {}", name_of(gap.part),
                     model::format_count(gap.first_page), model::format_count(last), reason);
}

void add_page_source(Parser& parser, PageSourceOptions& options) {
  add_file(parser, options.path);
  // Checks are told of what is given only.
  add_database(parser, options.database, "the page database to read")
      .check([&options](const std::string& /*name*/) {
        options.names_database = true;
        return std::string();
      });
  add_no_pin(parser, options.no_pin);
  add_no_mmap(parser, options.no_mmap);
}

Option add_skip_damaged(Parser& parser, PageSourceOptions& options) {
  return parser.flag(
      "--skip-damaged", options.skips_damaged,
      "leave out what cannot be read, and say what that is; exit code 1 if there was any");
}

int fail_unread(const PageSourceOptions& options, const Error& error) {
  const int code = fail_with(options.path, error);
  if (!options.skips_damaged) note_skip_damaged(options.path, error);
  return code;
}

void note_skip_damaged(const std::string& path, const Error& error) {
  if (category(error.code) != ErrorCategory::kDamage) return;
  note(fmt::format("{}: --skip-damaged leaves out what cannot be read, and says what that is",
                   model::format_printable(path)));
}

int tell_gaps(const std::vector<PageGap>& gaps, const PageSourceOptions& options) {
  constexpr std::size_t kToldMax = 20;
  if (gaps.empty()) return kExitDone;
  const std::string file = model::format_printable(options.path);
  for (std::size_t i = 0; i < std::min(gaps.size(), kToldMax); ++i) {
    note(fmt::format("{}: left out: {}", file, describe_gap(gaps[i])));
  }
  if (gaps.size() > kToldMax) {
    note(fmt::format("{}: left out: {} ranges more", file,
                     model::format_count(gaps.size() - kToldMax)));
  }
  note(fmt::format("{}: `crawlstore verify --deep` names all damage", file));
  return kExitNo;
}

void append_gaps_json(std::string& to, const std::vector<PageGap>& gaps) {
  to += ",\n  \"page_gaps\": [";
  for (std::size_t i = 0; i < gaps.size(); ++i) {
    const PageGap& gap = gaps[i];
    fmt::format_to(std::back_inserter(to),
                   "{}\n    {{\"part\": \"{}\", \"first_page\": {}, \"end_page\": {}, \"error\": ",
                   i == 0 ? "" : ",", name_of(gap.part), gap.first_page, gap.end_page);
    model::append_json_text(to, describe(gap.error));
    to += '}';
  }
  to += gaps.empty() ? "]" : "\n  ]";
}

std::optional<PageView> open_pages(const PageSourceOptions& options, int& code) {
  auto views = open_views(options, 1, code);
  if (views.empty()) return std::nullopt;
  return std::move(views.front());
}

std::optional<PageView> open_pages(const Snapshot& snapshot, const PageSourceOptions& options,
                                   int& code) {
  auto views = open_views(snapshot, options, 1, code);
  if (views.empty()) return std::nullopt;
  return std::move(views.front());
}

std::optional<PageViews> open_page_views(const PageSourceOptions& options, int& code) {
  auto views = open_views(options, 2, code);
  if (views.empty()) return std::nullopt;
  return PageViews{std::move(views[0]), std::move(views[1])};
}

std::vector<PageGap> PageViews::gaps() const {
  std::vector<PageGap> all = gaps_of(walk);
  for (const PageGap& gap : gaps_of(look)) {
    const bool is_known = std::ranges::any_of(all, [&gap](const PageGap& known) {
      return known.part == gap.part && known.first_page <= gap.first_page &&
             gap.end_page <= known.end_page;
    });
    if (!is_known) all.push_back(gap);
  }
  return all;
}

std::optional<std::uint64_t> choose_page(const PageView& view, const PageSourceOptions& options,
                                         const std::string& name, int& code) {
  std::optional<std::uint64_t> index = parse_index_name(name);
  if (index) {
    if (*index >= view.info().page_count) index.reset();
  } else {
    const auto found = view.find(name);
    if (!found) {
      code = fail_with(options.path, found.error());
      return std::nullopt;
    }
    index = *found;
  }
  if (index) return index;
  const bool is_unnamed = !view.info().has_urls && !name.starts_with('#');
  code = fail_with(
      fmt::format("{}: no page {}{}", model::format_printable(options.path),
                  model::format_printable(name),
                  is_unnamed ? "; the pages of this database have no URLs: #INDEX names one" : ""),
      kExitNo);
  return std::nullopt;
}

Option add_page(Parser& parser, std::optional<std::string>& page) {
  const auto keep = [&page](const std::string& text) {
    page = text;
    return std::string();
  };
  return parser.parsed("PAGE", keep, "a URL, or #INDEX (in quotes, for the shell)");
}

Option add_content(Parser& parser, std::string& content, const std::string& help) {
  const auto parse = [&content](const std::string& text) {
    const auto bytes = model::parse_hex_bytes(text);
    const bool is_hash = bytes && !bytes->empty() && bytes->size() <= kEventHashBytesMax;
    if (is_hash) content = *bytes;
    return std::string(is_hash ? "" : "2 to 128 hexadecimal digits, an even number");
  };
  return parser.parsed("--content HEX", parse, help);
}

int fail_without_copies(const PageSourceOptions& options) {
  return fail_with(
      fmt::format("{}: no page has this content", model::format_printable(options.path)), kExitNo);
}

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

bool check_has_urls(const PageView& view, const PageSourceOptions& options,
                    std::string_view option) {
  if (view.info().has_urls) return true;
  (void)fail_with(fmt::format("{}: {}: the pages of this database have no URLs, only indexes",
                              model::format_printable(options.path), option),
                  kExitUsage);
  return false;
}

Result<std::string_view> UrlCache::url(std::uint64_t index) {
  Slot& slot = slots_[index % kSlots];
  if (slot.index == index) return std::string_view(slot.url);
  CRAWLSTORE_TRY(auto url, view_->url(index));
  if (url.size() > kKeptBytesMax) {
    long_url_ = url;
    return std::string_view(long_url_);
  }
  slot.index = index;
  slot.url = std::move(url);
  return std::string_view(slot.url);
}

}  // namespace crawlstore::cli
