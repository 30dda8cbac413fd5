// SPDX-License-Identifier: Apache-2.0
#include "frontier_stream.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "seen_stream.h"

namespace crawlstore::bench {
namespace {

constexpr double kLargestShare = 0.05;
constexpr std::size_t kFewGroups = 40;
constexpr std::uint64_t kGroupSeed = 0x9E3779B97F4A7C15U;
constexpr std::uint64_t kPrioritySeed = 0x6A09E667F3BCC909U;
constexpr std::uint64_t kWordSeed = 0x3C6EF372FE94F82BU;
constexpr std::size_t kNumberDigits = 9;

constexpr std::string_view kWords[] = {
    "about",    "archive", "article", "blog",     "book",     "category", "city",    "comments",
    "content",  "data",    "detail",  "docs",     "download", "edition",  "events",  "file",
    "forum",    "gallery", "help",    "history",  "image",    "index",    "item",    "journal",
    "language", "library", "list",    "local",    "map",      "members",  "music",   "news",
    "page",     "people",  "photo",   "policy",   "press",    "product",  "project", "public",
    "reader",   "region",  "report",  "research", "review",   "school",   "science", "search",
    "series",   "service", "shop",    "sport",    "story",    "study",    "support", "tag",
    "team",     "thread",  "topic",   "travel",   "user",     "video",    "view",    "world"};
static_assert(std::size(kWords) == 64);

/// The weights up to each group under an exponent, of 1 in all.
std::vector<double> reach_of(std::size_t group_count, double exponent) {
  std::vector<double> reach(group_count);
  double sum = 0;
  for (std::size_t k = 0; k < group_count; ++k) {
    sum += std::pow(static_cast<double>(k + 1), -exponent);
    reach[k] = sum;
  }
  for (double& upto : reach) upto /= sum;
  return reach;
}

/// The exponent at which the first group has its share: bisected over the shares, which rise.
double exponent_of(std::size_t group_count) {
  if (group_count < kFewGroups) return 1;
  double low = 0;
  double high = 2;
  for (int step = 0; step < 24; ++step) {
    const double middle = (low + high) / 2;
    (reach_of(group_count, middle).front() < kLargestShare ? low : high) = middle;
  }
  return low;
}

double fraction(std::uint64_t random, int bits) {
  return std::ldexp(static_cast<double>(random >> (64 - bits)), -bits);
}

}  // namespace

FrontierStream::FrontierStream(std::uint64_t group_count, std::size_t body_bytes, GroupSizes sizes)
    : reach_(reach_of(group_count, sizes == GroupSizes::kEven ? 0 : exponent_of(group_count))),
      body_bytes_(body_bytes) {}

std::uint32_t FrontierStream::group(std::uint64_t item) const {
  const double drawn = fraction(mix(item + kGroupSeed), 53);
  const auto found = std::upper_bound(reach_.begin(), reach_.end() - 1, drawn);
  return static_cast<std::uint32_t>(found - reach_.begin());
}

double FrontierStream::priority(std::uint64_t item) {
  return fraction(mix(item + kPrioritySeed), 24);
}

std::string FrontierStream::group_key(std::uint32_t group) {
  return "www.site" + std::to_string(group) + ".example";
}

void FrontierStream::write_body(std::uint64_t item, std::string& text) const {
  text.clear();
  if (body_bytes_ <= 8) {
    for (std::size_t i = 0; i < body_bytes_; ++i) {
      text.push_back(static_cast<char>(item >> (8 * i)));
    }
    return;
  }
  text += "https://" + group_key(group(item));
  std::uint64_t random = mix(item + kWordSeed);
  for (; text.size() + kNumberDigits < body_bytes_; random = mix(random)) {
    text += '/';
    text += kWords[random % std::size(kWords)];
  }
  const std::string number = std::to_string(item);
  text.resize(body_bytes_ - std::min(kNumberDigits, body_bytes_));
  text.append(kNumberDigits - std::min(kNumberDigits, number.size()), '0') += number;
}

}  // namespace crawlstore::bench
