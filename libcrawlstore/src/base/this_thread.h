// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace crawlstore {

/// Returns a number from 1 on that no other thread of the process has, or ever had. The numbers of
/// std::thread::id are given again when their threads have ended, so that a new thread would pass
/// for one that is gone.
std::uint64_t this_thread_number();

}  // namespace crawlstore
