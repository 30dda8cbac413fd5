// SPDX-License-Identifier: Apache-2.0
#include "cli/urlfrontier_export.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include <crawlstore/drum_view.h>
#include <crawlstore/frontier_view.h>

#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/options.h"
#include "cli/output_file.h"
#include "cli/progress.h"
#include "cli/stop_signals.h"
#include "cli/urlfrontier_json.h"
#include "model/format_text.h"
#include "service/core/known_urls.h"
#include "service/core/listing.h"

namespace crawlstore::cli {
namespace {

constexpr std::uint64_t kUrlsPerLook = 1024;

/// A crawl of the file.
struct CrawlToExport {
  std::string id;
  std::uint64_t url_count = 0;      ///< at most
  std::uint64_t pending_count = 0;  ///< changes of what is completed that a snapshot has not
};

/// Counts of URLs that are not in the output, or not all of them.
struct UrlLosses {
  std::uint64_t urls = 0;
  std::uint64_t metadata = 0;  ///< URLs without them
};

/// Counts what no merge has brought where for_each_url() finds it: URLs that were completed, or are
/// no more. The rest wait, and are in the frontier.
Result<std::uint64_t> pending_count(const DrumView& known) {
  std::uint64_t count = 0;
  Result<void> looked;
  const auto look = [&](Key16 key, bool becomes_completed) -> Result<void> {
    if (!becomes_completed) {
      CRAWLSTORE_TRY(const auto before, known.lookup(key));
      if (!before || before->empty()) return {};
    }
    ++count;
    return {};
  };
  CRAWLSTORE_TRY(known.for_each_pending(
      [&](std::uint64_t /*bucket*/, const RawRequest& request, std::uint64_t /*sequence*/) {
        const Key16 key{request.key, request.key_tail};
        if (!service::is_of_url(key) || request.operation != DrumOperation::kUpdate) return true;
        looked = look(key, !request.value.empty());
        return looked.has_value();
      }));
  CRAWLSTORE_TRY(looked);
  return count;
}

Result<std::vector<CrawlToExport>> crawls_of(const Snapshot& snapshot) {
  CRAWLSTORE_TRY(const auto frontiers, service::list_crawls(snapshot));
  CRAWLSTORE_TRY(const auto drums, list_drums(snapshot));
  std::vector<CrawlToExport> crawls;
  for (const FrontierInfo& info : frontiers) {
    const auto drum =
        std::ranges::find(drums, service::KnownUrls::name_of(info.name), &DrumInfo::name);
    if (drum == drums.end()) continue;
    CRAWLSTORE_TRY(const auto known, DrumView::open(snapshot, drum->name));
    CRAWLSTORE_TRY(const auto pending, pending_count(known));
    crawls.push_back(
        {info.name, info.waiting_count + info.leased_count + drum->key_count, pending});
  }
  return crawls;
}

/// Keeps the crawl that is asked for. Returns what is wrong; empty: nothing.
std::string choose(std::vector<CrawlToExport>& crawls, const std::string& id) {
  if (crawls.empty()) return "the file has no crawl as `crawlstored` makes them";
  if (id.empty()) return {};
  std::string names;
  for (const CrawlToExport& one : crawls) {
    names += fmt::format("{}`{}`", names.empty() ? "" : ", ", model::format_printable(one.id));
  }
  std::erase_if(crawls, [&id](const CrawlToExport& one) { return one.id != id; });
  if (!crawls.empty()) return {};
  return fmt::format("the file has no crawl `{}`; there are {}", model::format_printable(id),
                     names);
}

class UrlFrontierExport {
 public:
  UrlFrontierExport(const Snapshot& snapshot, OutputFile& output, ProgressBar& progress,
                    const StopSignals& stop)
      : snapshot_(snapshot), output_(output), progress_(progress), stop_(stop) {}

  Result<void> write(const std::vector<CrawlToExport>& crawls) {
    for (const CrawlToExport& crawl : crawls) total_ += crawl.url_count;
    for (const CrawlToExport& crawl : crawls) {
      Result<void> written;
      const auto add = [&](std::string_view queue, const service::KnownUrl& url) {
        const UrlItemLoss loss = append_url_item(output_.tail(), url, queue, crawl.id);
        losses_.urls += loss == UrlItemLoss::kAll ? 1 : 0;
        losses_.metadata += loss == UrlItemLoss::kMetadata ? 1 : 0;
        written = output_.room();
        if (++done_ % kUrlsPerLook == 0) progress_.update_of(std::min(done_, total_), total_);
        return written && stop_.requested() == 0;
      };
      CRAWLSTORE_TRY(service::for_each_url(snapshot_, crawl.id, {}, add));
      CRAWLSTORE_TRY(written);
    }
    return {};
  }
  [[nodiscard]] const UrlLosses& losses() const { return losses_; }

 private:
  const Snapshot& snapshot_;
  OutputFile& output_;
  ProgressBar& progress_;
  const StopSignals& stop_;
  std::uint64_t done_ = 0;
  std::uint64_t total_ = 0;
  UrlLosses losses_;
};

/// Says what is not in the output. Returns whether all is.
bool tell_losses(const std::vector<CrawlToExport>& crawls, const UrlLosses& losses,
                 const std::string& path) {
  bool is_whole = true;
  for (const CrawlToExport& crawl : crawls) {
    if (crawl.pending_count == 0) continue;
    is_whole = false;
    note(
        fmt::format("crawl `{}`: {} changes of completed URLs wait in the file, and are not in "
                    "the output; `crawlstore merge {} --drum {}`, while no crawlstored has the "
                    "file, brings them there",
                    model::format_printable(crawl.id), model::format_count(crawl.pending_count),
                    model::format_printable(path),
                    model::format_printable(service::KnownUrls::name_of(crawl.id))));
  }
  if (losses.urls != 0) {
    note(fmt::format("{} left out: the URL, or the key of its queue, is no UTF-8",
                     model::format_counted(losses.urls, "URL")));
  }
  if (losses.metadata != 0) {
    note(fmt::format("{} without metadata, which are none of the protocol",
                     model::format_counted(losses.metadata, "URL")));
  }
  return is_whole && losses.urls + losses.metadata == 0;
}

}  // namespace

int export_urlfrontier(const UrlFrontierExportOptions& options) {
  const auto snapshot = open_snapshot(options.path, options.no_pin, options.no_mmap);
  if (!snapshot) return fail_with(options.path, snapshot.error());
  auto crawls = crawls_of(*snapshot);
  if (!crawls) return fail_with(options.path, crawls.error());
  if (const std::string wrong = choose(*crawls, options.crawl); !wrong.empty()) {
    return fail_with(model::format_printable(options.path) + ": " + wrong, kExitNo);
  }
  const StopSignals stop;
  auto output = OutputFile::open(options.output);
  if (!output) return fail_with_output(options.output, output.error());
  ProgressBar progress("export", model::Unit::kCount, "URLs", options.quiet);
  UrlFrontierExport run(*snapshot, *output, progress, stop);
  const auto written = run.write(*crawls);
  if (stop.requested() != 0) return exit_code_of_signal(stop.requested());
  if (!written) return fail_with(options.path, written.error());
  if (const auto finished = output->finish(); !finished) {
    return fail_with(options.output.empty() ? "standard output" : options.output, finished.error());
  }
  return tell_losses(*crawls, run.losses(), options.path) ? kExitDone : kExitNo;
}

}  // namespace crawlstore::cli
