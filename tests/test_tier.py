"""The tier keeps few instances of a test, the same ones in every run, and those that cover the most values."""

import subprocess
import sys
from collections import Counter
from itertools import combinations, product
from pathlib import Path

import pytest
import tier

SUITE = """
import pytest

@pytest.mark.parametrize("loss", ["hinge", "square", "logistic"])
@pytest.mark.parametrize("sparse", [False, True])
def test_product(loss, sparse): pass

@pytest.mark.always("3", "8")
@pytest.mark.parametrize("n", range(9))
def test_list(n): pass

@pytest.mark.parametrize("n", range(2))
def test_few(n): pass

@pytest.mark.always
@pytest.mark.parametrize("n", range(7))
def test_all(n): pass

@pytest.mark.always(each="norm")
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("norm", ["l1", "l2", "group", "trace", "rkhs"])
def test_each(norm, sparse): pass

@pytest.mark.slow
def test_slow(): pass

@pytest.mark.parametrize("n", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_slow_instance(n): pass

def test_plain(): pass
"""


def grid(**parameters):
    """Return the instances of all combinations of values, by id."""
    return {"-".join(map(str, values)): dict(zip(parameters, values, strict=True)) for values in product(*parameters.values())}


@pytest.mark.parametrize("sizes", [(2, 2, 2), (4, 3, 2), (4, 4, 4, 4), (3, 9)])
def test_values_and_pairs_are_covered(sizes):
    """As many values of each parameter run as there are instances, and most pairs of values that can run together."""
    instances = grid(**{f"p{i}": range(size) for i, size in enumerate(sizes)})
    for name in ["test_a", "test_b", "test_c"]:
        chosen = tier.choose(name, instances)
        assert len(chosen) == tier.MOST
        found = [tuple(instances[id_].values()) for id_ in chosen]
        assert [len(set(column)) for column in zip(*found, strict=True)] == [min(size, tier.MOST) for size in sizes]
        for i, j in combinations(range(len(sizes)), 2):
            assert len({(values[i], values[j]) for values in found}) >= min(sizes[i] * sizes[j], tier.MOST) - 2


def test_the_choice_does_not_depend_on_the_order():
    instances = grid(a=range(5), b="xyz", c=[object(), object()])
    chosen = tier.choose("test_a", instances)
    assert chosen == tier.choose("test_a", dict(reversed(instances.items())))
    assert any(chosen != tier.choose(f"test_{other}", instances) for other in "bcd")


def test_objects_are_told_apart_by_identity():
    """Values of which repr says nothing count as different values."""
    one, two = type("Silent", (), {"__repr__": lambda self: ""})(), type("Silent", (), {"__repr__": lambda self: ""})()
    instances = {**{f"one{i}": {"a": one} for i in range(9)}, "two": {"a": two}}
    for name in "abcdefgh":
        assert "two" in tier.choose(name, instances)


def test_instances_on_the_list_always_run():
    instances = grid(a=range(20))
    for id_ in instances:
        chosen = tier.choose("test_a", instances, [id_])
        assert id_ in chosen and len(chosen) == tier.MOST + 1
    with pytest.raises(ValueError, match=r"must name instances of it; got \['20'\]"):
        tier.choose("test_a", instances, ["20", "3"])


def collected(folder, *words, seed="0"):
    """Return the ids that pytest collects of `SUITE`."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "tier", "-p", "no:cacheprovider", *words]
    paths = {"PYTHONPATH": str(Path(tier.__file__).parent), "PYTHONHASHSEED": seed}
    done = subprocess.run(command, cwd=folder, env={**paths, "PATH": ""}, capture_output=True, text=True, check=True)
    return [line.partition("::")[2] for line in done.stdout.splitlines() if "::" in line]


def test_pytest_runs_the_choice(tmp_path):
    """Two runs collect the same tests with different hash seeds; `--all` collects every test, and an id its own."""
    (tmp_path / "test_suite.py").write_text(SUITE)
    (tmp_path / "pytest.ini").write_text("[pytest]")
    everything = collected(tmp_path, "--all")
    assert len(everything) == 6 + 9 + 2 + 7 + 10 + 1 + 2 + 1
    kept = collected(tmp_path, seed="1")
    assert kept == collected(tmp_path, seed="2") == [id_ for id_ in everything if id_ in kept]
    assert Counter(id_.partition("[")[0] for id_ in kept) == {
        "test_product": tier.MOST,
        "test_list": tier.MOST + 2,
        "test_few": 2,
        "test_all": 7,
        "test_each": 5,
        "test_slow_instance": 1,
        "test_plain": 1,
    }
    assert {"test_list[3]", "test_list[8]"} <= set(kept)
    assert len({id_.partition("-")[0] for id_ in kept if id_.startswith("test_each")}) == 5
    assert collected(tmp_path, "--rest") == [id_ for id_ in everything if id_ not in kept]
    left_out = next(id_ for id_ in everything if id_ not in kept and "[" in id_)
    assert collected(tmp_path, f"test_suite.py::{left_out}") == [left_out]
