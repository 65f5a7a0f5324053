"""What mixtures refuse, by name and by shard: in every call, and nothing is changed."""

import pathlib

import numpy as np
import pytest
from cases import make_data
from sklearn.linear_model import Perceptron

from sklearn_predtron import PredtronClassifier
from sklearn_predtron.mixing import ParameterMixing, ShardError
from sklearn_predtron.norms import RKHS
from tests.own_checks import frozen, is_same

X, Y = make_data(n=90)
KNOWN = {"classes": range(3)}
LONG, GAP = X.copy(), X.copy()
LONG[5, 0], GAP[5, 0] = 1e200, np.nan


def shard(X=X, y=Y, *given):
    return lambda: (X, y, *given)


def fails():
    raise RuntimeError("no connection")


def refused(mixed, message, learn, *given, **more):
    before = frozen(mixed)
    with pytest.raises(ShardError if message.startswith("shard ") else ValueError, match=message):
        getattr(mixed, learn)(*given, **more)
    assert is_same(frozen(mixed), before), learn


def mixture(estimator=None, **settings):
    return ParameterMixing(estimator or PredtronClassifier(), **{"shards": 3, "rounds": 2, "random_state": 0, **settings})


@pytest.mark.always
@pytest.mark.parametrize(
    ("X", "given", "message"),
    [
        ("part.svm", {}, "X='part.svm' is no list; accepted are lists of files and functions"),
        (pathlib.Path("part.svm"), {}, "is no list"),
        (lambda: 0, {}, "is no list"),
        (iter(["part.svm"]), {}, "is no list"),
        (["part.svm", np.zeros((3, 2))], {}, r"X\[1\]=array.* is neither a file nor a function, as others in the list are"),
        *(
            ([shard(), shard(), wrong], KNOWN, f"shard 2: {message}")
            for wrong, message in [
                (fails, "no connection"),
                (lambda: X, r"it returns array.*; accepted are \(X, y\) and \(X, y, dictionary"),
                (shard(X[:, :3]), "X has 3 features"),
                (shard(X, Y + 7), ".*7"),
                (shard(GAP), "Input X contains NaN"),
                (shard(LONG), r"X\[5\] has the length"),
                (shard(X, Y[:5]), "X has 90 rows and y has 5"),
            ]
        ),
    ],
)
def test_shards_that_cannot_be_learned(X, given, message):
    for n_jobs in (1, 2):
        for mixed in (mixture(n_jobs=n_jobs), mixture(n_jobs=n_jobs).fit([shard(), shard()], **KNOWN)):
            refused(mixed, message, "fit", X, **given)
            refused(mixed, message, "partial_fit", X, **given)


@pytest.mark.always
@pytest.mark.parametrize(
    ("wrong", "given", "message"),
    [
        (shard(), {"n_features": 9}, "shard 0: X has 6 features, and n_features=9"),
        (shard(), {"n_features": "six"}, "n_features='six' must be an integer of at least 1"),
        (shard(), {"zero_based": "no"}, "zero_based='no' is not known; accepted are True, False and 'auto'"),
        (shard(X, Y, {"qid": Y}), {}, r"shard 0: its dictionary has 'qid'; accepted are \['sample_weight', 'costs'\]"),
        (shard(X, Y, {"fresh": True}), {}, "shard 0: its dictionary has 'fresh'"),
        (shard(X, Y, {"sample_weight": 0 * Y}), {}, "sample_weight is zero for every row of the shards"),
        (fails, {}, "shard 0: no connection"),
        (shard(), {"classes": None}, "classes=None is for files, in which labels are looked for; with functions pass"),
    ],
)
def test_what_is_said_of_shards(wrong, given, message):
    refused(mixture(), message, "fit", [wrong], **{**KNOWN, **given})


@pytest.mark.always
@pytest.mark.parametrize(
    ("learn", "given", "more", "message"),
    [
        *((learn, (LONG, Y), {}, r"X\[5\] has the length") for learn in ("fit", "partial_fit")),
        *((learn, (GAP, Y), {}, "NaN") for learn in ("fit", "partial_fit")),
        ("partial_fit", (X, Y + 5), {}, "y"),
        ("partial_fit", (X[:, :3], Y), {}, "features"),
        ("partial_fit", (X, Y), {"classes": range(4)}, "classes"),
        ("partial_fit", ([shard()],), {"classes": range(4)}, "classes=.* is not the same as on the first call"),
        ("partial_fit", ([shard()],), {"n_features": 7}, "n_features=7 is not the same as on the first call: 6"),
        ("partial_fit", ([shard()], Y), {}, "y and its like are not accepted beside a list of shards"),
        ("partial_fit", (X, Y), {"n_features": 6}, "n_features=6 is for a list of shards"),
        ("fit", (X, Y), KNOWN, "classes=range.* is for a list of shards"),
    ],
)
def test_what_a_fitted_mixture_refuses(learn, given, more, message):
    refused(mixture().fit(X, Y), message, learn, *given, **more)


@pytest.mark.always
@pytest.mark.parametrize(
    ("mixed", "message"),
    [
        *((mixture(**{name: 0}), f"{name}=0 must be an integer of at least 1") for name in ("rounds", "shards", "passes")),
        *(
            (mixture(PredtronClassifier(average=average)), f"average={average!r} cannot be mixed, for shards have no order; acc")
            for average in (20.0, "auto", True)
        ),
        *((mixture(PredtronClassifier(norm=norm)), "norm='rkhs' cannot be mixed: its") for norm in ("rkhs", RKHS(budget=5))),
        (mixture(Perceptron()), r"estimator=Perceptron\(\) is not an estimator of this package"),
    ],
)
def test_what_cannot_be_mixed(mixed, message):
    refused(mixed, message, "fit", X, Y)
    refused(mixed, message, "partial_fit", X, Y, **KNOWN)
