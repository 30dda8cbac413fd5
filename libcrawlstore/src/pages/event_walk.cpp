// SPDX-License-Identifier: Apache-2.0
//
// Invariant: a walk stands at an edit, or there is no more.
#include "pages/event_walk.h"

namespace crawlstore::pages {

tl::unexpected<Error> EventWalk::damaged(const Error& error) const {
  return fail(error.code, error.text, runs_[next_run_ - 1].offset_bytes + error.offset, segment_);
}

Result<void> EventWalk::open_run() {
  CRAWLSTORE_TRY(read_(runs_[next_run_++], payload_));
  auto reader = format::EventRunReader::open(payload_);
  if (!reader) return damaged(reader.error());
  reader_ = *reader;
  return {};
}

Result<void> EventWalk::settle() {
  while (place_ == events_.events().size()) {
    place_ = 0;
    Result<bool> more = false;
    if (reader_) more = reader_->next(events_);
    if (!more) return damaged(more.error());
    if (*more) continue;
    events_ = {};
    reader_.reset();
    is_at_end_ = next_run_ == runs_.size();
    if (is_at_end_) return {};
    CRAWLSTORE_TRY(open_run());
  }
  return {};
}

}  // namespace crawlstore::pages
