"""A report on a fitted classifier as one HTML page."""

from __future__ import annotations

import inspect
import re
from contextlib import suppress
from html import escape
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri
from sklearn.calibration import CalibrationDisplay
from sklearn.metrics import confusion_matrix
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import _num_samples, check_is_fitted, column_or_1d

from sklearn_predtron._support.queries import is_missing_id, shortened
from sklearn_predtron.decisions._base import Argmax
from sklearn_predtron.decisions._constraints import Constrained
from sklearn_predtron.decisions._expected_cost import LeastCost
from sklearn_predtron.decisions._fixed_threshold import CutAt
from sklearn_predtron.decisions._promises import Promise, coded
from sklearn_predtron.decisions._threshold import CutBy
from sklearn_predtron.families.classification import PredtronBinaryClassifier, PredtronClassifier
from sklearn_predtron.inspection._coefficients import feature_list, names_of_features
from sklearn_predtron.inspection._costs import CostDisplay
from sklearn_predtron.inspection._display import best_of, check_matplotlib, last_step
from sklearn_predtron.inspection._effects import EffectsDisplay
from sklearn_predtron.inspection._page import number, page, paragraph, picture, share, table
from sklearn_predtron.inspection._promises import PromiseDisplay
from sklearn_predtron.metrics import classwise_calibration_error, savings_score
from sklearn_predtron.metrics._rows import read_weight

BINS = 10  # of the probabilities, with about as many rows each
LARGEST = 10  # importances


class Evaluated(NamedTuple):
    """A classifier with its predictions for rows, and what they cost.

    Parameters
    ----------
    estimator, model : estimator
        The estimator, and the classifier that is its last step.
    X : {array-like, sparse matrix} of shape (n, n_features)
        Inputs, as the estimator takes them.
    codes, predicted : ndarray of shape (n,)
        Numbers of the true labels and of the predictions among `answers`.
    p : ndarray of shape (n, k) or None
        Probabilities, if there are any.
    table : ndarray of shape (n, k, m)
        What each prediction costs under each true label; nan where that is not known.
    costs_from : {"loss", "rows", "realised"}
        Where the costs come from.
    weight : ndarray of shape (n,)
        Weights of the rows, which sum to 1.
    groups : list of length n or None
        The groups.
    """

    estimator: Any
    model: Any
    X: Any
    codes: NDArray
    predicted: NDArray
    p: NDArray | None
    table: NDArray
    costs_from: str
    weight: NDArray
    groups: list[Any] | None

    @property
    def classes(self) -> list[str]:
        """The names of the classes."""
        return [str(label) for label in self.model.classes_.tolist()]

    @property
    def answers(self) -> list[str]:
        """The names of the predictions."""
        return [*self.classes, "abstained"][: self.table.shape[2]]

    @property
    def paid(self) -> NDArray:
        """What each prediction costs in each row."""
        return self.table[np.arange(len(self.codes)), self.codes]

    @property
    def cost(self) -> NDArray:
        """What the model's prediction costs in each row."""
        return self.paid[np.arange(len(self.codes)), self.predicted]

    def mean(self, values: NDArray, among: Any = True) -> float:
        """Return the weighted mean over some rows; nan of none."""
        weight = self.weight * among
        return float(weight @ values / weight.sum()) if weight.any() else float("nan")

    def interval(self, values: NDArray, among: Any = True) -> str:
        """Return a share with its 95 % interval (Wilson 1927), by the effective number of rows (Kish 1965)."""
        weight, found = self.weight * among, self.mean(values, among)
        if not weight.any():
            return "–"
        z2 = ndtri(0.975) ** 2 * (weight @ weight) / weight.sum() ** 2
        middle, half = found + z2 / 2, np.sqrt(z2 * found * (1 - found) + z2**2 / 4)
        return f"{share(found)} ({share(max(middle - half, 0.0) / (1 + z2))} to {share(min((middle + half) / (1 + z2), 1.0))})"


def report(estimator: Any, X: Any, y: Any, *, costs: Any = None, groups: Any = None, sample_weight: Any = None) -> str:
    """Write a report on a fitted classifier as one HTML page.

    The page has what it predicts and costs on the given rows, calibration, bounds, promises, groups and the columns that matter.
    It has its figures and its style in it, and neither scripts nor links.  The same call returns the same page.

    Parameters
    ----------
    estimator : estimator
        A fitted `PredtronBinaryClassifier` or `PredtronClassifier`, a pipeline whose last step is one, or a search for one.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Held-out rows, as the estimator takes them.
    y : array-like of shape (n_samples,)
        True labels, of `classes_`.
    costs : array-like of shape (n_samples, k, m) or (n_samples, m), data frame or dict, default=None
        Costs of the predictions in each row, as for `sample_loss`: those of shape (n_samples, m), which are known with the true
        label, evaluate predictions; others decide them, too.  None takes the costs of the estimator's `loss`.
    groups : array-like of shape (n_samples,), default=None
        The group of each row, a string or a number; None reports no groups.  A pandas Series gives its name to the table.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows in shares and means.

    Returns
    -------
    str
        The page.

    Raises
    ------
    ValueError
        If the estimator, the rows or the costs are not as above; the message names the parameter.
    ImportError
        If matplotlib is not installed.

    See Also
    --------
    CostDisplay : Costs by threshold or by share of the rows.
    PromiseDisplay : How much of what is promised is used.
    EffectsDisplay : The effects of columns on the score.

    Examples
    --------
    >>> import re
    >>> from pathlib import Path
    >>> from sklearn.datasets import make_classification
    >>> from sklearn_predtron import PredtronBinaryClassifier
    >>> from sklearn_predtron.inspection import report
    >>> X, y = make_classification(4000, weights=[0.9], class_sep=0.5, random_state=0)
    >>> model = PredtronBinaryClassifier(loss={(1, 0): 20}, random_state=0).fit(X[:2000], y[:2000])
    >>> page = report(model, X[2000:], y[2000:])
    >>> for name, cost, saved in re.findall("<th>(this model|always .)</th><td>(.*?)</td><td>(.*?)</td>", page):
    ...     print(name, cost, saved)
    this model 0.685 23.38 %
    always 0 2.12 -137.14 %
    always 1 0.894 0 %
    >>> size = Path("report.html").write_text(page, encoding="utf-8")  # doctest: +SKIP
    """
    check_matplotlib("report")
    found = evaluated(estimator, X, y, costs, groups, sample_weight)
    name = getattr(groups, "name", None)
    sections = [
        ("What it is", about(found)),
        ("Costs", costs_of(found)),
        ("Calibration of the probabilities", calibration(found)),
        ("Decision and bounds", decision(found)),
        ("Promises", promises(found)),
        ("Groups", groups_of(found, "group" if name is None else str(name))),
        ("What matters", importances(found)),
    ]
    return page(f"Report on {type(found.model).__name__}", sections)


def evaluated(estimator: Any, X: Any, y: Any, costs: Any, groups: Any, sample_weight: Any) -> Evaluated:
    """Return the predictions for rows and their costs; raise ValueError if a value is not accepted."""
    model = last_step(estimator)[0]
    if not isinstance(model, PredtronBinaryClassifier | PredtronClassifier):
        raise ValueError(
            f"estimator={shortened(model)} has no report; accepted are PredtronBinaryClassifier, PredtronClassifier, and "
            "pipelines whose last step is one."
        )
    check_is_fitted(model)
    fitted, n = model._fitted_model(), _num_samples(X)
    codes = fitted.labels.true_codes(y, n)
    weight = read_weight(sample_weight, codes.astype(np.float64))
    names = read_groups(groups, n)
    rows = last_step(estimator, X)[1]
    if costs is None:
        own = model._costs(model.classes_)
        predicted, table = model._raw_predict(rows), np.broadcast_to(own, (n, *own.shape))
    else:
        predicted, table = model._numbers_of(fitted, rows, costs, codes)
    p = model.predict_proba(rows) if hasattr(model, "predict_proba") else None
    costs_from = "loss" if costs is None else "realised" if np.isnan(table).any() else "rows"
    weight = weight / weight.max()
    return Evaluated(estimator, model, X, codes, predicted, p, table, costs_from, weight / weight.sum(), names)


def read_groups(groups: Any, n: int) -> list[Any] | None:
    """Return the group of each row; raise ValueError for other values."""
    if groups is None:
        return None
    try:
        found: list[Any] = column_or_1d(groups).tolist()
    except (TypeError, ValueError):
        raise ValueError(f"groups={shortened(groups)} must hold one group for each row, of shape ({n},).") from None
    if len(found) != n:
        raise ValueError(f"groups has {len(found)} values for {n} rows; both must be the same number.")
    for row, group in enumerate(found):
        if is_missing_id(group) or not isinstance(group, (str, int, float)):
            raise ValueError(f"groups[{row}]={shortened(group)} is no group; accepted are strings and numbers.")
    return found


# ------------------------------------------------------------------------------------------------------------------- sections


def about(found: Evaluated) -> str:
    """Return the estimator, its parameters and the share of each class."""
    best, model = best_of(found.estimator), found.model
    steps = [type(step).__name__ for _, step in best.steps] if isinstance(best, Pipeline) else [type(model).__name__]
    defaults = inspect.signature(type(model)).parameters
    given = [(name, repr(value)) for name, value in model.get_params(deep=False).items()]
    given = [(name, re.sub(r" at 0x\w+", "", value)) for name, value in given if value != repr(defaults[name].default)]
    text = ", ".join(f"{name}={value}" for name, value in given) or "none"
    counts = np.bincount(found.codes, minlength=len(found.classes))
    rows = [[name, f"{counts[i]:,}", share(found.mean(found.codes == i))] for i, name in enumerate(found.classes)]
    return (
        paragraph(f"Estimator: {', then '.join(steps)}.  Parameters that differ from the defaults: {text}.")
        + paragraph(
            f"All figures are of {len(found.codes):,} held-out rows.  Shares and means are weighted if weights were given."
        )
        + table(["True class", "Rows", "Share"], rows, "Look at rare classes: figures of few rows are uncertain.")
    )


def costs_of(found: Evaluated) -> str:
    """Return the costs of the predictions, beside those of constant ones."""
    k, m, known = len(found.classes), len(found.answers), np.nan_to_num(found.table)
    pairs = {(i, j): known[:, i, j] for i in range(k) for j in range(m)}
    given = {"labels": np.arange(k), "reject_label": k if m > k else None, "sample_weight": found.weight}
    free = m > k and not known[:, :, k].any()
    constant = [(f"always {name}", np.full(len(found.codes), j)) for j, name in enumerate(found.answers)]
    rows = [
        [name, number(found.mean(found.paid[np.arange(len(answer)), answer]))]
        + ["–" if free else share(savings_score(found.codes, answer, pairs, **given))]
        for name, answer in [("this model", found.predicted), *constant]
    ]
    whose = "those of the estimator's loss" if found.costs_from == "loss" else "those given for these rows"
    legend = f"Costs are {whose}.  " + (
        "An abstention costs nothing here, so that there are no savings to speak of."
        if free
        else "Savings are relative to the best constant answer.  A model with savings of 0 % or less is not worth its use."
    )
    text = table(["Answer", "Mean cost of a row", "Savings"], rows, legend)
    shares = [
        [name, f"{of.sum():,}", share(found.mean(of)), number(found.mean(found.cost, of))]
        for name, of in ((name, found.predicted == j) for j, name in enumerate(found.answers))
    ]
    legend = "Look at predictions that are made never or far more often than their class occurs, and at what they cost."
    text += table(["Predicted", "Rows", "Share", "Mean cost of these rows"], shares, legend)
    return text + costs_figure(found)


def costs_figure(found: Evaluated) -> str:
    """Return the costs of two classes by threshold or by share, if they are known for both."""
    both = len(found.classes) == 2 and all(found.weight[found.codes == i].any() for i in range(2))
    if not both or found.p is None or found.costs_from == "realised" or not (found.table[:, [0, 1], [1, 0]] > 0).any():
        return ""
    p, abstains = found.p, "  The curve is without abstentions." if len(found.answers) > 2 else ""
    if found.costs_from == "rows":
        display = CostDisplay.by_share(found.codes, p, found.table[:, :, :2], found.predicted, found.weight)
        return picture("costs", lambda ax: display.plot(ax, name="this model"), BY_SHARE + abstains)
    own = found.table[0]
    given: dict[str, Any] = {"costs": (own[0, 1], own[1, 0]), "sample_weight": found.weight, "name": "this model"}
    on = found.codes == 1
    return picture("costs", lambda ax: CostDisplay.from_predictions(on, p[:, 1], ax=ax, **given), BY_THRESHOLD + abstains)


BY_SHARE = (
    "Mean cost if the second class is predicted for a share of the rows, those in which it saves most in expectation.  Look at "
    "how far the share in force is from the lowest point."
)
BY_THRESHOLD = (
    "Mean cost by the probability from which the second class is predicted.  Look at how far the marked threshold is from the "
    "lowest point, and how far the curve is below the constant answer."
)


def calibration(found: Evaluated) -> str:
    """Return predicted probabilities beside observed shares."""
    if found.p is None:
        return ""
    error = classwise_calibration_error(found.codes, found.p, labels=np.arange(len(found.classes)), sample_weight=found.weight)
    text = paragraph(f"The mean calibration error of the classes is {share(error)}; 0 % is best.")
    legend = "Look at rows in which the predicted probability is outside the 95 % interval of the observed share."
    head = ["Rows", "Mean predicted probability", "Observed share (95 % interval)"]
    if len(found.classes) > 2:
        rows = [
            [name, f"{len(found.codes):,}", share(found.mean(found.p[:, i])), found.interval(found.codes == i)]
            for i, name in enumerate(found.classes)
        ]
        return text + table(["Class", *head], rows, legend)
    p, on = found.p[:, 1], found.codes == 1
    bins = np.searchsorted(np.quantile(p, np.linspace(0, 1, BINS + 1)[1:-1]), p)
    parts = [part for part in (bins == i for i in range(BINS)) if found.weight[part].any()]
    rows = [
        [f"{share(p[part].min())} to {share(p[part].max())}", f"{part.sum():,}", share(found.mean(p, part))]
        + [found.interval(on, part)]
        for part in parts
    ]
    means = [np.array([found.mean(values, part) for part in parts]) for values in (on, p)]
    display = CalibrationDisplay(*means, p, estimator_name="this model")
    text += table([f"Probability of {found.classes[1]}", *head], rows, legend)
    caption = f"Observed share of {found.classes[1]} against its predicted probability.  Points on the diagonal are calibrated."
    return text + picture("calibration", lambda ax: display.plot(ax=ax), caption)


def decision(found: Evaluated) -> str:
    """Return the decision rule, its threshold and its bounds."""
    model = found.model
    rule = model._model_and_decision()[1]
    within = " within the bounds below" if isinstance(rule, Constrained) else ""
    if found.costs_from == "rows":
        text = f"The prediction has the lowest expected cost{within}, by the probabilities and the costs given for each row."
    elif isinstance(rule, CutAt | CutBy):
        text = f"{found.classes[1]} is predicted where the score exceeds threshold_ = {model.threshold_:.4g}."
    elif isinstance(rule, Argmax) or found.p is None:
        text = "The prediction is the class with the highest score."
    else:
        text = f"The prediction has the lowest expected cost{within}, by the probabilities."
        if isinstance(rule, LeastCost) and rule.shifts and rule.regrets.any():
            false, missed = rule.regrets[0, 1], rule.regrets[1, 0]
            text += f"  {found.classes[1]} is predicted where its probability exceeds {share(false / (false + missed))}."
    if model.reject is not None:
        text += f"  The model abstains by reject={model.reject!r}."
    if hasattr(model, "cost_power_"):
        text += f"  In training, rows were weighted by their mean cost of a mistake to the power {model.cost_power_:g}."
    return paragraph(text) + results_of(found, "bounds", getattr(model, "bounds_", ()))


def promises(found: Evaluated) -> str:
    """Return the certificate, and the promises on these rows."""
    certificate = getattr(found.model, "certificate_", None)
    if certificate is None:
        promised = getattr(found.model.reject, "risk", None) is not None
        return paragraph("reject.risk is not certified: call certify on further held-out rows.") if promised else ""
    return f"<pre>{escape(str(certificate))}</pre>\n" + results_of(found, "promises", certificate.results)


def results_of(found: Evaluated, name: str, results: Any) -> str:
    """Return bounds with their values on two sets of rows."""
    if not results:
        return ""
    rows = [
        [repr(one.promise), "yes" if one.kept else "no", f"{one.value:.4g} ({one.n_rows:,.0f})", measured(found, one.promise)]
        for one in results
    ]
    head = [name.capitalize(), "Kept", "Value when chosen (rows)", "Value on these rows (rows)"]
    legend = "Look at values on these rows that are beyond the bound: a little beyond may be chance, far beyond is not."
    caption = "The value when it was chosen, relative to the bound: points right of 1 are beyond it."
    drawn = picture(name, lambda ax: PromiseDisplay.from_results(list(results), ax=ax), caption, (8, 1.2 + 0.6 * len(rows)))
    return table(head, rows, legend) + drawn


def measured(found: Evaluated, promise: Promise) -> str:
    """Return the measure of a promise on the rows."""
    k, among = len(found.classes), np.ones(len(found.codes), dtype=bool)
    if callable(promise.measure):
        counts = confusion_matrix(found.codes, found.predicted, labels=range(k), sample_weight=found.weight * len(among))
        return f"{promise.measure(counts):.4g} ({len(among):,})"
    if promise.group is not None:
        if found.groups is None:
            return "–"
        among = np.array([group == promise.group for group in found.groups])
    own = found.model._costs(found.model.classes_)
    own = np.column_stack([own[:, :k], np.zeros(k)])  # an abstention has a column, and no risk
    hits, scope = coded([promise], found.model.classes_, own[:, :k], "promises")[0].parts(own)
    among = among & (scope[found.codes, found.predicted] > 0)
    return f"{found.mean(hits[found.codes, found.predicted], among):.4g} ({among.sum():,})"


def groups_of(found: Evaluated, name: str) -> str:
    """Return shares, recall and costs of each group."""
    if found.groups is None:
        return ""
    names = sorted(set(found.groups), key=lambda group: (isinstance(group, str), group))
    masks = [np.array([one == group for one in found.groups]) for group in names]
    wanted = [1] if len(found.classes) == 2 else range(len(found.classes))
    rows, recalls = [], []
    for group, among in zip(names, masks, strict=True):
        for i in wanted:
            true, predicted = found.codes == i, found.predicted == i
            rows.append(
                [str(group), found.classes[i], f"{among.sum():,}", share(found.mean(true, among))]
                + [share(found.mean(predicted, among)), found.interval(predicted, among & true)]
                + [share(found.mean(predicted, among & ~true)), number(found.mean(found.cost, among))]
            )
            recalls.append((found.mean(predicted, among & true), str(group)))
    head = ["Class", "Rows", "Share", "Predicted", "Recall (95 % interval)", "False positive rate", "Mean cost of a row"]
    legend = (
        "Recall is the share of the class that is predicted as such, the false positive rate that of the other rows.  Abstained "
        "rows count as not found.  Look at groups whose recall or cost differ by more than the intervals."
    )
    text = table([name, *head], rows, legend)
    known = [recall for recall in recalls if recall[0] == recall[0]]
    if len(wanted) > 1 or len(known) < 2:
        return text
    low, high = min(known), max(known)
    difference = share(high[0] - low[0]).removesuffix(" %")
    return text + paragraph(
        f"The largest difference of recall is {difference} percentage points: {share(high[0])} in {high[1]}, "
        f"{share(low[0])} in {low[1]}."
    )


def importances(found: Evaluated) -> str:
    """Return the columns that matter most, and their effects."""
    sizes = getattr(found.model, "feature_importances_", None)
    if sizes is None:
        return ""
    names = feature_list(names_of_features(best_of(found.estimator), found.model), len(sizes))
    rows = [[names[j], number(sizes[j])] for j in np.argsort(-sizes, kind="stable")[:LARGEST]]
    legend = "How far each column moves the score, on average.  Look for columns that should not matter, or not so much."
    text = table(["Column", "Importance"], rows, legend)
    if len(found.classes) == 2 and hasattr(getattr(found.model, "features_", None), "terms_"):
        with suppress(ValueError):  # sparse rows, and rows that do not differ, have no effects to draw
            caption = f"The strongest effects: above 0 a value speaks for {found.classes[1]}, below 0 for {found.classes[0]}."
            given = found.estimator, found.X
            text += picture("effects", lambda ax: EffectsDisplay.from_estimator(*given, n_terms=3, ax=ax), caption, (10.8, 3))
    return text
