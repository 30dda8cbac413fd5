// SPDX-License-Identifier: Apache-2.0
#include "model/drum_plan.h"

#include <algorithm>
#include <cmath>
#include <string>

#include <crawlstore/tools/merge_rules.h>

#include "model/bucket_choice.h"
#include "model/file_forecast.h"
#include "model/format_sizes.h"
#include "model/merge_forecast.h"

namespace crawlstore::model {
namespace {

/// More keys are not planned for.
constexpr std::uint64_t kKeysMax = std::uint64_t{1} << 40;
constexpr std::uint64_t kRequestsMax = std::uint64_t{1} << 44;
/// Times that all requests may fill the memory.
constexpr double kMemoriesMax = 1000;
/// Beside arrays and merges: program, buffers of reading and writing; and, while flights are large
/// enough to need them, their partitions and answers on the way.
constexpr std::uint64_t kProcessBytes = std::uint64_t{8} << 20;
constexpr std::uint64_t kFlightBuffersMax = std::uint64_t{8} << 20;
constexpr std::uint64_t kBucketBytes = 1024;
constexpr std::uint64_t kMergesInMemory = 2;

Result<void> check_forecast(const DrumForecast& forecast) {
  if (forecast.key_count == 0 || forecast.key_count > kKeysMax) {
    return fail(Errc::kInvalidArgument, "key_count must be from 1 to 2^40");
  }
  if (forecast.request_count > kRequestsMax) {
    return fail(Errc::kInvalidArgument, "request_count must be at most 2^44");
  }
  if (forecast.request_count != 0 && forecast.request_count < forecast.key_count) {
    return fail(Errc::kInvalidArgument, "there must be a request for each key");
  }
  if (forecast.key_bytes != 8 && forecast.key_bytes != 16) {
    return fail(Errc::kInvalidArgument, "keys have 8 or 16 bytes");
  }
  if (forecast.value_bytes > kValueBytesMax) {
    return fail(Errc::kInvalidArgument, "a value has at most 16 MiB");
  }
  if (forecast.aux_bytes > kAuxBytesMax) {
    return fail(Errc::kInvalidArgument, "an auxiliary has at most 64 MiB");
  }
  if (!(forecast.aux_stored_share > 0 && forecast.aux_stored_share <= 1)) {
    return fail(Errc::kInvalidArgument, "aux_stored_share must be above 0 and at most 1");
  }
  if (forecast.disk_read_bytes_per_second == 0 || forecast.disk_write_bytes_per_second == 0) {
    return fail(Errc::kInvalidArgument, "the disk must read and write something");
  }
  if (forecast.bucket_count > kBucketsMax) {
    return fail(Errc::kInvalidArgument, "bucket_count must be at most 65536");
  }
  return {};
}

Result<void> check_memory(const MergeWorkload& workload) {
  const std::uint64_t flight = workload.memory_bytes / drum::kFlightShare;
  if (flight < std::max(drum::kArrayBytesMin, workload.request_bytes())) {
    return fail(Errc::kInvalidArgument,
                "the memory is too small for one array; give at least 64 KiB, and 16 requests");
  }
  const double memory = static_cast<double>(workload.memory_bytes);
  const double requests = workload.request_count * static_cast<double>(workload.request_bytes());
  if (requests / memory > kMemoriesMax) {
    return fail(Errc::kInvalidArgument,
                "the repository would be passed over a thousand times; give more memory: at least "
                "a thousandth of what all requests have together");
  }
  return {};
}

MergeWorkload workload_of(const DrumForecast& forecast) {
  MergeWorkload workload;
  workload.key_count = static_cast<double>(forecast.key_count);
  workload.request_count = forecast.request_count != 0 ? static_cast<double>(forecast.request_count)
                                                       : 4 * workload.key_count;
  workload.memory_bytes = forecast.memory_bytes;
  workload.key_bytes = forecast.key_bytes;
  workload.value_bytes = forecast.value_bytes;
  workload.aux_bytes = forecast.aux_bytes;
  workload.aux_stored_share = forecast.aux_stored_share;
  workload.read_bytes_per_second = static_cast<double>(forecast.disk_read_bytes_per_second);
  workload.write_bytes_per_second = static_cast<double>(forecast.disk_write_bytes_per_second);
  workload.bucket_count = forecast.bucket_count;
  return workload;
}

std::string rounded(double number) {
  return std::to_string(whole(number));
}

/// The sentences about the number of buckets.
void explain_buckets(const MergeWorkload& workload, const BucketChoice& choice, bool is_given,
                     DrumPlan& plan) {
  const std::string keys = rounded(workload.key_count / workload.bucket_count);
  if (is_given) {
    plan.reasons.push_back("The number of buckets was given.");
  } else if (choice.has_small_partitions) {
    plan.reasons.push_back("So many buckets save time, though " + keys +
                           " keys a partition are few: their padding is up to 3 % of the file.");
  } else {
    plan.reasons.push_back("Of all powers of two that leave each partition at least " +
                           std::to_string(kPartitionKeysMin) + " keys (this one: " + keys +
                           "), so many buckets take the least time.");
  }
  if (plan.merge_request_count > kCachedRequests) {
    plan.reasons.push_back("A merge sorts " + std::to_string(plan.merge_request_count) +
                           " requests: more than the second-level cache holds, which costs up to "
                           "twice the time.");
  } else if (plan.merge_request_count != 0) {
    plan.reasons.push_back("A merge sorts " + std::to_string(plan.merge_request_count) +
                           " requests: they fit the second-level cache.");
  }
}

void explain_merges(const MergeWorkload& workload, DrumPlan& plan) {
  if (plan.pass_count == 1) {
    plan.reasons.push_back("All requests fit the memory: the repository is written once.");
  }
  if (plan.logged_request_count != 0) {
    plan.reasons.push_back(
        "After " + std::to_string(plan.first_logged_request) +
        " requests the repository is so much larger than the memory that requests are logged "
        "until a merge pays: once their bytes are twice those of the partitions.");
    plan.reasons.push_back("Without logs the memory would have to hold about " +
                           rounded(static_cast<double>(plan.partition_bytes) / 2.6 / 1048576 + 1) +
                           " MiB.");
  } else if (plan.pass_count > 1) {
    plan.reasons.push_back(
        "No request is logged: an array brings at least two thirds of the bytes of the partition "
        "that it is merged with.");
  }
  const double others = std::max(plan.submit_seconds, plan.merge_seconds);
  if (plan.disk_seconds > others) {
    plan.reasons.push_back("The disk decides on the time, if the system's cache holds nothing.");
  } else if (plan.merge_seconds > plan.submit_seconds) {
    plan.reasons.push_back("The thread that merges decides on the time.");
  } else {
    plan.reasons.push_back("The thread that submits and dispatches decides on the time.");
  }
  if (plan.expected_false_duplicates >= 0.5 && workload.key_count > 1) {
    plan.reasons.push_back(
        "About " + rounded(plan.expected_false_duplicates) +
        " keys will be taken for others: 64 bits are few for so many; with 16-byte "
        "keys none would be.");
  }
}

}  // namespace

Result<DrumPlan> plan_drum(const DrumForecast& forecast) {
  CRAWLSTORE_TRY(check_forecast(forecast));
  MergeWorkload workload = workload_of(forecast);
  CRAWLSTORE_TRY(check_memory(workload));
  BucketChoice choice{forecast.bucket_count, false};
  if (forecast.bucket_count == 0) choice = choose_buckets(workload);
  workload.bucket_count = choice.bucket_count;
  const MergeForecast foreseen = forecast_merges(workload);

  DrumPlan plan;
  plan.bucket_count = choice.bucket_count;
  plan.memory_bytes = forecast.memory_bytes;
  plan.request_count = whole(workload.request_count);
  plan.array_request_count = whole(foreseen.array_requests);
  plan.merge_request_count = whole(foreseen.merge_requests);
  plan.flight_bytes = drum::flight_bytes(forecast.memory_bytes);
  plan.flight_bucket_count = whole(foreseen.flight_buckets);
  plan.pass_count = foreseen.pass_count;
  plan.commit_count = whole(foreseen.commit_count);
  plan.logged_request_count = whole(foreseen.logged_requests);
  plan.first_logged_request = whole(foreseen.first_logged_request);
  plan.read_bytes = whole(foreseen.bytes_read);
  plan.written_bytes = whole(foreseen.bytes_written);
  plan.log_written_bytes = whole(foreseen.log_bytes);
  plan.commit_written_bytes = whole(foreseen.commit_bytes);
  plan.read_bytes_per_request = foreseen.bytes_read / workload.request_count;
  plan.written_bytes_per_request = foreseen.bytes_written / workload.request_count;
  plan.partition_bytes = whole(foreseen.partition_bytes);
  plan.bytes_per_key = foreseen.partition_bytes / workload.key_count;
  plan.file_bytes = whole(foreseen.file_bytes);
  plan.submit_seconds = foreseen.submit_seconds;
  plan.merge_seconds = foreseen.merge_seconds;
  plan.disk_seconds = foreseen.disk_seconds;
  plan.seconds = foreseen.seconds;
  plan.expected_false_duplicates =
      std::ldexp(workload.key_count * workload.key_count, forecast.key_bytes == 8 ? -65 : -129);

  const double arrays =
      std::min(static_cast<double>(forecast.memory_bytes),
               workload.request_count * static_cast<double>(workload.request_bytes()));
  const double merge_bytes = static_cast<double>(drum::kMergeBytesPerRequest) *
                             std::max(foreseen.merge_requests, foreseen.last_merge_requests);
  plan.resident_bytes = whole(arrays + merge_bytes * kMergesInMemory) + kProcessBytes +
                        std::min(forecast.memory_bytes, kFlightBuffersMax) +
                        plan.bucket_count * kBucketBytes;
  explain_buckets(workload, choice, forecast.bucket_count != 0, plan);
  explain_merges(workload, plan);
  return plan;
}

}  // namespace crawlstore::model
