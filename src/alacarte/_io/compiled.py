"""How kernels are compiled: without the interpreter's lock, and kept on disk between runs."""

from typing import Any

import numba

kernel: Any = numba.njit(cache=True, nogil=True)
# A function that only kernels call: without the ways in from Python and C it compiles faster.
inner: Any = numba.njit(cache=True, nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)  # type: ignore[call-overload]
