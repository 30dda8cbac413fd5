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

void show(std::string_view text) {
  const auto ignored = ::write(STDERR_FILENO, text.data(), text.size());
  (void)ignored;
}

}  // namespace

ProgressBar::ProgressBar(std::string what, model::Unit unit, std::string noun, bool quiet)
    : what_(std::move(what)),
      unit_(unit),
      noun_(std::move(noun)),
      quiet_(quiet),
      on_terminal_(is_terminal(STDERR_FILENO)),
      start_(Clock::now()),
      next_(start_ + (on_terminal_ ? Clock::duration(500ms) : Clock::duration(kPlainInterval))) {}

ProgressBar::~ProgressBar() {
  if (shown_ && on_terminal_) show("\r\x1b[K");
}

void ProgressBar::update_of(std::uint64_t done, std::uint64_t total) {
  update(done, total == 0 ? -1 : static_cast<double>(done) / static_cast<double>(total));
}

void ProgressBar::update(std::uint64_t done, double fraction, std::string_view detail) {
  if (quiet_) return;
  const auto now = Clock::now();
  if (now < next_) return;
  next_ =
      now + (on_terminal_ ? Clock::duration(kTerminalInterval) : Clock::duration(kPlainInterval));
  shown_ = true;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  std::string line = text(done, std::min(fraction, 1.0), seconds);
  if (!detail.empty()) (line += ", ") += detail;
  if (on_terminal_) {
    show("\r" + line + "\x1b[K");
  } else {
    note(line);
  }
}

std::string ProgressBar::text(std::uint64_t done, double fraction, double seconds) const {
  const auto number = [this](std::uint64_t value) {
    return unit_ == model::Unit::kBytes ? model::format_bytes(value) : model::format_count(value);
  };
  std::string line = what_ + ": ";
  if (fraction >= 0) {
    if (on_terminal_) {
      const auto filled = static_cast<std::size_t>(fraction * kBarWidth);
      line +=
          fmt::format("[{}{}] ", std::string(filled, '#'), std::string(kBarWidth - filled, '.'));
    }
    line += fmt::format("{:.0f} %, ", fraction * 100);
  }
  const auto rate = static_cast<std::uint64_t>(static_cast<double>(done) / seconds);
  line += number(done) + noun_ + ", " + number(rate) + noun_ + "/s";
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
