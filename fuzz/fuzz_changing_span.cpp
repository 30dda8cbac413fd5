// SPDX-License-Identifier: Apache-2.0
//
// Invariants checked: a mapped file whose bytes change after they were verified, between calls of
// one snapshot, is never read outside its pieces; calls end, with whatever answer; the directory,
// which lives in private memory, stays as it was.
//
// Input: steps of a byte each: below 128 a patch follows (store_image.h), else a question, chosen
// by the byte.

#include <algorithm>

#include <crawlstore/drum_view.h>
#include <crawlstore/snapshot.h>
#include <crawlstore/tools/inspect.h>

#include "require.h"
#include "store_image.h"

namespace {

using namespace crawlstore;
using crawlstore::fuzz::require;

constexpr std::size_t kStepsMax = 64;

/// A snapshot and the file under it, which somebody changes.
class World {
 public:
  explicit World(const std::vector<std::byte>& bytes)
      : bytes_(bytes),
        file_(make_memory_file(bytes)),
        intruder_(open_memory_storage(file_, OpenMode::kWrite)) {
    const auto reader = std::shared_ptr<Storage>(open_memory_storage(file_, OpenMode::kRead));
    snapshot_ = std::make_unique<Snapshot>(Snapshot::open(reader).value());
    segments_ = snapshot_->segments();
    view_ = std::make_unique<DrumView>(DrumView::open(*snapshot_, "fuzz").value());
    require(view_->for_each_key([](Key16, auto) { return true; }).has_value());
  }

  void run(std::span<const std::uint8_t> steps) {
    for (std::size_t i = 0; i < kStepsMax && !steps.empty(); ++i) {
      const std::uint8_t step = steps.front();
      steps = steps.subspan(1);
      if (step < 128) steps = change(steps);
      if (step >= 128) ask(step);
    }
  }

 private:
  std::span<const std::uint8_t> change(std::span<const std::uint8_t> data) {
    const auto rest = fuzz::patch(data, bytes_);
    require(intruder_->write(0, bytes_).has_value());
    return rest;
  }

  void ask(std::uint8_t question) {
    const SegmentInfo& segment = segments_[question % segments_.size()];
    switch (question % 7) {
      case 0:
        (void)view_->lookup(question * 0x9e3779b97f4a7c15U);
        break;
      case 1:
        (void)view_->for_each_key([](Key16, auto) { return true; });
        break;
      case 2:
        (void)view_->for_each_pending([](auto, const auto&, auto) { return true; });
        break;
      case 3:
        (void)describe(*snapshot_, segment.id, {.entries_max = 16});
        break;
      case 4:
        read_runs(segment);
        break;
      case 5:
        (void)DrumView::open(*snapshot_, "fuzz");
        break;
      default:
        require(snapshot_->segments().size() == segments_.size());
    }
  }
  void read_runs(const SegmentInfo& info) {
    for (const auto& run : info.runs) (void)snapshot_->read_run(info.id, run.run_id);
  }

  std::vector<std::byte> bytes_;
  std::shared_ptr<MemoryFile> file_;
  std::unique_ptr<Storage> intruder_;
  std::unique_ptr<Snapshot> snapshot_;
  std::unique_ptr<DrumView> view_;
  std::vector<SegmentInfo> segments_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fuzz::StoreImage kImage;
  World(kImage.bytes()).run(std::span(data, size));
  return 0;
}
