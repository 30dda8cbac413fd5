// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include <crawlstore/store.h>

namespace crawlstore::service {

/// States of a service, whatever its crawls: small values of the store, empty, that are there or
/// not.
inline constexpr std::string_view kInactive = "urlfrontier.inactive";
inline constexpr std::string_view kByPriority = "urlfrontier.by-priority";
inline constexpr std::string_view kPages = "urlfrontier.pages";

struct Settings {
  bool is_active = true;        ///< URLs are given out
  bool is_by_priority = false;  ///< URLs of a queue leave by their priorities, not by date
  bool has_pages = false;       ///< URLs are pages of the page database "pages", too
};

/// Reads what was set last, committed or not. Errors: those of Store::get().
Result<Settings> read_settings(const Store& store);
/// Sets a state, for the commit to come. Errors: those of Store::set().
Result<void> set_state(Store& store, std::string_view name, bool is_there);

}  // namespace crawlstore::service
