// SPDX-License-Identifier: Apache-2.0
#include "drum/drum_content.h"
#include "frontier/frontier_content.h"
#include "links/link_content.h"
#include "pages/page_content.h"
#include "queue/queue_content.h"
#include "scores/score_content.h"
#include "values/values_content.h"

namespace crawlstore {
namespace {

container::KindSet join(std::initializer_list<std::vector<container::Kind>> parts) {
  std::vector<container::Kind> all;
  for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
  return container::KindSet(std::move(all));
}

}  // namespace

const container::KindSet& container::all_kinds() {
  static const KindSet kKinds = join({drum::kinds(), links::kinds(), queue::kinds(), pages::kinds(),
                                      scores::kinds(), frontier::kinds(), values::kinds()});
  return kKinds;
}

std::string_view name_of(SegmentKind kind) {
  const auto* const found = container::all_kinds().find(kind);
  return found == nullptr ? "unknown" : found->rule.name;
}

std::optional<SegmentKind> find_segment_kind(std::string_view name) {
  for (const container::Kind& kind : container::all_kinds().all()) {
    if (kind.rule.name == name) return kind.rule.kind;
  }
  return std::nullopt;
}

}  // namespace crawlstore
