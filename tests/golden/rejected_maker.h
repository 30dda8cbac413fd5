// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The ways to break a valid golden file in one place.

#include <algorithm>
#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <crawlstore/error.h>

#include "format/checksum.h"
#include "format/drum_table.h"
#include "format/endian.h"
#include "format/pages_table.h"
#include "golden/crafted_file.h"
#include "golden/golden_files.h"

namespace crawlstore::testing {

using Bytes = std::vector<std::byte>;

class Maker {
 public:
  Maker() : valid_(valid_files()) {}

  std::vector<GoldenFile> files;

  void add(const std::string& name, Errc error, const std::string& base, CraftedFile& file) {
    files.push_back({name, std::move(file.bytes), std::string(name_of(error)), base, file.parts});
  }
  const Bytes& valid(const std::string& name) const {
    return std::find_if(valid_.begin(), valid_.end(),
                        [&name](const GoldenFile& file) { return file.name == name; })
        ->bytes;
  }
  /// Bytes changed as they stand.
  void raw(const std::string& name, Errc error, const std::string& base,
           const std::function<void(Bytes&)>& change) {
    CraftedFile file(valid(base));
    change(file.bytes);
    add(name, error, base, file);
  }
  /// The directory changed and written anew.
  void directory(const std::string& name, const std::string& base,
                 const std::function<void(CraftedFile&)>& change,
                 Errc error = Errc::kDirectoryInvalid) {
    CraftedFile file(valid(base));
    change(file);
    file.assemble();
    add(name, error, base, file);
  }
  /// Adds a file whose root has other references to its tables and held tables.
  void references(const std::string& name, const std::string& base,
                  const std::function<void(format::DirectoryRoot&)>& change) {
    directory(name, base, [&](CraftedFile& file) {
      file.write_pieces();
      change(file.root);
    });
  }
  /// The superblock changed, after everything else.
  void superblock(const std::string& name, Errc error,
                  const std::function<void(format::Superblock&)>& change) {
    const std::string base = "keys_and_pending";
    CraftedFile file(valid(base));
    file.assemble();
    change(file.superblock);
    file.write_superblocks();
    add(name, error, base, file);
  }
  void identity(const std::string& name, Errc error,
                const std::function<void(format::Identity&)>& change) {
    raw(name, error, "empty", [&](Bytes& bytes) {
      format::Identity identity{};
      std::memcpy(&identity, bytes.data(), sizeof identity);
      change(identity);
      identity.checksum = format::checksum(
          std::span(std::as_bytes(std::span<const format::Identity, 1>(&identity, 1)))
              .first(sizeof identity - 8),
          format::checksum_seed({}, format::ChecksumDomain::kIdentity, 0, 0, 0));
      std::memcpy(bytes.data(), &identity, sizeof identity);
    });
  }
  /// The payload of the first segment of a kind changed.
  void payload(const std::string& name, const std::string& base, SegmentKind kind,
               const std::function<void(Bytes&)>& change) {
    directory(
        name, base,
        [&](CraftedFile& file) {
          auto& entry = file.segment(kind);
          Bytes bytes = file.payload(entry);
          change(bytes);
          file.set_payload(entry, bytes);
        },
        Errc::kSegmentInvalid);
  }
  /// The table of the DRUM changed.
  void drum(const std::string& name, const std::string& base,
            const std::function<void(format::DrumTable&)>& change) {
    payload(name, base, SegmentKind::kDrum, [&](Bytes& bytes) {
      auto table = *format::parse_drum_table(bytes);
      change(table);
      bytes = format::encode_drum_table(table);
    });
  }
  /// The table of a page database changed.
  void pages(const std::string& name, const std::string& base,
             const std::function<void(format::PagesTable&)>& change) {
    payload(name, base, SegmentKind::kPages, [&](Bytes& bytes) {
      auto table = *format::parse_pages_table(bytes);
      change(table);
      bytes = format::encode_pages_table(table);
    });
  }

 private:
  std::vector<GoldenFile> valid_;
};

template <class T>
void put(Bytes& bytes, std::size_t offset, T value) {
  format::store<T>(bytes.data() + offset, value);
}
template <class T>
void add(Bytes& bytes, std::size_t offset, T value) {
  put<T>(bytes, offset, static_cast<T>(format::load<T>(bytes.data() + offset) + value));
}

/// Those with a run of a log that is broken: rejected_runs.cpp.
void add_rejected_runs(Maker& make);
/// Those of page databases: rejected_pages.cpp, and the files of their kinds.
void add_rejected_pages(Maker& make);
void add_rejected_tiles(Maker& make);
void add_rejected_links(Maker& make);
void add_rejected_dense_links(Maker& make);
void add_rejected_origins(Maker& make);
void add_rejected_events(Maker& make);
void add_rejected_scores(Maker& make);
void add_rejected_queues(Maker& make);
void add_rejected_values(Maker& make);
void add_rejected_frontiers(Maker& make);

}  // namespace crawlstore::testing
