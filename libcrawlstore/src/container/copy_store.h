// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "container/reader.h"

namespace crawlstore::container {

/// Writes the reader's generation to a new file: what copy_snapshot() of the public header does.
///   errors  as there
Result<void> copy_generation(Reader& reader, const std::string& path);

/// Writes the reader's generation into an empty storage. Does not sync: create_file() does.
Result<void> copy_generation_to(Reader& reader, Storage& target);

}  // namespace crawlstore::container
