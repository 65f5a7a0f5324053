"""The parser of svmlight text: numbers to the last bit, odd fields, padding; scikit-learn's is the oracle."""

import math
import threading
from decimal import Decimal
from fractions import Fraction
from io import BytesIO

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import load_svmlight_file

from sklearn_predtron.datasets._svmlight import PADDING, LineParser


def parse(text, n_features=None, zero_based=False, classes=None, multilabel=False, relevance=False, dtype=np.float64):
    """Data, indices, indptr, width, labels, their ends, lines and bytes that are read."""
    form = {"multilabel": multilabel, "relevance": relevance, "dtype": np.dtype(dtype)}
    return LineParser(n_features, zero_based, classes, **form).parse(text + bytes(PADDING))


def values(numbers, dtype=np.float64):
    text = b"".join(b"0 1:%s\n" % number for number in numbers)
    data, *_, done = parse(text, dtype=dtype)
    assert done == len(text)
    return data


def drawn_decimals(seed, n):
    """Decimals of up to 24 digits, with a point anywhere and an exponent or none."""
    rng = np.random.default_rng(seed)
    for _ in range(n):
        digits = "".join(map(str, rng.integers(0, 10, rng.integers(1, 25))))
        point, sign = int(rng.integers(len(digits) + 1)), ["", "-", "+"][rng.integers(3)]
        exponent = "" if rng.random() < 0.5 else f"{'eE'[rng.integers(2)]}{['', '+', '-'][rng.integers(3)]}{rng.integers(32)}"
        yield f"{sign}{digits[:point]}.{digits[point:]}{exponent}".encode()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_drawn_decimals_are_those_of_python(dtype):
    most = float(np.finfo(dtype).max)
    numbers = [number for number in drawn_decimals(0, 20_000) if abs(float(number)) < most]
    assert len(numbers) > 15_000
    assert values(numbers, dtype).tobytes() == np.array([float(number) for number in numbers]).astype(dtype).tobytes()


@pytest.mark.parametrize("form", ["{!r}", "{:.16g}", "{:.17g}", "{:.3e}", "{:f}", "{:.19g}"])
def test_doubles_in_all_ways_of_writing_them(form):
    doubles = np.random.default_rng(1).standard_normal(5000) * 10.0 ** np.random.default_rng(2).integers(-30, 30, 5000)
    numbers = [form.format(value).encode() for value in doubles.tolist()]
    assert values(numbers).tobytes() == np.array([float(number) for number in numbers]).tobytes()


@pytest.mark.parametrize("exponent", [-27, -23, -22, -5, -1, 0, 1])
def test_half_way_between_two_doubles(exponent):
    """A tie goes to the even one; what is a digit more or less goes to its own side."""
    numbers = []
    for odd in range(2**53 + 1, 2**53 + 2001, 2):  # no double: it is half-way between two
        for shift in (-1, 0, 1):
            exact = Fraction(odd) * 100 + shift
            numbers.append(f"{exact.numerator}e{exponent - 2}".encode())
    for value in np.random.default_rng(3).uniform(1, 10, 1000):  # the middle of two doubles, cut to 19 digits
        middle = Decimal(float(value)) / 2 + Decimal(math.nextafter(float(value), 20)) / 2
        numbers.append(f"{middle:.18f}e{exponent}".encode())
    assert values(numbers).tobytes() == np.array([float(number) for number in numbers]).tobytes()


ODD = ["0", "-0", "+0.0", "5.", ".5", "-.5e-1", "1e22", "1e23", "1e-22", "1e-23", "9007199254740993", "18446744073709551615"]
ODD += ["18446744073709551616", "9999999999999999999", "1e308", "1.7976931348623157e308", "5e-324", "2e-324", "1e-400"]
ODD += ["1_000.5_5", "00000000000000000000001", "0.00000000000000000000000001"]
ODD += ["1e0000005", "1e-00000000005", "4.9406564584124654e-324"]


@pytest.mark.parametrize("number", ODD)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_odd_numbers(number, dtype):
    with np.errstate(over="ignore"):
        expected = np.array([float(number)]).astype(dtype)
    if np.isfinite(expected).all():
        assert values([number.encode()], dtype).tobytes() == expected.tobytes()
    else:
        assert parse(b"0 1:%s\n" % number.encode(), dtype=dtype)[-1] == 0


NO_NUMBERS = ["", ".", "-", "+", "e", "e5", "1e", "1e+", "--1"]
NO_NUMBERS += ["+-1", "1.2.3", "1..2", "0x1p3", "1e5.5", "1_", "_1", "1__0", "1,5"]
NO_NUMBERS += ["nan", "-inf", "infinity", "1e999", "1:2", "\x001", "1\x00", "1e1e1", "\xb9", "1d5", "1f", "1l", "١"]


@pytest.mark.parametrize("number", NO_NUMBERS)
@pytest.mark.parametrize("end", ["\n", "", " \n", " 2:1\n", "#\n"])
def test_no_numbers(number, end):
    """Neither as a value nor as a label."""
    good = b"3 2:1\n"
    for line in (f"0 1:{number}{end}".encode(), f"{number}{end}".encode()):
        data, *_, lines, done = parse(good + line)
        if line.partition(b"#")[0].strip():
            assert (lines, done, data.tolist()) == (1, len(good), [1])


@pytest.mark.parametrize(
    "index", ["1", "7", "007", "+7", "1_0", "12345678", "123456789", "2147483647", "000000000000000000000000009"]
)
@pytest.mark.parametrize("zero_based", [True, False])
def test_indices(index, zero_based):
    most = 2**31 - 1
    _, indices, _, width, *_, done = parse(f"0 {index}:1".encode(), zero_based=zero_based)
    if zero_based and int(index) == most:
        assert done == 0
    else:
        assert (indices.tolist(), width) == ([int(index) - (not zero_based)], int(index) + zero_based)


NO_INDICES = ["-1:1", "2147483648:1", "9" * 18 + ":1", "9" * 30 + ":1", "1.0:1", "x:1"]
NO_INDICES += [":1", "1", "1;1", "0x1:1", "2:1 qid:1", "1 :1", "-0:1"]


@pytest.mark.parametrize("field", NO_INDICES)
def test_no_indices(field):
    assert parse(f"1 1:2\n1 {field}\n".encode())[-2:] == (1, 6)


def test_indices_must_grow():
    assert parse(b"1 1:1 2:1\n1 2:1 2:1\n")[-2] == parse(b"1 1:1 2:1\n1 2:1 1:1\n")[-2] == 1


@pytest.mark.parametrize("n_features", [2, 3])
def test_width(n_features):
    *_, lines, _ = parse(b"1 2:1\n1 3:1\n", n_features=n_features)
    assert lines == n_features - 1
    assert parse(b"1 0:1\n1 2:1\n", n_features=n_features, zero_based=True)[-2] == n_features - 1


def test_classes():
    classes = np.array([-1.0, 2.0, 5.5])
    assert parse(b"-1\n2.0\n55e-1\n3\n", classes=classes)[-2] == 3
    assert parse(b"9\n", classes=np.empty(0))[-2] == 0
    assert parse(b"2,-1 1:1\n3:1\n2,3 1:1\n", classes=classes, multilabel=True)[-2] == 2


def test_relevance():
    assert parse(b"0\n-0\n-1e-9\n", relevance=True)[-2] == 2


def test_a_bad_line_leaves_nothing():
    data, indices, indptr, width, labels, ends, lines, done = parse(b"1,2 1:3\n4,5,6 1:1 9:7 2:1\n", multilabel=True)
    assert (data.tolist(), indices.tolist(), indptr.tolist(), width) == ([3], [0], [0, 1], 1)
    assert (labels.tolist(), ends.tolist(), lines, done) == ([1, 2], [2], 1, 8)


TEXTS = {
    "nothing": b"",
    "newlines": b"\n\n\r\n \t\n",
    "no newline at the end": b"1 1:1\n2 2:0.5",
    "crlf": b"1 1:1\r\n2\r\n\r\n",
    "comments": b"# 1:1\n1 1:1 # 2:2\n2#\n3 1:1#x 2:1\n",
    "all spaces": b"1\t1:1\x0b2:1\x0c3:1\r4:1 \n",
    "qid": b"1 qid:3 1:1\n1 qid:\n1 qidx:y 2:1\n1 qid::\n",
    "zero byte before a comment": b"1 qid:\x00#x\n",
    "zero byte in a comment": b"1 1:1 # \x00 2:x\n2\n",
    "digits to the end": b"12345678 1:12345678",
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_lines_are_those_of_scikit_learn(text):
    data, indices, indptr, _, labels, _, lines, done = parse(text)
    X, y = load_svmlight_file(BytesIO(text), zero_based=False)
    assert done == len(text) and lines == text.count(b"\n") + (not text.endswith(b"\n") and bool(text))
    for ours, theirs in [(data, X.data), (indices, X.indices), (indptr, X.indptr), (labels, y)]:
        assert_array_equal(ours, theirs)


@pytest.mark.parametrize(
    "text", [b"1 qid\n", b"1 qid 1:1\n", b"1 qid:\x00 #x\n", b"1\x00#\n", b"qid:1 1:1\n", b"1 qid:1 qid:1\n", b"\x00\n"]
)
def test_lines_that_scikit_learn_refuses(text):
    with pytest.raises(ValueError, match=r"."):
        load_svmlight_file(BytesIO(text))
    assert parse(text)[-2:] == (0, 0)


def test_what_follows_a_text_is_not_read():
    """The padding ends a number; a text is cut anywhere."""
    text = b"1,2 qid:3 10:-1.25e-3 11:2 # 5:1\r\n3 1:1"
    for n in range(len(text) + 1):
        for zero_based in (True, False):
            *_, done = parse(text[:n], zero_based=zero_based, multilabel=True)
            try:
                load_svmlight_file(BytesIO(text[:n]), zero_based=zero_based, multilabel=True)
                assert done == n
            except ValueError:
                assert done in (0, text.index(b"\n") + 1)


def test_a_text_without_padding_is_refused():
    with pytest.raises(ValueError, match="a text of 3 bytes has no padding"):
        LineParser(None, False, None, multilabel=False, relevance=False, dtype=np.dtype(float)).parse(b"1\n1")


def test_threads_share_a_parser():
    """Odd numbers take the GIL for a moment."""
    text = b"".join(b"1 1:%d.5 2:1_0 +3:%de-30\n" % (i, i) for i in range(2000)) + bytes(PADDING)
    parser = LineParser(None, False, None, multilabel=False, relevance=False, dtype=np.dtype(float))
    expected, found = parser.parse(text)[0].tobytes(), []
    threads = [threading.Thread(target=lambda: found.append(parser.parse(text)[0].tobytes())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 4
