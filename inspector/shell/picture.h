// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Pictures as PNG files.

#include <string>

#include "inspector/core/picture.h"

namespace crawlstore::inspector {

/// Writes `path` atomically. Returns what went wrong; empty = nothing.
std::string write_png(const Picture& picture, const std::string& path);
/// An empty picture when there is none that can be read.
Picture read_png(const std::string& path);

}  // namespace crawlstore::inspector
