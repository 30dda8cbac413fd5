// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The makers of the panels; the list is in panels.cpp.

#include <memory>

#include "inspector/ui/panel.h"

namespace crawlstore::inspector {

std::unique_ptr<Panel> make_start_panel();
std::unique_ptr<Panel> make_overview_panel();
std::unique_ptr<Panel> make_segments_panel();
std::unique_ptr<Panel> make_map_panel();
std::unique_ptr<Panel> make_hex_panel();
std::unique_ptr<Panel> make_buckets_panel();
std::unique_ptr<Panel> make_pages_panel();
std::unique_ptr<Panel> make_page_panel();
std::unique_ptr<Panel> make_hosts_panel();
std::unique_ptr<Panel> make_links_panel();
std::unique_ptr<Panel> make_scores_panel();
std::unique_ptr<Panel> make_queue_panel();
std::unique_ptr<Panel> make_frontier_panel();
std::unique_ptr<Panel> make_graph_panel();
std::unique_ptr<Panel> make_events_panel();
std::unique_ptr<Panel> make_generations_panel();
std::unique_ptr<Panel> make_problems_panel();
std::unique_ptr<Panel> make_diff_panel();
std::unique_ptr<Panel> make_jobs_panel();
std::unique_ptr<Panel> make_log_panel();
std::unique_ptr<Panel> make_keys_panel();
std::unique_ptr<Panel> make_report_panel();
std::unique_ptr<Panel> make_shards_panel();

}  // namespace crawlstore::inspector
