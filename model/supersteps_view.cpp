// SPDX-License-Identifier: Apache-2.0
#include "model/supersteps_view.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace crawlstore::model {
namespace {

/// Edges of the area of curves, in units of the picture.
constexpr double kLeft = 80;
constexpr double kRight = 640;
constexpr double kTop = 40;
constexpr double kBottom = 360;
const char* const kErrorColor = "#b3261e";
const char* const kPagesColor = "#1a56a0";

/// A logarithmic axis over whole powers of ten. Values below it lie on its beginning.
class LogAxis {
 public:
  LogAxis(double low, double high, double from, double to)
      : low_(std::floor(std::log10(low))),
        high_(std::max(low_ + 1, std::ceil(std::log10(high)))),
        from_(from),
        to_(to) {}
  [[nodiscard]] double at(double value) const {
    const double exponent = value > 0 ? std::clamp(std::log10(value), low_, high_) : low_;
    return from_ + (exponent - low_) / (high_ - low_) * (to_ - from_);
  }
  [[nodiscard]] int low() const { return static_cast<int>(low_); }
  [[nodiscard]] int high() const { return static_cast<int>(high_); }

 private:
  double low_, high_;  // exponents
  double from_, to_;
};

/// "0.001", "1", "1,000", "1e7".
std::string power_text(int exponent) {
  if (exponent < -4 || exponent > 6) return fmt::format("1e{}", exponent);
  return fmt::format("{}", std::pow(10.0, exponent));
}

std::string text_at(double x, double y, const char* anchor, std::string_view text) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor,
                     text);
}

std::string line(double x1, double y1, double x2, double y2, std::string_view style) {
  return fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" {}/>\n", x1, y1,
                     x2, y2, style);
}

/// Axes of the picture.
struct Axes {
  LogAxis tolerance;
  LogAxis error;
  LogAxis pages;
};

/// Tolerance 0 lies where a half would.
double shown_tolerance(std::uint64_t tolerance) {
  return tolerance == 0 ? 0.5 : static_cast<double>(tolerance);
}

Axes axes_of(const SuperstepStudy& study) {
  double tolerance_max = 10, error_min = 1, pages_min = 1, pages_max = 10;
  for (const SuperstepRun& run : study.runs) {
    tolerance_max = std::max(tolerance_max, static_cast<double>(run.tolerance));
    if (run.error_mean > 0) error_min = std::min(error_min, run.error_mean);
    if (run.pages_mean > 0) pages_min = std::min(pages_min, run.pages_mean);
    pages_max = std::max(pages_max, run.pages_mean);
  }
  return {{0.5, tolerance_max, kLeft, kRight},
          {error_min, 1, kBottom, kTop},
          {pages_min, pages_max, kBottom, kTop}};
}

std::string grid(const Axes& axes) {
  std::string svg;
  for (int i = std::max(0, axes.tolerance.low()); i <= axes.tolerance.high(); ++i) {
    const double x = axes.tolerance.at(std::pow(10.0, i));
    svg += line(x, kTop, x, kBottom, "stroke=\"#ddd\"");
    svg += text_at(x, kBottom + 18, "middle", power_text(i));
  }
  svg += text_at(axes.tolerance.at(0.5), kBottom + 18, "middle", "0");
  for (int i = axes.error.low(); i <= axes.error.high(); ++i) {
    const double y = axes.error.at(std::pow(10.0, i));
    svg += line(kLeft, y, kRight, y, "stroke=\"#ddd\"");
    svg += text_at(kLeft - 8, y + 4, "end", power_text(i));
  }
  for (int i = axes.pages.low(); i <= axes.pages.high(); ++i) {
    svg += text_at(kRight + 8, axes.pages.at(std::pow(10.0, i)) + 4, "start", power_text(i));
  }
  svg += fmt::format("<g fill=\"{}\">\n{}</g>\n", kErrorColor,
                     text_at(kLeft, kTop - 16, "middle", "error, mean"));
  svg += fmt::format("<g fill=\"{}\">\n{}</g>\n", kPagesColor,
                     text_at(kRight, kTop - 16, "middle", "pages a superstep"));
  return svg + text_at((kLeft + kRight) / 2, kBottom + 38, "middle", "tolerance, in messages");
}

template <class Value>
std::string curve(const SuperstepStudy& study, const Axes& axes, const LogAxis& axis,
                  const char* color, const Value& value) {
  std::string points, dots;
  for (const SuperstepRun& run : study.runs) {
    const double x = axes.tolerance.at(shown_tolerance(run.tolerance));
    const double y = axis.at(value(run));
    points += fmt::format("{}{:.1f},{:.1f}", points.empty() ? "" : " ", x, y);
    dots += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\" fill=\"{}\"/>\n", x, y, color);
  }
  return fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/>\n{}",
                     points, color, dots);
}

std::string marks(const SuperstepStudy& study, const Axes& axes) {
  std::string svg;
  if (study.error_bound) {
    const double y = axes.error.at(*study.error_bound);
    svg += line(kLeft, y, kRight, y, "stroke=\"#b3261e\" stroke-dasharray=\"6 4\"");
  }
  if (study.best) {
    const double x = axes.tolerance.at(shown_tolerance(study.best->tolerance));
    svg += line(x, kTop, x, kBottom, "stroke=\"#444\" stroke-dasharray=\"6 4\"");
  }
  return svg;
}

Table runs_table(const SuperstepStudy& study) {
  Table table{"runs",
              {{"tolerance_count", Unit::kCount},
               {"pages_per_superstep", Unit::kRatio},
               {"largest_page_count", Unit::kCount},
               {"superstep_count", Unit::kCount},
               {"error_mean", Unit::kScore},
               {"error_max", Unit::kScore},
               {"error_by_pages", Unit::kScore},
               {"failure_count", Unit::kCount}},
              {}};
  for (const SuperstepRun& run : study.runs) {
    table.rows.push_back({run.tolerance, run.pages_mean, run.pages_max, run.superstep_count,
                          run.error_mean, run.error_max, run.error_by_pages, run.failure_count});
  }
  return table;
}

}  // namespace

Document supersteps_view(const SuperstepStudy& study, bool with_runs) {
  Document document;
  const auto of_best = [&study](const char* name, Unit unit, const auto& value) -> Field {
    if (!study.best) return {name, unit, {}};
    return {name, unit, value(*study.best)};
  };
  using Run = const SuperstepRun&;
  document.fields = {
      of_best("tolerance_count", Unit::kCount, [](Run run) { return run.tolerance; }),
      {"is_unbounded", Unit::kFlag, study.is_unbounded},
      of_best("pages_per_superstep", Unit::kRatio, [](Run run) { return run.pages_mean; }),
      of_best("largest_page_count", Unit::kCount, [](Run run) { return run.pages_max; }),
      of_best("superstep_count", Unit::kCount, [](Run run) { return run.superstep_count; }),
      of_best("error_mean", Unit::kScore, [](Run run) { return run.error_mean; }),
      of_best("error_max", Unit::kScore, [](Run run) { return run.error_max; }),
      of_best("error_by_pages", Unit::kScore, [](Run run) { return run.error_by_pages; }),
      of_best("missed_count", Unit::kCount, [](Run run) { return run.missed_count; }),
      of_best("failure_count", Unit::kCount, [](Run run) { return run.failure_count; }),
      of_best("message_count", Unit::kCount, [](Run run) { return run.message_count; }),
      {"balance", Unit::kRatio, study.balance},
      {"processor_count", Unit::kCount, study.processor_count},
      {"site", Unit::kText, study.site},
      {"site_count", Unit::kCount, study.site_count},
      {"order", Unit::kText, study.order},
      {"is_as_printed", Unit::kFlag, study.is_as_printed},
      {"page_count", Unit::kCount, study.page_count},
      {"remote_link_count", Unit::kCount, study.remote_link_count}};
  if (with_runs) document.tables.push_back(runs_table(study));
  return document;
}

std::string supersteps_svg(const SuperstepStudy& study) {
  const Axes axes = axes_of(study);
  std::string svg =
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 720 420\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n"
      "<rect width=\"720\" height=\"420\" fill=\"#fff\"/>\n";
  svg += grid(axes);
  svg += marks(study, axes);
  svg +=
      curve(study, axes, axes.error, kErrorColor, [](const auto& run) { return run.error_mean; });
  svg +=
      curve(study, axes, axes.pages, kPagesColor, [](const auto& run) { return run.pages_mean; });
  return svg + "</svg>\n";
}

}  // namespace crawlstore::model
