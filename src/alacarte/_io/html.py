"""HTML for notebooks: small tables, with everything that comes from data escaped."""

from collections.abc import Iterable, Mapping, Sequence
from html import escape

from alacarte._io.printing import printable


def text_of(value: object) -> str:
    """Return a value as escaped text.

    >>> text_of(12345), text_of("<script>")
    ('12,345', '&lt;script&gt;')
    """
    plain = f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
    return escape(printable(plain))


def table(names: Sequence[str], rows: Iterable[Sequence[object]], right: Sequence[bool]) -> str:
    """Return a table with a header; `right` says which columns are aligned to the right.

    >>> table(["word"], [["a&b"]], [False])[18:61]
    '<th style="text-align: left">word</th></tr>'
    """
    sides = ["right" if at_right else "left" for at_right in right]

    def line(cells: Sequence[object], tag: str) -> str:
        inside = (
            f'<{tag} style="text-align: {side}">{text_of(cell)}</{tag}>'
            for cell, side in zip(cells, sides, strict=True)
        )
        return f"<tr>{''.join(inside)}</tr>"

    body = "".join(line(row, "td") for row in rows)
    return f"<table><thead>{line(names, 'th')}</thead><tbody>{body}</tbody></table>"


def card(title: str, facts: Mapping[str, object], below: str = "") -> str:
    """Return a title with one row per fact below it; facts that are None are left out. `below` is HTML.

    >>> card("Index", {"vectors": 1200, "source": None})
    '<div><b>Index</b><table><tbody><tr><th>vectors</th><td>1,200</td></tr></tbody></table></div>'
    """
    rows = "".join(
        f"<tr><th>{text_of(name)}</th><td>{text_of(value)}</td></tr>"
        for name, value in facts.items()
        if value is not None
    )
    known = f"<table><tbody>{rows}</tbody></table>" if rows else ""
    return f"<div><b>{text_of(title)}</b>{known}{below}</div>"
