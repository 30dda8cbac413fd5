// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The shared parts of verbs that read pages: the database, the page that a word names, and URLs of
/// many pages. Threads: one.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <crawlstore/page_view.h>
#include <crawlstore/tools/page_gaps.h>

#include "cli/parser.h"

namespace crawlstore::cli {

struct PageSourceOptions {
  std::string path;
  std::string database;
  bool names_database = false;  ///< was it given?
  bool no_pin = false;
  bool no_mmap = false;
  bool skips_damaged = false;
};
/// FILE, --database, --no-pin, --no-mmap.
void add_page_source(Parser& parser, PageSourceOptions& options);
/// --skip-damaged: views go on past damage, and tell_gaps() says what that left out.
Option add_skip_damaged(Parser& parser, PageSourceOptions& options);

/// Opens the database. On failure says why, and what to do, and leaves the exit code in `code`.
std::optional<PageView> open_pages(const PageSourceOptions& options, int& code);
/// The same, of this generation.
std::optional<PageView> open_pages(const Snapshot& snapshot, const PageSourceOptions& options,
                                   int& code);

/// One generation of the database twice: each view keeps the block of URLs that it read last, and a
/// walk in the order of indexes keeps its block while other pages are looked up.
struct PageViews {
  PageView walk;
  PageView look;

  /// Those of both.
  [[nodiscard]] std::vector<PageGap> gaps() const;
};
std::optional<PageViews> open_page_views(const PageSourceOptions& options, int& code);

/// Says on standard error what could not be read of the pages, and how to go on. Returns the exit
/// code of a verb that has done its work otherwise.
int tell_gaps(const std::vector<PageGap>& gaps, const PageSourceOptions& options);
/// Says why the pages could not be read, and of damage that --skip-damaged shows the rest. Returns
/// the exit code.
int fail_unread(const PageSourceOptions& options, const Error& error);
/// Returns "records of pages 8,192 to 16,383: chunk damaged at offset 0x11a080".
std::string describe_gap(const PageGap& gap);
/// Returns "chunk damaged at offset 0x11a080".
std::string describe_damage(const Error& error);
/// Says that --skip-damaged shows the rest, where it was damage.
void note_skip_damaged(const std::string& path, const Error& error);
/// Appends them as the member `page_gaps` of an object, behind others.
void append_gaps_json(std::string& to, const std::vector<PageGap>& gaps);

/// The index of the page that URL or `#INDEX` names. When there is none, or on failure, says so and
/// leaves the exit code in `code`.
std::optional<std::uint64_t> choose_page(const PageView& view, const PageSourceOptions& options,
                                         const std::string& name, int& code);

/// PAGE, which may be left out.
Option add_page(Parser& parser, std::optional<std::string>& page);
/// --content HEX: the hash of a content, as bytes.
Option add_content(Parser& parser, std::string& content, const std::string& help);
/// Says that no page has the content, and returns the exit code.
int fail_without_copies(const PageSourceOptions& options);
/// The bytes of a text.
std::span<const std::byte> bytes_of(std::string_view text);

/// Requests for hosts or URLs cannot be answered without URLs. True: it can; else says why.
bool check_has_urls(const PageView& view, const PageSourceOptions& options,
                    std::string_view option);

/// URLs of pages, those that were asked for lately kept: a page has many links to it.
class UrlCache {
 public:
  explicit UrlCache(const PageView& view) : view_(&view), slots_(kSlots) {}
  /// Valid until the next call. errors of damage
  Result<std::string_view> url(std::uint64_t index);

 private:
  static constexpr std::size_t kSlots = std::size_t{1} << 16;
  static constexpr std::size_t kKeptBytesMax = 1024;
  struct Slot {
    std::uint64_t index = ~std::uint64_t{0};
    std::string url;
  };
  const PageView* view_;
  std::vector<Slot> slots_;
  std::string long_url_;
};

}  // namespace crawlstore::cli
