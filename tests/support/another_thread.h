// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <future>
#include <utility>

namespace crawlstore::testing {

/// Calls `work` on a thread of its own, and returns when it has: what a function that the store
/// calls must not do itself.
template <class Work>
auto on_another_thread(Work&& work) {
  return std::async(std::launch::async, std::forward<Work>(work)).get();
}

}  // namespace crawlstore::testing
