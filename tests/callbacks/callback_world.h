// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A store with one part of each kind whose functions of the program call back, the places where it
/// calls them, and what they may try there.

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <crawlstore/pages.h>
#include <crawlstore/queue.h>
#include <crawlstore/ranking.h>
#include <crawlstore/transaction.h>
#include <crawlstore/url_seen.h>

#include "pages/page_words.h"

namespace crawlstore::testing {

using Keys = Drum<std::uint64_t>;

struct World {
  /// Opens a file with some generations and gaps. In it and in memory requests and edits wait.
  World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;
  ~World() { close(); }

  /// Acts like functions of the program where a context is.
  void call_back() {
    ++callback_count;
    if (inside) inside();
  }
  /// Acts like those functions that are given to parts for good.
  void call_back_of(const std::string& function) {
    if (function == calling) call_back();
  }
  /// Takes no part of `inside` any more, and closes all handles, parts first.
  void close();
  /// Gives each part something that waits in memory alone, if it is new: `number`.
  void submit(std::uint64_t number);

  std::shared_ptr<MemoryFile> file;
  std::function<void()> inside;
  std::string calling;          // which of the functions that are given for good calls back
  std::uint64_t next_page = 0;  // that a context adds
  int callback_count = 0;
  std::optional<PageView> view;  // of the generation that the world began with
  std::optional<Store> store;
  std::optional<Keys> keys;
  std::optional<PageDb> pages;
  std::optional<Queue> queue;
  std::optional<UrlSeen> seen;
};

/// The contents of a file, for programs.
struct Content {
  std::set<std::uint64_t> keys;  // those that wait, too
  std::uint64_t seen_count = 0;
  std::uint64_t page_count = 0;
  std::uint64_t link_count = 0;
  std::uint64_t edit_count = 0;
  std::vector<double> priorities;  // of the queue
  std::vector<std::string> scores;
  friend bool operator==(const Content&, const Content&) = default;
};
/// Opens the file to write, which fails while another handle is open, and returns what it holds.
/// Deep verification finds nothing in it.
Content whole_content(const std::shared_ptr<MemoryFile>& file);

/// A place where the library calls a function of the program.
struct Context {
  std::string name;
  /// Work that calls back.
  std::function<Result<void>(World& world)> run;
  bool rethrows = true;          // what the function throws
  bool needs_the_store = false;  // which the program lends to it
};
std::vector<Context> contexts();
/// The same inside a transaction, which submissions belong to.
std::vector<Context> dispatchers();

struct Call {
  std::string name;
  std::function<std::optional<Errc>(World& world)> run;  // nullopt: it did
  bool submits = false;                                  // it may be part of a transaction
};
std::vector<Call> calls();

}  // namespace crawlstore::testing
