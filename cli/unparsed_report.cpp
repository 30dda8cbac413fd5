// SPDX-License-Identifier: Apache-2.0
#include "cli/unparsed_report.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "cli/console.h"
#include "model/format_text.h"

namespace crawlstore::cli {
namespace {

constexpr std::uint64_t kToldMax = 5;
constexpr std::size_t kToldBytesMax = 500;  // of each

}  // namespace

Result<UnparsedReport> UnparsedReport::open(const std::string& path, const std::string& store,
                                            const std::vector<std::string>& inputs, bool is_quiet) {
  const auto is_output = [&path](const std::string& other) {
    std::error_code ignored;
    return std::filesystem::equivalent(path, other, ignored);
  };
  if (path == "-") return fail(Errc::kInvalidArgument, "--unparsed needs a file");
  if (!path.empty() && (is_output(store) || std::ranges::any_of(inputs, is_output))) {
    return fail(Errc::kInvalidArgument, "--unparsed would overwrite the crawl file or an input");
  }
  UnparsedReport report;
  report.is_quiet_ = is_quiet;
  if (path.empty()) return report;
  CRAWLSTORE_TRY(auto file, OutputFile::open(path));
  report.file_.emplace(std::move(file));
  return report;
}

void UnparsedReport::add(std::string_view place, std::string_view url, UrlProblem problem) {
  const std::string where = model::format_printable(place);
  if (++count_ <= kToldMax && !is_quiet_) {
    note(fmt::format("{}: no URL, kept as it is: {}{} (it {})", where,
                     model::format_printable(url.substr(0, kToldBytesMax)),
                     url.size() > kToldBytesMax ? " ..." : "", to_text(problem)));
  }
  if (!file_ || !written_) return;
  file_->tail() +=
      fmt::format("{}\t{}\t{}\n", where, to_text(problem), model::format_printable(url));
  written_ = file_->room();
}

Result<void> UnparsedReport::finish() {
  if (count_ > kToldMax && !is_quiet_) {
    note(fmt::format("{} more are no URLs{}", model::format_count(count_ - kToldMax),
                     file_ ? "" : "; --unparsed FILE lists all"));
  }
  if (!written_) return written_;
  return file_ ? file_->finish() : Result<void>{};
}

}  // namespace crawlstore::cli
