"""Predictions and attributes that a mixture takes from its estimator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numpy.typing import NDArray
from sklearn import get_config
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from sklearn_predtron._support.types import keeping_type

ROUTED = ("fit", "partial_fit", "predict", "decision_function", "score")


def offered(name: str) -> Callable[[Any], bool]:
    """Return a check that the mixed estimator has a method."""
    return lambda mixing: hasattr(getattr(mixing, "estimator_", mixing.estimator), name)


class Delegating:
    """Base of meta-estimators that delegate predictions."""

    estimator: Any
    estimator_: Any

    def _fitted(self) -> Any:
        """Return the fitted estimator."""
        check_is_fitted(self, "estimator_")
        return self.estimator_

    def _routed(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Return the metadata to pass to a method of the estimator."""
        if not get_config()["enable_metadata_routing"] or method not in ROUTED:
            return params
        return dict(process_routing(self, method, **params).estimator[method])

    def get_metadata_routing(self) -> MetadataRouter:
        """Return the metadata that the estimator requests.

        Returns
        -------
        MetadataRouter
            The routing.
        """
        mapping = MethodMapping()
        for method in ROUTED:
            mapping.add(caller=method, callee=method)
        return MetadataRouter(owner=type(self).__name__).add(estimator=self.estimator, method_mapping=mapping)

    def predict(self, X: Any, **params: Any) -> Any:
        """Predict as the fitted estimator does.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Inputs.
        **params : dict
            Other arguments of its `predict`.

        Returns
        -------
        ndarray
            The result of its `predict`.
        """
        return self._fitted().predict(X, **self._routed("predict", params))

    @keeping_type(available_if(offered("decision_function")))
    def decision_function(self, X: Any, **params: Any) -> Any:
        """Compute the scores of the fitted estimator.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Inputs.
        **params : dict
            Other arguments of its `decision_function`.

        Returns
        -------
        ndarray
            The result of its `decision_function`.
        """
        return self._fitted().decision_function(X, **self._routed("decision_function", params))

    @keeping_type(available_if(offered("predict_proba")))
    def predict_proba(self, X: Any, **params: Any) -> NDArray:
        """Compute the probabilities of the fitted estimator.

        Those of a tagger are available after ``estimator_.calibrate(X, y, sid=sid)``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Inputs.
        **params : dict
            Other arguments of its `predict_proba`, such as `sid`.

        Returns
        -------
        ndarray
            The result of its `predict_proba`.
        """
        return self._fitted().predict_proba(X, **self._routed("predict_proba", params))

    @keeping_type(available_if(offered("predict_log_proba")))
    def predict_log_proba(self, X: Any) -> NDArray:
        """Compute the logarithms of `predict_proba`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        ndarray
            The result of its `predict_log_proba`.
        """
        return self._fitted().predict_log_proba(X)

    @keeping_type(available_if(offered("rank")))
    def rank(self, X: Any, **params: Any) -> NDArray:
        """Rank the documents of each query as the fitted ranker does.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Inputs.
        **params : dict
            Other arguments of its `rank`.

        Returns
        -------
        ndarray
            The result of its `rank`.
        """
        return self._fitted().rank(X, **self._routed("rank", params))

    @keeping_type(available_if(offered("sample_loss")))
    def sample_loss(self, X: Any, y: Any, **params: Any) -> NDArray:
        """Compute the fitted estimator's own loss of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Inputs.
        y : array-like
            Labels.
        **params : dict
            Other arguments of its `sample_loss`.

        Returns
        -------
        ndarray
            The result of its `sample_loss`.
        """
        return self._fitted().sample_loss(X, y, **self._routed("sample_loss", params))

    @keeping_type(available_if(offered("margin")))
    def margin(self, X: Any, y: Any, **params: Any) -> float:
        """Measure the margin of the weights that predict.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Inputs.
        y : array-like
            Labels.
        **params : dict
            Other arguments of its `margin`.

        Returns
        -------
        float
            The result of its `margin`.
        """
        return self._fitted().margin(X, y, **self._routed("margin", params))

    @keeping_type(available_if(offered("loss_bound")))
    def loss_bound(self, margin: float | None = None, radius: float | None = None, **params: Any) -> float:
        """Bound the online loss, if a theorem applies.

        The bound is that of one learner.  For a mixture it bounds `mixed_loss_`, the mean of the shards' losses summed over the
        rounds; `estimator_.cumulative_loss_` is the sum over all shards, which may be as many times larger.

        Parameters
        ----------
        margin : float, default=None
            Margin of some weights of length 1.
        radius : float, default=None
            Largest length of a row, as the fitted estimator's `loss_bound` takes it.
        **params : dict
            Other arguments of its `loss_bound`.

        Returns
        -------
        float
            A bound on `mixed_loss_`.
        """
        return float(self._fitted().loss_bound(margin, radius, **params))

    def score(self, X: Any, y: Any, **params: Any) -> float:
        """Return the score of the fitted estimator.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Inputs.
        y : array-like
            Labels.
        **params : dict
            Other arguments of its `score`.

        Returns
        -------
        float
            The result of its `score`.
        """
        return self._fitted().score(X, y, **self._routed("score", params))

    @property
    def classes_(self) -> NDArray:
        """Classes of the fitted estimator."""
        return self._fitted().classes_

    @property
    def n_features_in_(self) -> int:
        """Features of X."""
        return self._fitted().n_features_in_

    @property
    def feature_names_in_(self) -> NDArray:
        """Names of the features, if X had them."""
        return self._fitted().feature_names_in_
