"""Conditions on the columns of documents: what they look like, and which values meet them."""

import operator
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from alacarte.errors import AlacarteError

SIGN_AND_VALUE = r"\s*(>=|<=|!=|==|=|>|<)\s*(.*?)\s*"
CONDITION = re.compile(r"\s*(.+?)" + SIGN_AND_VALUE, re.DOTALL)
ALTERNATIVES = re.compile(r"(?<!\\)\|")  # between values; \| is a bar in a value
NUMBER = re.compile(r"[+-]?([0-9]+|[0-9]*\.[0-9]+|[0-9]+\.)([eE][+-]?[0-9]+)?")
LONGEST_WHOLE = 20  # characters of a whole number that 64 bits can hold
ORDERS = {">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt}
FORM = 'a condition is a column, one of = != >= <= > < and a value, as in "party=D" or "date>=2001-01-01"'


@dataclass(frozen=True)
class Condition:
    """A condition on a column; `values` are the alternatives of = and !=, or the one value of another sign.

    Numbers are put in order as numbers, however they are written, and everything else as text. A missing or empty value
    meets only `column=`, which asks for it.
    """

    column: str
    sign: str
    values: tuple[str, ...]

    @classmethod
    def parse(cls, text: str, columns: Sequence[str]) -> "Condition":
        """Return the condition that a text describes; the name of a column may hold signs itself.

        >>> Condition.parse("party = D | 'R'", ["party"])
        Condition(column='party', sign='=', values=('D', 'R'))
        """
        for name in sorted(columns, key=len, reverse=True):
            known = re.fullmatch(rf"\s*{re.escape(name)}{SIGN_AND_VALUE}", text, re.DOTALL)
            if known is not None:
                sign = known[1].replace("==", "=")
                return cls(name, sign, (_unquoted(known[2]),) if sign in ORDERS else _alternatives(known[2]))
        parsed = CONDITION.fullmatch(text)
        raise AlacarteError(f"{text!r} is no condition: {FORM}") if parsed is None else no_column(parsed[1], columns)

    @cached_property
    def _numbers(self) -> list[int | float | None]:
        return [as_number(value) for value in self.values]

    def holds(self, value: Any) -> bool:
        """Whether the value of a document meets the condition."""
        if value is None or value == "":
            return self.sign == "=" and "" in self.values
        if self.sign not in ORDERS:
            equal = str(value) in self.values or (not isinstance(value, str) and value in self._numbers)
            return equal == (self.sign == "=")
        order, (wanted,), number = ORDERS[self.sign], self._numbers, as_number(value)
        if wanted is not None and number is not None:
            return bool(order(number, wanted))
        return isinstance(value, str) and bool(order(value, self.values[0]))


def condition(column: str, sign: str, value: object) -> str:
    r"""Return a condition as text, which is read back as it was meant, whatever the value holds.

    >>> print(condition("party", "=", "D|R"), condition("name", "=", "'x'"), condition("year", ">=", 2001))
    party=D\|R name="'x'" year>=2001
    """
    text = str(value)
    if sign not in ORDERS:
        text = text.replace("|", "\\|")
    if text != text.strip() or _is_quoted(text):
        quote = '"' if text.startswith("'") else "'"
        text = f"{quote}{text}{quote}"
    return f"{column}{sign}{text}"


def as_number(value: Any) -> int | float | None:
    """Return the number that a value is or that it spells, or None.

    >>> as_number("12"), as_number("1.5"), as_number("2001-01-01"), as_number("1" + "0" * 30), as_number(7)
    (12, 1.5, None, 1e+30, 7)
    """
    if not isinstance(value, str):
        return value if isinstance(value, int | float) else None
    if NUMBER.fullmatch(value) is None:
        return None
    if value.lstrip("+-").isdigit() and len(value) <= LONGEST_WHOLE and abs(int(value)) < 2**63:
        return int(value)
    return float(value)


def no_column(name: str, columns: Sequence[str]) -> AlacarteError:
    """Return the error for a column that is not there."""
    listed = ", ".join(map(repr, columns)) or "no columns; build it with columns=… (--column)"
    return AlacarteError(f"there is no column {name!r}; this concordance has {listed}")


def _alternatives(text: str) -> tuple[str, ...]:
    whole = _is_quoted(text) and text[0] not in text[1:-1]  # a bar inside quotes separates nothing
    parts = [text] if whole else ALTERNATIVES.split(text)
    return tuple(_unquoted(part.strip()).replace("\\|", "|") for part in parts)


def _is_quoted(text: str) -> bool:
    return len(text) > 1 and text[0] == text[-1] and text[0] in "'\""


def _unquoted(text: str) -> str:
    return text[1:-1] if _is_quoted(text) else text
