"""Docstrings are Markdown, with examples for doctest; autodoc gives them to reStructuredText. This stands between them.

Each docstring becomes the content of a directive that reads it as Markdown.
"""

from docutils import nodes
from docutils.utils import new_document
from myst_parser.parsers.sphinx_ import MystParser
from sphinx.util.docutils import SphinxDirective

INDENT = "   "


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
        text = "\n".join(fenced(lines))
        # `<` in prose is a sign here, no HTML
        lines[:] = [".. markdown-text::", "", *(INDENT + line for line in text.splitlines()), ""]


def setup(app):
    app.add_directive("markdown-text", MarkdownText)
    app.connect("autodoc-process-docstring", as_markdown)
    return {"parallel_read_safe": True}
