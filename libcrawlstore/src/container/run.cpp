// SPDX-License-Identifier: Apache-2.0
#include "container/run.h"

namespace crawlstore::container {

Run::~Run() {
  if (runs_ != nullptr) runs_->forget(*this);
}

Run::Use Run::use(std::shared_ptr<const Run> run) {
  ++run->use_count_;
  const Run* const used = run.get();
  return {used, [run = std::move(run)](const Run*) { --run->use_count_; }};
}

std::shared_ptr<const RunReader> Run::reader() const {
  if (runs_ == nullptr) return reader_;
  const std::lock_guard lock(runs_->mutex_);
  if (reader_ == nullptr) {
    // The storage lives as long as the writer, without which nothing is read.
    SegmentWriter& writer = *runs_->writer_;
    reader_ = std::make_shared<RunReader>(
        std::shared_ptr<Storage>(std::shared_ptr<void>(), &writer.storage()),
        run_name(writer.identity(), segment_, ref_.run_id), ref_);
  }
  return reader_;
}

RunPtr Runs::add(SegmentId segment, const format::RunRef& ref) {
  const auto run = std::make_shared<Run>(shared_from_this(), segment, ref);
  const std::lock_guard lock(mutex_);
  link(*run);
  if (ref.born.value == 0) writer_->hand_to_run(ref.extent());
  return run;
}

void Runs::published(const Directory& directory) {
  const std::lock_guard lock(mutex_);
  for (Run* next = unpublished_; next != nullptr;) {
    Run& run = *std::exchange(next, next->after_);
    const auto* const entry = directory.find(run.segment_);
    const auto* const ref = entry == nullptr ? nullptr : entry->find_run(run.ref_.run_id);
    if (ref == nullptr) continue;
    unlink(run);
    run.ref_ = *ref;
    link(run);
  }
}

std::set<RunId> Runs::busy() {
  const std::lock_guard lock(mutex_);
  std::set<RunId> busy;
  for (const Run* run = published_; run != nullptr; run = run->after_) {
    if (run->use_count_ != 0) busy.insert(run->ref_.run_id);
  }
  return busy;
}

void Runs::moved(const std::map<RunId, format::RunRef>& places) {
  const std::lock_guard lock(mutex_);
  for (Run* run = published_; run != nullptr; run = run->after_) {
    const auto place = places.find(run->ref_.run_id);
    if (place == places.end()) continue;
    run->ref_ = place->second;
    if (run->reader_ != nullptr) run->reader_->move_to(run->ref_);
  }
}

void Runs::end() {
  const std::lock_guard lock(mutex_);
  writer_ = nullptr;
}

void Runs::link(Run& run) noexcept {
  Run*& first = list_of(run);
  run.before_ = nullptr;
  run.after_ = first;
  if (first != nullptr) first->before_ = &run;
  first = &run;
}

void Runs::unlink(Run& run) noexcept {
  (run.before_ != nullptr ? run.before_->after_ : list_of(run)) = run.after_;
  if (run.after_ != nullptr) run.after_->before_ = run.before_;
}

void Runs::forget(Run& run) noexcept {
  const std::lock_guard lock(mutex_);
  unlink(run);
  if (run.ref_.born.value == 0 && writer_ != nullptr) writer_->release(run.ref_.extent());
}

}  // namespace crawlstore::container
