// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <crawlstore/storage.h>
#include <crawlstore/store.h>

#include "format/superblock.h"

namespace crawlstore::container {

/// Writes the whole content of an empty store into an empty file: identity, generation 1 in both
/// copies of its slot, an empty root. 84 KiB. Does not sync: create_file() does.
Result<void> write_empty_store(Storage& storage, const format::Identity& identity,
                               std::int64_t time_us, std::uint64_t features = 0);

/// The same as the options say; what they leave open is random, and of now.
///   features  more bits of features_incompat
Result<void> write_new_store(Storage& storage, const CreateOptions& options,
                             std::uint64_t features = 0);

/// Returns an identity with a random uuid and key seed (getrandom).
Result<format::Identity> make_identity(std::int64_t time_us);

}  // namespace crawlstore::container
