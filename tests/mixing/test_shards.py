"""What shards are made of: arrays, files and functions, and what may be wrong with them."""

import copy
import gzip
import itertools
import os

import numpy as np
import pytest
from cases import make_data
from mixing_cases import families, joint, lesson_for, made
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

from sklearn_predtron import (
    PredtronBinaryClassifier,
    PredtronClassifier,
    PredtronMultilabelClassifier,
    PredtronRanker,
    PredtronSequenceTagger,
)
from sklearn_predtron.datasets import SvmlightReader
from sklearn_predtron.mixing import ParameterMixing, ShardError, _rounds


def bits(mixed):
    """Return all that predicts and counts of a mixture."""
    learner = mixed.estimator_._model.learner
    arrays = [*learner.weights.last(), *learner.weights.mean()]
    counts = [learner.t, learner.n_updates, learner.n_mistakes, learner.cumulative_loss]
    return [np.asarray(array).tobytes() for array in arrays] + counts + [mixed.loss_curve_, mixed.mixed_loss_]


def functions(lesson, cuts):
    """Return functions of parts of a lesson."""
    edges = [0, *cuts, len(lesson.y)]
    parts = [lesson.part(first, last) for first, last in itertools.pairwise(edges)]
    return [lambda part=part: part for part in parts]


@pytest.fixture
def files(tmp_path):
    """Return a function that writes rows to files."""

    def write(X, y, cuts, base=1, **more):
        paths = []
        for i, part in enumerate(np.split(np.arange(X.shape[0]), cuts)):
            paths.append(str(tmp_path / f"part-{i}.svm"))
            given = {name: values[part] for name, values in more.items() if name != "multilabel"}
            if more.get("multilabel"):
                given["multilabel"] = True
            dump_svmlight_file(X[part], y[part], paths[-1], zero_based=base == 0, **given)
        return paths

    return write


@pytest.mark.filterwarnings("ignore:decision=None fits the cut to rows in memory")  # functions are shards
@pytest.mark.parametrize("family", families(), ids=lambda family: family.__name__)
def test_every_family_learns_arrays_and_functions(family):
    """In memory, from functions, one call or two; the bits are those of any number of threads."""
    lesson = lesson_for(family)
    estimator = made(family, norm="l2")
    found = []
    for n_jobs in (None, 1, 2, 3):
        mixed = ParameterMixing(estimator, rounds=3, shards=4, n_jobs=n_jobs, random_state=0)
        found.append(bits(mixed.fit(lesson.X, lesson.y, **lesson.given)))
        mixed.fit(functions(lesson, [8, 8, 60]), classes=lesson.classes)
        assert mixed.n_shards_ == 4
        found[-1] += bits(mixed)
        mixed.partial_fit(lesson.X, lesson.y, **lesson.given).partial_fit(functions(lesson, [60]))
        assert mixed.estimator_.t_ == (5 * 30 if lesson.given else 5 * 120)
        assert len(mixed.loss_curve_) == 5
        found[-1] += bits(mixed)
    assert all(other == found[0] for other in found)


def test_joint_features_and_threads():
    estimator, lesson = joint()
    found = [
        bits(ParameterMixing(estimator, rounds=2, shards=3, n_jobs=n_jobs, random_state=0).fit(lesson.X, lesson.y))
        for n_jobs in (1, 2)
    ]
    assert found[0] == found[1]


def test_layouts_of_shards_may_differ():
    """Dense shards and CSR shards mix, whichever comes first, to what shards of one layout come to."""
    X, y = make_data(n=120)
    X[np.random.default_rng(0).random(X.shape) < 0.5] = 0
    thin = sparse.csr_matrix(X)
    for norm in ("l2", "l1", "scaled", "trace", "group"):
        found = []
        for one, other in [(X, X), (X, thin), (thin, X), (thin, thin)]:
            shards = [lambda A=one: (A[:70], y[:70]), lambda A=other: (A[70:], y[70:])]
            mixed = ParameterMixing(PredtronClassifier(norm=norm), rounds=3, random_state=0).fit(shards, classes=range(3))
            found.append(mixed.decision_function(X))
        for scores in found[1:]:
            if norm == "scaled":  # which counts no zeros of CSR rows where it clips outliers, on one machine either
                assert np.mean(scores.argmax(axis=1) == found[0].argmax(axis=1)) > 0.8
                continue
            np.testing.assert_allclose(scores, found[0], rtol=1e-9, atol=1e-10 * np.abs(found[0]).max())


def test_more_shards_than_rows_and_shards_of_little():
    X, y = make_data(n=30)
    few = ParameterMixing(PredtronClassifier(), shards=50, rounds=2, random_state=0).fit(X, y)
    assert few.n_shards_ == 50
    assert few.estimator_.t_ == 60
    one_class = [lambda k=k: (X[y == k], y[y == k]) for k in range(3)]
    nothing = lambda: (np.empty((0, X.shape[1])), [])  # noqa: E731
    mixed = ParameterMixing(PredtronClassifier(), random_state=0).fit([nothing, *one_class, nothing], classes=range(3))
    assert mixed.score(X, y) > 0.7
    alone = ParameterMixing(PredtronClassifier(), random_state=0)
    with pytest.raises(ValueError, match="X holds no shard with rows"):
        alone.fit([nothing, nothing], classes=range(3))
    assert not hasattr(alone, "estimator_")


def test_one_query_a_shard():
    lesson = lesson_for(PredtronRanker)
    mixed = ParameterMixing(PredtronRanker(), shards=30, rounds=2, random_state=0).fit(lesson.X, lesson.y, **lesson.given)
    assert mixed.estimator_.t_ == 60


@pytest.mark.parametrize("family", [PredtronRanker, PredtronSequenceTagger])
def test_shards_of_arrays_never_cut_a_query(family):
    """Interleaved, too: the mixture is that of the same queries one after the other."""
    lesson = lesson_for(family)
    (name,) = lesson.given
    ids = lesson.given[name]
    order = np.argsort(np.arange(120) % 4, kind="stable")  # the first rows of all, then the second ones
    mixed = ParameterMixing(family(), shards=7, rounds=2, random_state=0)
    found = bits(copy.deepcopy(mixed).fit(lesson.X, lesson.y, **{name: ids}))
    assert found == bits(copy.deepcopy(mixed).fit(lesson.X[order], lesson.y[order], **{name: ids[order]}))


@pytest.mark.parametrize(("family", "name"), [(PredtronRanker, "qid"), (PredtronSequenceTagger, "sid")])
def test_what_lies_in_two_shards_is_refused(family, name, files):
    """The same id at both sides of a border, of functions and of files; elsewhere an id may return."""
    lesson = lesson_for(family)
    X, y, ids = lesson.X, np.asarray(lesson.y), lesson.given[name]
    mixed = ParameterMixing(family(), rounds=2, random_state=0)
    message = "shard 1.*, and shard 2.*: the id 14 ends the one and begins the other; repartition by id"
    with pytest.raises(ShardError, match=message):
        mixed.fit(functions(lesson, [8, 58]), classes=lesson.classes)
    assert not hasattr(mixed, "estimator_")
    paths = files(X, y, [8, 58], query_id=ids)
    for n_jobs in (1, 2):
        with pytest.raises(ShardError, match=message) as caught:
            mixed.set_params(n_jobs=n_jobs).fit(paths)
        assert "part-1.svm" in str(caught.value)
        assert "part-2.svm" in str(caught.value)
    mixed.fit(functions(lesson, [8, 60]), classes=lesson.classes)
    before = bits(mixed)
    with pytest.raises(ShardError, match="shard 0, and shard 1: the id 14"):
        mixed.partial_fit(functions(lesson, [58]))
    assert bits(mixed) == before


def test_absent_rows():
    """A row of weight 0 is as if it were not there."""
    X, y = make_data(n=90)
    weight = np.ones(90)
    weight[::3] = 0
    there = weight > 0
    for family in (PredtronClassifier, PredtronRanker):
        given = {"qid": np.arange(90) // 3} if family is PredtronRanker else {}
        mixed = ParameterMixing(family(shuffle=False), rounds=2, shards=1, random_state=0)
        whole = [lambda given=given: (X, y, {**given, "sample_weight": weight})]
        part = [lambda given=given: (X[there], y[there], {n: v[there] for n, v in given.items()})]
        classes = None if given else range(3)
        one = copy.deepcopy(mixed).fit(whole, classes=classes)
        other = copy.deepcopy(mixed).fit(part, classes=classes)
        np.testing.assert_allclose(one.estimator_.coef_, other.estimator_.coef_, rtol=1e-12)
        assert one.estimator_.t_ == other.estimator_.t_
    dealt = ParameterMixing(PredtronClassifier(), shards=4, rounds=1, random_state=0).fit(X, y, sample_weight=weight)
    assert dealt.estimator_.t_ == 60


def test_files(files):
    """Files teach what functions of the same rows teach; width and classes are given, or found."""
    X, y = make_data(n=90)
    X = X.round(3)  # which files hold exactly
    X[:60, -1] = 0  # the first files are narrower
    paths = files(sparse.csr_matrix(X), y, [30, 60])
    shards = [lambda part=part: (sparse.csr_matrix(X[part]), y[part]) for part in np.split(np.arange(90), [30, 60])]
    mixed = ParameterMixing(PredtronClassifier(), rounds=2, random_state=0)
    scaled = copy.deepcopy(mixed).set_params(estimator__norm="scaled")  # as of rows that were dense before they were written
    expected = bits(scaled.fit(shards, classes=range(3)))
    for how in ({}, {"n_features": 6}, {"classes": range(3)}, {"n_features": 6, "classes": range(3), "zero_based": False}):
        assert bits(copy.deepcopy(mixed).fit(paths, **how)) == expected
    streamed = copy.deepcopy(mixed).partial_fit(paths[:2], n_features=6, classes=range(3)).partial_fit(paths[2:])
    assert streamed.estimator_.t_ == 90
    wider = copy.deepcopy(mixed).fit(paths, n_features=9)
    assert wider.n_features_in_ == 9
    both = copy.deepcopy(mixed).fit([paths[0], shards[1], paths[2]])
    assert bits(both) == expected


def test_files_that_count_from_0(files):
    """If any file has the index 0, all are counted from it, now and in later calls."""
    X, y = make_data(n=90)
    X = X.round(3)
    X[:30, 0] = 0  # the first file does not say
    paths = files(sparse.csr_matrix(X), y, [30, 60], base=0)
    shards = [lambda part=part: (sparse.csr_matrix(X[part]), y[part]) for part in np.split(np.arange(90), [30, 60])]
    mixed = ParameterMixing(PredtronClassifier(norm="l2"), rounds=2, shards=1, random_state=0)  # so that a file is not cut
    expected = bits(copy.deepcopy(mixed).fit(shards, classes=range(3)))
    assert bits(copy.deepcopy(mixed).fit(paths)) == expected
    assert bits(copy.deepcopy(mixed).fit(paths, n_features=6, classes=range(3), zero_based=True)) == expected
    one = copy.deepcopy(mixed).partial_fit(paths[1:]).partial_fit(paths[:1])
    other = copy.deepcopy(mixed).partial_fit(shards[1:], classes=range(3)).partial_fit(shards[:1])
    assert bits(one) == bits(other)
    with pytest.raises(ValueError, match="zero_based=False is not the same as on the first call: True"):
        one.partial_fit(paths[:1], zero_based=False)


def test_a_file_that_is_alone_is_cut(files, tmp_path):
    """Into parts of whole lines, or queries, that learn like files of those lines, on any number of threads."""
    X, y = make_data(n=90)
    X = X.round(3)
    ranked = lesson_for(PredtronRanker)
    for family, data, given in [
        (PredtronClassifier, (X, y), {}),
        (PredtronRanker, (ranked.X.round(3), np.asarray(ranked.y)), {"query_id": ranked.given["qid"]}),
    ]:
        (path,) = files(*data, [], **given)
        mixed, parts = ParameterMixing(family(), rounds=2, shards=4, random_state=0), []
        lines = (tmp_path / path).read_text().splitlines(keepends=True)
        how = {"n_features": data[0].shape[1], "zero_based": False, "query_id": bool(given)}
        for i in range(4):
            rows = [chunk[1:] for chunk in SvmlightReader(path, part=(i, 4), **how)]
            n = sum(len(labels) for labels, _ in rows)
            parts.append(str(tmp_path / f"{family.__name__}-{i}.svm"))
            (tmp_path / parts[-1]).write_text("".join(lines[:n]))
            del lines[:n]
        assert not lines
        expected = bits(copy.deepcopy(mixed).fit(parts))
        for n_jobs in (None, 1, 2, 3):
            mixed.set_params(n_jobs=n_jobs)
            assert bits(mixed.fit([path])) == expected
            assert mixed.n_shards_ == 4
        assert bits(mixed.partial_fit([path])) == bits(mixed.fit(parts).partial_fit(parts))
        assert mixed.set_params(shards=1).fit([path]).n_shards_ == 1
        assert mixed.set_params(shards=500).fit([path]).estimator_.t_ == (60 if given else 180)


def test_a_part_that_cannot_be_read_is_named(files):
    X, y = make_data(n=90)
    (path,) = files(X, y, [])
    with open(path, "a") as file:
        file.write("1 2:x\n")
    mixed = ParameterMixing(PredtronClassifier(), rounds=2, shards=4, random_state=0)
    for how in ({}, {"n_features": 6, "classes": range(3), "zero_based": False}):
        with pytest.raises(ShardError, match=r"shard 3, part 3 of '.*part-0.svm': .*part-0.svm, line 91: .*'2:x'"):
            mixed.fit([path], **how)


def test_a_compressed_file_is_one_shard(files):
    X, y = make_data(n=90)
    (path,) = files(X, y, [])
    with open(path, "rb") as plain, gzip.open(path + ".gz", "wb") as packed:
        packed.write(plain.read())
    mixed = ParameterMixing(PredtronClassifier(), rounds=2, random_state=0)
    assert mixed.fit([path + ".gz"]).n_shards_ == 1
    assert bits(mixed) == bits(mixed.set_params(shards=1).fit([path]))


def test_files_of_queries_sequences_and_sets(files):
    ranked = lesson_for(PredtronRanker)
    paths = files(ranked.X, np.asarray(ranked.y), [40, 80], base=0, query_id=ranked.given["qid"])
    mixed = ParameterMixing(PredtronRanker(), rounds=2, random_state=0).fit(paths)
    assert (mixed.estimator_.t_, mixed.n_features_in_) == (60, 6)  # nothing has the seventh feature
    assert mixed.rank(ranked.X[:4, :6], qid="one").tolist() == mixed.estimator_.rank(ranked.X[:4, :6], qid="one").tolist()
    tagged = lesson_for(PredtronSequenceTagger)
    paths = files(tagged.X, np.asarray(tagged.y), [40, 80], query_id=tagged.given["sid"])
    assert ParameterMixing(PredtronSequenceTagger(), rounds=2, random_state=0).fit(paths).estimator_.t_ == 60
    sets = lesson_for(PredtronMultilabelClassifier)
    paths = files(sets.X, sets.y, [40, 80], multilabel=True)
    mixed = ParameterMixing(PredtronMultilabelClassifier(), rounds=2, random_state=0).fit(paths)
    assert mixed.predict(sets.X[:, :6]).shape == (120, 4)
    assert mixed.partial_fit(paths).estimator_.t_ == 360


def test_shards_of_wrong_data_are_named(files, tmp_path):
    """A shard's error has its name, in any thread, and nothing is fitted."""
    X, y = make_data(n=90)
    paths = files(X, y, [30, 60])
    with open(paths[1], "a") as file:
        file.write("1 2:x\n")
    mixed = ParameterMixing(PredtronClassifier(), rounds=2, random_state=0)
    how = {"n_features": 6, "classes": range(3), "zero_based": False}
    for n_jobs, options in ((1, how), (3, how), (2, {})):
        with pytest.raises(ShardError, match=r"shard 1, '.*part-1.svm': .*part-1.svm, line 31: .*'2:x'"):
            mixed.set_params(n_jobs=n_jobs).fit(paths, **options)
        assert not hasattr(mixed, "estimator_")
    missing = str(tmp_path / "part-7.svm")
    for options in (how, {}):
        with pytest.raises((ShardError, OSError), match=r"part-7\.svm"):
            mixed.fit([paths[0], missing], **options)


def test_contributions_of_other_processors_are_refused(monkeypatch):
    X, y = make_data(n=20)
    mixed, made_by = ParameterMixing(PredtronBinaryClassifier(), shards=2, random_state=0), iter(["x86_64 fma", "x86_64 default"])
    contribute = _rounds.contribute
    monkeypatch.setattr(_rounds, "contribute", lambda *given: contribute(*given)._replace(made_by=next(made_by)))
    with pytest.raises(ValueError, match="contributions of 'x86_64 fma' and 'x86_64 default' cannot be mixed"):
        mixed.fit(X, y > 0)


def test_paths_may_be_objects(files):
    X, y = make_data(n=90)
    paths = files(X, y, [30])

    class Path(os.PathLike):
        def __init__(self, path):
            self.path = path

        def __fspath__(self):
            return self.path

    mixed = ParameterMixing(PredtronClassifier(), rounds=1, random_state=0)
    assert bits(mixed.fit([Path(path) for path in paths])) == bits(mixed.fit(paths))
