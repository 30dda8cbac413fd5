// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <crawlstore/shard.h>
#include <crawlstore/store.h>

namespace crawlstore::service {

/// States of a service, whatever its crawls: small values of the store, empty, that are there or
/// not.
inline constexpr std::string_view kInactive = "urlfrontier.inactive";
inline constexpr std::string_view kByPriority = "urlfrontier.by-priority";
inline constexpr std::string_view kPages = "urlfrontier.pages";
/// Another value: the place of the service in a list of nodes, and their count, as "1/3"; none is
/// "0/1".
inline constexpr std::string_view kNode = "urlfrontier.node";

/// The node that a file is of: it has the queues whose keys shard_of() says.
struct Node {
  std::uint32_t place = 0;
  std::uint32_t count = 1;
  [[nodiscard]] bool has(std::string_view key) const { return shard_of(key, count) == place; }
  friend bool operator==(const Node&, const Node&) = default;
};
std::string encode(const Node& node);
/// nothing: it is none
std::optional<Node> decode_node(std::string_view text);

struct Settings {
  bool is_active = true;        ///< URLs are given out
  bool is_by_priority = false;  ///< URLs of a queue leave by their priorities, not by date
  bool has_pages = false;       ///< URLs are pages of the page database "pages", too
  Node node{};
};

/// Reads what was set last, committed or not. Errors: those of Store::get(); kSegmentInvalid: a
/// value has another form.
Result<Settings> read_settings(const Store& store);
/// Sets a state, for the commit to come. Errors: those of Store::set().
Result<void> set_state(Store& store, std::string_view name, bool is_there);

}  // namespace crawlstore::service
