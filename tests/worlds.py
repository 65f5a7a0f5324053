"""Worlds: families with data, losses, updates and norms, and the plain-Python learner of each, for properties that all have.

A new loss, update, representation or norm is one line in a table here, or none where it is found by discovery.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import reference.ranking as plain_rankings
from cases import (
    AVERAGES,
    assert_close,
    cost_table,
    intercept_settings,
    layouts,
    losses,
    name,
    pairwise,
    random_costs,
    representations,
    row_weights,
    updates_of_the_reference,
)
from joint_cases import Tables, tables
from reference import norms as plain_norms
from reference.bipartite import BatchLearner
from reference.joint import JointReference
from reference.kernels import features
from reference.learner import Reference
from reference.preferences import PreferencesReference
from reference.ranking import RankingReference
from reference.scaled import ScaledLearner, ScaledRankingReference, ScaledReference
from reference.sequences import ChainReference
from reference.sets import FORMULAS, SetReference
from scipy import sparse

import sklearn_predtron as predtron
from sklearn_predtron.losses import (
    NDCG,
    AtK,
    AveragePrecision,
    CountLoss,
    FBeta,
    KendallTau,
    RankingZeroOne,
    SequenceHamming,
    SwappedPairs,
)
from sklearn_predtron.norms import RKHS, Group, PNorm, Trace
from sklearn_predtron.norms._kernel_functions import Kernel
from sklearn_predtron.representations import Code, PowerRank, SharedThermometer, SignVector
from sklearn_predtron.updates import MMP, Adaptive, ListNet, LossAugmented, MaxPair, Slam

FORMS = [*layouts(np.eye(1)), "csr in halves", "in turns", "in turns from csr"]
OFFSETS = [("auto", False), ("auto", True), (0.7, True), (None, False)]  # the intercept's feature; whether rounds have weights
WARM = 12  # rounds by another update, after which no two competitors tie

# ------------------------------------------------------------------------------------------------------------------ norms


@dataclass(frozen=True)
class OneNorm:
    """What an estimator is given, and the norm of the reference for d scores of p features."""

    given: Any
    plain: Any = lambda d, p: None
    scaled: bool = False

    @property
    def kernel(self):
        """The kernel, but for that of the features themselves, by which models have coefficients of features."""
        return self.given if isinstance(self.given, RKHS) and self.given.kernel != "linear" else None


def p_norm(kind, plain, q):
    def of(d, p):
        if q is not None:
            return plain(max(2.0, 2.0 * np.floor(np.log(p))) if q == "theory" else q)
        default = min(max(2.0, 2.0 * np.floor(np.log(p))), 8.0)
        return plain(default, (default - 1) / 2 ** (default - 2))

    return OneNorm(kind(q=q), of)


def trace(q):
    def of(d, p):
        exponent = max(2, 2 * np.log(min(d, p))) if q is None else q
        return None if exponent == 2 or min(d, p) == 1 else plain_norms.Trace(exponent)

    return OneNorm(Trace(q=q), of)


NORMS = {
    "l2": OneNorm("l2"),
    **{f"l1 q={q}": p_norm(PNorm, plain_norms.PNorm, q) for q in (2, 2.7, None, 13, "theory")},
    **{f"group q={q}": p_norm(Group, plain_norms.Group, q) for q in (2, 2.7, None, 13, "theory")},
    **{f"trace q={q}": trace(q) for q in (2.1, 3, None, 5.0, 30)},
    "scaled": OneNorm("scaled", scaled=True),
    "linear kernel": OneNorm(RKHS(kernel="linear")),
    "rbf": OneNorm(RKHS(gamma=0.05)),
    "poly": OneNorm(RKHS(kernel="poly", gamma=0.05, degree=2, coef0=0.5)),
}
KINDS = list(dict.fromkeys(given.split()[0] for given in NORMS))

# ------------------------------------------------------------------------------------------------------------------- data


@dataclass(frozen=True)
class Lesson:
    """Rounds of rows: labelled rows, the rows of each round (None: one), the name of the ids, what the first call needs."""

    X: Any
    y: Any
    size: Any = None
    ids: str | None = None
    first: dict = field(default_factory=dict)

    def __len__(self):
        return len(self.y if self.size is None else self.size)

    @cached_property
    def _ends(self):
        return np.concatenate([[0], np.cumsum(self.size)])

    def rows(self, start, stop):
        return slice(start, stop) if self.size is None else slice(self._ends[start], self._ends[stop])

    def repeated(self, times):
        """The same rounds several times."""
        X, y = (part * times if isinstance(part, list) else np.concatenate([part] * times) for part in (self.X, self.y))
        return replace(self, X=X, y=y, size=None if self.size is None else np.tile(self.size, times))

    def only(self, there):
        """Some of the rounds, of each of which it is given whether it is there."""
        rows = there if self.size is None else np.repeat(there, self.size)
        X, y = (
            [one for one, kept in zip(part, rows, strict=True) if kept] if isinstance(part, list) else part[rows]
            for part in (self.X, self.y)
        )
        return replace(self, X=X, y=y, size=None if self.size is None else self.size[there])

    def rounds(self, X=None):
        """X and y of each round, with rows of other features if X is given."""
        X = self.X if X is None else X
        if self.size is None:
            return X, self.y
        parts = [self.rows(i, i + 1) for i in range(len(self))]
        return [X[part] for part in parts], [self.y[part] for part in parts]

    def call(self, method, start=0, stop=None, form="dense float64", weight=None, **given):
        """Call a method with some rounds; a weight is that of a round."""
        stop = len(self) if stop is None else stop
        rows = self.rows(start, stop)
        if self.size is not None:
            given[self.ids] = np.repeat(np.arange(start, stop), self.size[start:stop])
        if weight is not None:
            given["sample_weight"] = weight[rows] if self.size is None else np.repeat(weight[start:stop], self.size[start:stop])
        return method(in_form(self.X, form)[rows], self.y[rows], **given)

    def teach(self, model, start=0, stop=None, form="dense float64", weight=None):
        """Let a model learn some rounds in one call; in turns, in a call for each three with another form."""
        for one in calls(start, len(self) if stop is None else stop, form):
            self.call(model.partial_fit, *one, weight, **({} if hasattr(model, "n_features_in_") else self.first))
        return model


def calls(start, stop, form):
    """The first and last round of each call, and the form of its rows; in turns, three rounds each with another form."""
    if not form.startswith("in turns"):
        return [(start, stop, form)] * (stop > start)
    forms = FORMS[:-2] if form == "in turns" else [*FORMS[1:-2], FORMS[0]]
    return [(i, min(i + 3, stop), forms[i // 3 % len(forms)]) for i in range(start, stop, 3)]


def in_form(X, form):
    """The rows in a form; in halves, rows are backwards, and in every other one each feature stands twice."""
    if isinstance(X, list):
        return X
    return in_halves(X) if form == "csr in halves" else layouts(X)[form]


def in_halves(X):
    rows, times = sparse.csr_matrix(X), 1 + np.arange(len(X)) % 2
    parts = [(np.repeat(row.data / t, t)[::-1], np.repeat(row.indices, t)[::-1]) for row, t in zip(rows, times, strict=True)]
    values, indices = map(np.concatenate, zip(*parts, strict=True))
    start = np.concatenate([[0], np.cumsum(np.diff(rows.indptr) * times)])
    return sparse.csr_matrix((values, indices, start), shape=X.shape)


def random_rows(n, p, seed=0, share=0.5):
    """Sparse rows of different lengths that float32 holds exactly."""
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, p)) * (random.random((n, p)) < (share if p > 1 else 1)) * random.lognormal(0, 0.8, (n, 1))
    return X.astype(np.float32).astype(np.float64)


def noisy_scores(X, d, seed=0, noise=0.7):
    random = np.random.default_rng(seed + 1)
    return X @ random.standard_normal((X.shape[1], d)) + noise * random.standard_normal((len(X), d))


def in_raw_units(X):
    """The same features in other units, the first half with offsets; one of them constant, one late, one with an outlier."""
    n, p = X.shape
    units, offset = 10 ** np.linspace(-2, 2, p), np.resize([0.0, 5, -30], p)
    there = (X != 0) | (np.arange(p) < p // 2)
    X = (X + offset * there) * units
    if p > 5:
        X[:, 3], X[: n // 2, 4] = 2.5, 0
        X[n - 5, 5] += 1e3 * np.abs(X[:, 5]).max()
    return X.astype(np.float32).astype(np.float64)


# ----------------------------------------------------------------------------------------------------------------- worlds


class World:
    """A family: its estimator, losses and representations by name, the updates and norms it takes, its data and reference."""

    warm = 0
    averages = AVERAGES
    offsets = OFFSETS
    representations = {"sign_vector": "sign_vector"}
    norms = list(NORMS)

    def __init__(self):
        self.updates = updates_of_the_reference()

    def __repr__(self):
        return type(self).__name__

    def goes_with(self, update, loss, representation):
        return True

    def offset_of(self, intercept, representation):
        """The intercept's feature, where the representation needs another."""
        return intercept

    def estimator(self, loss, representation, intercept, **settings):
        parts = {"loss": self.losses[loss], "representation": self.representations[representation]}
        return self.kind(**parts, **intercept_settings(intercept), **settings)

    def first_of(self, update, loss):
        """The update and the loss of the first rounds, where the family has some that are warm."""
        return update, loss

    def decided(self, t):
        """The labels that scores decide, and how far each is from another."""
        return (t > 0).astype(int), np.abs(t).min(axis=1)

    def separable(self, loss, seed=0):
        """Rounds that weights of two features decide without loss."""
        random = np.random.default_rng(seed)
        X = random.standard_normal((200, 9))
        y, lead = self.decided(X[:, :2] @ random.standard_normal((2, self.m)))
        kept = np.argsort(-lead)[:40]
        return Lesson(X[kept], y[kept], first=self.lesson(loss).first)

    def change(self, reference, setting):
        """Let a reference go on with the update and the loss of a setting."""
        reference.change(setting.update.alias, setting.update.get_params())

    def teach(self, reference, X, y, weight):
        reference.learn(X, y, weight)


class Classes(World):
    """Labels 0 to k - 1."""

    kind = partial(predtron.PredtronClassifier, decision="learned")
    shared = False

    def __init__(self, k=4, n=40, p=37, share=0.4):
        super().__init__()
        self.k, self.n, self.p, self.share = k, n, p, share
        self.losses = {name(loss): loss for loss in losses(k)}
        self.representations = {name(code): code for code in representations(k, shared=self.shared)}

    def lesson(self, loss):
        X = random_rows(self.n, self.p, share=self.share)
        X[self.n // 2] = 0
        y = noisy_scores(X, self.k).argmax(axis=1)
        y[: self.k] = np.arange(self.k)[::-1][: self.n]
        return Lesson(X, y, first={"classes": np.arange(self.k)})

    @property
    def m(self):
        return self.k

    def decided(self, t):
        t_sorted = np.sort(t, axis=1)
        return t.argmax(axis=1), t_sorted[:, -1] - t_sorted[:, -2]

    def offset_of(self, intercept, representation):
        """Thresholds are offsets: there is no learner without."""
        return 1.3 if intercept is None and representation.startswith("Shared") else intercept

    def reference(self, update, loss, representation, norm, intercept, p, dense):
        part = self.representations[representation]
        code, shared = part.code(self.k), isinstance(part, SharedThermometer)
        how = {"intercept": intercept, "shared": shared}
        given = code, cost_table(self.losses[loss], self.k), p, update.alias, update.get_params()
        if norm.scaled:
            return ScaledReference(*given, dense=dense, **how)
        return Reference(*given, norm=norm.plain(1 if shared else code.shape[1], p), **how)


class TwoClasses(Classes):
    """Of one score, or of two."""

    kind = partial(predtron.PredtronBinaryClassifier, decision="learned")

    def __init__(self):
        super().__init__(k=2)


class Ranks(Classes):
    """Ordered labels, also with one direction and thresholds."""

    kind = partial(predtron.PredtronOrdinalClassifier, decision="learned")
    shared = True

    def decided(self, t):
        cuts = np.linspace(-0.8, 0.8, self.k - 1)
        return np.digitize(t[:, 0], cuts), np.abs(np.subtract.outer(t[:, 0], cuts)).min(axis=1)


class Irregular(predtron.Problem):
    """Costs and a code without any symmetry, so that no two predictions tie but at the start, where the first costs most."""

    n_scores = 4
    costs = np.random.default_rng(0).uniform(0.5, 2, (5, 5)) * (1 - np.eye(5))
    costs[:, 0] *= 4
    code = Code(np.random.default_rng(1).standard_normal((5, 4)) / 3)
    rows = np.asarray(code.rows) / np.linalg.norm(code.rows, axis=1)[:, None]
    c_L, C_L = costs[costs > 0].min(), costs.max()
    D2 = ((rows[:, None] - rows[None]) ** 2).sum(axis=2).max()

    def decode(self, t):
        return int((self.rows @ t).argmax())

    def loss(self, prediction, y):
        return self.costs[y, prediction]

    def representation(self, prediction):
        return self.rows[prediction]

    def augmented_decode(self, t, y):
        return int((self.rows @ t + self.costs[y]).argmax())


class Problems(Classes):
    """A problem written in Python."""

    def __init__(self):
        super().__init__(k=5)
        self.losses, self.representations = {"own": None}, {"own": None}

    def estimator(self, loss, representation, intercept, **settings):
        return predtron.Predtron(Irregular(), **intercept_settings(intercept), **settings)

    def lesson(self, loss):
        """At a row of zeros Python's decode cannot report the tie: its label is not the first."""
        lesson = super().lesson(loss)
        lesson.y[self.n // 2] = 1
        return Lesson(lesson.X, lesson.y.tolist())

    def reference(self, update, loss, representation, norm, intercept, p, dense):
        given = Irregular.rows, Irregular.costs, p, update.alias, update.get_params()
        if norm.scaled:
            return ScaledReference(*given, dense=dense, intercept=intercept)
        return Reference(*given, norm=norm.plain(4, p), intercept=intercept)


class JointFeatures(World):
    """Features of an input and a prediction, written in Python."""

    offsets = [("auto", False), ("auto", True)]  # there is no intercept
    norms = ["l2"]
    losses = {"own": random_costs(4)}
    representations = {"dense": "dense", "csr": "csr"}

    def estimator(self, loss, representation, intercept, **settings):
        return predtron.Predtron(Tables(4, self.losses[loss], representation), **settings)

    def lesson(self, loss):
        """The prediction at w = 0, whose tie Python's decode cannot report, loses most of the first label's."""
        X, y = tables()
        y[0] = np.flatnonzero(self.losses[loss].argmax(axis=1) == 0)[0]
        return Lesson(X, y)

    def reference(self, update, loss, representation, norm, intercept, p, dense):
        return JointReference(self.losses[loss], p, update.alias, update.get_params())


class ScaledSetReference(ScaledLearner, SetReference):
    def __init__(self, *given, dense, **how):
        super().__init__(*given, **how)
        self.start(given[1], dense)

    def averages(self, average):
        return self.primal(*self.mean(average)), self.primal(self.W, self.b)


class Sets(World):
    """Sets of labels; a loss but the Hamming loss after some rounds with that, for at zero weights all sets tie."""

    norms = [given for given in NORMS if not given.endswith(("q=13", "q=30"))]  # whose scores tie but for rounding

    kind = partial(predtron.PredtronMultilabelClassifier, decision="learned")
    warm = WARM
    m, p = 5, 9

    def __init__(self):
        super().__init__()
        stated = [CountLoss(one.function, c_L=1 / 8, C_L=2.5) if isinstance(one, CountLoss) else one for one, _ in FORMULAS]
        self.losses = {name(one).replace("function=", "")[:60]: one for one in stated}
        self.formulas = dict(zip(self.losses, (formula for _, formula in FORMULAS), strict=True))

    def goes_with(self, update, loss, representation):
        return not (isinstance(self.losses[loss], AtK) and update.get_params().get("eta") == "theory")  # there is no theorem

    def lesson(self, loss):
        X = random_rows(40, self.p, share=0.6)
        X[20] = 0
        y = (noisy_scores(X, self.m, noise=1.0) > 0.2).astype(int)
        y[1], y[2] = 0, 1
        return Lesson(X, y)

    def first_of(self, update, loss):
        return (update, loss) if loss == "Hamming()" else (LossAugmented(eta="theory"), "Hamming()")

    def reference(self, update, loss, representation, norm, intercept, p, dense):
        given = self.m, p, update.alias, update.get_params()
        how = {"loss": self.losses[loss], "formula": self.formulas[loss], "intercept": intercept}
        if norm.scaled:
            return ScaledSetReference(*given, dense=dense, **how)
        return SetReference(*given, norm=norm.plain(self.m, p), **how)

    def change(self, reference, setting):
        loss = self.losses[setting.loss]
        built = loss.build(SignVector(), self.m) if isinstance(loss, (AtK, CountLoss)) else None
        bounds = (built.c_L, built.C_L) if built else None  # bounds on them, stated
        reference.set_loss(loss, self.formulas[setting.loss], bounds)
        super().change(reference, setting)


def own_gain(y):
    return y**2 + y / 2


def own_discount(j):
    return np.maximum(0, 4.5 - j)


def own_rank(j):
    return 5 - np.sqrt(j + 2)


GRADES, TWO, BINARY = (0, 1, 2, 3.5), (0.5, 3), (0, 1)
RANKING_LOSSES = {  # the loss, the plain one, and relevances
    "ndcg": (NDCG(), plain_rankings.NDCG(), GRADES),
    "ndcg@2": (NDCG(k=2), plain_rankings.NDCG(2), GRADES),
    "ndcg-linear@3": (NDCG(k=3, gain="linear"), plain_rankings.NDCG(3, lambda y: y), GRADES),
    "ndcg-own": (NDCG(gain=own_gain, discount=own_discount), plain_rankings.NDCG(None, own_gain, own_discount), GRADES),
    "ap": (AveragePrecision(), plain_rankings.AveragePrecision(), BINARY),
    "swapped": (SwappedPairs(), plain_rankings.SwappedPairs(), TWO),
    "zero_one": (RankingZeroOne(), plain_rankings.ZeroOne(), GRADES),
    "kendall": (KendallTau(), plain_rankings.KendallTau(), GRADES),
}
POSITIONS = {  # the representation, and the plain one
    "log": ("log", plain_rankings.logarithmic),
    "linear": ("linear", lambda j: -j),
    "power": (PowerRank(1.7), lambda j: -(j**1.7)),
    "reciprocal": ("reciprocal", lambda j: 1 / j),
    "own": (own_rank, own_rank),
}
PAIRWISE = [Slam(), Slam(eta=0.2), Slam(eta="invsqrt"), MaxPair(), MaxPair(eta=0.3, weighted=False), ListNet(), ListNet(eta=0.2)]
FOR_LABELS = [MMP(cost, weights) for cost in ("is_error", "error_set", "normalised") for weights in ("uniform", "max")]
BY_COMPETITOR = [  # of rankings
    update
    for update in updates_of_the_reference()
    if update.alias not in {"slam", "max_pair", "listnet", "mmp"}
    and not (isinstance(update, LossAugmented) and update.eta == "theory")
]


def graded(t, grades):
    return np.array(grades, dtype=float)[np.digitize(t, [0.0] if len(grades) == 2 else [-0.7, 0.3, 1.2])]


class LabelLists(World):
    """Rankings of labels."""

    kind = predtron.PredtronLabelRanker
    warm = WARM
    m, p = 4, 5
    of_labels, kappa = True, 1.0

    def __init__(self):
        self.updates = BY_COMPETITOR + PAIRWISE + FOR_LABELS
        self.losses = {alias: loss for alias, (loss, _, _) in RANKING_LOSSES.items()}
        self.representations = {alias: part for alias, (part, _) in POSITIONS.items()}

    def goes_with(self, update, loss, representation):
        if representation != "log" and (loss == "kendall" or update.alias in {"slam", "max_pair", "listnet", "mmp"}):
            return False  # it is not used
        if isinstance(update, Slam):
            return loss.startswith("ndcg") or (loss == "ap" and update.eta != "theory")
        return not (loss == "kendall" and update.get_params().get("eta") == "theory")

    def lesson(self, loss):
        X = random_rows(34, self.p, share=0.7)
        X[17] = 0
        y = graded(noisy_scores(X, self.m, noise=1.0), RANKING_LOSSES[loss][2])
        y[4::9] = RANKING_LOSSES[loss][2][-1]
        y[:WARM] = np.random.default_rng(9).permuted(np.tile(GRADES, (WARM, 1)), axis=1)  # after them no two labels are alike
        return Lesson(X, y)

    def first_of(self, update, loss):
        """A theory's step needs the lengths of all rows."""
        return update if update.get_params().get("eta") == "theory" else ListNet(eta=0.1), "ndcg"

    def change(self, reference, setting):
        reference.loss = RANKING_LOSSES[setting.loss][1]
        super().change(reference, setting)

    def reference(self, update, loss, representation, norm, intercept, p, dense):
        how = {"n_labels": self.m if self.of_labels else None, "kappa": self.kappa}
        if self.of_labels:
            how["intercept"] = intercept
        given = RANKING_LOSSES[loss][1], POSITIONS[representation][1], p, update.alias, update.get_params()
        if norm.scaled:
            return ScaledRankingReference(*given, dense=dense, **how)
        return RankingReference(*given, norm=norm.plain(self.m if self.of_labels else 1, p), **how)


class Queries(LabelLists):
    """Rankings of documents; some queries of one document, some of one grade, one with a row of zeros."""

    offsets = [(None, False), (None, True)]
    of_labels, kappa = False, 0.3

    def __init__(self, p=6, lengths=(2, 3, 4, 5, 5)):
        super().__init__()
        self.updates, self.p, self.lengths = BY_COMPETITOR + PAIRWISE, p, lengths

    def estimator(self, loss, representation, intercept, **settings):
        parts = {"loss": self.losses[loss], "representation": self.representations[representation]}
        return predtron.PredtronRanker(**parts, **settings)

    def first_of(self, update, loss):
        return super().first_of(update, loss)[0], loss

    def lesson(self, loss):
        grades = RANKING_LOSSES[loss][2]
        size = np.random.default_rng(0).choice(self.lengths, 30)
        size[4::9] = 1
        X = random_rows(size.sum(), self.p, share=0.7)
        X[size[:15].sum()] = 0
        y = graded(noisy_scores(X, 1, noise=0.8)[:, 0], grades)
        for i in range(5, 30, 10):
            y[size[:i].sum() : size[: i + 1].sum()] = grades[-1 if i % 2 else 0]
        return Lesson(X, y, size, "qid")

    def separable(self, loss, seed=0):
        X = np.random.default_rng(seed).standard_normal((200, self.p))
        y = (X[:, 3] > 0).astype(int)
        X[:, 3] += np.where(y > 0, 1, -1)
        return Lesson(X, y, np.full(40, 5), "qid")


class Votes(World):
    """Rankings of labels by votes of pairs; relevances of which many tie, some lists of one grade."""

    m = 4

    kind = predtron.PredtronLabelRanker
    losses, representations = {"kendall_tau": "kendall_tau"}, {"pairwise": "pairwise"}
    norms = [given for given in NORMS if given != "scaled"]

    def lesson(self, loss):
        X = random_rows(40, 4, share=0.8)
        X[7] = 0
        y = graded(noisy_scores(X, 4, seed=3), GRADES)
        y[3::11] = 2
        return Lesson(X, y)

    def reference(self, update, loss, representation, norm, intercept, p, dense):
        given = 4, p, update.alias, update.get_params()
        return PreferencesReference(*given, intercept=intercept, norm=norm.plain(6, p))


TOKEN_COSTS = np.array([[0, 1, 0.5], [2, 0, 1], [1, 1, 0]])


class Sequences(World):
    """Labels of tokens, of which some have the same row; against the list of all sequences."""

    n, p, repeated = 25, 4, True

    offsets = [("auto", False), ("auto", True), (0.7, True), (1.5, False)]
    norms = ["l2"]
    losses = {"hamming": "hamming", "costs": SequenceHamming(TOKEN_COSTS), "zero_one": "zero_one"}
    representations = {"transitions 0.1": 0.1, "transitions 0.5": 0.5, "of ones": 1.0}  # the length of the transitions' feature

    def estimator(self, loss, representation, intercept, **settings):
        scaling = {"transition_scaling": self.representations[representation]}
        scaling["intercept_scaling"] = "length" if intercept == "auto" and settings["norm"] == "l2" else intercept
        scaling = {} if representation == "of ones" and intercept == 1.0 else scaling
        return predtron.PredtronSequenceTagger(loss=self.losses[loss], **scaling, **settings)

    def lesson(self, loss):
        random = np.random.default_rng(0)
        size = random.integers(1, 6, self.n)
        X = random.standard_normal((size.sum(), self.p)).astype(np.float32).astype(np.float64)
        X = X[random.integers(0, 8, len(X))] if self.repeated else X
        y = (X @ random.standard_normal((self.p, 3)) + 0.5 * random.standard_normal((len(X), 3))).argmax(axis=1)
        y[:3] = np.arange(3)
        return Lesson(X, y, size, "sid", {"classes": np.arange(3)})

    def offset_of(self, intercept, representation):
        return 1.0 if representation == "of ones" else intercept

    def reference(self, update, loss, representation, norm, intercept, p, dense):
        cost = {"hamming": 1 - np.eye(3), "costs": TOKEN_COSTS, "zero_one": None}[loss]
        how = {"cost": cost, "scaling": self.representations[representation], "intercept": intercept}
        return ChainReference(3, p, update.alias, {"kappa": None, **update.get_params()}, **how)

    def teach(self, reference, X, y, weight):
        for i in range(len(X)):
            if weight is None or weight[i] > 0:
                reference.learn_one(X[i], y[i], *([] if weight is None else [weight[i]]))


class KernelSequences(Sequences):
    """Under a kernel, of tokens that differ: what ties without one ties but for rounding."""

    n, p, repeated = 20, 3, False
    offsets = [(0.7, True), (1.5, False)]
    norms = [given for given in NORMS if isinstance(NORMS[given].given, RKHS)]
    representations = {"transitions 0.1": 0.1, "transitions 0.5": 0.5}


def batch_costs(a, b, c, d):
    return (b + 3.0 * c) / (a + b + c + d)


class Batches(World):
    """Measures of batches of two classes, by the default update."""

    averages = ["linear"]
    offsets = [("auto", False)]
    norms = ["l2", "linear kernel"]
    plain = {  # the loss, the plain one's name, and how it measures
        "f1": ("f1", "f", {"balance": 0.5}),
        "f2": (FBeta(beta=2.0), "f", {"beta2": 4.0, "balance": 0.5}),
        "jaccard": ("jaccard", "jaccard", {"balance": 0.5}),
        "balanced": ("balanced", "balanced", {"balance": 1.0}),
        "hamming": ("hamming", "hamming", {"balance": 0.0}),
        "costs": (batch_costs, "costs", {"balance": 0.0}),
    }
    losses = {alias: loss for alias, (loss, _, _) in plain.items()}

    def __init__(self):
        self.updates = [Adaptive()]

    def estimator(self, loss, representation, intercept, **settings):
        return predtron.PredtronBipartiteClassifier(loss=self.losses[loss], decision=0.0, **settings)

    def lesson(self, loss):
        X = (random_rows(800, 6, share=1) + 0.4).astype(np.float32).astype(np.float64)
        t = noisy_scores(X, 1, noise=1.5)[:, 0]
        return Lesson(X, (t > np.quantile(t, 0.8)).astype(int), np.full(16, 50), "groups", {"classes": [0, 1]})

    def reference(self, update, loss, representation, norm, intercept, p, dense):
        _, alias, how = self.plain[loss]
        return BatchLearner(p, alias, **how)

    def teach(self, reference, X, y, weight):
        for rows, labels in zip(X, y, strict=True):
            reference.learn(rows, labels)


WORLDS = [
    *(Classes(), TwoClasses(), Ranks(), Problems(), JointFeatures()),
    *(Sets(), LabelLists(), Queries(), Votes(), Sequences(), KernelSequences(), Batches()),
]

# --------------------------------------------------------------------------------------------------------------- settings


@dataclass(frozen=True, eq=False)
class Setting:
    """One learner of a world."""

    world: World
    update: Any
    loss: str
    representation: str
    norm: str = "l2"
    offset: tuple = ("auto", False)
    _references: dict = field(default_factory=dict)

    @property
    def intercept(self):
        return self.world.offset_of(self.offset[0], self.representation)

    @cached_property
    def lesson(self):
        lesson = self.world.lesson(self.loss)
        if NORMS[self.norm].kernel:  # under which scores of a row of zeros would tie but for rounding
            X = np.where(lesson.X.any(axis=1)[:, None], lesson.X, lesson.X[0] + lesson.X[1])
            return replace(lesson, X=X.astype(np.float32).astype(np.float64))
        return replace(lesson, X=in_raw_units(lesson.X)) if NORMS[self.norm].scaled else lesson

    @cached_property
    def weight(self):
        """Weights of the rounds, some of them 0; None if they have none."""
        return np.roll(row_weights(len(self.lesson)), 1) if self.offset[1] else None

    @property
    def later(self):
        """The rounds after those that are warm, whose labels any loss of the family takes, and their weights."""
        there = np.arange(len(self.lesson)) >= self.world.warm
        return self.lesson.only(there), None if self.weight is None else self.weight[there]

    @cached_property
    def plain_rows(self):
        """The rows of the reference: features whose products are those of a kernel."""
        kernel = NORMS[self.norm].kernel
        return features(kernel_of(kernel, self.lesson.X, self.lesson.X)) if kernel else self.lesson.X

    def estimator(self, average="linear", **settings):
        """The estimator, before it has learned."""
        how = {"norm": NORMS[self.norm].given, "update": self.update, "average": average, **settings}
        return self.world.estimator(self.loss, self.representation, self.intercept, **how)

    def learned(self, average="linear", form="dense float64", **settings):
        """The estimator after all rounds; where the family has warm ones, the first of them by another update and loss."""
        model, warm = self.estimator(average, **settings), self.world.warm
        update, loss = self.world.first_of(self.update, self.loss)
        if warm:
            rest = {"update": self.update, "loss": self.world.losses[self.loss]}
            self.lesson.teach(model.set_params(update=update, loss=self.world.losses[loss]), 0, warm, form, self.weight)
            model.set_params(**rest)
        return self.lesson.teach(model, warm, None, form, self.weight)

    def reference(self, form="dense float64"):
        """The plain learner after all rounds; the form of the rows matters to running statistics alone."""
        form = ("dense" if form.startswith("dense") else form) if NORMS[self.norm].scaled else "dense"
        if form not in self._references:
            self._references[form] = self._taught(form)
        return self._references[form]

    def plain(self, dense=True):
        """The plain learner, before it has learned."""
        update, loss = self.world.first_of(self.update, self.loss)
        parts = update, loss, self.representation, NORMS[self.norm], self.intercept
        return self.world.reference(*parts, np.shape(self.plain_rows)[-1], dense)

    def _taught(self, form):
        warm, reference = self.world.warm, self.plain(form == "dense")
        for start, stop, this in [*calls(0, warm, form), *calls(warm, len(self.lesson), form)]:
            if start == warm > 0 and self.world.first_of(self.update, self.loss) != (self.update, self.loss):
                self.world.change(reference, self)
            self.teach(reference, start, stop, this)
        return reference

    def teach(self, reference, start, stop, form="dense float64"):
        """Let the plain learner learn some rounds."""
        if NORMS[self.norm].scaled:
            reference.features.dense = form.startswith("dense")
        X, y = self.lesson.rounds(self.plain_rows)
        self.world.teach(reference, X[start:stop], y[start:stop], None if self.weight is None else self.weight[start:stop])


def settings(*worlds, extra=(), every=1):
    """Settings in which every two values of an update, loss, representation, kind of norm, exponent and offset occur together,
    or every so many of them."""
    found = []
    for world in worlds:
        kinds = [[alias for alias in world.norms if alias.split()[0] == kind] for kind in KINDS]
        factors = world.updates, world.losses, world.representations, filter(None, kinds), range(5), world.offsets, *extra
        for update, loss, part, norms, number, *rest in pairwise(*factors):
            if world.goes_with(update, loss, part):
                found.append((world, update, loss, part, norms[number % len(norms)], *rest))
    return found[::every]


def kernel_of(norm, A, B):
    return Kernel(norm.kernel, norm.gamma, norm.degree, norm.coef0)(A, B)


# ------------------------------------------------------------------------------------------------------------ comparisons


def assert_agrees(model, reference, average, setting=None):
    """The same iterates, averages and counts."""
    counts = model.t_, model.n_mistakes_, model.n_updates_
    assert counts == (reference.t, reference.n_mistakes, reference.n_updates)
    np.testing.assert_allclose(model.cumulative_loss_, reference.cumulative_loss, rtol=1e-12)
    if isinstance(reference, ChainReference):
        assert_parts_agree(model, reference, average, setting)
        return
    if setting is not None and NORMS[setting.norm].kernel:
        assert_functions_agree(model, reference, average, setting)
        return
    unit = rest = 1.0
    if isinstance(reference, ScaledLearner):
        means = reference.averages(average)
        unit = 1 / np.sqrt(np.where(reference.features.inverse > 0, reference.features.inverse, 1))
    else:
        means = reference.mean(average), (reference.W, reference.b)
    found = [(model.coef_, getattr(model, "intercept_", 0)), (model.last_coef_, getattr(model, "last_intercept_", 0))]
    for (coef, intercept), (W, b) in zip(found, means, strict=True):
        coef = np.atleast_2d(coef)
        W = np.reshape(W, (-1, coef.shape[1]))[: len(coef)]  # one row where all are the same
        np.testing.assert_allclose(coef * unit, W * unit, rtol=0, atol=1e-9 * max(np.abs(W * unit).max(), 1e-300))
        if getattr(reference, "queries", False) or isinstance(reference, JointReference):
            continue
        rest = np.abs(W * reference.features.mean).sum() if isinstance(reference, ScaledLearner) else np.abs(W).max()
        np.testing.assert_allclose(intercept, b, rtol=1e-9, atol=1e-9 * max(rest, np.abs(b).max(), 1e-300))


def assert_functions_agree(model, reference, average, setting):
    """With a kernel, the same values at all rows."""
    K = kernel_of(NORMS[setting.norm].kernel, setting.lesson.X, setting.lesson.X[model.support_])
    found = [(model.dual_coef_, getattr(model, "intercept_", 0)), (model.last_dual_coef_, getattr(model, "last_intercept_", 0))]
    for (coef, intercept), (W, b) in zip(found, [reference.mean(average), (reference.W, reference.b)], strict=True):
        values = setting.plain_rows @ np.atleast_2d(W)[: len(np.atleast_2d(coef))].T
        assert_close(K @ np.atleast_2d(coef).T, values, 1e-8)
        if not getattr(reference, "queries", False):
            np.testing.assert_allclose(intercept, b, rtol=1e-8, atol=1e-8 * max(np.abs(values).max(), np.abs(b).max(), 1e-300))


def assert_parts_agree(model, reference, average, setting):
    """The weights of a chain."""
    W, *others = reference.mean(average)
    kernel = NORMS[setting.norm].kernel
    if kernel:
        values = model.dual_coef_ @ kernel_of(kernel, setting.lesson.X[model.support_], setting.lesson.X)
        np.testing.assert_allclose(values, W @ setting.plain_rows.T, rtol=1e-8, atol=1e-8)
    else:
        np.testing.assert_allclose(model.coef_, W, rtol=1e-8, atol=1e-8)
    for attribute, expected in zip(["intercept_", "transitions_", "start_", "end_"], others, strict=True):
        np.testing.assert_allclose(getattr(model, attribute), expected, rtol=1e-8, atol=1e-8, err_msg=attribute)
