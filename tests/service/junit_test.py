#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The protocol's own tests (JUnit) against crawlstored, killed between two runs.

CRAWLSTORE_URLFRONTIER names a folder with the sources of crawler-commons/url-frontier; without it,
or without javac and Debian's libgrpc-java, junit4 and libpicocli-java, the test is skipped:
junit_test.py PROGRAM
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from frontier_client import running

PROGRAM = sys.argv[1]
JARS = '''grpc-api grpc-context grpc-core grpc-netty grpc-protobuf grpc-protobuf-lite grpc-stub
guava failureaccess protobuf protobuf-util gson junit4 hamcrest-core picocli slf4j-api slf4j-simple
netty-all perfmark-api opencensus-api commons-lang3
error_prone_annotations jsr305 commons-io netty-buffer netty-codec netty-common netty-handler
netty-resolver netty-transport netty-codec-http2 netty-codec-http
netty-transport-native-unix-common'''.split()
FOLDER = os.environ.get('CRAWLSTORE_URLFRONTIER')
PLUGIN = shutil.which('grpc_java_plugin')


@unittest.skipUnless(FOLDER and PLUGIN and shutil.which('javac'),
                     'no CRAWLSTORE_URLFRONTIER, or no javac and grpc_java_plugin')
class TheirTests(unittest.TestCase):
    def setUp(self):
        self._made = tempfile.TemporaryDirectory(prefix='urlfrontier-')
        self.addCleanup(self._made.cleanup)
        self.folder = pathlib.Path(self._made.name)
        self.classes = ':'.join([str(self.folder / 'classes'), *(
            f'/usr/share/java/{jar}.jar' for jar in JARS)])

    def compile(self):
        source = pathlib.Path(FOLDER)
        made = self.folder / 'made'
        made.mkdir()
        proto = source / 'API/src/main/protobuf'
        subprocess.run(['protoc', f'--java_out={made}', f'--grpc-java_out={made}',
                        f'--plugin=protoc-gen-grpc-java={PLUGIN}', '-I', str(proto),
                        str(proto / 'urlfrontier.proto')], check=True)
        for file in made.rglob('*Grpc.java'):  # an annotation that no JDK has any more
            file.write_text(re.sub(r'@javax.annotation.Generated\([^)]*\)', '', file.read_text()))
        sources = [str(file) for root in (made, source / 'API/src/main/java',
                                          source / 'client/src/main/java',
                                          source / 'tests/src/test/java')
                   for file in pathlib.Path(root).rglob('*.java')]
        subprocess.run(['javac', '-nowarn', '-d', str(self.folder / 'classes'), '-cp', self.classes,
                        *sources], check=True)

    def run_tests(self, address):
        port = address.rsplit(':', 1)[1]
        ended = subprocess.run(
            ['java', f'-Durlfrontier.port={port}', '-Durlfrontier.host=127.0.0.1', '-cp',
             self.classes, 'org.junit.runner.JUnitCore',
             'crawlercommons.urlfrontier.service.URLFrontierServiceTest',
             'crawlercommons.urlfrontier.service.DumpURLsTest'],
            capture_output=True, text=True, check=False, timeout=300)
        self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr)
        print(ended.stdout.strip().splitlines()[-1])

    def test_pass_twice_with_a_kill_between(self):
        self.compile()
        for _ in range(2):
            with running(PROGRAM, self.folder / 'a.crawl') as service:
                self.run_tests(service.address)


if __name__ == '__main__':
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
