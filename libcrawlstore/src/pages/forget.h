// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Taking pages out of a page database: their keys, URLs, records and links, in one commit. Their
/// indexes stay given.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <crawlstore/pages.h>

#include "container/work_steps.h"
#include "container/writer.h"
#include "drum/key_table.h"
#include "pages/pages_state.h"

namespace crawlstore::pages {

/// For one use; no edits may wait. Reads and writes forwards. Threads: one.
///   memory  33 bits a page; 40 bytes a page that is forgotten, 16 a link that goes
class Forgetting {
 public:
  Forgetting(container::Writer& writer, PagesState& state, drum::KeyTable& keys,
             container::WorkSteps& steps)
      : writer_(writer), state_(state), keys_(keys), steps_(steps) {}

  /// Forgets the pages whose URL `is_meant`. Puts all segments that change into the writer's
  /// changes, and brings `state` up to date.
  ///   errors  as Superstep::run()
  Result<ForgetReport> run(const std::function<bool(std::string_view url)>& is_meant);

  /// The URLs that were forgotten, in the order of their indexes.
  [[nodiscard]] const std::vector<std::string>& urls() const { return urls_; }
  /// Their indexes.
  [[nodiscard]] const std::vector<std::uint64_t>& pages() const { return pages_; }

 private:
  Result<void> find_pages(const std::function<bool(std::string_view url)>& is_meant);
  Result<void> remove_keys();
  Result<void> write_origins();
  Result<void> write_records();
  Result<void> write_links();

  container::Writer& writer_;
  PagesState& state_;
  drum::KeyTable& keys_;
  container::WorkSteps& steps_;
  ForgetReport report_;
  std::vector<bool> is_forgotten_;
  std::vector<std::uint64_t> pages_;                           // forgotten, ascending
  std::vector<std::string> urls_;                              // of these
  std::uint64_t url_bytes_ = 0;                                // of all others
  std::vector<std::pair<std::uint64_t, std::uint64_t>> gone_;  // target and source
};

/// Takes the keys of URLs out of a table of seen URLs. The caller commits.
Result<void> forget_seen(container::Writer& writer, drum::KeyTable& seen,
                         const std::vector<std::string>& urls, container::WorkSteps& steps);

}  // namespace crawlstore::pages
