// SPDX-License-Identifier: Apache-2.0
#include "container/run.h"

namespace crawlstore::container {

Run::~Run() {
  if (runs_ != nullptr) runs_->forget(*this);
}

std::shared_ptr<const RunReader> Runs::reader_of(SegmentId segment,
                                                 const format::RunRef& ref) const {
  // The storage lives as long as the writer, without which nothing is read.
  return std::make_shared<const RunReader>(
      std::shared_ptr<Storage>(std::shared_ptr<void>(), &writer_->storage()),
      run_name(writer_->identity(), segment, ref.run_id), ref);
}

RunPtr Runs::add(SegmentId segment, const format::RunRef& ref) {
  // Before the lock, which its destructor takes when memory is out below.
  const auto run = std::make_shared<Run>(reader_of(segment, ref), shared_from_this());
  const std::lock_guard lock(mutex_);
  if (ref.born.value == 0) unpublished_.insert(run.get());
  runs_.insert(run.get());
  return run;
}

void Runs::published(const Directory& directory) {
  const std::lock_guard lock(mutex_);
  for (auto at = unpublished_.begin(); at != unpublished_.end();) {
    Run& run = **at;
    const auto* const entry = directory.find(run.reader().segment());
    const auto* const ref = entry == nullptr ? nullptr : entry->find_run(run.ref_.run_id);
    if (ref == nullptr) {
      ++at;
      continue;
    }
    run.ref_ = *ref;
    at = unpublished_.erase(at);
  }
}

void Runs::moved(const std::map<RunId, format::RunRef>& places) {
  const std::lock_guard lock(mutex_);
  for (Run* const run : runs_) {
    const auto place = places.find(run->ref_.run_id);
    if (place == places.end()) continue;
    run->ref_ = place->second;
    run->reader_ = reader_of(run->reader().segment(), run->ref_);
  }
}

void Runs::end() {
  const std::lock_guard lock(mutex_);
  writer_ = nullptr;
}

void Runs::forget(Run& run) noexcept {
  const std::lock_guard lock(mutex_);
  runs_.erase(&run);
  if (unpublished_.erase(&run) == 0 || writer_ == nullptr) return;
  writer_->release(run.ref_.extent());
}

}  // namespace crawlstore::container
