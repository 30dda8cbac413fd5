// SPDX-License-Identifier: Apache-2.0
#include "model/recover_view.h"

#include <fmt/format.h>

namespace crawlstore::model {

std::string lost_part_name(LostPart part) {
  switch (part) {
    case LostPart::kCommits:
      return "commits";
    case LostPart::kTable:
      return "table";
    case LostPart::kDrum:
      return "drum";
    case LostPart::kKeys:
      return "keys";
    case LostPart::kRequests:
      return "requests";
    case LostPart::kAnswers:
      return "answers";
    case LostPart::kPages:
      return "pages";
    case LostPart::kRecords:
      return "records";
    case LostPart::kUrls:
      return "urls";
    case LostPart::kLinks:
      return "links";
    case LostPart::kEdits:
      return "edits";
    case LostPart::kScores:
      return "scores";
    case LostPart::kQueue:
      return "queue";
    case LostPart::kEntries:
      return "queued";
    case LostPart::kFrontier:
      return "frontier";
    case LostPart::kItems:
      return "items";
    case LostPart::kValues:
      return "values";
    case LostPart::kName:
      return "name";
    case LostPart::kSteps:
      return "steps";
  }
  return "unknown";
}

Document recover_view(const RecoverReport& report) {
  Document document;
  document.fields = {{"generation", Unit::kId, report.generation.value},
                     {"newest_generation", Unit::kId, report.newest.value},
                     {"commit_time_us", Unit::kTimeUs, report.commit_time_us},
                     {"is_identity_lost", Unit::kFlag, report.identity_was_lost},
                     {"read_bytes", Unit::kBytes, report.read_bytes},
                     {"damaged_run_count", Unit::kCount, report.damaged_run_count}};
  Table losses{"losses",
               {{"part", Unit::kText},
                {"name", Unit::kText},
                {"first_page", Unit::kId},
                {"end_page", Unit::kId},
                {"first_key_hex", Unit::kText},
                {"last_key_hex", Unit::kText},
                {"lost_count", Unit::kCount},
                {"code", Unit::kText},
                {"text", Unit::kText}},
               {}};
  for (const Loss& loss : report.losses) {
    const bool has_range = loss.end != 0;
    const bool is_of_keys = has_range && loss.part == LostPart::kKeys;
    const bool is_of_pages = has_range && !is_of_keys && loss.part != LostPart::kCommits &&
                             loss.part != LostPart::kSteps;
    const auto hex = [](std::uint64_t key) { return Cell{fmt::format("{:016x}", key)}; };
    losses.rows.push_back(
        {lost_part_name(loss.part), loss.name, is_of_pages ? Cell{loss.first} : Cell{},
         is_of_pages ? Cell{loss.end} : Cell{}, is_of_keys ? hex(loss.first) : Cell{},
         is_of_keys ? hex(loss.end) : Cell{}, loss.count != 0 ? Cell{loss.count} : Cell{},
         std::string(name_of(loss.error.code)), describe(loss)});
  }
  document.tables.push_back(std::move(losses));
  return document;
}

}  // namespace crawlstore::model
