// SPDX-License-Identifier: Apache-2.0
#include "format/frontier_field.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "format/format_samples.h"
#include "format/frontier_table.h"
#include "format/group_samples.h"
#include "format/item_samples.h"
#include "format/step_samples.h"

namespace crawlstore::format {
namespace {

using namespace crawlstore::testing;

/// One line a field: how deep it is, its name, type, place, value and problem.
std::string lines_of(const Fields& fields) {
  std::string text;
  for (const Field& field : fields) {
    text += std::string(field.depth * 1UL, '.') + field.name + ' ' + field.type + ' ' +
            std::to_string(field.offset_bytes) + '+' + std::to_string(field.length_bytes);
    if (!field.value.empty()) text += ' ' + field.value;
    if (!field.problem.empty()) text += " !" + field.problem;
    text += '\n';
  }
  return text;
}

std::span<const std::byte> part_of(const Bytes& bytes, std::size_t offset, std::size_t length) {
  return std::span(bytes).subspan(offset, length);
}

TEST(FrontierField, NamesEveryFieldOfAGroupRun) {
  const Bytes bytes = sample_group_run();
  EXPECT_EQ(
      lines_of(describe_group_run(bytes)),
      "magic hex64 0+8 0x315350554f524743\nfirst_group u32 8+4 9\ngroup_count u32 12+4 3\n"
      "key_bytes u64 16+8 5\ncodec u16 24+2 0\nreserved zeros 26+6\nblock_count u64 32+8 0\n");
  const auto run = parse_group_run(bytes);
  ASSERT_TRUE(run);
  EXPECT_EQ(lines_of(describe_group_columns(*run, bytes, 9)),
            "key_lengths list 40+6 3\n.key_lengths[9] u16 40+2 3\n.key_lengths[10] u16 42+2 0\n"
            ".key_lengths[11] u16 44+2 2\nkeys list 48+5 3\n.keys[9] string 48+3 a.b\n"
            ".keys[10] string 51+0\n.keys[11] string 51+2 cd\n");
  EXPECT_EQ(lines_of(describe_group_columns(*run, bytes, 1)),
            "key_lengths list 40+6 3\n.key_lengths[9] u16 40+2 3\nkeys list 48+5 3\n"
            ".keys[9] string 48+3 a.b\n");
}

TEST(FrontierField, ShowsCompressedKeysAtTheirBlocks) {
  const Bytes bytes = sample_group_payloads().at("lz4_block");
  const auto run = parse_group_run(bytes);
  ASSERT_TRUE(run);
  EXPECT_EQ(lines_of(describe_group_columns(*run, bytes, 9)),
            "key_lengths list 40+2 1\n.key_lengths[0] u16 40+2 25\nblock_lengths list 48+4 1\n"
            ".block_lengths[0] u32 48+4 11\nkeys list 56+11 1\n"
            ".keys[0] string 56+11 aaaaaaaaaaaaaaaaaaaabcdef\n");
  const Bytes hosts = sample_group_payloads().at("hosts");
  const auto many = parse_group_run(hosts);
  ASSERT_TRUE(many);
  const Fields fields = describe_group_columns(*many, hosts, 4000);
  const auto& lengths = many->blocks.lengths;
  ASSERT_EQ(lengths.size(), 2U);
  EXPECT_EQ(fields.back().length_bytes, lengths[1]);
  EXPECT_EQ(fields.back().value, "host27993.example.org");
  EXPECT_TRUE(std::ranges::any_of(fields, [&](const Field& field) {
    return field.name.starts_with("keys[") && field.length_bytes == lengths[0] + lengths[1];
  })) << "a key that lies in both blocks";
}

TEST(FrontierField, NamesEveryFieldOfABlockByGroup) {
  const Bytes bytes = encoded_item_run(sample_item_blocks());
  EXPECT_EQ(lines_of(describe_item_block(part_of(bytes, 0, 62), 3)),
            "lowest_order hex64 0+8 0x400fffffffffffff\nlowest_id u64 8+8 5\n"
            "lowest_time u64 16+8 0\nlowest_group u32 24+4 0\nshortest_body u32 28+4 1\n"
            "body_bytes u32 32+4 5\norder_shift u8 36+1 51\norder_bytes u8 37+1 1\n"
            "id_bytes u8 38+1 1\ntime_bytes u8 39+1 0\ngroup_bytes u8 40+1 0\n"
            "length_bytes u8 41+1 1\ncodec u16 42+2 0\nreserved zeros 44+4\n"
            "orders bytes 48+3 3 of 1 byte\nids bytes 51+3 3 of 1 byte\n"
            "lengths bytes 54+3 3 of 1 byte\nbodies bytes 57+5 5 bytes\n");
}

TEST(FrontierField, NamesTheColumnsOfABlockByTime) {
  const Bytes bytes = encoded_item_run({sample_timed_items()});
  const std::string lines = lines_of(describe_item_block(part_of(bytes, 0, 72), 3));
  EXPECT_EQ(lines.substr(lines.find("orders ")),
            "orders bytes 48+3 3 of 1 byte\nids bytes 51+3 3 of 1 byte\n"
            "times bytes 54+9 3 of 3 bytes\ngroups bytes 63+3 3 of 1 byte\n"
            "lengths bytes 66+3 3 of 1 byte\nbodies bytes 69+3 3 bytes\n");
  const Bytes long_bodies = encoded_item_run({sample_long_items()});
  const Fields packed = describe_item_block(part_of(long_bodies, 0, 70), 2);
  EXPECT_EQ(packed.back().value, "96 bytes in LZ4");
}

TEST(FrontierField, ShowsAsMuchOfABlockAsThereIs) {
  const Bytes bytes = encoded_item_run({sample_timed_items()});
  EXPECT_EQ(describe_item_block(part_of(bytes, 0, 60), 3).back().name, "ids");
  EXPECT_EQ(describe_item_block(part_of(bytes, 0, 47), 3).back().name, "codec");
  EXPECT_EQ(describe_item_block(part_of(bytes, 0, 72), ~0U).back().name, "reserved");
  EXPECT_TRUE(describe_item_block({}, 3).empty());
}

TEST(FrontierField, NamesEveryFieldOfTheEndOfAnItemRun) {
  const Bytes bytes = encoded_item_run(sample_item_blocks());
  EXPECT_EQ(lines_of(describe_item_directory(part_of(bytes, 119, 4), 9)),
            "directory[0] struct 0+2\n.group leb128 0+1 3\n.item_count leb128 1+1 4\n"
            "directory[1] struct 2+2\n.group leb128 2+1 10\n.item_count leb128 3+1 1\n");
  EXPECT_EQ(lines_of(describe_item_place(part_of(bytes, 128, 8))),
            "stored_bytes u32 0+4 62\nitem_count u32 4+4 3\n");
  EXPECT_EQ(lines_of(describe_item_footer(std::span(bytes).last(56))),
            "item_count u64 0+8 5\nblock_bytes u64 8+8 119\ndirectory_bytes u64 16+8 4\n"
            "body_bytes u64 24+8 8\ngroup_count u32 32+4 2\nblock_count u32 36+4 2\n"
            "flags hex32 40+4 0x0\nreserved zeros 44+4\nmagic hex64 48+8 0x314e524d45544943\n");
}

TEST(FrontierField, ShowsThePartOfADirectoryThatIsAskedFor) {
  Bytes directory;
  for (const std::uint64_t number : {300U, 200U, 0U, 1U, 5U, 9U}) append_leb128(number, directory);
  EXPECT_EQ(lines_of(describe_item_directory(directory, 1, 4)),
            "directory[1] struct 4+2\n.group leb128 4+1 301\n.item_count leb128 5+1 1\n");
  EXPECT_EQ(lines_of(describe_item_directory(part_of(directory, 0, 5), 9)),
            "directory[0] struct 0+4\n.group leb128 0+2 300\n.item_count leb128 2+2 200\n");
}

TEST(FrontierField, NamesEveryFieldOfTheHeaderOfSteps) {
  EXPECT_EQ(lines_of(describe_step_run(part_of(sample_piece(), 0, 40))),
            "magic hex64 0+8 0x314e525045545343\nfirst_step u64 8+8 7\nstep_count u64 16+8 8\n"
            "first_group u32 24+4 2\nend_group u32 28+4 6\nflags hex32 32+4 0x1\n"
            "reserved zeros 36+4\n");
}

/// The fields of each step, without places: "put group=0 id=900 ...".
std::string steps_of(const Bytes& payload) {
  std::string text;
  for (const Field& field : describe_steps(payload, 99)) {
    if (field.depth == 1) text += "\n" + field.value;
    const bool is_shown = field.depth > 1 && field.name != "kind" && field.name != "length";
    if (is_shown) text += " " + field.name + "=" + field.value;
    EXPECT_EQ(field.problem, "");
  }
  return text;
}

TEST(FrontierField, NamesEveryNumberOfAJournal) {
  EXPECT_EQ(steps_of(sample_journal()), R"(
clock time=1700000000000
group key=a.test
group
put group=0 id=900 priority=0.5 time=0 body=/page
put group=4294967294 id=901 priority=-inf time=281474976710655
lease until=0
visit group=0 count=2 check=1801
finish ids=5 ids[0]=900 ids[1]=901 ids[2]=3 ids[3]=9223372036854775807 ids[4]=0
back id=5 time=77 is_failure=1
extend id=5 until=281474976710655
remove group=9 id=70
update group=9 id=71 priority=0 time=5 has_body=1 body=/page
update group=9 id=72 priority=1e-300 time=0 has_body=0
update group=9 id=72 priority=3 time=0 has_body=1
rule group=3 mask=511 soft_ms=281474976710655 hard_ms=none burst=4294967295 in_flight_max=4)"
                                        " put_max=9223372036854775807 finished_max=0"
                                        " blocked_until=12 is_active=1 parent=4294967294"
                                        R"(
rule group=3 mask=258 hard_ms=0 parent=none
drop group=1
stored run_id=17
joined run_id=19 others=3 others[0]=2 others[1]=300 others[2]=18446744073709551615)");
}

TEST(FrontierField, NamesEveryNumberOfAPiece) {
  EXPECT_EQ(steps_of(sample_piece()), R"(
rule group=2 mask=129 soft_ms=none is_active=0
times group=2 soft_time=1 hard_time=281474976710655 failures=3
counts group=3 put_count=0 finished_count=9223372036854775807
leased group=4 id=11 priority=-1 until=0 attempt=1 body=/page
again group=4 id=10 priority=0 time=9 attempt=4294967295
left group=5 runs=3 runs[0]= run_id=1 count=1 runs[1]= run_id=9 count=9223372036854775807)"
                                      " runs[2]= run_id=18446744073709551615 count=300"
                                      R"(
put group=5 id=3 priority=2 time=4 body=/page
gone group=5 run_id=7 number=2)");
}

TEST(FrontierField, KnowsWhereTheNumbersOfAStepLie) {
  const std::vector<std::uint64_t> ids{300, 301};
  const Bytes body = bytes_of("hi");
  const Bytes payload = step_run(kSampleJournal, {PutStep{2, 300, 0.5, 0, body}, FinishStep{ids}});
  EXPECT_EQ(lines_of(describe_steps(payload, 9)),
            "steps list 40+16 2\n.steps[7] struct 40+11 put\n..kind u8 40+1 3 (put)\n"
            "..length leb128 41+1 9\n..group leb128 42+1 2\n..id leb128 43+2 300\n"
            "..priority leb128 45+3 0.5\n..time leb128 48+1 0\n..body string 49+2 hi\n"
            ".steps[8] struct 51+4 finish\n..kind u8 51+1 6 (finish)\n..length leb128 52+1 2\n"
            "..ids list 53+2 2\n...ids[0] leb128 53+1 300\n...ids[1] leb128 54+1 301\n");
  EXPECT_EQ(describe_steps(payload, 1).back().name, "body");
}

TEST(FrontierField, ShowsAtMostAsManyEntriesAsAsked) {
  const std::vector<std::uint64_t> ids{300, 301, 302};
  const Bytes payload = step_run(kSampleJournal, {FinishStep{ids}, RemoveStep{1, 310}});
  const std::string lines = lines_of(describe_steps(payload, 2));
  EXPECT_EQ(lines.find("ids[2]"), std::string::npos);
  EXPECT_NE(lines.find("..ids list 42+4 3\n"), std::string::npos) << lines;
  EXPECT_NE(lines.find("..id leb128 49+1 310\n"), std::string::npos) << lines;
}

TEST(FrontierField, ShowsStepsAsFarAsTheyGo) {
  const auto last_of = [](const char* name) {
    const Fields fields = describe_steps(sample_step_payloads().at(name), 9);
    return fields.empty() ? std::string() : lines_of({fields.back()});
  };
  EXPECT_EQ(last_of("rule_1_empty"), "");
  EXPECT_EQ(last_of("rule_5_unknown"), "..rest bytes 42+1 !bytes are left over\n");
  EXPECT_EQ(last_of("rule_6_cut"), "..length leb128 41+1 9\n");
  EXPECT_EQ(last_of("rule_6_length"), "..kind u8 40+1 1 (clock)\n");
  EXPECT_EQ(last_of("rule_6_number"), "..rest bytes 42+2 !not a number in its shortest form\n");
  EXPECT_EQ(last_of("rule_6_left_over"), "..rest bytes 43+1 !bytes are left over\n");
  EXPECT_EQ(last_of("rule_7_body"), "..body bytes 48+65537 65537 bytes\n");
}

TEST(FrontierField, TakesBytesThatAreCutOffAnywhere) {
  for (const Bytes& payload : {sample_journal(), sample_piece()}) {
    const Fields whole = describe_steps(payload, 99);
    for (std::size_t length = 0; length < payload.size(); ++length) {
      const Bytes cut(payload.begin(), payload.begin() + static_cast<std::ptrdiff_t>(length));
      EXPECT_LE(describe_steps(cut, 99).size(), whole.size());
    }
  }
}

TEST(FrontierField, SaysTextAsTextAndOthersByLength) {
  EXPECT_EQ(lines_of({text_field("body", 7, bytes_of("a b"))}), "body string 7+3 a b\n");
  EXPECT_EQ(lines_of({text_field("body", 7, bytes_of("\n"))}), "body bytes 7+1 1 byte\n");
  EXPECT_EQ(lines_of({text_field("body", 7, Bytes(1001, std::byte{'a'}))}),
            "body bytes 7+1001 1001 bytes\n");
}

FrontierTable sample_table() {
  FrontierTable table;
  table.has_own_ids = true;
  table.groups = {5};
  table.items = {6};
  table.steps = {7};
  table.group_count = 40;
  table.waiting_count = 900;
  table.leased_count = 12;
  table.next_id = 1000;
  table.step_count = 70;
  table.clock_ms = 1'700'000'000'000;
  table.default_rule = {4000, 1000, 3, 2, 500, 400};
  table.runs = {{{3}, 1, 0}, {{8}, 20, 70}};
  table.pieces = {{14}, {12}};
  table.pages = "pages";
  return table;
}

TEST(FrontierField, NamesEveryFieldOfATable) {
  const auto bytes = encode_frontier_table(sample_table());
  std::string text;
  for (const Field& field : describe_frontier(bytes, 9)) {
    text += std::string(field.depth * 1UL, '.') + field.name + "=" + field.value + " ";
    if (field.type != "u64" || field.length_bytes == 0) continue;
    const auto stored = load<std::uint64_t>(bytes.data() + field.offset_bytes);
    EXPECT_EQ(std::to_string(stored), field.value) << field.name;
  }
  EXPECT_EQ(text,
            "flags=1 groups=5 items=6 steps=7 group_count=40 waiting_count=900 leased_count=12 "
            "next_id=1000 step_count=70 clock_ms=1700000000000 soft_ms=4000 hard_ms=1000 burst=3 "
            "in_flight_max=2 put_max=500 finished_max=400 runs=2 .runs[0]= ..run_id=3 "
            "..first_step=1 ..last_step=0 .runs[1]= ..run_id=8 ..first_step=20 ..last_step=70 "
            "pieces=2 .pieces[0]=14 .pieces[1]=12 pages=pages ");
}

TEST(FrontierField, ShowsDefaultsOfATable) {
  const Fields fields = describe_frontier(encode_frontier_table({}), 9);
  const auto value_of = [&](const char* name) {
    return std::ranges::find(fields, name, &Field::name)->value;
  };
  EXPECT_EQ(value_of("burst"), "1");
  EXPECT_EQ(value_of("put_max"), "18446744073709551615");
  EXPECT_EQ(value_of("pieces"), "0");
  const Bytes none(64);
  EXPECT_EQ(lines_of(describe_frontier(none, 9)),
            "payload bytes 0+64 !not a FlatBuffer of its schema\n");
}

}  // namespace
}  // namespace crawlstore::format
