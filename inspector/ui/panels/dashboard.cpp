// SPDX-License-Identifier: Apache-2.0
#include "inspector/ui/panels/dashboard.h"

#include <algorithm>
#include <array>
#include <utility>

#include <crawlstore/tools/inspect.h>

#include "inspector/core/next_action.h"
#include "inspector/core/shown_text.h"
#include "inspector/ui/curves.h"
#include "model/format_text.h"
#include "model/host_name.h"
#include "model/host_rows.h"

namespace crawlstore::inspector {
namespace {

constexpr std::size_t kHostsShown = 10;
/// Up to so many pages hosts are counted at once; of more, when somebody asks.
constexpr std::uint64_t kAtOncePagesMax = 200'000;
constexpr std::int64_t kAskWriterEveryUs = 1'000'000;

/// A bar that is filled so far, the text beside it.
void draw_share(Ui& ui, double share, Colour colour) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const ImVec2 size(ui.px(120), ImGui::GetTextLineHeight());
  ImDrawList& list = *ImGui::GetWindowDrawList();
  list.AddRectFilled(at, ImVec2(at.x + size.x, at.y + size.y), ui.palette.raised);
  const auto part = static_cast<float>(std::clamp(share, 0.0, 1.0));
  list.AddRectFilled(at, ImVec2(at.x + size.x * part, at.y + size.y), colour);
  ImGui::Dummy(size);
  ImGui::SameLine(0, ui.px(8));
}

double seconds_of(std::int64_t duration_us) {
  return static_cast<double>(duration_us) / 1e6;
}

/// The pace of commits of late; empty = too few were seen.
std::string commit_rate(const Session& session) {
  if (session.commits.empty()) return {};
  const SeenCommit& last = session.commits.back();
  const auto first = std::ranges::find_if(session.commits, [&last](const SeenCommit& commit) {
    return commit.commit_time_us > last.commit_time_us - QueueTrend::kWindowUs;
  });
  const std::int64_t all_us = last.commit_time_us - first->commit_time_us;
  // Several may lie between two looks.
  const auto count = static_cast<std::int64_t>(last.generation.value - first->generation.value);
  if (all_us <= 0 || count <= 0) return {};
  return "a commit every " + model::format_duration(seconds_of(all_us / count));
}

/// The state before the first commit that was seen, then each of them.
std::array<Curve, 2> page_curves(const Ui& ui, const model::FileView& view) {
  std::array<Curve, 2> curves{Curve{"pages", ui.palette.link, {}},
                              Curve{"crawled", ui.palette.good, {}}};
  std::uint64_t known = 0;
  std::uint64_t crawled = 0;
  for (const PagesInfo& pages : view.pages) {
    known += pages.page_count;
    crawled += pages.crawled_count;
  }
  // From now backwards.
  std::int64_t time_us = view.info.commit_time_us;
  for (auto commit = ui.session.commits.rbegin();; ++commit) {
    curves[0].points.push_back({time_us, known});
    curves[1].points.push_back({time_us, crawled});
    if (commit == ui.session.commits.rend()) break;
    known -= static_cast<std::uint64_t>(commit->page_delta);
    crawled -= static_cast<std::uint64_t>(commit->crawled_delta);
    time_us = commit->before_us;
  }
  for (Curve& curve : curves) std::ranges::reverse(curve.points);
  return curves;
}

}  // namespace

void Dashboard::draw(Ui& ui, const model::FileView& view) {
  draw_heading(ui, "Health");
  draw_health(ui, view);
  draw_writer(ui, view);
  const bool has_pages = !view.pages.empty();
  const float room = ImGui::GetContentRegionAvail().x;
  const bool is_wide = has_pages && room > ui.px(620);
  if (has_pages) {
    ImGui::BeginGroup();
    draw_pages(ui, view, (is_wide ? room * 0.55F : room) - ui.px(24));
    ImGui::EndGroup();
    if (is_wide) ImGui::SameLine(room * 0.55F);
    ImGui::BeginGroup();
    draw_hosts(ui, view);
    ImGui::EndGroup();
  }
  draw_waiting(ui, view);
  draw_queues(ui, view);
}

void Dashboard::let_go(Jobs& jobs) {
  jobs.cancel_slot("overview hosts");
  asked_hosts_ = 0;
}

void Dashboard::draw_health(Ui& ui, const model::FileView& view) const {
  const Health& health = ui.session.health;
  const Colour colour = health.is_damaged() ? ui.palette.bad
                        : health.is_whole() ? ui.palette.good
                                            : ui.palette.warning;
  draw_text(ui, health.verdict(), colour);
  const std::string problems = model::format_counted(health.problems().size(), "problem");
  place_beside(text_width(problems));
  draw_link(ui, "overview.problems", problems, {"problems", {}});
  const std::string share = health.share_text();
  place_beside(text_width(share));
  draw_paragraph(ui, share, ui.palette.faint);

  const NextAction next = next_action(view, health);
  draw_text(ui, "Next: " + shown_text(next.why), ui.palette.text);
  place_beside(button_width(next.title), ui.px(12));
  if (!draw_button(ui, "overview.next", next.title, next.shell)) return;
  if (next.command.empty()) {
    ui.actions.copy(next.shell, "command");
  } else {
    ui.actions.run(next.command);
  }
}

void Dashboard::draw_writer(Ui& ui, const model::FileView& view) {
  if (view.info.generation.value == 0) return;
  if (ui.now_us - asked_writer_us_ >= kAskWriterEveryUs) {
    asked_writer_us_ = ui.now_us;
    writers_ = writer_processes(view.path);
  }
  const std::string writer = writers_.empty()
                                 ? "no writer is there"
                                 : "process " + std::to_string(writers_.front()) + " writes";
  const std::string rate = commit_rate(ui.session);
  draw_text(ui, "Generation " + model::format_count(view.info.generation.value) + ", committed " +
                    model::format_time(view.info.commit_time_us) + "; " +
                    (rate.empty() ? "" : rate + "; ") + writer);
}

void Dashboard::draw_pages(Ui& ui, const model::FileView& view, float room) {
  draw_text(ui, "Pages", ui.palette.accent);
  const auto curves = page_curves(ui, view);
  for (const Curve& curve : curves) {
    draw_swatch(ui, curve.colour);
    draw_text(ui, curve.name + " " + model::format_count(curve.points.back().count));
    if (&curve == &curves.front()) ImGui::SameLine(0, ui.px(16));
  }
  if (curves.front().points.size() < 2) {
    draw_text(ui, "Curves begin with the next commit.", ui.palette.faint);
    return;
  }
  const float width = std::min(ImGui::GetContentRegionAvail().x, room);
  draw_curves(ui, "overview.pages", curves, ImVec2(width, ui.px(126)));
}

void Dashboard::draw_hosts(Ui& ui, const model::FileView& view) {
  draw_text(ui, "Largest hosts", ui.palette.accent);
  const auto database = model::find_pages(view, {});
  if (!database || !view.pages[*database].has_urls) {
    return draw_text(ui, "Pages have no URLs here.", ui.palette.faint);
  }
  const bool is_small = view.pages[*database].page_count <= kAtOncePagesMax;
  const bool can_ask = *database < view.page_views.size();
  const bool is_known = *hosts_ != nullptr;
  if (can_ask && is_small && asked_hosts_ != view.number) ask_hosts(ui, view, *database);
  if (can_ask && !is_small && asked_hosts_ == 0 && !is_known) {
    if (draw_button(ui, "overview.hosts", "Count them", "reads all pages once")) {
      ask_hosts(ui, view, *database);
    }
    return;
  }
  if (!is_known) return draw_text(ui, "counting ...", ui.palette.faint);
  const Hosts& found = **hosts_;
  if (found.problem) return draw_problem(ui, *found.problem);
  if (found.damage) ui.actions.meet(*found.damage);
  const double most = found.largest.empty() ? 1 : static_cast<double>(found.largest[0].page_count);
  const float count_width =
      found.largest.empty() ? 0 : text_width(model::format_count(found.largest[0].page_count));
  for (const Host& host : found.largest) {
    draw_share(ui, static_cast<double>(host.page_count) / most, ui.palette.link);
    const std::string count = model::format_count(host.page_count);
    ImGui::SetCursorPosX(ImGui::GetCursorPosX() + count_width - text_width(count));
    draw_text(ui, count, ui.palette.faint);
    ImGui::SameLine(0, ui.px(8));
    const float width = ImGui::GetContentRegionAvail().x;
    draw_link(ui, "overview.host." + shown_text(host.name),
              fit_middle(ui, shown_text(host.name), std::max(width, ui.px(80))),
              {"pages", HostThing{found.database, model::host_of_name(host.name)}});
  }
  if (found.host_count > found.largest.size()) {
    draw_link(ui, "overview.all_hosts", "all " + model::format_counted(found.host_count, "host"),
              {"hosts", {}});
  }
}

void Dashboard::ask_hosts(Ui& ui, const model::FileView& view, std::size_t database) {
  asked_hosts_ = view.number;
  ui.jobs.start("count the largest hosts", "overview hosts",
                [pages = view.page_views[database], name = view.pages[database].name,
                 box = hosts_](JobContext& context) -> Jobs::Finish {
                  auto found = std::make_shared<Hosts>();
                  found->database = name;
                  model::HostsOptions options;
                  options.damaged = [&found](const Error& problem) { found->damage = problem; };
                  auto table = model::hosts_table(
                      pages, [&](auto... at) { return context.progress(at...); }, options);
                  if (!table && table.error().code == Errc::kCancelled) return nullptr;
                  if (!table) found->problem = table.error();
                  if (table) {
                    found->host_count = table->rows.size();
                    const model::Table named = model::named_hosts(std::move(*table));
                    for (std::size_t i = 0; i < std::min(kHostsShown, named.rows.size()); ++i) {
                      found->largest.push_back({std::get<std::string>(named.rows[i][0]), 0});
                    }
                    const auto count =
                        std::ranges::find(named.columns, "page_count", &model::Column::name);
                    const auto at = static_cast<std::size_t>(count - named.columns.begin());
                    for (std::size_t i = 0; i < found->largest.size(); ++i) {
                      found->largest[i].page_count = std::get<std::uint64_t>(named.rows[i][at]);
                    }
                  }
                  return [box, found] { *box = found; };
                });
}

void Dashboard::draw_waiting(Ui& ui, const model::FileView& view) {
  bool has_heading = false;
  const auto heading = [&] {
    if (!std::exchange(has_heading, true)) draw_text(ui, "What waits", ui.palette.accent);
  };
  for (const DrumInfo& drum : view.drums) {
    if (drum.pending_count == 0) continue;
    heading();
    const bool by_bytes = drum.merge_bytes != 0;
    const std::uint64_t due = by_bytes ? drum.merge_bytes : drum.merge_requests;
    const std::uint64_t waits = by_bytes ? drum.pending_bytes : drum.pending_count;
    const double share = due == 0 ? 0 : static_cast<double>(waits) / static_cast<double>(due);
    draw_share(ui, share, share >= 1 ? ui.palette.warning : ui.palette.link);
    std::string text = model::format_counted(drum.pending_count, "request");
    if (due != 0) {
      text += ", merged at " +
              (by_bytes ? model::format_bytes(due) : model::format_counted(due, "request"));
    }
    draw_link(ui, "overview.waits." + shown_text(drum.name),
              "DRUM " + shown_text(drum.name) + ": " + text,
              {"buckets", BucketThing{drum.name, 0}});
  }
  for (const PagesInfo& pages : view.pages) {
    if (pages.event_count == 0) continue;
    heading();
    draw_link(ui, "overview.edits." + shown_text(pages.name),
              "pages " + shown_text(pages.name) + ": " +
                  model::format_counted(pages.event_count, "edit") + " for the next superstep",
              {"events", PageThing{pages.name, 0}});
  }
}

void Dashboard::draw_queues(Ui& ui, const model::FileView& view) {
  if (view.queues.empty()) return;
  draw_text(ui, "Queues", ui.palette.accent);
  for (const QueueInfo& queue : view.queues) {
    draw_link(ui, "overview.queue." + shown_text(queue.name),
              shown_text(queue.name) + " " + model::format_count(queue.page_count),
              {"queue", QueueThing{queue.name}});
    ImGui::SameLine(0, ui.px(12));
    draw_paragraph(
        ui, describe(ui.session.queue_trends.of(queue.name), ui.session.is_following, ui.now_us),
        ui.palette.faint);
  }
}

}  // namespace crawlstore::inspector
