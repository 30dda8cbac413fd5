# SPDX-License-Identifier: Apache-2.0
"""A store with some of everything, and what every verb with --json prints of it."""

import json

EVENTS = [
    {"kind": "page", "url": "http://a.test/", "time": "2026-11-21T10:11:12.5Z", "score": 0.5,
     "content_hash": "00ff", "links": ["http://b.test/", {"url_hex": b"http://d\xff.test/".hex()},
                                       "http://www.a.test/c"]},
    {"kind": "page", "url": "http://b.test/", "time": "2026-11-22T10:11:12Z",
     "status": 200, "links": ["http://a.test/"]},
    {"kind": "failed", "url": "http://www.a.test/c", "status": 503}]
URLS = b"http://a.test/\nhttp:// broken/\nhttp://b.test/\nhttp://a.test/\n"
QUEUE = b"1.5\thttp://a.test/\n-2\t#1\n"
ITEMS = b"a.test\t0.5\thttp://a.test/\nb\xff\tinf\t\xff\na.test\t-1\t\nc.test\t2\tc\n"
ODD = b"http://odd.test/\xff\n"


def lines(events):
    return "".join(json.dumps(event) + "\n" for event in events).encode()


# In this order: the words after `crawlstore VERB`, what it reads, and its exit code. old.crawl is
# another store, empty; older.crawl is x.crawl after the first line, damaged.crawl one of its bytes
# wrong. 0.crawl and 1.crawl are two shards of a crawl.
RUNS = [
    ("import", ["x.crawl", "--format", "jsonl", "-"], lines(EVENTS), 0),
    ("import", ["x.crawl", "--format", "urls", "-"], URLS, 0),
    ("import", ["x.crawl", "--format", "urls", "--drum", "urls", "-"], URLS, 0),
    ("import", ["x.crawl", "--format", "edges", "-"], b"http://a.test/\tx\n", 0),
    ("seen", ["x.crawl"], URLS + ODD, 0),
    ("seen", ["x.crawl", "--check", "--ordered"], URLS + ODD, 0),
    ("rank", ["x.crawl"], b"", 0),
    ("rank", ["x.crawl", "hits"], b"", 0),
    ("rank", ["x.crawl", "opic"], b"", 0),
    ("rank", ["x.crawl", "--by", "host"], b"", 0),
    ("rank", ["x.crawl", "--by", "domain"], b"", 0),
    ("import", ["x.crawl", "--format", "jsonl", "-"], lines(EVENTS[:1]), 0),
    ("import", ["x.crawl", "--format", "edges", "--no-merge", "-"],
     b"http://a.test/\thttp://e.test/\n", 0),
    ("queue", ["x.crawl", "--fill-from", "pagerank"], b"", 0),
    ("queue", ["x.crawl", "--insert", "-"], QUEUE, 0),
    ("queue", ["x.crawl", "--update", "-"], QUEUE, 0),
    ("queue", ["x.crawl", "--remove", "-"], b"#1\n", 0),
    ("queue", ["x.crawl", "--trim", "9"], b"", 0),
    ("queue", ["x.crawl"], b"", 0),
    ("next", ["x.crawl", "--peek", "--limit", "9"], b"", 0),
    ("next", ["x.crawl", "--peek", "--skip-damaged"], b"", 0),
    ("frontier", ["x.crawl", "--put", "-"], ITEMS, 0),
    ("frontier", ["x.crawl", "--frontier", "other", "--put", "-"], b"", 0),
    ("frontier", ["x.crawl"], b"", 0),
    ("frontier", ["x.crawl", "--frontier", "frontier"], b"", 0),
    ("frontier", ["x.crawl", "--group", "d.test", "--set", "delay=2s,in-flight=2"], b"", 0),
    ("schedule", ["x.crawl", "--frontier", "pages"], b"", 0),
    ("schedule", ["x.crawl", "--frontier", "pages", "--revisit", "100"], b"", 0),
    ("schedule", ["x.crawl", "--frontier", "pages", "--rescore", "pagerank"], b"", 0),
    ("schedule", ["x.crawl", "--frontier", "pages", "--due", "1h"], b"", 0),
    ("schedule", ["x.crawl", "--frontier", "pages", "--states"], b"", 0),
    ("import", ["x.crawl", "--format", "urls", "-", "--frontier", "pages"], URLS, 0),
    ("frontier", ["x.crawl", "--frontier", "pages"], b"", 0),
    ("take", ["x.crawl"], b"", 0),
    ("take", ["x.crawl", "--lease", "none"], b"", 1),
    ("take", ["x.crawl", "--frontier", "other"], b"", 1),
    ("frontier", ["x.crawl", "--leases"], b"", 0),
    ("frontier", ["x.crawl", "--group", "c.test"], b"", 0),
    ("done", ["x.crawl"], b"1\tretry 1h\n0\n2\tfailed\n7\tgone\n", 1),
    ("frontier", ["x.crawl", "--groups"], b"", 0),
    ("frontier", ["x.crawl", "--group", "a.test"], b"", 0),
    ("frontier", ["x.crawl", "--later"], b"", 0),
    ("info", ["x.crawl"], b"", 0),
    ("info", ["x.crawl", "--link-rows"], b"", 0),
    ("segments", ["x.crawl"], b"", 0),
    ("verify", ["x.crawl", "--deep"], b"", 0),
    ("dump", ["x.crawl"], b"", 0),
    ("page", ["x.crawl", "http://a.test/"], b"", 0),
    ("page", ["x.crawl", "#2"], b"", 0),
    ("pages", ["x.crawl"], b"", 0),
    ("pages", ["x.crawl", "--skip-damaged"], b"", 0),
    ("pages", ["x.crawl", "--sort", "score:pagerank"], b"", 0),
    ("pages", ["x.crawl", "--by", "host"], b"", 0),
    ("pages", ["x.crawl", "--by", "domain"], b"", 0),
    ("links", ["x.crawl", "http://a.test/"], b"", 0),
    ("links", ["x.crawl", "#0", "--in"], b"", 0),
    ("top", ["x.crawl"], b"", 0),
    ("top", ["x.crawl", "--by", "host"], b"", 0),
    ("top", ["x.crawl", "--by", "domain"], b"", 0),
    ("plan", ["--keys", "1e9", "--memory", "64MiB"], b"", 0),
    ("plan", ["--pages", "1e6", "--links", "1e7"], b"", 0),
    ("diff", ["x.crawl", "--previous", "--keys"], b"", 1),
    ("diff", ["x.crawl", "--previous"], b"", 1),
    ("diff", ["older.crawl", "x.crawl", "--keys"], b"", 1),
    ("diff", ["older.crawl", "x.crawl", "--skip-damaged"], b"", 1),
    ("diff", ["damaged.crawl", "x.crawl", "--skip-damaged"], b"", 1),
    ("verify", ["damaged.crawl"], b"", 1),
    ("recover", ["x.crawl", "recovered.crawl"], b"", 0),
    ("merge", ["x.crawl"], b"", 0),
    ("pins", ["x.crawl"], b"", 0),
    ("diff", ["old.crawl", "x.crawl", "--keys"], b"", 1),
    ("forget", ["x.crawl", "--host", "b.test"], b"", 0),
    ("compact", ["x.crawl"], b"", 0),
    ("queue", ["x.crawl", "--trim", "0"], b"", 0),
    ("queue", ["x.crawl"], b"", 0),
    ("values", ["x.crawl", "seen", "--set", "12"], b"", 0),
    ("values", ["x.crawl"], b"", 0),
    ("info", ["x.crawl"], b"", 0),
    ("import", ["0.crawl", "--format", "jsonl", "-"], lines(EVENTS), 0),
    ("import", ["1.crawl", "--format", "jsonl", "-"], lines(EVENTS), 0),
    ("info", ["0.crawl"], b"", 0),
    ("shards", ["send", "0.crawl"], b"", 0),
    ("shards", ["send", "1.crawl"], b"", 0),
    ("shards", ["receive", "1.crawl", "1.0-1.outbox"], b"", 0),
    ("shards", ["info", "0.crawl", "1.crawl"], b"", 0),
    ("shards", ["split", "0.crawl", "0-4.crawl", "1-4.crawl"], b"", 0),
]
