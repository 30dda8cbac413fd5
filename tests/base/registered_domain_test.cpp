// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <gtest/gtest.h>

#include <crawlstore/registered_domain.h>

#include "support/seeded.h"

namespace crawlstore {
namespace {

TEST(RegisteredDomain, IsOneLabelBelowThePublicSuffix) {
  EXPECT_EQ(registered_domain("example.com"), "example.com");
  EXPECT_EQ(registered_domain("www.example.com"), "example.com");
  EXPECT_EQ(registered_domain("a.b.c.example.co.uk"), "example.co.uk");
  EXPECT_EQ(registered_domain("www.city.kawasaki.jp"), "city.kawasaki.jp") << "an exception";
  EXPECT_EQ(registered_domain("a.b.test.ck"), "b.test.ck") << "a wildcard";
  EXPECT_EQ(registered_domain("www.example.com."), "example.com");
  EXPECT_EQ(registered_domain("www.xn--85x722f.com.cn"), "xn--85x722f.com.cn");
  EXPECT_EQ(registered_domain("www.example.nosuchdomain"), "example.nosuchdomain");
}

TEST(RegisteredDomain, IsTheHostWhereThereIsNone) {
  for (const char* host : {"", ".", "..", "com", "co.uk", "localhost", "192.0.2.1", "192.0.2.1.",
                           "[2001:db8::1]", "a..example.com", ".example.com", "0x7f.1"}) {
    EXPECT_EQ(registered_domain(host), host);
  }
  const std::string longest = std::string(251, 'a') + ".com";
  EXPECT_EQ(registered_domain(longest), longest);
}

TEST(RegisteredDomain, EndsAnyHost) {
  testing::SeededRandom random;
  for (int i = 0; i < 5000; ++i) {
    const std::string host = random.hostile_text(4) + "." + random.hostile_text(3) + "com";
    const std::string domain = registered_domain(host);
    EXPECT_LE(domain.size(), host.size());
    EXPECT_EQ(domain.empty(), host.empty());
  }
}

}  // namespace
}  // namespace crawlstore
