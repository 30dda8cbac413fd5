// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cerrno>
#include <csignal>

#include <fcntl.h>
#include <unistd.h>

#include "cli/exit_code.h"
#include "cli/verb.h"

namespace crawlstore::cli {
namespace {

constexpr std::array kVerbs{
    Verb{"plan", "how many buckets, what that costs, and why", define_plan},
    Verb{"create", "make an empty store; never overwrites", define_create},
    Verb{"info", "version, sizes, what it holds, pins, health at a glance", define_info},
    Verb{"segments", "the segment table", define_segments},
    Verb{"verify", "check every checksum, or more, or less", define_verify},
    Verb{"pins", "which generations are held, what that keeps, by whom", define_pins},
    Verb{"dump", "the decoded fields of a segment or a place, with offsets", define_dump},
    Verb{"diff", "what changed between two files or generations", define_diff},
    Verb{"inspect", "open the file in a window and look around", define_inspect},
    Verb{"seen", "URLs in, unique or duplicate out", define_seen},
    Verb{"import", "take over URLs, links or crawl events from files", define_import},
    Verb{"export", "pages, links and scores as events, tables or graphs", define_export},
    Verb{"pages", "list pages: all, those that match, the first by a column", define_pages},
    Verb{"page", "everything known of one page", define_page},
    Verb{"links", "the pages that a page links to, or that link to it", define_links},
    Verb{"rank", "compute PageRank over all links, and keep it", define_rank},
    Verb{"top", "the pages with the highest scores", define_top},
    Verb{"queue", "what waits to be fetched, and change it", define_queue},
    Verb{"next", "take the pages to fetch next out of a queue", define_next},
    Verb{"frontier", "what a crawl has to fetch, group by group, and put more", define_frontier},
    Verb{"schedule", "put the pages that are new into a frontier", define_schedule},
    Verb{"take", "lease items of a frontier whose groups may be visited", define_take},
    Verb{"done", "what became of items that were taken", define_done},
    Verb{"shards", "how far the shards of a crawl are, and what they tell each other",
         define_shards},
    Verb{"supersteps", "how large supersteps of a parallel crawl may be", define_supersteps},
    Verb{"values", "counters and states that programs keep in the file", define_values},
    Verb{"forget", "take pages out: keys, URLs, records and links", define_forget},
    Verb{"merge", "run the pending merges now", define_merge},
    Verb{"compact", "move everything to the front, give the rest back", define_compact},
    Verb{"snapshot", "a consistent copy of a live file", define_snapshot},
    Verb{"recover", "a new file of what can be read of a damaged one", define_recover},
    Verb{"rollback", "back to the previous generation", define_rollback},
};

/// A standard stream that was closed shall fail, and no file that we open get its number: so it is
/// opened the wrong way round.
void occupy_standard_streams() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(descriptor, F_GETFD) != -1 || errno != EBADF) continue;
    const int flags = descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY;
    if (::open("/dev/null", flags) == -1) return;  // the library looks as well
  }
}

}  // namespace
}  // namespace crawlstore::cli

int main(int count, char** words) {
  crawlstore::cli::occupy_standard_streams();
  // A reader that goes away ends us quietly, whatever our parent ignored; a file size limit comes
  // as an error of the write, not as a signal.
  std::signal(SIGPIPE, SIG_DFL);
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    return crawlstore::cli::parse_and_run(crawlstore::cli::kVerbs, count, words);
  } catch (...) {  // no memory even to say so
    return crawlstore::cli::kExitSystem;
  }
}
