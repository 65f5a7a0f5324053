"""Draw estimators: every family with every norm, update, representation and loss, found by discovery."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

import sklearn_predtron
from sklearn_predtron import (
    Predtron,
    PredtronBipartiteClassifier,
    PredtronLabelRanker,
    PredtronMultilabelClassifier,
    PredtronRanker,
    PredtronSequenceTagger,
)
from sklearn_predtron._support.capabilities import RANKED_LABELS, RANKINGS
from sklearn_predtron._support.parts import kinds
from sklearn_predtron.decisions import ExpectedCost
from sklearn_predtron.families._cost_classifier import TableClassifier
from sklearn_predtron.families.estimator.base import BasePredtron
from sklearn_predtron.losses import (
    AtK,
    CostMatrix,
    CostTableLoss,
    CountLoss,
    KendallTau,
    RankingLoss,
    Reject,
    SequenceHamming,
    SequenceLoss,
    SubsetLoss,
    ranking_loss,
)
from sklearn_predtron.norms import RKHS, Group, Norm, PNorm, Trace
from sklearn_predtron.representations import (
    Code,
    CodeRepresentation,
    LinearRank,
    Pairwise,
    RankingRepresentation,
    ReciprocalRank,
    UserRank,
)
from sklearn_predtron.updates import Update

from . import lessons
from .lessons import Lesson
from .problems import Circle, draw_joint

GRADES = ((0, 1, 2, 3), (0, 2), (0, 1))  # of which the first that a loss takes are drawn
# Values of the parts' parameters, beside their defaults.
SETTINGS: dict[str, dict[str, list[Any]]] = {
    "adaptive": {"kappa": [0.2, 3.0]},
    "predtron": {"eta": [0.1, "theory"]},
    "loss_driven": {"eta": [0.3, "theory"]},
    "perceptron": {"eta": [0.7]},
    "passive_aggressive": {
        "C": [0.01, 1.0],
        "variant": ["pa1", "pa2"],
        "competitor": ["augmented", "predicted"],
        "target": ["loss", "constant"],
    },
    "subgradient": {"alpha": [0.1, 0.01], "eta": [0.5, "pegasos"]},
    "slam": {"eta": [0.5, "theory", "invsqrt"]},
    "max_pair": {"weighted": [True, False]},
    "listnet": {"eta": [0.5, "invsqrt"]},
    "mmp": {"cost": ["is_error", "error_set", "normalised"], "weights": ["uniform", "max", "random"]},
    "ndcg": {"k": [None, 1, 3], "gain": ["exponential", "linear"]},
    "f1": {"beta": [0.5, 2.0]},
    "precision_at_k": {"k": [1, 0.3], "rule": ["exactly", "at_least"]},
    "recall_at_k": {"k": [1, 2, 0.5], "rule": ["exactly", "at_most"]},
    "power": {"alpha": [0.5, 2.0]},
}


def root_rank(j: Any) -> Any:
    """Fall like a root."""
    return -np.sqrt(j)


def misses_and_hits(a: int, b: int, c: int, d: int) -> float:
    """Weigh misses twice; a loss of counts that no alias names."""
    return (b + 2.0 * c) / (a + b + 2 * c + 1)


@dataclass(frozen=True)
class Case:
    """Hold an estimator, which is cloned, and what it learns."""

    estimator: Any
    lesson: Lesson

    def new(self) -> Any:
        """Make a fresh estimator with the seed 0."""
        return clone(self.estimator)

    def __repr__(self) -> str:
        lesson = self.lesson
        kind = f"{type(lesson.X).__name__} {getattr(lesson.X, 'dtype', '')}"
        text = " ".join(repr(self.estimator).split())
        weight = ("" if lesson.weight is None else ", weighted") + ("" if lesson.costs is None else ", with costs")
        return f"{text[:400]} with {lesson.X.shape} {kind}, {lesson.values}{weight}"


def families() -> list[type]:
    public = [getattr(sklearn_predtron, name) for name in sklearn_predtron.__all__]
    return [kind for kind in public if isinstance(kind, type) and issubclass(kind, BasePredtron)]


def draw(random: np.random.Generator, values: list[Any]) -> Any:
    """Draw one of the values, as it is."""
    return values[random.integers(len(values))]


def draw_part(random: np.random.Generator, kind: type) -> Any:
    """Draw an instance of a part, or its alias."""
    settings = SETTINGS.get(kind.alias or "", {})
    chosen = {name: draw(random, values) for name, values in settings.items() if random.random() < 0.4}
    return kind(**chosen) if chosen or random.random() < 0.3 else kind.alias


def draw_norm(random: np.random.Generator) -> Any:
    """Draw a norm; kernels less often, for they are slow."""
    kind = draw(random, [norm for norm in kinds(Norm) if norm is not RKHS or random.random() < 0.5])
    if random.random() < 0.5:
        if kind in (PNorm, Group, Trace):
            return kind(q=draw(random, [2, 3, 3, 4, 8, 40]))
        if kind is RKHS:
            kernel = draw(random, ["rbf", "linear", "poly", "cosine", "sigmoid", "laplacian"])
            budget = draw(random, [None, 1, 4])
            return RKHS(kernel, gamma=draw(random, [None, 0.1, 3.0]), degree=draw(random, [2, 3, 4]), budget=budget)
    return kind.alias


def draw_update(random: np.random.Generator, ranker: bool) -> Any:
    """Draw an update, mostly of those made for the family."""
    strict = random.random() < 0.97
    of_rankings = {RANKINGS, RANKED_LABELS}
    known = [kind for kind in kinds(Update) if not strict or ranker or of_rankings.isdisjoint(kind.needs)]
    return draw_part(random, draw(random, known)) if random.random() < 0.7 else "adaptive"


def common_settings(random: np.random.Generator, kind: type, ranker: bool) -> dict[str, Any]:
    """Draw what all families have."""
    norm = draw_norm(random)
    if issubclass(kind, PredtronSequenceTagger):
        norm = draw(random, [norm.alias for norm in kinds(Norm) if norm.of_sequences])
    settings = {
        "norm": norm,
        "update": draw_update(random, ranker),
        "average": draw(random, ["linear", "linear", "uniform", False, 5.0, 0.01]),
        "max_iter": draw(random, [1, 2, 3, 3, 10]),
        "shuffle": random.random() < 0.8,
        "random_state": 0,
        "fit_intercept": random.random() < 0.8,
        "intercept_scaling": draw(random, ["auto", "auto", "auto", 1.0, 0.01]),
        "tol": draw(random, [None, None, 0.0]),
        "warm_start": random.random() < 0.1,
        "cv": draw(random, [0, 0, 0, None]),
    }
    taken = kind._get_param_names()
    return {name: value for name, value in settings.items() if name in taken}


def draw_costs(random: np.random.Generator, k: int) -> CostMatrix:
    costs = random.integers(13, 192, (k, k)) / 64
    np.fill_diagonal(costs, 0)
    return CostMatrix(costs)


def draw_code(random: np.random.Generator, k: int) -> Code:
    code = random.standard_normal((k, draw(random, [2, 3, 5])))
    return Code(code / np.linalg.norm(code, axis=1, keepdims=True))


def plain(random: np.random.Generator, kind: type, settings: dict[str, Any], p: int) -> Any:
    """Make an estimator of a family, with its own loss and representation, for rows of p features."""
    if not issubclass(kind, Predtron):
        return kind(**settings)
    joint = settings["norm"] in ("auto", "l2") and random.random() < 0.5
    return kind(draw_joint(random, 3, p) if joint else Circle(3), **settings)


def table_case(random: np.random.Generator, kind: type) -> Case:
    binary = not kind().__sklearn_tags__().classifier_tags.multi_class
    many = random.random() < 0.005
    k = 2 if binary else 1000 if many else draw(random, [2, 3, 3, 4, 7])
    settings = common_settings(random, kind, False)
    if many and "trace" in str(settings["norm"]).lower():
        settings["norm"] = "l2"  # an eigendecomposition of 1000 x 1000 a step takes a second or, on a busy machine, ten
    lesson = lessons.class_lesson(random, k)
    if random.random() < 0.6 and not many:
        representations = [one for one in kinds(CodeRepresentation) if one.alias != "sign" or k == 2]
        settings["representation"] = draw(random, [*representations, Code])
        code = settings["representation"] is Code
        settings["representation"] = draw_code(random, k) if code else settings["representation"].alias
    if random.random() < 0.4 and not many:
        settings["loss"] = draw(random, [*(one.alias for one in kinds(CostTableLoss)), draw_costs(random, k)])
    taken = kind._get_param_names()
    if "reject" in taken and random.random() < 0.3:
        text = lesson.classes.dtype.kind == "U"
        cost = draw(random, [0.05, 0.2, 0.5]) if random.random() < 0.7 else random.uniform(0.01, 0.5, k)
        short = isinstance(cost, float) and random.random() < 0.5
        settings["reject"] = cost if short else Reject(cost, "none" if text else -99)
    elif random.random() < 0.4:
        decisions = ["learned", "expected_cost", ExpectedCost(smoothing=1.0)]
        settings["decision"] = draw(random, [*decisions, *(["f1", "balanced", 0.3] if binary else [])])
    if random.random() < 0.2:
        weights = {label: draw(random, [0.5, 1.0, 2.0, 0.0]) for label in lesson.classes.tolist()}
        settings["class_weight"] = "balanced" if random.random() < 0.3 else weights
    return Case(kind(**settings), lesson)


def subset_case(random: np.random.Generator, kind: type) -> Case:
    settings = common_settings(random, kind, False)
    m = draw(random, [2, 3, 5, 9])
    loss = draw(random, [*kinds(SubsetLoss), CountLoss])
    settings["loss"] = CountLoss(misses_and_hits) if loss is CountLoss else draw_part(random, loss)
    if random.random() < 0.4:
        cuts = [] if issubclass(loss, AtK) else ["macro_f1", "micro_f1", 0.1]
        settings["decision"] = draw(random, ["learned", *cuts])
    return Case(kind(**settings), lessons.set_lesson(random, m))


def bipartite_case(random: np.random.Generator, kind: type) -> Case:
    settings = common_settings(random, kind, False)
    one = draw(random, [*kinds(SubsetLoss), CountLoss, "break_even", "auc", "ap"])
    settings["loss"] = one if isinstance(one, str) else CountLoss(misses_and_hits) if one is CountLoss else draw_part(random, one)
    if getattr(settings["loss"], "k", 1) > 1:  # of which some groups have fewer rows
        settings["loss"] = settings["loss"].set_params(k=1)
    if not isinstance(one, str) and not issubclass(one, AtK) and random.random() < 0.4:
        settings["balance"] = draw(random, [0, 0.3, 1])
    settings["decision"] = draw(random, [None, None, "fitted", "learned", 0, -0.2])
    return Case(kind(**settings), lessons.group_lesson(random))


def ranking_case(random: np.random.Generator, kind: type) -> Case:
    settings = common_settings(random, kind, True)
    loss = settings["loss"] = draw_part(random, draw(random, kinds(RankingLoss)))
    grades = next(grades for grades in GRADES if ranking_loss(loss).takes(grades))
    representation = draw(random, [*(one for one in kinds(RankingRepresentation) if one is not Pairwise), UserRank])
    settings["representation"] = root_rank if representation is UserRank else draw_part(random, representation)
    of_pairs = kind is PredtronLabelRanker and isinstance(ranking_loss(loss), KendallTau)
    if of_pairs and representation in (LinearRank, ReciprocalRank):  # all but votes are the same to it
        settings["representation"] = "pairwise"
    if issubclass(kind, PredtronRanker):
        return Case(kind(**settings), lessons.query_lesson(random, grades, long=random.random() < 0.0005))
    return Case(kind(**settings), lessons.label_list_lesson(random, draw(random, [2, 3, 5, 9]), grades))


def sequence_case(random: np.random.Generator, kind: type) -> Case:
    """Draw a tagger, and perhaps which label may follow which."""
    settings = common_settings(random, kind, False)
    k = draw(random, [2, 3, 5, 9])
    costs = SequenceHamming(draw_costs(random, k))
    settings["loss"] = draw(random, [*(loss.alias for loss in kinds(SequenceLoss)), costs])
    settings["transition_scaling"] = draw(random, [0.1, 0.1, 1.0, 1e-6, 30.0])
    lesson = lessons.sequence_lesson(random, k)
    if random.random() < 0.3:
        settings["constraint"] = allowed_transitions(random, lesson, k)
    return Case(kind(**settings), lesson)


def allowed_transitions(random: np.random.Generator, lesson: Lesson, k: int) -> np.ndarray:
    """Draw which label may follow which, or be first, among these what the lesson has."""
    allowed = random.random((k + 1, k)) < 0.7
    codes, start = np.searchsorted(lesson.classes, lesson.y), lesson.start
    allowed[codes[:-1], codes[1:]] = True
    allowed[k, codes[start[:-1]]] = allowed[k, 0] = True
    np.fill_diagonal(allowed, True)
    allowed[np.arange(k - 1), np.arange(1, k)] = True
    return allowed


def python_case(random: np.random.Generator, kind: type) -> Case:
    k = draw(random, [3, 6])
    lesson, settings = lessons.object_lesson(random, k), common_settings(random, kind, False)
    if random.random() < 0.5:
        settings["norm"] = settings["norm"] if random.random() < 0.05 else draw(random, ["auto", "l2"])  # others are refused
        return Case(kind(draw_joint(random, k, lesson.X.shape[1]), **settings), lesson)
    return Case(kind(Circle(k), **settings), lesson)


def draw_case(random: np.random.Generator, kind: type | None = None) -> Case:
    """Draw an estimator of any family, or of the one given, and a dense lesson for it."""
    kind = draw(random, families()) if kind is None else kind
    if issubclass(kind, TableClassifier):
        return table_case(random, kind)
    if issubclass(kind, PredtronMultilabelClassifier):
        return subset_case(random, kind)
    if issubclass(kind, PredtronBipartiteClassifier):
        return bipartite_case(random, kind)
    if issubclass(kind, (PredtronRanker, PredtronLabelRanker)):
        return ranking_case(random, kind)
    if issubclass(kind, PredtronSequenceTagger):
        return sequence_case(random, kind)
    if issubclass(kind, Predtron):
        return python_case(random, kind)
    raise AssertionError(f"{kind.__name__} is a family that the fuzzer does not know; teach models.draw_case to draw it")


# Warnings that the package documents; any other is an error.
ALLOWED = [
    "y has .* positive rows among",
    "groups: .* have no positive row",
    "sid=None: all",
    "qid=None: all",  # rows without ids, of which some lessons have several
    "The labels are text",
    "The rows of representation were brought",
    "A column-vector y was passed",
    "decision=.* fits the cut to rows in memory",  # and not on shards
    "decision='f1' is for F1 of",  # the more frequent of two texts
    "X is (CSR|dense), and the first rows were",  # under norm="auto"
    "the root mean squares of the stored values of X differ",  # the same
    "qid has another id for each of the ",
    "y has the same relevance for all documents of each query",
    "reject.cost=.* is never paid",
    "X has words among the numbers of",
    "X has numbers with",  # currency signs, say, in a column of few numbers
    "X has .* distinct numbers and .* distinct words",
    "The number of unique classes is greater than 50%",  # of the rows: scikit-learn's own, about text and floats
]


def watch_warnings() -> None:
    """Make warnings errors, but those that the package documents."""
    warnings.resetwarnings()
    warnings.simplefilter("error")
    for message in ALLOWED:
        warnings.filterwarnings("ignore", message=message)
