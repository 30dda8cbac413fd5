// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <initializer_list>
#include <string_view>
#include <utility>

namespace crawlstore::service {

enum class LogLevel : int { kTrace, kDebug, kInfo, kWarn, kError };

/// The lowest level that is written. Threads: any.
inline std::atomic<LogLevel> log_level{LogLevel::kInfo};

/// Writes a line to the standard error: time, level, event, and values by name, as logfmt has them.
/// Threads: any; lines are whole.
void log(LogLevel level, std::string_view event,
         std::initializer_list<std::pair<std::string_view, std::string_view>> values = {});

}  // namespace crawlstore::service
