// SPDX-License-Identifier: Apache-2.0
//
// Deep verification: a DRUM that is broken in one place, with all checksums right.
#include <gmock/gmock.h>

#include <crawlstore/tools/verify.h>

#include "container/drum_sample.h"
#include "format/endian.h"

namespace crawlstore::testing {
namespace {

using ::testing::HasSubstr;

/// The report of deep verification on the sample after `change`.
VerifyReport verified(const std::function<void(DrumSample&)>& change,
                      VerifyLevel level = VerifyLevel::kDeep) {
  const ContainerStore store;
  const auto writer = store.writer();
  auto sample = drum_sample(*writer);
  change(sample);
  put_sample(*writer, sample);
  must(writer->commit());
  return store.verified(level);
}

/// The texts of the findings, each kDamaged, kSegmentInvalid.
std::string fault(const std::function<void(DrumSample&)>& change) {
  EXPECT_EQ(text_of(verified(change, VerifyLevel::kNormal)), "") << "checksums alone are right";
  std::string text;
  for (const Finding& finding : verified(change).findings) {
    EXPECT_EQ(finding.kind, FindingKind::kDamaged);
    EXPECT_EQ(finding.error.code, Errc::kSegmentInvalid);
    EXPECT_TRUE(finding.error.segment);
    text += std::string(finding.error.text) + "\n";
  }
  return text;
}

template <class T>
void store_at(Bytes& bytes, std::size_t offset, T value) {
  format::store(bytes.data() + offset, value);
}

/// Gives a run other bytes of the same length where it stands, and the checksum that fits them.
void rewrite_in_place(container::Writer& writer, SegmentId segment, const Bytes& payload) {
  auto entry = *writer.find(segment);
  auto& run = entry.runs.front();
  ASSERT_EQ(payload.size(), run.payload_bytes);
  format::ChecksumTreeBuilder tree(container::run_name(writer.identity(), segment, run.run_id));
  for (std::size_t begin = 0; begin < payload.size(); begin += format::kChunkBytes) {
    const auto length = std::min<std::size_t>(format::kChunkBytes, payload.size() - begin);
    tree.add_chunk(std::span(payload).subspan(begin, length));
  }
  const auto tail =
      tree.finish(format::run_end(label_of(entry, run.run_id), payload.size(), run.record_count));
  must(writer.storage().write(run.offset_bytes, payload));
  must(writer.storage().write(run.offset_bytes + payload.size(), tail.bytes));
  run.checksum = tail.checksum;
  writer.put(std::move(entry));
}

TEST(VerifyDeep, FindsNothingInAWholeDrum) {
  const auto report = verified([](DrumSample&) {});
  EXPECT_EQ(text_of(report), "");
  EXPECT_EQ(report.checked_segments, 6U);
}

// spec: container.md#segments rule 1
TEST(VerifyDeep, ComparesRecordCounts) {
  EXPECT_THAT(fault([](DrumSample& sample) {
                sample.segments[kKeyLog].record_counts = {9, 11};
              }),
              HasSubstr("another number of records than the directory says"));
}

// spec: drum.md#drum rule 2
TEST(VerifyDeep, ReportsADrumThatBreaksItsRules) {
  EXPECT_THAT(fault([](DrumSample& sample) { sample.table.key_bytes = 12; }),
              HasSubstr("key length"));
  EXPECT_THAT(fault([](DrumSample& sample) { sample.table.key_bytes = 16; }),
              HasSubstr("keys have another length"));
}

// spec: drum.md#drum rule 9
TEST(VerifyDeep, MissesASegmentThatIsNamed) {
  EXPECT_THAT(fault([](DrumSample& sample) { sample.table.buckets[1].partition = {999}; }),
              HasSubstr("names a segment that does not exist"));
}

TEST(VerifyDeep, FindsASegmentThatNobodyNames) {
  EXPECT_EQ(fault([](DrumSample& sample) {
              sample.table.consumers[1].results = {};
              sample.table.consumers[1].result_count = 0;
            }),
            "no drum names this segment\n");
}

TEST(VerifyDeep, ComparesKinds) {
  EXPECT_THAT(fault([](DrumSample& sample) {
                sample.table.buckets[1].aux_log = sample.segments[kResults].id;
                sample.table.consumers[1].results = sample.segments[kAuxLog].id;
              }),
              HasSubstr("of another kind"));
}

TEST(VerifyDeep, ComparesOwners) {
  const ContainerStore store;
  const auto writer = store.writer();
  auto sample = drum_sample(*writer);
  sample.segments[kResults].owner = add_drum(*writer, "other");
  put_sample(*writer, sample);
  must(writer->commit());
  EXPECT_THAT(text_of(store.verified(VerifyLevel::kDeep)),
              HasSubstr("belongs to another drum than the one that names it"));
}

// spec: drum.md#drum rule 10
TEST(VerifyDeep, ComparesKeyCounts) {
  EXPECT_THAT(fault([](DrumSample& sample) { sample.table.buckets[0].key_count = 1501; }),
              HasSubstr("another number of keys than its bucket"));
}

TEST(VerifyDeep, ComparesPendingCounts) {
  EXPECT_THAT(fault([](DrumSample& sample) { sample.table.buckets[1].pending_count = 19; }),
              HasSubstr("another number of requests than its bucket says"));
}

TEST(VerifyDeep, ComparesResultCounts) {
  EXPECT_THAT(fault([](DrumSample& sample) { sample.table.consumers[1].result_count = 5; }),
              HasSubstr("another number of records than its consumer"));
}

// spec: drum.md#drum rule 11
TEST(VerifyDeep, FindsKeysOutsideTheirBucket) {
  EXPECT_THAT(fault([](DrumSample& sample) { sample.table.buckets[1].first_key = kSplit + 1; }),
              HasSubstr("outside the range of its bucket"));
  EXPECT_THAT(fault([](DrumSample& sample) {
                sample.segments[kKeyLog].payloads[0] = key_run_of(keys_from(8, 1, 10), 40);
              }),
              HasSubstr("outside the range of its bucket"));
}

// spec: drum.md#drum rule 12
TEST(VerifyDeep, ComparesValueLengths) {
  EXPECT_THAT(fault([](DrumSample& sample) {
                sample.segments[kPartition1].payloads[0] =
                    partition_of(keys_from(kSplit, 7, 700), 4);
              }),
              HasSubstr("values have another length"));
  EXPECT_THAT(fault([](DrumSample& sample) {
                sample.segments[kKeyLog].payloads[1] =
                    key_run_of(keys_from(kSplit, 7, 10), 60, {}, 4);
              }),
              HasSubstr("values have another length"));
}

// spec: drum.md#drum rule 13
TEST(VerifyDeep, FindsSequenceNumbersOfTheFuture) {
  EXPECT_THAT(fault([](DrumSample& sample) { sample.table.next_sequence = 69; }),
              HasSubstr("not below next_sequence"));
}

TEST(VerifyDeep, FindsSequenceNumbersThatDoNotAscend) {
  EXPECT_THAT(fault([](DrumSample& sample) {
                sample.segments[kKeyLog].payloads[1] = key_run_of(keys_from(kSplit, 7, 10), 49);
              }),
              HasSubstr("do not ascend from run to run"));
}

// spec: drum.md#drum rule 13
TEST(VerifyDeep, FindsSequenceNumbersThatTwoBucketsHave) {
  const auto with_run_in_bucket_0 = [](std::uint64_t first_sequence) {
    return [=](DrumSample& sample) {
      sample.table.consumers[1].result_count = 0;
      std::swap(sample.table.consumers[1].results, sample.table.buckets[0].key_log);
      sample.table.buckets[0].pending_count = 3;
      sample.segments[kResults].kind = SegmentKind::kDrumKeyLog;
      sample.segments[kResults].payloads = {key_run_of(keys_from(5, 1, 3), first_sequence)};
      sample.segments[kResults].record_counts = {3};
    };
  };
  for (const std::uint64_t free : {37U, 50U, 57U, 70U, 97U}) {
    EXPECT_EQ(text_of(verified(with_run_in_bucket_0(free))), "") << free;
  }
  for (const std::uint64_t taken : {38U, 49U, 58U, 69U}) {
    EXPECT_EQ(fault(with_run_in_bucket_0(taken)),
              "two waiting requests have the same sequence number\n")
        << taken;
  }
}

// spec: drum.md#drum rule 14
TEST(VerifyDeep, FindsUnknownConsumers) {
  EXPECT_THAT(fault([](DrumSample& sample) {
                sample.segments[kKeyLog].payloads[1] =
                    key_run_of(keys_from(kSplit, 7, 10), 60, {2});
              }),
              HasSubstr("a consumer that the drum does not have"));
}

TEST(VerifyDeep, FindsAnswersForAnotherConsumer) {
  EXPECT_THAT(fault([](DrumSample& sample) {
                sample.segments[kResults].payloads[0] = result_run_of(keys_from(9, 1, 4), {});
              }),
              HasSubstr("answers for another consumer"));
}

// spec: drum.md#request-runs rule 8
TEST(VerifyDeep, FindsAnAuxiliaryRunWithoutItsKeyRun) {
  EXPECT_THAT(fault([](DrumSample& sample) { sample.segments[kAuxLog].run_ids[0].value += 2; }),
              HasSubstr("has no key run"));
}

TEST(VerifyDeep, ComparesAuxiliaryRunsWithTheirKeyRuns) {
  EXPECT_THAT(fault([](DrumSample& sample) {
                sample.segments[kAuxLog].payloads[0] = aux_run_of(11);
                sample.segments[kAuxLog].record_counts[0] = 11;
              }),
              HasSubstr("another number of records than its key run"));
}

// spec: drum.md#partition rule 1
TEST(VerifyDeep, ReportsABrokenFooterAtItsPlace) {
  const auto report = verified(
      [](DrumSample& sample) { sample.segments[kPartition1].payloads[0].back() ^= std::byte{1}; });
  ASSERT_EQ(report.findings.size(), 1U) << text_of(report);
  EXPECT_EQ(report.findings[0].error.code, Errc::kSegmentInvalid);
  EXPECT_THAT(report.findings[0].error.text, HasSubstr("magic"));
}

std::uint64_t blocks_end(const Bytes& partition) {
  return format::load<std::uint64_t>(partition.data() + partition.size() - 64 + 16);
}

// spec: drum.md#partition rule 6
TEST(VerifyDeep, ComparesBlocksWithTheIndex) {
  EXPECT_THAT(fault([](DrumSample& sample) {
                Bytes& payload = sample.segments[kPartition0].payloads[0];
                const auto offsets = blocks_end(payload) + 3 * 8;
                store_at(payload, offsets + 4,
                         format::load<std::uint32_t>(payload.data() + offsets + 4) + 1);
              }),
              HasSubstr("does not end where the index says"));
}

// spec: drum.md#partition rule 8
TEST(VerifyDeep, ComparesFirstKeysWithTheIndex) {
  EXPECT_THAT(fault([](DrumSample& sample) {
                Bytes& payload = sample.segments[kPartition0].payloads[0];
                store_at(payload, blocks_end(payload) + 8, std::uint64_t{512'004});
              }),
              HasSubstr("first key of a block is not the one the index says"));
}

TEST(VerifyDeep, ComparesTheLastKeyWithTheFooter) {
  EXPECT_THAT(fault([](DrumSample& sample) {
                Bytes& payload = sample.segments[kPartition0].payloads[0];
                store_at(payload, payload.size() - 64 + 32, std::uint64_t{1'499'006});
              }),
              HasSubstr("last key of a partition"));
}

TEST(VerifyDeep, FindsKeysThatOverlapFromBlockToBlock) {
  EXPECT_THAT(fault([](DrumSample& sample) {
                auto keys = keys_from(5, 1000, 1500);
                keys[511] = keys[512] + 1;
                Bytes& payload = sample.segments[kPartition0].payloads[0];
                payload = partition_of(keys, 2);
              }),
              HasSubstr("do not ascend from block to block"));
}

TEST(VerifyDeep, ComparesTheKeysOfAllBlocksWithTheFooter) {
  EXPECT_THAT(fault([](DrumSample& sample) {
                Bytes& payload = sample.segments[kPartition0].payloads[0];
                store_at(payload, payload.size() - 64, std::uint64_t{1499});
                sample.segments[kPartition0].record_counts[0] = 1499;
                sample.table.buckets[0].key_count = 1499;
              }),
              HasSubstr("another number of keys than its footer says"));
}

// spec: drum.md#request-runs rule 4
TEST(VerifyDeep, ReportsARunThatBreaksItsRules) {
  EXPECT_THAT(
      fault([](DrumSample& sample) { sample.segments[kKeyLog].payloads[0][32] = std::byte{3}; }),
      HasSubstr("operation"));
  EXPECT_THAT(
      fault([](DrumSample& sample) { sample.segments[kAuxLog].payloads[0][16] = std::byte{8}; }),
      HasSubstr("auxiliary run"));
  EXPECT_THAT(
      fault([](DrumSample& sample) { sample.segments[kResults].payloads[0][22] = std::byte{8}; }),
      HasSubstr("result run"));
}

// spec: container.md#checksum-tree rule 3
TEST(VerifyDeep, FindsPaddingThatIsNotZero) {
  const ContainerStore store;
  const auto writer = store.writer();
  const SegmentId blob = add_blob(*writer, add_drum(*writer), 64, 1);
  auto entry = *writer->find(blob);
  auto& run = entry.runs.front();
  const auto tree = format::checksum_tree(run.payload_bytes);
  must(writer->storage().write(run.offset_bytes + 4000, random_bytes(4, 1)));
  run.checksum = format::checksum(
      read_bytes(writer->storage(), run.offset_bytes + tree.top().offset_bytes,
                 tree.top().length_bytes),
      format::chunk_seed(container::run_name(writer->identity(), blob, run.run_id), 1, 0));
  writer->put(entry);
  must(writer->commit());
  EXPECT_THAT(text_of(store.verified()), HasSubstr("padding of a run is not zero"));
}

TEST(VerifyDeep, ChecksThePreviousGenerationAsWell) {
  const ContainerStore store;
  const auto writer = store.writer();
  auto sample = drum_sample(*writer);
  sample.table.next_sequence = 69;
  put_sample(*writer, sample);
  must(writer->commit());
  sample.table.next_sequence = 100;
  const auto run = must(container::write_run(*writer, container::new_run(*writer, sample.id),
                                             format::encode_drum_table(sample.table), 1));
  writer->put({sample.id, SegmentKind::kDrum, StorageClass::kBlob, {}, "sample", {run}});
  must(writer->commit());
  const auto report = store.verified(VerifyLevel::kDeep);
  EXPECT_FALSE(report.damaged()) << text_of(report);
  ASSERT_EQ(report.findings.size(), 1U);
  EXPECT_EQ(report.findings[0].generation.value, 2U);
}

/// The bytes in the place of a run are damage for the previous generation and whole for the newest,
/// which is where its rules count.
TEST(VerifyDeep, ChecksWhatThePreviousGenerationKnowsByAnotherChecksum) {
  const ContainerStore store;
  const auto writer = store.writer();
  const auto sample = drum_sample(*writer);
  put_sample(*writer, sample);
  must(writer->commit());
  const auto& partition = sample.segments[kPartition1];
  Bytes payload = partition.payloads[0];
  payload.back() ^= std::byte{1};
  rewrite_in_place(*writer, partition.id, payload);
  must(writer->commit());
  const auto report = store.verified(VerifyLevel::kDeep);
  ASSERT_EQ(report.findings.size(), 2U) << text_of(report);
  EXPECT_EQ(report.findings[0].kind, FindingKind::kDamaged);
  EXPECT_EQ(report.findings[0].generation.value, 3U);
  EXPECT_THAT(report.findings[0].error.text, HasSubstr("magic"));
  EXPECT_EQ(report.findings[1].kind, FindingKind::kReducedRedundancy);
  EXPECT_EQ(report.findings[1].error.code, Errc::kChunkDamaged);
}

/// The findings of a sample whose first partition has `counts` records, generation by generation.
std::string counted(std::initializer_list<std::uint64_t> counts) {
  const ContainerStore store;
  const auto writer = store.writer();
  const auto sample = drum_sample(*writer);
  put_sample(*writer, sample);
  for (const std::uint64_t count : counts) {
    auto entry = *writer->find(sample.segments[kPartition0].id);
    entry.runs.front().record_count = count;
    writer->put(std::move(entry));
    must(writer->commit());
  }
  std::string kinds;
  for (const Finding& finding : store.verified(VerifyLevel::kDeep).findings) {
    kinds += finding.kind == FindingKind::kDamaged ? 'd' : 'r';
  }
  return kinds;
}

// spec: container.md#segments rule 1
TEST(VerifyDeep, ComparesRecordCountsInEachGeneration) {
  EXPECT_EQ(counted({1500, 1500}), "");
  EXPECT_EQ(counted({1500, 1499}), "ddd") << "of the run's end, of the run, of the bucket";
  EXPECT_EQ(counted({1499, 1500}), "rrr");
}

}  // namespace
}  // namespace crawlstore::testing
