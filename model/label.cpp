// SPDX-License-Identifier: Apache-2.0
// A table of words for names that the rules below would make a riddle of, then the rules: the unit
// at the end goes where the value shows it, counts become plurals, underscores blanks.
#include "model/label.h"

#include <algorithm>
#include <array>
#include <utility>

namespace crawlstore::model {
namespace {

using Pair = std::pair<std::string_view, std::string_view>;

constexpr std::array kWholeNames{
    Pair{"bytes", "size"},
    Pair{"changed_most", "changed most"},
    Pair{"coder_bytes", "memory of coders"},
    Pair{"clock_ahead_seconds", "clock ahead by"},
    Pair{"commit_time_us", "committed"},
    Pair{"copy_index", "copy"},
    Pair{"crawled_share", "share crawled"},
    Pair{"due_in_seconds", "due"},
    Pair{"edit_bytes", "size of edits"},
    Pair{"ends_in_seconds", "ends"},
    Pair{"features_compat", "optional features"},
    Pair{"features_incompat", "features to read with"},
    Pair{"features_ro_compat", "features to write with"},
    Pair{"file_bytes", "file size"},
    Pair{"file_bytes_delta", "file size +/-"},
    Pair{"first_crawl", "first crawled"},
    Pair{"first_crawl_us", "first crawled"},
    Pair{"gap_log2", "gap (log2)"},
    Pair{"held_bytes", "held back"},
    Pair{"high_water_bytes", "high water mark"},
    Pair{"in_bits_per_link", "bits a link in"},
    Pair{"in_link_bytes", "size of links in"},
    Pair{"in_link_count", "links in"},
    Pair{"key_bytes", "key size"},
    Pair{"l1_distance", "L1 distance"},
    Pair{"last_crawl", "last crawled"},
    Pair{"last_crawl_us", "last crawled"},
    Pair{"memory_bytes", "memory"},
    Pair{"new_commit_time_us", "new commit"},
    Pair{"new_last_crawl_us", "new last crawl"},
    Pair{"old_commit_time_us", "old commit"},
    Pair{"old_last_crawl_us", "old last crawl"},
    Pair{"out_link_bytes", "size of links out"},
    Pair{"out_link_count", "links out"},
    Pair{"page_rank", "PageRank"},
    Pair{"page_share", "share of pages"},
    Pair{"partition_keys_max", "most keys a partition"},
    Pair{"pending_delta", "pending +/-"},
    Pair{"pending_bytes", "size of pending"},
    Pair{"pid", "process"},
    Pair{"run_id", "run"},
    Pair{"score_change_max", "largest change of a score"},
    Pair{"seconds", "time"},
    Pair{"slot_index", "slot"},
    Pair{"url_hex", "URL in hex"},
    Pair{"value_bytes", "value size"},
};

constexpr std::array kWords{
    Pair{"drum", "DRUM"}, Pair{"http", "HTTP"}, Pair{"opic", "OPIC"}, Pair{"unicode", "Unicode"},
    Pair{"url", "URL"},   Pair{"urls", "URLs"}, Pair{"uuid", "UUID"},
};

/// Words that stand for things without a noun after them: not "payload bytes", not "uniques".
constexpr std::array<std::string_view, 20> kAlone{
    "cut",      "elsewhere", "end",   "equal",  "free",       "fresh",  "gone",
    "later",    "length",    "live",  "offset", "payload",    "plain",  "read",
    "resident", "seen",      "stale", "unique", "unreadable", "written"};

std::string_view find(const auto& pairs, std::string_view name) {
  const auto found = std::ranges::find(pairs, name, &Pair::first);
  return found == pairs.end() ? std::string_view() : found->second;
}

std::string_view last_word(std::string_view name) {
  return name.substr(name.rfind('_') + 1);
}

bool stands_alone(std::string_view word) {
  return word.ends_with("ed") || word.ends_with("ing") ||
         std::ranges::find(kAlone, word) != kAlone.end();
}

bool take_end(std::string_view& name, std::string_view end) {
  if (!name.ends_with(end)) return false;
  name.remove_suffix(end.size());
  return true;
}

std::string plural(std::string_view name) {
  if (stands_alone(last_word(name))) return std::string(name);
  const bool is_ies = name.ends_with("y") && !name.ends_with("ey") && !name.ends_with("ay");
  if (is_ies) return std::string(name.substr(0, name.size() - 1)) + "ies";
  return std::string(name) + (name.ends_with("s") ? "es" : "s");
}

/// "bits_per_item" becomes "bits_an_item".
void replace_per(std::string& name) {
  constexpr std::string_view kPer = "_per_";
  const auto at = name.find(kPer);
  if (at == name.npos || at + kPer.size() == name.size()) return;
  const bool is_vowel = std::string_view("aeio").find(name[at + kPer.size()]) != name.npos;
  name.replace(at, kPer.size(), is_vowel ? "_an_" : "_a_");
}

/// The name without its unit.
std::string without_unit(std::string_view name) {
  if (take_end(name, "_count")) return plural(name);
  if (take_end(name, "_delta")) return plural(name) + " +/-";
  if (take_end(name, "_us")) return std::string(name);
  if (take_end(name, "_seconds")) return std::string(name) + "_time";
  std::string_view alone = name;
  if (take_end(alone, "_bytes") && stands_alone(last_word(alone))) name = alone;
  return std::string(name);
}

}  // namespace

std::string label_of(std::string_view name) {
  if (name.find_first_of(" :") != name.npos) return std::string(name);
  if (const auto label = find(kWholeNames, name); !label.empty()) return std::string(label);
  if (name.starts_with("is_")) name.remove_prefix(3);
  std::string rest = without_unit(name);
  replace_per(rest);
  std::string label;
  for (std::string_view left = rest; !left.empty();) {
    const auto end = std::min(left.find('_'), left.size());
    const std::string_view word = left.substr(0, end);
    const std::string_view replaced = find(kWords, word);
    if (!label.empty() && !word.empty()) label += ' ';
    label += replaced.empty() ? word : replaced;
    left.remove_prefix(std::min(end + 1, left.size()));
  }
  return label;
}

}  // namespace crawlstore::model
