# SPDX-License-Identifier: Apache-2.0
meta:
  id: crawl
  title: Crawl file, version 7
  file-extension: crawl
  license: Apache-2.0
  ks-version: 0.11
  endian: le
  bit-endian: le
  encoding: UTF-8
doc: |
  The bytes of a crawl file, written from the pages of spec/format.md and from
  spec/registry.md alone. Load it with a file at https://ide.kaitai.io, or compile it to one of a
  dozen languages.

  It is a view: tests hold it to the valid golden files, and what a file has to be rejected for is
  for spec/reader.py and the library to say. It stops at wrong magics, ranges, zeros and lengths,
  because what lies behind them would be shown wrongly. What Kaitai cannot say, or only clumsily:

  * Checksums. They are shown as numbers, and nothing here is believed because of them: `winner`
    is the superblock copy that would win if every checksum were right.
  * Bits of a variable width: the coded keys of key blocks and key runs are bytes here, and so are
    the dense blocks of link runs, LZ4 blocks, zstd frames and messages of Cap'n Proto, and what
    the steps of a frontier say.
  * That no node of a tiled segment is referred to twice: a file made to harm may unfold to a large
    tree here (of at most 5 levels).
  * What numbers of a column or block say together: sums, fewest bytes, the pages of link blocks.
  * Ranges of the fields of FlatBuffers tables, and rules between pieces (disjoint extents, ids that
    ascend, names, counts that agree).
  * Classes of errors, and which of several comes first.
doc-ref: spec/format.md

seq:
  - id: identity
    type: identity
    size: 4096
instances:
  gap_behind_identity: {pos: 4096, size: 12288, type: zeros}
  slot_0_copy_0: {pos: 16384, size: 4096, type: 'superblock(0, 0)'}
  gap_behind_slot_0_copy_0: {pos: 20480, size: 12288, type: zeros}
  slot_1_copy_0: {pos: 32768, size: 4096, type: 'superblock(1, 0)'}
  gap_behind_slot_1_copy_0: {pos: 36864, size: 12288, type: zeros}
  slot_0_copy_1: {pos: 49152, size: 4096, type: 'superblock(0, 1)'}
  gap_behind_slot_0_copy_1: {pos: 53248, size: 12288, type: zeros}
  slot_1_copy_1: {pos: 65536, size: 4096, type: 'superblock(1, 1)'}
  gap_behind_slot_1_copy_1: {pos: 69632, size: 12288, type: zeros}
  slot_0:
    doc: The copy of slot 0 that is taken, if it is plausible.
    value: 'slot_0_copy_1.is_plausible and (not slot_0_copy_0.is_plausible
      or slot_0_copy_1.generation > slot_0_copy_0.generation
      or slot_0_copy_1.generation == slot_0_copy_0.generation
      and slot_0_copy_1.pass > slot_0_copy_0.pass) ? slot_0_copy_1 : slot_0_copy_0'
  slot_1:
    doc: The copy of slot 1 that is taken, if it is plausible.
    value: 'slot_1_copy_1.is_plausible and (not slot_1_copy_0.is_plausible
      or slot_1_copy_1.generation > slot_1_copy_0.generation
      or slot_1_copy_1.generation == slot_1_copy_0.generation
      and slot_1_copy_1.pass > slot_1_copy_0.pass) ? slot_1_copy_1 : slot_1_copy_0'
  winner:
    doc: |
      The copy that leads to the newest generation. The other slot leads to the previous one, if
      its copy is plausible and its generation is one lower.
    if: slot_0.is_plausible or slot_1.is_plausible
    value: 'slot_1.is_plausible and (not slot_0.is_plausible
      or slot_1.generation > slot_0.generation) ? slot_1 : slot_0'

types:
  zeros:
    doc: As long as its place, and all zero.
    seq:
      - {id: zeros, type: u1, repeat: eos, valid: 0}
  align_8:
    doc: Zeros up to a multiple of 8 from the start of the payload.
    seq:
      - {id: padding, size: (8 - _io.pos % 8) % 8, type: zeros}

  identity:
    doc-ref: spec/format.md#identity
    seq:
      - {id: magic, contents: [0x89, CRWL, 0x0d, 0x0a, 0x1a]}
      - {id: byte_order, type: u4, valid: 0x01020304}
      - {id: format_version, type: u4, valid: 10}
      - {id: uuid, size: 16}
      - {id: key_seed, type: u8}
      - {id: unit_bytes, type: u4, valid: 4096}
      - {id: chunk_bytes, type: u4, valid: 65536}
      - {id: created_us, type: s8, doc: microseconds since 1970-01-01 00:00 UTC}
      - {id: reserved, type: zeros, size: 4032}
      - {id: checksum, type: u8}

  superblock:
    doc: |
      Any bytes are legal here, for a torn or an empty copy is no error while another one leads to
      a generation. `reserved` (zero, if no feature bit is unknown) is not looked at.
    doc-ref: spec/container.md#superblock
    params:
      - {id: slot_of_place, type: u4}
      - {id: copy_of_place, type: u4}
    seq:
      - {id: magic, size: 8}
      - {id: slot_index, type: u4}
      - {id: copy_index, type: u4}
      - {id: uuid, size: 16}
      - {id: generation, type: u8}
      - {id: pass, type: u8}
      - {id: features_compat, type: u8}
      - {id: features_ro_compat, type: u8}
      - {id: features_incompat, type: u8, doc: 'bit 0: kinds 1 to 5; 1: kinds 6 to 12; 2: kind 13; 3: 14; 4: 15 and 16; 5: 17 to 20; 6: 21'}
      - {id: commit_time_us, type: s8, doc: microseconds since 1970-01-01 00:00 UTC}
      - {id: root_place_bytes, size: 32}
      - {id: reserved, size: 3976}
      - {id: checksum, type: u8}
    instances:
      # In halves, because some targets have no exact integers of 64 bits.
      generation_low: {pos: 32, type: u4}
      generation_high: {pos: 36, type: u4}
      root_payload_low: {pos: 96, type: u4}
      root_payload_high: {pos: 100, type: u4}
      is_plausible:
        doc: Valid and no tombstone, if its checksum is right and its reserved bytes are zero.
        value: 'magic == [0x53, 0x55, 0x50, 0x45, 0x52, 0x42, 0x4c, 0x4b]
          and slot_index == slot_of_place and copy_index == copy_of_place
          and uuid == _root.identity.uuid
          and (root_payload_low != 0 or root_payload_high != 0)
          and generation != 0 and generation_low % 2 == slot_of_place
          and generation_high <= 0x3fffffff
          and (generation_high < 0x3fffffff or generation_low < 0xffffffff)'
      root_place:
        doc: Looked at for a chosen copy only, as the rules 6 and 7 of Superblock are.
        pos: 80
        type: root_place

  root_place:
    doc-ref: spec/container.md#superblock
    seq:
      - {id: high_water_bytes, type: u8, valid: {expr: _ <= _root._io.size and _ % 4096 == 0}}
      - id: root_offset_bytes
        type: u8
        valid: {expr: _ >= 81920 and _ < high_water_bytes and _ % 4096 == 0}
      - id: root_payload_bytes
        type: u8
        valid:
          expr: _ >= 8 and _ <= 67108864 and _ % 8 == 0
            and root_offset_bytes + (_ + 96 + 4095) / 4096 * 4096 <= high_water_bytes
      - {id: root_checksum, type: u8}
    instances:
      directory_root:
        io: _root._io
        pos: root_offset_bytes
        size: root_payload_bytes
        type: directory_root
      root_end:
        io: _root._io
        pos: root_offset_bytes + (root_payload_bytes + 120 + 4095) / 4096 * 4096 - 120
        type: root_end(root_offset_bytes, root_payload_bytes)

  root_end:
    doc: The end of the extent of a directory root. It says what identity page and superblock say.
    doc-ref: spec/container.md#directory
    params:
      - {id: offset_of_place, type: u8}
      - {id: payload_of_place, type: u8}
    seq:
      - {id: magic, contents: CROOTEND}
      - {id: format_version, type: u4, valid: 10}
      - {id: reserved, type: u4, valid: 0}
      - {id: uuid, size: 16}
      - {id: key_seed, type: u8}
      - {id: created_us, type: s8}
      - {id: generation, type: u8}
      - {id: features_compat, type: u8}
      - {id: features_ro_compat, type: u8}
      - {id: features_incompat, type: u8}
      - {id: commit_time_us, type: s8, doc: microseconds since 1970-01-01 00:00 UTC}
      - {id: high_water_bytes, type: u8}
      - {id: root_offset_bytes, type: u8, valid: offset_of_place}
      - {id: root_payload_bytes, type: u8, valid: payload_of_place}
      - {id: root_checksum, type: u8}

  # FlatBuffers. Each piece of the directory is a stream of its own, so that no offset leads out
  # of it. A table is looked up through its vtable; numbers, strings and vectors stand for one
  # field each, whether it is there or not.

  fb_root:
    doc: What a piece begins with.
    seq:
      - {id: root_offset, type: u4, valid: {min: 1, max: 0x7fffffff}}
    instances:
      table: {pos: root_offset, type: fb_table(root_offset)}

  fb_table:
    doc: What all tables begin with. `position` is that of the table in its piece.
    params:
      - {id: position, type: u4}
    seq:
      # Signed: a vtable may lie before or behind its table.
      - {id: vtable_distance, type: s4, valid: {expr: position % 4 == 0 and position - _ >= 0}}
    instances:
      vtable: {pos: position - vtable_distance, type: fb_vtable(position)}

  fb_vtable:
    params:
      - {id: table_position, type: u4}
    seq:
      - {id: vtable_bytes, type: u2, valid: {expr: _ >= 4 and _ % 2 == 0}}
      - {id: table_bytes, type: u2, valid: {expr: _ >= 4 and table_position + _ <= _io.size}}
      - {id: entries, type: u2, repeat: expr, repeat-expr: (vtable_bytes - 4) / 2}

  fb_number:
    doc: A field that is a number of `size` bytes; 0 if it is absent.
    params:
      - {id: table, type: fb_table}
      - {id: field, type: u2}
      - {id: size, type: u1}
    instances:
      at: {value: 'field < table.vtable.entries.size ? table.vtable.entries[field] : 0'}
      stored:
        pos: table.position + at
        if: at != 0
        type:
          switch-on: size
          cases:
            1: u1
            2: u2
            4: s4
            8: u8
      value: {value: 'at == 0 ? 0 : stored'}

  fb_u4:
    doc: A field that is a number of 4 bytes, not signed.
    params:
      - {id: table, type: fb_table}
      - {id: field, type: u2}
      - {id: absent, type: u4, doc: what it is if it is absent}
    instances:
      at: {value: 'field < table.vtable.entries.size ? table.vtable.entries[field] : 0'}
      stored: {pos: table.position + at, if: at != 0, type: u4}
      value: {value: 'at == 0 ? absent : stored'}

  fb_string:
    doc: A field that is a string; empty if it is absent.
    params:
      - {id: table, type: fb_table}
      - {id: field, type: u2}
    instances:
      at: {value: 'field < table.vtable.entries.size ? table.vtable.entries[field] : 0'}
      offset: {pos: table.position + at, if: at != 0, type: u4, valid: {min: 1, max: 0x7fffffff}}
      stored: {pos: table.position + at + offset, if: at != 0, type: fb_stored_string}
      value: {value: 'at == 0 ? "" : stored.text'}

  fb_stored_string:
    seq:
      - {id: length_bytes, type: u4, valid: {max: 255}}
      - {id: text, type: str, size: length_bytes}
      - {id: terminator, contents: [0]}

  fb_vector:
    doc: |
      A field that is a vector: `count` elements from `first` on; none if it is absent. The
      elements are read by the type that knows them.
    params:
      - {id: table, type: fb_table}
      - {id: field, type: u2}
    instances:
      at: {value: 'field < table.vtable.entries.size ? table.vtable.entries[field] : 0'}
      offset: {pos: table.position + at, if: at != 0, type: u4, valid: {min: 1, max: 0x7fffffff}}
      stored_count: {pos: table.position + at + offset, if: at != 0, type: u4}
      count: {value: 'at == 0 ? 0 : stored_count'}
      first: {value: 'at == 0 ? 0 : table.position + at + offset + 4'}

  # Directory.

  directory_root:
    doc-ref: spec/container.md#directory
    seq:
      - {id: root, type: fb_root}
      - {id: generation, type: 'fb_number(root.table, 0, 8)'}
      - {id: next_segment_id, type: 'fb_number(root.table, 1, 8)'}
      - {id: next_run_id, type: 'fb_number(root.table, 2, 8)'}
      - {id: tables_vector, type: 'fb_vector(root.table, 3)'}
      - {id: held_vector, type: 'fb_vector(root.table, 4)'}
      - {id: held_tables_vector, type: 'fb_vector(root.table, 5)'}
      - {id: taken_back, type: 'fb_number(root.table, 6, 8)'}
    instances:
      tables:
        pos: tables_vector.first
        repeat: expr
        repeat-expr: tables_vector.count
        type: table_ref
      held:
        pos: held_vector.first
        repeat: expr
        repeat-expr: held_vector.count
        type: held_extent
      held_tables:
        pos: held_tables_vector.first
        repeat: expr
        repeat-expr: held_tables_vector.count
        type: held_table_ref

  table_ref:
    seq:
      - id: offset_bytes
        type: u8
        valid: {expr: _ >= 81920 and _ < _root._io.size and _ % 4096 == 0}
      - {id: born, type: u8, valid: {min: 1}}
      - {id: checksum, type: u8}
      - {id: first_segment_id, type: u8, valid: {min: 1}}
      - {id: payload_bytes, type: u4, valid: {expr: _ >= 8 and _ <= 16384 and _ % 8 == 0}}
      - {id: segment_count, type: u4, valid: {min: 1, max: 128}}
    instances:
      segment_table: {io: _root._io, pos: offset_bytes, size: payload_bytes, type: segment_table}

  held_extent:
    doc: Not followed, and perhaps behind the end of the file, if it is of the previous generation.
    seq:
      - {id: offset_bytes, type: u8, valid: {min: 81920}}
      - {id: length_bytes, type: u8, valid: {min: 4096}}
      - {id: born, type: u8, valid: {min: 1}}
      - {id: retired, type: u8, valid: {expr: _ > born}}

  held_table_ref:
    seq:
      - id: offset_bytes
        type: u8
        valid: {expr: _ >= 81920 and _ < _root._io.size and _ % 4096 == 0}
      - {id: born, type: u8, valid: {min: 1}}
      - {id: checksum, type: u8}
      - {id: payload_bytes, type: u4, valid: {expr: _ >= 8 and _ <= 16384 and _ % 8 == 0}}
      - {id: entry_count, type: u4, valid: {min: 1, max: 384}}
    instances:
      held_table: {io: _root._io, pos: offset_bytes, size: payload_bytes, type: held_table}

  held_table:
    seq:
      - {id: root, type: fb_root}
      - {id: entries_vector, type: 'fb_vector(root.table, 0)'}
    instances:
      entries:
        pos: entries_vector.first
        repeat: expr
        repeat-expr: entries_vector.count
        type: held_extent

  segment_table:
    seq:
      - {id: root, type: fb_root}
      - {id: segments_vector, type: 'fb_vector(root.table, 0)'}
    instances:
      segments:
        pos: segments_vector.first
        repeat: expr
        repeat-expr: segments_vector.count
        type: segment_reference(segments_vector.first + 4 * _index)

  segment_reference:
    params:
      - {id: position, type: u4}
    seq:
      - {id: offset, type: u4, valid: {min: 1, max: 0x7fffffff}}
    instances:
      segment: {pos: position + offset, type: segment(position + offset)}

  segment:
    doc-ref: spec/container.md#segments
    params:
      - {id: position, type: u4}
    seq:
      - {id: table, type: fb_table(position)}
      - {id: id, type: 'fb_number(table, 0, 8)'}
      - {id: kind_number, type: 'fb_number(table, 1, 2)'}
      - {id: storage_class_number, type: 'fb_number(table, 2, 1)'}
      - {id: owner, type: 'fb_number(table, 3, 8)'}
      - {id: name, type: 'fb_string(table, 4)'}
      - {id: runs_vector, type: 'fb_vector(table, 5)'}
    instances:
      kind: {value: kind_number.value, enum: segment_kind}
      storage_class: {value: storage_class_number.value, enum: storage_class}
      runs:
        doc: Of a tiled segment one, the root of its tree.
        pos: runs_vector.first
        repeat: expr
        repeat-expr: runs_vector.count
        type: run(kind, 5)

  run:
    doc: |
      An entry of a segment's runs, or a child of a tile node, which has the same fields. `level`
      is 5 in the directory, in nodes the level of what is referred to: -1 is a tile.
    doc-ref: spec/container.md#checksum-tree
    params:
      - {id: kind, type: u2, enum: segment_kind}
      - {id: level, type: s1}
    seq:
      - id: offset_bytes
        type: u8
        valid: {expr: _ >= 81920 and _ < _root._io.size and _ % 4096 == 0}
      - {id: born, type: u8, valid: {min: 1}}
      - {id: run_id, type: u8, valid: {min: 1}}
      - {id: payload_bytes, type: u8, valid: {expr: _ >= 1 and _ <= _root._io.size - offset_bytes}}
      - {id: record_count, type: u8}
      - {id: checksum, type: u8}
    instances:
      padded_payload_bytes: {value: (payload_bytes + 7) / 8 * 8}
      level_0_count: {value: (padded_payload_bytes + 65535) / 65536}
      level_1_count: {value: 'level_0_count <= 8192 ? 0 : (level_0_count + 8191) / 8192'}
      level_2_count: {value: 'level_1_count <= 8192 ? 0 : (level_1_count + 8191) / 8192'}
      extent_bytes:
        value: (padded_payload_bytes + 8 * (level_0_count + level_1_count + level_2_count)
          + 64 + 4095) / 4096 * 4096
      tile:
        if: level == -1
        io: _root._io
        pos: offset_bytes
        size: payload_bytes
        type: record_tile
      payload:
        if: level != -1
        io: _root._io
        pos: offset_bytes
        size: payload_bytes
        type:
          switch-on: kind
          cases:
            segment_kind::drum: drum
            segment_kind::drum_partition: partition
            segment_kind::drum_key_log: key_run
            segment_kind::drum_aux_log: aux_run
            segment_kind::drum_results: result_run
            segment_kind::pages: pages
            segment_kind::page_origins: origin_run
            segment_kind::page_records: tile_node(level)
            segment_kind::out_links: link_run
            segment_kind::in_links: link_run
            segment_kind::gone_links: link_run
            segment_kind::page_events: event_run
            segment_kind::fresh_keys: partition
            segment_kind::score_array: score_array
            segment_kind::queue: queue_table
            segment_kind::queue_entries: queue_run
            segment_kind::frontier: frontier
            segment_kind::frontier_groups: group_run
            segment_kind::frontier_items: item_run
            segment_kind::frontier_steps: step_run
            segment_kind::values: small_values
            segment_kind::page_contents: partition
      payload_padding:
        io: _root._io
        pos: offset_bytes + payload_bytes
        size: padded_payload_bytes - payload_bytes
        type: zeros
      checksum_tree:
        io: _root._io
        pos: offset_bytes + padded_payload_bytes
        size: extent_bytes - padded_payload_bytes
        type: checksum_tree(level_0_count, level_1_count, level_2_count)

  checksum_tree:
    doc: |
      Entry i of level 0 covers the bytes of the padded payload from 65,536 * i on; entry j of each
      other level the entries of the level above from 8,192 * j on. `checksum` of the run covers the
      last level, the zeros, and the end.
    doc-ref: spec/container.md#checksum-tree
    params:
      - {id: level_0_count, type: u8}
      - {id: level_1_count, type: u8}
      - {id: level_2_count, type: u8}
    seq:
      - {id: level_0, type: u8, repeat: expr, repeat-expr: level_0_count}
      - {id: level_1, type: u8, repeat: expr, repeat-expr: level_1_count}
      - {id: level_2, type: u8, repeat: expr, repeat-expr: level_2_count}
      - {id: padding, type: zeros, size: _io.size - _io.pos - 64}
      - {id: end, type: run_end}

  run_end:
    doc: What the directory says of a run, and a checksum by which it is known without one.
    doc-ref: spec/container.md#end-of-a-run
    seq:
      - {id: magic, contents: CRUN}
      - {id: kind, type: u2, enum: segment_kind}
      - {id: reserved, type: u2, valid: 0}
      - {id: segment_id, type: u8}
      - {id: run_id, type: u8}
      - {id: owner, type: u8}
      - {id: payload_bytes, type: u8}
      - {id: record_count, type: u8}
      - {id: first, type: u8}
      - {id: checksum, type: u8}

  # Payloads.

  drum:
    doc-ref: spec/drum.md#drum
    seq:
      - {id: root, type: fb_root}
      - {id: key_bytes, type: 'fb_number(root.table, 0, 2)'}
      - {id: key_scheme_number, type: 'fb_number(root.table, 1, 2)'}
      - {id: value_bytes, type: 'fb_number(root.table, 2, 4)'}
      - {id: next_sequence, type: 'fb_number(root.table, 3, 8)'}
      - {id: merge_count, type: 'fb_number(root.table, 4, 8)'}
      - {id: unparsed_count, type: 'fb_number(root.table, 5, 8)'}
      - {id: buckets_vector, type: 'fb_vector(root.table, 6)'}
      - {id: consumers_vector, type: 'fb_vector(root.table, 7)'}
      - {id: merge_bytes, type: 'fb_number(root.table, 8, 8)'}
      - {id: merge_requests, type: 'fb_number(root.table, 9, 8)'}
      - {id: partition_keys_max, type: 'fb_number(root.table, 10, 8)'}
      - {id: normalizer, type: 'fb_string(root.table, 11)'}
    instances:
      key_scheme: {value: key_scheme_number.value, enum: key_scheme}
      buckets:
        pos: buckets_vector.first
        repeat: expr
        repeat-expr: buckets_vector.count
        type: drum_bucket
      consumers:
        pos: consumers_vector.first
        repeat: expr
        repeat-expr: consumers_vector.count
        type: drum_consumer_reference(consumers_vector.first + 4 * _index)

  drum_bucket:
    seq:
      - {id: first_key, type: u8}
      - {id: partition, type: u8}
      - {id: key_log, type: u8}
      - {id: aux_log, type: u8}
      - {id: key_count, type: u8}
      - {id: pending_count, type: u8}

  drum_consumer_reference:
    params:
      - {id: position, type: u4}
    seq:
      - {id: offset, type: u4, valid: {min: 1, max: 0x7fffffff}}
    instances:
      consumer: {pos: position + offset, type: drum_consumer(position + offset)}

  drum_consumer:
    params:
      - {id: position, type: u4}
    seq:
      - {id: table, type: fb_table(position)}
      - {id: id, type: 'fb_number(table, 0, 2)'}
      - {id: name, type: 'fb_string(table, 1)'}
      - {id: results, type: 'fb_number(table, 2, 8)'}
      - {id: result_count, type: 'fb_number(table, 3, 8)'}

  partition:
    doc-ref: spec/drum.md#partition
    instances:
      footer: {pos: '_io.size < 64 ? 0 : _io.size - 64', type: partition_footer}
      index:
        pos: footer.index_offset_bytes
        size: _io.size - 64 - footer.index_offset_bytes
        type: partition_index(footer.block_count, footer.index_offset_bytes, footer.key_bytes)
      blocks: {pos: 0, type: partition_block(_index), repeat: expr, repeat-expr: footer.block_count}

  partition_footer:
    seq:
      - {id: key_count, type: u8}
      - id: block_count
        type: u8
        valid: {expr: _ >= 1 and _ <= _io.size / 16 and key_count >= _ and key_count <= 512 * _}
      - id: index_offset_bytes
        type: u8
        valid: {expr: _ >= 16 * block_count and _ <= _io.size - 64}
      - {id: first_key, type: u8}
      - {id: last_key, type: u8, valid: {min: first_key}}
      - {id: key_bytes, type: u2, valid: {any-of: [8, 16]}}
      - {id: codec, type: u2, enum: partition_codec, valid: {in-enum: true}}
      - {id: value_bytes, type: s4, valid: {min: -1, max: 16777216}}
      - {id: reserved, type: u8, valid: 0}
      - {id: magic, contents: CRYPART1}

  partition_index:
    params:
      - {id: block_count, type: u8}
      - {id: blocks_bytes, type: u8}
      - {id: key_bytes, type: u2}
    seq:
      - id: first_keys
        doc: of 16-byte keys, the heads
        type: u8
        repeat: expr
        repeat-expr: block_count
        valid:
          expr: '_index == 0 or _ > first_keys[_index - 1]
            or key_bytes == 16 and _ == first_keys[_index - 1]'
      - {id: first_tails, type: u8, repeat: expr, repeat-expr: block_count, if: key_bytes == 16}
      - id: offsets
        doc: of the blocks, divided by 8
        type: u4
        repeat: expr
        repeat-expr: block_count
        valid:
          expr: '(_index == 0 ? _ == 0 : _ > offsets[_index - 1]) and _ * 8 < blocks_bytes'
      - {id: padding, type: align_8}
      - {id: surplus, size-eos: true, valid: {expr: _.size == 0}}

  partition_block:
    doc: Finds its place in the index; a block ends where the next one, or the index, begins.
    params:
      - {id: block_index, type: u8}
    instances:
      footer: {value: _parent.footer}
      first: {value: '_parent.index.offsets[block_index] * 8'}
      past_last:
        value: 'block_index + 1 < footer.block_count
          ? _parent.index.offsets[block_index + 1] * 8 : footer.index_offset_bytes'
      block:
        pos: first
        size: past_last - first
        type: key_block(footer.key_bytes, footer.value_bytes)

  key_block:
    doc: |
      The numbers that are coded are keys, or heads, or (`shares_head`) tails: the first one stands
      here, the distances of the others from it are in the upper and lower bits (Elias-Fano code).
    doc-ref: spec/drum.md#key-block
    params:
      - {id: key_bytes, type: u2}
      - {id: value_bytes, type: s4}
    seq:
      - {id: first_key, type: u8}
      - {id: key_count, type: u2, valid: {min: 1, max: 512}}
      - {id: upper_words, type: u2, valid: {max: 64}}
      - {id: low_bits, type: u1, valid: {max: 63}}
      - id: shares_head
        type: u1
        valid: {expr: _ == 0 or _ == 1 and key_bytes == 16 and key_count > 1}
      - {id: reserved, type: u2, valid: 0}
      - {id: upper_bits, size: upper_words * 8}
      - {id: lower_bits, size: ((key_count - 1) * low_bits + 63) / 64 * 8}
      - id: halves
        doc: The tail of each key, or the one head of all.
        type: u8
        repeat: expr
        repeat-expr: 'shares_head == 1 ? 1 : key_count'
        if: key_bytes == 16
      - id: lengths
        type: u4
        valid: {max: 16777216}
        repeat: expr
        repeat-expr: key_count
        if: value_bytes == -1
      - {id: lengths_padding, type: align_8}
      - id: values
        size: 'value_bytes == -1 ? lengths[_index] : value_bytes'
        repeat: expr
        repeat-expr: key_count
        if: value_bytes != 0
      - {id: values_padding, type: align_8}
      - {id: surplus, size-eos: true, valid: {expr: _.size == 0}}

  tag:
    seq:
      - {id: operation, type: b2, enum: operation, valid: {in-enum: true}}
      - {id: consumer, type: b14}

  key_run:
    doc: The lists have one element for each request, in the order in which they came.
    doc-ref: spec/drum.md#request-runs
    seq:
      - {id: magic, contents: CKEYRUN1}
      - {id: record_count, type: u8, valid: {min: 1, max: 16777216}}
      - {id: first_sequence, type: u8}
      - {id: flags, type: u4, valid: {max: 3}}
      - {id: value_bytes, type: s4, valid: {min: -1, max: 16777216}}
      - {id: uniform_tag, type: tag, doc: of all requests if there is no column of tags}
      - {id: key_bits, type: u2, valid: {min: 1, max: 64}}
      - {id: key_bytes, type: u2, valid: {any-of: [8, 16]}}
      - {id: reserved, type: u2, valid: 0}
      - {id: key_base, type: u8}
      - id: keys
        doc: Their distances from `key_base`, each of `key_bits` bits.
        size: (record_count * key_bits + 63) / 64 * 8
      - {id: tails, type: u8, repeat: expr, repeat-expr: record_count, if: key_bytes == 16}
      - {id: tags, type: tag, repeat: expr, repeat-expr: record_count, if: has_tags}
      - {id: tags_padding, type: align_8}
      - id: sequences
        doc: less first_sequence
        type: u4
        valid: {expr: '_index == 0 ? _ == 0 : _ > sequences[_index - 1]'}
        repeat: expr
        repeat-expr: record_count
        if: has_sequences
      - {id: sequences_padding, type: align_8}
      - id: lengths
        type: u4
        valid: {max: 16777216}
        repeat: expr
        repeat-expr: record_count
        if: value_bytes == -1
      - {id: lengths_padding, type: align_8}
      - id: values
        size: 'value_bytes == -1 ? lengths[_index] : value_bytes'
        repeat: expr
        repeat-expr: record_count
        if: value_bytes != 0
      - {id: values_padding, type: align_8}
      - {id: surplus, size-eos: true, valid: {expr: _.size == 0}}
    instances:
      has_tags: {value: flags & 1 != 0}
      has_sequences: {value: flags & 2 != 0}

  aux_run:
    doc: The auxiliaries of the key run whose run id is one lower.
    doc-ref: spec/drum.md#request-runs
    seq:
      - {id: magic, contents: CAUXRUN1}
      - {id: record_count, type: u8, valid: {min: 1, max: 16777216}}
      - {id: flags, type: u4, valid: {max: 1}}
      - id: uniform_length_bytes
        type: u4
        valid: {expr: 'flags == 1 ? _ >= 1 and _ <= 67108864 : _ == 0'}
      - {id: codec, type: u2, enum: aux_codec, valid: {in-enum: true}}
      - {id: reserved, contents: [0, 0, 0, 0, 0, 0]}
      - id: lengths
        type: 'aux_length(_index == 0 ? 0 : lengths[_index - 1].past_last)'
        repeat: expr
        repeat-expr: record_count
        if: flags == 0
      - {id: lengths_padding, type: align_8}
      - id: block_lengths
        type: u4
        valid:
          expr: '_ <= (_index + 1 < block_count ? 65536 : total_bytes - _index * 65536)
            and _ * 255 >= (_index + 1 < block_count ? 65536 : total_bytes - _index * 65536)'
        repeat: expr
        repeat-expr: block_count
        if: codec == aux_codec::lz4
      - {id: block_lengths_padding, type: align_8}
      - id: auxiliaries
        size: 'flags == 1 ? uniform_length_bytes : lengths[_index].length_bytes'
        repeat: expr
        repeat-expr: record_count
        if: codec == aux_codec::raw
      - id: blocks
        doc: Each is LZ4, except where its length is that of what it holds.
        size: block_lengths[_index]
        repeat: expr
        repeat-expr: block_count
        if: codec == aux_codec::lz4
      - {id: bytes_padding, type: align_8}
      - {id: surplus, size-eos: true, valid: {expr: _.size == 0}}
    instances:
      total_bytes:
        value: 'flags == 1 ? record_count * uniform_length_bytes : lengths.last.past_last'
      block_count: {value: (total_bytes + 65535) / 65536}

  aux_length:
    params:
      - {id: first, type: u8}
    seq:
      - {id: length_bytes, type: u4, valid: {max: 67108864}}
    instances:
      past_last: {value: first + length_bytes}

  result_run:
    doc: The lists have one element for each answer, in the order in which they are dispatched.
    doc-ref: spec/drum.md#result-runs
    seq:
      - {id: magic, contents: CRESRUN1}
      - {id: record_count, type: u8, valid: {min: 1, max: _io.size}}
      - {id: value_bytes, type: s4, valid: {min: -1, max: 16777216}}
      - {id: key_bytes, type: u2, valid: {any-of: [8, 16]}}
      - {id: reserved, type: u2, valid: 0}
      - {id: keys, type: u8, repeat: expr, repeat-expr: record_count, doc: or heads}
      - {id: tails, type: u8, repeat: expr, repeat-expr: record_count, if: key_bytes == 16}
      - {id: sequences, type: u8, repeat: expr, repeat-expr: record_count}
      - {id: tags, type: tag, repeat: expr, repeat-expr: record_count}
      - {id: tags_padding, type: align_8}
      - id: verdicts
        type: u1
        enum: verdict
        valid: {in-enum: true}
        repeat: expr
        repeat-expr: record_count
      - {id: verdicts_padding, type: align_8}
      - id: value_lengths
        type: u4
        valid: {max: 16777216}
        repeat: expr
        repeat-expr: record_count
        if: value_bytes == -1
      - {id: value_lengths_padding, type: align_8}
      - {id: aux_lengths, type: u4, valid: {max: 67108864}, repeat: expr, repeat-expr: record_count}
      - {id: aux_lengths_padding, type: align_8}
      - id: values
        size: 'value_bytes == -1 ? value_lengths[_index] : value_bytes'
        repeat: expr
        repeat-expr: record_count
        if: value_bytes != 0
      - {id: values_padding, type: align_8}
      - {id: auxes, size: 'aux_lengths[_index]', repeat: expr, repeat-expr: record_count}
      - {id: auxes_padding, type: align_8}
      - {id: surplus, size-eos: true, valid: {expr: _.size == 0}}

  # Page databases.

  pages:
    doc-ref: spec/pages.md#pages
    seq:
      - {id: root, type: fb_root}
      - {id: flags, type: 'fb_number(root.table, 0, 4)', doc: '1: pages have URLs; 2: an index of contents'}
      - {id: page_count, type: 'fb_number(root.table, 1, 8)'}
      - {id: crawled_count, type: 'fb_number(root.table, 2, 8)'}
      - {id: link_count, type: 'fb_number(root.table, 3, 8)'}
      - {id: event_count, type: 'fb_number(root.table, 4, 8)'}
      - {id: superstep_count, type: 'fb_number(root.table, 5, 8)'}
      - {id: collision_count, type: 'fb_number(root.table, 6, 8)'}
      - {id: unparsed_count, type: 'fb_number(root.table, 7, 8)'}
      - {id: keys, type: 'fb_number(root.table, 8, 8)'}
      - {id: origins, type: 'fb_number(root.table, 9, 8)'}
      - {id: records, type: 'fb_number(root.table, 10, 8)'}
      - {id: out_links, type: 'fb_number(root.table, 11, 8)'}
      - {id: in_links, type: 'fb_number(root.table, 12, 8)'}
      - {id: gone_links, type: 'fb_number(root.table, 13, 8)'}
      - {id: events, type: 'fb_number(root.table, 14, 8)'}
      - {id: fresh_keys, type: 'fb_number(root.table, 15, 8)'}
      - {id: normalizer, type: 'fb_string(root.table, 16)'}
      - {id: elsewhere_count, type: 'fb_number(root.table, 17, 8)'}
      - {id: contents, type: 'fb_number(root.table, 18, 8)'}

  uint:
    doc: A number of `size` bytes, not signed; 0 of no bytes.
    params:
      - {id: size, type: u1}
    seq:
      - {id: octets, type: u1, repeat: expr, repeat-expr: size}
    instances:
      low:
        value: '(size > 0 ? octets[0] : 0) + (size > 1 ? octets[1] * 256 : 0)
          + (size > 2 ? octets[2] * 65536 : 0) + (size > 3 ? octets[3] * 16777216 : 0)'
      high:
        value: '(size > 4 ? octets[4] : 0) + (size > 5 ? octets[5] * 256 : 0)
          + (size > 6 ? octets[6] * 65536 : 0) + (size > 7 ? octets[7] * 16777216 : 0)'
      value: {value: high * 4294967296 + low}

  origin_run:
    doc-ref: spec/pages.md#origin-runs
    instances:
      footer: {pos: '_io.size < 64 ? 0 : _io.size - 64', type: origin_footer}
      dictionary: {pos: 0, size: footer.dictionary_bytes}
      blocks:
        pos: footer.dictionary_bytes
        size: footer.index_offset_bytes - footer.dictionary_bytes
        type: origin_blocks(footer.block_count)
      index:
        pos: footer.index_offset_bytes
        size: _io.size - 64 - footer.index_offset_bytes
        type: 'origin_index(footer.block_count, footer.index_offset_bytes,
          footer.entry_page_bytes, footer.entry_offset_bytes)'

  origin_footer:
    seq:
      - {id: first_page, type: u8}
      - {id: page_count, type: u8}
      - id: block_count
        type: u8
        valid: {expr: _ >= 1 and _ <= _io.size / 16 and page_count >= _ and page_count <= 64 * _}
      - {id: url_bytes, type: u8, valid: {expr: _ <= 255 * _io.size}}
      - {id: index_offset_bytes, type: u8, valid: {expr: _ <= _io.size - 64}}
      - id: dictionary_bytes
        type: u4
        valid: {expr: _ <= 65536 and index_offset_bytes >= _ + 16 * block_count}
      - {id: codec, type: u2, enum: origin_codec, valid: {in-enum: true}}
      - {id: entry_page_bytes, type: u1, valid: {max: 8}}
      - {id: entry_offset_bytes, type: u1, valid: {max: 8}}
      - id: reserved
        type: u8
        valid: {expr: _ == 0 and (codec == origin_codec::zstd or dictionary_bytes == 0)}
      - {id: magic, contents: CORIGRN1}

  origin_blocks:
    params:
      - {id: block_count, type: u8}
    seq:
      - {id: blocks, type: origin_block, repeat: expr, repeat-expr: block_count}
      - {id: surplus, size-eos: true, valid: {expr: _.size == 0}}

  origin_block:
    seq:
      - {id: raw_bytes, type: u4}
      - id: stored_bytes
        type: u4
        valid: {expr: _ <= raw_bytes and _ * 255 >= raw_bytes}
      - id: page_count
        type: u2
        valid: {expr: _ >= 1 and _ <= 64 and (_ == 1 or raw_bytes <= 262144)}
      - {id: linked_from_bytes, type: u1, valid: {max: 8}}
      - {id: depth_bytes, type: u1, valid: {max: 4}}
      - {id: length_bytes, type: u1, valid: {max: 4}}
      - {id: reserved, contents: [0, 0, 0]}
      - id: distances
        doc: of each page, its index less that of the page that linked to it first; 0 if none did
        type: uint(linked_from_bytes)
        repeat: expr
        repeat-expr: page_count
      - {id: depths, type: uint(depth_bytes), repeat: expr, repeat-expr: page_count}
      - id: frame
        doc: A zstd frame that gives what else would be in `raw`.
        size: stored_bytes
        if: stored_bytes != raw_bytes
      - id: raw
        size: stored_bytes
        type: origin_raw(page_count, length_bytes)
        if: stored_bytes == raw_bytes

  origin_raw:
    params:
      - {id: page_count, type: u2}
      - {id: length_bytes, type: u1}
    seq:
      - {id: lengths, type: uint(length_bytes), repeat: expr, repeat-expr: page_count}
      - {id: urls, size: 'lengths[_index].low', repeat: expr, repeat-expr: page_count}
      - {id: surplus, size-eos: true, valid: {expr: _.size == 0}}

  origin_index:
    params:
      - {id: block_count, type: u8}
      - {id: first, type: u8}
      - {id: page_bytes, type: u1}
      - {id: offset_bytes, type: u1}
    seq:
      - id: entries
        type: origin_entry(page_bytes, offset_bytes)
        repeat: expr
        repeat-expr: block_count
      - {id: padding, size: (8 - (first + _io.pos) % 8) % 8, type: zeros}
      - {id: surplus, size-eos: true, valid: {expr: _.size == 0}}

  origin_entry:
    params:
      - {id: page_bytes, type: u1}
      - {id: offset_bytes, type: u1}
    seq:
      - {id: page, type: uint(page_bytes), doc: less first_page of the run}
      - {id: offset, type: uint(offset_bytes)}

  tile_node:
    doc: Of level 0 the children are tiles, else nodes of the next lower level.
    doc-ref: spec/container.md#tiled-segments
    params:
      - {id: level_of_place, type: s1, doc: '5: any'}
    seq:
      - {id: magic, contents: CTILNOD1}
      - {id: record_count, type: u8}
      - id: level
        type: u2
        valid: {expr: _ <= 4 and (level_of_place == 5 or _ == level_of_place)}
      - id: child_count
        type: u2
        valid: {expr: '_ >= (level == 0 or level_of_place != 5 ? 1 : 2) and _ <= 64'}
      - {id: reserved, type: u4, valid: 0}
      - id: children
        type: 'run(segment_kind::page_records, level - 1)'
        repeat: expr
        repeat-expr: child_count
      - {id: surplus, size-eos: true, valid: {expr: _.size == 0}}

  record_tile:
    doc: |
      Columns of numbers of their own width; what each number stands for is that and its column's
      base (of first_crawl: 0 for never, else the base and the number, less 1).
    doc-ref: spec/pages.md#record-tiles
    seq:
      - {id: magic, contents: CRECTIL1}
      - {id: page_count, type: u4, valid: {min: 1, max: 8192}}
      - {id: hash_bytes, type: u4, valid: {expr: _ <= 64 * page_count}}
      - {id: columns, type: record_column, repeat: expr, repeat-expr: 9}
      - {id: state, type: 'record_numbers(columns[0].width_bytes, page_count)'}
      - {id: crawl_count, type: 'record_numbers(columns[1].width_bytes, page_count)'}
      - {id: change_count, type: 'record_numbers(columns[2].width_bytes, page_count)'}
      - {id: first_crawl, type: 'record_numbers(columns[3].width_bytes, page_count)'}
      - {id: crawl_span, type: 'record_numbers(columns[4].width_bytes, page_count)'}
      - {id: score, type: 'record_numbers(columns[5].width_bytes, page_count)'}
      - {id: hash_end, type: 'record_numbers(columns[6].width_bytes, page_count)'}
      - {id: status, type: 'record_numbers(columns[7].width_bytes, page_count)'}
      - {id: failures, type: 'record_numbers(columns[8].width_bytes, page_count)'}
      - {id: hashes, size: hash_bytes}
      - {id: padding, type: align_8}
      - {id: surplus, size-eos: true, valid: {expr: _.size == 0}}

  record_column:
    seq:
      - {id: base, type: u8}
      - {id: width_bytes, type: u1, valid: {max: 8}}
      - {id: reserved, contents: [0, 0, 0, 0, 0, 0, 0]}

  record_numbers:
    doc: One for each page; none are stored if all are 0.
    params:
      - {id: width_bytes, type: u1}
      - {id: page_count, type: u4}
    seq:
      - id: numbers
        type: uint(width_bytes)
        repeat: expr
        repeat-expr: page_count
        if: width_bytes != 0

  score_array:
    doc-ref: spec/scores.md#score-arrays
    instances:
      footer: {pos: '_io.size < 104 ? 0 : _io.size - 104', type: score_footer}
      floats: {pos: 0, type: f4, repeat: expr, repeat-expr: footer.entry_count, if: footer.codec == 1}
      doubles: {pos: 0, type: f8, repeat: expr, repeat-expr: footer.entry_count, if: footer.codec == 2}
      first_pages:
        pos: footer.first_pages_offset_bytes
        type: u8
        repeat: expr
        repeat-expr: footer.first_page_count
      residuals:
        pos: footer.first_pages_offset_bytes + 8 * footer.first_page_count
        type: f8
        repeat: expr
        repeat-expr: footer.iteration_count

  score_footer:
    seq:
      - {id: entry_count, type: u8, valid: {expr: _ <= _io.size / 4}}
      - {id: page_count, type: u8}
      - {id: link_count, type: u8}
      - {id: superstep_count, type: u8}
      - {id: generation, type: u8}
      - {id: time_us, type: s8}
      - {id: damping, type: f8}
      - {id: precision, type: f8}
      - {id: residual, type: f8}
      - {id: sum, type: f8}
      - {id: iteration_count, type: u4, valid: {expr: _ <= 65536}}
      - {id: scorer, type: u2}
      - {id: subject, type: u2, valid: {min: 1, max: 3}}
      - {id: codec, type: u2, valid: {min: 1, max: 2}}
      - {id: flags, type: u2}
      - {id: reserved, contents: [0, 0, 0, 0]}
      - {id: magic, contents: CSCORES1}
    instances:
      first_pages_offset_bytes: {value: '(entry_count * (codec == 1 ? 4 : 8) + 7) / 8 * 8'}
      first_page_count: {value: 'subject == 1 ? 0 : entry_count'}

  small_values:
    doc-ref: spec/values.md#small-values
    seq:
      - {id: magic, contents: CVALUES1}
      - {id: value_count, type: u4, valid: {min: 1, max: 1024}}
      - {id: reserved, contents: [0, 0, 0, 0]}
      - {id: lengths, type: value_lengths, repeat: expr, repeat-expr: value_count}
      - {id: values, type: 'small_value(lengths[_index])', repeat: expr, repeat-expr: value_count}

  value_lengths:
    seq:
      - {id: name_bytes, type: u2, valid: {min: 1, max: 255}}
      - {id: value_bytes, type: u2, valid: {max: 4096}}

  small_value:
    params:
      - {id: lengths, type: value_lengths}
    seq:
      - {id: name, size: lengths.name_bytes, type: str, encoding: UTF-8}
      - {id: bytes, size: lengths.value_bytes}

  queue_table:
    doc-ref: spec/queue.md#queue-tables
    seq:
      - {id: magic, contents: CQTABLE1}
      - {id: entries, type: u8}
      - {id: entry_count, type: u8}
      - {id: page_count, type: u8}
      - {id: run_count, type: u4, valid: {max: 256}}
      - {id: change_run_count, type: u4, valid: {max: 256}}
      - {id: runs, type: queue_run_cut, repeat: expr, repeat-expr: run_count}
      - {id: change_runs, type: u8, repeat: expr, repeat-expr: change_run_count}

  queue_run_cut:
    seq:
      - {id: run_id, type: u8}
      - {id: cut_order, type: u8}
      - {id: cut_page, type: u8}

  queue_run:
    doc-ref: spec/queue.md#queue-runs
    instances:
      footer: {pos: '_io.size < 40 ? 0 : _io.size - 40', type: queue_run_footer}
      entries: {pos: 0, size: _io.size - 40 - 32 * footer.fragment_count}
      index:
        pos: _io.size - 40 - 32 * footer.fragment_count
        type: queue_fragment
        repeat: expr
        repeat-expr: footer.fragment_count

  queue_run_footer:
    seq:
      - {id: entry_count, type: u8}
      - {id: highest_order, type: u8}
      - {id: highest_page, type: u8}
      - {id: fragment_count, type: u4, valid: {expr: _ >= 1 and _ <= (_io.size - 40) / 32}}
      - {id: reserved, contents: [0, 0, 0, 0]}
      - {id: magic, contents: CQUEUES1}

  queue_fragment:
    seq:
      - {id: lowest_order, type: u8}
      - {id: lowest_page, type: u8}
      - {id: first_page, type: u8}
      - {id: entry_count, type: u4, valid: {min: 1, max: 65536}}
      - {id: order_shift, type: u1, valid: {max: 63}}
      - {id: order_bytes, type: u1, valid: {max: 8}}
      - {id: page_bytes, type: u1, valid: {max: 8}}
      - {id: reserved, contents: [0]}

  frontier:
    doc-ref: spec/frontier.md#frontier-tables
    seq:
      - {id: root, type: fb_root}
      - {id: flags, type: 'fb_u4(root.table, 0, 0)', doc: '1: ids are the caller''s'}
      - {id: groups, type: 'fb_number(root.table, 1, 8)'}
      - {id: items, type: 'fb_number(root.table, 2, 8)'}
      - {id: steps, type: 'fb_number(root.table, 3, 8)'}
      - {id: group_count, type: 'fb_u4(root.table, 4, 0)'}
      - {id: waiting_count, type: 'fb_number(root.table, 5, 8)'}
      - {id: leased_count, type: 'fb_number(root.table, 6, 8)'}
      - {id: next_id, type: 'fb_number(root.table, 7, 8)'}
      - {id: step_count, type: 'fb_number(root.table, 8, 8)'}
      - {id: clock_ms, type: 'fb_number(root.table, 9, 8)'}
      - {id: soft_ms, type: 'fb_number(root.table, 10, 8)'}
      - {id: hard_ms, type: 'fb_number(root.table, 11, 8)'}
      - {id: burst, type: 'fb_u4(root.table, 12, 1)'}
      - {id: in_flight_max, type: 'fb_u4(root.table, 13, 1)'}
      - {id: put_max, type: 'fb_number(root.table, 14, 8)', doc: 'absent: there is no limit'}
      - {id: finished_max, type: 'fb_number(root.table, 15, 8)', doc: 'absent: there is no limit'}
      - {id: runs_vector, type: 'fb_vector(root.table, 16)'}
      - {id: pieces_vector, type: 'fb_vector(root.table, 17)'}
    instances:
      runs:
        pos: runs_vector.first
        type: item_run_span
        repeat: expr
        repeat-expr: runs_vector.count
      pieces:
        pos: pieces_vector.first
        type: u8
        repeat: expr
        repeat-expr: pieces_vector.count

  item_run_span:
    seq:
      - {id: run_id, type: u8}
      - {id: first_step, type: u8}
      - {id: last_step, type: u8}

  group_run:
    doc: Of codec 1 the keys are in LZ4 blocks.
    doc-ref: spec/frontier.md#group-runs
    seq:
      - {id: magic, contents: CGROUPS1}
      - {id: first_group, type: u4}
      - {id: group_count, type: u4, valid: {expr: _ >= 1 and _ <= (_io.size - 40) / 2}}
      - {id: key_bytes, type: u8, valid: {expr: _ <= group_count * 65535}}
      - {id: codec, type: u2, enum: aux_codec, valid: {in-enum: true}}
      - {id: reserved, contents: [0, 0, 0, 0, 0, 0]}
      - id: block_count
        type: u8
        valid: {expr: '_ == (codec == aux_codec::raw ? 0 : (key_bytes + 65535) / 65536)'}
      - {id: key_lengths, type: u2, repeat: expr, repeat-expr: group_count}
      - {id: key_lengths_padding, type: align_8}
      - {id: block_lengths, type: u4, repeat: expr, repeat-expr: block_count}
      - {id: block_lengths_padding, type: align_8}
      - id: keys
        size: key_lengths[_index]
        repeat: expr
        repeat-expr: group_count
        if: codec == aux_codec::raw
      - id: blocks
        doc: Each is LZ4, except where its length is that of what it holds.
        size: block_lengths[_index]
        repeat: expr
        repeat-expr: block_count
        if: codec == aux_codec::lz4
      - {id: keys_padding, type: align_8}
      - {id: surplus, size-eos: true, valid: {expr: _.size == 0}}

  item_run:
    doc-ref: spec/frontier.md#item-runs
    instances:
      footer: {pos: '_io.size < 56 ? 0 : _io.size - 56', type: item_run_footer}
      blocks:
        pos: 0
        size: index[_index].stored_bytes
        type: item_block(index[_index].item_count)
        repeat: expr
        repeat-expr: footer.block_count
      directory: {pos: footer.block_bytes, size: footer.directory_bytes, type: item_directory}
      index:
        pos: _io.size - 56 - 8 * footer.block_count
        type: item_block_place
        repeat: expr
        repeat-expr: footer.block_count

  item_run_footer:
    seq:
      - {id: item_count, type: u8, valid: {min: 1}}
      - {id: block_bytes, type: u8, valid: {expr: _ <= _io.size}}
      - {id: directory_bytes, type: u8, valid: {expr: _ <= _io.size}}
      - {id: body_bytes, type: u8}
      - {id: group_count, type: u4}
      - {id: block_count, type: u4, valid: {expr: _ >= 1 and _ <= (_io.size - 56) / 8}}
      - {id: flags, type: u4, valid: {max: 1}, doc: '1: by time'}
      - {id: reserved, contents: [0, 0, 0, 0]}
      - {id: magic, contents: CITEMRN1}

  item_block_place:
    seq:
      - {id: stored_bytes, type: u4}
      - {id: item_count, type: u4, valid: {min: 1, max: 4096}}

  item_block:
    doc: An order is `lowest_order` and its number, shifted; the others likewise, not shifted.
    params:
      - {id: item_count, type: u4}
    seq:
      - {id: lowest_order, type: u8}
      - {id: lowest_id, type: u8}
      - {id: lowest_time, type: u8}
      - {id: lowest_group, type: u4}
      - {id: shortest_body, type: u4}
      - {id: body_bytes, type: u4, valid: {max: 131072}}
      - {id: order_shift, type: u1, valid: {max: 63}}
      - {id: order_bytes, type: u1, valid: {max: 8}}
      - {id: id_bytes, type: u1, valid: {max: 8}}
      - {id: time_bytes, type: u1, valid: {max: 6}}
      - {id: group_bytes, type: u1, valid: {max: 4}}
      - {id: length_bytes, type: u1, valid: {max: 4}}
      - {id: codec, type: u2, enum: aux_codec, valid: {in-enum: true}}
      - {id: reserved, contents: [0, 0, 0, 0]}
      - {id: orders, size: order_bytes, repeat: expr, repeat-expr: item_count}
      - {id: ids, size: id_bytes, repeat: expr, repeat-expr: item_count}
      - {id: times, size: time_bytes, repeat: expr, repeat-expr: item_count}
      - {id: groups, size: group_bytes, repeat: expr, repeat-expr: item_count}
      - {id: lengths, size: length_bytes, repeat: expr, repeat-expr: item_count}
      - {id: bodies, size-eos: true, doc: with codec lz4 one LZ4 block}

  item_directory:
    seq:
      - {id: entries, type: item_directory_entry, repeat: eos}

  item_directory_entry:
    seq:
      - {id: gap, type: leb128, doc: groups that are left out before this one}
      - {id: item_count, type: leb128}

  step_run:
    doc-ref: spec/frontier.md#step-runs
    seq:
      - {id: magic, contents: CSTEPRN1}
      - {id: first_step, type: u8}
      - {id: step_count, type: u8, valid: {expr: _ <= (_io.size - 40) / 2}}
      - {id: first_group, type: u4}
      - {id: end_group, type: u4}
      - {id: flags, type: u4, valid: {max: 1}, doc: '1: a piece'}
      - {id: reserved, contents: [0, 0, 0, 0]}
      - {id: records, type: step_record, repeat: expr, repeat-expr: step_count}
      - {id: padding, type: align_8}
      - {id: surplus, size-eos: true, valid: {expr: _.size == 0}}

  step_record:
    seq:
      - {id: kind, type: u1, enum: step_kind, valid: {in-enum: true}}
      - {id: length, type: leb128, valid: {expr: _.octets.size <= 5}}
      - {id: rest, size: length.value}

  leb128:
    doc: A number of 7 bits a byte; `value` is right if it has at most 5 bytes.
    seq:
      - {id: octets, type: u1, repeat: until, repeat-until: _ < 128}
    instances:
      value:
        value: 'octets[0] % 128 + (octets.size > 1 ? octets[1] % 128 * 128 : 0)
          + (octets.size > 2 ? octets[2] % 128 * 16384 : 0)
          + (octets.size > 3 ? octets[3] % 128 * 2097152 : 0)
          + (octets.size > 4 ? octets[4] % 128 * 268435456 : 0)'

  link_run:
    doc: Of codec 1 the index and blocks that it places; of codec 2 groups, and the model.
    doc-ref: spec/links.md#link-runs
    instances:
      footer: {pos: '_io.size < 72 ? 0 : _io.size - 72', type: link_footer}
      index:
        pos: footer.index_offset_bytes
        size: _io.size - 72 - footer.index_offset_bytes
        type: link_index(footer.block_count, footer.index_offset_bytes)
        if: footer.codec == 1
      blocks:
        pos: 0
        type: link_run_block(_index)
        repeat: expr
        repeat-expr: footer.block_count
        if: footer.codec == 1
      model:
        doc: The lengths of codes, 4 bits each; of 41 contexts 96 lengths.
        pos: footer.index_offset_bytes - 1968
        size: 1968
        if: footer.codec == 2
      groups:
        pos: footer.index_offset_bytes
        type: dense_group(_index)
        repeat: expr
        repeat-expr: footer.group_count
        if: footer.codec == 2

  link_footer:
    seq:
      - {id: row_count, type: u8}
      - {id: link_count, type: u8}
      - {id: block_count, type: u8, valid: {expr: _ >= 1 and _ <= _io.size}}
      - {id: index_offset_bytes, type: u8, valid: {expr: _ <= _io.size - 72}}
      - {id: first_page, type: u8}
      - id: last_page
        type: u8
        valid: {expr: _ >= first_page and _ <= 0xffffffffff and row_count <= _ - first_page + 1}
      - {id: target_max, type: u8, valid: {expr: _ <= 0xffffffffff and (_ == 0 or link_count != 0)}}
      - id: codec
        type: u2
        valid:
          expr: '_ == 1 ? index_offset_bytes >= 24 * block_count
            and index_offset_bytes == _io.size - 72 - 16 * block_count
            and row_count >= block_count and row_count <= 4 * index_offset_bytes
            and link_count <= 4 * index_offset_bytes
            : _ == 2 and index_offset_bytes >= 1968
            and index_offset_bytes == _io.size - 72 - 208 * group_count
            and row_count >= 1 and row_count <= 32 * block_count
            and link_count >= row_count and link_count <= 8192 * block_count'
      - {id: reserved, contents: [0, 0, 0, 0, 0, 0]}
      - {id: magic, contents: CLINKRN1}
    instances:
      group_count: {value: (block_count + 63) / 64}

  dense_group:
    doc: |
      Blocks are bits of a variable width: bytes here. Of a block that covers no pages, the row goes
      on with which the block before ends; one of no bytes covers pages without links.
    doc-ref: spec/links.md#dense-link-runs
    params:
      - {id: group_index, type: u8}
    seq:
      - {id: first_page, type: u8, valid: {max: 0xffffffffff}}
      - {id: offset_bytes, type: u8, valid: {expr: _ <= _parent.footer.index_offset_bytes - 1968}}
      - {id: page_counts, type: u1, repeat: expr, repeat-expr: 64}
      - {id: block_bytes, type: u2, repeat: expr, repeat-expr: 64}
    instances:
      blocks_before: {value: 64 * group_index}
      block_count:
        value: '_parent.footer.block_count - blocks_before < 64
          ? _parent.footer.block_count - blocks_before : 64'
      blocks: {pos: offset_bytes, type: dense_blocks}

  dense_blocks:
    doc-ref: spec/links.md#dense-block
    seq:
      - id: blocks
        size: _parent.block_bytes[_index]
        repeat: expr
        repeat-expr: _parent.block_count

  link_index:
    params:
      - {id: block_count, type: u8}
      - {id: blocks_bytes, type: u8}
    seq:
      - {id: entries, type: link_index_entry(_index), repeat: expr, repeat-expr: block_count}
      - {id: surplus, size-eos: true, valid: {expr: _.size == 0}}

  link_index_entry:
    params:
      - {id: entry_index, type: u8}
    seq:
      - id: first_page
        type: u8
        valid: {expr: 'entry_index == 0 or _ > _parent.entries[entry_index - 1].first_page'}
      - id: offset_bytes
        type: u8
        valid:
          expr: '(entry_index == 0 ? _ == 0 : _ > _parent.entries[entry_index - 1].offset_bytes)
            and _ % 8 == 0 and _ < _parent.blocks_bytes'

  link_run_block:
    doc: Finds its place in the index; a block ends where the next one, or the index, begins.
    params:
      - {id: block_index, type: u8}
    instances:
      footer: {value: _parent.footer}
      entry: {value: '_parent.index.entries[block_index]'}
      past_last:
        value: 'block_index + 1 < footer.block_count
          ? _parent.index.entries[block_index + 1].offset_bytes : footer.index_offset_bytes'
      block:
        pos: entry.offset_bytes
        size: past_last - entry.offset_bytes
        type: link_block(entry.first_page)

  link_block:
    doc: |
      Gaps are pages less the page of the row before, less 1. Degrees say how many links each row
      has. A link number is, of the first link of a row, 2 * d or -2 * d - 1 for the distance d from
      its page; of each other one the link less the link before it, less 1.
    doc-ref: spec/links.md#link-block
    params:
      - {id: page_of_index, type: u8}
    seq:
      - {id: first_page, type: u8, valid: {expr: _ == page_of_index}}
      - {id: row_count, type: u4, valid: {min: 1, max: 16777216}}
      - {id: link_count, type: u4, valid: {max: 268435456}}
      - {id: data_bytes, type: u4, valid: {expr: _ <= _io.size - 24}}
      - {id: codec, type: u2, enum: link_codec, valid: {in-enum: true}}
      - {id: flags, type: u2, valid: {max: 1}}
      - id: short_numbers
        type: short_link_numbers(gap_count, row_count, link_count)
        if: codec == link_codec::short
      - id: plain_numbers
        type: plain_link_numbers(gap_count, row_count, link_count)
        if: codec == link_codec::plain
      - {id: padding, type: align_8}
      - {id: surplus, size-eos: true, valid: {expr: _.size == 0}}
    instances:
      gap_count: {value: 'flags == 1 ? row_count - 1 : 0'}

  plain_link_numbers:
    params:
      - {id: gap_count, type: u4}
      - {id: row_count, type: u4}
      - {id: link_count, type: u4}
    seq:
      - {id: gaps, type: u8, repeat: expr, repeat-expr: gap_count}
      - {id: degrees, type: u8, repeat: expr, repeat-expr: row_count}
      - {id: link_numbers, type: u8, repeat: expr, repeat-expr: link_count}

  short_link_numbers:
    doc-ref: spec/links.md#short-numbers
    params:
      - {id: gap_count, type: u4}
      - {id: row_count, type: u4}
      - {id: link_count, type: u4}
    seq:
      - {id: gap_selectors, type: selectors(gap_count)}
      - {id: degree_selectors, type: selectors(row_count)}
      - {id: link_selectors, type: selectors(link_count)}
      - id: gaps
        type: 'short_number((gap_selectors.octets[_index / 4] >> (_index % 4 * 2)) & 3)'
        repeat: expr
        repeat-expr: gap_count
      - id: degrees
        type: 'short_number((degree_selectors.octets[_index / 4] >> (_index % 4 * 2)) & 3)'
        repeat: expr
        repeat-expr: row_count
      - id: link_numbers
        type: 'short_number((link_selectors.octets[_index / 4] >> (_index % 4 * 2)) & 3)'
        repeat: expr
        repeat-expr: link_count

  selectors:
    doc: 2 bits for each number, those of the first one lowest; behind the last one zeros.
    params:
      - {id: number_count, type: u4}
    seq:
      - id: octets
        type: u1
        repeat: expr
        repeat-expr: (number_count + 3) / 4
        valid: {expr: _index < number_count / 4 or (_ >> (number_count % 4 * 2)) == 0}

  short_number:
    params:
      - {id: selector, type: u1}
    seq:
      - id: stored
        if: selector != 0
        type:
          switch-on: selector
          cases:
            1: u1
            2: u2
            3: u4
        valid: {expr: '_ >= (selector == 1 ? 1 : selector == 2 ? 256 : 65536)'}
    instances:
      value: {value: 'selector == 0 ? 0 : stored'}

  event_run:
    doc: The messages are those of crawl_event.capnp; each has one segment.
    doc-ref: spec/events.md#event-runs
    seq:
      - {id: magic, contents: CEVNTRN1}
      - {id: record_count, type: u8, valid: {min: 1}}
      - {id: reserved, type: u8, valid: 0}
      - {id: messages, type: event_message, repeat: eos}

  event_message:
    seq:
      - {id: segments_less_one, type: u4, valid: 0}
      - {id: segment_words, type: u4, valid: {min: 1, max: 8388607}}
      - {id: segment, size: segment_words * 8}

enums:
  segment_kind:
    1: drum
    2: drum_partition
    3: drum_key_log
    4: drum_aux_log
    5: drum_results
    6: pages
    7: page_origins
    8: page_records
    9: out_links
    10: in_links
    11: gone_links
    12: page_events
    13: fresh_keys
    14: score_array
    15: queue
    16: queue_entries
    17: frontier
    18: frontier_groups
    19: frontier_items
    20: frontier_steps
    21: values
    22: page_contents
  step_kind:
    1: clock
    2: group
    3: put
    4: lease
    5: visit
    6: finish
    7: back
    8: extend
    9: remove
    10: update
    11: rule
    12: drop
    13: stored
    14: joined
    32: times
    33: counts
    34: left
    35: leased
    36: again
    37: gone
  storage_class:
    1: blob
    2: log
    3: tiled
  key_scheme:
    0: opaque
    1: url
    2: url_rabin
    3: page
  partition_codec:
    1: elias_fano
  aux_codec:
    0: raw
    1: lz4
  origin_codec:
    0: raw
    1: zstd
  link_codec:
    1: short
    2: plain
  operation:
    0: check
    1: update
    2: check_update
  verdict:
    0: unique
    1: duplicate
