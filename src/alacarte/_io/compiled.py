"""How kernels are compiled: without the interpreter's lock, and kept on disk between runs.

`kernel`, `inner` and `inlined` are decorators; `prefetch`, `pointer`, `load_word`, `bytes_within` and the counts of
bits are what the processor can do and numba itself has no word for. `announce` gives the kernels of a module a name,
which is printed to standard error before they are compiled, that is once on a machine.
"""

import sys
from typing import Any

import numba
from llvmlite import ir
from numba import types
from numba.core import cgutils, event
from numba.extending import intrinsic as untyped_intrinsic
from numba.np import linalg

from alacarte._io import progress


def _leave_scipy_for_later() -> None:
    """Load the part of numba that looks, at the first call of any kernel, whether scipy's BLAS can be imported.

    It can: this package needs scipy. To import it takes a quarter of a second; numba does so where a function of
    somebody calls BLAS, which none of these kernels does.
    """
    look = linalg.ensure_blas
    linalg.ensure_blas = lambda: None
    try:
        from numba.np import arraymath
    finally:
        linalg.ensure_blas = look
    arraymath.ensure_blas = look  # type: ignore[attr-defined]


_leave_scipy_for_later()

kernel: Any = numba.njit(cache=True, nogil=True)
# A function that only kernels call: without the ways in from Python and C it compiles faster.
inner: Any = numba.njit(cache=True, nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)  # type: ignore[call-overload]
# A few lines that are copied into whatever calls them.
inlined: Any = numba.njit(cache=True, nogil=True, forceinline=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)  # type: ignore[call-overload]
intrinsic: Any = untyped_intrinsic


# ---------------------------------------------------------------------------------------------- instructions


def prefetched(builder: Any, start: Any, index: Any) -> None:
    """The code that asks for the cache line `index` values behind a pointer."""
    address = builder.bitcast(builder.gep(start, [index]), cgutils.voidptr_t)
    number = ir.IntType(32)
    kind = ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, number, number, number])
    function = builder.module.declare_intrinsic("llvm.prefetch", [cgutils.voidptr_t], kind)
    read, keep, data = ir.Constant(number, 0), ir.Constant(number, 3), ir.Constant(number, 1)
    builder.call(function, [address, read, keep, data])


@intrinsic
def prefetch(context, array, index):  # type: ignore[no-untyped-def]
    """Ask for the cache line of a one-dimensional array, or behind a pointer, that holds `index`, before it is needed.

    Rows of vectors and of sums are met in the order of the text, that is at random; without this the kernels would
    wait for memory most of the time. It changes no value, and an index out of bounds does no harm.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        if isinstance(signature.args[0], types.CPointer):
            start = arguments[0]
        else:
            start = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        prefetched(builder, start, arguments[1])
        return context.get_dummy_value()

    return types.void(array, types.int64), generate


@intrinsic
def pointer(context, array):  # type: ignore[no-untyped-def]
    """The numbers of a contiguous array, to read and write as `numbers[i]`, without its size and its owner.

    A function that gets an array counts one more user of it, and one less at its end, which costs more than a look
    into it. Nobody is counted here: the array has to be an argument of the kernel. Negative indices do not count from
    the end.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return context.make_array(signature.args[0])(context, builder, arguments[0]).data

    result: Any = types.CPointer
    return result(array.dtype)(array), generate


@intrinsic
def load_word(context, bytes_at, index):  # type: ignore[no-untyped-def]
    """The eight bytes from `index` on behind a pointer to uint8 as one uint64, the first byte in its lowest bits.

    Nothing checks that there are eight bytes: the caller has to know.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        word = ir.IntType(64)
        loaded = builder.load(builder.bitcast(builder.gep(arguments[0], [arguments[1]]), word.as_pointer()))
        loaded.align = 1
        if sys.byteorder == "little":
            return loaded
        swap = builder.module.declare_intrinsic("llvm.bswap", [word])
        return builder.call(swap, [loaded])

    return types.uint64(bytes_at, types.int64), generate


@intrinsic
def bytes_within(context, bytes_at, index, extra, low, count):  # type: ignore[no-untyped-def]
    """Which of the 64 bytes from `index` on are, with the bits of `extra` set, one of the `count` values from `low` on.

    The bytes lie behind a pointer to uint8. A uint64, whose lowest bit stands for the first byte.

    Nothing checks that there are 64 bytes: the caller has to know.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        start, place, *numbers = arguments
        byte, vector = ir.IntType(8), ir.VectorType(ir.IntType(8), 64)
        values = builder.load(builder.bitcast(builder.gep(start, [place]), vector.as_pointer()))
        values.align = 1

        def everywhere(number: Any) -> Any:
            one = builder.insert_element(ir.Constant(vector, None), builder.trunc(number, byte), ir.IntType(32)(0))
            return builder.shuffle_vector(one, one, ir.Constant(ir.VectorType(ir.IntType(32), 64), None))

        bits, lowest, kinds = (everywhere(number) for number in numbers)
        within = builder.icmp_unsigned("<", builder.sub(builder.or_(values, bits), lowest), kinds)
        if sys.byteorder == "little":
            return builder.bitcast(within, ir.IntType(64))
        reverse = builder.module.declare_intrinsic("llvm.bitreverse", [ir.IntType(64)])
        return builder.call(reverse, [builder.bitcast(within, ir.IntType(64))])

    number = types.int64
    return types.uint64(bytes_at, number, number, number, number), generate


@intrinsic
def trailing_zeros(context, number):  # type: ignore[no-untyped-def]
    """How many zero bits a uint64 ends in; 64 for zero."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.uint64), generate


@intrinsic
def leading_zeros(context, number):  # type: ignore[no-untyped-def]
    """How many zero bits a uint64 begins with; 64 for zero."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctlz(arguments[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.uint64), generate


@intrinsic
def count_ones(context, number):  # type: ignore[no-untyped-def]
    """How many bits of a uint64 are set."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.int64(types.uint64), generate


# ---------------------------------------------------------------------------------------------- announcements

_announced: dict[str, str] = {}  # by module: what to print when one of its functions is compiled


def announce(module: str, purpose: str, seconds: int) -> None:
    """Have a line printed when the kernels of a module are compiled; not when they come from the disk."""
    _announced[module] = f"alacarte: compiling {purpose} for this machine, once (about {seconds} s)"


class _Announcer(event.Listener):
    """numba reports each compilation, but not what it loads from its cache."""

    def on_start(self, event: Any) -> None:
        message = _announced.pop(event.data["dispatcher"].py_func.__module__, None)
        if message is not None and not progress.silent:
            print(message, file=sys.stderr, flush=True)

    def on_end(self, event: Any) -> None:
        pass


event.register("numba:compile", _Announcer())  # type: ignore[no-untyped-call]
