"""The tier: the instances of parametrised tests that run unless pytest is called with `--all`, or with `--rest` for the others.

Of each function at most `MOST` instances run, so that the suite takes minutes. They cover all values of each parameter, and all
pairs of values, as far as their number allows. Only the names and values of the instances decide, so every run chooses the
same ones.

Two marks adjust the choice:

- `@pytest.mark.always("id", ...)` names instances that run in addition to those chosen. With `each="parameter"` as many are
  chosen as this parameter has values. Without arguments all instances run.
- `@pytest.mark.slow` leaves out a function, or with `pytestmark` a file.

A test that draws many cases takes the fixture `n_draws`, which gives fewer without `--all`.

An instance that is named on the command line, as in `pytest "tests/test_x.py::test_y[id]"`, always runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import combinations
from zlib import crc32

import pytest

MOST = 4
SIMPLE = (bool, bytes, float, int, str, type, type(None))  # equal values have equal reprs, others do not


def choose(
    name: str, instances: Mapping[str, Mapping[str, object]], always: Iterable[str] = (), each: str | None = None
) -> set[str]:
    """Return the ids that run of a function: those in `always`, and at most `MOST` others that cover values and pairs of values.

    With `each` there may be as many others as this parameter has values. `instances` has the parameters of each id.
    Raise ValueError if an id in `always` has no instance.
    """
    chosen = set(always)
    if unknown := chosen - set(instances):
        raise ValueError(f"The mark 'always' of {name} must name instances of it; got {sorted(unknown)}.")
    objects: dict[int, int] = {}
    values = {
        id_: {(parameter, written(value, objects)) for parameter, value in parameters.items()}
        for id_, parameters in instances.items()
    }
    pairs = {id_: set(combinations(sorted(found), 2)) for id_, found in values.items()}
    seen = {value for id_ in chosen for value in values[id_]}
    seen_pairs = {pair for id_ in chosen for pair in pairs[id_]}
    # In the order of a checksum, functions that share a list of values run different ones.
    left = sorted(set(instances) - chosen, key=lambda id_: (crc32(f"{name}[{id_}]".encode()), id_))
    most = MOST if each is None else max(MOST, len({written(given[each], objects) for given in instances.values()}))
    for _ in range(min(most, len(left))):
        best = max(left, key=lambda id_: (len(values[id_] - seen), len(pairs[id_] - seen_pairs)))
        left.remove(best)
        chosen.add(best)
        seen |= values[best]
        seen_pairs |= pairs[best]
    return chosen


def written(value: object, objects: dict[int, int]) -> str:
    """Return the same text for equal simple values, and for the same object; `objects` numbers the latter."""
    if isinstance(value, SIMPLE):
        return repr(value)
    return f"object {objects.setdefault(id(value), len(objects))}"


def pytest_addoption(parser):
    for name, said in {
        "all": "run every test, not only the tier (tests/tier.py)",
        "rest": "run what the tier leaves out of files",
    }.items():
        parser.addoption(f"--{name}", action="store_const", const=name, dest="instances", help=said)


def pytest_configure(config):
    config.addinivalue_line(
        "markers", "always(*ids, each=None): instances beside those that the tier chooses, by default all (tests/tier.py)"
    )
    config.addinivalue_line("markers", "slow: runs only with --all")


def pytest_report_header(config):
    said = {"all": "every test", "rest": "what the tier leaves out", None: "the tier (tests/tier.py); --all runs every test"}
    return said[config.getoption("instances")]


@pytest.fixture(scope="session")
def n_draws(request):
    """Return a function of two numbers of draws, which returns the first in the tier and else the second."""
    every = request.config.getoption("instances") is not None
    return lambda few, many: many if every else few


@pytest.hookimpl(wrapper=True)
def pytest_pycollect_makeitem(collector, name, obj):
    """Keep the instances of a function that are in the tier, before anything else sees the others."""
    items = yield
    config = collector.config
    which = config.getoption("instances")
    if not isinstance(items, list) or not items or which == "all" or any("[" in word for word in config.args):
        return items
    kept = [item for item in items if not item.get_closest_marker("slow")]
    mark = kept[0].get_closest_marker("always") if kept else None
    if len(kept) > MOST and hasattr(kept[0], "callspec") and (mark is None or mark.args or mark.kwargs):
        instances = {item.callspec.id: item.callspec.params for item in kept}
        chosen = choose(name, instances, *(() if mark is None else (mark.args, mark.kwargs.get("each"))))
        kept = [item for item in kept if item.callspec.id in chosen]
    if which == "rest":
        kept = [item for item in items if item not in kept]
    if len(kept) < len(items):
        config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    return kept
