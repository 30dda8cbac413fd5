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

}  // namespace

void Settings::remember(const std::string& path) {
  std::erase(recent, path);
  recent.insert(recent.begin(), path);
  if (recent.size() > kRecentMax) recent.resize(kRecentMax);
}

std::string to_json(const Settings& settings) {
  nlohmann::ordered_json json;
  json["theme"] = settings.theme;
  json["scale"] = settings.scale;
  json["navigator_width"] = settings.navigator_width;
  json["details_width"] = settings.details_width;
  json["is_following"] = settings.is_following;
  json["recent"] = nlohmann::ordered_json::array();
  for (const std::string& path : settings.recent) {
    if (model::is_utf8(path)) json["recent"].push_back(path);
  }
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::optional<Settings> parse_settings(const std::string& text) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  const auto take = [&json]<class T>(const char* name, T& value) {
    const auto found = json.find(name);
    if (found == json.end()) return;
    try {
      value = found->get<T>();
    } catch (const nlohmann::json::exception&) {
      return;  // of another type: the default stays
    }
  };
  Settings settings;
  const Settings defaults;
  take("theme", settings.theme);
  take("scale", settings.scale);
  take("navigator_width", settings.navigator_width);
  take("details_width", settings.details_width);
  take("is_following", settings.is_following);
  take("recent", settings.recent);
  settings.theme = find_palette(settings.theme).name;
  settings.scale = between(settings.scale, 1, 2, defaults.scale);
  settings.navigator_width = between(settings.navigator_width, 80, 800, defaults.navigator_width);
  settings.details_width = between(settings.details_width, 80, 1600, defaults.details_width);
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
