// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The contents of a store, from one pinned generation of it. Ownership: documents own all they
/// hold. Threads: as Snapshot.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <crawlstore/drum_view.h>
#include <crawlstore/snapshot.h>
#include <crawlstore/tools/verify.h>

#include "model/table.h"

namespace crawlstore::model {

/// Version, features, uuid, generation, sizes, the DRUMs, the page databases, pins, and health at a
/// glance.
///   health        a quick verification of the same file; nullptr = not asked
///   ignored_pid   whoever asks pins as well, and is left out; 0 = nobody
///   problem       set where DRUMs or page databases cannot be read: fields have no value then, and
///                 the table no rows
///   errors        kForked
Result<Document> info_view(const Snapshot& snapshot, const VerifyReport* health,
                           std::int64_t ignored_pid, std::optional<Error>& problem);

/// list_drums(), with keys that wait in fresh runs beside the DRUM of a page database among its
/// keys, and these runs among its partitions. No key is in two of them.
Result<std::vector<DrumInfo>> drums_with_fresh_keys(const Snapshot& snapshot);

/// The table `drums`: one row a DRUM.
Table drums_table(const std::vector<DrumInfo>& drums);

/// The table `held`: one row an extent that is kept for older generations.
Table held_table(const std::vector<HeldInfo>& held);

/// The table `runs` of one segment: where each run is.
Table runs_table(const SegmentInfo& segment);

/// The tables `segments`, and `runs` with the place of each run.
///   kind     only segments of that kind
Document segments_view(const Snapshot& snapshot, std::optional<SegmentKind> kind = {});

/// The command name of a process; empty = not known. The caller looks it up: the model does no I/O.
using ProcessNames = std::function<std::string(std::int64_t pid)>;

/// The generations that are held, since when, the bytes that this keeps, and the holders.
///   previous      the generation before, for its commit time; nullopt = there is none
///   ignored_pid   as for info_view()
Result<Document> pins_view(const Snapshot& snapshot, const std::optional<StoreInfo>& previous,
                           std::int64_t ignored_pid, const ProcessNames& names);

}  // namespace crawlstore::model
