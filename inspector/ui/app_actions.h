// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>

#include "inspector/ui/open_file.h"

namespace crawlstore::inspector {

/// Hands what panels ask for to the part that does it.
class AppActions final : public Actions {
 public:
  AppActions(AppState& state, Places& places, FileChecks& checks, OpenFile& file)
      : state_(state), places_(places), checks_(checks), file_(file) {}

  void go(const Location& location) override { places_.go(location); }
  void open(const std::string& path) override { file_.want({path, {}}); }
  void open_place(const FileLocation& place) override { file_.want(place); }
  void verify(VerifyLevel level) override { checks_.verify(level); }
  void copy(const std::string& text, std::string_view what) override;
  void say(Severity severity, std::string text) override { state_.say(severity, std::move(text)); }
  void meet(const Error& error) override { checks_.meet(error); }
  void run(std::string_view command, std::string_view argument = {}) override;
  void keep_width(const std::string& column, float width) override {
    state_.settings.keep_width(column, width);
  }
  void redraw() override { state_.redraws.want(); }
  void redraw_at(std::int64_t time_us) override { state_.redraws.want_at(time_us); }
  ImTextureID texture(const std::shared_ptr<const Mask>& mask) override {
    return state_.platform.texture ? state_.platform.texture(mask) : nullptr;
  }
  [[nodiscard]] WritePng png_writer() const override { return state_.platform.write_png; }

 private:
  AppState& state_;
  Places& places_;
  FileChecks& checks_;
  OpenFile& file_;
};

}  // namespace crawlstore::inspector
