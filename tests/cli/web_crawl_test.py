# SPDX-License-Identifier: Apache-2.0
"""examples/web_crawl.cpp, against a server of this machine that stands for some hundred hosts."""

import collections
import email.utils
import itertools
import json
import os
import random
import re
import signal
import subprocess
import time
import unittest

import command
from pages_command import PagesTest
from web_crawl_server import DELAY, HOSTS, TIMEOUT, Server, Sites, answer, url

BINARY = command.BUILD / "bin/web_crawl"
KILLS = 40 if command.IS_LONG else 8


def urls_of(requests):
    """{URL: how often it was requested}, but for those of robots.txt."""
    return collections.Counter(f"http://{request.host}{request.path}" for request in requests
                               if request.path != "/robots.txt")


class WebCrawl(PagesTest):
    def setUp(self):
        super().setUp()
        if not BINARY.exists():
            self.skipTest("built without examples")
        self.sites = Sites(random.Random(command.SEED))
        self.crawl_environment = {}

    def start_crawl(self, *words):
        """With a server of its own, which no request of a killed process reaches."""
        self.server = Server(self.sites)
        return subprocess.Popen(
            [BINARY, "x.crawl", "--resolve-all", "127.0.0.1:%d" % self.server.server_port,
             "--user-agent", "test", "--delay", str(int(DELAY * 1000)),
             "--timeout", str(int(TIMEOUT * 1000)), *words,
             *self.sites.seeds], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env={**os.environ, **self.crawl_environment})

    def crawl(self, *words):
        process = self.start_crawl("--retries", "0", *words)
        out, err = process.communicate(timeout=300)
        self.assertEqual(process.returncode, 0, out + err)
        return self.server.stop()

    def final_states(self, name="x.crawl"):
        """{URL: state} of the pages with an outcome, by the file."""
        return {row["url"]: row["state"] for row in self.rows(name=name)
                if row["state"] != "known"}

    def assert_asked_robots_first(self, requests):
        """Each host for its robots.txt before anything else."""
        first = {}
        for request in sorted(requests, key=lambda request: request.begin):
            first.setdefault(request.host, request.path)
        self.assertEqual(set(first.values()), {"/robots.txt"})

    def assert_polite(self, requests):
        by_host = collections.defaultdict(list)
        for request in sorted(requests, key=lambda request: request.begin):
            by_host[request.host].append(request)
        for host, own in by_host.items():
            for before, after in zip(own, own[1:]):
                self.assertGreaterEqual(after.begin - before.end, DELAY, (host, before, after))

    def test_fetches_each_reachable_page_once_and_politely(self):
        self.sites = Sites(random.Random(command.SEED), has_hanging=True)
        begin = time.monotonic()
        requests = self.crawl()
        seconds = time.monotonic() - begin
        wanted = self.sites.reachable()
        self.assertEqual(urls_of(requests), collections.Counter(wanted.keys()))
        self.assertEqual(self.final_states(), wanted)
        self.assertIn("http://special.test/behind", wanted)
        self.assert_polite(request for request in requests if request.path != "/hanging")
        self.assert_asked_robots_first(requests)
        self.assertEqual(sum(request.path == "/robots.txt" for request in requests), HOSTS + 1)
        changes = sorted([(request.begin, 1) for request in requests] +
                         [(request.end, -1) for request in requests])
        most = max(itertools.accumulate(change for _, change in changes))
        print(f"{len(set(request.host for request in requests))} hosts, {len(requests)} requests, "
              f"{seconds:.1f} s, {most} at once")
        self.assertGreater(most, 4)
        self.assertIn((b"http://special.test/from", b"http://special.test/to?a=b"), self.edges())
        moved, target = (json.loads(self.succeed("page", "x.crawl", url, "--json").out) for url in
                         ("http://special.test/from", "http://special.test/to?a=b"))
        self.assertEqual((moved["state"], moved["http_status"]), ("redirect", 302))
        self.assertEqual((target["state"], target["depth"], target["linked_from"]),
                         ("crawled", moved["depth"], moved["index"]))
        self.assert_whole()
        self.assertEqual(self.crawl(), [])

    def test_goes_on_where_it_paused(self):
        first = self.crawl("--pages", "70", "--round", "100")
        self.assertEqual(urls_of(first).total(), 70)
        both = first + self.crawl("--round", "100")
        self.assertEqual(urls_of(both), collections.Counter(self.sites.reachable().keys()))
        asked = [request.host for request in both if request.path == "/robots.txt"]
        self.assertEqual(len(asked), len(set(asked)))
        self.assertEqual(self.drums(), {"robots": HOSTS + 1})

    def test_asks_again_for_what_failed_for_now(self):
        """A page is asked for as often as the server says, and not before the time that it
        names."""
        first = "http://busy.test"
        busy = {"/": [answer(["/later", "/broken", "/missing"])],
                "/later": [answer(status=429, headers={"Retry-After": "1"}), answer(["/found"])],
                "/found": [answer()],
                "/broken": [answer(status=503)] * 3 + [answer()]}
        asked = collections.Counter()

        def find(url):
            asked[url] += 1
            answers = busy.get(url.removeprefix(first), [answer(status=404)])
            return answers[min(asked[url], len(answers)) - 1]

        self.sites.seeds = [first + "/"]
        self.sites.find = find
        process = self.start_crawl("--retries", "2")
        out, err = process.communicate(timeout=300)
        self.assertEqual(process.returncode, 0, out + err)
        requests = self.server.stop()
        self.assertEqual(urls_of(requests), {first + "/": 1, first + "/later": 2,
                                             first + "/found": 1, first + "/broken": 3,
                                             first + "/missing": 1})
        later = [request for request in requests if request.path == "/later"]
        self.assertGreaterEqual(later[1].begin - later[0].end, 1)
        self.assertEqual({row["url"].removeprefix(first): (row["state"], row["http_status"])
                          for row in self.rows()},
                         {"/": ("crawled", 200), "/later": ("crawled", 200),
                          "/found": ("crawled", 200), "/broken": ("failed", 503),
                          "/missing": ("gone", 404)})
        self.assert_polite(requests)

    def test_fetches_again_what_was_modified(self):
        """A year later, with the time of the last fetch; and says of each whether it changed."""
        first = "http://old.test"
        pages = {"/": answer(["/same", "/new", "/rude", "/gone"]), "/same": answer(),
                 "/new": answer(headers={"Last-Modified": "Fri, 01 Jan 2100 00:00:00 GMT"}),
                 "/rude": answer(status=304), "/gone": answer(status=404)}
        self.sites.seeds = [first + "/"]
        self.sites.find = lambda url: pages.get(url.removeprefix(first), answer(status=404))
        self.assertTrue(all(request.modified_since is None for request in self.crawl()))
        self.assertEqual(self.final_states()[first + "/rude"], "failed")
        pages["/new"] = pages["/new"]._replace(body=b"another one")
        self.crawl_environment = command.clock_ahead()
        requests = self.crawl("--revisits", "1000000", "--pages", "3")
        asked = {request.path: request.modified_since for request in requests
                 if request.path != "/robots.txt"}
        self.assertEqual(set(asked), {"/", "/same", "/new"})
        for text in asked.values():
            since = email.utils.parsedate_to_datetime(text).timestamp()
            self.assertAlmostEqual(since, time.time() - 3600, delta=120)
        counts = {row["url"].removeprefix(first): (
            row["state"], row["http_status"], row["crawl_count"], row["change_count"])
            for row in self.rows()}
        self.assertEqual(counts, {
            "/": ("crawled", 304, 2, 0), "/same": ("crawled", 304, 2, 0),
            "/new": ("crawled", 200, 2, 1), "/rude": ("failed", 304, 0, 0),
            "/gone": ("gone", 404, 0, 0)})
        self.assert_polite(requests)

    def put_robots(self):
        """Lets a third of the hosts deny a page each, beside rules for others."""
        rules = "User-agent: other\nDisallow: /\n\nUser-agent: *\nDisallow: /page3\n"
        robots = {host: answer(body=rules, type="text/plain") for host in range(0, HOSTS, 3)}
        for host, page in robots.items():
            self.sites.pages[f"http://host{host}.test/robots.txt"] = page
        self.sites.denied = {url(host, 3) for host in robots}

    def test_obeys_robots(self):
        """Rules, a delay, an absent one, one that comes late, and one that is cut."""
        robots = {
            "denies.test": [answer(body="User-agent: *\nDisallow: /private\nAllow: /private/a")],
            "slow.test": [answer(body="User-agent: test\nCrawl-delay: 0.4\n")],
            "missing.test": [answer(status=404, body="User-agent: *\nDisallow: /")],
            "late.test": [answer(status=503)] * 2 + [answer(body="User-agent: *\nDisallow: /b")],
            "never.test": [answer(status=500)],
            "moved.test": [answer(status=301, headers={"Location": "/rules"})],
            "circle.test": [answer(status=301, headers={"Location": "/robots.txt"})],
            "long.test": [answer(body="User-agent: *\nDisallow: /a\n" + "#" * (600 << 10) +
                                 "\nDisallow: /b\n")],
        }
        paths = ["/", "/a", "/b", "/private", "/private/a"]
        allowed = {"denies.test": ["/", "/a", "/b", "/private/a"],
                   "late.test": ["/", "/a", "/private", "/private/a"],
                   "never.test": [], "moved.test": ["/", "/b"],
                   "long.test": ["/", "/b", "/private", "/private/a"]}
        asked = collections.Counter()

        def find(url):
            host, path = re.fullmatch("http://([^/]*)(/.*)", url).groups()
            if path == "/rules":
                return answer(body="User-agent: *\nDisallow: /a\nDisallow: /private")
            if path != "/robots.txt":
                return answer(paths)
            asked[host] += 1
            return robots[host][min(asked[host], len(robots[host])) - 1]

        self.sites.seeds = [f"http://{host}/" for host in robots]
        self.sites.find = find
        process = self.start_crawl("--retries", "2", "--robots-wait", "300")
        out, err = process.communicate(timeout=300)
        self.assertEqual(process.returncode, 0, out + err)
        requests = self.server.stop()
        self.assertEqual(urls_of(request for request in requests if request.path != "/rules"),
                         {f"http://{host}{path}": 1 for host in robots
                          for path in allowed.get(host, paths)})
        self.assert_asked_robots_first(requests)
        more = {"late.test": 3, "never.test": 3, "circle.test": 6}
        self.assertEqual(asked, {host: more.get(host, 1) for host in robots})
        own = [request for request in requests if request.host == "slow.test"]
        for before, after in zip(own, own[1:]):
            self.assertGreaterEqual(after.begin - before.end, 0.4)
        group = self.succeed("frontier", "x.crawl", "--group", "slow.test", "--json").out
        self.assertIn(b"delay=400ms,hard=400ms", group)
        late = [request for request in requests if request.host == "late.test"]
        self.assertGreaterEqual(late[1].begin - late[0].end, 0.3)
        states = self.final_states()
        self.assertEqual(states.pop("http://never.test/"), "failed")
        self.assertEqual(states, {f"http://{host}{path}":
                                  "crawled" if path in allowed.get(host, paths) else "denied"
                                  for host in robots if host != "never.test" for path in paths})
        self.assert_polite(request for request in requests
                           if request.host not in ("moved.test", "circle.test"))
        self.assert_whole()

    def test_refuses_other_command_lines(self):
        for words, code in ((["--help"], 0), ([], 2), (["x.crawl"], 2),
                            (["x.crawl", "--user-agent", "test", "no-url"], 2),
                            (["x.crawl", "--user-agent", "test", "--delay", "1s"], 2),
                            (["x.crawl", "--user-agent", "test", "--delays", "1"], 2)):
            process = subprocess.run([BINARY, *words], cwd=self.folder, capture_output=True)
            self.assertEqual(process.returncode, code, words)
        self.assertFalse((self.folder / "x.crawl").exists())

    def crawl_localhost(self, path, *servers):
        """Requests of a page by DNS, without robots.txt; as many as there are servers."""
        url = f"http://localhost:{servers[0].server_port}/{path}"
        process = subprocess.run(
            [BINARY, "x.crawl", "--user-agent", "test", "--delay", "20", "--retries", "1", url],
            cwd=self.folder, capture_output=True, timeout=60)
        self.assertEqual(process.returncode, 0, process.stderr)
        return [[request.path for request in server.stop() if request.path != "/robots.txt"]
                for server in servers]

    def test_keeps_addresses_in_the_file(self):
        """The second run asks where the first has found its page, not the address tried first. If
        that fails, DNS says another one."""
        def start(address, port=0):
            return Server(self.sites, port, address)

        self.sites.find = lambda url: answer()
        free = start("127.0.0.1")  # for a port that no other server has there
        port = free.server_port
        free.stop()
        try:
            first = start("::1", port)
        except OSError:
            self.skipTest("no IPv6")
        self.assertEqual(self.crawl_localhost("a", first), [["/a"]])
        self.assertEqual(self.crawl_localhost("b", start("127.0.0.1", port), start("::1", port)),
                         [[], ["/b"]])
        self.assertEqual(self.crawl_localhost("c", start("127.0.0.1", port)), [["/c"]])
        self.assertEqual(self.crawl_localhost("d", start("127.0.0.1", port), start("::1", port)),
                         [["/d"], []])
        self.assertEqual(self.drums(), {"dns": 1, "robots": 1})
        self.assert_whole()

    def drums(self):
        """{name: keys} of those that a crawler has for itself."""
        self.succeed("merge", "x.crawl")
        info = json.loads(self.succeed("info", "x.crawl", "--json").out)
        return {drum["name"]: drum["key_count"] for drum in info["drums"]
                if drum["name"] in ("dns", "robots")}

    def states_in_a_copy(self):
        """final_states(), once what waits in the file is merged; the file stays as it is."""
        (self.folder / "copy.crawl").write_bytes((self.folder / "x.crawl").read_bytes())
        self.assert_whole("copy.crawl")
        self.succeed("merge", "copy.crawl")
        return self.final_states("copy.crawl")

    def test_loses_no_page_when_it_is_killed_and_fetches_none_again_that_was_committed(self):
        generator = random.Random(command.SEED)
        self.put_robots()
        wanted = self.sites.reachable()
        fetched = wanted.keys() - self.sites.denied
        committed, again, growth, asked = {}, collections.Counter(), 0, set()
        for kill in range(KILLS):
            process = self.start_crawl("--round", "20", "--retries", "0")
            count = generator.randrange(len(wanted) // KILLS)
            command.wait_until(lambda: len(self.server.requests) > count or
                               process.poll() is not None)
            time.sleep(generator.uniform(0, 0.3))
            process.send_signal(signal.SIGKILL)
            _, err = process.communicate()
            acknowledged = sum(map(int, re.findall(rb"(?m)^(\d+) outcomes, ", err)))
            requests = self.server.stop()
            asked |= {request.host for request in requests if request.path == "/robots.txt"}
            self.assertLessEqual({request.host for request in requests}, asked)
            requested = urls_of(requests)
            self.assertEqual(requested.keys() & self.sites.denied, set())
            self.assertEqual(requested.keys() & committed.keys(), set(), kill)
            self.assertLessEqual(max(requested.values(), default=0), 1)
            states = self.states_in_a_copy() if (self.folder / "x.crawl").exists() else {}
            self.assertLessEqual(committed.items(), states.items())
            self.assertLessEqual(states.items(), wanted.items())
            self.assertGreaterEqual(len(states) - len(committed), acknowledged)
            growth += acknowledged > 0
            committed = states
            again += requested
        self.assertGreater(growth, 0)
        self.assertLess(len(committed), len(wanted))
        rest = urls_of(self.crawl())
        self.assertEqual(rest, collections.Counter(fetched - committed.keys()))
        self.assertEqual(self.final_states(), wanted)
        self.assert_whole()
        print(f"{KILLS} kills, {growth} after commits: of {len(fetched)} requests "
              f"{(again + rest).total() - len(fetched)} made again")


if __name__ == "__main__":
    unittest.main()
