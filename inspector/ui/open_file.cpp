// SPDX-License-Identifier: Apache-2.0
#include "inspector/ui/open_file.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "model/format_text.h"

namespace crawlstore::inspector {
namespace {

constexpr std::int64_t kPollEveryUs = 250'000;
constexpr std::string_view kSetPanel = "shards";

std::string absolute(const std::string& path) {
  std::error_code error;
  const auto full = std::filesystem::absolute(path, error);
  return error ? path : full.lexically_normal().string();
}

/// The sum of a count in `after`, less that in `before`.
template <class Info>
std::int64_t difference(const std::vector<Info>& before, const std::vector<Info>& after,
                        std::uint64_t Info::*count) {
  std::uint64_t more = 0;
  for (const Info& info : after) more += info.*count;
  for (const Info& info : before) more -= info.*count;
  return static_cast<std::int64_t>(more);
}

/// Compares two generations of a file.
SeenCommit compare(const model::FileView& before, const model::FileView& after) {
  SeenCommit commit;
  commit.generation = after.info.generation;
  commit.commit_time_us = after.info.commit_time_us;
  commit.before_us = before.info.commit_time_us;
  commit.key_delta = difference(before.drums, after.drums, &DrumInfo::key_count);
  commit.pending_delta = difference(before.drums, after.drums, &DrumInfo::pending_count);
  commit.file_bytes_delta =
      static_cast<std::int64_t>(after.info.file_bytes - before.info.file_bytes);
  commit.page_delta = difference(before.pages, after.pages, &PagesInfo::page_count);
  commit.crawled_delta = difference(before.pages, after.pages, &PagesInfo::crawled_count);
  commit.link_delta = difference(before.pages, after.pages, &PagesInfo::link_count);
  return commit;
}

}  // namespace

void OpenFile::want(const FileLocation& file) {
  wanted_ = file;
  state_.redraws.want();
}

Result<void> OpenFile::open_set(const std::vector<FileLocation>& files) {
  Session& session = state_.session;
  std::vector<std::string> paths;
  paths.reserve(files.size());
  for (const FileLocation& file : files) paths.push_back(absolute(file.path));
  if (files.size() > 1) session.shard_paths = std::move(paths);
  auto opened = open_at(files.front());
  if (!opened) session.shard_paths.clear();
  const bool is_set = !session.shard_paths.empty();
  if (is_set && files.front().location == Location{}) places_.go({std::string(kSetPanel), {}});
  return opened;
}

Result<void> OpenFile::open_at(const FileLocation& file) {
  Session& session = state_.session;
  const std::string path = absolute(file.path);
  auto opened = model::CrawlFile::open(path, state_.options.file);
  if (!opened) {
    session.refused_path = opened.error().code == Errc::kNotACrawlFile ? path : "";
    state_.say(Severity::kBad, path + ": " + describe(opened.error()));
    places_.go({"start", {}});
    return tl::unexpected<Error>(opened.error());
  }
  // A file of the set leaves the set, and what its panel shows, as it is.
  std::vector<std::string> set = std::exchange(session.shard_paths, {});
  const bool is_of_set = std::ranges::find(set, path) != set.end();
  const std::string set_state = is_of_set ? tabs_.state_of(kSetPanel) : "";
  close();
  tabs_.close_all();
  session.file = std::move(*opened);
  if (is_of_set) session.shard_paths = std::move(set);
  note_look();
  see_queues(false);
  tabs_.open_layout();
  if (!set_state.empty()) tabs_.open(kSetPanel).restore(set_state);
  session.refused_path.clear();
  state_.settings.remember(path);
  tabs_.save();
  show({path, file.location});
  return {};
}

void OpenFile::show(const FileLocation& file) {
  const auto view = state_.session.view();
  state_.say(Severity::kNote, "opened " + std::filesystem::path(file.path).filename().string());
  if (view->problem) {
    state_.say(Severity::kBad,
               "the newest generation cannot be shown: " + describe(*view->problem));
  }
  checks_.verify(VerifyLevel::kQuick);
  const Location first{view->problem ? "problems" : tabs_.front(), {}};
  places_.go(file.location != Location{} ? file.location : first);
}

void OpenFile::close() {
  Session& session = state_.session;
  if (!session.file) return;
  tabs_.note_layout();
  checks_.cancel();
  session.file.reset();
  session.shard_paths.clear();
  session.is_leaving = false;
  session.is_following = true;
  session.news.clear();
  session.forget_seen();
  tabs_.close_all();
  places_.leave_file();
  places_.go({"start", {}});
}

std::int64_t OpenFile::poll_every_us() const {
  const Session& session = state_.session;
  if (!session.file) return 0;
  return session.file->is_released() && !session.is_following ? 0 : kPollEveryUs;
}

void OpenFile::poll() {
  const std::int64_t now_us = state_.platform.now_us();
  if (!state_.session.file || now_us - last_poll_us_ < kPollEveryUs) return;
  last_poll_us_ = now_us;
  follow();
}

/// The pin goes, if nobody looks, as soon as all is read that the panels show. Who follows sees
/// new generations all the same: each is pinned while it is read.
void OpenFile::follow() {
  const Session& session = state_.session;
  if (session.file->has_news()) session.is_following ? look_again() : announce();
  const bool is_reading = state_.redraws.is_wanted() || !state_.jobs.idle();
  const bool is_held = state_.options.holds_pin || session.file->is_released();
  if (!state_.redraws.is_idle(state_.platform.now_us()) || is_reading || is_held) return;
  if (!session.is_following) {
    state_.say(Severity::kNote, "generation " +
                                    model::format_count(session.view()->info.generation.value) +
                                    " released: nobody looked for a minute");
  }
  leave();
}

void OpenFile::note_input() {
  Session& session = state_.session;
  session.page_delta = session.key_delta = 0;
  session.is_leaving = false;
  look_if_released();
}

void OpenFile::look_if_released() {
  if (state_.session.file && state_.session.file->is_released()) look_again();
}

void OpenFile::set_following(bool is_following) {
  state_.session.is_following = is_following;
  if (!is_following || !state_.session.file) return;
  look_again();
  see_queues(false);
}

void OpenFile::leave() {
  state_.session.is_leaving = !state_.session.is_following;
  if (state_.session.is_leaving) {
    state_.redraws.want();
  } else {
    release();
  }
}

void OpenFile::settle() {
  if (wanted_) (void)open_at(*std::exchange(wanted_, std::nullopt));  // it is said
  if (state_.session.is_leaving && !state_.redraws.is_wanted() && state_.jobs.idle()) release();
}

void OpenFile::release() {
  state_.session.is_leaving = false;
  state_.session.file->release();
  tabs_.let_go();
}

void OpenFile::look_again() {
  Session& session = state_.session;
  session.is_leaving = false;
  const auto before = session.view();
  session.file->refresh();
  const auto after = session.view();
  const bool is_other =
      after->snapshot && before->info.uuid != after->info.uuid && before->info.uuid != Uuid{};
  if (is_other) {
    session.forget_seen();
    state_.say(Severity::kWarning, "another crawl file is at this path now");
    checks_.verify(VerifyLevel::kQuick);
  }
  if (after->problem && before->problem != after->problem) {
    state_.say(Severity::kBad, describe(*after->problem));
  }
  note_look();
  // Another file at this path is not a commit of the one before it.
  if (!is_other && after->info.generation > before->info.generation) note_commit(*before, *after);
  places_.look_again();
  state_.redraws.want();
}

void OpenFile::note_look() {
  state_.session.news.clear();
  state_.session.health.look(*state_.session.view());
}

/// Tells users who do not follow that there is a newer generation.
void OpenFile::announce() {
  Session& session = state_.session;
  const auto newest = session.file->newest();
  const bool is_newer = newest && *newest > session.view()->info.generation;
  std::string news = is_newer
                         ? "generation " + model::format_count(newest->value) + " is there (F5)"
                         : "the file has changed (F5)";
  if (news == session.news) return;
  session.news = std::move(news);
  state_.redraws.want();
}

void OpenFile::note_commit(const model::FileView& before, const model::FileView& after) {
  Session& session = state_.session;
  const SeenCommit commit = compare(before, after);
  session.page_delta += commit.page_delta;
  session.key_delta += commit.key_delta;
  see_queues(session.is_following);
  session.commits.push_back(commit);
  if (session.commits.size() > Session::kCommitsMax) session.commits.pop_front();
}

void OpenFile::see_queues(bool is_followed) {
  const auto view = state_.session.view();
  state_.session.queue_trends.see(state_.platform.now_us(), view->info.generation, view->queues,
                                  is_followed);
}

}  // namespace crawlstore::inspector
