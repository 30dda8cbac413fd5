// SPDX-License-Identifier: Apache-2.0
#include "inspector/core/report.h"

#include <string>

#include <gtest/gtest.h>

#include <crawlstore/url_seen.h>

#include "model/key_text.h"
#include "support/temporary_folder.h"

namespace crawlstore::inspector {
namespace {

class Reports : public ::testing::Test {
 protected:
  void SetUp() override {
    CreateOptions options;
    options.time_us = 1'700'000'000'000'000;
    auto store = Store::create(path_, options);
    ASSERT_TRUE(store);
    auto urls = UrlSeen::open(*store, "urls | of `me`");
    ASSERT_TRUE(urls);
    for (int i = 0; i < 100; ++i) {
      ASSERT_TRUE(urls->check_update("http://secret.test/" + std::to_string(i)));
    }
    NullDispatcher nobody;
    ASSERT_TRUE(urls->drum().merge(nobody));
    ASSERT_TRUE(urls->check_update("http://secret.test/waits"));
    ASSERT_TRUE(store->commit());
    session_.file = *model::CrawlFile::open(path_);
  }

  testing::TemporaryFolder folder_;
  std::string path_ = folder_ / "x.crawl";
  Session session_;
};

void expect_holds(const std::string& text, const std::string& wanted) {
  EXPECT_NE(text.find(wanted), std::string::npos) << wanted << " is not in\n" << text;
}

TEST_F(Reports, SayWhatTheFileIsAndHolds) {
  const std::string report = make_report(session_);
  const StoreInfo& info = session_.view()->info;
  expect_holds(report, to_string(info.uuid));
  expect_holds(report, "drum_partition");
  expect_holds(report, "100");
  expect_holds(report, "2023-11-14T22:13:20Z");
  EXPECT_EQ(report.front(), '#');
  EXPECT_EQ(report.back(), '\n');
}

TEST_F(Reports, TellNoKeysAndNoUrls) {
  const std::string report = make_report(session_);
  EXPECT_EQ(report.find("secret"), std::string::npos);
  const auto& snapshot = *session_.view()->snapshot;
  const auto view = *DrumView::open(snapshot, session_.view()->drums.at(0).name);
  int key_count = 0;
  ASSERT_TRUE(view.for_each_key([&](Key16 key, std::span<const std::byte>) {
    ++key_count;
    EXPECT_EQ(report.find(model::format_key(key, false)), std::string::npos);
    return true;
  }));
  EXPECT_EQ(key_count, 100);
}

TEST_F(Reports, KeepTheirTablesWholeWithHostileNames) {
  // Every row of a Markdown table has as many cells as its head; "\|" is none.
  std::size_t bars_of_table = 0;
  const std::string report = make_report(session_);
  for (std::size_t at = 0; at < report.size();) {
    const std::size_t end = report.find('\n', at);
    const std::string line = report.substr(at, end - at);
    at = end + 1;
    std::size_t bars = 0;
    for (std::size_t i = 0; i < line.size(); ++i) {
      bars += line[i] == '|' && (i == 0 || line[i - 1] != '\\') ? 1 : 0;
    }
    if (!line.starts_with("|")) {
      bars_of_table = 0;
    } else {
      if (bars_of_table == 0) bars_of_table = bars;
      EXPECT_EQ(bars, bars_of_table) << line;
    }
  }
}

TEST_F(Reports, ListWhatAVerificationFound) {
  Checked checked;
  checked.level = VerifyLevel::kDeep;
  Error error;
  error.code = Errc::kChunkDamaged;
  error.segment = {7};
  error.offset = 0x14000;
  error.text = "the checksum is wrong";
  checked.report.findings.push_back({FindingKind::kDamaged, Generation{2}, error});
  session_.health.take(checked);
  const std::string report = make_report(session_);
  expect_holds(report, "damaged");
  expect_holds(report, "0x14000");
  checked.is_partial = true;
  session_.health.take(checked);
  EXPECT_NE(make_report(session_), report) << "half a check says so";
}

TEST(Report, ManagesWithoutAFile) {
  EXPECT_FALSE(make_report(Session{}).empty());
}

}  // namespace
}  // namespace crawlstore::inspector
