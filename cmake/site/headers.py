# SPDX-License-Identifier: Apache-2.0
"""Comments of public headers as Doxygen wants them. The first one is the file's; lines such as
`errors  those of commit()` become definitions, and other lines that are indented become code."""

import re

COMMENT = re.compile(r'( *)///( *)(.*)')
PART = re.compile(r'(?:^|(?<=\. ))(Ownership(?: and safety)?|Threads|Memory|Errors|Source|Bytes): ')
FIELD = re.compile(r'([A-Za-z_]\w*(?:, \w+)*)  +(\S.*)')


def escape(text):
    """Text without what Doxygen takes for commands, tags and links; code in backticks stays."""
    return "".join(part if part.startswith("`") else re.sub(r'([\\@<>#&])', r'\\\1', part)
                   for part in re.split(r'(`[^`]+`)', text))


def filtered(text):
    """The lines of a header, with such comments."""
    kind, is_first = "text", True
    for line in text.splitlines():
        match = COMMENT.fullmatch(line)
        indent, space, words = match.groups() if match else ("", "", "")
        field = FIELD.fullmatch(words) if len(space) == 3 else None
        stays = words and len(space) > 2
        before, kind = kind, ("field" if field else "list" if words.startswith("- ") else
                              kind if stays else "text")
        if kind == "text" and (len(space) > 2 or match and not words and before == "code"):
            kind = "code"
        if before == "code" and kind != "code":
            yield "/// @endcode"
        if not match:
            declared, mark, after = line.partition("///<")
            yield declared + mark + (escape(after) if mark else "")
            continue
        if is_first:
            yield "/// @file"
        is_first = False
        if field:
            yield f"{indent}/// @par {field[1]}\n{indent}/// {escape(field[2])}"
        elif kind == "code":
            yield ("" if before == "code" else f"{indent}/// @code\n") + line
        else:
            text = PART.sub(rf"\n{indent}/// @par \1\n{indent}/// ", escape(words))
            yield f"{indent}///{space if kind == 'list' else ' '}{text}"
