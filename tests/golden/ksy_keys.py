# SPDX-License-Identifier: Apache-2.0
"""Keys as spec/crawl.ksy shows them: the bits of variable width, which Kaitai leaves as bytes, are
decoded here."""


def bits(column, index, width):
    return int.from_bytes(column, "little") >> index * width & (1 << width) - 1


def partition_of(payload):
    """(keys, values) of all blocks."""
    keys, values = [], []
    for block in (it["block"] for it in payload["blocks"]):
        upper = int.from_bytes(bytes.fromhex(block["upper_bits"]), "little")
        places = [place for place in range(upper.bit_length()) if upper >> place & 1]
        lower, width = bytes.fromhex(block["lower_bits"]), block["low_bits"]
        coded = [block["first_key"]] + [
            block["first_key"] + (place - i << width) + bits(lower, i, width)
            for i, place in enumerate(places)]
        if "halves" not in block:
            keys += coded
        elif block["shares_head"]:
            keys += [[block["halves"][0], tail] for tail in coded]
        else:
            keys += [list(pair) for pair in zip(coded, block["halves"])]
        values += block.get("values") or []
    return keys, values


def keys_of(run):
    column = bytes.fromhex(run["keys"])
    heads = [run["key_base"] + bits(column, i, run["key_bits"]) for i in range(run["record_count"])]
    return heads if "tails" not in run else [list(pair) for pair in zip(heads, run["tails"])]
