# SPDX-License-Identifier: Apache-2.0
"""package_test.py BUILD_DIR: the Debian packages hold what they should, depend on what they need,
and lintian finds nothing in them."""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
TOOLS = ("cpack", "dpkg-deb", "dpkg-shlibdeps", "file", "lintian")
DEV = {"/usr/include/crawlstore/store.h", "/usr/lib/*/libcrawlstore.a",
       "/usr/lib/*/cmake/crawlstore/crawlstore-config.cmake", "/usr/lib/*/pkgconfig/crawlstore.pc",
       "/usr/share/crawlstore/crawl_event.capnp"}
if (BUILD / "site").exists():
    DEV.add("/usr/share/doc/crawlstore/html/index.html")
C_DEV = {"/usr/include/crawlstore/crawlstore.h", "/usr/lib/*/libcrawlstore_c.so",
         "/usr/lib/*/pkgconfig/crawlstore-c.pc"}
SHOWN = {"/usr/bin/crawlstore", "/usr/bin/crawlstore-inspector",
         "/usr/share/applications/crawlstore-inspector.desktop",
         "/usr/share/bash-completion/completions/crawlstore",
         "/usr/share/crawlstore/cli.schema.json",
         "/usr/share/file/magic/crawlstore", "/usr/share/man/man1/crawlstore.1.gz",
         "/usr/share/man/man1/crawlstore-inspector.1.gz",
         "/usr/share/metainfo/io.crawlstore.Inspector.metainfo.xml",
         "/usr/share/mime/packages/crawlstore.xml"}
SERVICE = {"/lib/systemd/system/crawlstored.service", "/usr/bin/crawlstored",
           "/usr/share/man/man8/crawlstored.8.gz"}
MPI = {"/usr/bin/crawlstore-mpi", "/usr/share/man/man1/crawlstore-mpi.1.gz"}


def run(*command):
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          check=False)
    if done.returncode != 0:
        raise AssertionError(f"{command}: {done.returncode}\n{done.stdout}")
    return done.stdout


class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="crawlstore-package-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        run("cpack", "--config", BUILD / "CPackConfig.cmake", "-B", cls.folder)
        cls.packages = {path.name.split("_")[0]: path for path in cls.folder.glob("*.deb")}

    def files(self, package):
        """The files of a package; a multiarch folder is `*`."""
        lines = run("dpkg-deb", "--contents", self.packages[package]).splitlines()
        paths = {line.split()[5][1:] for line in lines if not line.endswith("/")}
        return {re.sub(r'/lib/[^/]+-linux-gnu[^/]*/', "/lib/*/", path) for path in paths}

    def depends(self, package, field="Depends"):
        names = run("dpkg-deb", "--field", self.packages[package], field)
        return {name.split()[0] for name in names.split(", ")}

    def test_there_are_six_packages(self):
        self.assertEqual(set(self.packages), {"crawlstore", "libcrawlstore-dev",
                                              "libcrawlstore-c0", "libcrawlstore-c-dev",
                                              "crawlstored", "crawlstore-mpi"})

    def test_each_file_is_in_the_package_of_its_users(self):
        files = {package: self.files(package) for package in self.packages}
        self.assertLessEqual(DEV, files["libcrawlstore-dev"])
        self.assertLessEqual(C_DEV, files["libcrawlstore-c-dev"])
        self.assertLessEqual(SHOWN, files["crawlstore"])
        self.assertEqual(SERVICE, {path for path in files["crawlstored"] if "/doc/" not in path})
        self.assertEqual(MPI, {path for path in files["crawlstore-mpi"] if "/doc/" not in path})
        self.assertEqual({package for package, paths in files.items()
                          if any(path.startswith("/usr/include") for path in paths)},
                         {"libcrawlstore-dev", "libcrawlstore-c-dev"})
        shared = {path for path in files["libcrawlstore-c0"] if "/doc/" not in path}
        self.assertIn("/usr/lib/*/libcrawlstore_c.so.0", shared)
        self.assertEqual({re.sub(r'[.\d]+$', "", path) for path in shared},
                         {"/usr/lib/*/libcrawlstore_c.so"})
        self.assertEqual(len(set().union(*files.values())), sum(map(len, files.values())))

    def test_library_depends_on_what_its_users_link(self):
        pc = (BUILD / "crawlstore.pc").read_text()
        requires = re.search(r'^Requires: (.*)$', pc, re.MULTILINE)[1].split()
        names = {"lib" + re.sub(r'^lib|-uc$', "", module) + "-dev" for module in requires}
        self.assertEqual(self.depends("libcrawlstore-dev"), names | {"libexpected-dev"})

    def test_programs_in_c_depend_on_the_shared_library_alone(self):
        version = run("dpkg-deb", "--field", self.packages["libcrawlstore-c0"], "Version").strip()
        self.assertEqual(run("dpkg-deb", "--field", self.packages["libcrawlstore-c-dev"],
                             "Depends").strip(), f"libcrawlstore-c0 (= {version})")
        self.assertLessEqual({"libc6", "libicu72"}, self.depends("libcrawlstore-c0"))
        self.assertIn(f"libcrawlstore_c 0 libcrawlstore-c0 (>= {version})", run(
            "dpkg-deb", "--info", self.packages["libcrawlstore-c0"], "shlibs"))

    def test_tools_depend_on_their_shared_libraries(self):
        self.assertLessEqual({"libc6", "libglfw3"}, self.depends("crawlstore"))

    def test_tools_recommend_letters_for_chinese_and_japanese(self):
        self.assertIn("fonts-droid-fallback", self.depends("crawlstore", "Recommends"))

    def test_service_depends_on_its_shared_libraries(self):
        self.assertLessEqual({"libc6", "libgrpc++1.51", "libprotobuf32"},
                             self.depends("crawlstored"))
        self.assertEqual(self.depends("crawlstored", "Recommends"), {"crawlstore"})
        self.assertLessEqual({"libopenmpi3", "openmpi-bin"}, self.depends("crawlstore-mpi"))

    def test_service_runs_on_after_an_upgrade_and_is_not_started_otherwise(self):
        folder = self.folder / "control"
        run("dpkg-deb", "--control", self.packages["crawlstored"], folder)
        stand_in = folder / "deb-systemd-invoke"
        stand_in.write_text(f'#!/bin/sh\necho "$@" >>{folder}/calls\n')
        stand_in.chmod(0o755)
        (folder / "systemctl").symlink_to("/bin/true")
        calls = {("postinst", "configure", ""): "",
                 ("postinst", "configure", "0.1.0"): "try-restart crawlstored.service\n",
                 ("prerm", "upgrade", "0.2.0"): "", ("postrm", "upgrade", "0.2.0"): "",
                 ("prerm", "remove"): "stop crawlstored.service\n", ("postrm", "remove"): ""}
        for (script, *arguments), wanted in calls.items():
            with self.subTest(script=script, arguments=arguments):
                (folder / "calls").write_text("")
                text = (folder / script).read_text().replace("/run/systemd/system", str(folder))
                subprocess.run(["sh", "-c", text, script, *arguments], check=True,
                               env={"PATH": f"{folder}:/usr/bin:/bin"})
                self.assertEqual((folder / "calls").read_text(), wanted)

    def test_lintian_finds_nothing(self):
        self.assertEqual(run("lintian", "--allow-root", "--fail-on", "error,warning",
                             *self.packages.values()), "")


if __name__ == "__main__":
    missing = [tool for tool in TOOLS if not shutil.which(tool)]
    if missing:
        print(f"skipped: without {', '.join(missing)}; ./run-tests installs the packages")
        sys.exit(77)
    unittest.main()
