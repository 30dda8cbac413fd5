# SPDX-License-Identifier: Apache-2.0
"""Full disks, limits, kills, signals, other writers: nothing that was printed is forgotten, and
every verdict that was decided is printed at least once."""

import contextlib
import os
import random
import resource
import signal
import subprocess
import time
import unittest

import command
import url_inputs
from command import wait_until_filled, wait_until_read
from url_model import Seen, by_key


def lines(urls):
    return b"".join(url + b"\n" for url in urls)


def expected(urls):
    model = Seen()
    return [(model.check_update(url), url) for url in urls]


def whole_lines(out):
    """The verdicts of an output that may have been cut."""
    return [tuple(line.split(b"\t", 1)) for line in out.split(b"\n")[:-1]]


class SeenTest(command.CommandTest):
    def assert_known(self, urls, name="x.crawl"):
        """Leftovers are answered first, so the question comes in a run of its own."""
        leftovers = self.succeed("seen", name).verdicts
        answer = self.succeed("seen", name, "--check", data=lines(urls))
        self.assertEqual(len(answer.verdicts), len(urls))
        self.assertEqual([url for verdict, url in answer.verdicts if verdict != b"duplicate"], [])
        return leftovers

    def assert_unique(self, urls, verdicts):
        """Each of the URLs was unique at least once, in some spelling."""
        model = Seen()
        uniques = {model.key(url) for verdict, url in verdicts if verdict == b"unique"}
        self.assertEqual(uniques, {model.key(url) for url in urls})

    def start_blocked(self, *words, data=b""):
        """A run that is printing, and waits for who reads the pipe."""
        (self.folder / "input").write_bytes(data)
        with open(self.folder / "input", "rb") as source:
            process = self.start("seen", *words, stdin=source, stderr=subprocess.DEVNULL)
        wait_until_filled(process.stdout)
        return process

    def kill_printing(self, *words, data=b""):
        """The whole lines that came out of a run that was killed while it printed."""
        process = self.start_blocked(*words, data=data)
        process.kill()
        out = process.stdout.read()
        process.stdout.close()
        process.wait()
        return whole_lines(out)


class ClosedStreams(SeenTest):
    """A closed descriptor is given to the next file that is opened: never to the store."""

    def without(self, redirection, *words, data=b""):
        done = subprocess.run(["sh", "-c", f'exec "$0" "$@" {redirection}', command.BINARY, *words],
                              input=data, capture_output=True, cwd=self.folder, timeout=60,
                              env=self.environment(), check=False)
        return command.Answer(done.returncode, done.stdout, done.stderr)

    def test_standard_output(self):
        answer = self.without(">&-", "seen", "x.crawl", data=b"http://a.test/\nhttp://b.test/\n")
        self.assertEqual(answer.code, 3)
        self.assertRegex(answer.err, b"standard output")
        self.assert_whole()
        self.assert_known([b"http://a.test/", b"http://b.test/"])

    def test_standard_error(self):
        answer = self.without("2>&-", "seen", "x.crawl", data=b"http://a/\tb\nhttp://b.test/\n")
        self.assertEqual((answer.code, answer.out), (1, b"unique\thttp://b.test/\n"))
        self.assert_whole()

    def test_standard_input(self):
        self.succeed("seen", "x.crawl", data=b"http://a.test/\n")
        answer = self.without("<&-", "seen", "x.crawl")
        self.assertEqual((answer.code, answer.out), (3, b""))
        self.assertRegex(answer.err, b"the input cannot be read")
        self.assert_whole()

    def test_all_of_them(self):
        self.assertNotEqual(self.without("<&- >&- 2>&-", "create", "x.crawl").code, 1)
        self.assert_whole()


class SlowOutput(SeenTest):
    def test_a_pipe_that_does_not_block_gets_every_verdict(self):
        urls = url_inputs.made_up(20_000, 20_000)
        (self.folder / "urls").write_bytes(lines(urls))
        reading, writing = os.pipe()
        os.set_blocking(writing, False)
        with open(self.folder / "urls", "rb") as source:
            process = self.start("seen", "x.crawl", stdin=source, stdout=writing)
        os.close(writing)
        wait_until_filled(reading)
        with open(reading, "rb") as pipe:
            out = pipe.read()
        self.assertEqual(process.wait(timeout=60), 0, process.stderr.read())
        process.stderr.close()
        self.assertEqual(len(whole_lines(out)), len(urls))

    def test_a_second_signal_of_another_kind_ends_at_once(self):
        urls = url_inputs.made_up(20_000, 20_000)
        (self.folder / "urls").write_bytes(lines(urls))
        with open(self.folder / "urls", "rb") as source:
            process = self.start("seen", "x.crawl", stdin=source)
        wait_until_filled(process.stdout)
        process.send_signal(signal.SIGINT)
        time.sleep(0.1)
        self.assertIsNone(process.poll())  # it waits for the reader
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(timeout=60), -signal.SIGTERM)
        process.stdout.close()
        process.stderr.close()
        self.assert_whole()


class FullDisk(SeenTest):
    def setUp(self):
        super().setUp()
        mount = command.Mount(self.folder / "disk", "1m")
        if not mount.done:
            self.skipTest("needs to mount a tmpfs")
        self.addCleanup(mount.remove)
        self.mount = mount

    def test_ends_with_3_and_keeps_what_was_printed(self):
        urls = url_inputs.made_up(100_000, 80_000)
        answer = self.run_command("seen", "disk/x.crawl", "--memory", "64KiB", data=lines(urls))
        self.assertEqual(answer.code, 3)
        self.assertRegex(answer.err, rb"disk/x.crawl: no space left.*free some space")
        self.assert_whole("disk/x.crawl")
        self.mount.resize("64m")
        printed = answer.verdicts
        leftovers = self.assert_known([url for _, url in printed], "disk/x.crawl")
        rest = self.succeed("seen", "disk/x.crawl", data=lines(urls)).verdicts
        self.assert_unique(urls, printed + leftovers + rest)

    def test_of_the_output_leaves_every_verdict_to_the_next_run(self):
        urls = url_inputs.made_up(20_000, 15_000)
        for options in ([], ["--ordered"]):
            name = f"{len(options)}.crawl"
            with open("/dev/full", "wb") as full:
                answer = self.run_command("seen", name, *options, data=lines(urls), stdout=full)
            self.assertEqual(answer.code, 3)
            self.assertRegex(answer.err, b"no space left.*standard output|standard output.*no spac")
            again = self.succeed("seen", name).verdicts
            self.assertEqual(by_key(again, Seen()), by_key(expected(urls), Seen()))

    def test_makes_no_store_where_none_fits(self):
        with open(self.folder / "disk/filler", "wb") as filler:
            filler.write(b"x" * (1000 << 10))
        self.refuse(3, "no space left", "create", "disk/x.crawl")
        self.assertEqual(os.listdir(self.folder / "disk"), ["filler"])

    def test_is_told_before_pages_are_forgotten_or_ranked(self):
        self.mount.resize("64m")
        links = "".join(f"http://h{i % 50}.test/{i}\thttp://h{i * 7 % 50}.test/{i * 13 % 20_000}\n"
                        for i in range(20_000)).encode()
        self.succeed("import", "disk/x.crawl", "-", "--format", "edges", data=links)
        self.succeed("compact", "disk/x.crawl", "-q")
        def content():  # behind the superblocks, which any writer writes again
            return (self.folder / "disk/x.crawl").read_bytes()[80 << 10:]
        before = content()
        with contextlib.suppress(OSError), open(self.folder / "disk/filler", "wb", 0) as filler:
            while True:
                filler.write(bytes(4096))
        for words in (["forget", "--match", "7"], ["rank"], ["rank", "hits"]):
            answer = self.run_command(words[0], "disk/x.crawl", "-q", *words[1:])
            self.assertEqual(answer.code, 3, words)
            self.assertRegex(answer.err, rb"no space left.*[0-9] KiB are needed.*free some space")
            self.assertEqual(content(), before)

    def test_stops_a_copy_that_does_not_fit(self):
        self.succeed("seen", "x.crawl", data=lines(url_inputs.made_up(400_000, 400_000)))
        self.refuse(3, "no space left", "snapshot", "x.crawl", "disk/copy.crawl")
        self.assertEqual(os.listdir(self.folder / "disk"), [])

    def test_of_standard_output_is_reported(self):
        self.succeed("seen", "x.crawl", data=b"http://a.test/\n")
        with open("/dev/full", "wb") as full:
            for words in (["info"], ["info", "--json"], ["segments"], ["verify"], ["pins"]):
                answer = self.run_command(words[0], "x.crawl", *words[1:], stdout=full)
                self.assertEqual(answer.code, 3, words)
                self.assertRegex(answer.err, rb"standard output.*no space left|"
                                             rb"no space left.*standard output")


class Limits(SeenTest):
    def test_on_file_size_end_with_3(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (300 << 10, 300 << 10))
        urls = url_inputs.made_up(100_000, 80_000)
        answer = self.run_command("seen", "x.crawl", "--memory", "64KiB", data=lines(urls),
                                  preexec_fn=limit)
        self.assertEqual(answer.code, 3, answer.err)
        self.assertRegex(answer.err, rb"limit on the size of files.*ulimit -f")
        self.assert_whole()
        self.assert_known([url for _, url in answer.verdicts])


class Kill(SeenTest):
    """kill -9 at any moment, many times, on one store."""

    def test_loses_no_verdict(self):
        seed = command.SEED
        generator = random.Random(seed)
        rounds = 200 if command.IS_LONG else 12
        print(f"seed {seed}, {rounds} kills")
        urls = url_inputs.made_up(40_000, 30_000, seed)
        everything = []
        for _ in range(rounds):
            everything += self.killed_run(urls, generator)
            self.assert_whole()
            everything += self.assert_known([url for _, url in everything[-2000:]])
        everything += self.succeed("seen", "x.crawl", data=lines(urls)).verdicts
        self.assert_unique(urls, everything)
        self.assert_known([url for _, url in everything])

    def test_while_it_prints_leaves_the_verdicts_to_the_next_run(self):
        urls = url_inputs.made_up(20_000, 15_000)
        for options in ([], ["--ordered"], ["--json", "--repeats", "drop"]):
            name = f"{len(options)}.crawl"
            self.kill_printing(name, *options, data=lines(urls))
            self.assert_whole(name)
            self.kill_printing(name)  # once more, while it prints what waited
            answer = self.succeed("seen", name).verdicts
            self.assert_unique(urls, answer)
            if "drop" not in options:
                self.assertEqual(by_key(answer, Seen()), by_key(expected(urls), Seen()))
            self.assertEqual(self.succeed("seen", name).verdicts, [])

    def test_while_it_checks_leaves_the_answers_and_changes_nothing(self):
        urls = url_inputs.made_up(20_000, 15_000)
        self.kill_printing("x.crawl", "--check", data=lines(urls))
        for answer in (self.succeed("seen", "x.crawl", "--check"),
                       self.succeed("seen", "x.crawl", "--check", data=lines(urls))):
            self.assertEqual(len(answer.verdicts), len(urls))
            self.assertEqual({verdict for verdict, _ in answer.verdicts}, {b"unique"})

    def killed_run(self, urls, generator):
        """The verdicts that came out before the kill."""
        options = generator.choice(([], ["--ordered"], ["--flush-every", "300"]))
        process = self.start("seen", "x.crawl", "--memory", "64KiB", "--quiet", *options,
                             stderr=subprocess.DEVNULL)
        kept = generator.sample(urls, len(urls))
        # A second process writes, so that neither pipe can block the other.
        writer = os.fork()
        if writer == 0:
            signal.signal(signal.SIGPIPE, signal.SIG_DFL)
            process.stdout.close()
            os.write(process.stdin.fileno(), b"")
            with os.fdopen(os.dup(process.stdin.fileno()), "wb") as pipe:
                pipe.write(lines(kept))
            os._exit(0)
        process.stdin.close()
        out = process.stdout.read(generator.randrange(1, 400_000))
        process.kill()
        out += process.stdout.read()
        process.stdout.close()
        process.wait()
        os.waitpid(writer, 0)
        return whole_lines(out)


class ShortAddressSpace(SeenTest):
    """`ulimit -v`, with the default --memory."""

    def test_is_enough_for_an_import_and_ranks(self):
        if command.IS_SANITIZED:
            self.skipTest("a sanitizer needs all addresses")
        generator = random.Random(1)
        urls = [b"http://h%d.test/some/longer/path/%d" % (i % 997, i) for i in range(150_000)]
        (self.folder / "e.tsv").write_bytes(lines(
            [b"%s\t%s" % (url, generator.choice(urls)) for url in urls[:50_000]
             for _ in range(4)]))
        for kibibytes in (150_000, 200_000):
            limit = kibibytes << 10
            name = f"{kibibytes}.crawl"
            for words in (["import", name, "--format", "edges", "e.tsv"], ["rank", name]):
                self.succeed(*words, preexec_fn=lambda n=limit: resource.setrlimit(
                    resource.RLIMIT_AS, (n, n)))


class Signals(SeenTest):
    def test_that_ask_to_stop_are_obeyed_cleanly(self):
        urls = url_inputs.made_up(5_000, 4_000)
        for number, code in ((signal.SIGTERM, 143), (signal.SIGINT, 130), (signal.SIGHUP, 129)):
            name = f"{code}.crawl"
            process = self.start("seen", name, "--ordered")
            process.stdin.write(lines(urls))
            process.stdin.flush()
            wait_until_read(process.stdin.fileno())
            process.send_signal(number)
            out, err = process.communicate(timeout=60)
            self.assertEqual(process.returncode, code, err)
            model = Seen()
            self.assertEqual(whole_lines(out), [(model.check_update(url), url) for url in urls])
            self.assert_whole(name)
            self.assertEqual(self.assert_known(urls, name), [])

    def test_leave_out_a_line_that_came_in_part(self):
        process = self.start("seen", "x.crawl")
        process.stdin.write(b"http://a.test/\nhttp://b.te")
        process.stdin.flush()
        wait_until_read(process.stdin.fileno())
        process.terminate()
        out, _ = process.communicate(timeout=60)
        self.assertEqual(out, b"unique\thttp://a.test/\n")

    def test_of_a_reader_that_went_away_end_it_quietly(self):
        urls = url_inputs.made_up(50_000, 40_000)
        process = self.start("seen", "x.crawl", "--memory", "64KiB", "--quiet")
        head = subprocess.Popen(["head", "-n", "1"], stdin=process.stdout, stdout=subprocess.PIPE)
        process.stdout.close()
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(lines(urls))
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()
        first = head.communicate(timeout=60)[0]
        err = process.stderr.read()
        process.stderr.close()
        self.assertEqual(process.wait(timeout=60), -signal.SIGPIPE)
        self.assertEqual(err, b"")
        self.assert_whole()
        leftovers = self.assert_known([whole_lines(first)[0][1]])
        rest = self.succeed("seen", "x.crawl", data=lines(urls)).verdicts
        self.assert_unique(urls, leftovers + rest)

    def test_of_a_reader_that_went_away_lose_no_line_that_was_read(self):
        urls = url_inputs.made_up(10_000, 8_000)
        data = lines(urls)
        self.assertLess(len(data), 1 << 20)  # is read at once
        for options in ([], ["--ordered"]):
            name = f"{len(options)}.crawl"
            # More than a pipe holds waits for the first merge, and half of the lines are not asked.
            process = self.start_blocked(name, "--flush-every", "5000", *options, data=data)
            process.stdout.close()
            self.assertEqual(process.wait(timeout=60), -signal.SIGPIPE)
            self.assert_unique(urls, self.succeed("seen", name).verdicts)

    def test_of_a_reader_that_went_away_keep_all_lines_up_to_the_last_that_was_read(self):
        urls = [f"http://a.test/{i}".encode() for i in range(100_000)]  # many hand-overs
        path = self.folder / "urls"
        path.write_bytes(lines(urls))
        process = self.start("seen", "x.crawl", str(path), "--memory", "1MiB", "--quiet")
        process.stdout.read(1)
        process.stdout.close()
        self.assertEqual(process.wait(timeout=60), -signal.SIGPIPE)
        rest = [url for _, url in self.succeed("seen", "x.crawl").verdicts]
        self.assertEqual(set(rest), set(urls[:len(rest)]))
        self.assertTrue(20_000 < len(rest) < len(urls), len(rest))

    def test_that_were_ignored_stay_ignored(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):  # the last as nohup does
            process = self.start("seen", f"{number}.crawl",
                                 preexec_fn=lambda n=number: signal.signal(n, signal.SIG_IGN))
            process.stdin.write(b"http://a.test/\n")
            process.stdin.flush()
            wait_until_read(process.stdin.fileno())
            process.send_signal(number)
            out, _ = process.communicate(b"http://b.test/\n", timeout=60)
            self.assertEqual((process.returncode, out.count(b"unique")), (0, 2), number)

    def test_of_a_hang_up_can_come_twice(self):
        """From a shell that ends, and from the kernel for its terminal."""
        urls = url_inputs.made_up(20_000, 20_000)
        for numbers, code in (((signal.SIGHUP, signal.SIGHUP), 129),
                              ((signal.SIGTERM, signal.SIGHUP), 143)):
            process = self.start_blocked(f"{code}.crawl", data=lines(urls))
            for number in numbers:
                process.send_signal(number)
                time.sleep(0.1)
            self.assertIsNone(process.poll())  # it waits for the reader
            out, err = process.communicate(timeout=60)
            self.assertEqual((process.returncode, len(whole_lines(out))), (code, len(urls)), err)
            self.assert_whole(f"{code}.crawl")

    def test_of_a_hang_up_lose_no_edit_that_was_read(self):
        process = self.start("import", "x.crawl", "--format", "edges", "-")
        process.stdin.write(b"".join(b"http://a.test/%d\thttp://b.test/%d\n" % (i, i)
                                     for i in range(10_000)))
        process.stdin.flush()
        wait_until_read(process.stdin.fileno())
        process.send_signal(signal.SIGHUP)
        _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 129, err)
        self.assertIn(b"10,000 edits wait", err)
        self.assert_whole()


class Leftovers(SeenTest):
    """Lines that were asked and not answered wait in the file."""

    def test_are_printed_by_the_next_run_after_a_merge(self):
        urls = url_inputs.made_up(20_000, 15_000)
        printed = self.kill_printing("x.crawl", "--memory", "64KiB", data=lines(urls))
        self.succeed("merge", "x.crawl")
        first = self.succeed("seen", "x.crawl").verdicts
        self.assertEqual(self.succeed("seen", "x.crawl").verdicts, [])
        rest = self.succeed("seen", "x.crawl", data=lines(urls)).verdicts
        self.assertNotEqual(first, [])
        self.assert_unique(urls, printed + first + rest)

    def test_are_not_swallowed_by_an_import(self):
        urls = url_inputs.made_up(20_000, 15_000)
        self.kill_printing("x.crawl", data=lines(urls))
        self.succeed("import", "x.crawl", "--format", "urls", "--drum", "urls", "-",
                     data=lines(urls[:100]))
        answer = self.succeed("seen", "x.crawl").verdicts
        self.assertEqual(by_key(answer, Seen()), by_key(expected(urls), Seen()))


class Writers(SeenTest):
    def setUp(self):
        super().setUp()
        self.make_store()
        self.writer = self.start("seen", "x.crawl", "--quiet")
        self.addCleanup(self.end_writer)
        self.writer.stdin.write(b"http://a.test/\n")
        self.writer.stdin.flush()
        wait_until_read(self.writer.stdin.fileno())

    def end_writer(self):
        if not self.writer.stdin.closed:
            self.writer.communicate(timeout=60)
        return self.writer.returncode

    def test_of_one_file_are_one_at_a_time(self):
        for words in (["seen"], ["merge"], ["compact"], ["rollback"]):
            self.refuse(3, "another writer has the store open.*wait.*"
                        rf"It is process {self.writer.pid} \(crawlstore\)", words[0], "x.crawl")
        self.assertEqual(self.end_writer(), 0)
        self.succeed("compact", "x.crawl")

    def test_wait_when_they_are_told_to(self):
        second = self.start("seen", "x.crawl", "--lock-wait", "60")
        second.stdin.write(b"http://a.test/\n")
        second.stdin.close()
        self.end_writer()
        self.assertEqual(second.stdout.read(), b"duplicate\thttp://a.test/\n")
        self.assertEqual(second.wait(timeout=60), 0)
        second.stdout.close()
        second.stderr.close()

    def test_wait_for_each_other_where_there_is_no_file_yet(self):
        for number in range(6):
            name = f"new{number}.crawl"
            crawlers = [self.start("seen", name, "--lock-wait", "60") for _ in range(4)]
            for crawler in crawlers:
                crawler.stdin.write(b"http://a.test/\n")
                crawler.stdin.close()
            answers = []
            for crawler in crawlers:
                answers.append(crawler.stdout.read())
                self.assertEqual(crawler.wait(timeout=60), 0, crawler.stderr.read())
                crawler.stdout.close()
                crawler.stderr.close()
            self.assertEqual(sorted(answers), [b"duplicate\thttp://a.test/\n"] * 3
                             + [b"unique\thttp://a.test/\n"])

    def test_do_not_disturb_readers(self):
        for words in (["info"], ["segments"], ["verify", "--deep"], ["pins"], ["dump"]):
            self.succeed(words[0], "x.crawl", *words[1:])
        self.succeed("snapshot", "x.crawl", "copy.crawl")
        self.assert_whole("copy.crawl")


class Replaced(SeenTest):
    def test_file_is_noticed_and_not_written(self):
        self.make_store()
        self.make_store("other.crawl")
        other = (self.folder / "other.crawl").read_bytes()
        process = self.start("seen", "x.crawl", "--flush-every", "1h")
        process.stdin.write(b"http://a.test/\n")
        process.stdin.flush()
        wait_until_read(process.stdin.fileno())
        os.rename(self.folder / "other.crawl", self.folder / "x.crawl")
        out, err = process.communicate(timeout=60)
        self.assertEqual((process.returncode, out), (3, b""), err)
        self.assertRegex(err, rb"another file is at the path now")
        self.assertEqual((self.folder / "x.crawl").read_bytes(), other)


if __name__ == "__main__":
    unittest.main()
