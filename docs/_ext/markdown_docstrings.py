"""Docstrings are Markdown in NumPy's sections, with examples for doctest; autodoc expects reStructuredText.

Each docstring becomes the content of a directive that reads it as Markdown; its sections become lists with a title.
"""

import re

from docutils import nodes
from docutils.utils import new_document
from myst_parser.parsers.sphinx_ import MystParser
from sphinx.util.docutils import SphinxDirective

INDENT = "   "
LISTS = ("Parameters", "Returns", "Yields", "Raises", "Warns", "Attributes", "Other Parameters")


def fenced(lines):
    """Examples that begin with `>>>`, up to the next empty line, as code blocks of Markdown."""
    result, inside, block = [], False, False
    for line in lines:
        block ^= line.lstrip().startswith("```")
        if not block and not inside and line.lstrip().startswith(">>>"):
            indent = line[: len(line) - len(line.lstrip())]
            result += ["", f"{indent}```pycon"]
            inside = True
        elif inside and not line.strip():
            result += [f"{indent}```"]
            inside = False
        result.append(line)
    return result + ([f"{indent}```"] if inside else [])


def entry(line):
    """The first line of an entry of a section, `name : type` or either alone, as the beginning of a list item."""
    name, colon, kind = line.partition(" : ")
    return f"- `{name}` ({kind}):" if colon else f"- `{name}`:"


def without_sections(lines):
    """The lines with each title of NumPy's sections in bold, and its entries as a list.

    >>> without_sections(["Add.", "", "Parameters", "----------", "a : int", "    One.", "b", "    Two."])
    ['Add.', '', '**Parameters**', '', '- `a` (int):', '    One.', '- `b`:', '    Two.']
    """
    result, section = [], ""
    for number, line in enumerate(lines):
        following = lines[number + 1] if number + 1 < len(lines) else ""
        if line and re.fullmatch("-{3,}", following.strip()) and len(following.strip()) == len(line.strip()):
            section = line.strip()
            result += [f"**{section}**", ""]
        elif section and result[-2:] == [f"**{section}**", ""] and re.fullmatch("-{3,}", line.strip()):
            continue
        elif section in LISTS and line and not line.startswith(" "):
            result.append(entry(line))
        else:
            result.append(line)
    return result


class MarkdownText(SphinxDirective):
    has_content = True

    def run(self):
        document = new_document(self.get_source_info()[0], self.state.document.settings)
        MystParser().parse("\n".join(self.content), document)
        for heading in list(document.findall(nodes.section)):  # a docstring has no headings of its own in the page
            heading.replace_self(heading.children[1:])
        return document.children


def as_markdown(app, what, name, obj, options, lines):
    if any(line.strip() for line in lines):
        text = "\n".join(fenced(without_sections(lines)))
        # `<` in prose is a sign here, no HTML
        lines[:] = [".. markdown-text::", "", *(INDENT + line for line in text.splitlines()), ""]


def setup(app):
    app.add_directive("markdown-text", MarkdownText)
    app.connect("autodoc-process-docstring", as_markdown)
    return {"parallel_read_safe": True}
