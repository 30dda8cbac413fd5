// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Reading every byte of a run, damaged or not, in memory that does not grow with the run.

#include <functional>
#include <span>

#include <crawlstore/storage.h>

#include "container/run_io.h"

namespace crawlstore::container {

/// A piece of a run's extent that one checksum covers: a chunk of the payload or of the checksum
/// tables, or the top of the tree with the padding behind it.
///   extent  its place in the file
///   bytes   what stands there; empty when `error` is set
///   error   code 0 = the piece is whole; else kChunkDamaged, kTruncated or kIo, at the piece
struct RunPiece {
  Extent extent;
  std::span<const std::byte> bytes;
  Error error{};
  [[nodiscard]] bool is_whole() const { return error.code == Errc{}; }
};

/// Called for each piece; an error ends the scan and is its result.
using RunPieceVisitor = std::function<Result<void>(const RunPiece& piece)>;

/// Visits the pieces of a run: the payload's chunks in ascending order, each piece of the checksum
/// tables before what it covers. Chunks under a damaged piece of a table are not visited: nothing
/// can be said about them.
///   memory  a megabyte, and a chunk a level of the tree
///   cost    one sequential pass
Result<void> scan_run(Storage& storage, const format::RunName& name, const format::RunRef& run,
                      const RunPieceVisitor& visit);

}  // namespace crawlstore::container
