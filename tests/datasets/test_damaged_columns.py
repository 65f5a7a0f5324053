"""Parquet and Arrow files that are damaged: refused by name of the file and the column, and no crash."""

import struct

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from sklearn_predtron.datasets import ParquetReader

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

N = 40
LENGTHS = np.arange(N) % 4 + 1
WORDS = [("spam", "ham")[i % 2] * (i % 3 + 1) for i in range(N)]
USES = [list, ParquetReader.scan]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "rows"


def write_arrow(path, columns):
    table = pa.table(columns)
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as file:
        file.write_table(table)
    return bytearray(path.read_bytes())


def replace(path, data, old, new):
    """Write the file with other bytes in the one place where these are."""
    assert data.count(old) == 1 and len(old) == len(new)
    path.write_bytes(data.replace(old, new))


def refused(path, how, reason, uses=USES):
    for use in uses:
        with pytest.raises(ValueError, match=rf"^path='.*/rows' cannot be read: {reason}"):
            use(ParquetReader(path, **how))


@pytest.mark.parametrize("kind", [np.int32, np.int64])
@pytest.mark.parametrize(("at", "value"), [(20, 2**30), (20, -(2**30)), (N, 2**30), (N, -5), (0, 2**31 - 1), (0, -1)])
def test_offsets_of_strings_that_lead_elsewhere(path, kind, at, value):
    text = pa.string() if kind is np.int32 else pa.large_string()
    data = write_arrow(path, {"x": np.arange(N) / 7, "y": pa.array(WORDS, text)})
    assert [y for _, labels, _ in ParquetReader(path, label="y") for y in labels] == WORDS
    starts = np.cumsum([0, *map(len, WORDS)]).astype(kind)
    other = starts.copy()
    other[at] = value
    replace(path, data, starts.tobytes(), other.tobytes())
    refused(path, {"label": "y"}, "column 'y': ")


@pytest.mark.parametrize("kind", [np.int32, np.int64])
@pytest.mark.parametrize(("at", "value"), [(20, 2**30), (N, 2**30), (N, -5), (7, 60), (0, -1)])
def test_offsets_of_lists_that_lead_elsewhere(path, kind, at, value):
    lists = pa.list_ if kind is np.int32 else pa.large_list
    index = pa.array([list(range(k)) for k in LENGTHS], lists(pa.int32()))
    values = pa.array([[0.5] * k for k in LENGTHS], pa.large_list(pa.float64()) if kind is np.int32 else pa.list_(pa.float64()))
    data = write_arrow(path, {"i": index, "v": values, "y": np.arange(N) % 2})
    starts = np.cumsum([0, *LENGTHS]).astype(kind)
    other = starts.copy()
    other[at] = value
    replace(path, data, starts.tobytes(), other.tobytes())
    refused(path, {"label": "y", "indices": "i", "values": "v"}, "column 'i': ")


@pytest.mark.parametrize("value", [3, -1, 2**31 - 1])
def test_indices_of_a_dictionary_that_lead_elsewhere(path, value):
    numbers = (np.arange(N) % 3).astype(np.int32)
    labels = pa.DictionaryArray.from_arrays(pa.array(numbers), pa.array(["a", "b", "c"]))
    data = write_arrow(path, {"x": np.arange(N) / 7, "y": labels})
    other = numbers.copy()
    other[20] = value
    replace(path, data, numbers.tobytes(), other.tobytes())
    refused(path, {"label": "y"}, "column 'y': ")


def test_only_what_is_read_is_looked_at(path):
    """A column that nobody asks for may be damaged."""
    data = write_arrow(path, {"x": np.arange(N) / 7, "y": np.arange(N) % 2, "other": WORDS})
    starts = np.cumsum([0, *map(len, WORDS)]).astype(np.int32)
    replace(path, data, starts.tobytes(), (starts + 2**30).tobytes())
    ((X, y, _),) = ParquetReader(path, label="y", features=["x"])
    assert_array_equal(X[:, 0], np.arange(N) / 7)
    assert_array_equal(y, np.arange(N) % 2)


def test_numbers_at_odd_places(path):
    """Where compiled code would not look for them."""
    numbers = np.arange(N) / 7
    data = write_arrow(path, {"x": numbers, "y": np.arange(N) % 2})
    at = data.index(struct.pack("<qq", 0, numbers.nbytes))  # where the buffer begins, and how long it is
    struct.pack_into("<q", data, at, 4)
    path.write_bytes(data)
    refused(path, {"label": "y"}, ".*align")


@pytest.mark.parametrize("write", [write_arrow, lambda path, columns: pq.write_table(pa.table(columns), path)])
def test_text_that_is_none(path, write):
    write(path, {"x": [1.0, 2.0], "y": ["hamster", "spam"]})
    path.write_bytes(path.read_bytes().replace(b"hamster", b"h\xffmster"))
    refused(path, {"label": "y"}, "column 'y': .*(UTF8|utf-8)")


def test_parquet_files_whose_numbers_of_rows_differ(path):
    """The rows that are written, or none: a file that says 301, and has 300, has lost one."""
    n, reasons = 300, []
    pq.write_table(pa.table({"x": np.arange(n) / 7, "y": np.arange(n) % 2}), path, compression="none", use_dictionary=False)
    data, said = path.read_bytes(), b"\xd8\x04"  # 300, as Thrift has it
    footer = len(data) - int.from_bytes(data[-8:-4], "little") - 8
    for at in [at for at in range(footer, len(data)) if data[at : at + 2] == said]:
        for other in (b"\xda\x04", b"\xd6\x04", b"\xd8\x00", b"\xd7\x04"):
            path.write_bytes(data[:at] + other + data[at + 2 :])
            try:
                ((X, _, _),) = ParquetReader(path, label="y", chunk_rows=1000)
            except ValueError as error:
                assert str(error).startswith(f"path={str(path)!r} cannot be read: ")
                reasons.append(str(error))
            else:
                assert_array_equal(X[:, 0], np.arange(n) / 7)
    assert any("it should have 301 rows, and its columns have more or fewer" in reason for reason in reasons)
    assert any("it should have 299 rows" in reason for reason in reasons)


def test_pages_have_check_sums_if_their_writer_gave_them(path):
    x, plain = np.arange(N) / 7, {"compression": "none", "use_dictionary": False}
    pq.write_table(pa.table({"x": x, "y": np.arange(N) % 2}), path, write_page_checksum=True, **plain)
    data = path.read_bytes()
    at = data.index(x.tobytes())
    path.write_bytes(data[:at] + b"\1" + data[at + 1 :])
    refused(path, {"label": "y"}, ".*(CRC|checksum)", [list])


def test_reasons_are_one_line_of_text(path):
    """Whatever the file has that an error quotes."""
    write_arrow(path, {"x": [1.0, 2.0], "y": ["spam" * 1000, "ham\n\t"]})
    path.write_bytes(path.read_bytes().replace(b"ham\n", b"\xff\x1b[m"))
    with pytest.raises(ValueError) as error:
        list(ParquetReader(path, label="y"))
    assert str(error.value).isprintable() and len(str(error.value)) < len(str(path)) + 400
