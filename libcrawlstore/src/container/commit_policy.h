// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The decisions of the commit protocol that a mutation test may turn wrong (T10 of
/// spec/features.md). In release builds every field is a compile-time constant and costs nothing;
/// test builds (CRAWLSTORE_MUTANTS) carry a value per writer.

#include <cstdint>

namespace crawlstore::container {

struct CommitPolicy {
  bool settle_first = true;              ///< step 0 before the first allocation
  bool settle_syncs_before = true;       ///< step 0: a sync before anything is written
  bool settle_sync_first = true;         ///< step 0: sync between the two copies
  bool settle_sync_second = true;        ///< step 0: sync after the second copy
  bool settle_raises_pass = true;        ///< step 0: pass = highest of the slot + 1
  bool settle_passes_differ = true;      ///< step 0: the second copy gets one more
  bool settle_mends_other_slot = true;   ///< step 0: invalid copies of the other slot are rewritten
  bool check_lost_pins = true;           ///< after step 0: no generation > N may be pinned
  bool sync_data = true;                 ///< step 3
  bool sync_superblock = true;           ///< step 4: behind copy 0
  bool superblock_last = true;           ///< step 4 after step 3, not before it
  bool write_second_copy = true;         ///< step 5
  bool alternate_slots = true;           ///< generation g lives in slot g mod 2
  std::uint8_t reuse_lag = 1;            ///< free iff retired <= N - reuse_lag
  bool respect_pins = true;              ///< pinned extents are not free
  bool born_inclusive = true;            ///< pinned g holds born <= g, not born < g
  bool ask_after_publish = true;         ///< pins are asked after N is published
  bool list_retired_root = true;         ///< the replaced root goes to the list
  bool list_retired_tables = true;       ///< replaced tables go to the list
  bool list_retired_runs = true;         ///< replaced runs go to the list
  bool keep_born = true;                 ///< an unchanged reference keeps its `born`
  bool poison_after_failed_sync = true;  ///< a failed sync ends the writer
  bool look_after_first_sync = true;     ///< step 0: the superblocks again before it writes
  bool reread_after_settle = true;       ///< step 0 reads again before it believes
  bool look_before_reserve = true;       ///< the superblocks, at the first reservation of a commit
  bool look_before_write = true;         ///< the superblocks, at each write of a run
  bool look_before_draft = true;         ///< the superblocks, before a commit allocates
  bool look_before_publish = true;       ///< the superblocks, after step 3
  bool look_after_publish = true;        ///< the superblocks, before step 5
  bool lock_before_read = true;     ///< the writer lock is taken before the superblocks are read
  bool rollback_keeps_born = true;  ///< rollback keeps the `born` of N-1's references
  bool rollback_unholds = true;     ///< rollback takes restored extents off the list
  bool verify_directory_checksum = true;  ///< tables and root are verified when loaded
  bool publish_passes_differ = true;      ///< `pass` 0 in step 4, 1 in step 5
  bool refuse_hidden_slot = true;         ///< no writing while a slot cannot be read at all
  bool reread_after_pin = true;           ///< a reader believes only what it reads under its pin
  bool allocate_really = true;            ///< step 1 calls fallocate
  bool check_published = false;           ///< of no protocol: PublishCheck looks at each commit
};

#if defined(CRAWLSTORE_MUTANTS)
/// Holds the policy of one writer.
class PolicyHolder {
 public:
  explicit PolicyHolder(const CommitPolicy& policy = {}) : policy_(policy) {}
  [[nodiscard]] const CommitPolicy& operator()() const { return policy_; }

 private:
  CommitPolicy policy_;
};
#else
class PolicyHolder {
 public:
  explicit constexpr PolicyHolder(const CommitPolicy& = {}) {}
  [[nodiscard]] constexpr const CommitPolicy& operator()() const { return kPolicy; }

 private:
  static constexpr CommitPolicy kPolicy{};
};
#endif

}  // namespace crawlstore::container
