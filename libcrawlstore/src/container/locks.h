// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Locks that clang checks with -Wthread-safety: a function says which it requires, a member which
/// guards it. Other compilers see nothing of it.

#include <mutex>

#include "container/turn.h"

#if defined(__clang__)
#define CRAWLSTORE_LOCKING(...) __attribute__((__VA_ARGS__))
#else
#define CRAWLSTORE_LOCKING(...)
#endif

namespace crawlstore {

/// A kind of lock. Parts reach one mutex by several ways, which clang cannot tell to be the same:
/// so annotations name its role.
class CRAWLSTORE_LOCKING(capability("role")) LockRole {
 public:
  /// Tells clang that this thread holds such a lock where it cannot see it: in lambdas, and after
  /// StoreImpl::AllLocked, which takes as many as there are parts.
  void assert_held() const CRAWLSTORE_LOCKING(assert_capability(this)) {}
};
inline constexpr LockRole kPartMutex;  ///< Participant::mutex
inline constexpr LockRole kStoreTurn;  ///< StoreImpl::turn

/// Holds the mutex of a part.
class CRAWLSTORE_LOCKING(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(std::recursive_mutex& mutex) CRAWLSTORE_LOCKING(acquire_capability(kPartMutex))
      : lock_(mutex) {}
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;
  ~MutexLock() CRAWLSTORE_LOCKING(release_capability()) = default;

 private:
  const std::lock_guard<std::recursive_mutex> lock_;
};

/// Holds the turn of a store.
class CRAWLSTORE_LOCKING(scoped_lockable) TurnLock {
 public:
  explicit TurnLock(Turn& turn) CRAWLSTORE_LOCKING(acquire_capability(kStoreTurn)) : lock_(turn) {}
  TurnLock(const TurnLock&) = delete;
  TurnLock& operator=(const TurnLock&) = delete;
  ~TurnLock() CRAWLSTORE_LOCKING(release_capability()) = default;

 private:
  const std::lock_guard<Turn> lock_;
};

}  // namespace crawlstore
