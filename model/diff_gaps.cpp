// SPDX-License-Identifier: Apache-2.0
#include "model/diff_gaps.h"

#include <algorithm>

namespace crawlstore::model {
namespace {

const char* const kDatabase = "page_database";

}  // namespace

bool DiffGaps::is_damage(const Error& error) {
  return category(error.code) == ErrorCategory::kDamage || error.code == Errc::kIo;
}

void DiffGaps::add(bool in_new, const std::string& kind, const std::string& name,
                   const Error& error) {
  gaps_.push_back({in_new, kind, name, std::nullopt, error});
}

void DiffGaps::add_pages(bool in_new, const std::string& name, const std::vector<PageGap>& gaps) {
  for (const PageGap& gap : gaps) {
    const bool is_known = std::ranges::any_of(gaps_, [&](const DiffGap& known) {
      return known.in_new == in_new && known.name == name && known.pages &&
             known.pages->part == gap.part && known.pages->first_page <= gap.first_page &&
             gap.end_page <= known.pages->end_page;
    });
    if (!is_known) gaps_.push_back({in_new, kDatabase, name, gap, gap.error});
  }
}

bool DiffGaps::has(const std::string& kind, const std::string& name) const {
  return std::ranges::any_of(gaps_, [&](const DiffGap& gap) {
    return gap.kind == kind && gap.name == name && !gap.pages;
  });
}

Table DiffGaps::table() const {
  Table table{"gaps",
              {{"state", Unit::kText},
               {"kind", Unit::kText},
               {"name", Unit::kText},
               {"part", Unit::kText},
               {"first_page", Unit::kId},
               {"end_page", Unit::kId},
               {"offset_bytes", Unit::kOffset},
               {"error", Unit::kText}},
              {}};
  for (const DiffGap& gap : gaps_) {
    const auto& pages = gap.pages;
    table.rows.push_back({std::string(gap.in_new ? "new" : "old"), gap.kind, gap.name,
                          pages ? Cell{std::string(name_of(pages->part))} : Cell{},
                          pages ? Cell{pages->first_page} : Cell{},
                          pages ? Cell{pages->end_page} : Cell{},
                          gap.error.offset == Error::kNoOffset ? Cell{} : Cell{gap.error.offset},
                          describe(gap.error)});
  }
  return table;
}

}  // namespace crawlstore::model
