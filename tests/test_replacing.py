"""Files that are written as a whole, or not at all."""

import os
import stat
import threading

import pytest

from sklearn_predtron._support.replacing import replacing


def write(path, content):
    with replacing(path) as file:
        file.write(content)


def test_a_file_takes_the_place_of_another_when_it_is_complete(tmp_path):
    path = tmp_path / "file"
    write(path, b"old")
    with replacing(str(path)) as file:
        file.write(b"new")
        file.flush()
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new" and os.listdir(tmp_path) == ["file"]


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt, SystemExit, GeneratorExit])
def test_an_error_leaves_what_was_there(tmp_path, error):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    with pytest.raises(error), replacing(path) as file:
        file.write(b"half")
        raise error
    assert path.read_bytes() == b"old" and os.listdir(tmp_path) == ["file"]


def test_an_error_at_the_end_leaves_what_was_there(tmp_path, monkeypatch):
    """Of the last bytes, of the disk, or of the name."""
    path = tmp_path / "file"
    path.write_bytes(b"old")
    for function in ("fsync", "replace"):
        with monkeypatch.context() as patched:
            patched.setattr(os, function, lambda *_: (_ for _ in ()).throw(OSError("no")))
            with pytest.raises(OSError, match="no"):
                write(path, b"new")
        assert path.read_bytes() == b"old" and os.listdir(tmp_path) == ["file"]


def test_links_stay_and_so_does_the_mode(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("folder/file")
    mask = os.umask(0o027)
    try:
        write(tmp_path / "link", b"1")
    finally:
        os.umask(mask)
    path = tmp_path / "folder" / "file"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640  # as of any new file
    path.chmod(0o604)
    write(tmp_path / "link", b"2")
    assert (tmp_path / "link").is_symlink() and path.read_bytes() == b"2"
    assert stat.S_IMODE(path.stat().st_mode) == 0o604 and os.listdir(tmp_path / "folder") == ["file"]


def test_what_a_killed_job_has_left_is_in_nobodys_way(tmp_path):
    path = tmp_path / "file"
    left = [tmp_path / name for name in ("file.part", f"file.{os.getpid()}.part")]
    for part in left:
        part.write_bytes(b"half")
    write(path, b"new")
    assert path.read_bytes() == b"new" and all(part.read_bytes() == b"half" for part in left)


def test_jobs_that_write_at_once_do_not_meet(tmp_path):
    path, contents = tmp_path / "file", [bytes([i]) * 100_000 for i in range(8)]
    threads = [threading.Thread(target=lambda one=one: [write(path, one) for _ in range(5)]) for one in contents]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert path.read_bytes() in contents and os.listdir(tmp_path) == ["file"]


@pytest.mark.parametrize("name", ["x" * 255, "\u00fc" * 127, "\U0001f600" * 63])
def test_a_name_may_be_as_long_as_names_are(tmp_path, name):
    write(tmp_path / name, b"new")
    assert (tmp_path / name).read_bytes() == b"new" and os.listdir(tmp_path) == [name]
