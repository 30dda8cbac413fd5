// SPDX-License-Identifier: Apache-2.0
// Hosts with how many pages they have, counted in the background; the largest ones first, also
// while others are still counted.
#include <algorithm>
#include <mutex>

#include <imgui.h>

#include <crawlstore/queue.h>

#include "inspector/ui/panels/pages_choice.h"
#include "inspector/ui/panels/panels.h"
#include "inspector/ui/table64.h"
#include "model/format_text.h"
#include "model/host_name.h"
#include "model/host_rows.h"

namespace crawlstore::inspector {
namespace {

/// Up to so many pages hosts are counted again for each generation; above, when asked to.
constexpr std::uint64_t kFollowedPagesMax = 200'000;
constexpr std::size_t kDamageMax = 100;

/// The hosts that a job has counted so far, or all of them. All in memory: it holds no pin.
struct CountedHosts {
  Generation generation;
  std::shared_ptr<const model::TableSource> rows{};
  std::uint64_t host_count = 0;
  bool is_complete = false;
  std::optional<Error> queue_problem{};  // why it is not known what waits
  std::optional<Error> problem{};
  std::vector<Error> damage{};  // what was passed over
};

/// The newest of these; the job puts it there, and the panel looks at it in each frame.
class LatestHosts {
 public:
  void put(CountedHosts hosts) {
    auto latest = std::make_shared<const CountedHosts>(std::move(hosts));
    const std::lock_guard lock(mutex_);
    latest_.swap(latest);
  }
  [[nodiscard]] std::shared_ptr<const CountedHosts> get() const {
    const std::lock_guard lock(mutex_);
    return latest_;
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const CountedHosts> latest_;
};

/// The parts of the file that the job needs.
struct HostsOfFile {
  Snapshot snapshot;
  PageView pages;
  Generation generation;
};

std::shared_ptr<const model::TableSource> rows_of(model::Table hosts) {
  return std::make_shared<model::TableRows>(model::named_hosts(std::move(hosts)));
}

/// Puts what it has found at any time; returns all of it.
CountedHosts count_hosts(const HostsOfFile& file, LatestHosts& latest, JobContext& context) {
  CountedHosts hosts{.generation = file.generation};
  const auto progress = [&context](auto... at) { return context.progress(at...); };
  const auto queues = QueueView::list(file.snapshot);
  Result<model::WaitingPages> waiting;
  if (queues && !queues->empty()) {
    waiting = model::waiting_in_queues(file.snapshot, file.pages.info().page_count, progress);
  }
  if (!queues) hosts.queue_problem = queues.error();
  if (!waiting) hosts.queue_problem = waiting.error();
  model::HostsOptions options;
  if (waiting && !waiting->empty()) options.waiting = &*waiting;
  options.so_far = [&hosts, &latest](model::Table largest, std::uint64_t host_count) {
    CountedHosts part = hosts;
    part.host_count = host_count;
    part.rows = rows_of(std::move(largest));
    latest.put(std::move(part));
  };
  options.damaged = [&hosts](const Error& problem) {
    if (std::ranges::find(hosts.damage, problem) != hosts.damage.end()) return;
    if (hosts.damage.size() < kDamageMax) hosts.damage.push_back(problem);
  };
  auto table = model::hosts_table(file.pages, progress, options);
  if (!table) {
    const auto part = latest.get();
    if (part) hosts = *part;
    hosts.problem = table.error();
    return hosts;
  }
  hosts.host_count = table->rows.size();
  hosts.is_complete = true;
  hosts.rows = rows_of(std::move(*table));
  return hosts;
}

class HostsPanel final : public Panel {
 public:
  void draw(Ui& ui) override {
    const auto view = ui.session.view();
    if (view == nullptr) return draw_no_file(ui);
    const PageView* pages = choice_.draw(ui, *view, "hosts");
    if (pages != nullptr && !pages->info().has_urls) {
      return draw_paragraph(ui, "Pages have no URLs here, and so no hosts.", ui.palette.faint);
    }
    if (pages != nullptr) follow(ui, {*view->snapshot, *pages, view->info.generation});
    const auto latest = counting_->get();
    if (latest && (latest->is_complete || !shown_ || !shown_->is_complete)) shown_ = latest;
    if (latest && latest->problem) draw_problem(ui, *latest->problem);
    if (latest) draw_damage(ui, latest->damage);
    if (shown_ == nullptr) {
      if (pages != nullptr) draw_text(ui, "counting ...", ui.palette.faint);
      return;
    }
    draw_summary(ui);
    if (pages != nullptr) draw_age(ui, {*view->snapshot, *pages, view->info.generation});
    if (shown_->rows == nullptr) return;
    TableOptions options{.id = "hosts"};
    options.is_main = true;
    options.pages = choice_.name();
    options.bars = {"page_count", "waiting_count", "failed_count"};
    options.choose = [&ui, name = choice_.name()](const model::Row& row) {
      const auto& host = std::get<std::string>(row.front());
      ui.actions.go({"pages", HostThing{name, model::host_of_name(host)}});
    };
    table_.draw(ui, shown_->rows, options);
  }
  void let_go(Jobs& /*jobs*/) override {}

  [[nodiscard]] std::string view_state() const override { return table_.view_state(); }
  void restore(std::string_view state) override { table_.restore(state); }
  bool export_to(Ui& ui, const std::string& path) override { return table_.export_to(ui, path); }

 private:
  static void draw_damage(Ui& ui, const std::vector<Error>& damage) {
    for (const Error& problem : damage) ui.actions.meet(problem);
    if (damage.empty()) return;
    draw_text(ui, "Not all that is counted here can be read:", ui.palette.bad);
    draw_problem(ui, damage.front());
  }

  void follow(Ui& ui, const HostsOfFile& file) {
    const bool is_first = counted_name_ != choice_.name() || counted_version_ == 0;
    const bool is_other = counted_version_ != choice_.version();
    if (is_first) shown_ = nullptr;
    if (is_first || (is_other && file.pages.info().page_count <= kFollowedPagesMax)) {
      start(ui, file);
    }
  }

  void draw_summary(Ui& ui) const {
    const std::string hosts = model::format_counted(shown_->host_count, "host");
    if (shown_->is_complete) {
      draw_paragraph(ui, hosts, ui.palette.text);
    } else if (shown_->rows != nullptr) {
      draw_paragraph(ui,
                     "the largest " + model::format_count(shown_->rows->row_count()) +
                         " of the first " + hosts,
                     ui.palette.faint);
    }
    if (shown_->queue_problem) draw_problem(ui, *shown_->queue_problem);
  }

  /// Tells of counts that are whole and of another generation, and of those that will not become
  /// whole.
  void draw_age(Ui& ui, const HostsOfFile& file) {
    const bool is_old = shown_->is_complete && shown_->generation != file.generation;
    if (!is_old && !shown_->problem) return;
    const std::string text = "as of generation " + model::format_count(shown_->generation.value);
    draw_text(ui, text, ui.palette.faint);
    place_beside(button_width("Count again"));
    if (draw_button(ui, "hosts.count", "Count again")) start(ui, file);
  }

  void start(Ui& ui, const HostsOfFile& file) {
    counted_name_ = choice_.name();
    counted_version_ = choice_.version();
    // A job that is cancelled goes on writing into its own.
    counting_ = std::make_shared<LatestHosts>();
    ui.jobs.start("count the pages of hosts", "hosts",
                  [file, latest = counting_](JobContext& context) -> Jobs::Finish {
                    auto hosts = count_hosts(file, *latest, context);
                    return [latest, hosts = std::move(hosts)] { latest->put(hosts); };
                  });
  }

  PagesChoice choice_;
  std::string counted_name_;
  std::uint64_t counted_version_ = 0;
  std::shared_ptr<LatestHosts> counting_ = std::make_shared<LatestHosts>();
  std::shared_ptr<const CountedHosts> shown_;
  Table64 table_;
};

}  // namespace

std::unique_ptr<Panel> make_hosts_panel() {
  return std::make_unique<HostsPanel>();
}

}  // namespace crawlstore::inspector
