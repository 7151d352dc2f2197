"""Steps over sixteen neighbouring values at a time, as vector code: what a compiler would make of a loop over a row if
it knew that the arrays do not overlap and that rows are whole numbers of sixteens.

Arrays are pointers (`alacarte._io.compiled.pointer`); indices are where the sixteen values begin. Nothing is checked.
"""

from typing import Any

from llvmlite import ir
from numba import types

from alacarte._io.compiled import intrinsic
from alacarte.contexts.integers import LANES

_SHORT, _LONG = ir.VectorType(ir.IntType(32), LANES), ir.VectorType(ir.IntType(64), LANES)


class _Numbers:
    """A pointer argument of an intrinsic, read and written sixteen values at a time."""

    def __init__(self, builder: Any, kind: Any, value: Any) -> None:
        short = kind.dtype == types.int32
        self._builder, self._value = builder, value
        self._vector, self._align = (_SHORT, 4) if short else (_LONG, 8)

    def _place(self, index: Any) -> Any:
        return self._builder.bitcast(self._builder.gep(self._value, [index]), self._vector.as_pointer())

    def load(self, index: Any) -> Any:
        loaded = self._builder.load(self._place(index))
        loaded.align = self._align
        return loaded

    def store(self, index: Any, value: Any) -> None:
        self._builder.store(value, self._place(index)).align = self._align


def _arguments(builder: Any, signature: Any, arguments: Any) -> list[Any]:
    """Pointers as `_Numbers`, indices as they are."""
    pairs = zip(signature.args, arguments, strict=True)
    return [_Numbers(builder, kind, value) if isinstance(kind, types.CPointer) else value for kind, value in pairs]


@intrinsic
def advance(context, ring, old, new, rows, row):  # type: ignore[no-untyped-def]
    """ring[new] = ring[old] + rows[row], modulo 2³²."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        ring, old, new, rows, row = _arguments(builder, signature, arguments)
        ring.store(new, builder.add(ring.load(old), rows.load(row)))
        return context.get_dummy_value()

    return types.void(ring, types.int64, types.int64, rows, types.int64), generate


@intrinsic
def move(context, window, at, rows, enter, leave):  # type: ignore[no-untyped-def]
    """window[at] += rows[enter] − rows[leave]."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        window, at, rows, enter, leave = _arguments(builder, signature, arguments)
        window.store(at, builder.add(window.load(at), builder.sub(rows.load(enter), rows.load(leave))))
        return context.get_dummy_value()

    return types.void(window, types.int64, rows, types.int64, types.int64), generate


@intrinsic
def move_and_add(context, window, at, rows, enter, leave, own, sums, to):  # type: ignore[no-untyped-def]
    """The same, and sums[to] += window[at] − rows[own]."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        window, at, rows, enter, leave, own, sums, to = _arguments(builder, signature, arguments)
        moved = builder.add(window.load(at), builder.sub(rows.load(enter), rows.load(leave)))
        window.store(at, moved)
        value = builder.sext(builder.sub(moved, rows.load(own)), _LONG)
        sums.store(to, builder.add(sums.load(to), value))
        return context.get_dummy_value()

    index = types.int64
    return types.void(window, index, rows, index, index, index, sums, index), generate


@intrinsic
def add_difference(context, sums, to, ring, before, low, high, after):  # type: ignore[no-untyped-def]
    """sums[to] += (ring[before] − ring[low]) + (ring[high] − ring[after]), the difference modulo 2³²."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        sums, to, ring, before, low, high, after = _arguments(builder, signature, arguments)
        left = builder.sub(ring.load(before), ring.load(low))
        right = builder.sub(ring.load(high), ring.load(after))
        sums.store(to, builder.add(sums.load(to), builder.sext(builder.add(left, right), _LONG)))
        return context.get_dummy_value()

    index = types.int64
    return types.void(sums, index, ring, index, index, index, index), generate
