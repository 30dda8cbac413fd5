// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The memory that this process may use. It is the least of what the machine has, what its control
/// groups (v1 and v2, with all groups above) allow, and what `ulimit -v` and `-d` leave.

#include <cstdint>
#include <string>

namespace crawlstore::cli {

/// `root`: where /proc and /sys/fs/cgroup are looked for; tests have their own.
std::uint64_t memory_limit_bytes(const std::string& root = "");

/// The default budget: a quarter of that, at least 1 MiB.
std::uint64_t default_memory_bytes();

}  // namespace crawlstore::cli
