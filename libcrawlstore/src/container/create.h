// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <crawlstore/storage.h>

#include "format/superblock.h"

namespace crawlstore::container {

/// Writes the whole content of an empty store into an empty file: identity, generation 1 in both
/// copies of its slot, an empty root. 84 KiB. Does not sync: create_file() does.
Result<void> write_empty_store(Storage& storage, const format::Identity& identity,
                               std::int64_t time_us);

/// Returns an identity with a random uuid and key seed (getrandom).
Result<format::Identity> make_identity(std::int64_t time_us);

}  // namespace crawlstore::container
