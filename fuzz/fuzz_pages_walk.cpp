// SPDX-License-Identifier: Apache-2.0
//
// Invariants checked: in a store of pages with patches anywhere,
//   - verify, describe, a snapshot's every question, a page database's every page, link and edit,
//   and
//     a writer that adds, merges, forgets and compacts end, and touch no memory that is not theirs;
//   - what deep verify finds whole can be walked and written without an error.
//
// Input: what damaged() of store_image.h takes.

#include <crawlstore/inspect.h>
#include <crawlstore/verify.h>

#include "store_image.h"
#include "store_walk.h"

namespace {

using namespace crawlstore;

std::unique_ptr<Storage> open_file(const std::vector<std::byte>& bytes, OpenMode mode) {
  return open_memory_storage(make_memory_file(bytes, std::uint64_t{1} << 23), mode);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fuzz::StoreImage kImage(fuzz::Content::kPages);
  if (size == 0) return 0;
  const auto bytes = fuzz::damaged(kImage, {data, size});

  const std::shared_ptr<Storage> file = open_file(bytes, OpenMode::kRead);
  const auto report = verify(*file, {VerifyLevel::kDeep, {}});
  const bool whole = report && report->findings.empty();
  (void)describe_file(*file, {.entries_max = 8});
  for (std::uint64_t offset = 0; offset < bytes.size(); offset += 20'480) {
    (void)describe_at(*file, offset, {.entries_max = 8});
  }
  const bool walked = fuzz::walk(file);
  const bool written = fuzz::write_pages(open_file(bytes, OpenMode::kWrite));
  fuzz::require(!whole || (walked && written));
  return 0;
}
