// SPDX-License-Identifier: Apache-2.0
#include "model/scores_diff.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>

#include <crawlstore/scores.h>
#include <crawlstore/tools/page_gaps.h>

#include "model/scores_view.h"

namespace crawlstore::model {
namespace {

using Entry = std::optional<std::uint64_t>;  // a place in an array
constexpr std::uint64_t kEntriesAStep = 1 << 12;

/// An array of one state, with the pages that it is of.
class Values {
 public:
  static Result<Values> open(const PageView& pages, const std::string& name) {
    CRAWLSTORE_TRY(auto scores, ScoreView::open(pages, name));
    Values values(pages, std::move(scores));
    if (values.scores_.info().has_doubles) {
      CRAWLSTORE_TRY(values.doubles_, values.scores_.doubles());
    } else {
      CRAWLSTORE_TRY(values.floats_, values.scores_.floats());
    }
    CRAWLSTORE_TRY(values.first_pages_, values.scores_.first_pages());
    return values;
  }

  [[nodiscard]] ScoreSubject subject() const { return scores_.info().subject; }
  [[nodiscard]] std::uint64_t count() const { return floats_.size() + doubles_.size(); }
  /// An entry that has no place in the array has 0.
  [[nodiscard]] Result<double> value(Entry entry) const {
    if (!entry) return 0.0;
    const double score = floats_.empty() ? doubles_[*entry] : static_cast<double>(floats_[*entry]);
    // It says where the value is that is no score.
    if (!std::isfinite(score) || std::signbit(score)) CRAWLSTORE_TRY(scores_.top(1));
    return score;
  }
  [[nodiscard]] std::uint64_t page(std::uint64_t entry) const {
    return subject() == ScoreSubject::kPage ? entry : first_pages_[entry];
  }
  /// The URL of the page, or the name of the host or domain; empty: it has none.
  [[nodiscard]] Result<std::string> name(std::uint64_t entry) const {
    if (!pages_.info().has_urls) return std::string();
    CRAWLSTORE_TRY(auto url, pages_.url(page(entry)));
    return ranked_name(std::move(url), subject());
  }

  /// The place in the array of the page, or of what begins with it.
  [[nodiscard]] Entry find(std::uint64_t page) const {
    if (subject() == ScoreSubject::kPage) return page < count() ? Entry(page) : std::nullopt;
    const auto at = std::ranges::lower_bound(first_pages_, page);
    if (at == first_pages_.end() || *at != page) return std::nullopt;
    return static_cast<std::uint64_t>(at - first_pages_.begin());
  }
  [[nodiscard]] Result<Entry> find(const std::string& name) {
    if (name.empty()) return Entry();
    if (subject() == ScoreSubject::kPage) {
      CRAWLSTORE_TRY(const auto page, pages_.find_text(name));
      return page ? find(*page) : Entry();
    }
    for (std::uint64_t entry = names_.size(); entry < count(); ++entry) {
      CRAWLSTORE_TRY(auto named, this->name(entry));
      names_.emplace(std::move(named), entry);
    }
    const auto at = names_.find(name);
    return at == names_.end() ? Entry() : Entry(at->second);
  }

 private:
  Values(PageView pages, ScoreView scores) : pages_(std::move(pages)), scores_(std::move(scores)) {}

  PageView pages_;
  ScoreView scores_;
  std::span<const float> floats_;
  std::span<const double> doubles_;
  std::span<const std::uint64_t> first_pages_;  // empty: it is of pages
  std::map<std::string, std::uint64_t> names_;  // of hosts or domains; filled by the first find()
};

/// In what two arrays differ.
struct Difference {
  std::uint64_t changed = 0;  ///< entries of both
  std::uint64_t added = 0;    ///< entries of the newer one alone, and not 0
  std::uint64_t gone = 0;     ///< entries of the older one alone, and not 0
  double l1_distance = 0;
  double largest = 0;  ///< the newer score minus the older one
  Entry old_entry;     ///< what has it
  Entry new_entry;
};

/// For one database of both states, or of one.
class Comparison {
 public:
  Comparison(const PagesDiff& database, const ScoresDiffOptions& options, Table& table)
      : database_(database), options_(options), table_(table) {}

  Result<void> run(const Snapshot& older, const Snapshot& newer) {
    for (const bool in_new : {false, true}) {
      const auto listed = blame(in_new, in_new ? list(newer, database_.in_new, new_)
                                               : list(older, database_.in_old, old_));
      if (!listed) return leave_out(database_.name, listed.error());
    }
    std::set<std::string> names;
    for (const auto& [name, info] : old_.arrays) names.insert(name);
    for (const auto& [name, info] : new_.arrays) names.insert(name);
    for (const std::string& name : names) CRAWLSTORE_TRY(add_row(name));
    return {};
  }

  [[nodiscard]] bool differs() const { return differs_; }

 private:
  struct Side {
    std::optional<PageView> pages;
    std::map<std::string, ScoresInfo> arrays;
  };

  template <class T>
  Result<T> blame(bool in_new, Result<T> result) const {
    if (!result) failed_in_new_ = in_new;
    if (!result && options_.failed) options_.failed(in_new);
    return result;
  }

  /// Notes what cannot be read in the state that blame() named last; returns any other error.
  Result<void> leave_out(const std::string& name, const Error& error) const {
    if (options_.gaps == nullptr || !DiffGaps::is_damage(error)) {
      return tl::unexpected<Error>(error);
    }
    options_.gaps->add(failed_in_new_, "scores", name, error);
    return {};
  }

  /// Fails where damage hid a URL or a key by which the array was compared.
  Result<void> check_names() const {
    for (const bool in_new : {false, true}) {
      const auto gaps = gaps_of(*(in_new ? new_ : old_).pages);
      const auto gap = std::ranges::find_if(gaps, [](const PageGap& it) {
        return it.part == PagePart::kUrl || it.part == PagePart::kKey;
      });
      if (gap != gaps.end() && database_.by_url) {
        return blame(in_new, Result<void>(tl::unexpected<Error>(gap->error)));
      }
      if (options_.gaps != nullptr) options_.gaps->add_pages(in_new, database_.name, gaps);
    }
    return {};
  }

  Result<void> list(const Snapshot& snapshot, bool exists, Side& side) const {
    if (!exists) return {};
    CRAWLSTORE_TRY(side.pages, options_.gaps != nullptr ? open_past_damage(snapshot, database_.name)
                                                        : PageView::open(snapshot, database_.name));
    CRAWLSTORE_TRY(auto arrays, ScoreView::list(*side.pages));
    for (ScoresInfo& info : arrays) side.arrays.emplace(info.name, std::move(info));
    return {};
  }

  Result<void> add_row(const std::string& name) {
    const auto of_old = old_.arrays.find(name);
    const auto of_new = new_.arrays.find(name);
    const bool in_old = of_old != old_.arrays.end();
    const bool in_new = of_new != new_.arrays.end();
    std::vector<Cell> row{database_.name, name, std::string(),
                          in_old ? Cell{of_old->second.page_count} : Cell{},
                          in_new ? Cell{of_new->second.page_count} : Cell{}};
    row.resize(table_.columns.size());
    bool differs = true;
    if (in_old != in_new) {
      row[2] = std::string(name_of(in_new ? Change::kAdded : Change::kGone));
    } else if (database_.kind_differs || of_old->second.subject != of_new->second.subject) {
      row[2] = std::string("other_kind");
    } else {
      const auto compared = compare(name, row);
      if (!compared) return leave_out(database_.name + "/" + name, compared.error());
      if (const auto named = check_names(); !named) {
        return leave_out(database_.name + "/" + name, named.error());
      }
      differs = *compared;
      row[2] = differs ? std::string(name_of(Change::kChanged)) : std::string("equal");
    }
    differs_ = differs_ || differs;
    table_.rows.push_back(std::move(row));
    return {};
  }

  /// Fills the last cells of the row. Whether values differ.
  Result<bool> compare(const std::string& name, std::vector<Cell>& row) {
    CRAWLSTORE_TRY(const auto before, blame(false, Values::open(*old_.pages, name)));
    CRAWLSTORE_TRY(auto after, blame(true, Values::open(*new_.pages, name)));
    Difference found;
    std::vector<bool> is_compared(after.count());
    for (std::uint64_t entry = 0; entry < before.count(); ++entry) {
      CRAWLSTORE_TRY(tell(entry, before.count() + after.count()));
      CRAWLSTORE_TRY(const Entry partner, partner_of(before, entry, after));
      if (partner) is_compared[*partner] = true;
      CRAWLSTORE_TRY(add(before, entry, after, partner, found));
    }
    for (std::uint64_t entry = 0; entry < after.count(); ++entry) {
      CRAWLSTORE_TRY(tell(before.count() + entry, before.count() + after.count()));
      if (!is_compared[entry]) CRAWLSTORE_TRY(add(before, {}, after, entry, found));
    }
    row[5] = found.changed;
    row[6] = found.added;
    row[7] = found.gone;
    row[8] = found.l1_distance;
    if (found.changed + found.added + found.gone == 0) return false;
    row[9] = found.largest;
    CRAWLSTORE_TRY(row[10], name_of_largest(before, after, found));
    return true;
  }

  Result<void> tell(std::uint64_t done, std::uint64_t total) const {
    if (done % kEntriesAStep != 0 || options_.progress(done, total)) return {};
    return fail(Errc::kCancelled, "cancelled");
  }

  Result<Entry> partner_of(const Values& before, std::uint64_t entry, Values& after) const {
    if (!database_.by_url) return after.find(before.page(entry));
    CRAWLSTORE_TRY(const auto name, blame(false, before.name(entry)));
    return blame(true, after.find(name));
  }

  Result<void> add(const Values& before, Entry old_entry, const Values& after, Entry new_entry,
                   Difference& found) const {
    CRAWLSTORE_TRY(const double old_score, blame(false, before.value(old_entry)));
    CRAWLSTORE_TRY(const double new_score, blame(true, after.value(new_entry)));
    const double change = new_score - old_score;
    if (change == 0) return {};
    ++(old_entry && new_entry ? found.changed : new_entry ? found.added : found.gone);
    found.l1_distance += std::abs(change);
    if (std::abs(change) <= std::abs(found.largest)) return {};
    found.largest = change;
    found.old_entry = old_entry;
    found.new_entry = new_entry;
    return {};
  }

  /// A page that was forgotten since is named by the state that still has its URL.
  Result<Cell> name_of_largest(const Values& before, const Values& after,
                               const Difference& found) const {
    if (found.old_entry) {
      CRAWLSTORE_TRY(auto name, blame(false, before.name(*found.old_entry)));
      if (!name.empty()) return Cell(std::move(name));
    }
    if (!found.new_entry) return Cell("#" + std::to_string(before.page(*found.old_entry)));
    CRAWLSTORE_TRY(auto name, blame(true, after.name(*found.new_entry)));
    if (!name.empty()) return Cell(std::move(name));
    return Cell("#" + std::to_string(after.page(*found.new_entry)));
  }

  const PagesDiff& database_;
  const ScoresDiffOptions& options_;
  Table& table_;
  Side old_;
  Side new_;
  bool differs_ = false;
  mutable bool failed_in_new_ = false;
};

}  // namespace

Result<void> add_scores_diff(const Snapshot& older, const Snapshot& newer,
                             const std::vector<PagesDiff>& databases,
                             const ScoresDiffOptions& options, Document& document) {
  Table table{"scores",
              {{"database", Unit::kText},
               {"name", Unit::kText},
               {"change", Unit::kText},
               {"old_page_count", Unit::kCount},
               {"new_page_count", Unit::kCount},
               {"changed_score_count", Unit::kCount},
               {"added_score_count", Unit::kCount},
               {"gone_score_count", Unit::kCount},
               {"l1_distance", Unit::kScore},
               {"score_change_max", Unit::kScore},
               {"changed_most", Unit::kText}},  // the page, host or domain
              {}};
  for (const PagesDiff& database : databases) {
    Comparison comparison(database, options, table);
    CRAWLSTORE_TRY(comparison.run(older, newer));
    if (comparison.differs()) document.fields.front().value = true;  // `differs`
  }
  document.tables.push_back(std::move(table));
  return {};
}

}  // namespace crawlstore::model
