// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <utility>

namespace crawlstore {

struct StoreImpl;

/// Marks, while it lives, that this thread is inside a function of the caller that a store or one
/// of its parts calls: progress, reports, normalisers. Inside, StoreImpl::check_outside() refuses
/// what would change the store under the call that is under way. Threads: each has its own marks,
/// which nest.
class CallerFunction {
 public:
  explicit CallerFunction(const StoreImpl* store) noexcept;
  CallerFunction(const CallerFunction&) = delete;
  CallerFunction& operator=(const CallerFunction&) = delete;
  ~CallerFunction();

  /// Whether this thread is inside a function that the store calls.
  [[nodiscard]] static bool is_inside(const StoreImpl& store) noexcept;

 private:
  const StoreImpl* const store_;
  const CallerFunction* const outer_;
};

/// Returns `function` as the store calls it: marked. Both must outlive the result, which is empty
/// if `function` is.
template <class Returned, class... Arguments>
std::function<Returned(Arguments...)> called_by(
    const StoreImpl& store, const std::function<Returned(Arguments...)>& function) {
  if (!function) return {};
  return [&store, &function](Arguments... arguments) {
    const CallerFunction inside(&store);
    return function(std::forward<Arguments>(arguments)...);
  };
}

}  // namespace crawlstore
