"""Class labels and their numbers."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from sklearn_predtron._core.problem import Codes
from sklearn_predtron._support.encoding import are_texts, check_lengths, distinct, encode, plain_texts, refuse_missing
from sklearn_predtron._support.queries import shortened, shortened_list
from sklearn_predtron._support.warning import warn
from sklearn_predtron.families.labels._codec import Codec
from sklearn_predtron.families.labels.label_readers import CodeReader

if TYPE_CHECKING:
    from sklearn_predtron._support.types import Self


COLLECTIONS = (set, frozenset, list, tuple)
ONE_LABEL = (
    "one label for each row.  PredtronMultilabelClassifier takes sets of labels as an indicator matrix, which "
    "sklearn.preprocessing.MultiLabelBinarizer makes of them"
)


TO_WIDEN = ", for which widen(classes=...) makes room where a family takes more classes"


class MissingClasses(ValueError):
    """Raised when a stream starts without all labels."""

    def __init__(self, where: str = ""):
        super().__init__(f"classes must be passed on the first call to partial_fit{where}.")


class ClassReader(CodeReader):
    """Reads class labels as their numbers."""

    def __init__(self, classes: NDArray, class_weight: NDArray | None = None):
        super().__init__({label: code for code, label in enumerate(classes.tolist())}, class_weight)
        self.classes = classes

    def read_any(self, y: Any) -> Codes:
        """Return the numbers of labels in any form; raise ValueError for unknown labels."""
        return Codes(codes_of_labels(y, self.classes))


class Classes(Codec):
    """The codec of classes.

    Parameters
    ----------
    classes : ndarray of shape (n_classes,)
        The labels in the order of their numbers.
    """

    representations: tuple[str, ...] = ()  # that `fit` compares instead of the parameter

    def __init__(self, classes: NDArray):
        self.classes = classes

    def check_saved(self, problem: Any) -> None:
        """Raise TypeError if a saved codec is damaged, or of another number of labels than the problem."""
        self.check_array(self.classes, problem.k, "classes")

    @classmethod
    def first(cls, y: Any, classes: Any, *, partial: bool, given: NDArray | None = None) -> tuple[Self, Codes]:
        """Return the codec, and the encoded first labels; `given` are the classes in a declared order."""
        codes = None
        if given is not None:
            check_same_set(classes, given, "in categories")
            found = given
        elif not partial:
            found, codes = cls.found(one_dimensional(y))  # one search finds the classes and their numbers
        elif classes is None:
            raise MissingClasses()
        else:
            found = cls.found(class_list(classes), targets=False)[0]
        codec = cls(found)
        labels = codec.encode(y) if codes is None else Codes(codes)
        codec.check(ordered=given is not None)
        return codec, labels

    @classmethod
    def of_model(cls, classes: Any) -> Self:
        """Return the codec of the classes of another fitted model."""
        codec = cls(np.array(classes))
        codec.check(ordered=True)
        return codec

    @staticmethod
    def found(y: NDArray, *, targets: bool = True) -> tuple[NDArray, NDArray]:
        """Return the sorted classes and the labels' numbers."""
        return find_classes(y, targets=targets)

    def check(self, *, ordered: bool) -> None:
        """Raise ValueError if there are too few classes; `ordered` is whether their order is declared."""
        if len(self.classes) < 2:
            raise ValueError(f"The number of classes has to be greater than one; got {len(self.classes)} class.")

    def check_same(self, classes: Any) -> None:
        """Raise ValueError for classes unlike the first call's."""
        check_same_set(classes, self.classes, "on the first call", TO_WIDEN)

    @cached_property
    def _reader(self) -> ClassReader:
        return ClassReader(self.classes)

    def encode(self, y: Any) -> Codes:
        """Return the numbers of labels; raise ValueError for unknown labels."""
        return self._reader.labels(y)

    def true_codes(self, y: Any, n: int) -> NDArray:
        """Return the numbers of n labels; raise ValueError for unknown labels."""
        refuse_missing(y)
        codes = encode(column_or_1d(y), self.classes)
        check_lengths(n, len(codes))
        return codes

    def codes_or_wrong(self, y: Any, n: int) -> NDArray:
        """Return the numbers of n labels; they are -1 for unknown labels, of which a warning gives the number."""
        refuse_missing(y)
        y = column_or_1d(y)
        check_lengths(n, len(y))
        learned = set(self.classes.tolist())
        known = np.array([label in learned for label in y.tolist()], dtype=bool)
        if known.all() or not known.any():
            return encode(y, self.classes)
        others = shortened_list(list(dict.fromkeys(y[~known].tolist())))
        warn(f"y has {np.count_nonzero(~known)} labels that are not in classes_, {others}; such rows count as wrong.")
        codes = np.full(len(y), -1)
        codes[known] = encode(y[known], self.classes)
        return codes

    def decode(self, predicted: NDArray) -> NDArray:
        """Return the labels of these numbers."""
        return self.classes[predicted]

    def extended(self, classes: Any) -> tuple[Codec, list[int]]:
        """Return the codec of more classes, and numbers; the numbers are the new ones of the present classes."""
        found, places = with_more(self.classes, classes)
        wider = type(self)(found)
        wider.check(ordered=True)
        return wider, places

    def strata(self, labels: Codes, rows: NDArray) -> NDArray:
        """Return the class of each of some rows."""
        return labels.array[rows]

    def short(self) -> ClassReader:
        """Return the compiled reader of plain labels."""
        return self._reader


class TwoClasses(Classes):
    """Two classes, a negative and a positive one; the first class is negative."""

    def check_saved(self, problem: Any) -> None:
        """Raise TypeError if a saved codec is damaged."""
        self.check_array(self.classes, 2, "classes")

    def check(self, *, ordered: bool) -> None:
        """Raise ValueError for more than two classes, as scikit-learn does."""
        super().check(ordered=ordered)
        if len(self.classes) > 2:
            raise ValueError(
                "Only binary classification is supported. The type of the target is multiclass: the classes are "
                f"{shortened_list(self.classes.tolist())}; PredtronClassifier takes more than two."
            )

    def extended(self, classes: Any) -> tuple[Codec, list[int]]:
        """Raise ValueError for more classes."""
        raise ValueError(
            f"classes={shortened(classes)}: PredtronBinaryClassifier has two classes; PredtronClassifier takes more."
        )


def with_more(known: NDArray, classes: Any) -> tuple[NDArray, list[int]]:
    """Return all classes, sorted, and new numbers.

    The numbers are those of the known classes; raise ValueError for mixed types.
    """
    given = class_list(classes)
    refused = f"classes={shortened(classes)} are not of the type of those known, {shortened_list(known.tolist())}."
    if are_texts(given) != are_texts(known):  # NumPy would convert both to text
        raise ValueError(refused)
    if are_texts(known):
        given = given.astype(known.dtype.kind)
    found = find_classes(np.concatenate([known, given]), targets=False)[0]
    if found.dtype.kind != known.dtype.kind or not set(known.tolist()) <= set(found.tolist()):
        raise ValueError(refused)
    return found, encode(known, found).tolist()


def check_same_set(classes: Any, known: NDArray, where: str, remedy: str = "") -> None:
    """Raise ValueError if classes differ from known ones; for new classes the message has a remedy."""
    if classes is None:
        return
    found = class_list(classes).tolist()
    if set(found) != set(known.tolist()):
        more, fewer = (
            [label for label in a if label not in set(b)] for a, b in ((found, known.tolist()), (known.tolist(), found))
        )
        new = f"  New are {shortened_list(more)}{remedy}." if more else ""
        missing = f"  It lacks {shortened_list(fewer)}." if fewer else ""
        raise ValueError(
            f"classes={shortened_list(found)} is not the same as {where}: {shortened_list(known.tolist())}.{new}{missing}"
        )


def one_dimensional(y: Any, accepted: str = ONE_LABEL) -> NDArray:
    """Return the labels as an array of shape (n,)."""
    y = plain_texts(y)
    if type(y) is np.ndarray and y.ndim == 1 and y.dtype.kind != "O":
        return y
    refuse_missing(y)
    try:
        return column_or_1d(y, warn=True)
    except ValueError:
        refuse_collections(y, accepted)
        raise


def codes_of_labels(y: Any, classes: NDArray, accepted: str = ONE_LABEL) -> NDArray:
    """Return the number of each label among known classes."""
    y = plain_texts(y)
    refuse_missing(y, classes=classes)
    found = one_dimensional(y, accepted)
    try:
        return encode(found, classes)
    except TypeError:  # a set has no hash
        refuse_collections(found, accepted)
        raise


def refuse_collections(y: Any, accepted: str) -> None:
    """Raise ValueError for sets or lists among labels; do nothing for labels with other defects."""
    of_objects = getattr(getattr(y, "dtype", None), "kind", "") == "O" and y.ndim == 1
    values = y if of_objects or isinstance(y, (list, tuple)) else ()
    found = next((value for value in values if isinstance(value, COLLECTIONS)), None)
    if found is not None:
        what = f"a {type(found).__name__} for a row, such as {shortened(found)}"
        raise ValueError(f"y holds {what}; accepted is {accepted}.") from None


def class_list(classes: Any) -> NDArray:
    """Return the parameter `classes` as an array of shape (n_classes,)."""
    classes = plain_texts(classes)
    refuse_missing(classes, "classes")
    try:
        found = np.asarray(classes)
    except ValueError:  # rows of different lengths
        found = np.empty(())
    if found.ndim == 2 and found.shape[1] == 1:
        found = found[:, 0]
    if found.ndim != 1 or len(found) == 0:
        raise ValueError(f"classes={shortened(classes)} must be a list of all labels that will occur.")
    return found


def find_classes(y: NDArray, *, targets: bool = True, accepted: str = ONE_LABEL) -> tuple[NDArray, NDArray]:
    """Return the distinct labels, and rows' numbers.

    The labels are sorted; the rows are not all sorted for this.

    y may be a list of classes instead of the labels of rows.
    """
    if len(y) == 0:
        raise ValueError("y is empty; it must have a label for each row of X.")
    if y.dtype.kind not in "iub":
        try:
            with np.errstate(invalid="ignore"):  # NaN, for which an error is raised
                check_classification_targets(y if targets else np.repeat(y, 3))  # single labels look like numbers
        except ValueError:
            refuse_collections(y, accepted)
            raise
    if y.dtype.kind in "OUST":
        return _find_hashed(y)
    return distinct(y)


def _find_hashed(y: NDArray) -> tuple[NDArray, NDArray]:
    labels = y.tolist()
    classes = np.unique(np.array(list(dict.fromkeys(labels)), dtype=y.dtype))
    place = {label: code for code, label in enumerate(classes.tolist())}
    return classes, np.array([place[label] for label in labels], dtype=np.intp)


def column_names(y: Any) -> NDArray | None:
    """Return column names if they are strings; they are those of a data frame or an Arrow table."""
    names = np.asarray(getattr(y, "column_names", getattr(y, "columns", [])), dtype=object)
    return names if len(names) > 0 and all(isinstance(name, str) for name in names) else None
