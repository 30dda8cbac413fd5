// SPDX-License-Identifier: Apache-2.0
// The links of a page database: what they take and would take after compaction, the runs with their
// parts, and, when asked, what the rows of dense runs consist of.
#include <algorithm>
#include <array>
#include <tuple>

#include "inspector/ui/panels/choices.h"
#include "inspector/ui/panels/pages_choice.h"
#include "inspector/ui/panels/panels.h"
#include "inspector/ui/table64.h"
#include "model/format_text.h"
#include "model/links_view.h"
#include "model/parse_text.h"

namespace crawlstore::inspector {
namespace {

enum class LinkPart : std::uint8_t { kWays, kRuns, kRows };
constexpr std::size_t kLinkParts = 3;

class LinksPanel final : public Panel {
 public:
  void draw(Ui& ui) override {
    const auto view = ui.session.view();
    if (view == nullptr) return draw_no_file(ui);
    const PageView* pages = choice_.draw(ui, *view, "links");
    if (pages == nullptr) return let_go(ui.jobs);
    const PagesInfo& info = pages->info();
    const Asked wanted{choice_.name(), info.superstep_count, info.out_link_bytes,
                       info.in_link_bytes};
    if (asked_ != wanted) look_at(ui, *pages);
    asked_ = wanted;
    draw_facts(ui, info);
    draw_parts(ui);
    if (part_ == LinkPart::kRows) ask_rows(ui, *pages);
    const auto& shown = part_ == LinkPart::kRows ? *rows_ : *ways_;
    if (shown == nullptr) return draw_text(ui, "reading ...", ui.palette.faint);
    for (const Error& problem : shown->problems) draw_problem(ui, problem);
    const auto& source = part_ == LinkPart::kRuns ? runs_ : shown->table;
    TableOptions options{.id = source->name()};
    options.is_main = true;
    options.pages = choice_.name();
    options.bars = {part_ == LinkPart::kRuns ? "block_bytes" : "link_count"};
    table().draw(ui, source, options);
  }

  void let_go(Jobs& jobs) override {
    jobs.cancel_slot("links");
    jobs.cancel_slot("link rows");
    *ways_ = nullptr;
    *rows_ = nullptr;
    runs_ = nullptr;
    has_asked_rows_ = false;
    asked_.reset();
  }
  [[nodiscard]] std::string view_state() const override {
    return choice_.name() + "\n" + std::to_string(static_cast<int>(part_)) + "\n" +
           table().view_state();
  }
  void restore(std::string_view state) override {
    const auto lines = take_lines<2>(state);
    if (!lines) return;
    choice_.choose(std::string((*lines)[0]));
    part_ = static_cast<LinkPart>(
        std::min<std::uint64_t>(kLinkParts - 1, model::parse_count((*lines)[1]).value_or(0)));
    table().restore(state);
  }
  bool export_to(Ui& ui, const std::string& path) override { return table().export_to(ui, path); }

 private:
  /// The answer depends on these: database, supersteps, and bytes, which compaction changes. Other
  /// commits do not begin the work again.
  using Asked = std::tuple<std::string, std::uint64_t, std::uint64_t, std::uint64_t>;
  /// A table that a job makes, as far as links can be read. In memory: it holds no pin.
  struct Found {
    std::shared_ptr<const model::TableSource> table;
    std::vector<Error> problems;
  };
  using Box = std::shared_ptr<std::shared_ptr<const Found>>;

  static std::shared_ptr<const model::TableSource> rows_of(model::Table table) {
    return std::make_shared<const model::TableRows>(std::move(table));
  }

  /// Runs are known at once; the estimate reads links. The shown rows stay until it is there.
  void look_at(Ui& ui, const PageView& pages) {
    has_asked_rows_ = false;
    runs_ = rows_of(model::link_runs_table({pages}));
    ui.jobs.start("links", "links", [pages, box = ways_](JobContext& /*context*/) -> Jobs::Finish {
      auto found = std::make_shared<Found>();
      auto ways = model::link_directions({pages});
      found->table = rows_of(std::move(ways.table));
      found->problems = std::move(ways.problems);
      return [box, found] { *box = found; };
    });
  }

  void ask_rows(Ui& ui, const PageView& pages) {
    if (has_asked_rows_) return;
    has_asked_rows_ = true;
    ui.jobs.start("rows of dense links", "link rows",
                  [pages, box = rows_](JobContext& context) -> Jobs::Finish {
                    auto found = std::make_shared<Found>();
                    std::vector<model::DenseWay> ways;
                    for (const bool incoming : {false, true}) {
                      const auto sums = read_dense_rows(
                          pages, incoming, [&](auto... at) { return context.progress(at...); });
                      if (!sums) {
                        found->problems.push_back(sums.error());
                        continue;
                      }
                      ways.push_back({pages.info().name, incoming, *sums});
                    }
                    found->table = rows_of(model::dense_rows_table(ways));
                    return [box, found] { *box = found; };
                  });
  }

  static void draw_facts(Ui& ui, const PagesInfo& info) {
    const auto bits = [&info](std::uint64_t bytes) {
      if (info.link_count == 0) return std::string("none");
      const double each = 8 * static_cast<double>(bytes) / static_cast<double>(info.link_count);
      return model::format_bytes(bytes) + ", " + model::format_cell(each, model::Unit::kRatio) +
             " bits a link";
    };
    draw_paragraph(ui,
                   model::format_counted(info.link_count, "link") + "; out " +
                       bits(info.out_link_bytes) + "; in " + bits(info.in_link_bytes),
                   ui.palette.text);
  }

  void draw_parts(Ui& ui) {
    constexpr std::array<std::pair<LinkPart, const char*>, kLinkParts> kTitles{
        {{LinkPart::kWays, "Compaction"},
         {LinkPart::kRuns, "Runs"},
         {LinkPart::kRows, "Dense rows"}}};
    for (const auto& [part, title] : kTitles) {
      if (part != LinkPart::kWays) place_beside(choice_width(title));
      const std::string label = std::string("links.part.") + title;
      if (draw_choice(ui, label, title, part_ == part)) part_ = part;
    }
  }

  [[nodiscard]] const Table64& table() const { return tables_[static_cast<std::size_t>(part_)]; }
  Table64& table() { return tables_[static_cast<std::size_t>(part_)]; }

  PagesChoice choice_;
  std::optional<Asked> asked_;
  LinkPart part_ = LinkPart::kWays;
  bool has_asked_rows_ = false;
  Box ways_ = std::make_shared<std::shared_ptr<const Found>>();
  Box rows_ = std::make_shared<std::shared_ptr<const Found>>();
  std::shared_ptr<const model::TableSource> runs_;
  std::array<Table64, kLinkParts> tables_;  // by LinkPart
};

}  // namespace

std::unique_ptr<Panel> make_links_panel() {
  return std::make_unique<LinksPanel>();
}

}  // namespace crawlstore::inspector
