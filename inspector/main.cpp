// SPDX-License-Identifier: Apache-2.0
// crawlstore-inspector: reads its arguments and chooses the shell.
#include <csignal>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "inspector/shell/glfw_shell.h"
#include "inspector/shell/headless_shell.h"

namespace crawlstore::inspector {
namespace {

// The codes are those of the crawlstore command, in its manual.
constexpr int kExitDone = 0;
constexpr int kExitNo = 1;
constexpr int kExitUsage = 2;
constexpr int kExitSystem = 3;
constexpr int kExitFormat = 4;

struct Arguments {
  std::vector<std::string> files;
  bool is_headless = false;
  std::string script;
  std::string screenshot;
  std::string theme;
  float scale = 0;
  std::optional<int> width;
  std::optional<int> height;
  bool holds_pin = false;
  bool has_labels = false;
  bool no_pin = false;
  bool no_mmap = false;
  std::string probe;
  std::string times;
};

int fail(const std::string& text, int code) {
  fmt::print(stderr, "crawlstore-inspector: {}\n", text);
  return code;
}

/// The code for a file that cannot be opened; damaged ones can.
int exit_code(Errc code) {
  return category(code) == ErrorCategory::kFormat ? kExitFormat : kExitSystem;
}

/// A file that is called so, '#' and all, is meant.
FileLocation file_of(const std::string& argument) {
  std::error_code ignored;
  if (argument.empty() || std::filesystem::exists(argument, ignored)) return {argument, {}};
  auto split = split_file_location(argument);
  return split ? *split : FileLocation{argument, {}};
}

std::vector<FileLocation> files_of(const Arguments& arguments) {
  std::vector<FileLocation> files;
  for (const std::string& file : arguments.files) files.push_back(file_of(file));
  return files;
}

Settings settings_of(const Arguments& arguments, Settings settings) {
  if (!arguments.theme.empty()) settings.theme = arguments.theme;
  if (arguments.scale > 0) settings.scale = arguments.scale;
  return settings;
}

int run_headless(const Arguments& arguments) {
  const Settings settings = settings_of(arguments, {});
  HeadlessShell shell({arguments.width.value_or(settings.window_width),
                       arguments.height.value_or(settings.window_height),
                       settings,
                       /*settings_path=*/{},
                       {!arguments.no_pin, !arguments.no_mmap}});
  if (!arguments.files.empty()) {
    const auto opened = shell.app().open_set(files_of(arguments));
    const std::string& file = arguments.files.front();
    if (!opened)
      return fail(file + ": " + describe(opened.error()), exit_code(opened.error().code));
  }
  shell.settle();
  if (!arguments.script.empty()) {
    std::ifstream file(arguments.script, std::ios::binary);
    if (!file) return fail("cannot read " + arguments.script, kExitSystem);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const std::string problem = shell.run(parse_script(text));
    if (!problem.empty()) return fail(arguments.script + ": " + problem, kExitNo);
  }
  if (arguments.has_labels) {
    for (const ProbeItem& item : shell.app().probe().items()) {
      fmt::print("{}\t{}\n", item.label, item.text);
    }
  }
  if (arguments.screenshot.empty()) return kExitDone;
  const std::string problem = write_png(shell.picture(), arguments.screenshot);
  return problem.empty() ? kExitDone : fail(problem, kExitSystem);
}

int run_windowed(const Arguments& arguments) {
  WindowOptions options;
  options.width = arguments.width;
  options.height = arguments.height;
  options.settings_path = settings_path();
  options.settings = settings_of(arguments, load_settings(options.settings_path));
  options.holds_pin = arguments.holds_pin;
  options.file_options = {!arguments.no_pin, !arguments.no_mmap};
  options.files = files_of(arguments);
  options.probe_path = arguments.probe;
  options.times_path = arguments.times;
  const std::string problem = run_window(options);
  return problem.empty() ? kExitDone : fail(problem, kExitSystem);
}

void define(CLI::App& app, Arguments& arguments) {
  app.set_version_flag("--version", "crawlstore-inspector " CRAWLSTORE_VERSION);
  app.add_option("FILE", arguments.files,
                 "the crawl file, or FILE#LOCATION: a.crawl#segment/12; several: the files of all "
                 "shards of a crawl, of which panels show the first, and the panel Shards all");
  const auto theme = CLI::IsMember({"dark", "light", "contrast"});
  app.add_option("--theme", arguments.theme, "dark, light or contrast")->check(theme);
  app.add_option("--scale", arguments.scale, "size of everything, 1 to 2")
      ->check(CLI::Range(1.0, 2.0));
  app.add_option("--width", arguments.width, "of the window, in pixels; else as it was left")
      ->check(CLI::Range(Settings::kWindowWidthMin, Settings::kWindowSideMax));
  app.add_option("--height", arguments.height, "of the window, in pixels; else as it was left")
      ->check(CLI::Range(Settings::kWindowHeightMin, Settings::kWindowSideMax));
  app.add_flag("--hold-pin", arguments.holds_pin,
               "keep the generation pinned however long nobody touches the window");
  app.add_flag("--no-pin", arguments.no_pin, "take no lock: for file systems without them");
  app.add_flag("--no-mmap", arguments.no_mmap,
               "never map the file: for network file systems and failing disks");
  auto* headless =
      app.add_flag("--headless", arguments.is_headless, "no window, no display: draw into memory");
  app.add_option("--run", arguments.script, "a script of steps (see spec/inspector.md)")
      ->needs(headless);
  app.add_option("--screenshot", arguments.screenshot, "write a PNG at the end")->needs(headless);
  app.add_flag("--labels", arguments.has_labels,
               "print what is on the screen at the end: label, TAB, text")
      ->needs(headless);
  // For tests and benches of the real window.
  app.add_option("--probe", arguments.probe)->group("");
  app.add_option("--times", arguments.times)->group("");
}

int parse_and_run(int count, char** words) {
  CLI::App app("opens a crawl file and shows it, down to the byte", "crawlstore-inspector");
  Arguments arguments;
  define(app, arguments);
  try {
    app.parse(count, words);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kExitDone : kExitUsage;
  }
  return arguments.is_headless ? run_headless(arguments) : run_windowed(arguments);
}

}  // namespace
}  // namespace crawlstore::inspector

int main(int count, char** words) {
  std::signal(SIGPIPE, SIG_DFL);
  try {
    return crawlstore::inspector::parse_and_run(count, words);
  } catch (const std::exception& error) {
    return crawlstore::inspector::fail(error.what(), crawlstore::inspector::kExitSystem);
  }
}
