// SPDX-License-Identifier: Apache-2.0
#include "container/caller_function.h"

namespace crawlstore {
namespace {

/// The innermost mark of this thread, or nullptr.
const CallerFunction*& innermost() {
  // tidy: mutable state, where a thread is belongs to no object
  thread_local const CallerFunction* mark = nullptr;
  return mark;
}

}  // namespace

CallerFunction::CallerFunction(const StoreImpl* store) noexcept
    : store_(store), outer_(innermost()) {
  innermost() = this;
}

CallerFunction::~CallerFunction() {
  innermost() = outer_;
}

bool CallerFunction::is_inside(const StoreImpl& store) noexcept {
  const CallerFunction* mark = innermost();
  while (mark != nullptr && mark->store_ != &store) mark = mark->outer_;
  return mark != nullptr;
}

}  // namespace crawlstore
