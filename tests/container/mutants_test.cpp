// SPDX-License-Identifier: Apache-2.0
//
// T10 of spec/features.md: each decision of the commit protocol, turned wrong, is caught; as it is,
// nothing is found. A mutant may also die of an assertion: it runs in a process of its own.
#include <algorithm>
#include <array>
#include <cstdio>
#include <functional>
#include <string>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "container/crash_workloads.h"
#include "container/protocol_checks.h"
#include "support/crash_images.h"
#include "support/seeded.h"

namespace crawlstore::testing {
namespace {

using container::CommitPolicy;

struct Mutant {
  std::string_view name;
  void (*apply)(CommitPolicy& policy);
};

#define CRAWLSTORE_TURN_OFF(field)                                   \
  Mutant {                                                           \
    "no " #field, [](CommitPolicy& policy) { policy.field = false; } \
  }

constexpr auto kMutants = std::to_array<Mutant>({
    CRAWLSTORE_TURN_OFF(settle_first),
    CRAWLSTORE_TURN_OFF(settle_syncs_before),
    CRAWLSTORE_TURN_OFF(settle_sync_first),
    CRAWLSTORE_TURN_OFF(settle_sync_second),
    CRAWLSTORE_TURN_OFF(settle_raises_pass),
    CRAWLSTORE_TURN_OFF(settle_passes_differ),
    CRAWLSTORE_TURN_OFF(settle_mends_other_slot),
    CRAWLSTORE_TURN_OFF(check_lost_pins),
    CRAWLSTORE_TURN_OFF(sync_data),
    CRAWLSTORE_TURN_OFF(sync_superblock),
    CRAWLSTORE_TURN_OFF(superblock_last),
    CRAWLSTORE_TURN_OFF(write_second_copy),
    CRAWLSTORE_TURN_OFF(alternate_slots),
    {"reuse_lag 0", [](CommitPolicy& policy) { policy.reuse_lag = 0; }},
    {"reuse_lag 2", [](CommitPolicy& policy) { policy.reuse_lag = 2; }},
    CRAWLSTORE_TURN_OFF(respect_pins),
    CRAWLSTORE_TURN_OFF(born_inclusive),
    CRAWLSTORE_TURN_OFF(ask_after_publish),
    CRAWLSTORE_TURN_OFF(list_retired_root),
    CRAWLSTORE_TURN_OFF(list_retired_tables),
    CRAWLSTORE_TURN_OFF(list_retired_runs),
    CRAWLSTORE_TURN_OFF(keep_born),
    CRAWLSTORE_TURN_OFF(poison_after_failed_sync),
    CRAWLSTORE_TURN_OFF(look_after_first_sync),
    CRAWLSTORE_TURN_OFF(reread_after_settle),
    CRAWLSTORE_TURN_OFF(look_before_reserve),
    CRAWLSTORE_TURN_OFF(look_before_write),
    CRAWLSTORE_TURN_OFF(look_before_draft),
    CRAWLSTORE_TURN_OFF(look_before_publish),
    CRAWLSTORE_TURN_OFF(look_after_publish),
    CRAWLSTORE_TURN_OFF(lock_before_read),
    CRAWLSTORE_TURN_OFF(rollback_keeps_born),
    CRAWLSTORE_TURN_OFF(rollback_unholds),
    CRAWLSTORE_TURN_OFF(publish_passes_differ),
    CRAWLSTORE_TURN_OFF(refuse_hidden_slot),
    CRAWLSTORE_TURN_OFF(verify_directory_checksum),
    CRAWLSTORE_TURN_OFF(reread_after_pin),
    CRAWLSTORE_TURN_OFF(allocate_really),
});

#undef CRAWLSTORE_TURN_OFF

/// Tells the parent where it is: a line each, the last one counts.
class Progress {
 public:
  explicit Progress(int descriptor) : descriptor_(descriptor) {}
  void say(const std::string& text) const {
    const std::string line = text.substr(0, text.find('\n')) + "\n";
    if (::write(descriptor_, line.data(), line.size()) < 0) ::_exit(2);
  }

 private:
  int descriptor_;
};

bool survives_images(const CommitPolicy& policy, const CrashWorkload& workload,
                     const Progress& progress) {
  Scenario scenario(policy);
  progress.say("the workload: " + std::string(workload.name));
  workload.record(scenario);
  const OperationLog log = scenario.recorder().log();
  if (const Fault fault = check_allocated(log)) {
    progress.say("the workload: " + std::string(workload.name) + ": " + *fault);
    return false;
  }
  progress.say("images of: " + std::string(workload.name));
  OracleOptions options;
  options.policy = policy;
  options.damaged_generation = scenario.damaged_generation;
  options.fallback_digest = scenario.fallback_digest;
  options.verify_every = 16;
  CrashOracle oracle(log, options);
  CrashBudget budget;
  budget.subset_effects_max = 6;
  budget.pairs_max = 20;
  budget.random_count = 20;
  budget.tears_per_write = 2;
  return CrashImages(log, budget).enumerate([&](const CrashImage& image) {
    const Fault fault = oracle.check(image.bytes, image.point);
    if (fault) progress.say("images of: " + std::string(workload.name) + ": " + *fault);
    return !fault;
  });
}

/// Whether it is one of three by seed; in the long run all are.
bool has_its_turn(std::string_view name) {
  return is_long() || (std::hash<std::string_view>()(name) + test_seed()) % 3 == 0;
}

/// Everything that may catch a mutant, the quick ones first. Returns whether it got through.
bool survives(const CommitPolicy& policy, bool is_as_it_is, const Progress& progress) {
  try {
    for (const ProtocolCheck& check : protocol_checks()) {
      progress.say("the check: " + std::string(check.name));
      check.run(policy);
    }
    for (const CrashWorkload& workload : writer_workloads()) {
      // tests_crash has all images of the policy as it is.
      if (is_as_it_is && !has_its_turn(workload.name)) continue;
      if (!survives_images(policy, workload, progress)) return false;
    }
  } catch (const std::exception& error) {
    progress.say(std::string("    ") + error.what());
    return false;
  }
  return true;
}

struct Verdict {
  bool killed = false;
  std::string by;
};

std::string read_lines(int descriptor) {
  std::string text;
  std::array<char, 4096> buffer{};
  for (;;) {
    const ssize_t got = ::read(descriptor, buffer.data(), buffer.size());
    if (got <= 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

/// The last line, with the one before it when it only continues it.
std::string last_words(std::string text) {
  if (!text.empty()) text.pop_back();
  std::size_t begin = text.rfind('\n');
  if (begin == std::string::npos) return text;
  if (text.compare(begin + 1, 4, "    ") != 0) return text.substr(begin + 1);
  const std::size_t before = text.rfind('\n', begin - 1);
  text.replace(begin, 5, ": ");
  return before == std::string::npos ? text : text.substr(before + 1);
}

Verdict judge(const CommitPolicy& policy, bool is_as_it_is = false) {
  std::array<int, 2> ends{};
  EXPECT_EQ(::pipe(ends.data()), 0);
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    const int silence = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    ::dup2(silence, STDERR_FILENO);
    ::alarm(300);
    ::_exit(survives(policy, is_as_it_is, Progress(ends[1])) ? 0 : 1);
  }
  ::close(ends[1]);
  Verdict verdict;
  verdict.by = last_words(read_lines(ends[0]));
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  verdict.killed = !WIFEXITED(status) || WEXITSTATUS(status) != 0;
  if (WIFSIGNALED(status)) verdict.by += ", by signal " + std::to_string(WTERMSIG(status));
  return verdict;
}

TEST(CommitPolicy, AsItIsBreaksNothing) {
  const Verdict verdict = judge({}, true);
  EXPECT_FALSE(verdict.killed) << verdict.by;
}

class CommitPolicyMutant : public ::testing::TestWithParam<Mutant> {};

TEST_P(CommitPolicyMutant, IsKilled) {
  if (!has_its_turn(GetParam().name)) GTEST_SKIP() << "its turn comes with another seed";
  CommitPolicy policy;
  GetParam().apply(policy);
  const Verdict verdict = judge(policy);
  EXPECT_TRUE(verdict.killed);
  std::printf("%-30s killed by %s\n", std::string(GetParam().name).c_str(), verdict.by.c_str());
  RecordProperty("killed_by", verdict.by);
}

INSTANTIATE_TEST_SUITE_P(EachDecision, CommitPolicyMutant, ::testing::ValuesIn(kMutants),
                         [](const auto& mutant) {
                           std::string name(mutant.param.name);
                           std::replace(name.begin(), name.end(), ' ', '_');
                           return name;
                         });

static_assert(kMutants.size() >= 25);

}  // namespace
}  // namespace crawlstore::testing
