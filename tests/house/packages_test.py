# SPDX-License-Identifier: Apache-2.0
"""cmake/packages.sh: what is installed stays untouched, and every "no" has its message."""

import unittest

from sandbox import Sandbox

NO_SUCH = "crawlstore-no-such-package"


class Packages(unittest.TestCase):
    def setUp(self):
        self.sandbox = Sandbox(["cmake/packages.sh", "tests/golden/ksy/package.json",
                                "tests/golden/ksy/package-lock.json", "tests/events/package.json",
                                "tests/events/package-lock.json"])
        self.addCleanup(self.sandbox.remove)
        self.sandbox.stand_in("id", "echo 0")

    def source(self, command, *arguments):
        script = f"set -Eeuo pipefail; source cmake/packages.sh; {command}"
        return self.sandbox.run("bash", "-c", script, "quickstart", *arguments)


class InstallPackages(Packages):
    def install(self, *packages):
        return self.source('crawlstore_install_packages "$@"', *packages)

    def test_calls_no_apt_when_nothing_is_missing(self):
        self.sandbox.stand_in("apt-get", "exit 1")
        code, output = self.install("bash", "coreutils", "dpkg")
        self.assertEqual((code, output), (0, ""))
        self.assertEqual(self.sandbox.calls("apt-get"), [])

    def test_installs_only_what_is_missing(self):
        self.sandbox.stand_in("apt-get", "exit 0")
        self.install("bash", NO_SUCH)
        update, install = self.sandbox.calls("apt-get")
        self.assertRegex(update, r" update$")
        self.assertRegex(install, rf" install -y --no-install-recommends {NO_SUCH}$")

    def test_survives_a_failed_update(self):
        self.sandbox.stand_in("apt-get", '[[ " $* " != *" update "* ]]')
        self.install(NO_SUCH)
        self.assertEqual(len(self.sandbox.calls("apt-get")), 2)

    def test_reports_a_failed_installation(self):
        self.sandbox.stand_in("apt-get", "exit 100")
        code, output = self.install(NO_SUCH)
        self.assertEqual(code, 3)
        self.assertIn("could not be installed. Is there a network", output)
        self.assertIn(f"apt-get install --no-install-recommends {NO_SUCH}", output)

    def test_reports_a_package_that_is_missing_after_all(self):
        self.sandbox.stand_in("apt-get", "exit 0")
        code, output = self.install(NO_SUCH)
        self.assertEqual(code, 3)
        self.assertIn(f"still missing: {NO_SUCH}", output)

    def test_reports_a_user_who_may_not_install(self):
        self.sandbox.stand_in("id", "echo 1000")
        self.sandbox.stand_in("apt-get", "exit 0")
        code, output = self.install(NO_SUCH)
        self.assertEqual(code, 3)
        self.assertIn("neither root nor is there sudo", output)
        self.assertEqual(self.sandbox.calls("apt-get"), [])

    def test_uses_sudo_when_not_root(self):
        self.sandbox.stand_in("id", "echo 1000")
        self.sandbox.stand_in("sudo", '"$@"')
        self.sandbox.stand_in("apt-get", "exit 0")
        self.install(NO_SUCH)
        self.assertEqual(len(self.sandbox.calls("sudo")), 1)
        self.assertEqual(len(self.sandbox.calls("apt-get")), 2)

    def test_reports_a_system_without_dpkg(self):
        (self.sandbox.bin / "dpkg-query").unlink()
        code, output = self.install("bash")
        self.assertEqual(code, 3)
        self.assertIn("not a Debian system", output)


class NodePackages(Packages):
    def install(self):
        return self.source("crawlstore_install_npm_packages")

    def test_packages_comprise_node_where_there_is_none(self):
        for programs, wanted in ((["node", "npm"], 0), (["node"], 2), ([], 2)):
            for name in ("node", "npm"):
                (self.sandbox.bin / name).unlink(missing_ok=True)
            for name in programs:
                self.sandbox.stand_in(name, "exit 0")
            with self.subTest(programs=programs):
                _, output = self.source("printf '%s\\n' \"${crawlstore_test_packages[@]}\"")
                found = {"nodejs", "npm"} & set(output.split())
                self.assertEqual(len(found), wanted, output)

    def test_installs_once_what_the_lock_files_say(self):
        self.sandbox.stand_in("npm", 'test -f "$3/package-lock.json"')
        self.assertEqual(self.install(), (0, ""))
        self.assertEqual(self.install(), (0, ""))
        self.assertEqual([call.split(" --ignore")[0] for call in self.sandbox.calls("npm")],
                         ["npm ci --prefix build/ksy", "npm ci --prefix build/events"])

    def test_installs_anew_where_the_lock_file_has_changed(self):
        self.sandbox.stand_in("npm", "exit 0")
        self.install()
        (self.sandbox.folder / "tests/golden/ksy/package-lock.json").write_text("{}\n")
        self.install()
        self.assertEqual(len(self.sandbox.calls("npm")), 3)
        self.assertIn("build/ksy", self.sandbox.calls("npm")[2])

    def test_goes_on_when_npm_fails(self):
        self.sandbox.stand_in("npm", 'mkdir -p "$3/node_modules"; exit 1')
        code, output = self.install()
        self.assertEqual(code, 0)
        for name in ("ksy", "events"):
            self.assertIn(f'the test "{name}" will be skipped', output)
            self.assertFalse((self.sandbox.folder / "build" / name).exists())


if __name__ == "__main__":
    unittest.main()
