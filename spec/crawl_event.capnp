# SPDX-License-Identifier: Apache-2.0
#
# Crawl events: what other programs tell a store, and what a store tells them. Also what waits in
# the log of a page database until the next superstep (spec/events.md, "Event runs").
#
# A stream is messages in the standard framing of Cap'n Proto, unpacked, one behind the other to the
# end of the stream; the root of each is an EventBatch. Where a message ends means nothing: the
# events of a stream are one sequence, and later ones win.
#
# Limits, beyond which a reader rejects the message:
#   a message           67,108,864 bytes with its framing, 512 segments; its events and links are
#                       together no more than its words of 8 bytes, and no two pointers lead to the
#                       same words
#   url                 16,777,216 bytes
#   contentHash         64 bytes
#   timeUs              at least 0
#   score               finite
#   kind                one that is listed here
#   links               only with the kinds page, linkAdded, linkRemoved, and redirect: at most one
# Batches of about 1 MiB are a good size. Fields that a later schema adds are ignored.

@0xb8e2a4d07c5f1936;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("crawlstore::format::wire");

struct EventBatch {
  events @0 :List(Event);
}

# One thing that happened to one page.
struct Event {
  kind @0 :Kind;

  # The page, by the bytes of its URL as they were found: any bytes, not normalised, no encoding.
  # In a store whose pages have no URLs it is empty in all events and links, and `index` tells.
  url @1 :Data;

  # The page, by its number, from 0 on. Only if `url` is empty; otherwise write 0, nobody looks.
  index @2 :UInt64;

  # When it happened: microseconds since 1970-01-01 00:00:00 UTC, without leap seconds. 0: not
  # known.
  timeUs @3 :Int64;

  # What the crawler thinks the page is worth; higher is better, 0 if it has no opinion: then a
  # page keeps the score that it has. Of the kinds page and known; of others write 0, nobody looks.
  score @4 :Float32;

  # Any hash of the content, of 0 to 64 bytes; other bytes than at the last crawl: the page has
  # changed. Empty: not known. Of the kind page; of others leave it empty, nobody looks.
  contentHash @5 :Data;

  # page: all links of the page, instead of those it had. linkAdded, linkRemoved: those to add or to
  # remove. In the order of the page; of a target that is named twice, the last counts. redirect:
  # the one page that it leads to, instead of the links it had; a store may leave out one that it
  # cannot keep.
  links @6 :List(Link);

  # The status that the server answered by HTTP, such as 200 or 404. 0: not known; then a page keeps
  # the one that it has. Of all kinds.
  httpStatus @7 :UInt16;

  enum Kind {
    page @0;         # was crawled: fetched, with content
    known @1;        # is worth remembering, not crawled: a seed, or a new score for such a page
    gone @2;         # was deleted: it is no longer there
    failed @3;       # could not be fetched this time
    linkAdded @4;    # has more links than before
    linkRemoved @5;  # has fewer links than before
    unchanged @6;    # was crawled, and has the content that it had (304 Not Modified)
    redirect @7;     # was fetched, and leads to another page
    denied @8;       # was not fetched, as robots.txt forbids it
    duplicate @9;    # was fetched, and has the content of another page
  }
}

# A link from the page of the event.
struct Link {
  # The target, as `url` and `index` of Event.
  url @0 :Data;
  index @1 :UInt64;

  # What the crawler thinks the target is worth, going by this link; 0 if it has no opinion.
  score @2 :Float32;
}
