// SPDX-License-Identifier: Apache-2.0
#include "model/domain_rows.h"

#include <gtest/gtest.h>

namespace crawlstore::model {
namespace {

Table hosts_of(const std::vector<std::pair<std::string, std::uint64_t>>& hosts) {
  Table table{"hosts",
              {{"host", Unit::kText},
               {"page_count", Unit::kCount},
               {"crawled_count", Unit::kCount},
               {"gone_count", Unit::kCount},
               {"failed_count", Unit::kCount}},
              {}};
  for (const auto& [host, count] : hosts) {
    table.rows.push_back({host, count, std::uint64_t{1}, std::uint64_t{0}, std::uint64_t{2}});
  }
  return table;
}

TEST(DomainRows, SumUpTheHostsOfADomain) {
  const auto hosts =
      with_domains(hosts_of({{"b.example.org", 3}, {"x.net", 9}, {"example.org", 1}}));
  EXPECT_EQ(hosts.columns[1].name, "domain");
  auto domains = domains_table(hosts);
  using Row = std::vector<Cell>;
  const Row example{
      std::string("example.org"), std::uint64_t{2}, std::uint64_t{4}, std::uint64_t{2}, 0.5,
      std::uint64_t{0},           std::uint64_t{4}};
  ASSERT_EQ(domains.rows.size(), 2U);
  EXPECT_EQ(domains.rows[0], example);
  EXPECT_EQ(example.size(), domains.columns.size());
  sort_by_page_count(domains);
  EXPECT_EQ(domains.rows[1], example);
}

TEST(DomainRows, AreNoneOfNoHosts) {
  EXPECT_TRUE(domains_table(with_domains(hosts_of({}))).rows.empty());
}

}  // namespace
}  // namespace crawlstore::model
