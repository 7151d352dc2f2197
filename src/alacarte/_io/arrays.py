"""Names for the types of arrays in signatures."""

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Singles: TypeAlias = npt.NDArray[np.float32]
Doubles: TypeAlias = npt.NDArray[np.float64]
Longs: TypeAlias = npt.NDArray[np.int64]
Ints: TypeAlias = npt.NDArray[np.int32]
Rows: TypeAlias = npt.NDArray[np.intp]
Codes: TypeAlias = npt.NDArray[np.uint64]
Bytes: TypeAlias = npt.NDArray[np.uint8]
Mask: TypeAlias = npt.NDArray[np.bool_]
