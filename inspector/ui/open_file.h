// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Opens a file in place of another and closes it, follows what a writer does to it, or tells of
/// it; holds the pin of the generation that is shown while somebody looks. Invariant: a file that
/// is open has a view.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "inspector/ui/file_checks.h"
#include "inspector/ui/places.h"

namespace crawlstore::inspector {

class OpenFile {
 public:
  OpenFile(AppState& state, Tabs& tabs, Places& places, FileChecks& checks)
      : state_(state), tabs_(tabs), places_(places), checks_(checks) {}

  /// Opens it when the frame is drawn. A failure is said on the start panel.
  void want(const FileLocation& file);
  /// The same at once; and the first of several files, all of which are the shards of a crawl.
  ///   errors  of CrawlFile::open()
  Result<void> open_at(const FileLocation& file);
  Result<void> open_set(const std::vector<FileLocation>& files);
  void close();

  /// Microseconds that poll() may wait; 0 = until something happens.
  [[nodiscard]] std::int64_t poll_every_us() const;
  void poll();
  /// Opens the newest generation, and pins it; the other only if nothing is pinned.
  void look_again();
  void look_if_released();
  void note_input();
  void set_following(bool is_following);
  /// Lets go of the pin; what the window shows stays, for nothing is drawn until the file is looked
  /// at again. Who does not follow is told by the last frames.
  void leave();
  /// After a frame: opens what is wanted, releases what was left.
  void settle();

 private:
  void show(const FileLocation& file);
  void follow();
  void release();
  void announce();
  void note_look();
  void note_commit(const model::FileView& before, const model::FileView& after);
  void see_queues(bool is_followed);

  AppState& state_;
  Tabs& tabs_;
  Places& places_;
  FileChecks& checks_;
  std::optional<FileLocation> wanted_;
  std::int64_t last_poll_us_ = 0;
};

}  // namespace crawlstore::inspector
