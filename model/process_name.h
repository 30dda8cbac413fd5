// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace crawlstore::model {

/// The command of a process, as the system tells it, bytes of any kind; empty = not known.
std::string process_name(std::int64_t pid);

}  // namespace crawlstore::model
