// SPDX-License-Identifier: Apache-2.0
// tests_capi FOLDER: uses every function of the C interface, in an empty folder.
#include "check.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  test_stores(argv[1]);
  test_sets(argv[1]);
  test_pages(argv[1]);
  test_scores(argv[1]);
  test_queues(argv[1]);
  test_frontiers(argv[1]);
  test_upkeep(argv[1]);
  test_values(argv[1]);
  test_arrow(argv[1]);
  test_refusals(argv[1]);
  test_random_calls(argv[1]);
  test_forks(argv[1]);
  puts("every call did what it should");
  return 0;
}
