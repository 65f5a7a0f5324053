"""The training plan of ``cv=None``, read without training: for each family and size, and as the guide has it."""

from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from sklearn_predtron import (
    PredtronBinaryClassifier,
    PredtronBipartiteClassifier,
    PredtronClassifier,
    PredtronLabelRanker,
    PredtronMultilabelClassifier,
    PredtronOrdinalClassifier,
    PredtronRanker,
    PredtronSequenceTagger,
)
from sklearn_predtron.families.training.factory import new_model
from sklearn_predtron.families.training.plan import Shape, default_shape, plan_training
from sklearn_predtron.families.training.trainer import read
from sklearn_predtron.losses import Reject
from sklearn_predtron.norms import RKHS

N = 24_000
X = np.random.default_rng(0).standard_normal((N, 3))
Y = X.argmax(axis=1)
GUIDE = Path(__file__).parents[2] / "doc" / "user_guide" / "folds.rst"
NAMES = {
    "rows": "rows as they are",
    "sparse sets": "label sets of sparse rows",
    "rankings": "rankings",
    "tables": "tables with ``features=``",
    "sequences": "sequences",
    "large": "more than two million weights",
    "single": "one model only",
}
SIZES = {"rows": (10**3, 10**4, 10**5, 10**6), "tables": (10**3, 10**4, 10**5), "sequences": (10**3,), "large": (10**4,)}
FINISH = {"average": "mean of the fold models", "refit": "best candidate, trained on all rows", "keep": "trained on all rows"}


def planned(estimator, y, n, rows=X, **ids):
    """The plan of a fit of n rows."""
    given = {name: values[:n] for name, values in ids.items()}
    reader, reading = read(estimator, rows[:n], y[:n], given, None, partial=False)
    model = new_model(estimator, reading, partial=False)
    decision = model.decision_of(estimator._decision)
    return plan_training(estimator, model, reader, reading.batch, decision, 0, fresh=True)


@pytest.mark.parametrize("n", [19, 20, 1000, 12_000, N])
@pytest.mark.parametrize(
    ("estimator", "y", "kind"),
    [
        (PredtronBinaryClassifier(), Y > 0, "rows"),
        (PredtronClassifier(), Y, "rows"),
        (PredtronOrdinalClassifier(), Y, "rows"),
        (PredtronMultilabelClassifier(), np.eye(3, dtype=int)[Y], "rows"),
        (PredtronLabelRanker(), X.argsort(axis=1), "rankings"),
        (PredtronClassifier(features="piecewise"), Y, "tables"),
        (PredtronClassifier(norm=RKHS()), Y, "kernels"),
        (PredtronClassifier(average="auto"), Y, "single"),
        (PredtronClassifier(warm_start=True), Y, "single"),
        (PredtronClassifier(reject=Reject(0.1)), Y, "rows"),
        (PredtronClassifier(decision="learned"), Y, "nothing"),
        (PredtronBipartiteClassifier(), Y > 0, "single"),
        (PredtronClassifier(cv=0), Y, None),
    ],
    ids=lambda value: repr(value) if hasattr(value, "fit") else "",
)
def test_rows(estimator, y, kind, n):
    plan = planned(estimator, y, n)
    expected = Shape(0) if kind is None else default_shape(kind, n)
    assert plan.shape == expected._replace(n_folds=0)
    if plan.validation is not None:
        fold, n_models = plan.validation.fold, plan.validation.n_models
        out = np.bincount(fold, minlength=n_models)[:n_models]
        of_folds = n * n_models // (expected.n_folds or n_models)
        assert out.sum() == (of_folds if n_models > 1 else min(5000, n // 5) if n >= 5 else 1)
        assert np.ptp(out) <= 1


def test_label_sets_of_sparse_rows():
    sets, few = np.eye(3, dtype=int)[Y], np.where(np.arange(X.size).reshape(X.shape) % 20, 0.0, X)
    for rows in (few, sparse.csr_array(few)):
        default = planned(PredtronMultilabelClassifier(), sets, 1000, rows)
        assert default.shape == default_shape("sparse sets", 1000) and default.finish == "refit"
        assert planned(PredtronMultilabelClassifier(cv=3), sets, 1000, rows).shape == Shape(3, default.evaluate_after, "refit")
        assert planned(PredtronClassifier(), Y, 1000, rows).shape == default_shape("rows", 1000)
    assert planned(PredtronMultilabelClassifier(), sets, 1000, sparse.csr_array(X)).shape == default_shape("rows", 1000)


@pytest.mark.parametrize(("estimator", "name"), [(PredtronRanker(), "qid"), (PredtronSequenceTagger(), "sid")])
def test_blocks_count_and_not_their_rows(estimator, name):
    shape = planned(estimator, Y, N, **{name: np.arange(N) // 10}).shape
    assert shape == default_shape("rankings" if name == "qid" else "sequences", N // 10)


def test_epochs_and_folds_that_are_given():
    given = planned(PredtronClassifier(max_iter=7), Y, 1000)
    assert given.evaluate_after == (7,) and given.epochs == 7
    assert planned(PredtronClassifier(cv=3), Y, 1000).shape == Shape(3, (3, 10, 31, 100), "average")
    assert planned(PredtronSequenceTagger(max_iter=4), Y, 1000, sid=np.arange(1000) // 10).shape == Shape(1, (4,), "refit")
    assert planned(PredtronClassifier(cv=0, max_iter=4), Y, 1000).epochs == 4


def test_the_guide_has_the_plans():
    lines = [
        "   * - what is trained",
        *(f"     - {head}" for head in ("number of units", "held out", "evaluated after epochs", "final model")),
    ]
    for kind, name in NAMES.items():
        for i, n in enumerate(SIZES.get(kind, (10**3, 10**5))):
            shape = default_shape(kind, n)
            of = f" of {shape.n_folds}" if shape.n_folds > shape.n_models else ""
            out = "a split" if shape.n_models == 1 else f"{shape.n_models}{of} folds"
            after = ", ".join(map(str, shape.evaluate_after)) or "at the end"
            final = "model of the split" if (shape.n_models, shape.finish) == (1, "average") else FINISH[shape.finish]
            cells = name if i == 0 else "", f"{n:,}", out, after, final
            lines += [f"   * - {cells[0]}".rstrip(), *(f"     - {cell}" for cell in cells[1:])]
    assert "\n".join(lines) in GUIDE.read_text(encoding="utf-8")


# -------------------------------------------------------------------------------------------------- how many epochs a fit takes

CLASSIFIERS = [PredtronBinaryClassifier, PredtronClassifier]


def noise(n):
    """Rows that nothing separates, of which each epoch makes steps."""
    random = np.random.default_rng(0)
    return random.standard_normal((n, 2)), random.integers(0, 2, n)


@pytest.mark.parametrize("kind", CLASSIFIERS)
@pytest.mark.parametrize(
    ("n", "epochs"), [(20, 10), (1000, 10), (1100, 11), (2000, 20), (3162, 31), (5000, 20), (9000, 11), (10_001, 10)]
)
def test_sets_of_some_thousand_rows_take_more(kind, n, epochs):
    X, y = noise(n)
    model = kind(decision="learned", random_state=0).fit(X, y)
    assert model.n_iter_ == len(model.loss_curve_) == epochs and model.t_ == n * epochs


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_rows_of_weight_zero_do_not_count(kind):
    X, y = noise(4000)
    weight = np.repeat([0.0, 1.0], 2000)
    for shuffle in (True, False):
        assert kind(shuffle=shuffle, random_state=0, cv=0).fit(X, y, sample_weight=weight).n_iter_ == 20


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_a_number_is_a_number(kind):
    X, y = noise(3000)
    assert kind(max_iter=2, random_state=0).fit(X, y).n_iter_ == 2


def test_other_families_take_as_many_of_any_size():
    X, y = noise(3000)
    pairs = np.column_stack([y, 1 - y])
    assert PredtronOrdinalClassifier(random_state=0, cv=0).fit(X, y).n_iter_ == 10
    assert PredtronMultilabelClassifier(random_state=0, cv=0).fit(X, pairs).n_iter_ == 10
    assert PredtronLabelRanker(random_state=0, cv=0).fit(X, pairs).n_iter_ == 20
    assert PredtronRanker(random_state=0, cv=0).fit(X, y, qid=np.arange(3000) // 2).n_iter_ == 10


@pytest.mark.parametrize("kind", CLASSIFIERS)
@pytest.mark.parametrize(("norm", "epochs"), [("scaled", 15), ("l1", 15), ("rkhs", 10), (RKHS(budget=20), 10)])
def test_kernels_take_no_more(kind, norm, epochs):
    """They over-fit by more epochs, which cost them the most."""
    assert kind(norm=norm, random_state=0, cv=0).fit(*noise(1500)).n_iter_ == epochs


def test_a_warm_start_takes_as_many_again():
    X, y = noise(2000)
    model = PredtronClassifier(warm_start=True, random_state=0).fit(X, y).fit(*noise(500))
    assert model.n_iter_ == 10
    assert model.fit(X, y).n_iter_ == 20
