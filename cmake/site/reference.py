# SPDX-License-Identifier: Apache-2.0
"""Pages of reference as Markdown: of commands from their manual pages, of pycrawlstore from its
docstrings, which are read and not run."""

import ast
import inspect
import re
import subprocess

FONTS = (".B", ".I", ".BR", ".RB", ".RI", ".IR", ".BI", ".IB")
MANUALS = ("inspector/desktop/crawlstore-inspector.1", "service/crawlstored.8",
           "mpi/crawlstore-mpi.1")


def escape(text):
    """Text that Markdown takes as it stands, but for code in backticks."""
    return "".join(part if part.startswith("`") else re.sub(r'([\\*_<>\[\]#|&])', r'\\\1', part)
                   for part in re.split(r'(`[^`]+`)', text))


def unroff(text):
    """A line of roff as plain text."""
    for code, plain in (("\\(aq", "'"), ("\\(ha", "^"), ("\\(em", "-"), ("\\&", ""), ("\\-", "-"),
                        ("\\e", "\\")):
        text = text.replace(code, plain)
    return re.sub(r'\\f.', "", text)


def roff_blocks(text):
    """The parts of a manual page, as [kind, lines]: a heading, term, text or code."""
    blocks, fresh, literal, next_kind = [["", []]], True, False, None
    for line in text.splitlines():
        macro, _, rest = line.partition(" ")
        if macro in (".SH", ".SS"):
            blocks.append([macro, [unroff(rest)]])
        elif macro in (".PP", ".br", ".TP"):
            next_kind = "term" if macro == ".TP" else None
            fresh = True
        elif macro in (".EX", ".EE"):
            literal = macro == ".EX"
        elif macro in FONTS or not line.startswith("."):
            if macro in FONTS:
                parts = [a or b for a, b in re.findall(r'"([^"]*)"|(\S+)', rest)]
                line = (" " if len(macro) == 2 else "").join(parts)
            kind = next_kind or ("code" if literal or line.startswith("  ") else "text")
            if kind == blocks[-1][0] and (kind == "code" or not fresh):
                blocks[-1][1].append(unroff(line))
            else:
                blocks.append([kind, [unroff(line)]])
            fresh, next_kind = False, None
    return blocks


def manual(text):
    """A manual page as Markdown; the headings of verbs are those of the page."""
    title = re.search(r'(?m)^\.TH (\S+)', text)[1].replace("\\", "").lower()
    out, section, before = [f"# The command {title}"], "", ""
    for kind, lines in roff_blocks(text):
        if kind == ".SH":
            section = lines[0]
            if section not in ("NAME", "SYNOPSIS", "COMMANDS"):
                out.append(f"## {section.capitalize()}")
        elif kind == ".SS":
            out += [f"## {lines[0].split()[0]}", f"```text\ncrawlstore {lines[0]}\n```"]
        elif kind == "code":
            out.append("\n".join(["```sh", *lines, "```"]))
        elif kind == "term":
            out.append(f"- `{' '.join(lines)}`\\")
        elif kind == "text" and section == "SYNOPSIS":
            out.append("    " + " ".join(lines))
        elif kind == "text" and section == "NAME":
            name = " ".join(lines).partition(" - ")[2]
            out.append(escape(name[0].upper() + name[1:] + "."))
        elif kind == "text":
            out.append(("  " if before == "term" else "") + escape("\n".join(lines)))
        before = kind
    text = "\n\n".join(out) + "\n"
    return re.sub(r'(?m)(^    .*\n)\n(?=    )', r'\1', text.replace("\\\n\n", "\\\n"))


def docstring(text):
    """A docstring as Markdown: indented lines `name  text` are a list, others code."""
    out, kind = [], ""
    for line in inspect.cleandoc(text or "").splitlines():
        field = re.match(r'(\*{0,2}[\w, ]+?)  +(\S.*)', line)
        if not line.startswith("  ") and field:
            out += [""] * (kind != "field") + [f"- `{field[1]}`: {escape(field[2])}"]
            kind = "field"
        elif line.startswith("    ") and kind != "field":
            out += ["", line] if kind != "code" else [line]
            kind = "code"
        elif not line and kind == "code":
            out.append("")
        elif not line.startswith(" ") or kind != "field":
            out += ["", escape(line)] if kind in ("code", "field") and line else [escape(line)]
            kind = "text" if line else ""
        else:
            out.append(f"  {escape(line.strip())}")
    return "\n".join(out) + "\n"


def signature(node, is_method=False):
    """A function's head as code."""
    node.args.args = node.args.args[is_method:]
    for part in ast.walk(node):
        if isinstance(part, ast.arg) and isinstance(part.annotation, ast.Constant):
            part.annotation = ast.Name(part.annotation.value)
    returned = f" -> {ast.unparse(node.returns)}".replace("'", "") if node.returns else ""
    arguments = ast.unparse(node.args)
    if len(node.name + arguments + returned) > 80:
        arguments = "\n    " + re.sub(r', (?=\w+:|\*)', ",\n    ", arguments)
    return f"{node.name}({arguments}){returned}"


def class_text(node, lines):
    """The Markdown of a class: its docstring, fields and methods."""
    bases = ", ".join(ast.unparse(base) for base in node.bases)
    out = [f"## {node.name}", docstring(ast.get_docstring(node))]
    if bases and bases != "NamedTuple":
        out.insert(1, f"A {bases}.")
    for part in node.body:
        if isinstance(part, ast.AnnAssign):
            before = lines[part.lineno - 2].strip()
            about = f": {escape(before[2:].strip())}" if before.startswith("#:") else ""
            out.append(f"- `{ast.unparse(part)}`{about}")
        elif isinstance(part, ast.FunctionDef) and (
                not part.name.startswith("_") or part.name == "__init__" and
                ast.get_docstring(part)):
            kinds = {getattr(name, "id", "") for name in part.decorator_list}
            head = part.name if "property" in kinds else signature(part, True)
            out += [f"### {node.name}.{part.name}" if part.name != "__init__" else "",
                    f"```python\n{head.replace('__init__', node.name)}\n```",
                    docstring(ast.get_docstring(part))]
    return "\n\n".join(out)


def python(package):
    """The Markdown of all that the package's __init__.py exports."""
    main = ast.parse((package / "__init__.py").read_text())
    names = next(ast.literal_eval(node.value) for node in main.body
                 if isinstance(node, ast.Assign) and node.targets[0].id == "__all__")
    found = {}
    for path in sorted(package.glob("*.py")):
        text = path.read_text()
        lines = text.splitlines()
        for node in ast.parse(text).body:
            if isinstance(node, ast.ClassDef):
                found[node.name] = class_text(node, lines)
            elif isinstance(node, ast.FunctionDef):
                found[node.name] = (f"## {node.name}\n\n```python\n{signature(node)}\n```\n\n" +
                                    docstring(ast.get_docstring(node)))
            elif isinstance(node, ast.Assign) and lines[node.lineno - 2].startswith("#:"):
                found[node.targets[0].id] = (
                    f"## {node.targets[0].id}\n\n{escape(lines[node.lineno - 2][2:].strip())}\n\n"
                    f"```python\n{ast.unparse(node)}\n```")
    order = sorted(names, key=lambda name: (name != "open", name.lower()))
    return "\n\n".join(["# Python, class by class", docstring(ast.get_docstring(main)),
                        *(found.get(name, f"## {name}") for name in order)]) + "\n"


def pages(source, command):
    """All pages of reference: {name: Markdown}."""
    printed = subprocess.run([command, "--print-man"], check=True, capture_output=True, text=True)
    texts = [printed.stdout, *((source / path).read_text() for path in MANUALS)]
    made = {text.split("\n", 1)[0].split()[-1]: text for text in map(manual, texts)}
    return made | {"python": python(source / "python/pycrawlstore")}
