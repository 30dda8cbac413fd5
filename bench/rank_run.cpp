// SPDX-License-Identifier: Apache-2.0
#include "rank_run.h"

#include <vector>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "rank_graphs.h"
#include "seen_run.h"

namespace crawlstore::bench {

void add_distance(nlohmann::ordered_json& line, const RankRun& run, std::span<const float> scores) {
  const std::vector<double> reference = read_scores(run.reference());
  if (reference.empty()) return;
  const Distance far = distance(scores, reference);
  line["l1_distance"] = far.l1;
  line["top_error"] = far.top_error;
}

int rank_main(int argc, char** argv,
              const std::function<nlohmann::ordered_json(const RankRun& run)>& body) {
  return guarded_main(argv, [&] {
    if (argc < 2 || argc > 3) fail("usage: FOLDER [THREADS]; rank_make makes the folder");
    RankRun run;
    run.folder = argv[1];
    if (argc == 3) run.threads = static_cast<unsigned>(parse_number(argv[2]));
    if (run.threads == 0) fail("threads begin at 1");
    nlohmann::ordered_json line = body(run);
    line["threads"] = run.threads;
    add_circumstances(line);
    fmt::print("{}\n", line.dump());
  });
}

}  // namespace crawlstore::bench
