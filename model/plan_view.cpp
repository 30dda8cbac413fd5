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
      {"array_request_count", Unit::kCount, plan.array_request_count},
      {"merge_request_count", Unit::kCount, plan.merge_request_count},
      {"flight_bytes", Unit::kBytes, plan.flight_bytes},
      {"flight_bucket_count", Unit::kCount, plan.flight_bucket_count},
      {"pass_count", Unit::kCount, plan.pass_count},
      {"commit_count", Unit::kCount, plan.commit_count},
      {"logged_request_count", Unit::kCount, plan.logged_request_count},
      {"first_logged_request", Unit::kCount, first_logged(plan)},
      {"read_bytes", Unit::kBytes, plan.read_bytes},
      {"read_bytes_per_request", Unit::kRatio, plan.read_bytes_per_request},
      {"written_bytes", Unit::kBytes, plan.written_bytes},
      {"written_bytes_per_request", Unit::kRatio, plan.written_bytes_per_request},
      {"log_written_bytes", Unit::kBytes, plan.log_written_bytes},
      {"commit_written_bytes", Unit::kBytes, plan.commit_written_bytes},
      {"partition_bytes", Unit::kBytes, plan.partition_bytes},
      {"bytes_per_key", Unit::kRatio, plan.bytes_per_key},
      {"file_bytes", Unit::kBytes, plan.file_bytes},
      {"submit_seconds", Unit::kSeconds, plan.submit_seconds},
      {"merge_seconds", Unit::kSeconds, plan.merge_seconds},
      {"disk_seconds", Unit::kSeconds, plan.disk_seconds},
      {"seconds", Unit::kSeconds, plan.seconds},
      {"expected_false_duplicates", Unit::kRatio, plan.expected_false_duplicates},
  };
  Table reasons{"reasons", {{"why", Unit::kText}}, {}};
  for (const std::string& reason : plan.reasons) reasons.rows.push_back({reason});
  document.tables.push_back(std::move(reasons));
  return document;
}

}  // namespace crawlstore::model
