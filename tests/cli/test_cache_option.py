"""Caches of the files of the command line."""

from tests.cli_cases import run, usage_error


def test_a_cache_gives_the_same(files, tmp_path, capsys):
    """With a first pass or without, written or read."""
    train = tmp_path / "train.svm"
    train.write_bytes(files["a"].read_bytes())
    given = ["--no-compare", "--test", files["test"], "--predictions", "-", "--quiet", "--epochs", 2]
    plain = run(capsys, train, *given)
    for more in ([], [], ["--features", 6, "--classes", 0, 1, 2], ["--grow"]):
        found = run(capsys, train, *[word for word in given if more != ["--grow"] or word != "--no-compare"], *more, "--cache")
        assert found[0] == 0 and (found == plain or more == ["--grow"])
        assert (tmp_path / "train.svm.cache").exists()
    files["test"].with_name("test.svm.cache").unlink()


def test_a_damaged_cache_is_said(files, tmp_path, capsys):
    train = tmp_path / "train.svm"
    train.write_bytes(files["a"].read_bytes())
    known = ["--features", 6, "--classes", 0, 1, 2, "--no-compare", "--cache"]
    assert run(capsys, train, *known)[0] == 0
    cache = tmp_path / "train.svm.cache"
    cache.write_bytes(cache.read_bytes()[:-3])
    code, _, err = run(capsys, train, *known)
    assert code == 1 and "is damaged" in err and "there is no trained model yet" in err
    assert "is damaged" in usage_error(capsys, train, "--no-compare", "--cache")


def test_what_has_no_cache_is_refused(files, capsys):
    assert "labels that are numbers" in usage_error(capsys, files["aw"], "--cache")
    assert "is for files" in usage_error(capsys, "-", "--cache", "--features", "6", "--classes", "0", "1")
