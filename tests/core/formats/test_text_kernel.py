"""The compiled text parser against a plain-Python twin."""

import re

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from alacarte.vectors.formats import word2vec_binary
from alacarte.vectors.formats._text_matrix import parse_lines, parse_number
from alacarte.vectors.formats.text import FINE, SHORT, SLOW, new_places


def twin_lines(data, at_end, dimension, room):
    """Rows as (line, word, values or None for too few fields), and how many bytes and lines they took."""
    rows, used, line = [], 0, 0
    while len(rows) < room and used < len(data):
        stop = data.find(b"\n", used)
        if stop < 0:
            if not at_end:
                break
            stop = len(data)
        text = data[used:stop].rstrip(b" \t\r").lstrip(b" \t")
        used = min(stop + 1, len(data))
        line += 1
        if not text:
            continue
        fields = list(re.finditer(rb"[^ \t]+", text))
        if len(fields) <= dimension:
            rows.append((line - 1, None, None))
        else:
            first = fields[-dimension].start()
            word = text[:first].rstrip(b" \t")
            rows.append((line - 1, word, [field.group() for field in fields[-dimension:]]))
    return rows, used, line


def as_float(field):
    try:
        value = float(field)
    except ValueError:
        return None
    with np.errstate(over="ignore"):
        return np.float32(value) if b"_" not in field and np.isfinite(np.float32(value)) else None


def same_bits(a, b):
    return np.float32(a).view(np.uint32) == np.float32(b).view(np.uint32)


def compare(data, at_end, dimension, room=50):
    out = np.full((room, dimension), 7, np.float32)
    places, status = new_places(room), np.zeros(room, np.uint8)
    count, used, lines = parse_lines(np.frombuffer(data, np.uint8), at_end, dimension, out, places, status)
    rows, twin_used, twin_line = twin_lines(data, at_end, dimension, room)
    assert (count, used, lines) == (len(rows), twin_used, twin_line)
    for row, (line, word, fields) in enumerate(rows):
        assert places[row, 0] == line
        if fields is None:
            assert status[row] == SHORT
            continue
        assert status[row] in (FINE, SLOW)
        assert data[places[row, 1] : places[row, 2]] == word
        values = [as_float(field) for field in fields]
        if status[row] == FINE:
            assert all(same_bits(value, got) for value, got in zip(values, out[row], strict=True))
        else:  # left to Python for a reason
            hard = [value is None or not 1e-20 < abs(value) < 1e20 for value in values]
            assert any(hard) or any(len(field) > 15 or b"e" in field.lower() for field in fields)


numbers = st.one_of(
    st.floats(width=32, allow_nan=False, allow_infinity=False).map(lambda x: b"%.9g" % x),
    st.floats().map(lambda x: repr(x).encode()),
    st.integers().map(lambda x: b"%d" % x),
    st.from_regex(rb"[+-]?[0-9]{0,4}\.?[0-9]{0,20}([eE][+-]?[0-9]{0,3})?", fullmatch=True),
    st.sampled_from([b"nan", b"inf", b"-", b".", b"1_0", b"0x1", b"1e", b"e5", b"1e5000", b"00.10", b"+1", b"1."]),
)
gaps = st.sampled_from([b" ", b" ", b" ", b"\t", b"  ", b" \t"])
words = st.one_of(st.binary(max_size=6), st.text(max_size=4).map(lambda x: x.encode(errors="replace")))


@st.composite
def some_lines(draw):
    parts = []
    for _ in range(draw(st.integers(0, 6))):
        parts.append(draw(words))
        for _ in range(draw(st.integers(0, 5))):
            parts += [draw(gaps), draw(numbers)]
        parts.append(draw(st.sampled_from([b"\n", b"\n", b" \n", b"\r\n", b"\n\n", b""])))
    return b"".join(parts)


@settings(max_examples=400, deadline=None)
@given(some_lines(), st.booleans(), st.integers(1, 4))
@example(b"a 1 2\nb 3 4", False, 2)
@example(b"a 1 2\nb 3 4", True, 2)
@example(b"a b c 1 2 \r\n", False, 2)
@example(b"\x85 1\n\xc2\xa0 2\n", False, 1)
@example(b"\n \n\t\n", True, 1)
def test_lines_equal_the_twin(data, at_end, dimension):
    compare(data, at_end, dimension)


@settings(max_examples=500, deadline=None)
@given(numbers)
@example(b"9007199254740992")
@example(b"9007199254740993")
@example(b"1e22")
@example(b"1e23")
@example(b"-0")
@example(b"123456789012345678901234567890")
@example(b"0." + b"0" * 40 + b"1")
def test_numbers_equal_float(field):
    value, sure = parse_number(np.frombuffer(field, np.uint8), 0, len(field))
    if sure:
        assert repr(value) == repr(float(field))
    else:
        digits = re.sub(rb"[eE].*", b"", field)
        hard = len(re.sub(rb"[^0-9]", b"", digits)) > 15 or b"e" in field.lower() or len(digits) > 22
        assert hard or as_float(field) is None


def test_it_stops_when_the_room_is_full_and_goes_on_from_there():
    data = b"a 1\n\nb 2\nc 3\n"
    compare(data, True, 1, room=2)
    out, places, status = np.zeros((2, 1), np.float32), new_places(2), np.zeros(2, np.uint8)
    assert parse_lines(np.frombuffer(data, np.uint8), True, 1, out, places, status) == (2, 9, 3)


@given(
    st.lists(st.tuples(st.binary(min_size=1, max_size=5), st.binary(min_size=8, max_size=8)), max_size=6),
    st.sampled_from([b"", b"\n"]),
    st.integers(0, 20),
)
@settings(deadline=None)
def test_binary_rows(rows, end, cut):
    rows = [(word.replace(b" ", b"_").replace(b"\n", b"_"), values) for word, values in rows]
    data = b"".join(word + b" " + values + end for word, values in rows)
    data = data[: max(0, len(data) - cut)]
    whole, position = [], 0
    for word, values in rows:
        skip = len(end) if whole else 0
        if position + skip + len(word) + 9 > len(data):
            break
        position += skip + len(word) + 9
        whole.append((word, values))
    expected = [word for word, _ in whole], b"".join(values for _, values in whole), position
    assert word2vec_binary.split(data, 10, 8) == expected


@pytest.mark.parametrize("field", [b"", b"+", b"-", b".", b"e1", b"1e", b"1e+", b"1.2.3", b"1-", b"--1"])
def test_what_is_no_number_is_left_to_python(field):
    assert not parse_number(np.frombuffer(field, np.uint8), 0, len(field))[1]
