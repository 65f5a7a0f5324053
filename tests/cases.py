"""What several test modules ask of: parts by discovery, small data sets, comparisons."""

import re
import sys
import threading
from itertools import combinations

import numpy as np
import pytest
import sklearn
from packaging.version import Version
from reference.learner import Reference
from scipy import sparse

import sklearn_predtron
from sklearn_predtron import Predtron, Problem, __all__
from sklearn_predtron._support.parts import kinds
from sklearn_predtron.losses import CostMatrix, CostTableLoss
from sklearn_predtron.representations import Code, CodeRepresentation, SharedThermometer
from sklearn_predtron.updates import Adaptive, LossAugmented, LossDriven, PassiveAggressive, PerceptronUpdate, Subgradient, Update

AVERAGES = ["linear", "uniform", 7.5, False]

# Parameters that the defaults of an update leave untested.
VARIANTS = [
    LossAugmented(eta=0.1),
    LossAugmented(eta="theory"),
    LossDriven(eta=0.3),
    LossDriven(eta="theory"),
    PerceptronUpdate(eta=0.7),
    PassiveAggressive(variant="pa"),
    PassiveAggressive(C=0.01),
    PassiveAggressive(C=0.1, variant="pa2"),
    PassiveAggressive(C=0.1, competitor="predicted"),
    PassiveAggressive(C=0.5, variant="pa2", competitor="predicted", target="constant", delta=2.0),
    PassiveAggressive(C=0.1, target="constant", delta=0.7),
    Adaptive(kappa=0.2),
    Subgradient(alpha=0.1, eta=0.5),
    Subgradient(alpha=0.01),
    Subgradient(alpha=0.0, eta=0.2317),
]


def pairwise(*factors):
    """Return few cases in which every two values of different factors occur together: the pairs in turn, greedily completed."""
    factors = [list(factor) for factor in factors]
    sizes = [len(factor) for factor in factors]
    longest = sorted(range(len(factors)), key=lambda i: -sizes[i])
    missing = {(i, j): np.ones((sizes[i], sizes[j]), dtype=int) for i, j in combinations(longest, 2)}
    used, cases = [np.zeros(size, dtype=int) for size in sizes], []
    for (i, j), pairs in missing.items():
        while pairs.any():
            case = dict(zip((i, j), divmod(int(pairs.argmax()), sizes[j]), strict=True))
            for k in longest:
                if k not in case:
                    gain = sum(missing[c, k][case[c]] if (c, k) in missing else missing[k, c][:, case[c]] for c in case)
                    case[k] = int(np.lexsort((used[k], -gain))[0])
            for a, b in missing:
                missing[a, b][case[a], case[b]] = 0
            for k, value in case.items():
                used[k][value] += 1
            cases.append(tuple(factor[case[k]] for k, factor in enumerate(factors)))
    return cases


def one_learner(estimator):
    """Return an estimator that learns all rows by one learner, if it would not."""
    return estimator.set_params(cv=0) if "cv" in estimator.get_params(deep=False) else estimator


def needs_scikit_learn(version, what):
    """Skip a test of what older versions of scikit-learn cannot do."""
    return pytest.mark.skipif(Version(sklearn.__version__) < Version(version), reason=f"scikit-learn {version}: {what}")


needs_callbacks = needs_scikit_learn("1.9", "callbacks")

# A test of what knows no ids, like scikit-learn's checks: rankers and taggers say that they take all rows as one.
without_ids = pytest.mark.filterwarnings("ignore:[qs]id=None. all .* rows are one")


def kinds_of_updates():
    """The updates of every family; the others, which need something of a problem, have tests of their own."""
    return [kind for kind in kinds(Update) if not kind.needs]


def updates():
    """Updates of every family, with their defaults and with other parameters."""
    return [update for kind in kinds_of_updates() for update in [kind(), *(some for some in VARIANTS if type(some) is kind)]]


def updates_of_the_reference():
    """Those whose rule the plain-Python learner has, as it does for every public one."""
    return [update for update in updates() if hasattr(Reference, f"_{update.alias}")]


def random_code(k, d, seed=7):
    code = np.random.default_rng(seed).standard_normal((k, d))
    return code / np.linalg.norm(code, axis=1, keepdims=True)


def representations(k, *, shared=True):
    """Every representation of k predictions; without `shared` those with a direction for each score."""
    found = [kind() for kind in kinds(CodeRepresentation) if kind.alias != "sign" or k == 2]
    return [kind for kind in found if shared or not isinstance(kind, SharedThermometer)] + [Code(random_code(k, 5))]


def random_costs(k, seed=3):
    """Asymmetric costs; from three classes up one mistake costs nothing."""
    cost = np.random.default_rng(seed).integers(13, 192, (k, k)) / 64  # sums of them are exact
    np.fill_diagonal(cost, 0)
    if k > 2:
        cost[0, 2] = 0
    return cost


def losses(k):
    return [kind() for kind in kinds(CostTableLoss)] + [CostMatrix(random_costs(k))]


def cost_table(loss, k):
    """L(sigma, y) at [y, sigma], as numbers."""
    table = loss.matrix(np.arange(k))
    return 1 - np.eye(k) if table is None else table


def name(part):
    """Its repr without line breaks and addresses, the same in each process."""
    return re.sub(r" at 0x[0-9a-f]+|\n", "", repr(part))[:80]


def data(n=60, p=37, k=4, seed=0):
    """Sparse rows of different lengths that float32 holds exactly, one of them empty, and noisy labels."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) * (rng.random((n, p)) < 0.4) * rng.lognormal(0, 1, (n, 1))
    X[n // 2] = 0
    y = (X @ rng.standard_normal((p, k)) + 0.5 * rng.standard_normal((n, k))).argmax(axis=1)
    y[:k] = np.arange(k)[::-1]
    return X.astype(np.float32).astype(np.float64), y


def make_data(k=3, n=90, p=6, noise=1.0, seed=0):
    """Rows and the numbers of their labels."""
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, p))
    scores = X @ random.standard_normal((p, k)) + noise * random.standard_normal((n, k))
    y = scores.argmax(axis=1)
    assert len(np.unique(y)) == k
    return X, y


FAMILIES = [kind for name in __all__ if hasattr(kind := getattr(sklearn_predtron, name), "fit") and kind is not Predtron]


def lesson(kind, scores, block=5):
    """Labels of a family by three scores a row, ids of blocks of rows for all calls, and what its first `partial_fit` needs."""
    name, classes, ids = kind.__name__, scores.argmax(axis=1), np.arange(len(scores)) // block
    if name in ("PredtronBinaryClassifier", "PredtronBipartiteClassifier"):
        return (scores[:, 0] > 0).astype(int), {}, {"classes": [0, 1]}
    if name == "PredtronMultilabelClassifier":
        return (scores > 0).astype(int), {}, {}
    if name in ("PredtronRanker", "PredtronLabelRanker"):
        grades = np.digitize(scores, [-1, 1]).astype(float)
        return (grades[:, 0], {"qid": ids}, {}) if name == "PredtronRanker" else (grades, {}, {})
    return classes, {"sid": ids} if name == "PredtronSequenceTagger" else {}, {"classes": [0, 1, 2]}


def layouts(X):
    """The same rows in every form that is read in place."""
    forms = {}
    for real in (np.float64, np.float32):
        forms[f"dense {real.__name__}"] = np.ascontiguousarray(X, dtype=real)
        for integer in (np.int32, np.int64):
            matrix = sparse.csr_matrix(X.astype(real))
            matrix.indices, matrix.indptr = matrix.indices.astype(integer), matrix.indptr.astype(integer)
            forms[f"csr {real.__name__} {integer.__name__}"] = matrix
    return forms


def intercept_settings(intercept):
    return {"fit_intercept": False} if intercept is None else {"intercept_scaling": intercept}


def assert_close(actual, desired, rtol=1e-9):
    """Equal to rtol of the largest entry."""
    np.testing.assert_allclose(actual, desired, rtol=rtol, atol=rtol * np.abs(desired).max(initial=1e-300))


def state(model):
    """All that predicts and counts, to be compared bit by bit."""
    read = model._model.learner.read
    arrays = (*read(lambda weights: weights.mean()), *read(lambda weights: weights.last()))
    counts = (model.t_, model.n_mistakes_, model.n_updates_, model.cumulative_loss_)
    return [array.tobytes() for array in arrays] + list(counts)


BUSY = "is being trained in another call"  # what a call says that gives way


def threads_of(*tasks):
    """Run tasks side by side, each until it has ended, and raise what the first of them raised."""
    errors = []

    def run(task):
        try:
            task()
        except BaseException as error:
            errors.append(error)

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        running = [threading.Thread(target=run, args=(task,)) for task in tasks]
        for thread in running:
            thread.start()
        for thread in running:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    if errors:
        raise errors[0]


class Hours(Problem):
    n_scores, c_L, C_L = 2, 1.0, 6.0
    code = np.column_stack([np.cos(np.arange(12) * np.pi / 6), np.sin(np.arange(12) * np.pi / 6)])

    def decode(self, t):
        return int((self.code @ t).argmax())

    def loss(self, prediction, y):
        way = abs(prediction - y) % 12
        return float(min(way, 12 - way))

    def representation(self, prediction):
        return self.code[prediction]

    def augmented_decode(self, t, y):
        return int((self.code @ t + [self.loss(hour, y) for hour in range(12)]).argmax())


class Multiclass(Problem):
    """The 0-1 loss on one-hot codes, written by hand."""

    c_L = C_L = 1.0
    D2 = 2.0

    def __init__(self, k=2):
        self.k = k

    @property
    def n_scores(self):
        return self.k

    def decode(self, t):
        return int(t.argmax())

    def loss(self, prediction, y):
        return float(prediction != y)

    def representation(self, prediction):
        return np.eye(self.k)[prediction]

    def augmented_decode(self, t, y):
        return int((t + (np.arange(self.k) != y)).argmax())


class EachEpoch:
    """A callback that calls a function of the estimator after each epoch, which may return True to stop; it counts fits."""

    runs_without_callbacks = True

    def __init__(self, call):
        self.call, self.n_fits = call, 0

    def setup(self, estimator, context):
        pass

    def teardown(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context, **given):
        pass

    def on_fit_task_end(self, estimator, context, **given):
        if context.task_name == "epoch":
            return bool(self.call(estimator))
        self.n_fits += 1
        return False


def beside(task, *readers, at_least=0):
    """Let readers read, each in a thread of its own and so many times, until a task has ended in another."""
    done = threading.Event()

    def run():
        try:
            task()
        finally:
            done.set()

    def read(reader):
        times = 0
        while not done.is_set() or times < at_least:
            reader()
            times += 1

    threads_of(run, *[lambda reader=reader: read(reader) for reader in readers])


def row_weights(n):
    """Weights of rows, some of them 0."""
    weight = np.random.default_rng(5).uniform(0.2, 2.5, n)
    weight[::7] = 0
    return weight


def weights_of(model):
    """Return the weights that predict, of shape (d, n), also those of features that a map makes."""
    return model._model.learner.read(lambda weights: weights.mean())[0]
