"""The base of classifiers with a cost table; the table has the costs of true and predicted classes."""

from __future__ import annotations

from functools import partial
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _num_samples

from sklearn_predtron._core.problem import Codes
from sklearn_predtron._support.compat import ClassifierMixin, StrOptions, check_sample_weight, with_callbacks
from sklearn_predtron._support.encoding import plain_texts, refuse_missing
from sklearn_predtron._support.names import refusing
from sklearn_predtron._support.parts import checked_build
from sklearn_predtron._support.queries import shortened
from sklearn_predtron._support.row_costs import Capacity, classes_of_least_cost, costs_by_row
from sklearn_predtron._support.types import keeping_type
from sklearn_predtron._support.warning import caller_among, warn
from sklearn_predtron.decisions._base import PLAIN, Argmax, Decision, UnseenRows, losses_by_table
from sklearn_predtron.decisions._calibration import BinaryScores, Calibration, ClassScores
from sklearn_predtron.decisions._constraints import Constrained, capacity_of, reached_bounds
from sklearn_predtron.decisions._decision_rules import Cut, DecisionRule, ExpectedCost
from sklearn_predtron.decisions._expected_cost import LeastCost
from sklearn_predtron.decisions._fixed_threshold import CutAt
from sklearn_predtron.decisions._promises import checked_groups, checked_promises, coded
from sklearn_predtron.decisions._reject_at_rate import RejectAtRate
from sklearn_predtron.decisions._reject_at_risk import (
    Certificate,
    CertifiedReject,
    PromiseResult,
    certificate_of,
    fewest_rows,
    warn_if_free,
    warn_of_certificate,
)
from sklearn_predtron.decisions._rejection_tracker import RejectionTracker
from sklearn_predtron.decisions._threshold import CutBy, measure_of_cut
from sklearn_predtron.families._class_costs import ClassCosts
from sklearn_predtron.families.estimator.attributes import learned, recorded
from sklearn_predtron.families.estimator.base import BasePredtron
from sklearn_predtron.families.estimator.linear_models import Linear, LinearModelReader, encoder
from sklearn_predtron.families.estimator.widening import check_takes
from sklearn_predtron.families.input.weighted_rows import WeighedClasses
from sklearn_predtron.families.labels._codec import Codec
from sklearn_predtron.families.labels.classes import Classes
from sklearn_predtron.families.training.plan import ACCEPTED
from sklearn_predtron.losses import CostTableLoss, Reject, ZeroOne, table_loss
from sklearn_predtron.losses._row_costs import are_realised, check_not_revealing
from sklearn_predtron.losses.multiclass import counts_mistakes
from sklearn_predtron.losses.reject import checked_reject, label_of_reject
from sklearn_predtron.metrics._means import mean_loss
from sklearn_predtron.predictor._answers import scores_of_classes
from sklearn_predtron.problems._finite import FiniteProblem
from sklearn_predtron.representations import CodeRepresentation, table_representation

if TYPE_CHECKING:
    from sklearn_predtron._support.types import Self


# Classifiers of scikit-learn that predict by the scores or probabilities of others.
PREDICTING_BY_SCORES = frozenset(
    (
        "BaggingClassifier",
        "CalibratedClassifierCV",
        "FixedThresholdClassifier",
        "OneVsOneClassifier",
        "OneVsRestClassifier",
        "OutputCodeClassifier",
        "StackingClassifier",
        "TunedThresholdClassifierCV",
        "VotingClassifier",
    )
)
# Those that use the predictions of others, and would take an abstention as a label.
PREDICTING_BY_LABELS = frozenset(("AdaBoostClassifier", "ClassifierChain", "StackingClassifier", "VotingClassifier"))


class TableClassifier(ClassifierMixin, BasePredtron):
    """Base of classifiers with a cost table as loss."""

    _parameter_constraints: dict[str, list] = {
        **BasePredtron._parameter_constraints,
        "loss": [str, "array-like", dict, CostTableLoss],
        "representation": [str, "array-like", CodeRepresentation],
        "class_weight": [StrOptions({"balanced"}), dict, None],
        "reject": [Reject, Real, None],
        "decision": [str, Real, DecisionRule, None],
        "cv": ACCEPTED,
    }
    loss: Any
    representation: Any
    class_weight: Any
    reject: Any
    decision: Any
    _codec: type[Classes] = Classes
    _unit_loss: CostTableLoss = ZeroOne()  # the training loss of a decision with the lowest expected cost
    _cuts: tuple[str, ...] = ()  # measures by which the score may be cut

    @learned
    def classes_(self) -> NDArray:
        """The labels."""
        return self._model.labels.classes

    # ----------------------------------------------------------------------------------------- labels, problem and decision

    def _read_labels(self, y: Any, classes: Any, known: Any, *, partial: bool) -> tuple[Codec, Codes]:
        if known is None:
            codec, labels = self._codec.first(y, classes, partial=partial)
            self._class_costs(codec.classes).warn_of_reject()
            return codec, labels
        known.check_same(classes)
        return known, known.encode(y)

    def _reader(self) -> WeighedClasses:
        return self._reader_of_weights(self._weights_of_costs)

    def _costs_by_row(self, costs: Any, classes: NDArray, n: int, codes: NDArray | None = None) -> NDArray:
        """Return the costs of the predictions, row by row.

        There are n rows; pairs that `costs` leaves out have the costs of the loss.  With the numbers of the true labels, costs
        may be those by these labels alone.
        """
        return costs_by_row(costs, classes, self._named(classes).tolist(), self._costs_otherwise(classes), n, codes)

    def _costs_otherwise(self, classes: NDArray) -> NDArray:
        """Return the costs of the pairs that `costs` leaves out; raise ValueError if `costs` are not accepted."""
        own = self._class_costs(classes)
        if own.reject is not None and own.reject.cost is None:
            raise ValueError(f"costs do not go with {own.promise}, which is by the costs of loss; accepted is reject.cost.")
        return own.table

    def _widen_labels(self, labels: Any, classes: Any) -> tuple[Codec, list[int]]:
        check_takes(
            classes,
            "loss",
            self.loss,
            table_loss(self.loss),
            "'zero_one', dicts of costs and CostMatrix(costs, labels=[all labels])",
        )
        check_takes(classes, "representation", self.representation, table_representation(self.representation), "'onehot'")
        return labels.extended(classes)

    def _build_problem(self, labels: Any) -> FiniteProblem:
        costs, k = self._class_costs(labels.classes), len(labels.classes)
        loss = self._unit_loss if isinstance(costs.rule, ExpectedCost) else costs.loss
        code = labels.representations[0] if labels.representations else self.representation
        representation = table_representation(code, lambda part: loss.build(part, labels.classes))
        return checked_build(loss, loss.build(representation, labels.classes), FiniteProblem, k=k)

    def _decision(self, labels: Any, call_metadata: Any = None) -> Decision:
        costs = self._class_costs(None if labels is None else labels.classes)
        measure = measure_of_cut(costs.given_rule, self.reject, self._cuts) if isinstance(costs.given_rule, Cut) else None
        costs.check()
        if labels is None:
            return PLAIN
        k, reject, rule, held = len(labels.classes), costs.reject, costs.rule, self.decision is None
        of: Any = BinaryScores() if k == 2 else ClassScores(k, ranked=not isinstance(self._unit_loss, ZeroOne))
        deciding = partial(self._deciding_costs, costs, labels, call_metadata)
        if isinstance(rule, ExpectedCost):
            calibration, constraints = Calibration(of, rule.smoothing), costs.constraints
            if reject is not None and reject.rate is not None:
                return RejectAtRate(calibration, deciding(costs.between), float(reject.rate), costs.weights)
            if reject is not None and reject.risk is not None:
                promised, confidence = costs.promised, float(reject.confidence)
                return CertifiedReject(calibration, costs.between, promised, confidence, costs.promise, costs.weights)
            table = deciding(costs.table)
            cheapest = LeastCost(calibration, table, costs.weights)
            return Constrained(cheapest, constraints, rule.confidence, costs.table) if constraints else cheapest
        calibration = Calibration(of)
        if isinstance(rule, Cut):
            if measure is None:
                return CutAt(of, np.array([float(rule.at)]), calibration)
            return CutBy(measure, rule.at, calibration)
        follows = held and not costs.has_own_problem
        if follows and call_metadata is not None and call_metadata.rows.any():
            return LeastCost(calibration, deciding(costs.table), or_decoded=True)
        agrees = follows and self.class_weight is None
        losses_of = partial(losses_by_table, deciding(costs.table))
        return Argmax(Calibration(of, agrees=agrees), holds_out=held, losses_of=losses_of)

    def _deciding_costs(self, own: ClassCosts, labels: Any, call_metadata: Any, costs: NDArray) -> NDArray:
        """Return the costs for calls without `costs`.

        They are the costs of the loss.  If it is the unit loss and `fit` was given costs of rows, they are the means of these.
        The class weights multiply them.
        """
        if call_metadata is not None and own.is_unit_loss:
            costs = call_metadata.means(costs)
        if isinstance(self.class_weight, str):
            weight = None if call_metadata is None else call_metadata.class_weight
        else:
            weight = self._reader_of_weights(lambda classes: None).of_classes(labels)
        return costs if weight is None else costs * weight[:, None]

    def _class_costs(self, classes: Any) -> ClassCosts:
        """Return loss, reject option and decision rule; they are for the given classes."""
        return self._once(ClassCosts, self.loss, self._unit_loss, self.reject, self.decision, self._cuts, classes)

    def _costs(self, classes: NDArray) -> NDArray:
        """Return the costs of all predictions.

        Each true class has a row, each prediction a column; the last column is that of a rejection.
        """
        return self._class_costs(classes).table

    def _reader_of_weights(self, by_costs: Any) -> WeighedClasses:
        """Return the reader of class weights; they come from `class_weight` and from costs of classes."""
        return WeighedClasses(type(self).__name__, self.class_weight, by_costs, self._costs_by_row)

    def _weights_of_costs(self, classes: NDArray) -> NDArray | None:
        """Return the class weights that follow from costs; they are those of the decision if there is one."""
        model = self._model
        if model is None or classes is not model.labels.classes:
            return self._class_costs(classes).weights
        decision = model.decision_of(self._decision)
        return decision.weights if isinstance(decision, LeastCost | Constrained) else None

    def _read_linear(self, reader: LinearModelReader) -> tuple[Codec, Linear]:
        scores = reader.of_classes()
        labels = self._codec.of_model(reader.model.classes_)
        return labels, self._encoded(labels, reader.check_intercept(scores, fit_intercept=self.fit_intercept))

    def _encoded(self, labels: Classes, scores: Linear) -> Linear:
        """Return weights that decode to scores of classes; the weights are those of the problem's scores."""
        problem, k = self._build_problem(labels), len(labels.classes)
        scores = scores.of_each_class(1.0 if problem.d == 1 else 0.5)  # as in decision_function
        encode = encoder(problem.decision, problem.d, k)
        if encode is None:
            raise ValueError(f"representation={shortened(self.representation)} has no scores for any {k} decoded ones.")
        weights = Linear(encode @ scores.coef, encode @ scores.intercept)
        if problem.score_map.offsets_apart and not weights.is_one_direction():
            raise ValueError(
                f"representation={self.representation!r} has one direction with ordered thresholds, and the model has several, "
                "or others; accepted is another representation, and for ranks a model with `theta_`, as mord's."
            )
        return weights

    # ----------------------------------------------------------------------------------------------------------- learning

    __metadata_request__score = {"costs": True}
    __metadata_request__fit = {"costs": True}
    __metadata_request__partial_fit = {"costs": True}

    @keeping_type(with_callbacks)
    def fit(self, X: Any, y: Any, sample_weight: Any = None, costs: Any = None) -> Self:
        """Learn from a data set in shuffled epochs.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Inputs.  C-contiguous float32 and float64 arrays and CSR matrices are read without a copy, whatever the order of the
            entries; CSR rows that hold a feature twice are summed in a copy.  The length of a row must be 0 or from 1e-140 to
            1e140.
        y : array-like of shape (n_samples,)
            Labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Nonnegative weights, of which only ratios matter; a row with zero weight counts as absent.  In shuffled epochs a
            row appears in proportion to its weight; in the given order the weight multiplies its step.
        costs : array-like of shape (n_samples, k, m) or (n_samples, m), data frame or dict, default=None
            Costs of the predictions in each row, in the forms of `predict`.  Rows are weighted in training by their mean cost
            of a mistake, or by its square root, if that lowers the cost of the held-out rows by more than a standard error
            (`cost_power_`); without held-out rows (``cv=0``) by the square root.  Probabilities are those of the rows as
            given, whatever their costs.  `predict` without ``costs`` then decides by the mean costs of these rows, unless
            `loss` has costs of its own.  Costs that are known only with the true label are an array of shape (n_samples, m),
            what each prediction costs in the row; only their means are used.

        Returns
        -------
        Self
            The fitted estimator.

        Raises
        ------
        ValueError
            If a value is not accepted; the message names it, and the estimator stays unchanged.
        """
        return self._fit(X, y, sample_weight=sample_weight, costs=costs)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None, costs: Any = None) -> Self:
        """Learn from rows in the given order, one pass.

        The result is, to the last bit, the same for any way of splitting a stream into calls.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Inputs, of lengths as for `fit`.  If a step still overflows, an error is raised and the rounds before it are kept.
        y : array-like of shape (n_samples,)
            Labels.
        classes : array-like of shape (n_classes,), default=None
            All labels that will ever occur; required by the first call, unless the `categories` of y define them.
        sample_weight : array-like of shape (n_samples,), default=None
            Nonnegative weights; a row with zero weight counts as absent.  Under the default update a row of w times the mean
            weight so far counts as about w rows (see `Adaptive`); under others w multiplies the cap of the step.
        costs : array-like of shape (n_samples, k, m) or (n_samples, m), data frame or dict, default=None
            Costs of the predictions in each row, in the forms of `fit`.  Each row is weighted by the square root of its mean
            cost of a mistake; a row in which no mistake costs anything is skipped.  `predict` without ``costs`` decides by the
            mean costs so far, unless `loss` has costs of its own.

        Returns
        -------
        Self
            The estimator.

        Raises
        ------
        ValueError
            If a value is not accepted; the message names it, and the estimator stays unchanged.
        """
        model = self._model
        stream = model.stream if model is not None and sample_weight is None and costs is None else None
        if stream is not None and stream.take(X, y, classes):
            return self
        return self._partial_fit(X, y, classes=classes, sample_weight=sample_weight, costs=costs)

    def _check_promises_risk(self) -> bool:
        """Return True if the reject option has a risk; raise AttributeError otherwise."""
        if getattr(self.reject, "risk", None) is None:
            raise AttributeError(
                f"certify is for reject=Reject(risk=...), and here is reject={self.reject!r}.  A promise needs answers "
                "that may be withheld; set_params(reject=...) is accepted before and after fit."
            )
        return True

    @keeping_type(available_if(_check_promises_risk))
    @refusing("sample_weight", "the tests need rows that are drawn one by one; draw rows by their weights, and pass these")
    def certify(self, X: Any, y: Any, promises: Any = None, *, groups: Any = None) -> Self:
        """Choose which rows are answered, so that promises are kept with confidence.

        Limits of the expected cost of answers are tested on held-out rows, from strict to wide, until a test fails (Learn then
        Test, Angelopoulos et al. 2021).  Tests are exact if all mistakes of a promise cost the same, and by bets (Waudby-Smith
        and Ramdas 2024) otherwise.  All promises together are kept with the probability ``reject.confidence``.

        Promises about single predictions ("risk" with `predicted`, and "precision") have a limit for each predicted label,
        and labels without a promise are always answered.  If other promises are among them, one limit holds for all labels.

        The rows must come from the distribution of later rows, and must not have been used in training.  The certificate holds
        until the model is trained further.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Inputs.  95 % confidence in at most 2 wrong answers of 100 takes at least 149 answered rows without a mistake.
        y : array-like of shape (n_samples,)
            True labels, of `classes_`.
        promises : list of AtMost and AtLeast, default=None
            The promises; None are those of ``reject.risk``.
        groups : array-like of shape (n_samples,), default=None
            Groups of the rows; accepted with promises of which one has a group.

        Returns
        -------
        Self
            The estimator, with `certificate_`.

        Raises
        ------
        ValueError
            If the rows, labels, promises or groups are invalid.

        Warns
        -----
        UserWarning
            If a promise was not shown to be kept; `predict` then abstains instead of the answers that it depends on.  The
            message has a bound that the rows do show, if there is one.

        Examples
        --------
        >>> from sklearn.datasets import make_classification
        >>> from sklearn_predtron import PredtronBinaryClassifier
        >>> from sklearn_predtron.decisions import AtLeast, AtMost
        >>> from sklearn_predtron.losses import Reject
        >>> X, y = make_classification(6000, class_sep=1.5, random_state=0)
        >>> model = PredtronBinaryClassifier(reject=Reject(risk=0.1), random_state=0).fit(X[:2000], y[:2000])
        >>> promises = [AtMost("risk", 0.01), AtLeast("recall", 0.8, label=1)]
        >>> print(model.certify(X[2000:4000], y[2000:4000], promises).certificate_)
        Certificate of 2000 held-out rows, 1913 answered, with 0.95 confidence
        - AtMost('risk', 0.01) is kept: 0.00523 on 1913 rows, p = 0.017
        - AtLeast('recall', 0.8, label=1) is kept: 0.94 on 999 rows, p < 0.0001
        Answers by expected cost: 0 up to 0.0856, 1 up to 0.0856
        It lapses with more training, another loss, decision or reject, and for rows of another distribution.
        """
        with self._lock:
            model = self._fitted_model()
            self._check_has_probabilities()
            decision: Any = model.decision_of(self._decision)
            classes = model.labels.classes
            asked = None if promises is None else coded(checked_promises(promises), classes, decision.costs, "promises")
            probabilities = model.decoded(X, decision.calibration)
            codes = model.labels.true_codes(y, len(probabilities))
            of_rows = checked_groups(groups, [promise.group for promise in asked or ()], len(codes))
            unseen = UnseenRows.of(model.learner, model.fitted_decision)
            saved = decision.certified(unseen, probabilities, codes, asked, of_rows)
            model.fitted_decision = {**(model.fitted_decision or {}), "certificate": saved}
            given = None if promises is not None else decision.name

            def supported(number: int) -> str:
                promise = (decision.promises if asked is None else asked)[number]
                return decision.supported(unseen, probabilities, codes, promise, of_rows).advice(classes)

            warn_of_certificate(certificate_of(saved, classes), given, fewest_rows(saved, decision.costs), supported)
            if promises is None and (decision.costs.max(axis=0) == 0).any():
                warn_if_free(decision, classes, model.decoded(X, decision))
        return self

    @learned
    def certificate_(self) -> Certificate:
        """The result of `certify` for the current model."""
        model, decision = self._model_and_decision()
        found = model.of_unseen_rows(decision.found) if isinstance(decision, CertifiedReject) else None
        if found is None:
            raise AttributeError("certificate_ is there after certify(X, y), with reject=Reject(risk=...).")
        return certificate_of(found, model.labels.classes)

    @learned
    def bounds_(self) -> tuple[PromiseResult, ...]:
        """The bounds of ``decision.subject_to`` with their values on held-out rows."""
        model, decision = self._model_and_decision()
        return model.of_unseen_rows(partial(reached_bounds, decision))

    @learned
    def rejected_share_(self) -> float:
        """The share of a stream's rounds that were rejected.

        It exists with ``reject.rate``.  The rounds were rejected before they were used in training.
        """
        model, decision = self._model_and_decision()
        observer = model.learner.observer
        if not isinstance(decision, RejectAtRate) or not isinstance(observer, RejectionTracker):
            raise AttributeError("rejected_share_ exists in streams, with reject=Reject(rate=...).")
        with model.learner.lock.reading():
            _, followed, asked = observer.up_to_now(decision)
        if followed == 0:
            raise AttributeError("rejected_share_ exists once partial_fit has continued for a tenth of the earlier rounds.")
        return asked / followed

    cost_power_ = recorded("cost_power_", "The power of the cost of a row's mistakes that was its weight in `fit` with `costs`.")

    # --------------------------------------------------------------------------------------------------------- prediction

    def decision_function(self, X: Any) -> NDArray:
        """Compute the decoded scores <rep(sigma), t> of the classes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        ndarray of shape (n_samples, n_classes), or (n_samples,) for two classes
            For two classes the score of the second: t or -t if d = 1, otherwise the difference of the two.
        """
        self._warn_if_abstention_is_lost("decision_function")
        model, decision = self._model_and_decision()
        return scores_of_classes(model.problem, model.scores(X, decision), len(model.labels.classes))

    def predict(self, X: Any, costs: Any = None) -> NDArray:
        """Predict the class, or abstain.

        Abstention needs a reject option.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Inputs.
        costs : array-like of shape (n_samples, k, m), data frame or dict, default=None
            Costs of the predictions in each row, instead of `loss`: an array in the order of `classes_`, with a last column for
            ``reject.label`` if there is a reject option; a data frame whose columns are pairs (true, predicted); or
            {(true, predicted): a number or an array of shape (n_samples,)}.  Pairs left out have the costs of `loss` and
            `reject`.  The prediction has the lowest expected cost under `predict_proba`, whatever the `decision`, but within a
            bound of the share of the rows that have one answer (see `ExpectedCost`); `class_weight` does not multiply these
            costs.  None decides by `decision` or, if `fit` was given costs, by their means (see there).

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels of `classes_`, and ``reject.label`` for the rows that are rejected.

        Raises
        ------
        ValueError
            If the costs are not as above (the message names the pair, the row and the shape), or if `costs` are given and there
            are no probabilities (see `predict_proba`).
        """
        self._warn_if_abstention_is_lost("predict", PREDICTING_BY_LABELS)
        model = self._fitted_model()
        predicted = self._raw_predict(X) if costs is None else self._numbers_of(model, X, costs)[0]
        decision = model.decision_of(self._decision)
        if isinstance(decision, CertifiedReject):
            model.of_unseen_rows(decision.warn_unless_certified)
        return self._named(model.labels.classes)[predicted]

    @keeping_type(available_if(BasePredtron._check_has_probabilities))
    def predict_proba(self, X: Any) -> NDArray:
        """Compute the calibrated probabilities of the classes.

        The calibration map is fitted to scores of unseen rows.

        The probabilities are those of the rows as given.  Class weights stand for costs and do not change them; `sample_weight`
        stands for the frequency of rows and does.  A rejection has no column.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            A column for each of `classes_`; rows add up to 1.

        Raises
        ------
        AttributeError
            If there are no scores of unseen rows, as after `fit` under ``decision="learned"``.
        """
        self._warn_if_abstention_is_lost("predict_proba")
        return self._probabilities(self._fitted_model(), X)

    def _warn_if_abstention_is_lost(self, method: str, names: frozenset[str] = PREDICTING_BY_SCORES) -> None:
        """Warn if a classifier of scikit-learn predicts by scores, which have no abstention, or takes one as a label."""
        if self.reject is None:
            return
        caller = caller_among(names)
        if caller is not None:
            why = "takes abstentions as labels" if method == "predict" else f"predicts by `{method}`, which has no abstention"
            warn(
                f"reject={shortened(self.reject)} does not make {caller} abstain: it {why}.  Accepted is reject=None.  The "
                f"`predict` of {type(self).__name__} abstains, also in a pipeline, a search or a MultiOutputClassifier."
            )

    @keeping_type(available_if(BasePredtron._check_has_probabilities))
    def predict_log_proba(self, X: Any) -> NDArray:
        """Compute the logarithms of `predict_proba`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            A column for each of `classes_`.
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def _named(self, classes: NDArray) -> NDArray:
        """Return the labels of predictions, by their numbers."""
        reject = checked_reject(self.reject)
        return classes if reject is None else np.append(classes, label_of_reject(reject, classes))

    def sample_loss(self, X: Any, y: Any, costs: Any = None) -> NDArray:
        """Compute the loss L(sigma, y) of each prediction.

        It is the estimator's own loss, or the cost if `costs` are given.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Inputs.
        y : array-like of shape (n_samples,)
            True labels, of `classes_`.
        costs : array-like of shape (n_samples, k, m) or (n_samples, m), data frame or dict, default=None
            Costs of the predictions in each row, as for `predict`; they decide the predictions and evaluate them.  Or an array of
            shape (n_samples, m), what each prediction costs given the true label of the row; these evaluate the predictions of
            ``predict(X)``.

        Returns
        -------
        ndarray of shape (n_samples,)
            Costs by `loss`, or by `costs`.  A rejected row costs the ``reject.cost`` of its true class, or 0 with ``reject.risk``
            or ``reject.rate``.
        """
        model = self._fitted_model()
        if costs is None:
            return self._loss_among(model.labels, self._raw_predict(X), y)
        codes = model.labels.true_codes(y, _num_samples(X))
        predicted, table = self._numbers_of(model, X, costs, codes)
        return table[np.arange(len(predicted)), codes, predicted]

    def _raw_predict(self, X: Any) -> NDArray:
        """Return the predictions; one past the last class rejects."""
        model = self._fitted_model()
        return model.decoded(X, model.decision_of(self._decision))

    def _numbers_of(self, model: Any, X: Any, costs: Any, codes: NDArray | None = None) -> tuple[NDArray, NDArray]:
        """Return the predictions by costs, and the costs of all predictions in each row.

        Predictions are numbers.  With those of the true labels, `codes`, costs may be known by them alone; these do not decide.
        """
        table = self._costs_by_row(costs, model.labels.classes, _num_samples(X), codes)
        if codes is not None:
            check_not_revealing(table, codes)
            if are_realised(table):
                return self._raw_predict(X), table
        capacity = self._capacity()
        self._check_has_probabilities()
        return classes_of_least_cost(self._probabilities(model, X), table, capacity), table

    def _capacity(self) -> Capacity | None:
        """Return the bound of a share of the rows that decisions by their costs keep, if there is one."""
        model, decision = self._model_and_decision()
        return model.of_unseen_rows(partial(capacity_of, decision))

    def _loss_of(self, predicted: NDArray, y: Any) -> NDArray:
        """Return the loss of each prediction, given its number."""
        return self._loss_among(self._fitted_model().labels, predicted, y)

    def _loss_among(self, labels: Any, predicted: NDArray, y: Any) -> NDArray:
        """Return each prediction's loss, by numbers of labels."""
        codes = labels.true_codes(y, len(predicted))
        if counts_mistakes(self.loss) and self.reject is None:
            return (predicted != codes).astype(np.float64)
        return self._costs(labels.classes)[codes, predicted]

    def _two_best(self, X: Any) -> tuple[NDArray, NDArray]:
        """Return the two best classes, and their margin; the best class of each row comes first."""
        model, decision = self._model_and_decision()
        return top_two(model.problem.decision(model.scores(X, decision)))

    def score(self, X: Any, y: Any, sample_weight: Any = None, costs: Any = None) -> float:
        """Compute the accuracy, in which a rejection counts as wrong; with `costs`, minus the mean cost.

        The accuracy does not depend on the loss, its costs or the reject option.

        `metrics.cost_scorer` and `metrics.reject_scorer` make scorers of costs; `sample_loss` has the estimator's own loss.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Inputs.
        y : array-like of shape (n_samples,)
            True labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows in the mean.
        costs : array-like of shape (n_samples, k, m) or (n_samples, m), data frame or dict, default=None
            Costs of the predictions in each row, as for `sample_loss`.

        Returns
        -------
        float
            At most 1, which is perfect; with `costs` at most 0.
        """
        if costs is not None:
            return -mean_loss(self.sample_loss(X, y, costs), sample_weight)
        y = plain_texts(y)
        refuse_missing(y)
        weight = None if sample_weight is None else check_sample_weight(sample_weight, y)
        return super().score(X, y, weight)

    def margin(self, X: Any, y: Any) -> float:
        """Measure the margin of the weights at unit norm.

        The minimum, over the rows, of <rep(sigma_y), t> minus the best score of a prediction with a loss (Jain et al. 2015,
        section 2.2), or of any that is ahead of sigma_y.  Positive only if every row is predicted without loss.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Inputs.
        y : array-like of shape (n_samples,)
            True labels, of `classes_`.

        Returns
        -------
        float
            The margin gamma, for `loss_bound`; nan where the weights are zero.

        Examples
        --------
        >>> from sklearn_predtron import PredtronClassifier
        >>> X = [[2.0, 1.0], [1.0, 2.0], [-1.0, -1.0], [-2.0, 0.0]]
        >>> y = ["a", "a", "b", "b"]
        >>> model = PredtronClassifier(norm="l2", fit_intercept=False, random_state=0).fit(X, y)
        >>> round(model.margin(X, y), 2)
        1.96
        """
        return float(self._margins(X, y).min())

    def _margins(self, X: Any, y: Any) -> NDArray:
        model = self._fitted_model()
        scores = model.scores(X)
        codes = model.labels.true_codes(y, len(scores))
        return model.at_unit_norm(model.problem.margins(scores, Codes(codes)))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = True
        return tags


def top_two(decision: NDArray) -> tuple[NDArray, NDArray]:
    """Return the two best predictions of each row, the best one first, and the difference of their scores."""
    rows = np.arange(len(decision))
    first = decision.argmax(axis=1)
    rest = decision.copy()
    rest[rows, first] = -np.inf
    second = rest.argmax(axis=1)
    return np.column_stack([first, second]), decision[rows, first] - decision[rows, second]
