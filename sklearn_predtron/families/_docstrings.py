"""Paragraphs of the docstrings of all families, written once."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import TypeVar

K = TypeVar("K", bound=type)

SHARED = """
norm : {norms} or Norm, default="auto"
    The norm under which margins are measured.  "auto" is "scaled", for raw features of any unit, where the first rows are dense,
    and "l2" where they are CSR (see `Auto`); "l1" for few relevant features among many, "group" for few that matter to all
    scores, "trace" for scores that share directions, "rkhs" for kernels.

features : "piecewise", "auto", "fourier", FeatureMap or None, default=None
    What is made of each row of a table as its turn comes: "piecewise" has functions of each column and of pairs of them, for
    numbers, missing values and categories (`PiecewiseLinear`), "auto" lets `fit` choose among that, functions without pairs,
    the features of a kernel, and columns as they are (`features.Auto`), and "fourier" has those of a kernel (`RandomFourier`).
    None learns columns as they are.  It is fitted to the rows of `fit`, and in a stream to the first 500, which until then are
    learned as they are.  ``norm="auto"`` is then "l2".

update : {updates} or Update, default="adaptive"
    When to change the weights, towards which competitor, and how far.

average : "linear", "uniform", "auto", float, False or None, default=None
    The average of the iterates that predicts: round t weighs t, or 1; a number is a half-life in rounds; False is the last
    iterate.  "auto" is the one of "linear", 100 and False that has lately lost least, each time before a row is learned:
    for streams, which may drift.  None is "linear" in `fit`, and "auto" in `partial_fit`.

fit_intercept : bool, default=True
    Whether scores have an offset.

intercept_scaling : "auto" or float, default="auto"
    Length of the intercept's virtual feature; "auto" is the running geometric mean of the lengths of the inputs, with
    which multiplying X by a constant changes no prediction.

max_iter : int, default=None
    Epochs of `fit`; None is {epochs}.

tol : float, Patience or None, default=None
    `fit` stops after 5 epochs in a row whose mean progressive loss is not lower than the best so far by more than this;
    `Patience(tol, n_iter_no_change)` takes another number of epochs; None disables it.

shuffle : bool, default=True
    Whether `fit` shuffles the {rows} in each epoch.

random_state : int, RandomState instance or None, default=None
    Seed of the shuffles.

warm_start : bool, default=False
    Whether `fit` goes on from the weights of the previous call, without folds.

class_weight : dict, "balanced" or None, default=None
    Weights of the rows by class, 1 for those left out; "balanced" (in `fit` only) gives all classes the same total weight.
    They count as costs: probabilities are those of the rows as they came, and expected costs are multiplied by them.
    A dict may name a label that is not among `classes_` (one missing from a fold) if it has a weight for each that is.

reject : Reject, float or None, default=None
    The reject option: the cost of a row that is left undecided, or ``Reject(cost=0.1, label=-1)``; None predicts classes only.

decision : "learned", "expected_cost", DecisionRule or None, default=None
    What becomes of scores: "learned" decodes them, as the theorems have it; "expected_cost" predicts what costs least in
    expectation, by `predict_proba`.  None is "learned" for {unit}, without a reject option, and "expected_cost" else; but for
    "learned" given here, `fit` holds rows out (see `cv`).

decision_of_two : "learned", "expected_cost", "f1", "balanced", float, DecisionRule or None, default=None
    What becomes of scores: "learned" decodes them, as the theorems have it; "expected_cost" predicts what costs least in
    expectation, by `predict_proba`; others cut the score (see `Cut`), of all rows together for F1 of the second class or balanced
    accuracy, or at a number.  None is "learned" for {unit}, without a reject option, and "expected_cost" else; but for
    "learned" given here, `fit` holds rows out (see `cv`).

cv : int, splitter, iterable or None, default={folds}
    The folds by which `fit` chooses its epochs.  So many learners, each without a fold of the {rows}, are looked at after 3, 10,
    31 and 100 epochs, or after `max_iter`, until {judged} of the {rows} that each has not learned is no lower; the mean of the
    best ones predicts, and goes on in `partial_fit`.  None is five folds or, above 10,000 {rows} or 10 million values times
    scores, one learner without at most 5,000 of them, looked at after 1, 3 and 10 epochs; and it is 0 of fewer than 20 {rows},
    with a kernel, a callback that chooses the epochs, ``average="auto"``{or_learned} or `warm_start`.  0 is one learner of all
    {rows}: of one the bounds speak.  Splitters must test each of the {rows} once.

label_names_ : ndarray of shape (m,)
    Names of the labels, if y is a data frame whose columns have names.

features_ : FeatureMap
    With `features`, the map that was fitted: `coef_` has a column for each of its `get_feature_names_out`.

norm_ : str or Norm
    The parameter `norm`, or what "auto" stands for since the first rows, "scaled" or "l2".

last_coef_ : ndarray of shape ({d}, n_features)
    Weights of the last iterate.

last_intercept_ : ndarray of shape ({d},)
    Offsets of the last iterate.

dual_coef_, support_ : ndarrays of shape ({d}, n_support) and (n_support,)
    With ``norm=RKHS(...)``: coefficients of the rows that are kept, and their numbers among all rows given.

t_ : int
    Rounds so far, of all learners if the mean of several predicts; so are the counts and sums below.

n_mistakes_ : int
    Rounds in which a maximiser of the score lost.

n_updates_ : int
    Rounds that took a step.

cumulative_loss_ : float
    Loss suffered online by the last iterate, before each update.

loss_curve_ : list of float
    Mean progressive loss of each epoch of `fit`, over all learners.

n_iter_ : int
    Epochs of the last `fit`, up to the one that predicts.

held_out_loss_ : dict of int to float
    By the number of epochs after which `fit` looked, {judged} of the {rows} held out; there if any were.

cost_power_ : float
    After `fit` with `costs`, the power of what a row's mistakes cost that the row weighed in learning: 0, 0.5 or 1.

certificate_ : Certificate
    After `certify`, with ``reject=Reject(risk=...)``, what was tested, and on how many rows.

rejected_share_ : float
    In streams, with ``reject=Reject(rate=...)``, the share of the rounds that were rejected before they were learned.

n_features_in_ : int
    Features.

feature_names_in_ : ndarray of shape (n_features_in_,)
    Names of the features, if X had them.
"""
PARAGRAPHS = {text.partition(" ")[0].rstrip(","): text for text in SHARED.strip().split("\n\n")}
PARAGRAPHS["in_order"] = """Parameters come in this order: what is predicted, at what cost; from `features` on, how it is learned;
and from `tol` on, what few change."""
PARAGRAPHS["decision_of_two"] = PARAGRAPHS["decision_of_two"].replace("decision_of_two", "decision", 1)
UPDATES = '"adaptive", "predtron", "loss_driven", "perceptron", "passive_aggressive", "subgradient"'
DEFAULTS = {
    "norms": '"auto", "l2", "l1", "group", "trace", "scaled", "rkhs"',
    "updates": UPDATES,
    "rows": "rows",
    "unit": "costs that are all the same",
    "folds": "None",
    "judged": "the mean log loss of the probabilities",
    "or_learned": ', ``decision="learned"``',
}
NO_FOLDS = inspect.Parameter("cv", inspect.Parameter.KEYWORD_ONLY, default=0)
PLACEHOLDER = re.compile(r"^( *)\{(\w+)\}$", re.MULTILINE)


def documented(**words: str) -> Callable[[K], K]:
    """Fill in the docstring of a family, in which ``{name}`` on a line by itself stands for a paragraph of all families.

    Parameters
    ----------
    **words : str
        What other names in braces stand for, within a line; those that are left out are those of `DEFAULTS`.

    Returns
    -------
    callable
        What takes the class and returns it.
    """

    def fill(family: K) -> K:
        if family.__doc__ is None:  # python -OO
            return family
        text = PLACEHOLDER.sub(lambda found: indented(PARAGRAPHS[found[2]], found[1]), family.__doc__)
        values = {**DEFAULTS, "epochs": str(family._epochs), **words}  # type: ignore[attr-defined]
        if inspect.signature(family).parameters.get("cv", NO_FOLDS).default is None:
            values["epochs"] = f"what folds choose (see `cv`), and of one learner {values['epochs']}"
        for name, value in values.items():
            text = text.replace(f"{{{name}}}", value)
        family.__doc__ = text
        return family

    return fill


def indented(paragraph: str, margin: str) -> str:
    """Return a paragraph with a margin before each line."""
    return "\n".join(margin + line for line in paragraph.split("\n"))
