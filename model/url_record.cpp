// SPDX-License-Identifier: Apache-2.0
#include "model/url_record.h"

#include <algorithm>
#include <array>

namespace crawlstore::model {
namespace {

/// The texts before a URL's group that the forms of a record leave out, as they do the group; form
/// 0 has the whole URL.
constexpr std::array<std::string_view, 3> kSchemes{"", "http://", "https://"};
/// Added to size and form where a date follows them.
constexpr std::uint64_t kHasDate = std::uint64_t{1} << 18;
constexpr std::uint64_t kSecondUs = 1'000'000;

/// A LEB128 number, which is taken off the bytes.
std::optional<std::uint64_t> take_number(std::string_view& bytes) {
  std::uint64_t number = 0;
  for (unsigned shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    const auto digit = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    if (shift == 63 && digit > 1) break;
    number |= std::uint64_t{digit & 0x7FU} << shift;
    if (digit < 0x80) return number;
  }
  return std::nullopt;
}

}  // namespace

bool has_url_records(const Snapshot& snapshot, const FrontierInfo& frontier) {
  if (!frontier.has_own_ids) return false;
  const std::string known = "known:" + frontier.name;
  return std::ranges::any_of(snapshot.segments(), [&](const SegmentInfo& segment) {
    return segment.kind == SegmentKind::kDrum && segment.name == known;
  });
}

std::optional<UrlRecord> read_url_record(std::string_view bytes, std::string_view group) {
  const auto created_s = take_number(bytes);
  auto size_and_form = created_s ? take_number(bytes) : std::nullopt;
  if (size_and_form && *size_and_form >= kHasDate) {
    *size_and_form -= kHasDate;
    if (!take_number(bytes)) return std::nullopt;
  }
  if (!size_and_form || *created_s > std::uint64_t{INT64_MAX} / kSecondUs) return std::nullopt;
  const std::uint64_t size = *size_and_form / kSchemes.size();
  const std::size_t form = *size_and_form % kSchemes.size();
  if (size > bytes.size()) return std::nullopt;
  UrlRecord record{std::string(kSchemes[form]), static_cast<std::int64_t>(*created_s * kSecondUs),
                   bytes.size() - size};
  if (form != 0) record.url += group;
  record.url += bytes.substr(0, size);
  return record;
}

}  // namespace crawlstore::model
