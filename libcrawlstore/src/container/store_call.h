// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

#include "container/store_impl.h"

namespace crawlstore {

/// A public call that runs functions of the caller. Keeps what it works on until it ends, whatever
/// becomes of the handles meanwhile, and then closes those that went inside
/// (StoreImpl::finish_gone()). It begins before all locks are taken, and ends after them.
class StoreCall {
 public:
  /// A call that runs no function so far: hold() comes before the first.
  StoreCall() = default;
  explicit StoreCall(std::shared_ptr<StoreImpl> store) : store_(std::move(store)) {}
  explicit StoreCall(std::shared_ptr<Participant> part) : part_(std::move(part)) {}
  StoreCall(const StoreCall&) = delete;
  StoreCall& operator=(const StoreCall&) = delete;
  ~StoreCall() {
    if (part_ != nullptr) store_ = part_->store;
    if (store_ != nullptr && store_->has_gone_here()) store_->finish_gone();
  }

  void hold(Participant& part) { part_ = part.shared_from_this(); }

 private:
  std::shared_ptr<StoreImpl> store_;
  std::shared_ptr<Participant> part_;
};

}  // namespace crawlstore
