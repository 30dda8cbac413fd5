# SPDX-License-Identifier: Apache-2.0
"""Rows that say what bytes of a crawl file are, with the fields and the words of the format."""
import re
import struct
import uuid
from collections import namedtuple

from container import KINDS
from flatbuf import Buffer
from queue_runs import priority_of

# name: that of a field whose words are in Rows.words; group: rows of one struct have one
Row = namedtuple('Row', 'offset length field meaning section name group')
Field = namedtuple('Field', 'offset size name meaning')
SIZES = {'ulong': 8, 'uint': 4, 'int': 4, 'ushort': 2, 'ubyte': 1}
HEX = {'checksum', 'root_checksum', 'key_seed', 'key_base', 'byte_order', 'lowest_order',
       'highest_order', 'cut_order'}
SIGNED = {'value_bytes', 'created_us', 'commit_time_us'}
# The schemas of Directory stand without words on each field there.
DIRECTORY = {
    'offset_bytes': 'where the extent begins', 'born': 'first generation that refers to it',
    'checksum': 'of the whole extent', 'first_segment_id': 'id of the first segment in the table',
    'payload_bytes': 'length of what the extent holds', 'segment_count': 'segments in the table',
    'length_bytes': 'length of the extent', 'retired': 'first generation that does not refer to it',
    'generation': 'as in the superblock', 'next_segment_id': 'greater than every id in use',
    'next_run_id': 'greater than every id in use', 'id': 'of the segment', 'kind': 'see Segments',
    'storage_class': '1 blob, 2 log, 3 tiled', 'owner': 'id of the segment that owns it; 0: none',
    'run_id': 'of the run', 'record_count': 'see Segments', 'entry_count': 'entries in the table'}
# The pages of the format, as the table in format.md has them.
FORMAT = ('format.md', 'container.md', 'commit.md', 'drum.md', 'pages.md', 'events.md', 'links.md',
          'scores.md', 'queue.md', 'frontier.md', 'values.md', 'urls.md', 'vectors.md')
RUN_CHECKSUM = 'of the last level of the checksum tree and what is behind it'


def anchor(heading):
    return re.sub(r'[^\w -]', '', heading.lower()).replace(' ', '-')


class Spec:
    """Sections with their pages, structs, schemas and words on fields, read from the format."""

    def __init__(self, folder):
        self.sections, self.structs, self.schemas, self.words = {}, {}, {}, {}
        for page in FORMAT:
            self._read(page, (folder / page).read_text('utf-8'))

    def _read(self, page, text):
        section, name, in_schema = '', None, None
        for line in text.splitlines():
            cells = [cell.strip() for cell in line.strip('|').split('|')]
            if re.match('##+ ', line):
                section, name = line.lstrip('# '), None
                self.sections[section] = page
            elif match := re.search(r'`struct (\w+)`, \d+ bytes', line):
                name = match.group(1)
                self.structs[name] = section, []
            elif match := re.match(r'(?:struct|table) (\w+) \{', line):
                in_schema = match.group(1)
                self.schemas[in_schema] = line.split()[0], section, []
            elif match := re.match(r'  (\w+): (\S+);', line):
                self.schemas[in_schema][2].append(match.groups())
            elif line and not line.startswith('|'):
                name = None
            elif name and cells[0].isdigit():
                self.structs[name][1].append(Field(int(cells[0]), int(cells[1]), *cells[2:]))
            elif line.startswith('|') and len(cells) == 2:
                self.words.setdefault(section, {}).setdefault(*cells)

    def word(self, section, owner, field):
        of_section = self.words.get(section, {})
        if section == 'Directory':
            return RUN_CHECKSUM if (owner, field) == ('Run', 'checksum') else \
                DIRECTORY.get(field, '')
        return of_section.get(f'{owner}.{field}', '' if owner.startswith('Drum') and owner != 'Drum'
                              else of_section.get(field, ''))


def value_text(name, data):
    """A field's bytes as people write them; nothing where the bytes themselves say it best."""
    if name == 'magic':
        return f'"{data.decode()}"' if data.isascii() else ''
    if name == 'uuid':
        return str(uuid.UUID(bytes=data))
    if name.startswith('reserved'):
        return 'zero'
    number = int.from_bytes(data, 'little', signed=name in SIGNED)
    if name in HEX or (name in ('first_key', 'last_key') and number):
        text = f'0x{number:0{2 * len(data)}x}'
        return f'{text}, priority {priority_of(number)}' if 'order' in name and number and \
            name != 'byte_order' else text
    if name.startswith('features_') and number:
        return f'{number}: bits ' + ', '.join(str(i) for i in range(64) if number >> i & 1)
    if name == 'kind' and number in KINDS:
        return f'{number}, `{KINDS[number][0]}`'
    return f'{number:,}'


def joined(value, word):
    is_said = word.strip('`').replace(',', '') in (value.replace(',', ''), f'{value} in ASCII')
    return f'{value} ({word})' if value and word and not is_said else value or word


class Rows:
    """Rows of a file's bytes. No byte gets two."""

    def __init__(self, data, spec):
        self.data, self.spec, self.rows, self.words, self.groups = data, spec, {}, {}, 0

    def add(self, offset, length, field, meaning, section, name='', group=0):
        if length:
            row = Row(offset, length, field, meaning, section, name, group)
            if section not in self.spec.sections:
                raise ValueError(f'no section: {section}')
            if self.rows.setdefault(offset, row)[:2] != row[:2]:
                raise ValueError(f'two rows at {offset}: {field}')
        return self.data[offset:offset + length]

    def named(self, offset, length, field, section, name, word, value=None, group=0):
        """A row of a field that the spec names. Its words stand at the first such field."""
        data = self.data[offset:offset + length]
        self.words.setdefault(name, word)
        if value is None:
            value = value_text(name.rpartition('.')[2], data)
        self.add(offset, length, field, value, section, name, group)

    def struct(self, offset, name, label=None):
        """The rows of a struct of the format; gives its end."""
        section, fields = self.spec.structs[name]
        self.groups += 1
        for at, size, field, word in fields:
            if (name, field) != ('RecordTileHeader', 'columns'):
                self.named(offset + at, size, f'{label or name}.{field}', section,
                           f'{name}.{field}', word, group=self.groups)
        return offset + fields[-1].offset + fields[-1].size

    def gaps(self, begin, end):
        """(offset, length) of what has no row."""
        at = begin
        for row in sorted(self.rows.values()):
            if begin <= row.offset < end:
                if row.offset > at:
                    yield at, row.offset - at
                if row.offset < at:
                    raise ValueError(f'rows overlap at {row.offset}')
                at = row.offset + row.length
        if at < end:
            yield at, end - at

    def fill(self, begin, end, meaning, section):
        """Rows of zeros, where there are no other rows."""
        for at, length in list(self.gaps(begin, end)):
            if any(self.data[at:at + length]):
                raise ValueError(f'bytes at {at} are not zero and have no row')
            self.add(at, length, 'zeros', meaning, section)

    def in_order(self):
        """Rows by offset. The first of each name has its words; of others zeros beside each other
        in one struct become one."""
        found, shown = [], set()
        for row in sorted(self.rows.values()):
            last = found[-1] if found else None
            if row.name and row.name not in shown:
                shown.add(row.name)
                row = row._replace(meaning=joined(row.meaning, self.words[row.name]), group=0)
            if last and row.group and row.group == last.group and \
                    not any(self.data[last.offset:row.offset + row.length]):
                first = last.field.split(' to ')[0]
                found[-1] = last._replace(length=last.length + row.length, meaning='0 each',
                                          field=f'{first} to {row.field.rpartition(".")[2]}')
            else:
                found.append(row)
        return found


class FlatBuffer:
    """Rows of a FlatBuffer that spec/reader.py has accepted."""

    def __init__(self, rows, offset, length, root):
        self.rows, self.base, self.todo = rows, offset, []
        self.buffer = Buffer(rows.data[offset:offset + length])
        self.section = rows.spec.schemas[root][1]
        self._add(0, 4, 'root', f'offset of the `{root}`: it begins at {self._target(0, root)}')
        while self.todo:
            self._table(*self.todo.pop(0))
        rows.fill(offset, offset + length, 'what follows is aligned', self.section)

    def _add(self, at, length, field, meaning):
        return self.rows.add(self.base + at, length, field, meaning, self.section)

    def _named(self, at, length, field, name, value=None, group=0):
        word = self.rows.spec.word(self.section, *name.split('.'))
        self.rows.named(self.base + at, length, field, self.section, name, word, value, group)

    def _target(self, at, table=None):
        target = self.buffer.target(at)
        if table:
            self.todo.append((table, target))
        return f'0x{self.base + target:06x}'

    def _table(self, name, at):
        vtable = at - self.buffer.number(at, 'i')
        size, length = self.buffer.number(vtable, 'H'), self.buffer.number(vtable + 2, 'H')
        places = struct.unpack_from(f'<{size // 2 - 2}H', self.buffer.data, vtable + 4)
        self._add(vtable, size, f'vtable of {name}', f'its length {size}, that of the table '
                  f'{length}; places of the fields (0: absent): '
                  + (', '.join(map(str, places)) or 'none'))
        self._add(at, 4, name, f'the vtable begins at 0x{self.base + vtable:06x}')
        for (field, kind), place in zip(self.rows.spec.schemas[name][2], places):
            if place:
                self._field(name, field, kind, at + place)

    def _field(self, name, field, kind, at):
        label = f'{name}.{field}'
        if kind in SIZES:
            self._named(at, SIZES[kind], label, label)
            return
        self._named(at, 4, label, label, f'leads to {self._target(at)}')
        begin = self.buffer.target(at)
        count, at = self.buffer.number(begin, 'I'), begin + 4
        self._add(begin, 4, f'{label}: length', f'{count:,}')
        if kind == 'string':
            text = bytes(self.buffer.data[at:at + count]).decode()
            self._add(at, count + 1, f'{label}: text', f'"{text}" and a zero' if text else 'a zero')
            return
        element = kind.strip('[]')
        for i in range(count):
            if self.rows.spec.schemas[element][0] == 'struct':
                at = self._struct(element, at, f'{element} {i}')
            else:
                self._add(at, 4, f'{label}: {i}', f'leads to {self._target(at, element)}')
                at += 4

    def _struct(self, name, at, label):
        self.rows.groups += 1
        for field, kind in self.rows.spec.schemas[name][2]:
            self._named(at, SIZES[kind], f'{label}.{field}', f'{name}.{field}',
                        group=self.rows.groups)
            at += SIZES[kind]
        return at
