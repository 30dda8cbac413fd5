// SPDX-License-Identifier: Apache-2.0
#include "model/verify_view.h"

#include <string>

namespace crawlstore::model {
namespace {

std::string level_name(VerifyLevel level) {
  switch (level) {
    case VerifyLevel::kQuick:
      return "quick";
    case VerifyLevel::kDeep:
      return "deep";
    case VerifyLevel::kNormal:
      break;
  }
  return "normal";
}

std::string kind_name(FindingKind kind) {
  switch (kind) {
    case FindingKind::kDamaged:
      return "damaged";
    case FindingKind::kUnfinished:
      return "unfinished";
    case FindingKind::kReducedRedundancy:
      break;
  }
  return "reduced_redundancy";
}

}  // namespace

std::string_view health_name(const VerifyReport& report) {
  if (report.damaged()) return "damaged";
  return report.whole() ? "whole" : "reduced_redundancy";
}

std::string_view glance_of(const VerifyReport& report) {
  if (report.damaged()) return "superblocks or directory damaged; `verify` tells where";
  return report.whole()
             ? "superblocks and directory whole; `verify` reads the rest"
             : "superblocks and directory with reduced redundancy; `verify` reads the rest";
}

Table findings_table(const std::vector<Finding>& findings) {
  Table table{"findings",
              {{"kind", Unit::kText},
               {"generation", Unit::kId},
               {"code", Unit::kText},
               {"segment", Unit::kId},
               {"offset_bytes", Unit::kOffset},
               {"text", Unit::kText}},
              {}};
  for (const Finding& finding : findings) {
    const Error& error = finding.error;
    table.rows.push_back(
        {kind_name(finding.kind),
         finding.generation.value == 0 ? Cell{} : Cell{finding.generation.value},
         std::string(name_of(error.code)), error.segment ? Cell{error.segment.value} : Cell{},
         error.offset == Error::kNoOffset ? Cell{} : Cell{error.offset}, describe(finding)});
  }
  return table;
}

Document verify_view(const VerifyReport& report, VerifyLevel level) {
  return {{{"health", Unit::kText, std::string(health_name(report))},
           {"level", Unit::kText, level_name(level)},
           {"generation_count", Unit::kCount, report.generations},
           {"checked_segment_count", Unit::kCount, report.checked_segments},
           {"checked_bytes", Unit::kBytes, report.checked_bytes}},
          {findings_table(report.findings)}};
}

}  // namespace crawlstore::model
