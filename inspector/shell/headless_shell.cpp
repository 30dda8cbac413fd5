// SPDX-License-Identifier: Apache-2.0
#include "inspector/shell/headless_shell.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "inspector/shell/soft_raster.h"
#include "model/utf8.h"

namespace crawlstore::inspector {
namespace {

// 2026-01-01T00:00:00Z: a time that looks like one.
constexpr std::int64_t kStartUs = 1'767'225'600'000'000;
constexpr float kFrameSeconds = 1.0F / 60;
constexpr int kFramesMax = 200;

std::optional<double> parse_number(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

HeadlessShell::HeadlessShell(const HeadlessOptions& options)
    : context_(ImGui::CreateContext()), now_us_(kStartUs) {
  ImGui::SetCurrentContext(context_.get());
  ImGuiIO& io = ImGui::GetIO();
  io.IniFilename = nullptr;
  io.DisplaySize = ImVec2(static_cast<float>(options.width), static_cast<float>(options.height));
  io.BackendFlags |= ImGuiBackendFlags_RendererHasVtxOffset;
  io.ConfigInputTextCursorBlink = false;
  io.ClipboardUserData = &clipboard_;
  io.SetClipboardTextFn = [](void* to, const char* text) { *static_cast<std::string*>(to) = text; };
  io.GetClipboardTextFn = [](void* from) { return static_cast<std::string*>(from)->c_str(); };
  name_keys(io);
  Platform platform;
  platform.now_us = [this] { return now_us_; };
  platform.wake = [] {};
  platform.set_clipboard = [this](const std::string& text) { clipboard_ = text; };
  platform.write_picture = [this](const std::string& path) { picture_path_ = path; };
  platform.texture = [this](const std::shared_ptr<const Mask>& mask) {
    masks_.push_back(mask);
    // tidy: const_cast, ImGui's texture is an identity here: nobody writes to it
    return const_cast<Mask*>(mask.get());
  };
  platform.write_png = write_png;
  platform.quit = [] {};
  app_ = std::make_unique<App>(
      std::move(platform), AppOptions{options.settings, options.settings_path, /*has_probe=*/true,
                                      /*holds_pin=*/false, options.file});
}

HeadlessShell::~HeadlessShell() {
  ImGui::SetCurrentContext(context_.get());
  app_.reset();
}

void HeadlessShell::frame() {
  ImGui::SetCurrentContext(context_.get());
  if (app_->wants_fonts()) app_->build_fonts();
  masks_.clear();
  ImGuiIO& io = ImGui::GetIO();
  io.DeltaTime = kFrameSeconds;
  ImGui::NewFrame();
  app_->draw();
  ImGui::Render();
  ++frame_count_;
}

void HeadlessShell::settle() {
  for (int i = 0; i < kFramesMax; ++i) {
    app_->wait_for_jobs();
    events_.begin_frame();
    bool has_event = false;
    while (events_.fits()) {
      const Event event = events_.take();
      if (!app_->take_event(event)) events_.feed(event);
      has_event = true;
    }
    app_->poll();
    if (!has_event && events_.empty() && !app_->wants_frame() && !app_->wants_fonts()) break;
    frame();
  }
  if (picture_path_.empty()) return;
  picture_problem_ = write_png(picture(), std::exchange(picture_path_, {}));
}

Picture HeadlessShell::picture() {
  ImGui::SetCurrentContext(context_.get());
  const ImGuiIO& io = ImGui::GetIO();
  Picture picture(static_cast<int>(io.DisplaySize.x), static_cast<int>(io.DisplaySize.y),
                  app_->background());
  unsigned char* pixels = nullptr;
  AlphaTexture texture;
  io.Fonts->GetTexDataAsAlpha8(&pixels, &texture.width, &texture.height);
  texture.pixels = pixels;
  const auto find = [this](ImTextureID id) -> AlphaTexture {
    for (const auto& mask : masks_) {
      if (mask.get() == id) return {mask->pixels.data(), mask->width, mask->height};
    }
    return {};
  };
  if (const ImDrawData* data = ImGui::GetDrawData()) inspector::draw(*data, texture, find, picture);
  return picture;
}

void HeadlessShell::send(const Event& event) {
  events_.push(event);
  settle();
}

void HeadlessShell::move_to(ImVec2 place) {
  Event event;
  event.kind = Event::Kind::kMouseMove;
  event.x = place.x;
  event.y = place.y;
  send(event);
}

void HeadlessShell::press(int button, bool is_down) {
  Event event;
  event.kind = Event::Kind::kMouseButton;
  event.code = button;
  event.is_down = is_down;
  events_.push(event);
}

std::string HeadlessShell::point(const std::string& label, ImVec2& place) {
  const ProbeItem* item = app_->probe().find(label);
  if (item == nullptr) return fmt::format("nothing on the screen is called \"{}\"", label);
  place = ImVec2((item->min.x + item->max.x) / 2, (item->min.y + item->max.y) / 2);
  return {};
}

std::string HeadlessShell::click(const std::string& label, int button, int times) {
  ImVec2 place;
  if (auto problem = point(label, place); !problem.empty()) return problem;
  // A double click is counted in ImGui's time, which passes with frames.
  for (int i = 0; times == 1 && i < 30; ++i) frame();
  move_to(place);
  for (int i = 0; i < times; ++i) {
    press(button, true);
    press(button, false);
  }
  settle();  // not between the clicks of a double click, for then time passes
  return {};
}

std::string HeadlessShell::drag(const std::string& argument) {
  std::istringstream words(argument);
  std::string label;
  float x = 0;
  float y = 0;
  if (!(words >> label >> x >> y)) return "drag LABEL DX DY";
  ImVec2 place;
  if (auto problem = point(label, place); !problem.empty()) return problem;
  move_to(place);
  press(0, true);
  settle();
  constexpr int kMoves = 8;
  for (int i = 1; i <= kMoves; ++i) {
    const float part = static_cast<float>(i) / kMoves;
    move_to(ImVec2(place.x + x * part, place.y + y * part));
  }
  press(0, false);
  settle();
  return {};
}

std::string HeadlessShell::press_key(const std::string& text) {
  const auto chord = parse_key_chord(text);
  if (!chord) return fmt::format("no such key: {}", text);
  Event event;
  event.kind = Event::Kind::kKey;
  event.chord = *chord;
  event.is_down = true;
  send(event);
  event.is_down = false;
  event.chord.control = event.chord.shift = event.chord.alt = false;
  send(event);
  return {};
}

void HeadlessShell::type(const std::string& text) {
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t length = std::max<std::size_t>(model::utf8_length(rest), 1);
    Event event;
    event.kind = Event::Kind::kText;
    event.text = model::utf8_decode(rest, length);
    send(event);
    rest.remove_prefix(length);
  }
}

std::string HeadlessShell::resize(const std::string& argument) {
  std::istringstream words(argument);
  int width = 0;
  int height = 0;
  if (!(words >> width >> height) || width < 200 || height < 150 || width > 8192 || height > 8192) {
    return "size WIDTH HEIGHT, at least 200 150, at most 8192 8192";
  }
  ImGui::GetIO().DisplaySize = ImVec2(static_cast<float>(width), static_cast<float>(height));
  app_->want_frames();
  settle();
  return {};
}

std::string HeadlessShell::advance(const std::string& argument) {
  const auto seconds = parse_number(argument);
  if (!seconds || *seconds < 0 || *seconds > 1e9) return "advance SECONDS";
  now_us_ += static_cast<std::int64_t>(*seconds * 1e6);
  settle();
  return {};
}

std::string HeadlessShell::expect(const std::string& text, bool is_wanted) {
  if (app_->probe().shows(text) == is_wanted) return {};
  return fmt::format("\"{}\" is {} the screen", text, is_wanted ? "not on" : "on");
}

std::string HeadlessShell::expect_location(const std::string& location) {
  const std::string here = format_location(app_->location());
  return here == location ? "" : fmt::format("the location is {}, not {}", here, location);
}

std::string HeadlessShell::expect_focus(const std::string& label) {
  const std::string& has_it = app_->focus().label();
  return has_it == label ? "" : fmt::format("the keys go to \"{}\", not \"{}\"", has_it, label);
}

std::string HeadlessShell::go(const std::string& argument) {
  const auto location = parse_location(argument);
  if (!location) return "no such location: " + argument;
  app_->go(*location);
  return {};
}

std::string HeadlessShell::run_command(const std::string& argument) {
  const auto blank = std::min(argument.find(' '), argument.size());
  const std::string rest = argument.substr(std::min(blank + 1, argument.size()));
  if (app_->commands().run(argument.substr(0, blank), rest)) return {};
  return "there is no such command, or it cannot be done now: " + argument;
}

std::string HeadlessShell::wheel(const std::string& argument) {
  const auto notches = parse_number(argument);
  if (!notches) return "wheel NOTCHES";
  Event event;
  event.kind = Event::Kind::kWheel;
  event.y = static_cast<float>(*notches);
  send(event);
  return {};
}

std::string HeadlessShell::open_shards(const std::string& paths) {
  std::istringstream words(paths);
  std::vector<FileLocation> files;
  for (std::string path; words >> path;) files.push_back({path, {}});
  if (files.size() < 2) return "open_shards PATH PATH ...";
  (void)app_->open_set(files);  // the window says it
  return {};
}

std::string HeadlessShell::drop(const std::string& path) {
  Event event;
  event.kind = Event::Kind::kDrop;
  event.paths = {path};
  send(event);
  return {};
}

std::string HeadlessShell::hover(const std::string& label) {
  ImVec2 place;
  std::string problem = point(label, place);
  if (problem.empty()) move_to(place);
  return problem;
}

std::string HeadlessShell::draw_frames(const std::string& argument) {
  const auto count = parse_number(argument);
  if (!count || *count < 1 || *count > 1e6) return "frames N";
  for (int i = 0; i < static_cast<int>(*count); ++i) frame();
  return {};
}

const std::array<HeadlessShell::NamedStep, 22> HeadlessShell::kSteps{{
    {"open",
     [](HeadlessShell& shell, const std::string& path) -> std::string {
       shell.app_->open(path);
       return {};
     }},
    {"open_shards",
     [](HeadlessShell& shell, const std::string& paths) { return shell.open_shards(paths); }},
    {"close",
     [](HeadlessShell& shell, const std::string&) -> std::string {
       shell.app_->close_file();
       return {};
     }},
    {"goto", [](HeadlessShell& shell, const std::string& place) { return shell.go(place); }},
    {"command", [](HeadlessShell& shell, const std::string& id) { return shell.run_command(id); }},
    {"key", [](HeadlessShell& shell, const std::string& keys) { return shell.press_key(keys); }},
    {"type",
     [](HeadlessShell& shell, const std::string& text) -> std::string {
       shell.type(text);
       return {};
     }},
    {"click",
     [](HeadlessShell& shell, const std::string& label) { return shell.click(label, 0, 1); }},
    {"double_click",
     [](HeadlessShell& shell, const std::string& label) { return shell.click(label, 0, 2); }},
    {"right_click",
     [](HeadlessShell& shell, const std::string& label) { return shell.click(label, 1, 1); }},
    {"hover", [](HeadlessShell& shell, const std::string& label) { return shell.hover(label); }},
    {"wheel", [](HeadlessShell& shell, const std::string& count) { return shell.wheel(count); }},
    {"drag", [](HeadlessShell& shell, const std::string& words) { return shell.drag(words); }},
    {"drop", [](HeadlessShell& shell, const std::string& path) { return shell.drop(path); }},
    {"size", [](HeadlessShell& shell, const std::string& size) { return shell.resize(size); }},
    {"advance", [](HeadlessShell& shell, const std::string& time) { return shell.advance(time); }},
    {"frames",
     [](HeadlessShell& shell, const std::string& count) { return shell.draw_frames(count); }},
    {"screenshot", [](HeadlessShell& shell,
                      const std::string& path) { return write_png(shell.picture(), path); }},
    {"expect",
     [](HeadlessShell& shell, const std::string& text) { return shell.expect(text, true); }},
    {"expect_not",
     [](HeadlessShell& shell, const std::string& text) { return shell.expect(text, false); }},
    {"expect_location",
     [](HeadlessShell& shell, const std::string& place) { return shell.expect_location(place); }},
    {"expect_focus",
     [](HeadlessShell& shell, const std::string& label) { return shell.expect_focus(label); }},
}};

HeadlessShell::Step HeadlessShell::find_step(std::string_view verb) {
  const auto found = std::ranges::find(kSteps, verb, &NamedStep::verb);
  return found == kSteps.end() ? nullptr : found->run;
}

std::string HeadlessShell::run_step(const ScriptStep& step) {
  ImGui::SetCurrentContext(context_.get());
  const Step step_run = find_step(step.verb);
  if (step_run == nullptr) return "there is no such step";
  settle();
  std::string problem = step_run(*this, step.argument);
  settle();
  if (problem.empty()) problem = std::exchange(picture_problem_, {});
  return problem;
}

std::string HeadlessShell::run(const std::vector<ScriptStep>& steps) {
  for (const ScriptStep& step : steps) {
    if (find_step(step.verb) == nullptr) {
      return fmt::format("line {}: there is no step \"{}\"", step.line, step.verb);
    }
  }
  for (const ScriptStep& step : steps) {
    const std::string problem = run_step(step);
    if (!problem.empty()) return fmt::format("line {}: {}: {}", step.line, step.verb, problem);
  }
  settle();
  return {};
}

}  // namespace crawlstore::inspector
