// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A crawl file as somebody who looks at it for a long time has it open: the newest generation,
/// pinned; followed while a writer commits; or, when the file is damaged, what can still be read.
///
/// Ownership: a FileView is an immutable value, shared; its snapshot's pin lasts as long as
/// somebody holds the view or a job made from it. Threads: a CrawlFile belongs to one thread; views
/// to any.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <crawlstore/drum_view.h>
#include <crawlstore/frontier_view.h>
#include <crawlstore/page_view.h>
#include <crawlstore/queue.h>
#include <crawlstore/scores.h>
#include <crawlstore/snapshot.h>
#include <crawlstore/tools/generations.h>

namespace crawlstore::model {

/// The facts known of the file from one look at it. `snapshot` is empty when it could not be opened
/// (`problem` says why), and when its pin was released; what was read then stays.
struct FileView {
  std::string path;
  std::uint64_t number = 0;  ///< counts the looks: another number, other content
  std::optional<Snapshot> snapshot;
  std::optional<Error> problem;  ///< why the newest generation cannot be shown
  bool is_previous = false;      ///< the generation before the newest is shown instead
  StoreInfo info;                ///< zeros when nothing could be opened, but for file_bytes
  std::vector<SegmentInfo> segments;
  std::vector<DrumInfo> drums;
  std::optional<Error> drums_problem;
  std::vector<PagesInfo> pages;      ///< its page databases, those that can be read
  std::vector<PageView> page_views;  ///< the same, open; empty once the pin was released
  std::optional<Error> pages_problem;
  std::vector<QueueInfo> queues;  ///< those that can be read, by name
  std::optional<Error> queues_problem;
  std::vector<FrontierInfo> frontiers;  ///< by name; with names and ids alone where problem
  std::optional<Error> frontiers_problem;
  std::vector<std::vector<ScoresInfo>> scores;  ///< of each of `pages`: arrays that can be read
  std::optional<Error> scores_problem;
};

/// Finds the database in view.pages: that of the name; for "" the one called "pages", or the first.
/// nullopt = there is none.
std::optional<std::size_t> find_pages(const FileView& view, std::string_view name);
/// The same, open; nullptr = there is none, or the pin was released.
const PageView* open_pages(const FileView& view, std::string_view name);

struct CrawlFileOptions {
  bool pin = true;     ///< false: on file systems without locks
  bool mapped = true;  ///< false: read as `SnapshotOptions::mapped` says, for failing disks
};

class CrawlFile {
 public:
  /// Opens the file as well as it can be opened: the newest generation, else the previous one, else
  /// nothing but its bytes.
  ///   errors  kNotFound, kPermission, kIo, kNotACrawlFile, kNewerVersion, kOlderVersion: nothing
  ///           to show
  static Result<CrawlFile> open(const std::string& path, const CrawlFileOptions& options = {});

  [[nodiscard]] const std::shared_ptr<const FileView>& view() const { return view_; }
  [[nodiscard]] const std::string& path() const { return path_; }

  /// Whether refresh() would show something else: a newer generation, damage, or no damage any
  /// more, another file at the path, or none. Damage that it has found already is no news. Reads
  /// the superblocks only; after release() as well.
  [[nodiscard]] bool has_news() const;
  /// The newest generation in the file now, whichever is shown; nullopt: there is none whole. Reads
  /// the superblocks only.
  [[nodiscard]] std::optional<Generation> newest() const;
  /// Opens the newest generation; the old pin is dropped when the last holder of the old view is
  /// gone, so the new one is taken before. A failure shows in view()->problem.
  void refresh();
  /// Drops the pin, as soon as nobody holds the old view: the writer may reuse what only this
  /// generation holds. The new view keeps the values.
  void release();
  [[nodiscard]] bool is_released() const { return is_released_; }

 private:
  /// The traces that has_news() compares: the superblock copies, and whether the file is as long as
  /// it must be.
  struct Trace {
    std::vector<GenerationInfo> copies;
    std::optional<Error> error;
    bool is_cut = false;
  };
  static Trace trace_of(const std::string& path);
  CrawlFile(std::string path, const CrawlFileOptions& options)
      : path_(std::move(path)), options_(options) {}
  std::string path_;
  CrawlFileOptions options_;
  bool is_released_ = false;
  std::shared_ptr<const FileView> view_;
  Trace trace_;  // of the last look, or of just before
};

}  // namespace crawlstore::model
