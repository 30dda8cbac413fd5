// SPDX-License-Identifier: Apache-2.0
//
// store_own_scores FILE NAME RESIDUAL  stores scores of all pages: the page that a URL of the tests
//                                      of the command ends with, modulo 7. Prints nothing.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <crawlstore/must.h>
#include <crawlstore/page_view.h>
#include <crawlstore/scores.h>

int main(int count, char** words) {
  using namespace crawlstore;
  if (count != 4) return EXIT_FAILURE;
  auto store = must(Store::open(words[1]));
  const auto pages = must(PageView::open(must(store.snapshot())));
  std::vector<float> scores;
  must(pages.for_each_page([&](const PageInfo& page) {
    const std::string number = page.url.substr(page.url.rfind('/') + 1);
    scores.push_back(static_cast<float>(std::strtoul(number.c_str(), nullptr, 10) % 7));
    return true;
  }));
  const std::vector<double> residuals{std::strtod(words[3], nullptr)};
  must(store_scores(store, words[2], pages, scores, residuals));
  must(store.close());
  return EXIT_SUCCESS;
}
