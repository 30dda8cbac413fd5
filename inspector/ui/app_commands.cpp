// SPDX-License-Identifier: Apache-2.0
#include "inspector/ui/app_commands.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "model/json.h"

namespace crawlstore::inspector {
namespace {

std::string details_json(const std::vector<DetailLine>& lines) {
  std::string json = "{";
  for (const DetailLine& line : lines) {
    if (json.size() > 1) json += ",";
    model::append_json_bytes(json, line.name, line.bytes ? *line.bytes : line.text);
  }
  return json + "}\n";
}

void add_recovery_command(CommandRegistry& commands, AppParts& app) {
  commands.add({"recover", "Recover to a new file ...", "File", "",
                "makes a file of all that can be read of this one, which stays as it is",
                [&app](std::string_view path) {
                  const auto start = [&app](const std::string& to) -> std::string {
                    if (to.empty()) return "name the new file";
                    std::error_code ignored;
                    if (std::filesystem::exists(to, ignored)) return "there is such a file";
                    app.checks.recover_to(to);
                    return {};
                  };
                  if (path.empty()) {
                    app.question.open("Recover to a new file",
                                      recovered_path(app.state.session.recoverable_path()), "path",
                                      start);
                  } else if (const auto problem = start(std::string(path)); !problem.empty()) {
                    app.state.say(Severity::kWarning, problem);
                  }
                },
                [&app] { return !app.state.session.recoverable_path().empty(); }});
}

void add_file_commands(CommandRegistry& commands, AppParts& app) {
  const auto has_file = [&app] { return app.state.session.file.has_value(); };
  commands.add({"open", "Open a file ...", "File", "Ctrl+O", "opens a crawl file",
                [&app](std::string_view path) {
                  if (path.empty()) {
                    if (app.places.location().panel != "start") app.places.go({"start", {}});
                    app.state.focus.enter_field("start.path");
                  } else {
                    app.actions.open(std::string(path));
                  }
                }});
  commands.add({"refresh", "Look again", "File", "F5", "opens the newest generation, and pins it",
                [&app](std::string_view) { app.file.look_again(); }, has_file});
  commands.add({"follow", "Follow the writer", "File", "F6",
                "shows each new generation when it is committed",
                [&app](std::string_view) {
                  app.tabs.save();
                  app.file.set_following(!app.state.session.is_following);
                },
                [] { return true; }, [&app] { return app.state.session.is_following; }});
  commands.add(
      {"release", "Release the pin", "File", "",
       "lets the writer reuse what only this generation holds",
       [&app](std::string_view) { app.file.leave(); },
       [&app] { return app.state.session.file && !app.state.session.file->is_released(); }});
  commands.add({"export", "Export the table ...", "File", "Ctrl+E",
                "writes the rows shown as CSV, TSV or lines of JSON",
                [&app](std::string_view path) {
                  const auto write = [&app](const std::string& to) -> std::string {
                    const auto endings = app.tabs.current().export_endings();
                    const auto fits = [&to](std::string_view end) { return to.ends_with(end); };
                    if (std::ranges::none_of(endings, fits)) {
                      return fmt::format("end the name with {}", fmt::join(endings, " or "));
                    }
                    Ui ui = app.state.ui(app.actions);
                    if (!app.tabs.current().export_to(ui, to)) return "there is no table here";
                    return {};
                  };
                  if (path.empty()) {
                    const auto endings = app.tabs.current().export_endings();
                    app.question.open("Export what is shown to",
                                      app.tabs.front() + std::string(endings.front()),
                                      fmt::format("name{}", fmt::join(endings, ", name")), write);
                  } else if (const auto problem = write(std::string(path)); !problem.empty()) {
                    app.state.say(Severity::kWarning, problem);
                  }
                }});
  add_recovery_command(commands, app);
  commands.add({"screenshot", "Save a picture of the window", "File", "F12",
                "writes crawlstore-inspector.png, or the path given",
                [&app](std::string_view path) {
                  const std::string to =
                      path.empty() ? "crawlstore-inspector.png" : std::string(path);
                  app.state.platform.write_picture(to);
                  app.state.say(Severity::kNote, "picture written to " + to);
                },
                [&app] { return app.state.platform.write_picture != nullptr; }});
  commands.add({"close", "Close the file", "File", "Ctrl+W", "closes the file, keeps the window",
                [&app](std::string_view) { app.file.close(); }, has_file});
  commands.add({"quit", "Quit", "File", "Ctrl+Q", "closes the window",
                [&app](std::string_view) { app.state.platform.quit(); }});
}

void add_go_commands(CommandRegistry& commands, AppParts& app) {
  commands.add({"go_back", "Back", "Go", "Alt+Left", "to the place before, as it was",
                [&app](std::string_view) { app.places.go_back(); },
                [&app] { return app.places.history().can_go_back(); }});
  commands.add({"go_forward", "Forward", "Go", "Alt+Right", "to the place one came back from",
                [&app](std::string_view) { app.places.go_forward(); },
                [&app] { return app.places.history().can_go_forward(); }});
  commands.add(
      {"go_to", "Go to ...", "Go", "Ctrl+G",
       "to a location, an offset, the page of a URL, or #7, the page of an index",
       [&app](std::string_view text) {
         const auto go_there = [&app](const std::string& to) { return app.places.go_to(to); };
         if (text.empty()) {
           app.question.open("Go to", "", "0x14000, segment/12, #7 or a URL for its page",
                             go_there);
         } else if (const auto problem = app.places.go_to(std::string(text)); !problem.empty()) {
           app.state.say(Severity::kWarning, problem);
         }
       }});
  commands.add({"copy_location", "Copy this location", "Go", "Ctrl+L",
                "as FILE#LOCATION, which the command line takes", [&app](std::string_view) {
                  const std::string file =
                      app.state.session.file ? app.state.session.file->path() : "";
                  app.actions.copy(file + "#" + format_location(app.places.location()), "location");
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
    commands.add({"show_" + id, std::string(kind.title), "Go", keys,
                  std::string(kind.first_sentence()), [&app, id](std::string_view) {
                    app.places.go({id, {}});
                  }});
  }
}

void add_view_commands(CommandRegistry& commands, AppParts& app) {
  commands.add({"palette", "Find a command ...", "View", "Ctrl+P",
                "everything that can be done, by some of its letters",
                [&app](std::string_view text) { app.palette.open(std::string(text)); }});
  commands.add({"close_tab", "Close this tab", "View", "Ctrl+F4", "closes the panel in front",
                [&app](std::string_view) { app.places.close_tab(std::string(app.tabs.front())); }});
  const auto go_beside = [&app](int step) {
    app.places.go({std::string(app.tabs.beside_front(step)), {}});
  };
  commands.add({"next_tab", "Next tab", "View", "Ctrl+Tab", "the panel to the right",
                [go_beside](std::string_view) { go_beside(1); }});
  commands.add({"previous_tab", "Previous tab", "View", "Ctrl+Shift+Tab", "the panel to the left",
                [go_beside](std::string_view) { go_beside(-1); }});
  const auto set_scale = [&app](float scale) {
    app.state.set_scale(scale);
    app.tabs.save();
  };
  commands.add(
      {"larger", "Larger", "View", "Ctrl+=", "text and everything else, up to twice",
       [&app, set_scale](std::string_view) { set_scale(app.state.settings.scale + 0.25F); },
       [&app] { return app.state.settings.scale < 2; }});
  commands.add(
      {"smaller", "Smaller", "View", "Ctrl+-", "down to the size of the start",
       [&app, set_scale](std::string_view) { set_scale(app.state.settings.scale - 0.25F); },
       [&app] { return app.state.settings.scale > 1; }});
  for (const Palette& palette : palettes()) {
    const std::string name(palette.name);
    commands.add({"theme_" + name, "Theme: " + name, "View", "", "changes the colours",
                  [&app, name](std::string_view) {
                    app.state.set_theme(name);
                    app.tabs.save();
                  },
                  [] { return true; }, [&app, name] { return app.state.settings.theme == name; }});
  }
}

void add_work_commands(CommandRegistry& commands, AppParts& app) {
  const auto has_file = [&app] { return app.state.session.file.has_value(); };
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
    commands.add({level.id, level.title, "Work", level.keys, level.help,
                  [&app, level](std::string_view) {
                    app.checks.verify(level.level);
                    app.places.go({"problems", {}});
                  },
                  has_file});
  }
  commands.add(
      {"compare_previous", "Compare with the previous generation", "Work", "Ctrl+D",
       "what the newest commit changed: pages, links, scores, queues, keys",
       [&app](std::string_view) {
         app.places.go({"diff", GenerationThing{app.state.session.view()->info.generation}});
       },
       [&app] {
         const auto view = app.state.session.view();
         return view != nullptr && view->snapshot && view->info.has_previous;
       }});
  commands.add({"cancel", "Cancel the newest job", "Work", "Escape", "stops what runs",
                [&app](std::string_view) {
                  if (app.jobs.cancel_newest()) app.state.say(Severity::kNote, "cancelled");
                },
                [&app] { return !app.jobs.idle(); }});
}

void add_help_commands(CommandRegistry& commands, AppParts& app) {
  commands.add({"help_keys", "Keys and settings", "Help", "F1", "every command with its keys",
                [&app](std::string_view) {
                  app.places.go({"keys", {}});
                }});
  commands.add({"help_report", "Report for an issue", "Help", "",
                "the state of the file as Markdown",
                [&app](std::string_view) {
                  app.places.go({"report", {}});
                },
                [&app] { return app.state.session.file.has_value(); }});
  commands.add({"help_panel", "What does this panel show?", "Help", "Shift+F1",
                "says what the panel in front is for, and what its signs mean",
                [&app](std::string_view) {
                  const PanelKind& kind = app.tabs.front_kind();
                  app.help.open(std::string(kind.title), std::string(kind.help));
                  app.state.redraws.want();
                }});
}

void add_table_commands(CommandRegistry& commands, AppParts& app) {
  commands.add({"filter", "Filter the table", "Go", "Ctrl+F",
                "into the field that filters the table of this panel, or that searches bytes",
                [&app](std::string_view) {
                  app.state.focus.enter_filter();
                  app.state.redraws.want();
                }});
  commands.add({"next_row", "Next row", "Go", "F3",
                "selects the next row that the filter lets through; finds the next bytes",
                [&app](std::string_view) {
                  app.state.focus.ask_for_row();
                  app.state.redraws.want();
                }});
}

void add_row_commands(CommandRegistry& commands, AppParts& app) {
  const auto has_details = [&app] { return !app.details.lines().empty(); };
  commands.add({"copy_row", "Copy the selection", "", "Ctrl+Shift+C",
                "what the details show, name and value a line",
                [&app](std::string_view) {
                  std::string text;
                  for (const DetailLine& line : app.details.lines()) {
                    text += line.name + "\t" + line.text + "\n";
                  }
                  app.actions.copy(text, "selection");
                },
                has_details});
  commands.add({"copy_row_json", "Copy the selection as JSON", "", "Ctrl+Alt+C",
                "one object, names and values",
                [&app](std::string_view) {
                  app.actions.copy(details_json(app.details.lines()), "selection");
                },
                has_details});
}

void add_layout_commands(CommandRegistry& commands, AppParts& app) {
  const auto has_file = [&app] { return app.state.session.file.has_value(); };
  for (const NamedLayout& named : named_layouts()) {
    const std::string name = named.layout.name;
    commands.add({"layout." + name, "Layout: " + std::string(named.title), "View/Layout", "",
                  std::string(named.help),
                  [&app, name](std::string_view) {
                    app.places.want_layout(*app.state.settings.find_layout(name));
                  },
                  has_file, [&app, name] { return app.state.settings.layout.name == name; }});
  }
  commands.add({"layout.save", "Layout: save as it is", "View/Layout", "",
                "keeps tabs and widths under the name of the present layout",
                [&app](std::string_view) {
                  app.tabs.note_layout();
                  app.state.settings.save_layout();
                  app.tabs.save();
                  app.state.say(Severity::kNote,
                                "layout " + app.state.settings.layout.name + " saved");
                },
                has_file});
  commands.add(
      {"layout.reset", "Layout: reset", "View/Layout", "",
       "brings the present layout back to what it is at first",
       [&app](std::string_view) {
         app.state.settings.forget_layout();
         app.places.want_layout(*app.state.settings.find_layout(app.state.settings.layout.name));
         app.state.say(Severity::kNote, "layout " + app.state.settings.layout.name + " reset");
       },
       has_file});
}

void add_pane_commands(CommandRegistry& commands, AppParts& app) {
  struct PaneCommand {
    const char* id;
    const char* title;
    const char* keys;
    Pane pane;
  };
  constexpr std::array kPaneCommands{
      PaneCommand{"pane_navigator", "Pane: navigator", "Alt+1", Pane::kNavigator},
      PaneCommand{"pane_panel", "Pane: panel in front", "Alt+2", Pane::kPanel},
      PaneCommand{"pane_details", "Pane: details", "Alt+3", Pane::kDetails},
      PaneCommand{"pane_status", "Pane: status bar", "Alt+4", Pane::kStatus},
  };
  for (const PaneCommand& target : kPaneCommands) {
    commands.add(
        {target.id, target.title, "View/Pane", target.keys,
         "the keys go there: Tab and arrows to walk, Enter to choose, Escape to leave",
         [&app, pane = target.pane](std::string_view) {
           app.state.focus.enter(pane);
           app.state.redraws.want();
         },
         [&app, pane = target.pane] { return pane != Pane::kDetails || app.shows_details(); }});
  }
}

}  // namespace

void add_commands(AppParts& app) {
  CommandRegistry& commands = app.state.commands;
  add_file_commands(commands, app);
  add_go_commands(commands, app);
  add_view_commands(commands, app);
  add_layout_commands(commands, app);
  add_pane_commands(commands, app);
  add_work_commands(commands, app);
  add_table_commands(commands, app);
  add_row_commands(commands, app);
  add_help_commands(commands, app);
}

}  // namespace crawlstore::inspector
