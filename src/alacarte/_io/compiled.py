"""How kernels are compiled: without the interpreter's lock, and once on a machine.

`kernel`, `inner` and `inlined` are decorators; `prefetch`, `pointer`, `load_word`, `bytes_within` and the counts of
bits are what the processor can do and numba itself has no word for. While kernels are compiled, standard error says so.

Compiled code is kept in the cache folder of the user, by the version of numba, the processor and the code of all
kernels, wherever the package is installed.
"""

import hashlib
import sys
import time
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import numba
from llvmlite import ir
from numba import types
from numba.core import caching, cgutils, codegen, compiler, event
from numba.core.runtime.nrt import rtsys
from numba.extending import intrinsic as untyped_intrinsic

from alacarte._io import progress
from alacarte._io.files import cache_folder

KEPT_DAYS = 100  # what is older is removed when something new is kept


# ------------------------------------------------------------------------------------------------- the cache


@cache
def _digest() -> str:
    """Return a hash of numba's version, which its files' names lack, and of the code of all kernels.

    Kernels call each other, and numba looks at one function only.
    """
    digest = hashlib.sha256(numba.__version__.encode())
    for file in sorted(Path(__file__).parents[1].rglob("*.py")):
        code = file.read_bytes()
        if b"_io.compiled" in code or file == Path(__file__):
            digest.update(code)
    return digest.hexdigest()[:16]


class _Locator(caching._CacheLocator):
    """Where compiled code is kept, under names that hold the hash of all kernels."""

    def __init__(self, py_file: str) -> None:
        self._py_file = py_file  # for numba's own messages

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> "_Locator":
        return cls(py_file)

    def get_cache_path(self) -> str:
        return str(numba.config.CACHE_DIR or cache_folder() / "kernels")  # type: ignore[attr-defined]

    def get_source_stamp(self) -> str:
        return _digest()

    def get_disambiguator(self) -> str:
        return _digest()


class _Implementation(caching.CompileResultCacheImpl):
    _locator_classes = [_Locator]  # type: ignore[list-item]  # noqa: RUF012 (numba's)


class _Cache(caching.FunctionCache):
    """numba's cache, for which no file is a reason to fail."""

    _impl_class = _Implementation

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            # numba's own `load_overload` gets everything ready for compiling, which takes .2 seconds. What is compiled
            # needs of that only the part that counts the users of arrays.
            rtsys.initialize(target_context)
            return self._load_overload(sig, target_context)  # type: ignore[no-untyped-call]
        except Exception:  # a file that was cut short: unpickling may raise anything
            with suppress(OSError):
                self.flush()  # type: ignore[no-untyped-call]
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        folder = Path(self.cache_path)
        try:
            super().save_overload(sig, data)  # type: ignore[no-untyped-call]
            for file in folder.glob("*.nb[ci]"):
                if file.stat().st_mtime < time.time() - KEPT_DAYS * 86400:
                    file.unlink()
        except OSError as problem:
            _say_once(
                f"alacarte: compiled code cannot be kept in {folder} ({problem.strerror}), and every start compiles it "
                "again; let NUMBA_CACHE_DIR name a folder that can be written to"
            )


@cache
def _say_once(message: str) -> None:
    if not progress.silent:
        print(message, file=sys.stderr, flush=True)


def kernel(function: Any) -> Any:
    """Compile a function that Python calls, and keep it on disk."""
    compiled: Any = numba.njit(nogil=True, no_cfunc_wrapper=True)(function)  # type: ignore[call-overload]
    try:
        compiled._cache = _Cache(function)  # type: ignore[no-untyped-call]
    except OSError as problem:  # no home folder, or no files to be hashed
        _say_once(f"alacarte: compiled code cannot be kept, and every start compiles it again: {problem}")
    return compiled


class _PartLibrary(codegen.JITCodeLibrary):
    """Code of a function that only kernels call: optimised and made ready to run there, and not by itself before."""

    @property
    def codegen(self) -> "_PartLibrary":
        return self

    def set_env(self, name: str, environment: object) -> None:
        """Do nothing: this is numba's way to give a function that runs by itself its constants."""

    def _optimize_functions(self, module: Any) -> None:
        pass

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalized = True


class _PartCompiler(compiler.Compiler):
    def define_pipelines(self) -> Any:
        code = self.state.targetctx.codegen()
        self.state.library = _PartLibrary(code, self.state.func_id.func_qualname)  # type: ignore[no-untyped-call]
        return super().define_pipelines()  # type: ignore[no-untyped-call]


_PART = {"nogil": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True, "pipeline_class": _PartCompiler}
# A function that only kernels call.
inner: Any = numba.njit(**_PART)  # type: ignore[call-overload]
# A few lines that are copied into whatever calls them.
inlined: Any = numba.njit(forceinline=True, **_PART)  # type: ignore[call-overload]
intrinsic: Any = untyped_intrinsic


# ---------------------------------------------------------------------------------------------- instructions


def prefetched(builder: Any, start: Any, index: Any) -> None:
    """Return the code that asks for the cache line `index` values behind a pointer."""
    address = builder.bitcast(builder.gep(start, [index]), cgutils.voidptr_t)
    number = ir.IntType(32)
    kind = ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, number, number, number])
    function = builder.module.declare_intrinsic("llvm.prefetch", [cgutils.voidptr_t], kind)
    read, keep, data = ir.Constant(number, 0), ir.Constant(number, 3), ir.Constant(number, 1)
    builder.call(function, [address, read, keep, data])


@intrinsic
def prefetch(context, array, index):  # type: ignore[no-untyped-def]
    """Ask for the cache line of a one-dimensional array, or behind a pointer, that holds `index`, before it is needed.

    Rows of vectors and of sums are needed in the order of the text, that is at random; without this the kernels would
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
    """Return the numbers of a contiguous array, to read and write as `numbers[i]`, without its size and owner.

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
    """Return the eight bytes from `index` on behind a pointer to uint8 as one uint64, the first in its lowest bits.

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
    """Whether each of 64 bytes is, with the bits of `extra` set, one of the `count` values from `low` on.

    The bytes lie behind a pointer to uint8, from `index` on. The result is a uint64, whose lowest bit is that of the
    first byte. Nothing checks that there are 64 bytes: the caller has to know.
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
    """Return the number of zero bits that a uint64 ends in; 64 for zero."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.uint64), generate


@intrinsic
def leading_zeros(context, number):  # type: ignore[no-untyped-def]
    """Return the number of zero bits that a uint64 begins with; 64 for zero."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctlz(arguments[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.uint64), generate


@intrinsic
def count_ones(context, number):  # type: ignore[no-untyped-def]
    """Return the number of bits that are set in a uint64."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.int64(types.uint64), generate


# ---------------------------------------------------------------------------------------------- announcement


class _Announcer(event.Listener):
    """Says that a kernel is compiled; numba reports this, but not what it loads from its cache."""

    def on_start(self, event: Any) -> None:
        if isinstance(event.data["dispatcher"]._cache, _Cache):
            _say_once("alacarte: compiling for this machine, once (some seconds)")

    def on_end(self, event: Any) -> None:
        pass


event.register("numba:compile", _Announcer())  # type: ignore[no-untyped-call]
