// SPDX-License-Identifier: Apache-2.0
#include "cli/console.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <string>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <crawlstore/tools/inspect.h>

#include "cli/exit_code.h"
#include "model/format_text.h"
#include "model/json.h"
#include "model/process_name.h"
#include "model/table_lines.h"

namespace crawlstore::cli {
namespace {

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

void append_fields(std::string& text, const std::vector<model::Field>& fields) {
  std::size_t width = 0;
  for (const auto& field : fields) width = std::max(width, field.name.size());
  for (const auto& field : fields) {
    const std::string value = model::format_line(model::format_cell(field.value, field.unit));
    text += fmt::format("{:<{}}  {}\n", field.name, width, value);
  }
}

std::string text_of(const model::Document& document) {
  std::string text;
  append_fields(text, document.fields);
  for (const auto& table : document.tables) {
    if (table.rows.empty()) continue;
    if (!text.empty()) text += '\n' + table.name + ":\n";
    model::TableLines lines(table.columns, model::LineForm::kAligned);
    lines.fit(table.rows);
    lines.append_header(text);
    for (const auto& row : table.rows) lines.append_row(text, row);
  }
  return text;
}

struct ColorCodes {
  ColorCodes(int descriptor, Color color) {
    if (!knows_escapes(descriptor) || is_set("NO_COLOR")) return;
    on = fmt::format("\x1b[1;{}m", static_cast<int>(color));
    off = "\x1b[0m";
  }
  std::string on;
  std::string off;
};

/// Nothing can be said about a standard error that is gone.
void say(std::string_view text, std::string_view before, std::string_view behind) {
  std::string kept;
  (void)write_all(STDERR_FILENO, fmt::format("crawlstore: {}{}{}\n", before,
                                             for_descriptor(STDERR_FILENO, text, kept), behind));
}

}  // namespace

int write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written > 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (written == 0) {
      return EIO;
    } else if (errno == EAGAIN) {  // somebody made it non-blocking: wait all the same
      pollfd output{descriptor, POLLOUT, 0};
      (void)::poll(&output, 1, -1);
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

void end_torn_line() {
  struct stat status {};
  if (::fstat(STDOUT_FILENO, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size == 0)
    return;
  const bool appends = (::fcntl(STDOUT_FILENO, F_GETFL) & O_APPEND) != 0;
  if (!appends && ::lseek(STDOUT_FILENO, 0, SEEK_CUR) != status.st_size) return;
  const int file = ::open("/proc/self/fd/1", O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  char last = '\n';
  (void)::pread(file, &last, 1, status.st_size - 1);
  (void)::close(file);
  if (last != '\n') (void)write_all(STDOUT_FILENO, "\n");
}

std::string_view for_descriptor(int descriptor, std::string_view text, std::string& kept) {
  if (!is_terminal(descriptor)) return text;
  kept = model::format_for_terminal(text);
  return kept;
}

Result<void> write_output(std::string_view text) {
  std::string kept;
  if (const int error = write_all(STDOUT_FILENO, for_descriptor(STDOUT_FILENO, text, kept));
      error != 0) {
    return fail_errno(error, "standard output");
  }
  return {};
}

int print(std::string_view text) {
  const auto written = write_output(text);
  return written ? kExitDone : fail_with("standard output", written.error());
}

int print_document(const model::Document& document, bool as_json) {
  return print(as_json ? model::to_json(document) : text_of(document));
}

void note(std::string_view text) {
  say(text, "", "");
}

int fail_with(std::string_view subject, const Error& error) {
  if (error.system_errno == EISDIR) {
    return fail_with(
        fmt::format("{}: a folder, where a file is wanted", model::format_printable(subject)),
        kExitUsage);
  }
  std::string text = fmt::format("{}: {}", model::format_printable(subject), describe(error));
  if (error.code == Errc::kLocked) {
    for (const std::int64_t pid : writer_processes(std::string(subject))) {
      const std::string name = model::format_printable(model::process_name(pid));
      text += fmt::format(" It is process {} ({}).", pid, name);
    }
  }
  return fail_with(text, exit_code(error.code));
}

int fail_with_input(std::string_view input, const Error& error) {
  if (error.system_errno != 0) return fail_with(input, error);
  return fail_with(fmt::format("{}: {}", model::format_printable(input), error.text), kExitNo);
}

int fail_with(std::string_view text, int code) {
  const ColorCodes codes(STDERR_FILENO, Color::kRed);
  say(text, codes.on, codes.off);
  return code;
}

bool is_terminal(int descriptor) {
  return ::isatty(descriptor) == 1;
}

bool knows_escapes(int descriptor) {
  const char* terminal = std::getenv("TERM");
  return is_terminal(descriptor) && (terminal == nullptr || std::string_view(terminal) != "dumb");
}

std::size_t terminal_width(int descriptor) {
  const char* variable = std::getenv("COLUMNS");
  const std::string_view text = variable == nullptr ? "" : variable;
  std::uint16_t columns = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), columns);
  if (error == std::errc() && end == text.data() + text.size() && columns > 0) return columns;
  winsize size = {};
  if (::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  constexpr std::size_t kUsual = 80;
  return kUsual;
}

int print_colored(std::string_view word, Color color) {
  const ColorCodes codes(STDOUT_FILENO, color);
  const int error = write_all(STDOUT_FILENO, fmt::format("{}{}{}", codes.on, word, codes.off));
  if (error == 0) return kExitDone;
  return fail_with("standard output", fail_errno(error, "standard output").value());
}

}  // namespace crawlstore::cli
