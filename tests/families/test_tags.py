"""The tags of every estimator say what it takes, and what it refuses; parts and estimators have pictures in notebooks."""

import inspect

import numpy as np
import pytest
from cases import without_ids
from scipy import sparse
from sklearn.base import is_classifier, is_regressor
from sklearn.utils import get_tags

import sklearn_predtron
from sklearn_predtron._support.parts import Part, kinds
from sklearn_predtron.families.estimator.base import BasePredtron
from sklearn_predtron.mixing import ParameterMixing
from sklearn_predtron.norms import RKHS

FAMILIES = [
    family
    for family in (getattr(sklearn_predtron, name) for name in sklearn_predtron.__all__)
    if inspect.isclass(family) and issubclass(family, BasePredtron) and family is not sklearn_predtron.Predtron
]
PARTS = [kind for base in Part.__subclasses__() for kind in kinds(base)]
N = 40
X = np.random.default_rng(0).standard_normal((N, 4))
CLASSES, SETS = np.arange(N) % 3, np.random.default_rng(0).integers(0, 2, (N, 3))


def takes(family, X, y):
    """Whether an estimator learns from rows with such labels."""
    try:
        family(max_iter=1).fit(X, y)
    except ValueError:
        return False
    return True


@without_ids
@pytest.mark.parametrize("family", FAMILIES)
def test_tags_say_which_labels_are_taken(family):
    tags = get_tags(family())
    single = CLASSES > 0 if tags.target_tags.single_output else SETS
    assert takes(family, X, single)
    assert not takes(family, X, None) and tags.target_tags.required
    assert takes(family, X, SETS) == tags.target_tags.multi_output
    assert takes(family, X, CLASSES > 0) == tags.target_tags.single_output
    assert takes(family, X, -1.0 * single) != tags.target_tags.positive_only
    if tags.classifier_tags is not None:
        assert is_classifier(family()) and tags.target_tags.single_output
        assert takes(family, X, CLASSES) == tags.classifier_tags.multi_class
        assert takes(family, X, SETS) == tags.classifier_tags.multi_label
    assert not is_regressor(family()) and tags.regressor_tags is None and tags.transformer_tags is None
    assert is_classifier(family()) == hasattr(family, "classes_") or family.__name__ == "PredtronSequenceTagger"


@without_ids
@pytest.mark.parametrize("family", FAMILIES)
def test_tags_say_which_rows_are_taken(family):
    tags = get_tags(family()).input_tags
    y = CLASSES > 0 if get_tags(family()).target_tags.single_output else SETS
    assert tags.two_d_array and takes(family, sparse.csr_matrix(X), y) == tags.sparse
    hole = np.where(np.arange(N)[:, None] == 3, np.nan, X)
    assert takes(family, hole, y) == tags.allow_nan is False
    assert not (tags.categorical or tags.string or tags.dict or tags.three_d_array or tags.one_d_array)
    assert not tags.pairwise
    assert get_tags(family(norm=RKHS(kernel="precomputed"))).input_tags.pairwise


def test_rounds_of_one_class_have_class_weight():
    """What the guide says of weights: the other families have rounds of several classes, or of none."""
    found = {family.__name__ for family in FAMILIES if "class_weight" in inspect.signature(family).parameters}
    assert found == {"PredtronBinaryClassifier", "PredtronClassifier", "PredtronOrdinalClassifier"}


@pytest.mark.parametrize("family", FAMILIES)
def test_a_mixture_has_the_tags_of_what_it_mixes(family):
    assert get_tags(ParameterMixing(family())).target_tags == get_tags(family()).target_tags
    assert get_tags(ParameterMixing(family())).classifier_tags == get_tags(family()).classifier_tags
    assert get_tags(ParameterMixing(family())).input_tags == get_tags(family()).input_tags


@without_ids
@pytest.mark.parametrize("kind", [*PARTS, *FAMILIES])
def test_pictures_name_the_class_and_its_parameters(kind):
    picture = kind()._repr_html_()
    assert kind.__name__ in picture and "scikit-learn.org" not in picture.split("</style>")[-1]
    if kind in FAMILIES:
        learned = kind(max_iter=1)
        shown = learned.fit(X, CLASSES > 0 if get_tags(learned).target_tags.single_output else SETS)._repr_html_()
        assert "Not fitted" in picture and "Not fitted" not in shown
    changed = next(iter(inspect.signature(kind).parameters), None)
    if changed is not None:  # what is not the default is shown by every version of scikit-learn
        assert changed in kind(**{changed: "another"})._repr_html_()


def test_values_in_pictures_are_text():
    name = "<script>alert(1)</script>"
    picture = sklearn_predtron.PredtronClassifier(loss={(name, "b"): 2.0})._repr_html_()
    assert name not in picture
