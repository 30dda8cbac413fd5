// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <crawlstore/drum_core.h>

#include "call.h"

namespace crawlstore::c {

/// Fills the counts of a set of URLs or keys.
inline Result<void> give_set_status(const DrumCore& set, crwl_set_status* status) {
  CRAWLSTORE_TRY(check_size(status));
  const DrumStatus now = set.status();
  crwl_set_status told{};
  told.key_bytes = set.key_bytes();
  told.key_count = now.key_count;
  told.pending_count = now.pending_count;
  told.memory_bytes = now.memory_bytes;
  give(status, told);
  return {};
}

}  // namespace crawlstore::c
