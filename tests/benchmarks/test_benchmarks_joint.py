import numpy as np
import pytest
from numpy.testing import assert_allclose

from benchmarks.suites import joint
from benchmarks.tasks import Options
from sklearn_predtron import Predtron
from sklearn_predtron.estimator_checks import check_problem

TINY = Options(repeats=1, seeds=1, scale=0.001)
FEW = {
    "topics": lambda: joint.documents(40, 60, 4, 3.0, 0, csr=False),
    "sparse topics": lambda: joint.documents(40, 60, 4, 3.0, 0, csr=True),
    "matchings": lambda: joint.lists(40, 5, 0),
}


@pytest.mark.parametrize("name", FEW)
def test_problems_keep_their_promises(name):
    data = FEW[name]()
    check_problem(data.problem, list(zip(data.X[:5], data.y[:5], strict=True)))


@pytest.mark.parametrize("name", FEW)
def test_the_loop_by_hand_is_the_perceptron(name):
    data = FEW[name]()
    by_hand, model = joint.StructuredPerceptron(data.problem), Predtron(data.problem, update="perceptron", average="uniform")
    for _ in range(2):
        by_hand.learn(data.X, data.y)
        model.partial_fit(data.X, data.y)
    assert_allclose(model.last_coef_, by_hand.w, atol=1e-12)
    assert_allclose(model.coef_, by_hand.w - by_hand.total / by_hand.t, atol=1e-12)
    assert by_hand.loss(data.X_test, data.y_test) == pytest.approx(1 - model.score(data.X_test, data.y_test))


def test_sparse_documents_are_the_dense_ones():
    dense, csr = FEW["topics"](), FEW["sparse topics"]()
    assert_allclose(np.vstack([x.toarray() for x in csr.X]), dense.X)
    models = [joint.ours(data.problem, "adaptive").partial_fit(data.X, data.y) for data in (dense, csr)]
    assert_allclose(models[1].coef_, models[0].coef_, atol=1e-12)
