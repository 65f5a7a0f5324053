"""Examples of joint features: topics by TF-IDF, matchings, dependency trees, and the structured perceptron by hand."""

import itertools

import numpy as np
from joint_cases import Tables, tables
from numpy.testing import assert_array_equal
from scipy.optimize import linear_sum_assignment

from sklearn_predtron import JointProblem, Predtron
from sklearn_predtron.estimator_checks import check_problem


class Topics(JointProblem):
    """Documents x as counts of words; word j of topic y weighs log(m / DF(j, y)) (Shalev-Shwartz and Ben-David 2014, 17.2.1)."""

    c_L = C_L = 1.0

    def __init__(self, rarity):
        self.rarity = rarity

    @property
    def n_features(self):
        return self.rarity.shape[1]

    def predictions(self, x):
        return range(len(self.rarity))

    def features(self, x, topic):
        return x * self.rarity[topic]

    def decode(self, w, x):
        return int((self.rarity @ (w * x)).argmax())

    def augmented_decode(self, w, x, y):
        return int((self.rarity @ (w * x) + (np.arange(len(self.rarity)) != y)).argmax())

    def loss(self, prediction, y):
        return float(prediction != y)


def test_topics():
    """Weights of words, the same for all topics, lower the error of the unweighted TF-IDF."""
    rng = np.random.default_rng(0)
    y = rng.integers(4, size=600)
    telling = np.arange(40) < 20
    words = rng.poisson(np.where(telling, 0.1 + 0.5 * (np.arange(40) % 4 == y[:, None]), 1.0))
    train, test = slice(400), slice(400, None)
    frequency = np.array([(words[train][y[train] != topic] > 0).sum(axis=0) for topic in range(4)])
    problem = Topics(np.log(400 / (1 + frequency)))
    check_problem(problem, list(zip(words[:5], y[:5], strict=True)))
    model = Predtron(problem, random_state=0).fit(words[train], y[train])
    assert model.coef_.shape == (40,)
    plain = np.mean([problem.decode(np.ones(40), x) for x in words[test]] == y[test])
    assert model.score(words[test], y[test]) > max(plain + 0.02, 0.8)


class Matching(JointProblem):
    """Items of two lists, x[i, j] the features of a pair; the loss is the share of items that are matched wrongly."""

    def __init__(self, n_features=8):
        self.n_features = n_features

    def predictions(self, x):
        return [np.array(match) for match in itertools.permutations(range(len(x)))]

    def features(self, x, match):
        return x[np.arange(len(x)), match].sum(axis=0)

    def decode(self, w, x):
        return linear_sum_assignment(x @ w, maximize=True)[1]

    def augmented_decode(self, w, x, y):
        return linear_sum_assignment(x @ w + (np.arange(len(x)) != y[:, None]) / len(x), maximize=True)[1]

    def loss(self, match, y):
        return np.mean(match != y)


def test_matchings():
    """Lists of any length share their weights; the identity and the commonest match lose more."""
    rng = np.random.default_rng(0)
    w = rng.standard_normal(8)
    X = [rng.standard_normal((m, m, 8)) for m in rng.integers(3, 7, size=150)]
    y = [Matching().decode(w, x + 0.2 * rng.standard_normal(x.shape)) for x in X]
    check_problem(Matching(), [pair for pair in zip(X, y, strict=True) if len(pair[1]) < 5][:3])
    model = Predtron(Matching(), max_iter=5, random_state=0).fit(X[:100], y[:100])
    loss = model.sample_loss(X[100:], y[100:]).mean()
    identity = np.mean([np.mean(match != np.arange(len(match))) for match in y[100:]])
    common = {}
    for m in range(3, 7):
        matches = [tuple(match) for match in y[:100] if len(match) == m]
        common[m] = max(matches, key=matches.count)
    majority = np.mean([np.mean(match != np.array(common[len(match)])) for match in y[100:]])
    assert loss < 0.3 < 0.6 < min(identity, majority)


def arborescence(score):
    """The heads of 1, ..., m in the best tree from 0, score[h, i] being that of h as the head of i (Chu, Liu and Edmonds)."""
    score = np.array(score)
    np.fill_diagonal(score, -np.inf)
    score[:, 0] = -np.inf
    head = score.argmax(axis=0)
    cycle = cycle_of(head)
    if cycle is None:
        return head
    others = [i for i in range(len(score)) if i not in cycle]
    inside = score[head[cycle], cycle]
    reduced = np.full((len(others) + 1, len(others) + 1), -np.inf)  # the last is the cycle
    reduced[:-1, :-1] = score[np.ix_(others, others)]
    entering = score[np.ix_(others, cycle)] - inside
    reduced[:-1, -1] = entering.max(axis=1)
    leaving = score[np.ix_(cycle, others)]
    reduced[-1, :-1] = leaving.max(axis=0)
    above = arborescence(reduced)
    for place, i in enumerate(others[1:], 1):
        head[i] = cycle[leaving[:, place].argmax()] if above[place] == len(others) else others[above[place]]
    entered = above[-1]
    head[cycle[entering[entered].argmax()]] = others[entered]
    return head


def cycle_of(head):
    """A cycle among the heads of 1, ..., m; None if they are a tree."""
    for start in range(1, len(head)):
        path, i = [], start
        while i != 0 and i not in path:
            path.append(i)
            i = head[i]
        if i != 0:
            return path[path.index(i) :]
    return None


class Trees(JointProblem):
    """Dependency trees over m words below a root 0: x[h, i] are the features of h as the head of i."""

    def __init__(self, n_features=8):
        self.n_features = n_features

    def features(self, x, heads):
        return x[heads, np.arange(1, len(x))].sum(axis=0)

    def decode(self, w, x):
        return arborescence(x @ w)[1:]

    def augmented_decode(self, w, x, y):
        wrong = np.arange(len(x))[:, None] != np.append(0, y)
        return arborescence(x @ w + wrong / len(y))[1:]

    def loss(self, heads, y):
        return np.mean(heads != y)


def test_the_best_tree_is_found():
    rng = np.random.default_rng(0)
    for _ in range(60):
        m = int(rng.integers(1, 5))
        score = rng.standard_normal((m + 1, m + 1))
        trees = [(0, *heads) for heads in itertools.product(range(m + 1), repeat=m) if cycle_of((0, *heads)) is None]
        best = max(sum(score[heads[i], i] for i in range(1, m + 1)) for heads in trees)
        head = arborescence(score)
        assert cycle_of(head) is None
        np.testing.assert_allclose(sum(score[head[i], i] for i in range(1, m + 1)), best)


def test_trees():
    """Sentences of up to 20 words; the chain, each word's head the one before, loses more."""
    rng = np.random.default_rng(1)
    w = rng.standard_normal(8)
    X = [rng.standard_normal((m + 1, m + 1, 8)) for m in rng.integers(3, 21, size=90)]
    y = [Trees().decode(w, x + 0.2 * rng.standard_normal(x.shape)) for x in X]
    check_problem(Trees(), list(zip(X[:2], y[:2], strict=True)))
    model = Predtron(Trees(), max_iter=3, random_state=0).fit(X[:60], y[:60])
    chain = np.mean([np.mean(heads != np.arange(len(heads))) for heads in y[60:]])
    assert model.sample_loss(X[60:], y[60:]).mean() < 0.3 < 0.8 < chain


def test_the_structured_perceptron():
    """Milidiú and Rocha (2019), figure 3."""
    X, y = tables()
    problem, w = Tables(4), np.zeros(9)
    for x, label in zip(X, y, strict=True):
        w += problem.features(x, label) - problem.features(x, problem.decode(w, x))
    assert_array_equal(Predtron(problem, update="perceptron", average=False).partial_fit(X, y).coef_, w)
