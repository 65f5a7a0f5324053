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
    The feature map of a table's rows.  None uses the columns as they are.  "piecewise" (`PiecewiseLinear`) has functions of
    columns and of pairs of columns, for numbers, missing values and categories; `fit` chooses the numbers of knots and pairs.
    "fourier" (`RandomFourier`) has the features of a kernel.  "auto" (`features.Auto`) lets `fit` choose among all of these and
    the columns as they are.  The map is fitted to the rows of `fit`, or to the first 500 rows of a stream, which are used as
    they are until then.
    With a map, ``norm="auto"`` is "l2".

update : {updates} or Update, default="adaptive"
    When to change the weights, towards which competitor, and how far.

average : "linear", "uniform", "auto", float, False or None, default=None
    The average of the iterates that predicts.  Round t has weight t ("linear") or 1 ("uniform"); a number is a half-life in
    rounds; False is the last iterate.  "auto", for streams that may drift, is whichever of "linear", 100 and False had the
    lowest loss on recent rows before they were learned.  None is "linear" in `fit`, and "auto" in `partial_fit`.

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
    How scores become predictions.  "expected_cost" predicts the label with the lowest expected cost under `predict_proba`;
    "learned" takes the label with the highest score (the setting of the loss bounds).  None is "learned" for {unit} without a
    reject option, and "expected_cost" otherwise.  `fit` holds rows out (see `cv`) unless "learned" is given here.

decision_of_two : "learned", "expected_cost", "f1", "balanced", float, DecisionRule or None, default=None
    How scores become predictions.  "expected_cost" predicts the label with the lowest expected cost under `predict_proba`;
    "learned" takes the label with the highest score (the setting of the loss bounds).  Others cut the score (see `Cut`): for F1
    of the second class or balanced accuracy over all rows, or at a number.  None is "learned" for {unit} without a reject
    option, and "expected_cost" otherwise.  `fit` holds rows out (see `cv`) unless "learned" is given here.

cv : int, splitter, iterable or None, default={folds}
    The folds by which `fit` chooses the number of epochs.  Fold models are evaluated on their held-out {rows} after up to five
    numbers of epochs (3, 10, 31 and 100 of 1,000 {rows}; fewer of more), or after `max_iter`, until {judged} hardly falls; the
    mean of the best fold models predicts and continues in `partial_fit`.  None is five folds up to 30,000 {rows} and fewer
    beyond, two above 60,000.  Models of more than two million weights, and tables of more than 2,000 {rows}, have one
    validation split of a fifth, at most 5,000 {rows}; the best candidate is then trained on all {rows}.  With a kernel, a
    callback that chooses the epochs, ``average="auto"`` or `warm_start`, one model is trained on all {rows}; held-out {rows},
    if any, serve the decision alone.  None is 0 for fewer than 20 {rows}{or_learned}.  0 trains one model on all {rows}, for
    which the loss bounds hold.  Splitters must test each of the {rows} once.

label_names_ : ndarray of shape (m,)
    Names of the labels, if y is a data frame with column names.

features_ : FeatureMap
    With `features`, the fitted map; `coef_` has a column for each name in its `get_feature_names_out()`.

norm_ : str or Norm
    The parameter `norm`; for "auto", the norm chosen by the first rows, "scaled" or "l2".

last_coef_ : ndarray of shape ({d}, n_features)
    Weights of the last iterate.

last_intercept_ : ndarray of shape ({d},)
    Offsets of the last iterate.

dual_coef_, support_ : ndarrays of shape ({d}, n_support) and (n_support,)
    With ``norm=RKHS(...)``: the coefficients of the rows that are kept, and the numbers of these rows among all rows given.

t_ : int
    Rounds so far, summed over the fold models if their mean predicts; the counts and sums below are, too.

n_mistakes_ : int
    Rounds in which a maximiser of the score lost.

n_updates_ : int
    Rounds with an update.

cumulative_loss_ : float
    Loss suffered online by the last iterate, before each update.

loss_curve_ : list of float
    Mean progressive loss of each epoch of `fit`, over all fold models.

n_iter_ : int
    Number of epochs of the last `fit`, up to the one whose weights predict.

held_out_loss_ : dict of int to float
    For each number of epochs that `fit` evaluated, {judged} of the held-out {rows}; exists only if {rows} were held out.

cost_power_ : float
    After `fit` with `costs`, the power of a row's mean cost of a mistake by which it was weighted in training: 0, 0.5 or 1.

certificate_ : Certificate
    After `certify` with ``reject=Reject(risk=...)``, the result of the test and its number of rows.

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
PARAGRAPHS["decision_of_two"] = PARAGRAPHS["decision_of_two"].replace("decision_of_two", "decision", 1)
UPDATES = '"adaptive", "predtron", "loss_driven", "perceptron", "passive_aggressive", "subgradient"'
DEFAULTS = {
    "norms": '"auto", "l2", "l1", "group", "trace", "scaled", "rkhs"',
    "updates": UPDATES,
    "rows": "rows",
    "unit": "costs that are all the same",
    "folds": "None",
    "judged": "the mean log loss of the probabilities",
    "or_learned": ' and under ``decision="learned"``',
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
