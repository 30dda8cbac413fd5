// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The two ways in which create_file() of the public header makes its file; tests reach both here.

#include <cstdint>
#include <string>

#include <crawlstore/storage.h>

namespace crawlstore::io {

/// kNameless: O_TMPFILE and linkat, so that a crash leaves nothing; needs the file system's help
/// and /proc. kNamed: a temporary name and a rename that never replaces; a crash can leave the
/// temporary, `.<name>.crawlstore-<random>.tmp`. kBest: the first where it works, else the second.
enum class TemporaryKind : std::uint8_t { kBest, kNameless, kNamed };

Result<void> create_file_with(const std::string& path, TemporaryKind kind,
                              Result<void> (*fill)(Storage&, void* context), void* context);

}  // namespace crawlstore::io
