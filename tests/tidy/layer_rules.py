# SPDX-License-Identifier: Apache-2.0
"""The layers and their includes (CONTRIBUTING.md, "Layers"): arrows never turn back."""

import collections
import posixpath
import re

from source import CXX, PUBLIC, Finding, excused, includes

# Each layer with those right below it; what lies below them comes along.
BELOW = {
    "words": [],
    "format": ["words"],
    "base": ["format"],
    "io": ["base"],
    "container": ["io"],
    "drum": ["container"],
    "links": ["container"],
    "queue": ["container"],
    "frontier": ["container"],
    "values": ["container"],
    "pages": ["drum", "links", "queue", "values"],
    "webdb": ["pages"],
    "scores": ["pages"],
    "shards": ["scores"],
    "scheduler": ["scores", "frontier"],
    "rescue": ["scores", "frontier", "values"],
    "crawl_store": ["scheduler", "rescue", "frontier"],
}
# These see the public headers and the listed folders, nothing of the library's inside.
OUTSIDE = {
    "capi": ["capi"],
    "model": ["model", "service/core"],
    "cli": ["model", "cli", "service/core"],
    "inspector/core": ["model", "inspector/core"],
    "inspector/ui": ["model", "service/core", "inspector/core", "inspector/ui"],
    "inspector/shell": ["model", "inspector/core", "inspector/ui", "inspector/shell"],
    "inspector": ["model", "inspector/core", "inspector/ui", "inspector/shell", "inspector"],
    "service/core": ["service/core"],
    "service/server": ["service/core", "service/server"],
    "service": ["service/core", "service/server", "service"],
    "mpi": ["model", "cli", "mpi"],
    "examples": ["examples", "mpi"],
    "bench": ["bench", "service/core"],
}
# Tests and fuzzers see everything.
FREE = ("tests/", "fuzz/")

# The layer that a public header belongs to. "words" is the vocabulary that even format/ speaks.
PUBLIC_LAYER = {
    "crawl_event.h": "words",
    "error.h": "words",
    "must.h": "words",
    "types.h": "words",
    "url.h": "base",
    "page_key.h": "base",
    "registered_domain.h": "base",
    "robots.h": "base",
    "shard.h": "values",
    "shard_exchange.h": "shards",
    "shard_peers.h": "words",
    "shard_scores.h": "scores",
    "shard_set.h": "shards",
    "external_sort.h": "io",
    "storage.h": "io",
    "report.h": "container",
    "tools/roll_forward.h": "container",
    "snapshot.h": "container",
    "store.h": "container",
    "frontier.h": "frontier",
    "tools/frontier_diff.h": "frontier",
    "frontier_items.h": "frontier",
    "frontier_view.h": "frontier",
    "transaction.h": "container",
    "tools/diff.h": "drum",
    "drum.h": "drum",
    "drum_core.h": "drum",
    "tools/drum_cursor.h": "drum",
    "drum_dispatcher.h": "drum",
    "drum_options.h": "drum",
    "tools/drum_statistics.h": "drum",
    "drum_traits.h": "drum",
    "drum_view.h": "drum",
    "tools/merge_rules.h": "drum",
    "timed_drum.h": "drum",
    "url_seen.h": "pages",
    "event_stream.h": "pages",
    "tools/file_map.h": "container",
    "tools/generations.h": "container",
    "tools/inspect.h": "container",
    "tools/verify.h": "container",
    "crawled_page.h": "pages",
    "host_rates.h": "pages",
    "tools/link_runs.h": "pages",
    "tools/page_copies.h": "pages",
    "tools/page_gaps.h": "pages",
    "page_order.h": "webdb",
    "page_view.h": "pages",
    "pages.h": "pages",
    "tools/pages_diff.h": "pages",
    "queue.h": "queue",
    "tools/queue_gaps.h": "queue",
    "ranking.h": "scores",
    "schedule.h": "scheduler",
    "tools/supersteps.h": "scheduler",
    "scores.h": "scores",
    "tools/recover.h": "rescue",
    "values.h": "values",
    "webdb.h": "webdb",
}

# Third-party headers with the folders that may include them.
EXTERNAL = [
    (("flatbuffers/", "directory_generated.h", "drum_generated.h", "pages_generated.h"),
     ("format/", *FREE),
     "FlatBuffers stays inside format/: other layers see our structs"),
    (("lz4",), ("format/", *FREE), "LZ4 stays inside format/"),
    (("capnp/", "kj/", "crawl_event.capnp.h"), ("format/", *FREE),
     "Cap'n Proto stays inside format/"),
    (("zstd", "zdict"), ("format/", "cli/unpacker.cpp", *FREE),
     "zstd stays inside format/, but for packed inputs"),
    (("zlib",), ("cli/unpacker.cpp",), "only packed inputs know zlib"),
    (("CLI/",), ("cli/parser.cpp", "cli/man_page", "cli/completion", "cli/described_verbs",
                 "inspector/main.cpp", "examples/web_crawl.cpp", "service/crawlstored.cpp",
                 "mpi/crawlstore_mpi.cpp"),
     "CLI11 takes seconds to compile: cli/parser.h is for the verbs"),
    (("nlohmann/",), ("model/", "cli/", "inspector/core/", "bench/", *FREE),
     "the library speaks no JSON"),
    (("simdjson.h",), ("model/event_json_quick.cpp", "cli/urlfrontier_json.cpp"),
     "simdjson is for lines of events and of URLFrontier"),
    (("unicode/",), ("libcrawlstore/src/base/url_host.cpp", "model/host_name.cpp"),
     "ICU is for hosts beyond ASCII"),
    (("fmt/",), ("model/", "cli/", "inspector/", "service/", "mpi/", "examples/", "bench/",
                *FREE),
     "the library prints nothing"),
    (("re2/",), ("cli/", "inspector/core/"), "only filters know regular expressions"),
    (("boost/",), ("model/graph_layout.cpp", "bench/queue_boost.cpp"),
     "only the layout of graphs and a peer know Boost"),
    (("png.h",), ("inspector/shell/", *FREE), "only the headless shell writes pictures"),
    (("curl/",), ("examples/",), "only the examples fetch"),
    (("grpc", "google/protobuf/"),
     ("service/server/", "service/crawlstored.cpp", "bench/service_grpc.cpp"),
     "only the server knows gRPC"),
    (("prometheus/",), ("service/server/metrics.cpp",), "only the metrics know Prometheus"),
    (("mpi.h",), ("mpi/", "examples/mpi_doc_crawl.cpp"), "only crawlstore-mpi knows MPI"),
    (("gtest/", "gmock/"), FREE, "only tests include GoogleTest"),
    (("benchmark/",), ("bench/",), "only bench/ includes Google Benchmark"),
    (("absl/", "db.h", "igraph/", "leveldb/", "lmdb.h", "omp.h", "rocksdb/",
      "sqlite3.h", "stxxl/"), ("bench/",),
     "peers are for comparison only"),
    (("imgui", "backends/imgui"), ("inspector/ui/", "inspector/shell/", *FREE),
     "ImGui only in inspector/ui and shell"),
    (("GLFW/", "GL/"), ("inspector/shell/",), "GLFW and OpenGL only in inspector/shell"),
]


def at_or_below(layer):
    found = {layer}
    for lower in BELOW[layer]:
        found |= at_or_below(lower)
    return found


def layer_of(path):
    """The layer of a file of ours; None for a public header that no layer claims yet."""
    if path.startswith(PUBLIC):
        return PUBLIC_LAYER.get(path[len(PUBLIC):])
    if path == "libcrawlstore/src/base/assert.h":
        return "words"
    if path.startswith("libcrawlstore/src/"):
        rest = path[len("libcrawlstore/src/"):]
        return rest.split("/")[0] if "/" in rest else "crawl_store"
    return next((name for name in ("format", *OUTSIDE) if path.startswith(name + "/")), path)


def resolve(tree, includer, name):
    """The path that an include of ours leads to; None when it is not of this tree."""
    for path in (posixpath.join(posixpath.dirname(includer), name), name,
                 "libcrawlstore/src/" + name, "libcrawlstore/include/" + name,
                 "capi/include/" + name, "tests/" + name):
        if posixpath.normpath(path) in tree.texts:
            return posixpath.normpath(path)
    return None


def check_external(path, line, name):
    for prefixes, allowed, message in EXTERNAL:
        if name.startswith(prefixes) and not path.startswith(allowed):
            yield Finding(path, line, f"includes {name}: {message}")


def check_own(tree, path, line, target):
    """One include of a file of ours. A benchmark of one codec says `// tidy: inside, <why>`."""
    is_public = target.startswith(PUBLIC)
    layer, lower = layer_of(path), layer_of(target)
    if lower is None:
        yield Finding(path, line, f"{target} has no layer: PUBLIC_LAYER in layer_rules.py")
    elif layer in OUTSIDE:
        inside_ok = layer == "bench" and excused(tree.texts[path], line, "inside")
        if not is_public and lower not in OUTSIDE[layer] and not inside_ok:
            yield Finding(path, line, f"{layer}/ includes public headers only, not {target}")
    elif path.startswith(PUBLIC) and not is_public:
        yield Finding(path, line, f"a public header includes {target}, which is not installed")
    elif layer not in BELOW:
        yield Finding(path, line, f"no layer is known for {path}: add its folder to layer_rules.py")
    elif lower not in at_or_below(layer):
        yield Finding(path, line, f"{layer} must not include {lower} ({target})")


def check_layers(tree):
    """Layer arrows, third-party headers in their place, includes that lead somewhere."""
    for path, text in tree.cxx():
        if path.startswith(PUBLIC) and layer_of(path) is None:
            yield Finding(path, 1, "has no layer: add it to PUBLIC_LAYER in layer_rules.py")
            continue
        for line, name, is_quoted in includes(text):
            yield from check_external(path, line, name)
            target = resolve(tree, path, name)
            if target is None:
                if name.startswith("crawlstore/") or (
                        is_quoted and not name.endswith(("_generated.h", ".capnp.h", ".pb.h"))):
                    yield Finding(path, line, f'"{name}" is no file of this tree')
            elif target.endswith(".cpp"):
                yield Finding(path, line, "includes a .cpp file")
            elif not path.startswith(FREE) and target.endswith(CXX):
                yield from check_own(tree, path, line, target)


def reached(edges, start):
    """All that the edges of start lead to; start itself when they lead back."""
    found, left = set(), [start]
    while left:
        new = edges[left.pop()] - found
        found |= new
        left.extend(new)
    return found


def check_cycles(tree):
    """No header leads back to itself, and no source (x.h with x.cpp) to another that leads back."""
    headers, sources = collections.defaultdict(set), collections.defaultdict(set)
    for path, text in tree.cxx():
        if path.startswith(FREE):
            continue
        source = path.rsplit(".", 1)[0]
        for _, name, _ in includes(text):
            target = resolve(tree, path, name)
            if target is None:
                continue
            if path.endswith(".h"):
                headers[path].add(target)
            if target.rsplit(".", 1)[0] != source:
                sources[source].add(target.rsplit(".", 1)[0])
    for path in list(headers):
        if path in reached(headers, path):
            yield Finding(path, 1, "includes itself, through headers that it includes")
    below = {source: reached(sources, source) for source in list(sources)}
    for source in below:
        for other in sorted(below[source] & below.keys() - {source}):
            if source + ".cpp" in tree.texts and source in below[other]:
                yield Finding(source + ".cpp", 1, f"{source} and {other} include each other")


CLASS = re.compile(r'^(?:class|struct) (\w+)(?: final)?(;| *(?::[^;{]*)?\{)', re.MULTILINE)


def check_forward_declarations(tree):
    """A forward declaration is an arrow to where the class is defined, too."""
    defined, declared = collections.defaultdict(set), []
    for path, _ in tree.cxx("format/", "libcrawlstore/"):
        code = tree.code(path)
        for match in CLASS.finditer(code):
            if match[2] == ";":
                declared.append((path, code.count("\n", 0, match.start(1)) + 1, match[1]))
            else:
                defined[match[1]].add(layer_of(path))
    for path, line, name in declared:
        layer, layers = layer_of(path), defined[name] - {None}
        if layer not in BELOW or not layers:
            continue
        if not layers & at_or_below(layer):
            yield Finding(path, line, f"{layer} must not declare {name} of {min(layers)}")


def check_kinds(tree):
    """The container knows kinds of segments by their rows only."""
    for path, _ in tree.cxx("libcrawlstore/src/container/"):
        code = tree.code(path)
        for match in re.finditer(r'\bSegmentKind::k\w+', code):
            yield Finding(path, code.count("\n", 0, match.start()) + 1,
                          f"container/ names no kind, not {match[0]}: container/kind.h")


RULES = [check_layers, check_cycles, check_forward_declarations, check_kinds]
