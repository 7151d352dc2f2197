"""Ask the processor for memory before it is needed: `prefetch(array, index)`, which numba itself has no word for.

Rows of vectors and of sums are met in the order of the text, that is at random; without this the kernels would wait
for memory most of the time. It changes no value, and an index out of bounds does no harm.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic


@intrinsic
def prefetch(context, array, index):  # type: ignore[no-untyped-def]
    """Fetch the cache line of a one-dimensional array that holds `index`."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        view = context.make_array(signature.args[0])(context, builder, arguments[0])
        address = builder.bitcast(builder.gep(view.data, [arguments[1]]), cgutils.voidptr_t)
        number = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, number, number, number])
        function = builder.module.declare_intrinsic("llvm.prefetch", [cgutils.voidptr_t], kind)
        read, keep, data = ir.Constant(number, 0), ir.Constant(number, 3), ir.Constant(number, 1)
        builder.call(function, [address, read, keep, data])
        return context.get_dummy_value()

    return types.void(array, types.int64), generate
