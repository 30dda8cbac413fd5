// SPDX-License-Identifier: Apache-2.0
#include "model/plan_view.h"

namespace crawlstore::model {
namespace {

/// When logging begins; null: never.
Cell first_logged(const DrumPlan& plan) {
  if (plan.logged_request_count == 0) return {};
  return plan.first_logged_request;
}

}  // namespace

Document plan_view(const DrumForecast& forecast, const DrumPlan& plan) {
  Document document;
  document.fields = {
      {"key_count", Unit::kCount, forecast.key_count},
      {"request_count", Unit::kCount, plan.request_count},
      {"key_bytes", Unit::kBytes, std::uint64_t{forecast.key_bytes}},
      {"value_bytes", Unit::kBytes, forecast.value_bytes},
      {"aux_bytes", Unit::kBytes, forecast.aux_bytes},
      {"bucket_count", Unit::kCount, std::uint64_t{plan.bucket_count}},
      {"memory_bytes", Unit::kBytes, plan.memory_bytes},
      {"resident_bytes", Unit::kBytes, plan.resident_bytes},
      {"array_requests", Unit::kCount, plan.array_requests},
      {"merge_requests", Unit::kCount, plan.merge_requests},
      {"flight_bytes", Unit::kBytes, plan.flight_bytes},
      {"flight_buckets", Unit::kCount, plan.flight_buckets},
      {"pass_count", Unit::kCount, plan.pass_count},
      {"commit_count", Unit::kCount, plan.commit_count},
      {"logged_request_count", Unit::kCount, plan.logged_request_count},
      {"first_logged_request", Unit::kCount, first_logged(plan)},
      {"bytes_read", Unit::kBytes, plan.bytes_read},
      {"bytes_read_per_request", Unit::kRatio, plan.bytes_read_per_request},
      {"bytes_written", Unit::kBytes, plan.bytes_written},
      {"bytes_written_per_request", Unit::kRatio, plan.bytes_written_per_request},
      {"log_bytes_written", Unit::kBytes, plan.log_bytes_written},
      {"commit_bytes_written", Unit::kBytes, plan.commit_bytes_written},
      {"partition_bytes", Unit::kBytes, plan.partition_bytes},
      {"bytes_per_key", Unit::kRatio, plan.bytes_per_key},
      {"file_bytes", Unit::kBytes, plan.file_bytes},
      {"submit_seconds", Unit::kSeconds, plan.submit_seconds},
      {"merge_seconds", Unit::kSeconds, plan.merge_seconds},
      {"disk_seconds", Unit::kSeconds, plan.disk_seconds},
      {"seconds", Unit::kSeconds, plan.seconds},
      {"false_duplicate_count", Unit::kRatio, plan.false_duplicate_count},
  };
  Table reasons{"reasons", {{"why", Unit::kText}}, {}};
  for (const std::string& reason : plan.reasons) reasons.rows.push_back({reason});
  document.tables.push_back(std::move(reasons));
  return document;
}

}  // namespace crawlstore::model
