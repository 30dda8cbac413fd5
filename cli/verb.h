// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The verbs of the command. Each stands in command_<verb>.cpp and is listed once, in main.cpp;
/// help, man page and completion are made from that table.

#include "cli/parser.h"

namespace crawlstore::cli {

Action define_compact(Parser& parser);
Action define_create(Parser& parser);
Action define_diff(Parser& parser);
Action define_done(Parser& parser);
Action define_dump(Parser& parser);
Action define_export(Parser& parser);
Action define_forget(Parser& parser);
Action define_frontier(Parser& parser);
Action define_import(Parser& parser);
Action define_info(Parser& parser);
Action define_inspect(Parser& parser);
Action define_links(Parser& parser);
Action define_merge(Parser& parser);
Action define_next(Parser& parser);
Action define_page(Parser& parser);
Action define_pages(Parser& parser);
Action define_pins(Parser& parser);
Action define_plan(Parser& parser);
Action define_queue(Parser& parser);
Action define_rank(Parser& parser);
Action define_recover(Parser& parser);
Action define_rollback(Parser& parser);
Action define_seen(Parser& parser);
Action define_segments(Parser& parser);
Action define_snapshot(Parser& parser);
Action define_schedule(Parser& parser);
Action define_supersteps(Parser& parser);
Action define_take(Parser& parser);
Action define_top(Parser& parser);
Action define_shards(Parser& parser);
Action define_values(Parser& parser);
Action define_verify(Parser& parser);

}  // namespace crawlstore::cli
