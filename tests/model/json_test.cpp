// SPDX-License-Identifier: Apache-2.0
#include "model/json.h"

#include <string>
#include <string_view>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace crawlstore::model {
namespace {

using namespace std::string_literals;

// One pair, as an object of its own.
std::string pair_of(std::string_view bytes) {
  std::string text = "{";
  append_json_bytes(text, "url", bytes);
  return text + "}";
}

TEST(ToJson, KeepsTheOrderOfFields) {
  const Document document{
      {{"zebra", Unit::kCount, std::uint64_t{1}}, {"ape", Unit::kText, "x"s}},
      {{"rows", {{"b", Unit::kBytes}, {"a", Unit::kOffset}}, {{std::uint64_t{2}, Cell{}}}}}};
  EXPECT_EQ(to_json(document), R"({
  "zebra": 1,
  "ape": "x",
  "rows": [
    {
      "b": 2,
      "a": null
    }
  ]
}
)");
}

TEST(ToJson, GivesTimesTwice) {
  const Document document{{{"commit_time_us", Unit::kTimeUs, std::int64_t{1'700'000'000'000'000}},
                           {"other_us", Unit::kTimeUs, Cell{}}},
                          {}};
  const auto json = nlohmann::json::parse(to_json(document));
  EXPECT_EQ(json["commit_time_us"], 1'700'000'000'000'000);
  EXPECT_EQ(json["commit_time"], "2023-11-14T22:13:20Z");
  EXPECT_TRUE(json["other"].is_null());
}

TEST(ToJson, KeepsNumbersExact) {
  const Document document{{{"big", Unit::kCount, ~std::uint64_t{0}}}, {}};
  EXPECT_EQ(nlohmann::json::parse(to_json(document))["big"], ~std::uint64_t{0});
}

TEST(ToJson, StaysUtf8WhateverTheText) {
  const Document document{{{"name", Unit::kText, "\xFF\xFE"s}}, {}};
  EXPECT_EQ(nlohmann::json::parse(to_json(document)), (nlohmann::json{{"name_hex", "fffe"}}));
}

TEST(AppendJsonBytes, EscapesControlsAndQuotes) {
  EXPECT_EQ(pair_of("http://h/\"\\\t\n\r\x01\x7F"),
            R"({"url":"http://h/\"\\\u0009\u000a\u000d\u0001\u007f"})");
}

TEST(AppendJsonBytes, RoundTripsEveryByte) {
  for (int first = 0; first < 256; ++first) {
    for (const int second : {0x00, 0x41, 0x80, 0xBF, 0xC3, 0xFF}) {
      const std::string bytes{static_cast<char>(first), static_cast<char>(second)};
      const auto json = nlohmann::json::parse(pair_of(bytes));
      std::string back;
      if (json.contains("url")) {
        back = json["url"];
      } else {
        const std::string digits = json["url_hex"];
        for (std::size_t i = 0; i < digits.size(); i += 2) {
          back += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
        }
      }
      EXPECT_EQ(back, bytes);
    }
  }
}

}  // namespace
}  // namespace crawlstore::model
