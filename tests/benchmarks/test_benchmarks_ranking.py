import importlib.util

import numpy as np
import pytest
from scipy import sparse, stats

from benchmarks import read, tasks
from benchmarks.contestants import LABEL_RANKING_CONTESTANTS, RANKING_CONTESTANTS, AssignmentSolver
from benchmarks.contestants.base import Contestant
from benchmarks.contestants.pairwise_logistic import PairwiseLogistic
from benchmarks.contestants.queries import differences, pairs
from benchmarks.paper import by_index, figure1, online_ranking
from benchmarks.paper.separable_queries import make_separable_queries
from benchmarks.report import replace
from benchmarks.suites import SUITES, inference, label_ranking, ranking
from benchmarks.tasks import Options, Task, graded_queries
from sklearn_predtron.problems.inference._ranking_inference import Inference

TINY = Options(repeats=1, seeds=2, scale=0.001)
INSTALLED = [contestant for contestant in RANKING_CONTESTANTS if contestant.installed]


def named(contestants):
    return {"argvalues": contestants, "ids": [contestant.name for contestant in contestants]}


@pytest.fixture
def tiny(monkeypatch):
    monkeypatch.setattr(tasks, "FEWEST_ROWS", 20)
    monkeypatch.setattr(ranking, "DOCUMENTS", 12)
    monkeypatch.setattr(ranking, "COLUMNS", 5)
    monkeypatch.setattr(inference, "SIZES", (1, 2, 10))
    monkeypatch.setattr(label_ranking, "FOLDS", (3, 2))


@pytest.fixture
def data(tmp_path):
    (tmp_path / "load.py").write_text(LOAD)
    return Options(repeats=1, seeds=2, scale=0.001, data=tmp_path)


LOAD = """
import numpy as np
from scipy import sparse, stats


def ranking(name, part):
    rng = np.random.default_rng(part == "test")
    X = rng.standard_normal((120, 5)) + 2 * (part == "test")
    qid = rng.permutation(np.repeat([7, 3, 5, 9], 30))
    return sparse.csr_matrix(X), np.digitize(X[:, 0], [0.5, 2.5]), qid


def label_ranking(name):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 4))
    return X, 1.0 + (-X[:, :3]).argsort(axis=1).argsort(axis=1)
"""


def check(tables):
    for table in tables:
        assert table.rows
        assert {len(row) for row in table.rows} == {len(table.columns)}
        assert table.markdown()


# ------------------------------------------------------------------------------------------------------------------- contestants


@pytest.mark.parametrize("contestant", **named(INSTALLED))
def test_ranking_adapter_fits(contestant):
    X, y, qid = graded_queries(60, 15, 4, 5)
    scores = contestant.predict(contestant.fit(contestant.make(Task(5)), X, y, qid), X)
    assert scores.shape == y.shape
    assert ranking.query_ndcg(scores, y, qid).mean() > 0.85


@pytest.mark.parametrize("contestant", **named(LABEL_RANKING_CONTESTANTS))
def test_label_ranking_adapter_fits(contestant):
    X, Y, X_test, Y_test = label_ranking.drawn(400)
    model = contestant.fit(contestant.make(Task(label_ranking.LABELS)), X, Y)
    assert label_ranking.mean_tau(contestant.predict(model, X_test), Y_test) > 0.3
    assert label_ranking.ndcg_loss(contestant.predict(model, X_test), Y_test) < 0.15


def test_rankers_have_names_of_their_own():
    names = [contestant.name for contestant in (*RANKING_CONTESTANTS, *LABEL_RANKING_CONTESTANTS)]
    assert len(set(names)) == len(names)


def test_pairs_are_of_different_relevance_in_one_query():
    rng = np.random.default_rng(0)
    y, qid = rng.integers(0, 3, 500), rng.integers(0, 40, 500)
    y[qid == 7] = 1
    first, second = pairs(y, qid, 0)
    assert (qid[first] == qid[second]).all() and (y[first] != y[second]).all()
    with_other = [i for i in range(500) if len(set(y[qid == qid[i]])) > 1]
    assert sorted(first) == with_other


def test_pairs_are_drawn_from_all_others():
    y, qid = np.array([1, 0, 2, 1, 0]), np.zeros(5, dtype=int)
    drawn = {(int(a), int(b)) for seed in range(200) for a, b in zip(*pairs(y, qid, seed), strict=True)}
    assert drawn == {(i, j) for i in range(5) for j in range(5) if y[i] != y[j]}


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_differences(form):
    X, y = np.arange(6.0).reshape(3, 2), np.array([0, 2, 0])
    D, sign = differences(form(X), y, np.zeros(3, dtype=int), 0)
    D = D.toarray() if sparse.issparse(D) else D
    first, second = pairs(y, np.zeros(3, dtype=int), 0)
    np.testing.assert_array_equal(D, X[first] - X[second])
    assert sign.tolist() == [1 if y[i] == 2 else -1 for i in first]


def test_pairwise_logistic_where_a_label_always_leads_or_all_tie():
    X = np.random.default_rng(0).standard_normal((50, 2))
    Y = np.column_stack([np.full(50, 2.0), X[:, 0] > 0, np.full(50, 2.0)])
    contestant = PairwiseLogistic()
    scores = contestant.predict(contestant.fit(contestant.make(Task(3)), X, Y), X)
    np.testing.assert_allclose(scores.sum(axis=1), 3)
    np.testing.assert_allclose(scores[:, 0], 1.5)
    np.testing.assert_allclose(scores[:, 1], 0)


def test_pairwise_logistic_counts_votes():
    X, Y, X_test, _ = label_ranking.drawn(60)
    contestant = PairwiseLogistic(counted=True)
    model = contestant.fit(contestant.make(Task(5)), X, Y)
    scores = contestant.predict(model, X_test)
    wins = np.zeros_like(scores)
    for (a, b), single in model.models.items():
        higher = single.predict(X_test)
        wins[:, a] += higher
        wins[:, b] += ~higher
    np.testing.assert_array_equal(np.floor(scores), wins)


# --------------------------------------------------------------------------------------------------------------------- suites


@pytest.mark.parametrize("name", ["inference", "ranking", "label_ranking"])
def test_suite_without_data(name, tiny):
    tables = SUITES[name].run(TINY)
    check(tables)
    assert len(tables) == (2 if name == "label_ranking" else 1)


def test_inference_agrees_with_the_assignment_solver():
    for m in (1, 3, 40):
        for grades in inference.RELEVANCES.values():
            given = inference.problems(m, grades, 5)
            ours, theirs = (inference.solve_all(solver, given, 1, None) for solver in (Inference(), AssignmentSolver()))
            assert inference.gap(given, ours, theirs) < 1e-12
            assert all(sorted(positions) == list(range(m)) for positions in ours)


def test_a_gap_is_seen():
    given = inference.problems(10, 3, 1)
    ours = inference.solve_all(Inference(), given, 1, None)
    assert inference.gap(given, ours, [ours[0][::-1]]) > 1e-3


def test_long_lists_are_left_out_of_quick_runs():
    assert inference.sizes(Options()) == list(inference.SIZES)
    assert inference.sizes(TINY) == [10, 50, 100]
    assert inference.count(1000, Options()) == inference.FEWEST_PROBLEMS
    assert inference.count(10, Options()) == 200


def test_ranking_on_given_data(tiny, data):
    tables = ranking.run(data)
    check(tables)
    fits, quality = tables
    assert len(quality.rows) == 2 * len(ranking.CONTESTANTS)
    assert quality.rows[0][-1] == "0.0000 ± 0.0000"
    assert "skipped" not in fits.note


def test_seconds_of_the_learners_on_pairs_have_the_pairs_in_them(tiny):
    train, _ = ranking.drawn(TINY)
    measured, alone = ranking.measure([(contestant, Task(5)) for contestant in (ranking.SVM, ranking.OURS)], train, 3)
    assert set(alone) == {ranking.SVM.name}
    whole = np.add(measured[ranking.PAIRS].times, alone[ranking.SVM.name].times)
    np.testing.assert_array_equal(measured[ranking.SVM.name].times, whole)


def test_ranking_without_the_optional_contestants(monkeypatch, tiny, data):
    monkeypatch.setattr(
        Contestant, "installed", property(lambda contestant: contestant.module in ("sklearn", "sklearn_predtron"))
    )
    tables = ranking.run(data)
    check(tables)
    assert all("not installed" in table.markdown() for table in tables)


def test_label_ranking_on_given_data(tiny, data):
    tables = label_ranking.run(data)
    check(tables)
    assert [row[0] for row in tables[2].rows[:: 2 * len(label_ranking.CONTESTANTS)]] == list(label_ranking.SETS)
    assert tables[2].rows[len(label_ranking.CONTESTANTS) - 1][4:6] == [1.0, "0.0000 ± 0.0000"]


def test_given_queries_are_gathered_and_standardised(data):
    (X, y, qid), (X_test, y_test, _) = read.ranking(data.data, "any")
    assert (np.diff(qid) >= 0).all() and set(qid) == {0, 1, 2, 3}
    np.testing.assert_allclose(X.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(X.std(axis=0), 1)
    assert X_test.mean() > 1
    assert np.corrcoef(X[:, 0], y)[0, 1] > 0.7 and np.corrcoef(X_test[:, 0], y_test)[0, 1] > 0.7


def test_given_rankings_of_labels_become_relevances(data):
    X, Y = read.label_ranking(data.data, "any")
    assert set(Y.ravel()) == {0, 1, 2}
    assert (Y.argmax(axis=1) == X[:, :3].argmax(axis=1)).all()


# --------------------------------------------------------------------------------------------------------------------- papers


def test_figure1(tmp_path, monkeypatch, capsys):
    readme = tmp_path / "README.md"
    readme.write_text("<!-- figure1 -->\n<!-- /figure1 -->\n")
    monkeypatch.setattr(figure1, "README", readme)
    small = ["--seeds", "2", "--test", "10", "--queries", "2", "6", "--documents", "3", "6", "--features", "6", "40", "--write"]
    figure1.main(small)
    written = readme.read_text()
    for rule in figure1.RULES:
        assert f"### Figure 1 (a), {rule}" in written and f"### Figure 1 (b), {rule}" in written
    assert "| 6 |" in written and written.count("| growth, 3 to 6 |") == 2
    assert "### Figure 1 (c)" in written and "| growth, 6 to 40 |" in written and written.count("| below a third |") == 3
    assert "the last iterate predicts" in capsys.readouterr().out


def test_figure1_learns_the_stream_in_order():
    arguments = figure1.parse(["--seeds", "1", "--test", "20"])
    in_parts = figure1.curves(0, 10, [3, 8, 20], arguments)
    at_once = figure1.curves(0, 10, [20], arguments)
    for rule in figure1.RULES:
        assert {name: found[-1] for name, found in in_parts[rule].items()} == {
            name: found[0] for name, found in at_once[rule].items()
        }


def test_figure1_norms_learn_the_same_stream():
    arguments = figure1.parse(["--seeds", "2", "--test", "20", "--features", "5", "300"])
    found = figure1.by_features(arguments)
    assert {values.shape for of_rule in found.values() for values in of_rule.values()} == {(2, 2)}
    l1, l2 = (found[figure1.RE_SORTED][norm][:, 1].mean() for norm in figure1.NORMS)
    assert l1 < l2
    data = figure1.make_ranking_queries(120, 20, 300, n_informative=5, rows="uniform", norm="l1", random_state=1)
    for rule in figure1.RULES:
        model = figure1.learner(rule, figure1.REPRESENTATIONS["-i^1.1"], "l1")
        assert figure1.losses(model, *data, [100])[0] == found[rule]["l1"][1, 1]


def test_figure1_growth_is_by_index():
    """The finding, on few seeds: the loss of longer queries grows by index, and not with the repaired choice."""
    arguments = figure1.parse(["--seeds", "8", "--test", "100", "--documents", "5", "30"])
    grown = {rule: of_rule["-i^1.1"] @ [-1, 1] for rule, of_rule in figure1.by_documents(arguments).items()}
    assert grown[figure1.BY_INDEX].mean() > 0.007 > 0.004 > grown[figure1.RE_SORTED].mean()


def test_figure1_growths_are_compared():
    arguments = figure1.parse(["--seeds", "2", "--features", "5", "300"])
    grown = {"by index": (0.2, 0.5), "all defaults": (0.1, 0.5)}
    found = {
        rule: {norm: np.array([[0.1, 0.1 + growth]] * 2) for norm, growth in zip(figure1.NORMS, growths, strict=True)}
        for rule, growths in grown.items()
    }
    assert [row[-1] for row in figure1.growth_table(found, arguments).rows] == [False, True]
    assert figure1.features_table(found, arguments).rows[-1][1] == "0.2000 ± 0.0000"


def re_sorted(y, competitor):
    """The package's rule: relevance, then the competitor's order."""
    return by_index.positions(np.lexsort((competitor, -y)))


@pytest.mark.parametrize("norm", figure1.NORMS)
@pytest.mark.parametrize("name", figure1.REPRESENTATIONS)
def test_plain_predtron_with_the_rule_of_the_package_is_the_package(norm, name):
    """Where assignments do not tie: in short queries, the first of them, at scores of 0, without equal relevances."""
    X, y, qid, coef = figure1.make_ranking_queries(30, 8, 12, return_coef=True, random_state=0)
    y[:8] = by_index.positions(np.argsort(X[:8] @ coef))
    part = figure1.REPRESENTATIONS[name]
    plain = by_index.PlainPredtron(part, norm, re_sorted).partial_fit(X, y, qid=qid)
    ours = figure1.learner(figure1.RE_SORTED, part, norm).partial_fit(X, y, qid=qid)
    np.testing.assert_allclose(plain.predict(X), ours.predict(X), rtol=1e-9, atol=1e-12)
    other = by_index.PlainPredtron(part, norm).partial_fit(X, y, qid=qid)
    assert np.abs(other.predict(X) - ours.predict(X)).max() > 0.01


def test_right_ranking_by_index():
    assert by_index.by_index(np.array([0, 2, 1, 2, 0]), np.array([4, 3, 2, 1, 0])).tolist() == [3, 0, 2, 1, 4]


def test_plain_predtron_learns_from_wrong_queries_only():
    model = by_index.PlainPredtron(figure1.REPRESENTATIONS["-i"])
    model.partial_fit(np.eye(3), np.array([1, 1, 1]), qid=np.zeros(3))
    assert not model.dual.any()
    model.partial_fit(np.eye(3), np.array([2, 0, 1]), qid=np.zeros(3))
    learned = model.dual.copy()
    assert learned[0] > learned[2] > learned[1]
    model.partial_fit(np.eye(3), np.array([2, 0, 1]), qid=np.zeros(3))
    np.testing.assert_array_equal(model.dual, learned)


@pytest.mark.skipif(importlib.util.find_spec("matplotlib") is None, reason="matplotlib is optional")
@pytest.mark.parametrize("script", [figure1, online_ranking])
def test_papers_curves_are_drawn(tmp_path, script, monkeypatch):
    """Into a folder that is not there yet."""
    monkeypatch.setattr(online_ranking, "DRAWN", (1, 3))
    few = (
        ["--queries", "2", "--documents", "3", "4", "--features", "6", "--test", "5"] if script is figure1 else ["--rounds", "10"]
    )
    script.main(["--seeds", "2", *few, "--figures", str(tmp_path / "new")])
    names = {path.name for path in (tmp_path / "new").iterdir()}
    assert names == ({f"figure1{part}.png" for part in "abc"} if script is figure1 else {"online_ranking.png"})
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in (tmp_path / "new").iterdir())


def test_online_ranking(tmp_path, monkeypatch, capsys):
    readme = tmp_path / "README.md"
    readme.write_text("<!-- online_ranking -->\n<!-- /online_ranking -->\n")
    monkeypatch.setattr(online_ranking, "README", readme)
    online_ranking.main(["--seeds", "2", "--rounds", "100", "--write"])
    written = readme.read_text()
    assert "t = 100" in written and "t = 400" not in written and "| independent | 0.9036 | 0.9518 | 0.9904 |" in written
    assert written.count("| ours |") == len(online_ranking.LEARNERS)
    assert "Online learning to rank" in capsys.readouterr().out


def test_time_averages_are_of_rankings_before_the_update():
    from sklearn_predtron import PredtronRanker
    from sklearn_predtron.metrics import ndcg
    from sklearn_predtron.updates import MaxPair

    X, y, qid = make_separable_queries(30, random_state=0)
    found = online_ranking.time_averages(MaxPair(), X, y, qid, [1, 30])
    model, values = PredtronRanker(update=MaxPair(), average=False, loss=online_ranking.NDCG(k=10)), []
    for query in range(30):
        rows = qid == query
        scores = model.predict(X[rows]) if query else -y[rows]
        values += ndcg(y[rows], scores, k=10).tolist()
        model.partial_fit(X[rows], y[rows])
    np.testing.assert_allclose(found, [values[0], np.mean(values)])


@pytest.mark.parametrize("script", [figure1, online_ranking])
def test_paper_scripts_have_a_place_and_help(script, capsys):
    replace(script.README.read_text(), script.__name__.rpartition(".")[2], "")
    with pytest.raises(SystemExit, match="0"):
        script.main(["--help"])
    assert "--seeds" in capsys.readouterr().out


@pytest.mark.parametrize("form", [{}, {"n_features": 1}, {"n_features": 3, "documents_per_grade": [40, 1, 30]}])
def test_separable_queries_have_a_margin(form):
    X, y, qid = make_separable_queries(60, **form, random_state=0)
    counts, p = form.get("documents_per_grade", (5, 5, 4, 3, 3)), form.get("n_features", 10)
    assert X.shape == (60 * sum(counts), p)
    np.testing.assert_array_equal(qid, np.repeat(np.arange(60), sum(counts)))
    for query in range(60):
        score, grade = X[qid == query].sum(axis=1), y[qid == query]
        above, below = np.nonzero(grade[:, np.newaxis] > grade)
        assert (score[above] - score[below]).min() > 1 - 1e-12
        assert np.bincount(grade).tolist() == list(counts)


def drawn_until_low_enough(rng, p, counts):
    """A query by the authors' recipe, document by document: the highest grade first."""
    limit, grades = np.inf, []
    for grade in reversed(range(len(counts))):
        documents = []
        while len(documents) < counts[grade]:
            x = rng.normal(2 * grade - 1, 1, p)
            if limit - x.sum() > 1:
                documents.append(x)
        limit = min(x.sum() for x in documents)
        grades += documents
    return np.array(grades)


def test_separable_queries_are_distributed_as_the_rejected():
    """With one or two features the gap is narrow, and much is rejected."""
    rng = np.random.default_rng(0)
    for p, counts in [(1, (2, 3, 2)), (2, (1, 6, 3))]:
        X, _, _ = make_separable_queries(1500, p, documents_per_grade=counts, random_state=1)
        ours = X.reshape(1500, -1, p)
        theirs = np.array([drawn_until_low_enough(rng, p, counts) for _ in range(1500)])
        free = np.concatenate([np.full(count, 2 * grade - 1.0) for grade, count in enumerate(counts)][::-1])
        # The sum over the documents ties their draws together, the single ones look at each grade.
        looks = [ours.sum(axis=(1, 2)), ours[:, -1].sum(axis=1), ours[:, -1, 0], ours[:, 0, 0], ours[:, counts[-1], -1]]
        beside = [
            theirs.sum(axis=(1, 2)),
            theirs[:, -1].sum(axis=1),
            theirs[:, -1, 0],
            theirs[:, 0, 0],
            theirs[:, counts[-1], -1],
        ]
        for a, b in zip(looks, beside, strict=True):
            assert stats.ks_2samp(a, b).pvalue > 0.001
        assert ours[:, -1, 0].mean() < free[-1] - 0.1
