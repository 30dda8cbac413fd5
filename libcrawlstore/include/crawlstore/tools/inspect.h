// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A crawl file taken apart for people: the decoded fields of a segment, of a place, or of the
/// file's own structures, each with its offset. What `crawlstore dump` prints and what a hex view
/// puts beside the bytes.
///
/// Names are those of the tables in spec/format.md. Works on damaged files as far as possible: what
/// cannot be read or breaks a rule is described nevertheless, and says so in `problem`.
/// Ownership: as in crawlstore.hpp. Threads: any. Nothing is written. The byte layout is in
/// spec/format.md.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <crawlstore/error.h>
#include <crawlstore/snapshot.h>
#include <crawlstore/storage.h>
#include <crawlstore/types.h>

#pragma GCC visibility push(default)
namespace crawlstore {

/// One line of a description.
///   name          the field's name in the spec: "generation"; an entry of a list: "tables[3]"
///   type          u8 u16 u32 u64 i32 i64 f32 f64; hex8 to hex64 for hexadecimal numbers; leb128:
///                 a number of 7 bits a byte; time_us: microseconds since the epoch, UTC; uuid;
///                 string; zeros: bytes that must be zero; bytes: not taken apart; struct and list
///                 head the lines of greater depth below
///   offset_bytes  in the file; length_bytes 0 = a field with its default, which is not stored
///   value         numbers in plain digits or 0x...; of a list how many entries it has; of a struct
///                 a word about it, or nothing
///   problem       what is wrong here, in plain English; empty = nothing known
///   depth         0 = the outermost
struct FieldInfo {
  std::string name;
  std::string type;
  std::uint64_t offset_bytes = 0;
  std::uint64_t length_bytes = 0;
  std::string value;
  std::string problem;
  std::uint32_t depth = 0;
};

struct DescribeOptions {
  /// Entries of each list that are described at most; the list's value tells how many there are.
  std::size_t entries_max = 1000;
};

/// The directory entry of a segment and the headers of its runs: of a DRUM its whole table, of a
/// partition footer and blocks, of logs the header of each run.
///   errors  kUnknownName: this generation has no such segment; kForked
///   cost    reads what it describes, not the whole segment; runs up to 16 MiB are read whole, to
///           find what breaks a rule
[[nodiscard]] Result<std::vector<FieldInfo>> describe(const Snapshot& snapshot, SegmentId segment,
                                                      const DescribeOptions& options = {});

/// Identity, the four superblock copies, and the directory of the newest generation.
///   errors  kNotACrawlFile, kNotFound, kPermission, kIo when nothing can be read
[[nodiscard]] Result<std::vector<FieldInfo>> describe_file(const std::string& path,
                                                           const DescribeOptions& options = {});
[[nodiscard]] Result<std::vector<FieldInfo>> describe_file(Storage& storage,
                                                           const DescribeOptions& options = {});

/// Describes what lies at an offset: one of the structures above, a run with the piece that is hit
/// and whether its checksum matches, a held extent, or free space. The newest generation is asked
/// first, then the previous one. Neither is pinned: a writer may change what is read.
///   errors  as describe_file(); kInvalidArgument: the offset is behind the end of the file
[[nodiscard]] Result<std::vector<FieldInfo>> describe_at(const std::string& path,
                                                         std::uint64_t offset,
                                                         const DescribeOptions& options = {});
[[nodiscard]] Result<std::vector<FieldInfo>> describe_at(Storage& storage, std::uint64_t offset,
                                                         const DescribeOptions& options = {});

/// The processes that keep others from writing the file at `path`, ascending: its writer, or who
/// has locked the writer's byte. For display: empty = nobody that can be seen; processes of other
/// users and containers cannot.
///   cost  one stat for each descriptor of each process of this user
[[nodiscard]] std::vector<std::int64_t> writer_processes(const std::string& path);

}  // namespace crawlstore
#pragma GCC visibility pop
