// SPDX-License-Identifier: Apache-2.0
#include "model/generations_view.h"

namespace crawlstore::model {
namespace {

std::string role_of(const GenerationInfo& copy) {
  if (copy.is_winner) return "newest";
  return copy.is_previous ? "previous" : "";
}

}  // namespace

Table superblocks_table(const std::vector<GenerationInfo>& copies) {
  Table table{"superblocks",
              {{"offset_bytes", Unit::kOffset},
               {"slot_index", Unit::kId},
               {"copy_index", Unit::kId},
               {"state", Unit::kText},
               {"role", Unit::kText},
               {"generation", Unit::kId},
               {"pass", Unit::kId},
               {"commit_time_us", Unit::kTimeUs},
               {"high_water_bytes", Unit::kBytes},
               {"root_offset_bytes", Unit::kOffset},
               {"problem", Unit::kText}},
              {}};
  for (const GenerationInfo& copy : copies) {
    const bool is_valid = copy.state == CopyState::kValid;
    const bool is_numbered = is_valid || copy.state == CopyState::kTombstone;
    const auto known = [is_valid](auto value) { return is_valid ? Cell{value} : Cell{}; };
    table.rows.push_back({copy.offset_bytes, std::uint64_t{copy.slot}, std::uint64_t{copy.copy},
                          std::string(name_of(copy.state)), role_of(copy),
                          is_numbered ? Cell{copy.generation.value} : Cell{},
                          is_numbered ? Cell{copy.pass} : Cell{}, known(copy.commit_time_us),
                          known(copy.high_water_bytes), known(copy.root.offset_bytes),
                          copy.error.code == Errc{} ? Cell{} : Cell{std::string(copy.error.text)}});
  }
  return table;
}

}  // namespace crawlstore::model
