// SPDX-License-Identifier: Apache-2.0
// The list of everything that can be done.
#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "inspector/ui/app.h"
#include "inspector/ui/app_modals.h"
#include "model/json.h"
#include "model/parse_text.h"

namespace crawlstore::inspector {
namespace {

std::string details_json(const Details& details) {
  std::string json = "{";
  for (const DetailLine& line : details.lines) {
    if (json.size() > 1) json += ",";
    model::append_json_bytes(json, line.name, line.bytes ? *line.bytes : line.text);
  }
  return json + "}\n";
}

}  // namespace

void App::add_commands() {
  add_file_commands();
  add_go_commands();
  add_view_commands();
  add_layout_commands();
  add_pane_commands();
  add_work_commands();
  add_table_commands();
  add_row_commands();
  add_help_commands();
}

void App::add_file_commands() {
  const auto has_file = [this] { return session_.file.has_value(); };
  commands_.add({"open", "Open a file ...", "File", "Ctrl+O", "opens a crawl file",
                 [this](std::string_view path) {
                   if (path.empty()) {
                     if (location().panel != "start") go({"start", {}});
                     focus_.enter_field("start.path");
                   } else {
                     open(std::string(path));
                   }
                 }});
  commands_.add({"refresh", "Look again", "File", "F5", "opens the newest generation, and pins it",
                 [this](std::string_view) { look_again(); }, has_file});
  commands_.add({"follow", "Follow the writer", "File", "F6",
                 "shows each new generation when it is committed",
                 [this](std::string_view) {
                   session_.is_following = !session_.is_following;
                   save();
                   if (!session_.is_following || !session_.file) return;
                   look_again();
                   see_queues(*session_.view(), false);
                 },
                 [] { return true; }, [this] { return session_.is_following; }});
  commands_.add({"release", "Release the pin", "File", "",
                 "lets the writer reuse what only this generation holds",
                 [this](std::string_view) { leave(); },
                 [this] { return session_.file && !session_.file->is_released(); }});
  commands_.add(
      {"export", "Export the table ...", "File", "Ctrl+E",
       "writes the rows shown as CSV, TSV or lines of JSON", [this](std::string_view path) {
         const auto write = [this](const std::string& to) -> std::string {
           const auto endings = current_panel().export_endings();
           const auto fits = [&to](std::string_view end) { return to.ends_with(end); };
           if (std::ranges::none_of(endings, fits)) {
             return fmt::format("end the name with {}", fmt::join(endings, " or "));
           }
           Ui ui = make_ui();
           if (!current_panel().export_to(ui, to)) return "there is no table here";
           return {};
         };
         if (path.empty()) {
           const auto endings = current_panel().export_endings();
           modals_->question.open("Export what is shown to", front_ + std::string(endings.front()),
                                  fmt::format("name{}", fmt::join(endings, ", name")), write);
         } else if (const auto problem = write(std::string(path)); !problem.empty()) {
           say(Severity::kWarning, problem);
         }
       }});
  add_recovery_command();
  commands_.add({"screenshot", "Save a picture of the window", "File", "F12",
                 "writes crawlstore-inspector.png, or the path given",
                 [this](std::string_view path) {
                   const std::string to =
                       path.empty() ? "crawlstore-inspector.png" : std::string(path);
                   platform_.write_picture(to);
                   say(Severity::kNote, "picture written to " + to);
                 },
                 [this] { return platform_.write_picture != nullptr; }});
  commands_.add({"close", "Close the file", "File", "Ctrl+W", "closes the file, keeps the window",
                 [this](std::string_view) { close_file(); }, has_file});
  commands_.add({"quit", "Quit", "File", "Ctrl+Q", "closes the window",
                 [this](std::string_view) { platform_.quit(); }});
}

void App::add_recovery_command() {
  commands_.add({"recover", "Recover to a new file ...", "File", "",
                 "makes a file of all that can be read of this one, which stays as it is",
                 [this](std::string_view path) {
                   const auto start = [this](const std::string& to) -> std::string {
                     if (to.empty()) return "name the new file";
                     std::error_code ignored;
                     if (std::filesystem::exists(to, ignored)) return "there is such a file";
                     recover_to(to);
                     return {};
                   };
                   if (path.empty()) {
                     modals_->question.open("Recover to a new file",
                                            recovered_path(session_.recoverable_path()), "path",
                                            start);
                   } else if (const auto problem = start(std::string(path)); !problem.empty()) {
                     say(Severity::kWarning, problem);
                   }
                 },
                 [this] { return !session_.recoverable_path().empty(); }});
}

void App::recover_to(const std::string& new_path) {
  const std::string path = session_.recoverable_path();
  jobs_.start("recover " + std::filesystem::path(path).filename().string(), "recover",
              recovery_work(path, new_path, [this](std::shared_ptr<const Recovery> ended) {
                const bool is_there = ended->report.has_value();
                const bool is_whole = is_there && ended->report->losses.empty();
                session_.recovery = std::move(ended);
                say(is_whole   ? Severity::kNote
                    : is_there ? Severity::kWarning
                               : Severity::kBad,
                    describe(*session_.recovery));
              }));
}

void App::add_go_commands() {
  commands_.add({"go_back", "Back", "Go", "Alt+Left", "to the place before, as it was",
                 [this](std::string_view) {
                   if (const Visit* visit = history_.back(current_panel().view_state())) {
                     arrive(*visit);
                   }
                 },
                 [this] { return history_.can_go_back(); }});
  commands_.add({"go_forward", "Forward", "Go", "Alt+Right", "to the place one came back from",
                 [this](std::string_view) {
                   if (const Visit* visit = history_.forward(current_panel().view_state())) {
                     arrive(*visit);
                   }
                 },
                 [this] { return history_.can_go_forward(); }});
  commands_.add({"go_to", "Go to ...", "Go", "Ctrl+G",
                 "to a location, an offset, the page of a URL, or #7, the page of an index",
                 [this](std::string_view text) {
                   const auto go_there = [this](const std::string& to) { return go_to(to); };
                   if (text.empty()) {
                     modals_->question.open(
                         "Go to", "", "0x14000, segment/12, #7 or a URL for its page", go_there);
                   } else if (const auto problem = go_to(std::string(text)); !problem.empty()) {
                     say(Severity::kWarning, problem);
                   }
                 }});
  commands_.add({"copy_location", "Copy this location", "Go", "Ctrl+L",
                 "as FILE#LOCATION, which the command line takes", [this](std::string_view) {
                   const std::string file = session_.file ? session_.file->path() : "";
                   copy(file + "#" + format_location(location()), "location");
                 }});
  constexpr unsigned kKeysMax = 9;
  unsigned number = 0;
  unsigned pages_number = 0;
  for (const PanelKind& kind : panel_kinds()) {
    const std::string id(kind.id);
    const bool is_of_pages =
        kind.group == kPagesGroup || kind.group == kCrawlGroup || kind.group == kSetGroup;
    const unsigned key = ++(is_of_pages ? pages_number : number);
    const std::string keys =
        key > kKeysMax ? "" : (is_of_pages ? "Ctrl+Shift+" : "Ctrl+") + std::to_string(key);
    commands_.add({"show_" + id, std::string(kind.title), "Go", keys,
                   std::string(kind.first_sentence()), [this, id](std::string_view) {
                     go({id, {}});
                   }});
  }
}

std::string App::go_to(const std::string& to) {
  if (to.starts_with('#')) {
    const auto index = model::parse_count(std::string_view(to).substr(1));
    if (!index) return "no index of a page";
    go({"page_detail", PageThing{{}, *index}});
    return {};
  }
  if (is_url(to)) return go_to_url(to);
  if (const auto offset = model::parse_count(to)) {
    go({"hex", ExtentThing{{*offset, 0}}});
    return {};
  }
  const auto location = parse_location(to);
  if (!location) return "no such location: an offset, segment/12, hex, #7, a URL ...";
  go(*location);
  return {};
}

std::string App::go_to_url(const std::string& url) {
  const auto view = session_.view();
  const PageView* pages = view == nullptr ? nullptr : model::open_pages(*view, {});
  if (pages == nullptr) return "there are no pages that can be read";
  const auto index = pages->find(url);
  if (!index) return describe(index.error());
  if (!*index) return "no page has this URL";
  go({"page_detail", PageThing{{}, **index}});
  return {};
}

void App::add_view_commands() {
  commands_.add({"palette", "Find a command ...", "View", "Ctrl+P",
                 "everything that can be done, by some of its letters",
                 [this](std::string_view text) { modals_->palette.open(std::string(text)); }});
  commands_.add({"close_tab", "Close this tab", "View", "Ctrl+F4", "closes the panel in front",
                 [this](std::string_view) { close_panel(std::string(front_)); }});
  const auto next_tab = [this](std::size_t step) {
    for (std::size_t i = 0; i < panels_.size(); ++i) {
      if (panels_[i].kind->id != front_) continue;
      go({std::string(panels_[(i + step) % panels_.size()].kind->id), {}});
      return;
    }
  };
  commands_.add({"next_tab", "Next tab", "View", "Ctrl+Tab", "the panel to the right",
                 [next_tab](std::string_view) { next_tab(1); }});
  commands_.add({"previous_tab", "Previous tab", "View", "Ctrl+Shift+Tab", "the panel to the left",
                 [this, next_tab](std::string_view) { next_tab(panels_.size() - 1); }});
  commands_.add({"larger", "Larger", "View", "Ctrl+=", "text and everything else, up to twice",
                 [this](std::string_view) { set_scale(settings_.scale + 0.25F); },
                 [this] { return settings_.scale < 2; }});
  commands_.add({"smaller", "Smaller", "View", "Ctrl+-", "down to the size of the start",
                 [this](std::string_view) { set_scale(settings_.scale - 0.25F); },
                 [this] { return settings_.scale > 1; }});
  for (const Palette& palette : palettes()) {
    const std::string name(palette.name);
    commands_.add({"theme_" + name, "Theme: " + name, "View", "", "changes the colours",
                   [this, name](std::string_view) { set_theme(name); }, [] { return true; },
                   [this, name] { return settings_.theme == name; }});
  }
}

void App::add_work_commands() {
  const auto has_file = [this] { return session_.file.has_value(); };
  struct Level {
    const char* id;
    const char* title;
    const char* keys;
    const char* help;
    VerifyLevel level;
  };
  constexpr std::array kLevels{
      Level{"verify_quick", "Check superblocks and directories", "",
            "looks for damage in the directories of both generations", VerifyLevel::kQuick},
      Level{"verify", "Check all checksums", "F7",
            "looks for damaged bytes: reads both generations once", VerifyLevel::kNormal},
      Level{"verify_deep", "Check everything", "Ctrl+F7",
            "looks for damage by every checksum, and every rule of every segment's format",
            VerifyLevel::kDeep},
  };
  for (const Level& level : kLevels) {
    commands_.add({level.id, level.title, "Work", level.keys, level.help,
                   [this, level](std::string_view) {
                     verify(level.level);
                     go({"problems", {}});
                   },
                   has_file});
  }
  commands_.add({"compare_previous", "Compare with the previous generation", "Work", "Ctrl+D",
                 "what the newest commit changed: pages, links, scores, queues, keys",
                 [this](std::string_view) {
                   go({"diff", GenerationThing{session_.view()->info.generation}});
                 },
                 [this] {
                   const auto view = session_.view();
                   return view != nullptr && view->snapshot && view->info.has_previous;
                 }});
  commands_.add({"cancel", "Cancel the newest job", "Work", "Escape", "stops what runs",
                 [this](std::string_view) {
                   if (jobs_.cancel_newest()) say(Severity::kNote, "cancelled");
                 },
                 [this] { return !jobs_.idle(); }});
}

void App::add_help_commands() {
  commands_.add({"help_keys", "Keys and settings", "Help", "F1", "every command with its keys",
                 [this](std::string_view) {
                   go({"keys", {}});
                 }});
  commands_.add({"help_report", "Report for an issue", "Help", "",
                 "the state of the file as Markdown",
                 [this](std::string_view) {
                   go({"report", {}});
                 },
                 [this] { return session_.file.has_value(); }});
  commands_.add({"help_panel", "What does this panel show?", "Help", "Shift+F1",
                 "says what the panel in front is for, and what its signs mean",
                 [this](std::string_view) {
                   const PanelKind& kind = *open_panel(front_).kind;
                   modals_->help.open(std::string(kind.title), std::string(kind.help));
                   want_frames();
                 }});
}

void App::add_table_commands() {
  commands_.add({"filter", "Filter the table", "Go", "Ctrl+F",
                 "into the field that filters the table of this panel, or that searches bytes",
                 [this](std::string_view) {
                   focus_.enter_filter();
                   want_frames();
                 }});
  commands_.add({"next_row", "Next row", "Go", "F3",
                 "selects the next row that the filter lets through; finds the next bytes",
                 [this](std::string_view) {
                   focus_.ask_for_row();
                   want_frames();
                 }});
}

void App::add_row_commands() {
  const auto has_details = [this] { return !details_.lines.empty(); };
  commands_.add({"copy_row", "Copy the selection", "", "Ctrl+Shift+C",
                 "what the details show, name and value a line",
                 [this](std::string_view) {
                   std::string text;
                   for (const DetailLine& line : details_.lines) {
                     text += line.name + "\t" + line.text + "\n";
                   }
                   copy(text, "selection");
                 },
                 has_details});
  commands_.add({"copy_row_json", "Copy the selection as JSON", "", "Ctrl+Alt+C",
                 "one object, names and values",
                 [this](std::string_view) { copy(details_json(details_), "selection"); },
                 has_details});
}

}  // namespace crawlstore::inspector
