"""Bytes of a vector file → rows of a matrix, from text with decimal numbers."""

import numpy as np

from alacarte._io.arrays import Bytes, Longs, Singles
from alacarte._io.compiled import kernel
from alacarte.vectors.formats.text import FINE, LINE, LINE_END, SHORT, SLOW, WORD_BEGIN, WORD_END

_POWERS = np.array([10.0**power for power in range(23)])  # those that float64 holds exactly
_EXACT = 1 << 53
_NEWLINE, _TAB, _RETURN, _SPACE, _PLUS, _MINUS, _POINT, _ZERO, _E = 10, 9, 13, 32, 43, 45, 46, 48, 101


@kernel
def parse_number(data: Bytes, begin: int, end: int) -> tuple[float, bool]:
    """Return the decimal number in `data[begin:end]`, and whether it is surely what Python's `float` makes of it.

    Below 2**53 the digits, and up to 10**22 the power of ten, are exact in float64, so that the one operation
    between them rounds correctly. Anything else is left to Python.
    """
    i = begin
    negative = False
    if i < end and (data[i] == _MINUS or data[i] == _PLUS):
        negative = data[i] == _MINUS
        i += 1
    digits = 0
    mantissa = np.int64(0)
    power = np.int64(0)
    while i < end and _ZERO <= data[i] <= _ZERO + 9:
        mantissa = mantissa * 10 + (np.int64(data[i]) - _ZERO)
        if mantissa >= _EXACT:
            return 0.0, False
        digits += 1
        i += 1
    if i < end and data[i] == _POINT:
        i += 1
        while i < end and _ZERO <= data[i] <= _ZERO + 9:
            mantissa = mantissa * 10 + (np.int64(data[i]) - _ZERO)
            if mantissa >= _EXACT:
                return 0.0, False
            digits += 1
            power -= 1
            i += 1
    if digits == 0:
        return 0.0, False
    if i < end and (data[i] | 32) == _E:
        i += 1
        below = False
        if i < end and (data[i] == _MINUS or data[i] == _PLUS):
            below = data[i] == _MINUS
            i += 1
        first = i
        exponent = np.int64(0)
        while i < end and _ZERO <= data[i] <= _ZERO + 9:
            exponent = exponent * 10 + (np.int64(data[i]) - _ZERO)
            if exponent > 9999:
                return 0.0, False
            i += 1
        if i == first:
            return 0.0, False
        power += -exponent if below else exponent
    if i != end or power < -22 or power > 22:
        return 0.0, False
    value = mantissa / _POWERS[-power] if power < 0 else mantissa * _POWERS[power]
    return (-value if negative else value), True


@kernel
def parse_lines(
    data: Bytes,
    at_end: bool,
    dimension: int,
    out: Singles,
    places: Longs,
    status: Bytes,
) -> tuple[int, int, int]:
    """Parse lines of "word v1 … vd" until `out` is full or no whole line is left.

    The word is everything before the last `dimension` fields, so it may hold spaces. Returns the number of
    rows (blank lines are none), of bytes, and of lines used. `at_end`: the last line needs no newline.
    """
    size = len(data)
    row = 0
    lines = 0
    position = 0
    while row < len(out) and position < size:
        stop = position
        while stop < size and data[stop] != _NEWLINE:
            stop += 1
        if stop == size and not at_end:
            break
        begin = position
        end = stop
        while end > begin and (data[end - 1] == _SPACE or data[end - 1] == _TAB or data[end - 1] == _RETURN):
            end -= 1
        while begin < end and (data[begin] == _SPACE or data[begin] == _TAB):
            begin += 1
        position = min(stop + 1, size)
        lines += 1
        if begin == end:
            continue
        places[row, LINE] = lines - 1
        places[row, WORD_BEGIN] = begin
        places[row, LINE_END] = end
        # Backwards over the fields, to find where the last `dimension` of them begin.
        i = end
        fields = 0
        while fields < dimension and i > begin:
            while i > begin and data[i - 1] != _SPACE and data[i - 1] != _TAB:
                i -= 1
            fields += 1
            if fields < dimension:
                while i > begin and (data[i - 1] == _SPACE or data[i - 1] == _TAB):
                    i -= 1
        first = i
        while i > begin and (data[i - 1] == _SPACE or data[i - 1] == _TAB):
            i -= 1
        if fields < dimension or i == begin:
            i = begin
            while i < end and data[i] != _SPACE and data[i] != _TAB:
                i += 1
            places[row, WORD_END] = i
            status[row] = SHORT
            row += 1
            continue
        places[row, WORD_END] = i
        status[row] = FINE
        i = first
        for column in range(dimension):
            field = i
            while i < end and data[i] != _SPACE and data[i] != _TAB:
                i += 1
            value, exact = parse_number(data, field, i)
            single = np.float32(value)
            if not exact or not np.isfinite(single):
                status[row] = SLOW
                break
            out[row, column] = single
            while i < end and (data[i] == _SPACE or data[i] == _TAB):
                i += 1
        row += 1
    return row, position, lines
