# SPDX-License-Identifier: Apache-2.0
"""The output of the verbs with --json: spec/cli.schema.json holds for it, spec/json.md for its
names.

Invariants: every verb with --json has a definition and runs here; every member has the type that
its name says; of a text and its _hex form one is there."""

import json
import re
import shutil
import unittest

import jsonschema

import command
from json_corpus import RUNS

SCHEMA = json.loads((command.SOURCE / "spec/cli.schema.json").read_text())
# spec/json.md#names, in its order: the first that fits says the type.
RULE = [(r"score:.+", "number"), (r"rank:.+", "ordinal"), (r"(.+_)?hex", "hex"),
        (r"(.+_)?count", "count"), (r".+_delta", "delta"), (r"(.+_)?bytes", "bytes"),
        (r".+_us", "time_us"), (r"(.+_)?seconds", "seconds"), (r".+_per_.+", "rate"),
        (r"(.+_)?share", "share"),
        (r"(is|has)_.+", "flag"), (r"features_.+", "bits"),
        (r"(.+_)?(id|index|generation|sequence)", "ordinal"),
        (r"rank|depth|pid|pass|born|owner|segment|iteration|linked_from|http_status|first_page|"
         r"first_logged_request|format_version|end_page|step", "ordinal"),
        (r"merge_requests|partition_keys_max", "count"),  # names of spec/drum.md
        (r"balance|error_mean|error_max|error_by_pages|"
         r"damping|precision|residual|sum|l1_distance|score_change_max|"
         r"expected_false_duplicates|(.+_)?(score|priority)", "number")]


def type_of(name, beside):
    if name + "_us" in beside:
        return "time"
    return next((kind for pattern, kind in RULE if re.fullmatch(pattern, name)), "text")


def object_schemas():
    """Yields the schemas of all objects that verbs print."""
    waiting = list(SCHEMA["properties"].values())
    while waiting:
        one = waiting.pop()
        if "properties" in one:
            yield one
        else:
            waiting += one["oneOf"]
        waiting += [member["items"] for member in one.get("properties", {}).values()
                    if member.get("type") == "array"]


class Json(command.CommandTest):
    def test_has_a_definition_for_every_verb(self):
        listed = self.succeed("--help").out.decode().split("Subcommands:")[1]
        verbs = re.findall(r"(?m)^  ([a-z]+) ", listed)
        self.assertGreater(len(verbs), 20)
        with_json = {verb for verb in verbs
                     if re.search(rb"(?m)^ +--json\b", self.succeed(verb, "--help").out)}
        self.assertEqual(with_json, set(SCHEMA["properties"]))
        self.assertEqual(with_json, {verb for verb, *_ in RUNS})

    def test_is_of_the_schema(self):
        jsonschema.Draft202012Validator.check_schema(SCHEMA)
        validator = jsonschema.Draft202012Validator(SCHEMA)
        self.make_store("old.crawl")
        for name in ("0", "1"):
            self.make_store(f"{name}.crawl", "--shard", f"{name}/2", "--key-seed", "1")
        for verb, words, data, code in RUNS:
            answer = self.run_command(verb, *words, "--json", data=data)
            self.assertEqual(answer.code, code, (verb, words, answer.err))
            for text in answer.out.splitlines() if verb == "seen" else [answer.out]:
                found = list(validator.iter_errors({verb: json.loads(text)}))
                self.assertEqual([(verb, words, error.json_path, error.message[:500])
                                  for error in found], [])
            if not (self.folder / "older.crawl").exists():
                shutil.copy(self.folder / "x.crawl", self.folder / "older.crawl")
                data = bytearray((self.folder / "x.crawl").read_bytes())
                data[(81_920 + len(data)) // 2] ^= 1
                (self.folder / "damaged.crawl").write_bytes(data)

    def test_of_a_damaged_file_has_what_can_be_read(self):
        whole = (command.SOURCE / "tests/golden/valid/queues.crawl").read_bytes()
        (self.folder / "x.crawl").write_bytes(whole)
        before = json.loads(self.succeed("info", "x.crawl", "--json").out)
        found = json.loads(self.succeed("segments", "x.crawl", "--json").out)
        self.assertEqual((before["error"], before["drums"]), (None, []))
        self.assertGreater(len(before["queues"]), 1)
        (table, *_) = [one["id"] for one in found["segments"] if one["kind"] == "queue"]
        (run,) = [one for one in found["runs"] if one["segment"] == table]
        damaged = bytearray(whole)
        damaged[run["offset_bytes"]] ^= 1
        (self.folder / "x.crawl").write_bytes(damaged)
        (name,) = [one["name"] for one in found["segments"] if one["id"] == table]
        answer = self.run_command("next", "x.crawl", "--peek", "--skip-damaged", "--name", name,
                                  "--json")
        peeked = json.loads(answer.out)
        jsonschema.Draft202012Validator(SCHEMA).validate({"next": peeked})
        self.assertEqual((answer.code, peeked["pages"], len(peeked["queue_gaps"])), (1, [], 1))
        answer = self.run_command("info", "x.crawl", "--json")
        after = json.loads(answer.out)
        jsonschema.Draft202012Validator(SCHEMA).validate({"info": after})
        self.assertEqual(answer.code, 1)
        self.assertIn(after["error"], answer.err.decode())
        others = [one for one in before["queues"] if one["id"] != table]
        self.assertEqual(after | {"error": None}, before | {"queues": others, "queued_count": None})

    def test_of_a_damaged_drum_has_no_counts(self):
        golden = command.SOURCE / "tests/golden/valid/keys_and_pending.crawl"
        data = bytearray(golden.read_bytes())
        words = ["segments", golden, "--kind", "drum", "--json"]
        (run,) = json.loads(self.succeed(*words).out)["runs"]
        data[run["offset_bytes"]] ^= 1
        (self.folder / "x.crawl").write_bytes(data)
        answer = self.run_command("info", "x.crawl", "--json")
        info = json.loads(answer.out)
        jsonschema.Draft202012Validator(SCHEMA).validate({"info": info})
        self.assertEqual((answer.code, info["drums"], info["key_count"]), (1, [], None))
        self.assertIn("damaged", info["error"])

    def test_has_the_types_that_names_say(self):
        count = 0
        for one in object_schemas():
            self.assertIs(one["additionalProperties"], False)
            for name, member in {**one["properties"], **{
                    pattern.removeprefix("^").removesuffix(".") + "x": member
                    for pattern, member in one.get("patternProperties", {}).items()}}.items():
                count += 1
                self.assertRegex(name, r"^([a-z][a-z0-9_]*|(score|rank):x)$")
                if member.get("type") == "array":
                    self.assertRegex(name, "s$")
                elif name != "value_bytes":  # of a DRUM -1: any length, as in spec/drum.md
                    kind = member["$ref"].removeprefix("#/$defs/").removesuffix("_or_null")
                    self.assertEqual(kind, type_of(name, one["properties"]), name)
        self.assertGreater(count, 300)


if __name__ == "__main__":
    unittest.main()
