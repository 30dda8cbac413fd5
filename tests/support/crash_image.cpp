// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "support/crash_images.h"

namespace crawlstore::testing {
namespace {

const char* name_of(LengthChoice length) {
  switch (length) {
    case LengthChoice::kAsApplied:
      return "as applied";
    case LengthChoice::kDisk:
      return "as durable";
    case LengthChoice::kCache:
      return "as seen";
  }
  return "?";
}

const char* name_of(Fill fill) {
  switch (fill) {
    case Fill::kZero:
      return "zero";
    case Fill::kOnes:
      return "0xFF";
    case Fill::kStale:
      return "stale";
  }
  return "?";
}

/// One letter a sector: old, new, F for 0xFF, ~ for noise.
std::string letters(const std::vector<SectorState>& sectors) {
  std::string text;
  for (const SectorState state : sectors) text += "onF~"[static_cast<std::size_t>(state)];
  return text;
}

std::string describe_fate(const Variant& variant, std::size_t effect_index) {
  switch (variant.effects[effect_index]) {
    case Presence::kAbsent:
      return "absent ";
    case Presence::kPresent:
      return "present";
    case Presence::kTorn:
      break;
  }
  const auto tear = std::find_if(variant.tears.begin(), variant.tears.end(),
                                 [&](const Tear& one) { return one.effect_index == effect_index; });
  return tear == variant.tears.end() ? "torn" : "torn " + letters(tear->sectors);
}

std::string describe_effect(const Effect& effect, const OperationLog& log) {
  static constexpr const char* kKinds[] = {"data of", "growth of", "", ""};
  std::string text = kKinds[static_cast<std::size_t>(effect.kind)];
  if (!text.empty()) text += ' ';
  return text + "#" + std::to_string(effect.operation_index) + " " +
         testing::describe(log.operations[effect.operation_index]);
}

}  // namespace

std::vector<std::string_view> CrashImage::marks() const {
  std::vector<std::string_view> found;
  for (std::size_t index = 0; index < point; ++index) {
    const Operation& operation = log->operations[index];
    if (operation.kind == OperationKind::kMark) found.emplace_back(operation.mark);
  }
  return found;
}

std::string CrashImage::describe() const {
  std::string text = "crash image " + std::to_string(ordinal) + ": before #" +
                     std::to_string(point) + " of " + std::to_string(log->operations.size()) +
                     ", " + std::to_string(bytes.size()) + " bytes, length " +
                     name_of(variant->length) + ", fill " + name_of(variant->fill) +
                     ", last mark \"" + std::string(last_mark) + "\"\n";
  for (std::size_t index = 0; index < effects->size(); ++index) {
    text += "  " + describe_fate(*variant, index) + "  " +
            describe_effect((*effects)[index], *log) + "\n";
  }
  return text;
}

}  // namespace crawlstore::testing
