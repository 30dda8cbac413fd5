// SPDX-License-Identifier: Apache-2.0
#include "cli/progress.h"

#include <algorithm>

#include <fmt/format.h>
#include <unistd.h>

#include "cli/console.h"
#include "model/format_text.h"

namespace crawlstore::cli {
namespace {

using namespace std::chrono_literals;

constexpr auto kTerminalInterval = 200ms;
constexpr auto kPlainInterval = 5s;
constexpr std::size_t kBarWidth = 24;
constexpr std::size_t kLeastBarWidth = 8;

void show(std::string_view text) {
  const auto ignored = ::write(STDERR_FILENO, text.data(), text.size());
  (void)ignored;
}

}  // namespace

std::string progress_line(std::string_view what, double fraction, std::string_view rest,
                          std::size_t width) {
  const std::size_t used = what.size() + rest.size() + std::string_view("[] ").size();
  const std::size_t bar = std::min(kBarWidth, width - std::min(width, used));
  std::string line(what);
  if (fraction >= 0 && bar >= kLeastBarWidth) {
    const auto filled = static_cast<std::size_t>(fraction * static_cast<double>(bar));
    line += fmt::format("[{}{}] ", std::string(filled, '#'), std::string(bar - filled, '.'));
  }
  line += rest;
  if (line.size() > width) line.resize(width);
  return line;
}

ProgressBar::ProgressBar(std::string what, model::Unit unit, std::string noun, bool quiet)
    : what_(std::move(what)),
      unit_(unit),
      noun_(std::move(noun)),
      quiet_(quiet),
      is_drawn_(knows_escapes(STDERR_FILENO)),
      start_(Clock::now()),
      next_(start_ + (is_drawn_ ? Clock::duration(500ms) : Clock::duration(kPlainInterval))) {}

ProgressBar::~ProgressBar() {
  if (shown_ && is_drawn_) show("\r\x1b[K");
}

void ProgressBar::update_of(std::uint64_t done, std::uint64_t total) {
  update(done, total == 0 ? -1 : static_cast<double>(done) / static_cast<double>(total));
}

void ProgressBar::update(std::uint64_t done, double fraction, std::string_view detail) {
  if (quiet_) return;
  const auto now = Clock::now();
  if (now < next_) return;
  next_ = now + (is_drawn_ ? Clock::duration(kTerminalInterval) : Clock::duration(kPlainInterval));
  shown_ = true;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  fraction = std::min(fraction, 1.0);
  std::string rest = text(done, fraction, seconds);
  if (!detail.empty()) (rest += ", ") += detail;
  const std::string what = what_ + ": ";
  if (is_drawn_) {
    // The last column stays free: some terminals wrap there, or clear what it holds.
    const std::size_t width = terminal_width(STDERR_FILENO) - 1;
    show(fmt::format("\r{}\x1b[K", progress_line(what, fraction, rest, width)));
  } else {
    note(what + rest);
  }
}

std::string ProgressBar::amount(std::uint64_t value) const {
  if (unit_ == model::Unit::kBytes) return model::format_bytes(value);
  return model::format_count(value) + " " + noun_;
}

std::string ProgressBar::text(std::uint64_t done, double fraction, double seconds) const {
  std::string line;
  if (fraction >= 0) line += fmt::format("{:.0f} %, ", fraction * 100);
  const auto rate = static_cast<std::uint64_t>(static_cast<double>(done) / seconds);
  line += amount(done) + ", " + amount(rate) + "/s";
  if (fraction > 0) {
    line += ", " + model::format_duration(seconds / fraction - seconds) + " left";
  }
  return line;
}

bool WorkBar::update(std::uint64_t done, std::uint64_t total) {
  if (!bar_ || done < done_) bar_.emplace(what_, model::Unit::kCount, noun_, quiet_);
  done_ = done;
  bar_->update_of(done, total);
  return stop_.requested() == 0;
}

}  // namespace crawlstore::cli
