// SPDX-License-Identifier: Apache-2.0
// Invariants: front_ names a panel of panels_; the history is never empty; a file that is open has
// a view. While panels draw, nothing of this changes: what they ask for is done by draw()
// afterwards.
#include "inspector/ui/app.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "inspector/core/absent.h"
#include "inspector/core/require.h"
#include "inspector/core/shown_text.h"
#include "inspector/ui/app_modals.h"
#include "inspector/ui/internal.h"
#include "model/format_text.h"

namespace crawlstore::inspector {
namespace {

constexpr std::string_view kSetPanel = "shards";
constexpr std::int64_t kPollEveryUs = 250'000;
constexpr std::int64_t kReleaseAfterUs = 60'000'000;

std::string absolute(const std::string& path) {
  std::error_code error;
  const auto full = std::filesystem::absolute(path, error);
  return error ? path : full.lexically_normal().string();
}

std::uint64_t all_keys(const model::FileView& view) {
  std::uint64_t sum = 0;
  for (const DrumInfo& drum : view.drums) sum += drum.key_count;
  return sum;
}

std::uint64_t all_pending(const model::FileView& view) {
  std::uint64_t sum = 0;
  for (const DrumInfo& drum : view.drums) sum += drum.pending_count;
  return sum;
}

std::uint64_t all_of(const model::FileView& view, std::uint64_t PagesInfo::*count) {
  std::uint64_t sum = 0;
  for (const PagesInfo& pages : view.pages) sum += pages.*count;
  return sum;
}

}  // namespace

App::App(Platform platform, AppOptions options)
    : platform_(std::move(platform)),
      settings_(std::move(options.settings)),
      settings_path_(std::move(options.settings_path)),
      holds_pin_(options.holds_pin),
      file_options_(options.file),
      saved_settings_(settings_),
      modals_(std::make_unique<Modals>()),
      jobs_(platform_.wake, platform_.now_us) {
  if (options.has_probe) probe_.turn_on();
  last_input_us_ = platform_.now_us();
  add_commands();
  open_panel("start");
  front_ = "start";
  history_.go({"start", {}}, {});
}

App::~App() {
  // Tabs and splitters move without saying so.
  note_layout();
  if (settings_ != saved_settings_) save();
}

void App::open(const std::string& path) {
  open_place({path, {}});
}

void App::open_place(const FileLocation& file) {
  to_open_ = file;
  want_frames();
}

Result<void> App::open_set(const std::vector<FileLocation>& files) {
  std::vector<std::string> paths;
  for (const FileLocation& file : files) paths.push_back(absolute(file.path));
  if (files.size() > 1) session_.shard_paths = std::move(paths);
  auto opened = open_at(files.front());
  if (!opened) session_.shard_paths.clear();
  const bool is_set = !session_.shard_paths.empty();
  if (is_set && files.front().location == Location{}) go({std::string(kSetPanel), {}});
  return opened;
}

Result<void> App::open_at(const FileLocation& file) {
  const std::string path = absolute(file.path);
  auto opened = model::CrawlFile::open(path, file_options_);
  if (!opened) {
    open_problem_ = path + ": " + describe(opened.error());
    session_.refused_path = opened.error().code == Errc::kNotACrawlFile ? path : "";
    say(Severity::kBad, open_problem_);
    go({"start", {}});
    return tl::unexpected<Error>(opened.error());
  }
  // A file of the set leaves the set, and what its panel shows, as it is.
  std::vector<std::string> set = std::exchange(session_.shard_paths, {});
  const bool is_of_set = std::ranges::find(set, path) != set.end();
  const std::string set_state = is_of_set ? state_of(kSetPanel) : "";
  close_file();
  panels_.clear();
  session_.file = std::move(*opened);
  if (is_of_set) session_.shard_paths = std::move(set);
  note_look();
  open_tabs();
  if (!set_state.empty()) open_panel(kSetPanel).panel->restore(set_state);
  open_problem_.clear();
  session_.refused_path.clear();
  settings_.remember(path);
  save();
  const auto view = session_.view();
  see_queues(*view, false);
  say(Severity::kNote, "opened " + std::filesystem::path(path).filename().string());
  if (view->problem) {
    say(Severity::kBad, "the newest generation cannot be shown: " + describe(*view->problem));
  }
  verify(VerifyLevel::kQuick);
  if (file.location != Location{}) {
    go(file.location);
  } else {
    go({view->problem ? "problems" : front_, {}});
  }
  return {};
}

void App::close_file() {
  if (!session_.file) return;
  note_layout();
  jobs_.cancel_slot("verify");
  session_.file.reset();
  session_.shard_paths.clear();
  session_.is_leaving = false;
  session_.is_following = true;
  session_.health = {};
  session_.news.clear();
  session_.commits.clear();
  session_.queue_trends.clear();
  page_delta_ = key_delta_ = 0;
  panels_.clear();
  wanted_layout_.reset();
  front_ = "start";
  details_ = {};
  absent_.clear();
  go({"start", {}});
  want_frames();
}

std::string_view App::home_of(const Thing& thing) {
  for (const PanelKind& kind : panel_kinds()) {
    if (kind.is_home(thing)) return kind.id;
  }
  return "overview";
}

Panel& App::current_panel() {
  return *open_panel(front_).panel;
}

void App::go(const Location& location) {
  Location to = location;
  if (to.panel.empty()) to.panel = home_of(to.thing);
  const bool is_known = std::ranges::any_of(
      panel_kinds(), [&](const PanelKind& kind) { return kind.id == to.panel; });
  if (!is_known) {
    say(Severity::kWarning, "there is no panel \"" + to.panel + "\"");
    return;
  }
  wanted_ = to;
  want_frames();
}

void App::arrive(const Visit& visit) {
  const OpenPanel& open = open_panel(visit.location.panel);
  // The tab in front when somebody goes to the start panel is in front of the next file, too.
  note_layout();
  front_ = open.kind->id;
  must_select_tab_ = true;
  details_ = {};
  focus_.enter_new_panel();
  show_thing();
  if (!visit.view_state.empty()) open.panel->restore(visit.view_state);
  want_frames();
}

/// A thing that is not there may come with a later generation.
void App::show_thing() {
  const auto view = session_.view();
  absent_ = view == nullptr ? "" : why_absent(*view, location());
  if (absent_.empty()) current_panel().show(location().thing);
}

Location App::location() const {
  return history_.current().location;
}

bool App::take_event(const Event& event) {
  last_input_us_ = platform_.now_us();
  page_delta_ = key_delta_ = 0;
  want_frames();
  session_.is_leaving = false;
  if (session_.file && session_.file->is_released()) look_again();
  if (event.kind == Event::Kind::kDrop) {
    if (!event.paths.empty()) open(event.paths.front());
    return true;
  }
  if (event.kind == Event::Kind::kMouseButton && event.is_down && event.code >= 3) {
    run(event.code == 3 ? "go_back" : "go_forward");
    return true;
  }
  if (event.kind != Event::Kind::kKey || !event.is_down) return false;
  // Menus and boxes close before a job is cancelled.
  if (event.chord.key == kKeyEscape && has_popup()) {
    must_close_popups_ = true;
    return true;
  }
  const Command* command = commands_.find(event.chord);
  if (command == nullptr || !command->enabled()) return false;
  // Keys that edit text are the text field's while it has the focus.
  const bool is_plain = !event.chord.control && !event.chord.alt;
  const bool is_function_key = event.chord.key >= kKeyF1 && event.chord.key <= kKeyF12;
  if (is_plain && !is_function_key && ImGui::GetIO().WantTextInput) return false;
  command->run({});
  return true;
}

std::int64_t App::poll_every_us() const {
  if (!session_.file) return 0;
  return session_.file->is_released() && !session_.is_following ? 0 : kPollEveryUs;
}

bool App::poll() {
  if (jobs_.take_finished()) want_frames();
  // The findings of a job so far, and how far it is: one frame, so at most ten a second.
  if (jobs_.take_progress()) frames_wanted_ = std::max(frames_wanted_, 1);
  const std::int64_t now_us = platform_.now_us();
  if (session_.file && now_us - last_poll_us_ >= kPollEveryUs) {
    last_poll_us_ = now_us;
    follow();
  }
  if (redraw_at_us_ != 0 && now_us >= redraw_at_us_) {
    redraw_at_us_ = 0;
    if (now_us - last_input_us_ < kReleaseAfterUs) frames_wanted_ = std::max(frames_wanted_, 1);
  }
  let_go_of_hidden();
  return wants_frame();
}

/// When nobody looks, the pin goes as soon as all is read that the panels show. A person who
/// follows sees new generations all the same: each is pinned while it is read.
void App::follow() {
  if (session_.file->has_news()) session_.is_following ? look_again() : announce();
  const bool is_idle = platform_.now_us() - last_input_us_ >= kReleaseAfterUs;
  const bool is_reading = wants_frame() || !jobs_.idle();
  if (!is_idle || is_reading || holds_pin_ || session_.file->is_released()) return;
  if (!session_.is_following) {
    say(Severity::kNote, "generation " +
                             model::format_count(session_.view()->info.generation.value) +
                             " released: nobody looked for a minute");
  }
  leave();
}

/// Lets go of the pin; what the window shows stays, for nothing is drawn until the file is looked
/// at again. A person who does not follow is told by the last frames.
void App::leave() {
  session_.is_leaving = !session_.is_following;
  if (session_.is_leaving) {
    want_frames();
  } else {
    release();
  }
}

void App::release() {
  session_.is_leaving = false;
  session_.file->release();
  for (OpenPanel& open : panels_) {
    open.panel->let_go(jobs_);
    open.number = session_.view()->number;
  }
}

void App::look_again() {
  session_.is_leaving = false;
  const auto before = session_.view();
  session_.file->refresh();
  const auto after = session_.view();
  const bool is_other =
      after->snapshot && before->info.uuid != after->info.uuid && before->info.uuid != Uuid{};
  if (is_other) {
    session_.health = {};
    session_.commits.clear();
    session_.queue_trends.clear();
    page_delta_ = key_delta_ = 0;
    say(Severity::kWarning, "another crawl file is at this path now");
    verify(VerifyLevel::kQuick);
  }
  if (after->problem && before->problem != after->problem) {
    say(Severity::kBad, describe(*after->problem));
  }
  note_look();
  // Another file at this path is not a commit of the one before it.
  note_commit(is_other ? *after : *before, *after);
  if (!absent_.empty()) show_thing();
  want_frames();
}

void App::note_look() {
  session_.news.clear();
  session_.health.look(*session_.view());
}

/// Tells users who do not follow that there is a newer generation.
void App::announce() {
  const auto newest = session_.file->newest();
  const bool is_newer = newest && *newest > session_.view()->info.generation;
  std::string news = is_newer
                         ? "generation " + model::format_count(newest->value) + " is there (F5)"
                         : "the file has changed (F5)";
  if (news == session_.news) return;
  session_.news = std::move(news);
  want_frames();
}

/// Only what is drawn turns to another view by itself. The panel in front may still wait for what
/// it asked of the new one, so it counts as a reader of the view with which it came to the front.
void App::let_go_of_hidden() {
  const auto view = session_.view();
  if (view == nullptr) return;
  for (OpenPanel& open : panels_) {
    if (open.kind->id == front_ || open.number == view->number) continue;
    open.panel->let_go(jobs_);
    open.number = view->number;
  }
}

void App::note_commit(const model::FileView& before, const model::FileView& after) {
  if (after.info.generation <= before.info.generation) return;
  const auto difference = [](std::uint64_t now, std::uint64_t then) {
    return static_cast<std::int64_t>(now - then);
  };
  SeenCommit commit;
  commit.generation = after.info.generation;
  commit.commit_time_us = after.info.commit_time_us;
  commit.before_us = before.info.commit_time_us;
  commit.key_delta = difference(all_keys(after), all_keys(before));
  commit.pending_delta = difference(all_pending(after), all_pending(before));
  commit.file_bytes_delta = difference(after.info.file_bytes, before.info.file_bytes);
  const auto of_pages = [&](std::uint64_t PagesInfo::*count) {
    return difference(all_of(after, count), all_of(before, count));
  };
  commit.page_delta = of_pages(&PagesInfo::page_count);
  commit.crawled_delta = of_pages(&PagesInfo::crawled_count);
  commit.link_delta = of_pages(&PagesInfo::link_count);
  page_delta_ += commit.page_delta;
  key_delta_ += commit.key_delta;
  see_queues(after, session_.is_following);
  session_.commits.push_back(commit);
  if (session_.commits.size() > Session::kCommitsMax) session_.commits.pop_front();
}

void App::see_queues(const model::FileView& view, bool is_followed) {
  session_.queue_trends.see(platform_.now_us(), view.info.generation, view.queues, is_followed);
}

void App::verify(VerifyLevel level) {
  if (!session_.file) return;
  constexpr std::string_view kNames[] = {"quick check", "check of all checksums", "deep check"};
  const std::string path = session_.file->path();
  const bool mapped = file_options_.mapped;
  jobs_.start(std::string(kNames[static_cast<std::size_t>(level)]), "verify",
              [this, path, level, mapped](JobContext& context) -> Jobs::Finish {
                VerifyOptions options;
                options.level = level;
                options.mapped = mapped;
                VerifyReport so_far;  // when it is cancelled
                options.progress = [&](std::uint64_t done, std::uint64_t total) {
                  so_far.checked_bytes = done;
                  return context.progress(done, total);
                };
                options.sink = [&so_far](const Finding& finding) {
                  so_far.findings.push_back(finding);
                };
                const auto report = crawlstore::verify(path, options);
                const bool is_partial = !report && report.error().code == Errc::kCancelled;
                std::optional<Error> problem;
                if (report) so_far = *report;
                if (!report && !is_partial) problem = report.error();
                return [this, so_far, level, is_partial, problem] {
                  if (problem) {
                    say(Severity::kBad, "the check stopped: " + describe(*problem));
                  } else {
                    take_checked({so_far, level, is_partial, platform_.now_us()});
                  }
                };
              });
}

void App::take_checked(Checked checked) {
  const std::size_t count = checked.report.findings.size();
  const bool is_bad = checked.report.damaged();
  if (count > 0) {
    say(is_bad ? Severity::kBad : Severity::kWarning,
        model::format_counted(count, "problem") + " found");
  } else if (checked.level != VerifyLevel::kQuick) {
    say(Severity::kNote, "no problem found in " +
                             model::format_bytes(checked.report.checked_bytes) +
                             (checked.is_partial ? ", so far" : ""));
  }
  session_.health.take(std::move(checked));
}

void App::copy(const std::string& text, std::string_view what) {
  platform_.set_clipboard(text);
  say(Severity::kNote, std::string(what) + " copied");
}

void App::say(Severity severity, std::string text) {
  session_.say(platform_.now_us(), severity, std::move(text));
  want_frames();
}

void App::meet(const Error& error) {
  // Without a pin a writer may have reused what was read.
  if (!file_options_.pin && session_.file && session_.file->has_news()) return;
  if (session_.health.meet(error)) say(Severity::kBad, describe(error));
}

void App::run(std::string_view command, std::string_view argument) {
  if (!commands_.run(command, argument)) {
    say(Severity::kWarning, "\"" + std::string(command) + "\" cannot be done now");
  }
  want_frames();
}

void App::save() {
  note_layout();
  saved_settings_ = settings_;
  const std::string problem = save_settings(settings_, settings_path_);
  if (!problem.empty()) say(Severity::kWarning, problem);
}

void App::set_scale(float scale) {
  settings_.scale = std::clamp(scale, 1.0F, 2.0F);
  must_build_fonts_ = true;
  save();
}

void App::set_theme(std::string_view name) {
  settings_.theme = find_palette(name).name;
  must_build_fonts_ = true;
  save();
}

bool App::wants_fonts() const {
  return must_build_fonts_ || fonts_.is_stale();
}

Colour App::background() const {
  return find_palette(settings_.theme).window;
}

std::string App::title() const {
  if (!session_.file) return "crawlstore inspector";
  return shown_text(std::filesystem::path(session_.file->path()).filename().string()) +
         " - crawlstore inspector";
}

void App::wait_for_jobs() {
  while (!jobs_.idle()) {
    jobs_.wait();
    jobs_.take_finished();
    want_frames();
  }
  if (jobs_.take_progress()) want_frames();
}

}  // namespace crawlstore::inspector
