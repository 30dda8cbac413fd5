// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Rules of the commit protocol that no single crash image shows, each as a scene with a few
/// actors.

#include <span>
#include <string_view>

#include "container/commit_policy.h"

namespace crawlstore::testing {

struct ProtocolCheck {
  std::string_view name;
  /// Throws when the rule is broken.
  void (*run)(const container::CommitPolicy& policy);
};
std::span<const ProtocolCheck> protocol_checks();

}  // namespace crawlstore::testing
