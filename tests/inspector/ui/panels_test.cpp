// SPDX-License-Identifier: Apache-2.0
// Every panel over every golden file, and over files damaged at random.
#include <cstring>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <crawlstore/tools/verify.h>

#include "golden/patch.h"
#include "inspector/inspector_file.h"
#include "support/bytes.h"
#include "support/seeded.h"

namespace crawlstore::testing {
namespace {

using inspector::HeadlessShell;
using inspector::panel_kinds;

void visit_every_panel(HeadlessShell& shell) {
  for (const auto& kind : panel_kinds()) {
    run_step(shell, "goto", std::string(kind.id));
    EXPECT_EQ(shell.app().location().panel, kind.id);
    EXPECT_FALSE(shell.app().probe().items().empty());
  }
}

TEST(Panels, ShowEveryValidFile) {
  for (const std::string& path : golden_paths("valid")) {
    SCOPED_TRACE(path);
    HeadlessShell shell({});
    open_file(shell, path);
    ASSERT_NE(shell.app().session().view(), nullptr);
    visit_every_panel(shell);
    run_step(shell, "command", "verify_deep");
    EXPECT_FALSE(shell.app().session().health.is_damaged());
  }
}

/// The segment that stands for all that are damaged together with `id`: its owner; of page
/// databases, their parts and the DRUMs of their keys, which name one another, the first database.
SegmentId whole_of(const std::vector<SegmentInfo>& segments, SegmentId id) {
  const auto named = std::ranges::find(segments, id, &SegmentInfo::id);
  const SegmentId top = named == segments.end() || !named->owner ? id : named->owner;
  const auto owner = std::ranges::find(segments, top, &SegmentInfo::id);
  if (owner == segments.end()) return top;
  if (owner->kind != SegmentKind::kDrum && owner->kind != SegmentKind::kPages) return top;
  const auto pages = std::ranges::find(segments, SegmentKind::kPages, &SegmentInfo::kind);
  return pages == segments.end() ? top : pages->id;
}

/// Expects the findings of verify on the screen.
void expect_problems_named(HeadlessShell& shell, const std::string& path) {
  const auto report = verify(path, {VerifyLevel::kDeep, {}});
  if (!report || report->findings.empty()) return;
  run_step(shell, "command", "verify_deep");
  ASSERT_TRUE(shell.app().session().health.checked());
  // Panels may tell more of what is damaged, but of nothing else.
  const auto& segments = shell.app().session().view()->segments;
  const auto& problems = shell.app().session().health.problems();
  EXPECT_GE(problems.size(), report->findings.size());
  for (const Finding& problem : problems) {
    const SegmentId whole = whole_of(segments, problem.error.segment);
    EXPECT_TRUE(std::ranges::any_of(report->findings, [&](const Finding& finding) {
      return whole_of(segments, finding.error.segment) == whole;
    })) << describe(problem);
  }
  EXPECT_TRUE(shell.app().probe().shows(name_of(report->findings.front().error.code)))
      << name_of(report->findings.front().error.code);
}

TEST(Panels, SayWhatIsWrongWithEveryRejectedFile) {
  SeededRandom random;
  for (const std::string& path : golden_paths("rejected")) {
    if (!is_long() && !random.one_in(8)) continue;
    SCOPED_TRACE(path);
    HeadlessShell shell({});
    open_file(shell, path);
    visit_every_panel(shell);
    if (shell.app().session().view() == nullptr) {
      run_step(shell, "goto", "start");
      EXPECT_EQ(shell.app().session().log.front().severity, inspector::Severity::kBad);
    } else {
      expect_problems_named(shell, path);
    }
  }
}

/// Flips, overwrites, swaps, cuts.
std::vector<std::byte> damage(std::vector<std::byte> bytes, Random& random) {
  const std::size_t count = 1 + random.below(8);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = random.below(bytes.size());
    const std::size_t length = std::min<std::size_t>(1 + random.below(4096), bytes.size() - at);
    const std::size_t other = random.below(bytes.size() - length + 1);
    switch (random.below(4)) {
      case 0:
        bytes[at] ^= static_cast<std::byte>(1U << random.below(8));
        break;
      case 1:
        std::memset(bytes.data() + at, static_cast<int>(random.below(256)), length);
        break;
      case 2:
        std::memmove(bytes.data() + other, bytes.data() + at, length);
        break;
      default:
        if (random.below(4) == 0) bytes.resize(at + 1);
        break;
    }
  }
  return bytes;
}

// acceptance: 8
TEST(Panels, SurviveFilesThatAreDamagedAnywhere) {
  SeededRandom random;
  const auto sources = golden_paths("valid");
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/damaged.crawl";
  const std::size_t count = is_long() ? 5000 : 80;
  for (std::size_t i = 0; i < count; ++i) {
    SCOPED_TRACE(i);
    const auto bytes = damage(file_bytes(sources[random.below(sources.size())]), random);
    put_file(path, bytes);
    HeadlessShell shell({800, 500, {}});
    open_file(shell, path);
    visit_every_panel(shell);
    if (shell.app().session().view() != nullptr) expect_problems_named(shell, path);
  }
}

/// No window manager gives less, and at twice the scale there is no room for anything.
TEST(Panels, AreDrawnInTheSmallestWindow) {
  for (const auto& kind : inspector::panel_kinds()) {
    SCOPED_TRACE(kind.id);
    HeadlessShell shell({800, 500, {}});
    open_file(shell, golden("keys_and_pending"));
    run_step(shell, "goto", std::string(kind.id) + "/offset/0");
    for (int i = 0; i < 4; ++i) run_step(shell, "key", "Ctrl+=");
    for (const char* size : {"800 500", "500 800", "200 900", "900 150", "200 150"}) {
      run_step(shell, "size", size);
    }
    EXPECT_EQ(shell.app().location().panel, kind.id);
  }
}

/// Its sizes were no numbers there, and a frame around what was selected led out of a table of
/// ImGui's.
TEST(MapPanel, FramesEachExtentWhereNoRoomIsLeft) {
  HeadlessShell shell({800, 500, {}});
  open_file(shell, golden("keys_and_pending"));
  run_step(shell, "goto", "map");
  for (int i = 0; i < 4; ++i) run_step(shell, "key", "Ctrl+=");
  for (std::uint64_t offset = 0; offset < 143'360; offset += 4096) {
    run_step(shell, "goto", "map/offset/" + std::to_string(offset));
    EXPECT_TRUE(shell.app().probe().shows("a cell is"));
  }
}

}  // namespace
}  // namespace crawlstore::testing
