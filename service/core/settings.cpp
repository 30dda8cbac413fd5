// SPDX-License-Identifier: Apache-2.0
#include "service/core/settings.h"

#include <charconv>

namespace crawlstore::service {

std::string encode(const Node& node) {
  return std::to_string(node.place) + '/' + std::to_string(node.count);
}

std::optional<Node> decode_node(std::string_view text) {
  Node node;
  const char* const end = text.data() + text.size();
  const auto place = std::from_chars(text.data(), end, node.place);
  if (place.ec != std::errc() || place.ptr == end || *place.ptr != '/') return std::nullopt;
  const auto count = std::from_chars(place.ptr + 1, end, node.count);
  if (count.ec != std::errc() || count.ptr != end || node.place >= node.count) return std::nullopt;
  return node;
}

Result<Settings> read_settings(const Store& store) {
  CRAWLSTORE_TRY(const auto inactive, store.get(kInactive));
  CRAWLSTORE_TRY(const auto by_priority, store.get(kByPriority));
  CRAWLSTORE_TRY(const auto pages, store.get(kPages));
  CRAWLSTORE_TRY(const auto bytes, store.get(kNode));
  std::optional<Node> node = Node{};
  if (bytes) {
    const void* const text = bytes->data();
    node = decode_node({static_cast<const char*>(text), bytes->size()});
  }
  if (!node) return fail(Errc::kSegmentInvalid, "the node of the file has another form");
  return Settings{!inactive, by_priority.has_value(), pages.has_value(), *node};
}

Result<void> set_state(Store& store, std::string_view name, bool is_there) {
  if (is_there) return store.set(name, {});
  return store.remove(name).map([](bool) {});
}

}  // namespace crawlstore::service
