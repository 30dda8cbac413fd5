// SPDX-License-Identifier: Apache-2.0
#include "inspector/shell/glfw_shell.h"

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <ctime>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include <GLFW/glfw3.h>
#include <backends/imgui_impl_opengl3.h>

#include "inspector/core/atomic_file.h"
#include "inspector/shell/icon.h"
#include "inspector/shell/imgui_events.h"
#include "inspector/shell/picture.h"

namespace crawlstore::inspector {
namespace {

std::int64_t clock_us() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

/// GLFW's library, from glfwInit() to glfwTerminate().
class Glfw {
 public:
  Glfw() : is_ready_(glfwInit() == GLFW_TRUE) {}
  ~Glfw() {
    if (is_ready_) glfwTerminate();
  }
  Glfw(const Glfw&) = delete;
  Glfw& operator=(const Glfw&) = delete;
  [[nodiscard]] bool is_ready() const { return is_ready_; }

 private:
  bool is_ready_;
};

struct WindowDeleter {
  void operator()(GLFWwindow* window) const { glfwDestroyWindow(window); }
};
struct ContextDeleter {
  void operator()(ImGuiContext* context) const { ImGui::DestroyContext(context); }
};

EventQueue& queue_of(GLFWwindow* window) {
  return *static_cast<EventQueue*>(glfwGetWindowUserPointer(window));
}

KeyChord chord_of(int key, int modifiers) {
  return {key, (modifiers & GLFW_MOD_CONTROL) != 0, (modifiers & GLFW_MOD_SHIFT) != 0,
          (modifiers & GLFW_MOD_ALT) != 0};
}

void on_key(GLFWwindow* window, int key, int /*scancode*/, int action, int modifiers) {
  Event event;
  event.kind = Event::Kind::kKey;
  event.chord = chord_of(key, modifiers);
  event.is_down = action != GLFW_RELEASE;
  if (action == GLFW_REPEAT && key >= kKeyLeftShift) return;
  queue_of(window).push(event);
}

void on_text(GLFWwindow* window, unsigned code_point) {
  Event event;
  event.kind = Event::Kind::kText;
  event.text = code_point;
  queue_of(window).push(event);
}

void on_move(GLFWwindow* window, double x, double y) {
  Event event;
  event.kind = Event::Kind::kMouseMove;
  event.x = static_cast<float>(x);
  event.y = static_cast<float>(y);
  queue_of(window).push(event);
}

void on_button(GLFWwindow* window, int button, int action, int /*modifiers*/) {
  Event event;
  event.kind = Event::Kind::kMouseButton;
  event.code = button;
  event.is_down = action == GLFW_PRESS;
  queue_of(window).push(event);
}

void on_wheel(GLFWwindow* window, double x, double y) {
  Event event;
  event.kind = Event::Kind::kWheel;
  event.x = static_cast<float>(x);
  event.y = static_cast<float>(y);
  queue_of(window).push(event);
}

void on_leave(GLFWwindow* window, int is_inside) {
  if (is_inside != 0) return;
  Event event;
  event.kind = Event::Kind::kLeave;
  queue_of(window).push(event);
}

void on_drop(GLFWwindow* window, int count, const char** paths) {
  Event event;
  event.kind = Event::Kind::kDrop;
  for (int i = 0; i < count; ++i) event.paths.emplace_back(paths[i]);
  queue_of(window).push(event);
}

void take_callbacks(GLFWwindow* window, EventQueue& events) {
  glfwSetWindowUserPointer(window, &events);
  glfwSetKeyCallback(window, on_key);
  glfwSetCharCallback(window, on_text);
  glfwSetCursorPosCallback(window, on_move);
  glfwSetMouseButtonCallback(window, on_button);
  glfwSetScrollCallback(window, on_wheel);
  glfwSetCursorEnterCallback(window, on_leave);
  glfwSetDropCallback(window, on_drop);
}

/// The picture that OpenGL has drawn, from the bottom up, turned to one from the top down.
Picture read_window(int width, int height) {
  Picture turned(width, height, 0);
  glPixelStorei(GL_PACK_ALIGNMENT, 4);
  glReadPixels(0, 0, width, height, GL_RGBA, GL_UNSIGNED_BYTE, turned.pixels.data());
  Picture picture(width, height, 0);
  for (int y = 0; y < height; ++y) {
    const std::uint32_t* from = turned.row(height - 1 - y);
    for (int x = 0; x < width; ++x) picture.row(y)[x] = from[x] | 0xff000000U;
  }
  return picture;
}

/// Masks as textures of OpenGL, for as long as somebody keeps the mask.
class MaskTextures {
 public:
  /// Before a frame: those that nobody keeps go.
  void begin_frame() {
    std::erase_if(known_, [](const auto& entry) {
      if (!entry.second.mask.expired()) return false;
      glDeleteTextures(1, &entry.second.id);
      return true;
    });
  }
  ImTextureID find(const std::shared_ptr<const Mask>& mask) {
    Texture& texture = known_[mask.get()];
    if (texture.mask.lock() != mask) {  // new, or another one in the same place
      if (texture.id != 0) glDeleteTextures(1, &texture.id);
      texture = {mask, make(*mask)};
    }
    return std::bit_cast<ImTextureID>(std::uintptr_t{texture.id});
  }

 private:
  struct Texture {
    std::weak_ptr<const Mask> mask;
    GLuint id = 0;
  };
  static GLuint make(const Mask& mask) {
    std::vector<std::uint32_t> pixels;  // white, as opaque as it is covered
    pixels.reserve(mask.pixels.size());
    for (const std::uint8_t cover : mask.pixels) {
      pixels.push_back(0x00ffffffU | static_cast<std::uint32_t>(cover) << 24U);
    }
    GLuint id = 0;
    glGenTextures(1, &id);
    glBindTexture(GL_TEXTURE_2D, id);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_LINEAR);
    glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, mask.width, mask.height, 0, GL_RGBA, GL_UNSIGNED_BYTE,
                 pixels.data());
    return id;
  }
  std::map<const Mask*, Texture> known_;
};

class Window {
 public:
  Window(GLFWwindow* window, const WindowOptions& options);
  ~Window();
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;
  void run();

 private:
  void wait();
  void follow_size();
  void take_events();
  void draw();
  void draw_timed();
  void write_probe() const;
  void write_times() const;
  void set_cursor();

  GLFWwindow* window_;
  std::string probe_path_;
  std::string times_path_;
  std::vector<std::pair<double, double>> times_ms_;  // by the clock, and of this thread
  std::unique_ptr<ImGuiContext, ContextDeleter> context_;
  EventQueue events_;
  MaskTextures textures_;
  std::string picture_path_;
  std::string title_;
  int width_ = 0;  // last seen
  int height_ = 0;
  bool has_fonts_ = false;
  double last_frame_s_ = 0;
  GLFWcursor* hand_ = glfwCreateStandardCursor(GLFW_HAND_CURSOR);
  GLFWcursor* resize_ = glfwCreateStandardCursor(GLFW_HRESIZE_CURSOR);
  GLFWcursor* text_ = glfwCreateStandardCursor(GLFW_IBEAM_CURSOR);
  std::unique_ptr<App> app_;
};

Window::Window(GLFWwindow* window, const WindowOptions& options)
    : window_(window),
      probe_path_(options.probe_path),
      times_path_(options.times_path),
      context_(ImGui::CreateContext()) {
  ImGuiIO& io = ImGui::GetIO();
  io.IniFilename = nullptr;
  io.ClipboardUserData = window;
  io.SetClipboardTextFn = [](void* to, const char* text) {
    glfwSetClipboardString(static_cast<GLFWwindow*>(to), text);
  };
  io.GetClipboardTextFn = [](void* from) {
    return glfwGetClipboardString(static_cast<GLFWwindow*>(from));
  };
  name_keys(io);
  glfwGetWindowSize(window, &width_, &height_);
  ImGui_ImplOpenGL3_Init("#version 130");
  take_callbacks(window, events_);
  Platform platform;
  platform.now_us = clock_us;
  platform.wake = [] { glfwPostEmptyEvent(); };
  platform.set_clipboard = [window](const std::string& text) {
    glfwSetClipboardString(window, text.c_str());
  };
  platform.write_picture = [this](const std::string& path) { picture_path_ = path; };
  platform.texture = [this](const std::shared_ptr<const Mask>& mask) {
    return textures_.find(mask);
  };
  platform.write_png = write_png;
  platform.quit = [window] { glfwSetWindowShouldClose(window, GLFW_TRUE); };
  app_ = std::make_unique<App>(
      std::move(platform),
      AppOptions{options.settings, options.settings_path, !options.probe_path.empty(),
                 options.holds_pin, options.file_options});
  if (!options.files.empty()) (void)app_->open_set(options.files);  // the window says it
}

Window::~Window() {
  app_.reset();
  ImGui_ImplOpenGL3_Shutdown();
}

void Window::wait() {
  if (!events_.empty() || app_->wants_frame() || app_->wants_fonts()) {
    glfwPollEvents();
    return;
  }
  const std::int64_t every_us = app_->poll_every_us();
  if (every_us == 0) {
    glfwWaitEvents();
  } else {
    glfwWaitEventsTimeout(static_cast<double>(every_us) / 1e6);
  }
}

/// A window of another size is drawn anew, and remembered: somebody dragged its edge.
void Window::follow_size() {
  int width = 0;
  int height = 0;
  glfwGetWindowSize(window_, &width, &height);
  if (width == width_ && height == height_) return;
  width_ = width;
  height_ = height;
  app_->keep_window_size(width, height);
  app_->want_frames();
}

void Window::take_events() {
  events_.begin_frame();
  while (events_.fits()) {
    const Event event = events_.take();
    if (!app_->take_event(event)) events_.feed(event);
  }
}

void Window::set_cursor() {
  GLFWcursor* cursor = nullptr;
  const ImGuiMouseCursor wanted = ImGui::GetMouseCursor();
  if (wanted == ImGuiMouseCursor_Hand) cursor = hand_;
  if (wanted == ImGuiMouseCursor_ResizeEW) cursor = resize_;
  if (wanted == ImGuiMouseCursor_TextInput) cursor = text_;
  glfwSetCursor(window_, cursor);
}

void Window::draw() {
  int width = 0;
  int height = 0;
  glfwGetFramebufferSize(window_, &width, &height);
  if (width == 0 || height == 0) return;  // iconified
  if (app_->wants_fonts()) {
    if (has_fonts_) ImGui_ImplOpenGL3_DestroyFontsTexture();
    app_->build_fonts();
    ImGui_ImplOpenGL3_CreateFontsTexture();
    has_fonts_ = true;
  }
  ImGuiIO& io = ImGui::GetIO();
  io.DisplaySize = ImVec2(static_cast<float>(width), static_cast<float>(height));
  const double now_s = glfwGetTime();
  io.DeltaTime = static_cast<float>(std::max(now_s - last_frame_s_, 1e-4));
  last_frame_s_ = now_s;
  textures_.begin_frame();
  ImGui_ImplOpenGL3_NewFrame();
  ImGui::NewFrame();
  app_->draw();
  ImGui::Render();
  glViewport(0, 0, width, height);
  const ImVec4 ground = ImGui::ColorConvertU32ToFloat4(app_->background());
  glClearColor(ground.x, ground.y, ground.z, 1);
  glClear(GL_COLOR_BUFFER_BIT);
  ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
  if (!picture_path_.empty()) {
    (void)write_png(read_window(width, height), std::exchange(picture_path_, {}));
  }
  glfwSwapBuffers(window_);
  set_cursor();
  if (app_->title() != title_) {
    title_ = app_->title();
    glfwSetWindowTitle(window_, title_.c_str());
  }
  write_probe();
}

void Window::write_probe() const {
  if (probe_path_.empty()) return;
  AtomicFile file(probe_path_);
  for (const ProbeItem& item : app_->probe().items()) {
    file.write(std::to_string(static_cast<int>((item.min.x + item.max.x) / 2)) + " " +
               std::to_string(static_cast<int>((item.min.y + item.max.y) / 2)) + "\t" + item.label +
               "\t" + item.text + "\n");
  }
  (void)file.finish();
}

double thread_ms() {
  timespec time{};
  (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}

void Window::draw_timed() {
  if (times_path_.empty()) return draw();
  const double start_s = glfwGetTime();
  const double start_ms = thread_ms();
  draw();
  glFinish();
  times_ms_.emplace_back((glfwGetTime() - start_s) * 1e3, thread_ms() - start_ms);
}

void Window::write_times() const {
  AtomicFile file(times_path_);
  for (const auto& [clock_ms, own_ms] : times_ms_) {
    file.write(std::to_string(clock_ms) + " " + std::to_string(own_ms) + "\n");
  }
  (void)file.finish();
}

void Window::run() {
  while (glfwWindowShouldClose(window_) == 0) {
    wait();
    follow_size();
    take_events();
    if (app_->poll() || !events_.empty() || app_->wants_fonts()) draw_timed();
  }
  if (!times_path_.empty()) write_times();
}

/// Keeps a size that fits one of the screens: the one on which the window was left may be gone.
void fit_screens(Settings& settings) {
  int width_max = 0;
  int height_max = 0;
  int count = 0;
  GLFWmonitor** const monitors = glfwGetMonitors(&count);
  for (int i = 0; i < count; ++i) {
    int width = 0;
    int height = 0;
    glfwGetMonitorWorkarea(monitors[i], nullptr, nullptr, &width, &height);
    width_max = std::max(width_max, width);
    height_max = std::max(height_max, height);
  }
  settings.keep_window_size(std::min(settings.window_width, width_max),
                            std::min(settings.window_height, height_max));
}

/// For task bars, which choose one of the sizes.
void set_icon(GLFWwindow* window) {
  std::array pictures{draw_icon(16), draw_icon(32), draw_icon(48), draw_icon(64), draw_icon(128)};
  std::array<GLFWimage, pictures.size()> images{};
  for (std::size_t i = 0; i < images.size(); ++i) {
    Picture& picture = pictures[i];
    // tidy: raw bytes, GLFW's pixels are bytes: red, green, blue, alpha
    auto* pixels = reinterpret_cast<unsigned char*>(picture.pixels.data());
    images[i] = {picture.width, picture.height, pixels};
  }
  glfwSetWindowIcon(window, static_cast<int>(images.size()), images.data());
}

std::string last_glfw_error() {
  const char* text = nullptr;
  (void)glfwGetError(&text);
  return text == nullptr ? "unknown reason" : text;
}

}  // namespace

std::string run_window(const WindowOptions& options) {
  const Glfw glfw;
  constexpr std::string_view kHint =
      "\nWithout a display: crawlstore-inspector --headless --screenshot picture.png FILE";
  if (!glfw.is_ready()) return "no display: " + last_glfw_error() + std::string(kHint);
  glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
  glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 0);
  // The .desktop file names this class, so that a task bar knows whose window this is.
  glfwWindowHintString(GLFW_X11_CLASS_NAME, "crawlstore-inspector");
  glfwWindowHintString(GLFW_X11_INSTANCE_NAME, "crawlstore-inspector");
  WindowOptions scaled = options;
  fit_screens(scaled.settings);
  const std::unique_ptr<GLFWwindow, WindowDeleter> window(
      glfwCreateWindow(options.width.value_or(scaled.settings.window_width),
                       options.height.value_or(scaled.settings.window_height),
                       "crawlstore inspector", nullptr, nullptr));
  if (window == nullptr) return "no window: " + last_glfw_error() + std::string(kHint);
  set_icon(window.get());
  glfwMakeContextCurrent(window.get());
  glfwSwapInterval(1);
  float scale = 1;
  glfwGetWindowContentScale(window.get(), &scale, nullptr);
  if (scale > scaled.settings.scale && scale <= 2) scaled.settings.scale = scale;
  Window shown(window.get(), scaled);
  shown.run();
  return {};
}

}  // namespace crawlstore::inspector
