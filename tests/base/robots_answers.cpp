// SPDX-License-Identifier: Apache-2.0
// Answers for base/robots_oracle_test.py. Reads lines {"text", "agent", "paths"}; prints for each
// the answers to its paths, the delay in milliseconds and the sitemaps.

#include <exception>
#include <iostream>
#include <string>

#include <nlohmann/json.hpp>

#include <crawlstore/robots.h>

int main() try {
  for (std::string line; std::getline(std::cin, line);) {
    const auto asked = nlohmann::json::parse(line);
    const auto rules = crawlstore::RobotsRules::parse(asked.at("text").get<std::string>(),
                                                      asked.at("agent").get<std::string>());
    nlohmann::json answer{{"sitemaps", rules.sitemaps()}, {"delay_ms", nullptr}};
    if (rules.crawl_delay_ms()) answer["delay_ms"] = *rules.crawl_delay_ms();
    for (const auto& path : asked.at("paths"))
      answer["allowed"].push_back(rules.allows(path.get<std::string>()));
    std::cout << answer.dump() << '\n';
  }
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
