// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <crawlstore/types.h>

#include "drum/drum_state.h"
#include "pages/superstep.h"
#include "rescue/page_database.h"

namespace crawlstore::rescue {

/// Makes the keys of a page database anew, from its URLs. Threads: one.
class KeysRepair {
 public:
  explicit KeysRepair(PageDatabase& database) : database_(database) {}

  /// Whether keys are damaged, or pages have lost theirs.
  [[nodiscard]] bool is_needed() const;
  /// Puts an empty DRUM into the place of the one that has the keys. It stays until the commit.
  Result<void> drop();
  /// Makes the keys of all pages, as many at a time as fit the memory, after a commit.
  Result<void> make();

 private:
  struct Key {
    Key16 key;
    pages::KeyValue value;
  };

  PageDatabase& database_;
  drum::DrumState no_keys_;
};

}  // namespace crawlstore::rescue
