// SPDX-License-Identifier: Apache-2.0
#include "model/graph_labels.h"

#include <algorithm>
#include <vector>

#include "model/utf8.h"

namespace crawlstore::model {

std::string short_label(const EgoGraph& graph, const GraphNode& node) {
  const std::string_view label = node.label;
  const auto scheme = label.find("://");
  if (graph.is_of_hosts || scheme == label.npos) return node.label;
  const std::string_view rest = label.substr(scheme + 3);
  const auto path = rest.find_first_of("/?#");
  const bool is_first_page = path == rest.npos || path + 1 == rest.size();
  if (is_first_page || node.host != graph.nodes.front().host) return std::string(rest);
  return std::string(rest.substr(path));
}

std::string cut_middle(std::string_view text, std::size_t letters_max) {
  constexpr std::string_view kRest = "...";
  constexpr std::size_t kLettersMin = 8;
  const std::size_t letters = std::max(letters_max, kLettersMin);
  if (text.size() <= letters) return std::string(text);
  std::vector<std::size_t> starts;
  for (std::size_t at = 0; at < text.size();) {
    starts.push_back(at);
    at += std::max<std::size_t>(1, utf8_length(text.substr(at)));
  }
  if (starts.size() <= letters) return std::string(text);
  const std::size_t kept = letters - kRest.size();
  const std::size_t head = text.starts_with('/') ? 0 : kept / 3;
  const std::size_t tail = starts.size() - (kept - head);
  return std::string(text.substr(0, starts[head])) + std::string(kRest) +
         std::string(text.substr(starts[tail]));
}

}  // namespace crawlstore::model
