// SPDX-License-Identifier: Apache-2.0
#include "service/server/log.h"

#include <array>
#include <chrono>
#include <cstddef>
#include <string>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

namespace crawlstore::service {

void log(LogLevel level, std::string_view event,
         std::initializer_list<std::pair<std::string_view, std::string_view>> values) {
  if (level < log_level) return;
  constexpr std::array<std::string_view, 5> kNames{"trace", "debug", "info", "warn", "error"};
  const auto now =
      std::chrono::time_point_cast<std::chrono::seconds>(std::chrono::system_clock::now());
  std::string line = fmt::format("time={:%Y-%m-%dT%H:%M:%SZ} level={} event={}",
                                 fmt::gmtime(std::chrono::system_clock::to_time_t(now)),
                                 kNames.at(static_cast<std::size_t>(level)), event);
  for (const auto& [name, value] : values) {
    line += fmt::format(" {}=\"", name);
    for (const char c : value) {
      if (c == '"' || c == '\\') line += '\\';
      line += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
    }
    line += '"';
  }
  line += '\n';
  // One call, so that lines of several threads stay whole. Nothing can be done if it fails.
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace crawlstore::service
