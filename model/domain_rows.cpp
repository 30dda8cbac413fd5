// SPDX-License-Identifier: Apache-2.0
#include "model/domain_rows.h"

#include <algorithm>
#include <map>

#include <crawlstore/registered_domain.h>

namespace crawlstore::model {
namespace {

std::size_t place_of(const Table& table, std::string_view name) {
  const auto column = std::find_if(table.columns.begin(), table.columns.end(),
                                   [name](const Column& other) { return other.name == name; });
  return static_cast<std::size_t>(column - table.columns.begin());
}

struct DomainSum {
  std::uint64_t hosts = 0;
  std::uint64_t pages = 0;
  std::uint64_t crawled = 0;
  std::uint64_t gone = 0;
  std::uint64_t failed = 0;
};

}  // namespace

Table with_domains(Table hosts) {
  hosts.columns.insert(hosts.columns.begin() + 1, {"domain", Unit::kText});
  for (auto& row : hosts.rows) {
    row.insert(row.begin() + 1, registered_domain(std::get<std::string>(row.front())));
  }
  return hosts;
}

Table domains_table(const Table& hosts) {
  const std::size_t domain = place_of(hosts, "domain");
  const std::size_t pages = place_of(hosts, "page_count");
  const std::size_t crawled = place_of(hosts, "crawled_count");
  const std::size_t gone = place_of(hosts, "gone_count");
  const std::size_t failed = place_of(hosts, "failed_count");
  std::map<std::string, DomainSum> sums;
  for (const auto& row : hosts.rows) {
    DomainSum& sum = sums[std::get<std::string>(row[domain])];
    ++sum.hosts;
    sum.pages += std::get<std::uint64_t>(row[pages]);
    sum.crawled += std::get<std::uint64_t>(row[crawled]);
    sum.gone += std::get<std::uint64_t>(row[gone]);
    sum.failed += std::get<std::uint64_t>(row[failed]);
  }
  Table table{"domains",
              {{"domain", Unit::kText},
               {"host_count", Unit::kCount},
               {"page_count", Unit::kCount},
               {"crawled_count", Unit::kCount},
               {"crawled_share", Unit::kShare},
               {"gone_count", Unit::kCount},
               {"failed_count", Unit::kCount}},
              {}};
  for (const auto& [name, sum] : sums) {
    const double ratio = static_cast<double>(sum.crawled) / static_cast<double>(sum.pages);
    table.rows.push_back({name, sum.hosts, sum.pages, sum.crawled, ratio, sum.gone, sum.failed});
  }
  return table;
}

void sort_by_page_count(Table& table) {
  const std::size_t pages = place_of(table, "page_count");
  std::stable_sort(table.rows.begin(), table.rows.end(), [pages](const auto& a, const auto& b) {
    return std::get<std::uint64_t>(a[pages]) > std::get<std::uint64_t>(b[pages]);
  });
}

}  // namespace crawlstore::model
