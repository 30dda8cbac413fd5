# SPDX-License-Identifier: Apache-2.0
"""Every byte of a crawl file, told: python3 annotate.py [FILE [PAGE]]

Reads example.crawl beside this script, verifies it as reader.py does, and writes example.md.
tests/golden/make_example.py makes both anew.
"""
import pathlib
import struct
import sys

import reader
from annotated_runs import annotate_payload, key_names
from annotations import FlatBuffer, Rows, Spec, anchor
from container import CLASSES, DATA_START, KINDS, ROOT_END, RUN_END, SLOTS, UNIT, CrawlFile, Tree, \
    all_runs, root_extent, up

FOLDER = pathlib.Path(__file__).resolve().parent
URLS = ('http://a.test/x', 'http://a.test/y', 'http://a.test/z')

HEAD = """# A small file, byte by byte

`example.crawl`, beside this page, has {size:,} bytes. In it are two keys of a DRUM and a request
that waits, two pages and a link, and a queue of one page. `annotate.py` wrote this page from it and
from [format.md](format.md) and the pages that it lists; a test compares them.
[reading.md](reading.md) says in which order to read. The words of those pages bind, not those of
this page.

The command and the C library made it (`tests/golden/make_example.py`):

1. `create`, with a fixed uuid and key seed, and one bucket;
2. `seen` of `http://a.test/x` and `http://a.test/y`: two keys in the DRUM `urls`;
3. `http://a.test/z` by the library, without a merge: a request that waits;
4. `import` of an edit: page `http://a.test/` was crawled, and links to `http://a.test/b`;
5. `queue --insert` of `http://a.test/b`, with priority 1;
6. `compact`, whose commits move all extents to the front.

Tables are in the order of the file: the identity page, four superblock copies, then the extents.
Every byte has one row. Offsets are hexadecimal; `00 * 8` are eight bytes of zeros. Bytes stand in
the order of the file, so those of a number begin with its lowest; numbers, keys among them, begin
with their highest digit. Other numbers are decimal unless they begin with `0x`. The words of the
format stand in brackets at the first field of a name. Fields of one struct that are 0 share a row
where they lie side by side.
"""


class Annotator:
    """Rows of all that the two readable generations of a file refer to."""

    def __init__(self, path):
        self.data = path.read_bytes()
        self.spec = Spec(FOLDER)
        self.rows = Rows(self.data, self.spec)
        self.parts = []     # (begin, end, heading)
        with CrawlFile(path, pin=False) as file:
            self._read(file)
        self._rest()

    def _read(self, file):
        winner, previous, findings = file.open()
        if findings or not previous:
            raise ValueError('a file with two whole generations is needed')
        self.texts = key_names(URLS, file.identity.key_seed)
        self._pages()
        seen, done = {}, set()
        for sb, is_winner in (winner, True), (previous, False):
            directory = file.load_directory(sb, is_winner)
            reader.load_segments(file, directory, seen)
            self._directory(directory, done)
            if is_winner:
                self.held, self.high_water = directory.held, sb.high_water_bytes
        file.check_zeros()

    def _part(self, begin, length, heading):
        self.parts.append((begin, begin + length, heading))

    def _pages(self):
        self._part(0, 16384, 'identity page, and zeros')
        self.rows.struct(0, 'Identity')
        for slot, copy, offset in sorted(SLOTS, key=lambda place: place[2]):
            self._part(offset, 16384, f'superblock slot {slot}, copy {copy}, and zeros')
            self.rows.struct(offset, 'Superblock')
        self.rows.fill(0, DATA_START, 'of no use', 'Layout')

    def _directory(self, directory, done):
        """done: offsets of extents that have their rows."""
        sb = directory.superblock
        begin, length = sb.root_offset_bytes, root_extent(sb)
        self._part(begin, length, f'root of generation {sb.generation}')
        FlatBuffer(self.rows, begin, sb.root_payload_bytes, 'Root')
        self.rows.struct(begin + length - ROOT_END.size, 'RootEnd')
        self.rows.fill(begin, begin + length, 'up to the end', 'Directory')
        if directory.held_tables:
            raise ValueError('held tables have no rows here')
        for ref in directory.tables:
            if ref.offset_bytes in done:
                continue
            done.add(ref.offset_bytes)
            begin, length = ref.offset_bytes, up(ref.payload_bytes, UNIT)
            self._part(begin, length, f'table, born in {ref.born}')
            FlatBuffer(self.rows, begin, ref.payload_bytes, 'SegmentTable')
            self.rows.fill(begin, begin + length, 'up to the unit', 'Directory')
        for segment in directory.segments:
            for run in all_runs(segment):
                if run.offset_bytes not in done:
                    done.add(run.offset_bytes)
                    self._run(segment, run)

    def _run(self, segment, run):
        tree, begin = Tree(run.payload_bytes), run.offset_bytes
        name = f' "{segment.name.decode()}"' if segment.name else ''
        place = ', a node' if run in segment.nodes else ', a tile' if run in segment.tiles else ''
        self._part(begin, tree.extent, f'run {run.run_id} of segment {segment.id}{name}: '
                   f'`{KINDS[segment.kind][0]}`, {CLASSES[segment.storage_class]}{place}')
        annotate_payload(self.rows, segment, run, self.texts)
        section = 'Checksum tree'
        self.rows.fill(begin, begin + tree.padded, 'up to a multiple of 8', section)
        for level, (at, size) in enumerate(tree.levels):
            for i, (checksum,) in enumerate(struct.iter_unpack(
                    '<Q', self.data[begin + at:begin + at + size])):
                what = f'chunk {i} of level {level - 1}' if level else f'chunk {i} of the payload'
                self.rows.add(begin + at + 8 * i, 8, f'level {level}, entry {i}',
                              f'0x{checksum:016x}: checksum of {what}', section)
        end = begin + tree.extent
        self.rows.struct(end - RUN_END.size, 'RunEnd')
        self.rows.fill(begin, end, 'up to the end of the run', section)

    def _rest(self):
        """The bytes that no readable generation refers to: held extents and free space."""
        for at, length in list(self.rows.gaps(0, len(self.data))):
            while length:
                held = next((h for h in self.held if h.offset_bytes <= at <
                             h.offset_bytes + h.length_bytes), None)
                step = min(length, UNIT)
                what = 'held' if held else 'free' if at < self.high_water else 'high water'
                told = (f'born in {held.born}, retired in {held.retired}: no readable generation '
                        'refers to it') if held else 'may hold any bytes'
                self._part(at, step, f'{what} extent')
                self.rows.add(at, step, what, told, 'Extents')
                at, length = at + step, length - step

    def page(self):
        text, rows = [HEAD.format(size=len(self.data))], self.rows.in_order()
        for begin, end, heading in sorted(self.parts):
            text.append(f'\n## {begin:06x}: {heading}\n\n| offset | bytes | field | meaning | '
                        'section |\n|---|---|---|---|---|\n')
            text += [self._line(row) for row in rows if begin <= row.offset < end]
        return ''.join(text)

    def _line(self, row):
        data = self.data[row.offset:row.offset + row.length]
        place = f'{self.spec.sections[row.section]}#{anchor(row.section)}'
        shown = f'`{data.hex(" ")}`'
        if len(data) > 7 and not any(data):
            shown = f'`00 * {len(data):,}`'
        elif row.section == 'Extents':
            shown = f'{len(data):,} bytes'
        return (f'| `{row.offset:06x}` | {shown} | {row.field} | {row.meaning} | '
                f'[{row.section}]({place}) |\n')


def main(path=FOLDER / 'example.crawl', page=FOLDER / 'example.md'):
    pathlib.Path(page).write_text(Annotator(pathlib.Path(path)).page(), 'utf-8')


if __name__ == '__main__':
    main(*sys.argv[1:])
