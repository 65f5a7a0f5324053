"""Parameters: which values they take, when they may change, and what is fixed once learning has begun."""

from __future__ import annotations

from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

from sklearn.base import BaseEstimator

from sklearn_predtron._compat import CachedParameterNames, CallbackSupport, Interval, StrOptions
from sklearn_predtron._core.lock import Lock
from sklearn_predtron._names import no_parameter, refuse_class, without_parameters
from sklearn_predtron._parts import Part, kinds, resolve
from sklearn_predtron.families._patience import Patience, checked_patience
from sklearn_predtron.norms import L2, Auto, Norm, Scaled
from sklearn_predtron.updates import Update

if TYPE_CHECKING:
    from sklearn_predtron._typing import Self

PARTS = {"loss", "norm", "problem", "representation", "tol", "update"}


class Parameterized(CallbackSupport, CachedParameterNames):
    """Parameters that are set take effect at the next call, or are refused."""

    _parameter_constraints: dict[str, list] = {
        "norm": [str, Norm],
        "update": [str, Update],
        "average": [StrOptions({"auto", "linear", "uniform"}), Interval(Real, 0, None, closed="neither"), "boolean", None],
        "fit_intercept": ["boolean"],
        "intercept_scaling": [StrOptions({"auto"}), Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left"), None],
        "tol": [Interval(Real, 0, None, closed="left"), Patience, None],
        "shuffle": ["boolean"],
        "random_state": ["random_state"],
        "warm_start": ["boolean"],
    }
    norm: Any
    update: Any
    tol: Any
    fit_intercept: bool
    intercept_scaling: Any
    _fixed: dict[str, Any]
    _learned_norm: Any

    def __setattr__(self, name: str, value: Any) -> None:
        """Set an attribute; a parameter takes effect at the next call, as what was made of the parameters is dropped."""
        if name in self._get_param_names():
            self._check_free()
            self._close_stream()
        super().__setattr__(name, value)

    def set_params(self, **params: Any) -> Self:
        """Set parameters, also of the parts (``update__C``); they take effect at the next call.

        A part that is changed behind the estimator's back (``model.update.set_params``) does at the next `fit`.

        Parameters
        ----------
        **params : dict
            Names and values.

        Returns
        -------
        Self
            The estimator.
        """
        self._check_free()
        self._close_stream()
        for name, value in params.items():
            parameter, _, inner = name.partition("__")
            part = params.get(parameter, getattr(self, parameter, None))
            if inner:
                refuse_class(parameter, part)
                if isinstance(part, str):
                    self._refuse_parameter(parameter, part, inner, value)
                if parameter in self._get_param_names() and not hasattr(part, "set_params"):
                    raise ValueError(without_parameters(name, value, parameter, part, self._parts_of(parameter)))
        return super().set_params(**params)

    def _refuse_parameter(self, parameter: str, alias: str, inner: str, value: Any) -> None:
        """Raise a ValueError that says of which part a parameter could be set that was set of an alias."""
        base = next((kind for kind in self._parts_of(parameter) if issubclass(kind, Part)), None)
        if base is not None:
            resolve(base, alias, parameter)
        raise ValueError(no_parameter(parameter, alias, inner, value, [] if base is None else kinds(base)))

    def _parts_of(self, parameter: str) -> list[type]:
        """Return the kinds of objects with parameters of their own that a parameter may be."""
        accepted = self._parameter_constraints.get(parameter, [])
        return [kind for kind in accepted if isinstance(kind, type) and issubclass(kind, BaseEstimator)]

    def _validate_params(self) -> None:
        """Refuse values that no parameter of this name takes."""
        for name in PARTS.intersection(self._get_param_names()):
            refuse_class(name, getattr(self, name))
        super()._validate_params()
        checked_patience(self.tol)

    def set_callbacks(self, *callbacks: Any) -> Self:
        """Set callbacks, which run in `fit`; `callbacks.LossHistory` records `partial_fit` as well.

        Parameters
        ----------
        *callbacks : callback instances
            Callbacks in place of those set before; none removes them.  They take effect at the next call.

        Returns
        -------
        Self
            The estimator.

        Raises
        ------
        ImportError
            If scikit-learn is older than 1.9, and so has no callbacks, for any but those of this package.
        """
        self._check_free()
        self._close_stream()
        return super().set_callbacks(*callbacks)

    @property
    def _busy(self) -> Lock:
        """Return the flag of the call that learns, one for the life of the estimator."""
        flag = self.__dict__.get("_flag")
        return self.__dict__.setdefault("_flag", Lock()) if flag is None else flag

    def _check_free(self) -> None:
        """Raise RuntimeError while a call learns by the present parameters."""
        if "_flag" in self.__dict__:
            self._busy.check_free()

    def _close_stream(self) -> None:
        """Drop the short way, which holds the present learner and parameters."""
        stream = self.__dict__.pop("_stream", None)
        if stream is not None:
            stream.close()

    def _check_fixed(self) -> None:
        """Refuse parameters that changed and cannot."""
        for name, value in self._fixed_parameters().items():
            if value != self._fixed[name]:
                raise ValueError(
                    f"{name} cannot change from {self._fixed[name]!r} to {value!r} once learning has begun; "
                    "call fit to start anew."
                )

    def _fixed_parameters(self) -> dict[str, Any]:
        """Return what the weights are made of, and so cannot change while they live."""
        return {
            **self._fixed_norm(),
            "fit_intercept": bool(self.fit_intercept),
            "intercept_scaling": self._scaling(),
        }

    def _norm_of_weights(self) -> Norm:
        """Return the norm; "auto" is what the first rows have chosen, if there were any."""
        norm = resolve(Norm, self.norm, "norm")
        if not isinstance(norm, Auto):
            return norm
        learned = resolve(Norm, self._shown_norm(), "norm")
        return learned if type(learned) in (L2, Scaled) else norm

    def _shown_norm(self) -> Any:
        """Return the norm that has learned, as it was given or as "auto" has chosen it; the parameter where none has."""
        return self.__dict__.get("_learned_norm", self.norm)

    def _choose_norm(self, *, sparse: bool) -> None:
        """Fix what "auto" stands for, here and later, by the format of the first rows."""
        norm = resolve(Norm, self.norm, "norm")
        self._learned_norm = norm.for_rows(sparse=sparse).alias if isinstance(norm, Auto) else self.norm

    def _fixed_norm(self) -> dict[str, Any]:
        """Return the norm by its class, which an alias does not tell from a subclass, and its parameters."""
        norm = self._norm_of_weights()
        return {"norm": (f"{type(norm).__module__}.{type(norm).__qualname__}", norm.get_params())}

    def _scaling(self) -> Any:
        """Return the parameter `intercept_scaling` as the update reads it."""
        update = resolve(Update, self.update, "update")
        return update.auto_scaling if self.intercept_scaling == "auto" else self.intercept_scaling
