// SPDX-License-Identifier: Apache-2.0
#include <crawlstore/tools/link_runs.h>

#include "base/inside.h"
#include "pages/link_survey.h"
#include "pages/page_view_impl.h"

namespace crawlstore {

std::vector<LinkRunInfo> link_runs(const PageView& view) {
  std::vector<LinkRunInfo> infos;
  const auto& links = Inside::of(view).links;
  if (!links) return infos;
  infos.reserve(links->out_runs().size() + links->in_runs().size());
  for (const auto& run : links->out_runs()) infos.push_back(pages::describe_run(run, false));
  for (const auto& run : links->in_runs()) infos.push_back(pages::describe_run(run, true));
  return infos;
}

Result<DenseRowSums> read_dense_rows(const PageView& view, bool incoming,
                                     const Progress& progress) {
  const auto& links = Inside::of(view).links;
  if (!links) return DenseRowSums{};
  const auto& runs = incoming ? links->in_runs() : links->out_runs();
  const auto read = [&](container::WorkSteps& steps) -> Result<DenseRowSums> {
    DenseRowSums sums;
    for (const auto& run : runs) pages::expect_rows(run.run, steps);
    for (const auto& run : runs) {
      CRAWLSTORE_TRY(pages::add_rows(run.run, sums, steps));
    }
    CRAWLSTORE_TRY(steps.look());
    return sums;
  };
  return container::in_steps(nullptr, progress, read);
}

Result<LinkBytes> estimate_compacted_links(const PageView& view) {
  LinkBytes bytes;
  const auto& impl = Inside::of(view);
  if (!impl.links) return bytes;
  const std::uint64_t link_count = impl.info.link_count;
  CRAWLSTORE_TRY(bytes.out_bytes, pages::estimate_compacted_bytes(*impl.links, false, link_count));
  CRAWLSTORE_TRY(bytes.in_bytes, pages::estimate_compacted_bytes(*impl.links, true, link_count));
  return bytes;
}

}  // namespace crawlstore
