// SPDX-License-Identifier: Apache-2.0
//
// Invariants: the bytes of a run are looked at only when its checksums matched; they are read
// through the mapping and may change meanwhile, which costs a wrong verdict at worst. Tables, which
// are FlatBuffers, are copied first.
#include "container/verify_segments.h"

#include <algorithm>
#include <utility>

#include "container/run_io.h"

namespace crawlstore::container {
namespace {

/// Bytes of a run that are fetched ahead of its check.
constexpr std::uint64_t kFetchBytes = 16 * 1024 * 1024;

}  // namespace

void SegmentVerifier::broken(SegmentId segment, std::uint64_t offset, const char* text) {
  verification_.found(kind_, directory_->generation(),
                      {Errc::kSegmentInvalid, 0, segment, offset, text});
}

Result<void> SegmentVerifier::failed(const Error& error) {
  return verification_.found_or_fail(kind_, directory_->generation(), error);
}

Result<void> SegmentVerifier::verify(const Directory& directory, FindingKind kind) {
  directory_ = &directory;
  kind_ = kind;
  named_.clear();
  unread_.clear();
  known_ = std::exchange(contents_, {});
  for (const Kind& one : directory.kinds->all()) CRAWLSTORE_TRY(verify_kind(one));
  return {};
}

Result<void> SegmentVerifier::verify_kind(const Kind& kind) {
  if (kind.verify == nullptr) return {};
  for (const auto& table : directory_->tables) {
    for (const auto& entry : table->segments) {
      if (entry.kind != kind.rule.kind) continue;
      CRAWLSTORE_TRY(const bool is_read, kind.verify(*this, entry));
      if (!is_read) unread_.insert(entry.id);
    }
  }
  if (kind.verify_rest != nullptr) CRAWLSTORE_TRY(kind.verify_rest(*this));
  verify_named(kind);
  return {};
}

void SegmentVerifier::verify_named(const Kind& owner) {
  directory_->for_each_segment([&](const format::SegmentEntry& entry) {
    const format::KindRule& rule = directory_->kinds->of(entry).rule;
    if (rule.owner != owner.rule.kind || rule.is_named) return;
    if (is_named(owner.rule.kind, entry.id) || unread_.contains(entry.owner)) return;
    const std::uint64_t offset =
        entry.runs.empty() ? Error::kNoOffset : entry.runs.front().offset_bytes;
    broken(entry.id, offset, owner.unnamed);
  });
}

bool SegmentVerifier::all_read(SegmentKind owner) const {
  return std::none_of(unread_.begin(), unread_.end(),
                      [&](SegmentId id) { return directory_->find(id)->kind == owner; });
}

Result<std::optional<std::vector<std::byte>>> SegmentVerifier::read_table(
    const format::SegmentEntry& entry, std::uint64_t bytes_max, const char* too_long) {
  std::optional<std::vector<std::byte>> payload;
  const format::RunRef& run = entry.runs.front();
  if (is_passed_over_(RunKey::of(entry, run))) return payload;
  if (run.payload_bytes > bytes_max) {
    broken(entry.id, run.offset_bytes, too_long);
    return payload;
  }
  const auto name = run_name(verification_.identity, entry.id, run.run_id);
  const auto read = read_run(verification_.storage, name, run, payload.emplace());
  if (read) return payload;
  CRAWLSTORE_TRY(failed(read.error()));
  return std::optional<std::vector<std::byte>>();
}

Result<const RunContent*> SegmentVerifier::checked(const format::SegmentEntry& entry,
                                                   const format::RunRef& run) {
  const RunKey key = RunKey::of(entry, run);
  auto place = contents_.find(key);
  if (place != contents_.end()) return place->second.get();
  if (auto known = known_.extract(key)) {
    place = contents_.insert(std::move(known)).position;
  } else {
    CRAWLSTORE_TRY(auto content, read_content(entry, run));
    place = contents_.emplace(key, std::move(content)).first;
  }
  return place->second.get();
}

Result<RunContentPtr> SegmentVerifier::read_content(const format::SegmentEntry& entry,
                                                    const format::RunRef& run) {
  if (is_passed_over_(RunKey::of(entry, run))) return RunContentPtr();
  const Kind& kind = directory_->kinds->of(entry);
  if (kind.check == nullptr) {
    broken(entry.id, run.offset_bytes, "a segment of this kind has no runs of its own");
    return RunContentPtr();
  }
  std::uint64_t checked = 0;
  std::uint64_t fetched = 0;
  const auto fetch = [&](std::uint64_t bytes) {
    checked += bytes;
    if (fetched == run.payload_bytes || checked + kFetchBytes / 2 < fetched) return;
    const std::uint64_t end = std::min(run.payload_bytes, checked + kFetchBytes);
    verification_.storage.prefetch({run.offset_bytes + fetched, end - fetched});
    fetched = end;
  };
  fetch(0);
  const auto in_file = [&run](Extent extent) {
    return Extent{run.offset_bytes + extent.offset_bytes, extent.length_bytes};
  };
  Storage& storage = verification_.storage;
  const PayloadSource payload{run.payload_bytes,
                              [&](Extent extent) { return storage.view(in_file(extent)); },
                              [&](Extent extent) { storage.forget(in_file(extent)); }};
  auto content = kind.check(payload, [&](std::uint64_t bytes) {
    fetch(bytes);
    return verification_.advance(bytes);
  });
  storage.forget(run.extent());
  if (!content) {
    Error error = content.error();
    if (error.code != Errc::kSegmentInvalid) {  // of the storage, not of what it holds
      CRAWLSTORE_TRY(failed(error));
      return RunContentPtr();
    }
    error.offset = run.offset_bytes + (error.offset == Error::kNoOffset ? 0 : error.offset);
    error.segment = entry.id;
    verification_.found(kind_, directory_->generation(), error);
    return RunContentPtr();
  }
  if ((*content)->record_count != run.record_count) {
    broken(entry.id, run.offset_bytes,
           "a run holds another number of records than the directory says");
    return RunContentPtr();
  }
  return content;
}

}  // namespace crawlstore::container
