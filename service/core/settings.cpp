// SPDX-License-Identifier: Apache-2.0
#include "service/core/settings.h"

namespace crawlstore::service {

Result<Settings> read_settings(const Store& store) {
  CRAWLSTORE_TRY(const auto inactive, store.get(kInactive));
  CRAWLSTORE_TRY(const auto by_priority, store.get(kByPriority));
  CRAWLSTORE_TRY(const auto pages, store.get(kPages));
  return Settings{!inactive, by_priority.has_value(), pages.has_value()};
}

Result<void> set_state(Store& store, std::string_view name, bool is_there) {
  if (is_there) return store.set(name, {});
  return store.remove(name).map([](bool) {});
}

}  // namespace crawlstore::service
