// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The contents of a DRUM as tables that are read a window at a time, and the place of a key.
/// Ownership: a source shares its view, and with it the pin. Threads: any.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <crawlstore/page_view.h>
#include <crawlstore/tools/drum_cursor.h>
#include <crawlstore/tools/drum_statistics.h>

#include "model/table.h"
#include "model/table_source.h"

namespace crawlstore::model {

/// The table `buckets`: keys, bytes, requests that wait, segments; of the directory, so no byte of
/// the buckets is read. `merge_ratio`: how near the bucket is to calling for a merge, at 1; `mark`:
/// "merge due" where it calls for one; if none does, "merge next" where it will first, all else
/// equal. Both are empty where the file does not state when.
Table buckets_table(const DrumView& view, const std::vector<SegmentInfo>& segments);

/// The table `keys`: the keys of a bucket, ascending: row among all keys of the DRUM, key, the
/// first bytes of the value in hexadecimal, partition, block_offset_bytes. whole_row() has all
/// bytes of the value. No rows when there is no such bucket.
std::shared_ptr<const TableSource> key_rows(const DrumView& view, std::uint64_t bucket);

/// The table `pending`: the requests that wait in a bucket, in arrival order: sequence, operation,
/// key, aux, value ... Auxiliaries are as they are, byte for byte, up to kRowBytesMax; longer ones
/// end in " ... 200000 bytes", but in whole_row(). No rows when there is no such bucket.
std::shared_ptr<const TableSource> pending_rows(const DrumView& view, std::uint64_t bucket);

/// The place of a key: bucket, partition or log or neither, row, place in the file.
///   page  that has the key, as page_of_key() says; also where no bucket has it yet
Document key_place_view(const DrumView& view, Key16 key, const KeyPlace& place,
                        const std::optional<std::uint64_t>& page = {});
/// The page that has a key; nullopt = none.
///   errors  kCancelled; of damage
///   cost    a pass over the keys before it
Result<std::optional<std::uint64_t>> page_of_key(
    const PageView& pages, Key16 key,
    const std::function<bool(std::uint64_t done, std::uint64_t total)>& progress);

/// The table `gaps`: how many gaps there are of each power of two.
Table gaps_table(const GapHistogram& histogram);

}  // namespace crawlstore::model
