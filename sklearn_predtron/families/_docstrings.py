"""Paragraphs of the docstrings of all families, written once."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import TypeVar

K = TypeVar("K", bound=type)

SHARED = """
norm : {norms} or Norm, default="auto"
    The norm under which margins are measured.  "auto" is "scaled" (for raw features of any unit) if the first rows are dense,
    and "l2" if they are CSR (see `Auto`).  "l1" is for few relevant features among many, "group" for few that matter to all
    scores, "trace" for scores that share directions, "rkhs" for kernels.

features : "piecewise", "auto", "fourier", FeatureMap or None, default=None
    The feature map of a table.  None (default) uses the columns as they are, which must be numbers.  Use "piecewise"
    (`PiecewiseLinear`) for missing values, categories, curves and interactions of two columns.  Use "auto" for the lowest error,
    in more time: `fit` compares "piecewise", "fourier" (`RandomFourier`) and the columns as they are.  A stream fits
    the map to its first 500 rows.  With a map, ``norm="auto"`` is "l2".

features_auto : "auto", "piecewise", "fourier", FeatureMap or None, default="auto"
    The feature map of a table.  "auto" (default, see `Auto`): `fit` replaces columns of numbers by curves and products of them
    ("piecewise", `PiecewiseLinear`) or by cosines ("fourier", `RandomFourier`) if rows held out show that this is better.
    Tables with words or missing values always take "piecewise".  None is the linear model of the columns as they are, which must
    be numbers: for coefficients to be read, and for more than 300 columns.  A stream that begins with `partial_fit` keeps
    columns of numbers as they are; otherwise its map is fitted to its first 500 rows.  With a map, ``norm="auto"`` is "l2".

update : {updates} or Update, default="adaptive"
    When to change the weights, towards which competitor, and how far.

average : "linear", "uniform", "auto", float, False or None, default=None
    The average of the weights that predicts.  None (default) is "linear" in `fit`, and "auto" in `partial_fit`.  Change it for
    streams of known kind: "linear" (round t has weight t) or "uniform" if nothing drifts, a half-life in rounds for slow drift,
    False (the last iterate) for fast drift.  "auto" uses "linear", unless 100 or False is better by more than chance.

fit_intercept : bool, default=True
    Whether scores have an offset.

intercept_scaling : "auto" or float, default="auto"
    Scale of the intercept's virtual feature.  "auto" is the running geometric mean of the lengths of the inputs; multiplying X
    by a constant then changes no prediction.

max_iter : int, default=None
    Epochs of `fit`; None is {epochs}.

tol : float, Patience or None, default=None
    `fit` stops after 5 consecutive epochs whose mean progressive loss is not lower than the best so far by more than `tol`.
    `Patience(tol, n_iter_no_change)` sets another number of epochs.  None disables early stopping.

shuffle : bool, default=True
    Whether `fit` shuffles the {rows} in each epoch.

random_state : int, RandomState instance or None, default=None
    Seed of the shuffles.

warm_start : bool, default=False
    Whether `fit` continues from the weights of the previous call, without folds.

class_weight : dict, "balanced" or None, default=None
    Weights of the rows by class, 1 for classes left out; "balanced" (in `fit` only) gives all classes the same total weight.
    The weights count as costs: they multiply expected costs, and leave probabilities those of the rows as given.
    A dict may name a label that is not in `classes_` (missing from a fold) if it has a weight for each label in `classes_`.

reject : Reject, float or None, default=None
    The reject option: the cost of an abstention, or ``Reject(cost=0.1, label=-1)``.  None predicts classes only.

decision : "learned", "expected_cost", DecisionRule or None, default=None
    How scores become predictions.  None (default) predicts the label with the lowest expected cost under `predict_proba`; with
    {unit} and no reject option it is the label with the highest score.  "expected_cost" always predicts by expected cost.  Use
    "learned" for a loss bound or the fastest fit: the highest score, with costs as margins in training and no held-out rows.

decision_of_two : "learned", "expected_cost", "f1", "balanced", float, DecisionRule or None, default=None
    How scores become predictions.  None (default) predicts the label with the lowest expected cost under `predict_proba`; with
    {unit} and no reject option it is the label with the highest score.  "expected_cost" always predicts by expected cost.  Use
    "f1" or "balanced" for a rare class: the threshold with the highest F1 of the second class, or balanced accuracy, on held-out
    rows.  A number is a fixed threshold; `Cut` has other measures.  Use "learned" for a loss bound or the fastest fit: the
    highest score, with costs as margins in training and no held-out rows.

cv : int, splitter, iterable or None, default={folds}
    Held-out {rows}, which select the number of epochs and fit probabilities.  None (default) plans them by the
    task and the number of {rows}.  Use 0 for a loss bound or a faster fit: one model, without held-out {rows}.  See
    :doc:`/user_guide/folds`.

label_names_ : ndarray of shape (m,)
    Names of the labels, if y is a data frame with column names.

features_ : FeatureMap
    With `features`, the fitted map; it exists if a map is used.  `coef_` and `last_coef_` exist only without one.

feature_importances_ : ndarray of shape (n_features_in_,)
    After `fit`, the mean size of each column's part of the scores, with or without a map.

norm_ : str or Norm
    The parameter `norm`; for "auto", the norm chosen by the first rows, "scaled" or "l2".

last_coef_ : ndarray of shape ({d}, n_features)
    Weights of the last iterate.

last_intercept_ : ndarray of shape ({d},)
    Offsets of the last iterate.

dual_coef_, support_ : ndarrays of shape ({d}, n_support) and (n_support,)
    With ``norm=RKHS(...)``: the coefficients of the rows that are kept, and the numbers of these rows among all rows given.

t_ : int
    Number of training rounds.  If the mean of the fold models predicts, this and the counts below are sums over them.

n_mistakes_ : int
    Number of rounds whose prediction, made before the update, was wrong.

n_updates_ : int
    Rounds with an update.

cumulative_loss_ : float
    Loss suffered online by the last iterate, before each update.

loss_curve_ : list of float
    Mean progressive loss of each epoch of `fit`, over all fold models.

n_iter_ : int
    Number of epochs of the last `fit`, up to the one whose weights predict.

held_out_loss_ : dict of int to float
    Loss of held-out {rows} ({judged}) by the number of epochs, for each that `fit` evaluated.  If it still falls at the largest
    number, give a larger `max_iter`.  It exists only if {rows} were held out.

cost_power_ : float
    After `fit` with `costs`, the power of a row's mean cost of a mistake by which it was weighted in training: 0, 0.5 or 1.

certificate_ : Certificate
    After `certify` with ``reject=Reject(risk=...)``, the promises and the results of their tests.

bounds_ : tuple of PromiseResult
    With ``decision=ExpectedCost(subject_to=[...])``, each bound with its value on the held-out rows that chose the decision.

rejected_share_ : float
    In streams with ``reject=Reject(rate=...)``, the share of rounds that were rejected before they were learned.

n_features_in_ : int
    Number of features.

feature_names_in_ : ndarray of shape (n_features_in_,)
    Names of the features, if X had names.
"""
PARAGRAPHS = {text.partition(" ")[0].rstrip(","): text for text in SHARED.strip().split("\n\n")}
PARAGRAPHS["in_order"] = """Parameters are listed in this order: the prediction and its costs; from `features` on, the
training; and from `tol` on, settings that are rarely changed."""
PARAGRAPHS["features_auto"] = PARAGRAPHS["features_auto"].replace("features_auto", "features", 1)
PARAGRAPHS["decision_of_two"] = PARAGRAPHS["decision_of_two"].replace("decision_of_two", "decision", 1)
UPDATES = '"adaptive", "predtron", "loss_driven", "perceptron", "passive_aggressive", "subgradient"'
DEFAULTS = {
    "norms": '"auto", "l2", "l1", "group", "trace", "scaled", "rkhs"',
    "updates": UPDATES,
    "rows": "rows",
    "unit": "equal costs",
    "folds": "None",
    "judged": "the mean log loss of the probabilities",
}
NO_FOLDS = inspect.Parameter("cv", inspect.Parameter.KEYWORD_ONLY, default=0)
PLACEHOLDER = re.compile(r"^( *)\{(\w+)\}$", re.MULTILINE)


def documented(**words: str) -> Callable[[K], K]:
    """Fill in the docstring of a family.

    In the docstring, ``{name}`` on a line by itself stands for a paragraph of all families.

    Parameters
    ----------
    **words : str
        Replacements of other names in braces within a line; the defaults are those of `DEFAULTS`.

    Returns
    -------
    callable
        A decorator that returns the class.
    """

    def fill(family: K) -> K:
        if family.__doc__ is None:  # python -OO
            return family
        text = PLACEHOLDER.sub(lambda found: indented(PARAGRAPHS[found[2]], found[1]), family.__doc__)
        values = {**DEFAULTS, "epochs": str(family._epochs), **words}  # type: ignore[attr-defined]
        if inspect.signature(family).parameters.get("cv", NO_FOLDS).default is None:
            values["epochs"] = f"the number that the folds choose (see `cv`), and of one learner {values['epochs']}"
        for name, value in values.items():
            text = text.replace(f"{{{name}}}", value)
        family.__doc__ = text
        return family

    return fill


def indented(paragraph: str, margin: str) -> str:
    """Return a paragraph with a margin before each line."""
    return "\n".join(margin + line for line in paragraph.split("\n"))
