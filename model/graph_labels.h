// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Short names of the nodes of a graph, for where there is little room: the part that tells them
/// apart. Threads: pure functions; any.

#include <cstddef>
#include <string>
#include <string_view>

#include "model/ego_graph.h"

namespace crawlstore::model {

/// The label of a page is its URL without the scheme, and on the host of the centre without the
/// host: "/a/b". The first page of a host keeps the host. Hosts, and pages without URLs, have their
/// label.
std::string short_label(const EgoGraph& graph, const GraphNode& node);

/// At most so many letters: of a longer text a third of them from its beginning, the others from
/// its end, where URLs of one site differ, and "..." for what is between them; of a path, which
/// begins with a slash, the end alone. At least 8 letters stay. Bytes that are no UTF-8 count as a
/// letter each.
std::string cut_middle(std::string_view text, std::size_t letters_max);

}  // namespace crawlstore::model
