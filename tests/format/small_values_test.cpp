// SPDX-License-Identifier: Apache-2.0
#include "format/small_values.h"

#include <gtest/gtest.h>

#include "format/field.h"
#include "format/value_samples.h"

namespace crawlstore::format {
namespace {

using namespace crawlstore::testing;

TEST(SmallValues, GiveTheirNamesAndBytes) {
  const Bytes payload = sample_values();
  ASSERT_EQ(payload.size(), 56u);
  const auto values = parse_values(payload);
  ASSERT_TRUE(values) << values.error().text;
  ASSERT_EQ(values->size(), 3u);
  EXPECT_EQ((*values)[0].name, ".next");
  EXPECT_EQ((*values)[1].name, "pages");
  EXPECT_EQ((*values)[1].bytes.size(), 8u);
  EXPECT_EQ((*values)[1].bytes.data(), payload.data() + 16 + 12 + 7 + 5);
  EXPECT_EQ((*values)[2].name, "x");
  EXPECT_TRUE((*values)[2].bytes.empty());
}

// spec: values.md#small-values rule 1
// spec: values.md#small-values rule 2
// spec: values.md#small-values rule 3
// spec: values.md#small-values rule 4
// spec: values.md#small-values rule 5
TEST(SmallValues, KeepOrBreakTheRuleOfTheirName) {
  const std::map<std::string, std::string> texts = {
      {"rule_1_magic", "the magic number of values is wrong"},
      {"rule_1_reserved", "reserved bytes of values are not zero"},
      {"rule_1_length_of_value", "the values do not fit their length"},
      {"rule_1_lengths_beyond_the_end", "the values do not fit their length"},
      {"rule_1_longer", "the values do not fit their length"},
      {"rule_1_header", "the length of values is out of range"},
      {"rule_2_none", "the count of values is out of range"},
      {"rule_2_too_many", "the count of values is out of range"},
      {"rule_3_empty_name", "the name of a value is not valid"},
      {"rule_3_control_character", "the name of a value is not valid"},
      {"rule_3_long_name", "the name of a value is not valid"},
      {"rule_3_same_name", "the names of values do not ascend"},
      {"rule_3_order", "the names of values do not ascend"},
      {"rule_4_long_value", "a value is too long"},
      {"rule_5_padding", "padding of values is not zero"},
  };
  for (const auto& [name, payload] : sample_value_payloads()) {
    const auto values = parse_values(payload);
    const auto text = texts.find(name);
    if (text == texts.end()) {
      ASSERT_TRUE(values) << name << ": " << values.error().text;
      EXPECT_EQ(encode_values(*values), payload) << name;
    } else {
      ASSERT_FALSE(values) << name;
      EXPECT_EQ(values.error().text, text->second) << name;
      EXPECT_LT(values.error().offset, payload.size()) << name;
    }
  }
}

TEST(SmallValues, HaveAHeaderOfThreeFields) {
  const auto fields = describe_values_header(sample_values());
  ASSERT_EQ(fields.size(), 3u);
  EXPECT_EQ(fields[1].name, "value_count");
  EXPECT_EQ(fields[1].value, "3");
}

}  // namespace
}  // namespace crawlstore::format
