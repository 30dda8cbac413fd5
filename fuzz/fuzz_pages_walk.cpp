// SPDX-License-Identifier: Apache-2.0
//
// Invariants checked: in a store of pages with patches anywhere,
//   - verify, describe, a snapshot's every question, a page database's every page, link and edit,
//     and a writer that adds, merges, forgets and compacts end, and touch no memory that is not
//     theirs;
//   - what deep verify finds whole can be walked and written without an error.
//
// Input: what damaged() of store_image.h takes.

#include "store_image.h"
#include "store_walk.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace crawlstore;
  static const fuzz::StoreImage kImage(fuzz::Content::kPages);
  if (size != 0) fuzz::check_file(fuzz::damaged(kImage, {data, size}), fuzz::write_pages);
  return 0;
}
