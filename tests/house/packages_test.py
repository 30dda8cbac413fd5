# SPDX-License-Identifier: Apache-2.0
"""cmake/packages.sh: what is installed stays untouched, and every "no" has its message."""

import unittest

from sandbox import Sandbox

NO_SUCH = "crawlstore-no-such-package"


class InstallPackages(unittest.TestCase):
    def setUp(self):
        self.sandbox = Sandbox(["cmake/packages.sh"])
        self.addCleanup(self.sandbox.remove)
        self.sandbox.stand_in("id", "echo 0")

    def install(self, *packages):
        return self.sandbox.run(
            "bash", "-c", 'set -Eeuo pipefail; source cmake/packages.sh; '
            'crawlstore_install_packages "$@"', "quickstart", *packages)

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


if __name__ == "__main__":
    unittest.main()
