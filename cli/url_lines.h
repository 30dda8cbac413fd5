// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Reads inputs of one URL a line. UrlLines gives each URL to a function of its caller, and counts
/// and reports the lines that hold none.
///
/// Blanks before a URL are not part of it. A TAB ends it: the text after it, such as the metadata
/// in seed lists of Nutch and StormCrawler, is left out and counted. Empty lines and comments are
/// skipped as in edges (edge_lines.h). Lines of another form are given as they are. Threads: one.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <crawlstore/error.h>

#include "cli/open_input.h"
#include "cli/progress.h"
#include "cli/stop_signals.h"
#include "model/report_view.h"

namespace crawlstore::cli {

/// The URL of a line that is no comment, as a view into the line.
struct UrlLine {
  std::string_view url;
  bool goes_on = false;  // something comes after the TAB
};
UrlLine parse_url_line(std::string_view line);

class UrlLines {
 public:
  using Take = std::function<Result<void>(std::string_view url)>;
  /// The form of the lines: each a URL, or whatever the caller makes of it.
  enum class Form : std::uint8_t { kUrl, kOther };

  /// Adds lines and inputs to `counts`, and leaves its other counts alone. All must outlive this.
  UrlLines(const StopSignals& stop, model::LineCounts& counts, bool is_quiet,
           Form form = Form::kUrl);

  /// Calls `take` for the URLs, or lines, of all inputs until a signal asks for the end, or one
  /// cannot be read, which is no error here: failure() says why. At the end it says how many lines
  /// were refused and not told one by one, and how many went on after a TAB.
  ///   first   the first of the inputs, or nullptr if it is not open
  ///   errors  those of `take`
  Result<void> read(const std::vector<std::string>& inputs, const Take& take,
                    OpenInputPtr first = nullptr);

  /// Returns the input and the number of the line that was read last.
  [[nodiscard]] std::string place() const;
  /// Counts the line that `take` is told of, or that comes instead of a URL, as refused, and says
  /// why: of the first five.
  void refuse(const char* why);
  struct Failure {
    std::string path;
    Error error;
  };
  [[nodiscard]] const std::optional<Failure>& failure() const { return failure_; }

 private:
  Result<void> read_input(OpenInput& input, const Take& take);
  Result<void> take_line(std::string_view line, const Take& take);
  void tell_untold() const;

  const StopSignals& stop_;
  model::LineCounts& counts_;
  ProgressBar progress_;
  std::string path_;
  std::uint64_t line_ = 0;
  std::string first_cut_;  // where
  std::optional<Failure> failure_;
  bool is_quiet_;
  Form form_;
};

/// Says how many lines went on after the TAB that ends a URL. `first`: where.
void note_cut_lines(std::uint64_t count, std::string_view first);

}  // namespace crawlstore::cli
