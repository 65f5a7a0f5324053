"""A fit in the eyes of its callbacks: a task, and one for each epoch."""

from __future__ import annotations

import copy
from typing import Any

from sklearn_predtron.families._model import Model


class Watched:
    """The task of a fit, whose callbacks see the model in progress, and are torn down with the estimator's.

    Parameters
    ----------
    view : estimator
        What they see.
    estimator : estimator
        What is fitted.
    epochs : int
        The most epochs that there may be.
    **shown : object
        What they are told of the data.
    """

    def __init__(self, view: Any, estimator: Any, epochs: int, **shown: Any):
        self.view, self.shown = view, {"estimator": view, **shown}
        self.epoch: Any = None
        try:
            self.task = view._init_callback_context(max_subtasks=epochs)
        finally:
            for name in ("_callback_fit_ctx", "_skl_callbacks_to_teardown"):
                if name in vars(view):
                    setattr(estimator, name, getattr(view, name))
        self.task.call_on_fit_task_begin(**self.shown)

    @property
    def by_any(self) -> bool:
        """Whether there are callbacks, which may predict."""
        return bool(getattr(self.view, "_skl_callbacks", None))

    def begin_epoch(self) -> None:
        """Say that an epoch begins."""
        self.epoch = self.task.subcontext(task_name="epoch")
        self.epoch.call_on_fit_task_begin(**self.shown)

    def end_epoch(self) -> bool:
        """Say that it is over, and return whether the fit is to end."""
        return bool(self.epoch.call_on_fit_task_end(reconstruction_attributes=lambda: snapshot(self.view), **self.shown))

    def end(self) -> None:
        """Say that the fit is over."""
        self.task.call_on_fit_task_end(reconstruction_attributes=lambda: snapshot(self.view), **self.shown)


def showing(estimator: Any, model: Model) -> Any:
    """Return an estimator that has another model, as callbacks see it while that one is learned."""
    view = object.__new__(type(estimator))
    view.__dict__.update(vars(estimator).copy())
    view._model = model
    return view


def snapshot(view: Any) -> dict[str, Any]:
    """Return what a callback's own copy of the fitted estimator needs."""
    model: Model = view._model
    return {"_model": model.but(learner=copy.deepcopy(model.learner), record=copy.deepcopy(model.record))}


def shows_one_course(estimator: Any) -> bool:
    """Return whether a callback counts epochs, so that only one way may be learned."""
    return any(getattr(callback, "one_course", False) for callback in getattr(estimator, "_skl_callbacks", ()))


def chosen_by_callback(estimator: Any) -> bool:
    """Return whether a callback chooses the number of epochs."""
    return any(getattr(callback, "chooses_epochs", False) for callback in getattr(estimator, "_skl_callbacks", ()))
