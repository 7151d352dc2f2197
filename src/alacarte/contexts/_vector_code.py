"""Rows of whole numbers as vectors of sixteen values, which the processor keeps in its registers.

A row is a tuple of such vectors; how many is known when a kernel is compiled, so that there is no loop. In compiled
code, `lanes` gives that number: a tuple with one zero for each. Arrays are pointers (`alacarte._io.compiled.pointer`);
an index is where the values of a row begin. Nothing is checked.
"""

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import models, register_model

from alacarte._io.compiled import intrinsic, prefetched
from alacarte.contexts.integers import CACHE_LINE, LANES

_SHORT, _LONG = ir.VectorType(ir.IntType(32), LANES), ir.VectorType(ir.IntType(64), LANES)


class Sixteen(types.Type):
    """The type of sixteen int32 values, for the compiler."""

    def __init__(self) -> None:
        super().__init__(name="sixteen int32")


@register_model(Sixteen)
class _SixteenModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _SHORT)  # type: ignore[no-untyped-call]


SIXTEEN = Sixteen()


def _row(lanes: Any) -> Any:
    """Return the type of a row with as many vectors as `lanes`, a tuple, has elements."""
    return types.UniTuple(SIXTEEN, lanes.count)  # type: ignore[no-untyped-call]


class _Numbers:
    """A pointer that is read and written sixteen values at a time."""

    def __init__(self, builder: Any, kind: Any, value: Any) -> None:
        self._builder, self._value, self._bytes = builder, value, kind.dtype.bitwidth // 8
        self._vector = _SHORT if self._bytes == 4 else _LONG

    def _place(self, index: Any, vector: int) -> Any:
        offset = self._builder.add(index, ir.IntType(64)(vector * LANES))
        return self._builder.bitcast(self._builder.gep(self._value, [offset]), self._vector.as_pointer())

    def load(self, index: Any, vector: int) -> Any:
        loaded = self._builder.load(self._place(index, vector))
        loaded.align = self._bytes
        return loaded

    def store(self, index: Any, vector: int, value: Any) -> None:
        self._builder.store(value, self._place(index, vector)).align = self._bytes


def _arguments(builder: Any, signature: Any, arguments: Any) -> list[Any]:
    """Return pointers as `_Numbers`, rows as lists of vectors, indices as they are."""
    ready: list[Any] = []
    for kind, value in zip(signature.args, arguments, strict=True):
        if isinstance(kind, types.CPointer):
            ready.append(_Numbers(builder, kind, value))
        elif isinstance(kind, types.UniTuple):
            ready.append([builder.extract_value(value, k) for k in range(kind.count)])
        else:
            ready.append(value)
    return ready


def _new_row(lanes: Any, signature: Any, vector_of: Callable[..., Any]) -> tuple[Any, Any]:
    """Return (signature, generator) of an intrinsic that returns a row of what `vector_of(builder, k, …)` makes."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        ready = _arguments(builder, signature, arguments)
        vectors = [vector_of(builder, k, *ready) for k in range(signature.return_type.count)]
        return context.make_tuple(builder, signature.return_type, vectors)

    return _row(lanes)(*signature), generate


_INDEX = types.int64


@intrinsic
def no_words(context, lanes):  # type: ignore[no-untyped-def]
    """Return a row of zeros."""
    return _new_row(lanes, (lanes,), lambda builder, k, lanes: ir.Constant(_SHORT, None))


@intrinsic
def row_at(context, lanes, rows, at):  # type: ignore[no-untyped-def]
    """Return rows[at], as long as `lanes`, which may be another row."""
    return _new_row(lanes, (lanes, rows, _INDEX), lambda builder, k, lanes, rows, at: rows.load(at, k))


@intrinsic
def with_row(context, row, rows, at):  # type: ignore[no-untyped-def]
    """Return row + rows[at], modulo 2³²."""
    return _new_row(row, (row, rows, _INDEX), lambda builder, k, row, rows, at: builder.add(row[k], rows.load(at, k)))


@intrinsic
def without_row(context, row, rows, at):  # type: ignore[no-untyped-def]
    """Return row − rows[at], modulo 2³²."""
    return _new_row(row, (row, rows, _INDEX), lambda builder, k, row, rows, at: builder.sub(row[k], rows.load(at, k)))


@intrinsic
def store(context, row, numbers, at):  # type: ignore[no-untyped-def]
    """Set numbers[at] = row."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        row, numbers, at = _arguments(builder, signature, arguments)
        for k, vector in enumerate(row):
            numbers.store(at, k, vector)
        return context.get_dummy_value()

    return types.void(row, numbers, _INDEX), generate


@intrinsic
def add_row(context, row, sums, at):  # type: ignore[no-untyped-def]
    """Add a row to sums[at], where sums are int64."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        row, sums, at = _arguments(builder, signature, arguments)
        for k, vector in enumerate(row):
            sums.store(at, k, builder.add(sums.load(at, k), builder.sext(vector, _LONG)))
        return context.get_dummy_value()

    return types.void(row, sums, _INDEX), generate


@intrinsic
def fetch(context, lanes, numbers, at):  # type: ignore[no-untyped-def]
    """Have a row in the cache by the time it is needed."""
    values = CACHE_LINE * 8 // numbers.dtype.bitwidth

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        for first in range(0, lanes.count * LANES, values):
            prefetched(builder, arguments[1], builder.add(arguments[2], ir.IntType(64)(first)))
        return context.get_dummy_value()

    return types.void(lanes, numbers, _INDEX), generate
