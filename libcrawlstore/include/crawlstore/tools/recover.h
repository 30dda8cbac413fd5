// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A new file of what can be read of a damaged one.
///
///   const auto report = recover("crawl.crawl", "recovered.crawl");
///   for (const Loss& loss : report->losses) std::puts(describe(loss).c_str());
///
/// Nothing is believed whose checksum is wrong, and nothing takes the place of what is lost but
/// what another part of the same generation says: links of a page from the links of the others,
/// keys from URLs. Pages keep their indexes. A frontier of whose steps some cannot be read is as it
/// was before the first of them; where its state is damaged, it lacks the groups from there to the
/// end of that run. The limit `put_max` of a group counts no items that are lost, but
/// what was removed and dropped, where the number of lost items is known.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <crawlstore/error.h>
#include <crawlstore/types.h>

#pragma GCC visibility push(default)
namespace crawlstore {

enum class LostPart : std::uint8_t {
  kCommits,   ///< what generations after the one that is taken had changed
  kTable,     ///< a table of the directory, or all of it: see recover(); parts that only it named
  kDrum,      ///< a whole DRUM
  kKeys,      ///< keys of a DRUM, which will be seen as new
  kRequests,  ///< requests that waited for a merge
  kAnswers,   ///< answers that waited for a consumer
  kPages,     ///< a whole page database
  kRecords,   ///< the pages are known, as if they had never been crawled
  kUrls,      ///< the pages are forgotten, with their links
  kLinks,     ///< to pages that lost their in-links, too: nobody knows how many
  kEdits,     ///< edits that waited for a superstep
  kScores,    ///< a score array
  kQueue,     ///< a whole queue
  kEntries,   ///< pages of a queue
  kFrontier,  ///< a whole frontier
  kItems,     ///< items of a frontier, and of some groups all, with the rule; 0: rules alone
  kName,      ///< the part is there, and has a name that was made up: `name`
  kValues,    ///< all small values
  kSteps,     ///< the last steps of a frontier, which is as it was before them; items: 0, not known
};

/// Something that the new file lacks.
struct Loss {
  LostPart part{};
  std::string name;         ///< of the DRUM, the page database, the score array, the queue ...
  std::uint64_t first = 0;  ///< of pages, steps the first one; of keys the lowest (16 bytes: head)
  std::uint64_t end = 0;    ///< of pages, steps the one behind the last, 0: not known; of keys the
                            ///< highest
  std::uint64_t count = 0;  ///< so many at most; 0: not known
  Error error;              ///< the first damage
};

/// The loss in a sentence: "records of pages 8192 to 16383 of `pages`: ...".
[[nodiscard]] std::string describe(const Loss& loss);

struct RecoverOptions {
  /// Bytes for keys of pages that are made from URLs. Not in it: a bit and 4 bytes a page, and 16
  /// bytes for each link that is taken from the other direction.
  std::uint64_t memory_bytes = std::uint64_t{256} << 20;
  /// Milliseconds to wait for a program that writes to the file.
  std::uint32_t lock_wait_ms = 0;
  /// Called now and then with bytes done and (an estimate of) all; false stops with kCancelled.
  std::function<bool(std::uint64_t done, std::uint64_t total)> progress;
};

struct RecoverReport {
  Generation generation;  ///< whose content the new file has
  Generation newest;      ///< the newest of which the file knows
  std::int64_t commit_time_us = 0;
  bool identity_was_lost = false;  ///< the identity page, which a directory root gave back
  std::uint64_t read_bytes = 0;    ///< of its live extents
  std::uint64_t damaged_run_count = 0;
  std::vector<Loss> losses;
};

/// Reads `path`, which stays as it is, and makes `new_path`, which must not exist. It appears when
/// it is whole: verified to the last rule, and on the disk.
///   state   of the generations whose directory root is whole, the newest of those of which at most
///           a hundredth less can be read than of the best; parts whose table of the directory is
///           lost, or all parts where no root is whole, are found by the ends of their runs: of
///           each part the newest state that is there, and perhaps a part that was removed before
///   cost    three passes over the file, two more where tables are lost; parts that are damaged are
///           read and written once more
///   errors  kNotACrawlFile, version errors, kDirectoryDamaged: there is no directory, and no run
///           can be proved; kLocked: a program writes to it; kExists, kNoSpace, kCancelled, kIo
[[nodiscard]] Result<RecoverReport> recover(const std::string& path, const std::string& new_path,
                                            const RecoverOptions& options = {});

}  // namespace crawlstore
#pragma GCC visibility pop
