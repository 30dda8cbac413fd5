// SPDX-License-Identifier: Apache-2.0
#include "inspector/core/settings.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <nlohmann/json.hpp>

#include "inspector/core/atomic_file.h"
#include "inspector/core/palette.h"
#include "model/utf8.h"

namespace crawlstore::inspector {
namespace {

float between(float value, float low, float high, float otherwise) {
  return value >= low && value <= high ? value : otherwise;
}

/// If the value is of another type, or missing, `value` stays.
template <class T>
void take_value(const nlohmann::json& json, const char* name, T& value) {
  const auto found = json.find(name);
  if (found == json.end()) return;
  try {
    value = found->get<T>();
  } catch (const nlohmann::json::exception&) {
    return;
  }
}

nlohmann::ordered_json layout_json(const PaneLayout& layout) {
  nlohmann::ordered_json json;
  json["name"] = layout.name;
  json["tabs"] = layout.tabs;
  json["front"] = layout.front;
  json["navigator_width"] = layout.navigator_width;
  json["details_width"] = layout.details_width;
  return json;
}

/// nullopt = no layout with one of the names.
std::optional<PaneLayout> parse_layout(const nlohmann::json& json) {
  if (!json.is_object()) return std::nullopt;
  std::string name;
  take_value(json, "name", name);
  const NamedLayout* named = find_layout(name);
  if (named == nullptr) return std::nullopt;
  PaneLayout layout = named->layout;
  std::vector<std::string> tabs;
  take_value(json, "tabs", tabs);
  if (tabs.size() > PaneLayout::kTabsMax) tabs.resize(PaneLayout::kTabsMax);
  std::vector<std::string> once;
  for (std::string& tab : tabs) {
    if (std::ranges::find(once, tab) == once.end()) once.push_back(std::move(tab));
  }
  if (!once.empty()) {
    layout.tabs = std::move(once);
    layout.front = layout.tabs.front();
  }
  std::string front;
  take_value(json, "front", front);
  if (std::ranges::find(layout.tabs, front) != layout.tabs.end()) layout.front = front;
  const PaneLayout defaults = layout;
  take_value(json, "navigator_width", layout.navigator_width);
  take_value(json, "details_width", layout.details_width);
  const auto width = [](float value, float otherwise) {
    return between(value, PaneLayout::kWidthMin, PaneLayout::kWidthMax, otherwise);
  };
  layout.navigator_width = width(layout.navigator_width, defaults.navigator_width);
  layout.details_width = width(layout.details_width, defaults.details_width);
  return layout;
}

std::vector<PaneLayout> parse_layouts(const nlohmann::json& json) {
  std::vector<PaneLayout> layouts;
  for (const nlohmann::json& item : json) {
    auto layout = parse_layout(item);
    if (!layout) continue;
    std::erase_if(layouts, [&](const PaneLayout& other) { return other.name == layout->name; });
    layouts.push_back(std::move(*layout));
  }
  return layouts;
}

}  // namespace

const PaneLayout* Settings::find_layout(std::string_view name) const {
  for (const PaneLayout& saved : saved_layouts) {
    if (saved.name == name) return &saved;
  }
  const NamedLayout* named = inspector::find_layout(name);
  return named == nullptr ? nullptr : &named->layout;
}

void Settings::forget_layout() {
  std::erase_if(saved_layouts, [&](const PaneLayout& saved) { return saved.name == layout.name; });
}

void Settings::save_layout() {
  forget_layout();
  saved_layouts.push_back(layout);
}

void Settings::remember(const std::string& path) {
  std::erase(recent, path);
  recent.insert(recent.begin(), path);
  if (recent.size() > kRecentMax) recent.resize(kRecentMax);
}

void Settings::keep_width(const std::string& column, float width) {
  if (!(width > 0)) {
    column_widths.erase(column);
  } else if (column_widths.size() < kWidthsMax || column_widths.contains(column)) {
    column_widths[column] = std::clamp(width, kWidthLeast, kWidthMost);
  }
}

void Settings::keep_window_size(int width, int height) {
  if (width < kWindowWidthMin || width > kWindowSideMax) return;
  if (height < kWindowHeightMin || height > kWindowSideMax) return;
  window_width = width;
  window_height = height;
}

std::string to_json(const Settings& settings) {
  nlohmann::ordered_json json;
  json["theme"] = settings.theme;
  json["scale"] = settings.scale;
  json["window_width"] = settings.window_width;
  json["window_height"] = settings.window_height;
  json["layout"] = layout_json(settings.layout);
  json["saved_layouts"] = nlohmann::ordered_json::array();
  for (const PaneLayout& layout : settings.saved_layouts) {
    json["saved_layouts"].push_back(layout_json(layout));
  }
  json["recent"] = nlohmann::ordered_json::array();
  for (const std::string& path : settings.recent) {
    if (model::is_utf8(path)) json["recent"].push_back(path);
  }
  json["column_widths"] = settings.column_widths;
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::optional<Settings> parse_settings(const std::string& text) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  const auto take = [&json](const char* name, auto& value) { take_value(json, name, value); };
  Settings settings;
  const Settings defaults;
  take("theme", settings.theme);
  take("scale", settings.scale);
  take("recent", settings.recent);
  const auto side = [&take](const char* name) {
    double pixels = 0;
    take(name, pixels);
    return pixels > 0 && pixels <= Settings::kWindowSideMax ? static_cast<int>(pixels) : 0;
  };
  settings.keep_window_size(side("window_width"), side("window_height"));
  if (const auto found = json.find("layout"); found != json.end()) {
    settings.layout = parse_layout(*found).value_or(defaults.layout);
  }
  if (const auto found = json.find("saved_layouts"); found != json.end() && found->is_array()) {
    settings.saved_layouts = parse_layouts(*found);
  }
  std::map<std::string, float> widths;
  take("column_widths", widths);
  for (const auto& [column, width] : widths) settings.keep_width(column, width);
  settings.theme = find_palette(settings.theme).name;
  settings.scale = between(settings.scale, 1, 2, defaults.scale);
  if (settings.recent.size() > Settings::kRecentMax) settings.recent.resize(Settings::kRecentMax);
  return settings;
}

std::string settings_path() {
  const char* config = std::getenv("XDG_CONFIG_HOME");
  if (config != nullptr && config[0] == '/')
    return std::string(config) + "/crawlstore/inspector.json";
  const char* home = std::getenv("HOME");
  if (home == nullptr || home[0] != '/') return {};
  return std::string(home) + "/.config/crawlstore/inspector.json";
}

Settings load_settings(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return {};
  std::ostringstream text;
  text << file.rdbuf();
  if (auto settings = parse_settings(text.str())) return *settings;
  std::error_code ignored;  // at worst it is overwritten
  std::filesystem::rename(path, path + ".damaged", ignored);
  return {};
}

std::string save_settings(const Settings& settings, const std::string& path) {
  if (path.empty()) return {};
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  AtomicFile file(path);
  file.write(to_json(settings));
  return file.finish();
}

}  // namespace crawlstore::inspector
