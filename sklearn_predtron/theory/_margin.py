"""The margin of given weights."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from sklearn_predtron._core.rows import OVERFLOW
from sklearn_predtron.families.sequences import PredtronSequenceTagger
from sklearn_predtron.theory._prepared_data import prepare
from sklearn_predtron.updates._comparator import as_weights


def margin(estimator: Any, X: Any, y: Any, coef: Any, intercept: Any = None, *, qid: Any = None, classes: Any = None) -> float:
    """Compute the margin of given weights, at unit norm.

    gamma = min <rep(sigma_y) - rep(sigma), W x + b> / |(W, b / s)| over the rows and the predictions sigma that lose (Jain et
    al. 2015, section 2.2), for rankings over pairs of items.  The estimator's own `margin` is this margin of its own weights.

    Parameters
    ----------
    estimator : estimator of sklearn_predtron
        Its loss, representation, norm, intercept and update define the margin; it need not be fitted.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Inputs, or documents.
    y : array-like
        Labels as for the estimator's `fit`.
    coef : array-like of shape (d, n_features), or (n_features,) for d = 1
        The weights W.
    intercept : array-like of shape (d,), default=None
        The offsets b; None is 0.
    qid : array-like of shape (n_samples,), default=None
        The query of each document; None is one query.
    classes : array-like of shape (k,), default=None
        The classes of an estimator that is not fitted, as for `partial_fit`: predictions of classes that y lacks count, too.
        None takes those of y.  A fitted estimator has its own.

    Returns
    -------
    float
        The margin gamma, for `loss_bound`; infinite where nothing can be predicted wrongly.

    See Also
    --------
    largest_margin : The largest one, on a small data set.
    unit_margin : The margin of a tagger for each unit of loss.
    theorem_of : Names the theorem that it is for.

    Examples
    --------
    >>> from sklearn_predtron import PredtronClassifier
    >>> from sklearn_predtron.theory import margin
    >>> model = PredtronClassifier(norm="l2", representation="onehot", fit_intercept=False)
    >>> round(margin(model, [[1, 0], [0, 1], [-1, -1]], [0, 1, 2], [[3, 0], [0, 3], [0, 0]]), 6)
    0.707107
    """
    data = prepare(estimator, X, y, qid, classes)
    d = data.problem.d
    W = as_weights(coef, "coef", (data.problem.score_map.n_directions, data.X.shape[1]))
    b = np.zeros(d) if intercept is None else as_weights(intercept, "intercept", (d,))
    if b.any() and data.feature == 0:
        raise ValueError(f"intercept={intercept!r} must be None or zeros: the estimator has no intercept.")
    size = max(np.abs(W).max(), np.abs(b).max() / (data.feature or 1.0))
    if size == 0:
        raise ValueError("coef is zero; weights of a positive length have a margin.")
    W, b = W / size, b / size  # no square over- or underflows
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        scores = np.ascontiguousarray(data.X @ W.T + b, dtype=np.float64)
    if not np.isfinite(scores).all():
        raise ValueError(OVERFLOW)
    length = (
        data.model._norm_of_weights()
        .for_rows(sparse=sparse.issparse(data.X))
        .length(W, b / data.feature if data.feature > 0 else b[:0], apart=data.problem.score_map.offsets_apart)
    )
    return float(data.problem.margins(scores, data.labels, data.pairwise).min(initial=np.inf) / length)


def unit_margin(estimator: Any, X: Any, y: Any, *, sid: Any = None) -> float:
    """Compute a tagger's margin per unit of loss.

    The largest g with S(y) - S(sigma) >= g L(sigma, y) for all sequences and labels sigma: the least ratio of the two over
    those that lose, between margin / C_L and margin / c_L, or -inf where labels without loss score more than y.  It is the
    natural margin of a loss that adds up over tokens, and takes a few loss-augmented decodings per sequence (Dinkelbach 1967).

    Parameters
    ----------
    estimator : PredtronSequenceTagger
        A fitted tagger.
    X : {array-like, sparse matrix} of shape (n_tokens, n_features)
        Tokens.
    y : array-like of shape (n_tokens,)
        True labels, of `classes_`.
    sid : array-like of shape (n_tokens,), default=None
        The sequence of each token, as for `predict`.

    Returns
    -------
    float
        The margin for a unit of loss, for `loss_bound`; nan where the weights are zero, infinite where no labels lose.

    See Also
    --------
    margin : The margin of the other estimators.
    sklearn_predtron.losses.SequenceHamming : A loss that adds up over tokens.

    Examples
    --------
    >>> from sklearn_predtron import PredtronSequenceTagger
    >>> from sklearn_predtron.losses import SequenceHamming
    >>> from sklearn_predtron.theory import unit_margin
    >>> X, y, sid = [[2.0], [1.0], [-1.0], [1.0], [-2.0]], [1, 1, 0, 1, 0], [0, 0, 0, 1, 1]
    >>> loss = SequenceHamming({(1, 0): 4.0})
    >>> model = PredtronSequenceTagger(loss=loss, norm="l2", intercept_scaling=1.0, random_state=0)
    >>> model = model.fit(X, y, sid=sid)
    >>> round(model.margin(X, y, sid=sid), 2), round(unit_margin(model, X, y, sid=sid), 2)
    (0.77, 0.47)
    """
    if not isinstance(estimator, PredtronSequenceTagger):
        raise ValueError(f"estimator={estimator!r} must be a PredtronSequenceTagger; others have theory.margin.")
    return float(estimator._unit_margins(X, y, sid).min(initial=np.inf))
