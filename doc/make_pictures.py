"""The pictures of the documentation: a simulation of each theorem on separable data, and the displays on real data."""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")  # the documentation is built without a screen

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_digits, load_wine, make_classification
from sklearn.model_selection import train_test_split

from sklearn_predtron import (
    PredtronBinaryClassifier,
    PredtronClassifier,
    PredtronLabelRanker,
    PredtronOrdinalClassifier,
    PredtronRanker,
    PredtronSequenceTagger,
)
from sklearn_predtron.callbacks import LossHistory
from sklearn_predtron.datasets import make_sequences, unstack
from sklearn_predtron.inspection import (
    CoefficientDisplay,
    EffectsDisplay,
    MarginDisplay,
    NDCGDisplay,
    OnlineLossDisplay,
    RiskCoverageDisplay,
)
from sklearn_predtron.losses import Reject
from sklearn_predtron.norms import PNorm
from sklearn_predtron.updates import LossAugmented, LossDriven

# ------------------------------------------------------------------------------------------------------- separable data


def unit(w):
    return w / np.linalg.norm(w)


def longest(X):
    return np.linalg.norm(X, axis=1).max()


def rows_with_scores(W, t, random):
    """Rows of noise of length about 1 whose scores under W are t, which leaves little margin for so much noise."""
    inverse = np.linalg.pinv(W)
    noise = random.standard_normal((len(t), W.shape[1])) / np.sqrt(W.shape[1])
    return noise + (t - noise @ W.T) @ inverse.T


def separable_classes(margin=0.08, n=2000, p=200, k=4, seed=0):
    """Rows whose class leads each other one by the margin, under weights of norm 1."""
    random = np.random.default_rng(seed)
    y = random.integers(0, k, n)
    return rows_with_scores(unit(random.standard_normal((k, p))), margin * np.eye(k)[y], random), y


def separable_signs(n=6000, p=500, relevant=3, seed=0):
    """Rows of signs, of which the majority of the first few decides."""
    X = np.random.default_rng(seed).choice([-1.0, 1.0], (n, p))
    return X, X[:, :relevant].sum(axis=1) > 0


def separable_ranks(gap=0.1, n=6000, p=100, r=5, seed=0):
    """Rows at the distance `gap` from ordered thresholds b on one direction of length 1."""
    random = np.random.default_rng(seed)
    y, b = random.integers(0, r, n), 2 * gap * (np.arange(1, r) - r / 2)
    t = 2 * gap * (y - (r - 1) / 2)
    return rows_with_scores(unit(random.standard_normal((1, p))), t[:, None], random), y, b


def separable_queries(margin=0.2, n=1500, m=6, p=150, relevant=2, seed=0):
    """Documents of which the relevant ones lead the others by the margin, under weights of norm 1."""
    random = np.random.default_rng(seed)
    y = np.tile(np.arange(m) < relevant, n).astype(int)
    y = random.permuted(y.reshape(n, m), axis=1).ravel()
    X = rows_with_scores(unit(random.standard_normal((1, p))), margin * y[:, None], random)
    return X, y, np.repeat(np.arange(n), m)


def separable_labels(margin=0.08, n=2000, m=5, p=200, seed=0):
    """Rows of whose labels the relevant ones lead the others by the margin, under weights of norm 1."""
    random = np.random.default_rng(seed)
    y = random.permuted(np.tile(np.arange(m) < 2, (n, 1)), axis=1).astype(int)
    return rows_with_scores(unit(random.standard_normal((m, p))), margin * y, random), y


# ------------------------------------------------------------------------------------------------------- the first page


def costs_row_by_row(ax):
    """The mean cost per row in a stream, where a miss costs ten false alarms."""
    X, y = make_classification(4000, n_informative=8, flip_y=0.05, random_state=0)
    costs = np.array([[0, 1], [10, 0]])  # rows are true, columns predicted
    learners = {
        "loss={(1, 0): 10}": PredtronBinaryClassifier(loss=costs),
        "cost-insensitive": PredtronBinaryClassifier(),
    }
    for name, model in learners.items():
        paid = np.zeros(len(X))
        for i in range(len(X)):
            x, label = X[i : i + 1], y[i : i + 1]
            paid[i] = costs[label[0], model.predict(x)[0]] if i else 0
            model.partial_fit(x, label, classes=[0, 1])
        ax.plot(np.arange(50, len(X)), np.cumsum(paid)[50:] / np.arange(50, len(X)), label=name)
    ax.axhline(costs[y, 1].mean(), color="grey", linestyle="--", label="always an alarm")
    ax.set(xlabel="rows, each predicted before its update", ylabel="mean cost per row so far", ylim=(0, 1.2))
    ax.legend()
    ax.figure.set_size_inches(7.2, 3.8)
    return []


# ------------------------------------------------------------------------------------------------------------- theorems


def recorded(model, X, y, **more):
    """The estimator after one pass, its losses recorded."""
    return model.set_params(max_iter=1, random_state=0, cv=0).set_callbacks(LossHistory()).fit(X, y, **more)


def theorem_1(ax):
    """Algorithm 1 with the theorem's step."""
    X, y = separable_classes()
    model = recorded(PredtronClassifier(norm="l2", update=LossAugmented(eta="theory"), fit_intercept=False), X, y)
    yield OnlineLossDisplay.from_estimator(model, margin=0.08, radius=longest(X), name="Algorithm 1", ax=ax)


def theorem_14(ax):
    """Algorithm 2 with costs."""
    X, y = separable_classes()
    cost = np.abs(np.subtract.outer(np.arange(4.0), np.arange(4.0)))
    model = recorded(PredtronClassifier(norm="l2", update=LossDriven(), loss=cost, fit_intercept=False), X, y)
    yield OnlineLossDisplay.from_estimator(model, margin=0.08, radius=longest(X), name="Algorithm 2, costs of 1 to 3", ax=ax)


def adaptive(ax):
    """The default update, which knows neither R nor c_L."""
    X, y = separable_classes()
    model = recorded(PredtronClassifier(norm="l2", fit_intercept=False), X, y)
    yield OnlineLossDisplay.from_estimator(model, margin=0.08, radius=longest(X), name="adaptive update", ax=ax)


def norms(ax):
    """Few relevant features among many: the norm decides the bound, and the loss."""
    X, y = separable_signs()
    for name, q in [("l2", 2), ("l1", 12)]:
        model = recorded(PredtronBinaryClassifier(norm=PNorm(q=q), update="loss_driven", fit_intercept=False), X, y)
        margin = 2 * 3 ** (1 / q - 1)  # of (1, 1, 1, 0, ...), scaled to norm 1
        radius = X.shape[1] ** (1 / q)
        yield OnlineLossDisplay.from_estimator(model, margin=margin, radius=radius, name=f'norm="{name}"', ax=ax)


def ordinal(ax):
    """Ranks: thresholds with weights of their own, and on one direction."""
    gap = 0.1
    X, y, b = separable_ranks(gap)
    extended = np.column_stack([X, np.ones(len(X))])  # the thresholds are weights of a constant
    delta = gap / np.sqrt(len(b) + b @ b)
    model = recorded(PredtronOrdinalClassifier(norm="l2", update="perceptron", fit_intercept=False), extended, y)
    rounds, losses = LossHistory.curve(model)
    of_rows = longest(extended) ** 2 / delta**2  # delta is another margin
    bound = {"bound": of_rows, "bound_label": "Corollary 3 of Milidiú and Rocha (2019)"}
    yield OnlineLossDisplay(rounds=rounds, losses=losses, **bound, name="CuSum Rank").plot(ax)
    delta = gap / np.sqrt(1 + b @ b)
    model = recorded(PredtronOrdinalClassifier(norm="l2", update="prank", representation="shared"), X, y)
    margin, radius = 2 * delta / len(b) ** 0.5, np.hypot(longest(X), 1)
    yield OnlineLossDisplay.from_estimator(model, margin=margin, radius=radius, name="PRank", ax=ax)


def rankings(ax):
    """Queries: pairs of documents."""
    margin, relevant = 0.2, 2
    X, y, qid = separable_queries(margin, relevant=relevant)
    for update, name in [("slam", "SLAM"), ("max_pair", "max-pair")]:
        model = recorded(PredtronRanker(norm="l2", update=update, loss="ap"), X, y, qid=qid)
        yield OnlineLossDisplay.from_estimator(model, margin=margin, radius=longest(X), name=name, ax=ax)


def labels(ax):
    """Multilabel ranking by MMP."""
    X, y = separable_labels()
    model = recorded(PredtronLabelRanker(norm="l2", update="mmp", fit_intercept=False), X, y)
    yield OnlineLossDisplay.from_estimator(model, margin=0.08, radius=longest(X), name="MMP", ax=ax)


# ----------------------------------------------------------------------------------------------------------- the displays


def loss_on_digits(ax, **kind):
    """Two updates on real data."""
    X, y = load_digits(return_X_y=True)
    for update in ("perceptron", "adaptive"):
        model = PredtronClassifier(features=None, update=update, random_state=0).set_callbacks(LossHistory()).fit(X, y)
        yield OnlineLossDisplay.from_estimator(model, name=f'update="{update}"', ax=ax, **kind)


def rolling_loss_on_digits(ax):
    """The same two, by the losses of late."""
    yield from loss_on_digits(ax, kind="rolling", window=1797)


def coefficients_of_wine(ax):
    """What speaks for a class."""
    X, y = load_wine(as_frame=True, return_X_y=True)
    model = PredtronClassifier(features=None, random_state=0).fit(X, y)
    yield CoefficientDisplay.from_estimator(model, X, target=0, ax=ax)


def effects_of_claims(ax):
    """Functions of columns and pairs, with missing values and categories."""
    rng = np.random.default_rng(0)
    people = pd.DataFrame({"age": rng.uniform(18, 90, 2000), "income": np.exp(rng.normal(10, 0.6, 2000))})
    people["town"] = rng.choice(["Ulm", "Bonn", "Kiel"], 2000, p=[0.5, 0.3, 0.2])
    people.loc[rng.random(2000) < 0.1, "income"] = np.nan
    score = np.sin(people["age"] / 12) + people["income"].isna() + (people["town"] == "Ulm") * (people["age"] - 50) / 25
    claims = score + rng.normal(0, 0.5, 2000) > 0.5
    insurer = PredtronBinaryClassifier(features="piecewise", random_state=0).fit(people, claims)
    ax.figure.set_size_inches(10.8, 6)
    yield EffectsDisplay.from_estimator(insurer, people, ax=ax)


def noisy_queries(n=400, m=10):
    """Queries whose relevance three of five features tell, with noise."""
    random = np.random.default_rng(0)
    X, qid = random.standard_normal((n * m, 5)), np.repeat(np.arange(n), m)
    return X, np.digitize(X @ [1, 2, 3, 0, 0] + 3 * random.standard_normal(n * m), [-3, 0, 3]), qid


def ndcg_of_queries(ax):
    """Two rankers, query by query."""
    X, y, qid = noisy_queries()
    train, test = qid < 200, qid >= 200
    model = PredtronRanker(random_state=0).fit(X[train], y[train], qid=qid[train])
    yield NDCGDisplay.from_estimator(model, X[test], y[test], qid[test], ax=ax)
    yield NDCGDisplay.from_predictions(y[test], X[test, 2], qid[test], name="one feature", ax=ax)


def risk_on_tumours(ax):
    """What rejecting a share of the rows is worth."""
    X, y = load_breast_cancer(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    model = PredtronBinaryClassifier(reject=Reject(cost=0.1, label=-1), random_state=0).fit(X_train, y_train)
    yield RiskCoverageDisplay.from_estimator(model, X_test, y_test, ax=ax)


def margins_on_digits(ax):
    """Where the rows lie."""
    X, y = load_digits(return_X_y=True)
    yield MarginDisplay.from_estimator(PredtronClassifier(random_state=0).fit(X, y), X, y, ax=ax)


def words_of_digits(noise=4.0, n_words=600):
    """Noisy images of the letters of words; the words of the first half are of even images, the others of odd ones."""
    random = np.random.default_rng(0)
    images, digits = load_digits(return_X_y=True)
    _, y, sid = make_sequences(n_words, n_labels=10, n_tokens=(3, 8), concentration=0.1, random_state=0)
    half, drawn = 2 * sid // n_words, np.empty(len(y), dtype=int)
    for part in range(2):
        for letter in range(10):
            there, pool = (half == part) & (y == letter), np.flatnonzero(digits == letter)
            drawn[there] = random.choice(pool[pool % 2 == part], there.sum())
    return images[drawn] + noise * random.standard_normal((len(y), 64)), np.array(list("abcdefghij"))[y], sid, half == 1


def handwritten_words(ax):
    """Words, how they are read letter by letter, and how word by word."""
    X, y, sid, test = words_of_digits()
    alone = PredtronClassifier(norm="l2", random_state=0).fit(X[~test], y[~test])
    tagger = PredtronSequenceTagger(norm="l2", random_state=0).fit(X[~test], y[~test], sid=sid[~test])
    words = [unstack(v, sid[test]) for v in (X[test], y[test], alone.predict(X[test]), tagger.predict(X[test], sid=sid[test]))]
    for line, (letters, true, *read) in enumerate(zip(*(each[:6] for each in words), strict=True)):
        for i, letter in enumerate(letters):
            ax.imshow(letter.reshape(8, 8), cmap="gray_r", extent=(i, i + 0.9, -2 * line - 0.9, -2 * line))
            for labels, below in zip(read, (1.1, 1.45), strict=True):
                colour = "black" if labels[i] == true[i] else "red"
                ax.text(i + 0.45, -2 * line - below, labels[i], color=colour, ha="center", va="center", fontsize=9)
        for name, below in (("classifier", 1.1), ("tagger", 1.45)):
            ax.text(-0.2, -2 * line - below, name, ha="right", va="center", fontsize=8)
    ax.set(xlim=(-2, max(map(len, words[0][:6]))), ylim=(-12, 0.1), aspect="equal")
    ax.set_axis_off()
    return []


PICTURES = [
    costs_row_by_row, theorem_1, theorem_14, adaptive, norms, ordinal, rankings, labels, loss_on_digits, rolling_loss_on_digits,
    risk_on_tumours, margins_on_digits, coefficients_of_wine, effects_of_claims,
    ndcg_of_queries, handwritten_words
]  # fmt: skip


def make_pictures(folder):
    """Draw all pictures into a folder, a PNG each."""
    Path(folder).mkdir(exist_ok=True)
    for picture in PICTURES:
        figure, ax = plt.subplots(layout="constrained")
        displays = list(picture(ax))
        if any(getattr(display, "bound", None) for display in displays):
            ax.set_yscale("log")  # room for the losses, which are far below
        figure.savefig(Path(folder) / f"{picture.__name__}.png", dpi=100)
        plt.close(figure)


if __name__ == "__main__":
    make_pictures(Path(__file__).parent / "pictures")
