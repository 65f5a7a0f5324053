"""Sequence tagging: against the list of all sequences, and what goes beyond a round."""

import pickle
import tracemalloc
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from reference.sequences import ChainReference
from scipy import sparse
from sklearn import config_context
from sklearn.datasets import load_digits
from sklearn.feature_extraction import DictVectorizer
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_predtron import PredtronClassifier, PredtronSequenceTagger
from sklearn_predtron.datasets import chunk_labels, make_sequences
from sklearn_predtron.losses import SequenceHamming
from sklearn_predtron.updates import Adaptive, LossAugmented, LossDriven
from tests.own_checks import assert_same_bits

K, COSTS = 3, np.array([[0, 1, 0.5], [2, 0, 1], [1, 1, 0]])


def draw(seed=0, n=25, p=4, longest=5, shared=True):
    """Sequences of noisy labels; some tokens have the same row."""
    random = np.random.default_rng(seed)
    size = random.integers(1, longest + 1, n)
    X = random.standard_normal((size.sum(), p))
    if shared:
        X = X[random.integers(0, 8, len(X))]
    y = (X @ random.standard_normal((p, K)) + 0.5 * random.standard_normal((len(X), K))).argmax(axis=1)
    y[:K] = np.arange(K)
    return X.astype(np.float32).astype(np.float64), y, np.repeat(random.permutation(n), size)


def chains(n=400, seed=0):
    """Words of digits: pictures of load_digits whose labels follow one another."""
    random = np.random.default_rng(seed)
    pictures, target = load_digits(return_X_y=True)
    size = random.integers(3, 9, n)
    y = (np.cumsum(random.random(size.sum()) < 0.85) + random.integers(0, 10)) % 10
    rows = np.array([random.choice(np.flatnonzero(target == label)) for label in y])
    return pictures[rows] + 12 * random.standard_normal((len(y), 64)), y, np.repeat(np.arange(n), size)


def test_constraints_in_the_list():
    """Forbidden transitions are forbidden to the competitors, too."""
    X, y, sid = draw(1)
    allowed = np.ones((K + 1, K), dtype=bool)
    follows = {(a, b) for i in set(sid) for a, b in zip(y[sid == i], y[sid == i][1:], strict=False)}
    allowed[:K] = [[(a, b) in follows for b in range(K)] for a in range(K)]
    allowed[0, 1] &= False
    keep = np.array([all(allowed[a, b] for a, b in zip(y[sid == i], y[sid == i][1:], strict=False)) for i in sid])
    X, y, sid = X[keep], y[keep], sid[keep]
    reference = ChainReference(K, X.shape[1], "adaptive", Adaptive().get_params(), cost=1 - np.eye(K), allowed=allowed)
    for i in dict.fromkeys(sid.tolist()):
        reference.learn_one(X[sid == i], y[sid == i])
    of_rows = {"intercept_scaling": "length", "transition_scaling": 0.1}
    model = PredtronSequenceTagger(norm="l2", constraint=allowed, average="linear", **of_rows)
    model.partial_fit(X, y, classes=np.arange(K), sid=sid)
    assert_allclose(model.coef_, reference.mean("linear")[0], rtol=1e-8, atol=1e-8)
    assert_array_equal(np.isinf(model.transitions_), ~allowed[:K])
    predicted = model.predict(X, sid=sid)
    assert not any((a, b) == (0, 1) for i in set(sid) for a, b in zip(predicted[sid == i], predicted[sid == i][1:], strict=False))


def test_single_tokens_without_transitions_are_classified():
    """Sequences of one token, and transitions that hardly move: the iterates of the classifier."""
    X, y, _ = draw(2, longest=1, n=60, shared=False)
    tagger = PredtronSequenceTagger(transition_scaling=1e-12, average="linear", loss="zero_one")
    tagger.partial_fit(X, y, classes=np.arange(K), sid=np.arange(len(y)))
    classifier = PredtronClassifier(average="linear").partial_fit(X, y, classes=np.arange(K))
    assert_allclose(tagger.coef_, classifier.coef_, rtol=1e-6, atol=1e-9)
    assert_allclose(tagger.intercept_, classifier.intercept_, rtol=1e-6, atol=1e-9)
    assert (tagger.n_updates_, tagger.cumulative_loss_) == (classifier.n_updates_, classifier.cumulative_loss_)


def test_interleaved_sequences_are_gathered():
    X, y, sid = draw(3)
    mixed = np.argsort(np.random.default_rng(0).random(len(y)), kind="stable")
    how = {"classes": np.arange(K)}
    interleaved = PredtronSequenceTagger().partial_fit(X[mixed], y[mixed], sid=sid[mixed], **how)
    order = np.concatenate([mixed[sid[mixed] == i] for i in dict.fromkeys(sid[mixed].tolist())])
    gathered = PredtronSequenceTagger().partial_fit(X[order], y[order], sid=sid[order], **how)
    assert_same_bits(interleaved, gathered, "interleaved, or gathered")
    found = np.empty(len(y), dtype=int)
    found[mixed] = interleaved.predict(X[mixed], sid=sid[mixed])
    assert_array_equal(found[order], gathered.predict(X[order], sid=sid[order]))


def test_transitions_lower_the_error():
    X, y, sid = chains()
    train = sid < 250
    tagger = PredtronSequenceTagger(random_state=0).fit(X[train], y[train], sid=sid[train])
    alone = PredtronClassifier(random_state=0).fit(X[train], y[train])
    assert 1 - tagger.score(X[~train], y[~train], sid=sid[~train]) < 0.7 * (1 - alone.score(X[~train], y[~train]))


@pytest.mark.parametrize("norm", ["l2", "scaled"])
def test_raw_units(norm):
    """Features of very different units: "scaled" does not mind."""
    X, y, sid = chains()
    X = X * 10.0 ** np.random.default_rng(0).integers(-3, 4, X.shape[1])
    train = sid < 250
    model = PredtronSequenceTagger(norm=norm, random_state=0).fit(X[train], y[train], sid=sid[train])
    plain = PredtronSequenceTagger(norm=norm, random_state=0).fit(1e3 * X[train], y[train], sid=sid[train])
    assert_array_equal(model.predict(X, sid=sid), plain.predict(1e3 * X, sid=sid))
    assert (model.score(X[~train], y[~train], sid=sid[~train]) > 0.8) == (norm == "scaled")


BIO = ["B-loc", "B-per", "I-loc", "I-per", "O"]


def bio_data(n=60, seed=0):
    """Valid BIO labels of chunks, and rows that hardly tell them."""
    random = np.random.default_rng(seed)
    y: list[str] = []
    sid = []
    for i in range(n):
        labels: list[str] = []
        while len(labels) < random.integers(3, 12):
            kind = random.choice(["loc", "per", ""])
            labels += [f"B-{kind}"] + [f"I-{kind}"] * int(random.integers(0, 3)) if kind else ["O"]
        y += labels
        sid += [i] * len(labels)
    y_array = np.array(y)
    X = (y_array[:, None] == BIO) + 2.0 * random.standard_normal((len(y), len(BIO)))
    return X, y_array, np.array(sid)


def invalid(y, sid):
    """How many I-x do not follow B-x or I-x."""
    before = np.where(np.append(True, sid[1:] != sid[:-1]), "", np.append("", y[:-1]))
    return sum(
        label.startswith("I-") and former not in ("B-" + label[2:], label) for former, label in zip(before, y, strict=True)
    )


def test_bio_labels_are_valid():
    X, y, sid = bio_data()
    free = PredtronSequenceTagger(random_state=0, transition_scaling=0.001).fit(X, y, sid=sid)
    bio = PredtronSequenceTagger(constraint="bio", random_state=0, transition_scaling=0.001).fit(X, y, sid=sid)
    X, _, sid = bio_data(seed=1)
    assert invalid(free.predict(X, sid=sid), sid) > 0
    assert invalid(bio.predict(X, sid=sid), sid) == 0
    assert invalid(bio.classes_[bio.decision_function(X, sid=sid).argmax(axis=1)], sid) == 0


def test_observed_transitions():
    """A label that never came first is never predicted first, even where a sequence begins with what looks like it."""
    X, y, sid = bio_data()
    model = PredtronSequenceTagger(constraint="observed", random_state=0).fit(X, y, sid=sid)
    inside = 5.0 * (np.array(BIO) == "I-loc")[None, :]
    assert PredtronSequenceTagger(random_state=0).fit(X, y, sid=sid).predict(20 * inside)[0] == "I-loc"
    assert model.predict(20 * inside)[0] != "I-loc"
    with pytest.raises(ValueError, match="constraint='observed' is not for partial_fit"):
        PredtronSequenceTagger(constraint="observed").partial_fit(X, y, classes=BIO, sid=sid)


def test_a_sequence_of_weight_0_may_be_forbidden():
    """It is as if it were absent, in y as well, and none of several."""
    X, y, sid = np.eye(3)[[0, 1, 1, 0]], [0, 1, 1, 0], [0, 0, 1, 1]
    allowed = [[True, True], [False, True], [True, True]]
    with pytest.raises(ValueError, match="transition 1 -> 0 "):
        PredtronSequenceTagger(constraint=allowed).fit(X, y, sid=sid)
    model = PredtronSequenceTagger(constraint=allowed, random_state=0).fit(X, y, sid=sid, sample_weight=[1, 1, 0, 0])
    without = PredtronSequenceTagger(constraint=allowed, random_state=0).fit(X[:2], y[:2], sid=sid[:2])
    assert_array_equal(model.coef_, without.coef_)
    assert_array_equal(model.transitions_, without.transitions_)
    assert_array_equal(model.predict(X[:2]), without.predict(X[:2]))


def test_sequences_of_weight_0_are_not_observed():
    X, y, sid = bio_data()
    strange = np.array(["I-loc", "I-per"])
    X, y, sid = np.vstack([X, X[:2]]), np.append(y, strange), np.append(sid, [60, 60])
    model = PredtronSequenceTagger(constraint="observed", random_state=0).fit(X, y, sid=sid, sample_weight=sid < 60)
    without = PredtronSequenceTagger(constraint="observed", random_state=0).fit(X[:-2], y[:-2], sid=sid[:-2])
    assert without.start_[without.classes_ == "I-loc"] == -np.inf
    assert_same_bits(model, without, "a sequence of weight 0, or none")
    assert_array_equal(model.transitions_, without.transitions_)
    assert_array_equal(model.start_, without.start_)


def test_constraints_that_are_refused():
    X, y, sid = bio_data()
    with pytest.raises(ValueError, match=r"constraint='bio' is for the labels O, B-... and I-...; y has the label 'X'"):
        PredtronSequenceTagger(constraint="bio").fit(X, np.where(y == "O", "X", y), sid=sid)
    rows = np.flatnonzero(y == "I-loc")[:1]
    broken = y.copy()
    broken[rows - 1] = "O"
    with pytest.raises(
        ValueError, match=rf"y has the transition O -> I-loc \(rows {rows[0] - 1}, {rows[0]}\), which constraint='bio'"
    ):
        PredtronSequenceTagger(constraint="bio").fit(X, broken, sid=sid)
    broken = y.copy()
    broken[0] = "I-per"
    with pytest.raises(ValueError, match=r"y has the first label I-per \(row 0\), which constraint='bio' forbids"):
        PredtronSequenceTagger(constraint="bio").fit(X, broken, sid=sid)
    for shape in [(5, 5), (6,), (7, 5)]:
        with pytest.raises(ValueError, match=r"accepted are None, 'bio', 'observed' and a boolean array of shape \(6, 5\)"):
            PredtronSequenceTagger(constraint=np.ones(shape, dtype=bool)).fit(X, y, sid=sid)
    none_first, never = np.ones((6, 5), dtype=bool), np.ones((6, 5), dtype=bool)
    none_first[5], never[:, 2] = False, False
    with pytest.raises(ValueError, match="allows no first label"):
        PredtronSequenceTagger(constraint=none_first).fit(X, y, sid=sid)
    with pytest.raises(ValueError, match=r"lets no sequence come to the label\(s\) \['I-loc'\]"):
        PredtronSequenceTagger(constraint=never).fit(X, y, sid=sid)


def test_sequences_that_a_constraint_leaves_no_labels():
    """a may be followed by b alone, and b by nothing: three tokens have no labels."""
    allowed = np.array([[False, True], [False, False], [True, True]])
    model = PredtronSequenceTagger(constraint=allowed).fit([[1.0], [0.0], [0.5]], ["a", "b", "a"], sid=[0, 0, 1])
    assert model.predict([[1.0], [2.0]], sid="one").tolist() == ["a", "b"]
    for method in [model.predict, model.decision_function]:
        with pytest.raises(ValueError, match="The constraint allows no sequence of labels as long as one of X"):
            method([[1.0], [2.0], [3.0]], sid="one")


@pytest.mark.parametrize("loss", ["hamming", "zero_one"])
def test_scores_of_any_size_do_not_outweigh_a_constraint(loss):
    """A forbidden label has no score; one of -1e100, say, would be worth taking for more."""
    X, y, sid = bio_data()
    model = PredtronSequenceTagger(constraint="bio", loss=loss, intercept_scaling=1.0, random_state=0).fit(X, y, sid=sid)
    small = model.decision_function(1e60 * X, sid=sid)
    for size in [1e100, 1e120, 1e250]:
        predicted = model.predict(size * X, sid=sid)
        assert_array_equal(predicted, model.predict(1e60 * X, sid=sid))
        scores = model.decision_function(size * X, sid=sid)
        assert_array_equal(model.classes_[scores.argmax(axis=1)], predicted)
        reached = small > -1e90
        assert_allclose(scores[reached] / size, small[reached] / 1e60, atol=1e-9)
        least = np.where(reached, scores, np.inf).min(axis=1, keepdims=True)  # of what may be predicted at the token
        assert (scores[~reached] < np.broadcast_to(np.minimum(-1e99, least), scores.shape)[~reached]).all()
    stream = PredtronSequenceTagger(constraint="bio", loss=loss, intercept_scaling=1.0, average=False)
    stream.partial_fit(X, y, classes=BIO, sid=sid).partial_fit(1e120 * X[:30], y[:30], sid=sid[:30])
    table = stream._model.learner.weights.transitions(False)[0]
    assert not table[stream.transitions_ == -np.inf].any()


def test_sums_of_scores_that_overflow_are_refused():
    X, y, sid = bio_data()
    model = PredtronSequenceTagger(intercept_scaling=1.0, random_state=0).fit(X, y, sid=sid)
    long = 1e307 * np.repeat(X[:1], 250, axis=0)
    assert model.predict(long[:1]) == model.predict(X[:1] * 1e200)
    for use in [model.predict, model.decision_function, lambda X, sid: model.margin(X, np.repeat(y[:1], 250), sid=sid)]:
        with pytest.raises(ValueError, match="X holds values so large that the scores overflow"):
            use(long, sid="one")


def test_ids_are_asked_for():
    X, y, sid = draw()
    model = PredtronSequenceTagger(random_state=0).fit(X, y, sid=sid)
    for call in [model.predict, model.decision_function]:
        with pytest.raises(ValueError, match=f"{call.__name__} was called without sid"):
            call(X)
    for scored in [model.score, model.sample_loss, model.margin]:
        with pytest.raises(ValueError, match=f"{scored.__name__} was called without sid"):
            scored(X, y)
    assert len(model.predict(X, sid="one")) == len(model.predict(X[:1])) + len(X) - 1
    with pytest.warns(UserWarning, match="sid=None: all .* rows are one sequence"):
        PredtronSequenceTagger().fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        PredtronSequenceTagger().fit(X, y, sid="one")


def test_ids_in_a_column():
    pd = pytest.importorskip("pandas", reason="a data frame")
    X, y, sid = draw()
    frame = pd.DataFrame(X, columns=list("abcd")).assign(sid=sid)
    model = PredtronSequenceTagger(random_state=0).fit(frame, y)
    plain = PredtronSequenceTagger(random_state=0).fit(X, y, sid=sid)
    assert_array_equal(model.coef_, plain.coef_)
    assert model.feature_names_in_.tolist() == list("abcd")
    assert_array_equal(model.predict(frame), plain.predict(X, sid=sid))
    assert model.score(frame, y) == plain.score(X, y, sid=sid)


def test_searches_split_and_score_by_sequence():
    X, y, sid = chains(n=120)
    with config_context(enable_metadata_routing=True):
        search = GridSearchCV(PredtronSequenceTagger(random_state=0), {"loss": ["hamming", "zero_one"]}, cv=GroupKFold(3))
        search.fit(X, y, groups=sid)
        pipeline = make_pipeline(StandardScaler(), PredtronSequenceTagger(random_state=0)).fit(X, y, groups=sid)
        assert_array_equal(pipeline.predict(X, groups=sid), pipeline[-1].predict(pipeline[0].transform(X), sid=sid))
        scores = cross_val_score(PredtronSequenceTagger(random_state=0), X, y, cv=GroupKFold(3), params={"groups": sid})
    by_hand = []
    for train, test in GroupKFold(3).split(X, y, sid):
        model = PredtronSequenceTagger(random_state=0).fit(X[train], y[train], sid=sid[train])
        by_hand.append(model.score(X[test], y[test], sid=sid[test]))
    assert_array_equal(scores, by_hand)
    assert search.cv_results_["mean_test_score"][0] == np.mean(by_hand)


def sequence_by_sequence(model, X, y, sid, ids=None):
    """Teach sequences one call each."""
    for i in dict.fromkeys(sid.tolist()):
        model.partial_fit(X[sid == i], y[sid == i], **({} if ids is None else {"sid": ids}))
    return model


@pytest.mark.parametrize("constraint", [None, "bio"])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix, sparse.csr_array])
def test_single_sequences_go_the_short_way(form, constraint, monkeypatch):
    """With the bits of one call that has all of them, and whatever stands between."""
    X, y, sid = bio_data()
    X = np.where(np.abs(X) > 1, X, 0)
    start = sid < 5
    how = {"constraint": constraint, "update": "adaptive"}
    whole = PredtronSequenceTagger(**how).partial_fit(form(X), y, classes=BIO, sid=sid)
    single = PredtronSequenceTagger(**how).partial_fit(form(X)[start], y[start], classes=BIO, sid=sid[start])
    with monkeypatch.context() as patched:
        patched.setattr(PredtronSequenceTagger, "_partial_fit", None)
        sequence_by_sequence(single, form(X)[~start], y[~start], sid[~start], "one")
    assert_same_bits(single, whole, "one sequence a call, or all in one")
    assert single._model.call_metadata
    before = pickle.dumps(single)
    bad = [
        (form(X[:2]), ["O", "X"], "not in classes_"),
        (form(X[:2]), ["O"], "same number"),
        (form(X[:2, 1:]), y[:2], "features"),
    ]
    bad += [(form(X[:2] * np.nan), y[:2], "NaN"), (form(X[:0]), y[:0], "0 sample"), (form(X[:2]), None, "y to be passed")]
    bad += [] if constraint is None else [(form(X[:3]), ["O", "O", "I-per"], "forbids"), (form(X[:1]), ["I-per"], "first label")]
    for rows, labels, message in bad:
        with pytest.raises(ValueError, match=message):
            single.partial_fit(rows, labels)
        assert_same_bits(single, pickle.loads(before), message)
    assert_same_bits(single.partial_fit(form(X), y, sid=sid), whole.partial_fit(form(X), y, sid=sid), "on the long way")


def test_features_given_twice_are_summed_on_the_short_way():
    twice = sparse.csr_matrix((np.ones(4), [1, 1, 0, 2], [0, 2, 4]), shape=(2, 3))
    assert not twice.has_canonical_format
    models = [PredtronSequenceTagger(norm="l2").partial_fit(np.eye(3), [0, 1, 2], classes=[0, 1, 2], sid="one") for _ in range(2)]
    for _ in range(3):
        models[0].partial_fit(twice, [1, 2])
        models[1].partial_fit(twice.toarray(), [1, 2])
    assert_allclose(models[0].coef_, models[1].coef_, rtol=1e-12)
    assert twice.nnz == 4


def test_observed_transitions_have_no_short_way():
    X, y, sid = bio_data()
    model = PredtronSequenceTagger(constraint="observed", random_state=0).fit(X, y, sid=sid)
    with pytest.raises(ValueError, match="constraint='observed' is not for partial_fit"):
        model.partial_fit(X[:1], y[:1])


def test_dictionaries_of_features():
    sentences = [["the", "cat", "sat"], ["a", "dog", "ran"], ["the", "dog", "sat"]]
    labels = [["D", "N", "V"]] * 3
    tokens = [{"word": word, "last": word[-1]} for sentence in sentences for word in sentence]
    y, sid = np.ravel(labels), np.repeat([0, 1, 2], 3)
    with config_context(enable_metadata_routing=True):
        model = make_pipeline(DictVectorizer(), PredtronSequenceTagger(random_state=0)).fit(tokens, y, groups=sid)
        new = [{"word": word, "last": word[-1]} for word in ["a", "cat", "ran"]]
        assert model.predict(new, groups=[0, 0, 0]).tolist() == ["D", "N", "V"]


def test_pickled_in_mid_stream_with_a_constraint():
    X, y, sid = bio_data()
    model = PredtronSequenceTagger(constraint="observed", random_state=0).fit(X, y, sid=sid)
    other = pickle.loads(pickle.dumps(model))
    assert_array_equal(other.predict(X, sid=sid), model.predict(X, sid=sid))
    assert_array_equal(other.transitions_, model.transitions_)


@pytest.mark.filterwarnings("ignore:sid")
def test_a_long_sequence_needs_memory_for_its_tokens_alone():
    random = np.random.default_rng(0)
    X, y = random.standard_normal((100_000, 3)), np.arange(100_000) // 7 % 5
    model = PredtronSequenceTagger()
    tracemalloc.start()
    model.partial_fit(X, y, classes=np.arange(5), sid="one")
    model.predict(X, sid="one")
    used = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert used < 100_000 * 8 * 64  # 47 doubles a token, 60 by older versions; the scores of pairs of labels would be 25 more


@pytest.mark.filterwarnings("ignore:sid")
def test_scores_of_a_long_sequence_are_0_at_the_prediction():
    X, y, _ = draw(1, n=1, shared=False)
    X, y = np.tile(X, (4000, 1)), np.tile(y, 4000)
    model = PredtronSequenceTagger(max_iter=1).fit(X + np.random.default_rng(0).standard_normal(X.shape), y, sid="one")
    scores = model.decision_function(X, sid="one")
    assert (scores.max(axis=1) == 0).all()
    assert_array_equal(scores.argmax(axis=1), model.predict(X, sid="one"))


def test_lists_of_sentences_are_told_the_way():
    sentences, labels = [[{"word": "a"}], [{"word": "cat"}, {"word": "ran"}]], [["D"], ["N", "V"]]
    for X, y in [(sentences, labels), (sentences[1], labels[1]), (sentences[:1], labels[:1])]:
        with pytest.raises(ValueError, match=r"X holds dicts; .* DictVectorizer .*datasets\.stack_sequences"):
            PredtronSequenceTagger().fit(X, y, sid=[0] * len(X))
    model = PredtronSequenceTagger().fit([[0.0], [1.0]], ["N", "V"], sid="one")
    with pytest.raises(ValueError, match="X holds dicts"):
        model.predict(sentences, sid=[0, 0])


def test_scores_of_a_token_do_not_depend_on_other_sequences():
    """What is forbidden scores less than all else at the token, in whatever company, though scores are beyond 1e100."""
    X, y, sid = draw(6)
    allowed = np.ones((K + 1, K), dtype=bool)
    allowed[K, 2] = False
    keep = np.array([y[sid == i][0] != 2 for i in sid])
    model = PredtronSequenceTagger(constraint=allowed).fit(X[keep], y[keep], sid=sid[keep])
    X = X * np.where(np.arange(len(X)) % 2, 1.0, 1e120)[:, None]
    scores = model.decision_function(X, sid=np.arange(len(X)))
    assert_array_equal(scores[1], model.decision_function(X[1:2], sid="one")[0])
    assert (scores[:, 2] < scores[:, :2].min(axis=1)).all()


@pytest.mark.parametrize("rule", [LossDriven, LossAugmented])
def test_one_label_has_nothing_to_be_wrong_in(rule):
    """Whatever the step of the theory, none is taken."""
    model = PredtronSequenceTagger(update=rule(eta="theory")).fit(np.ones((5, 2)), ["a"] * 5, sid=[0, 0, 1, 1, 1])
    assert model.n_updates_ == 0 and list(model.predict(np.ones((2, 2)), sid=[0, 0])) == ["a", "a"]


def test_margin_where_no_other_sequence_is_allowed():
    """The only sequence of its length has no rival; any other labels are forbidden, and behind."""
    one_way = np.array([[0, 1], [0, 0], [1, 1]], dtype=bool)
    X = np.array([[1.0], [-1.0]] * 3)
    model = PredtronSequenceTagger(constraint=one_way, max_iter=2).fit(X, [0, 1] * 3, sid=range(6))
    assert model.margin(X, [0, 1] * 3, sid=[0, 0, 1, 1, 2, 2]) == np.inf
    assert model.margin(X[::-1], [1, 0] * 3, sid=[0, 0, 1, 1, 2, 2]) == -np.inf
    assert model.margin(X, [0, 1, 0] * 2, sid=[0, 0, 0, 1, 1, 1]) == -np.inf  # no sequence of three is allowed


# ------------------------------------------------------------------------------------------------------- labels that come later


def data(n=60, labels=3, seed=0):
    X, y, sid = make_sequences(n, n_labels=labels, random_state=seed)
    return X, np.array(["b", "d", "f", "h", "j"])[y], sid


def scores_of(model):
    return {name: getattr(model, name) for name in ("coef_", "intercept_", "transitions_", "start_", "end_")}


@pytest.mark.parametrize("as_rows", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("norm", ["l2", "scaled"])
@pytest.mark.parametrize("average", ["linear", "auto", 5.0, False])
@pytest.mark.parametrize("new", [["a"], ["c", "z"], ["e"]])
def test_known_scores_stay_where_they_are(new, average, norm, as_rows):
    X, y, sid = data()
    model = PredtronSequenceTagger(norm=norm, average=average).partial_fit(as_rows(X), y, ["b", "d", "f"], sid=sid)
    before = scores_of(model)
    last = model.last_transitions_.copy()
    model.widen(classes=new)
    assert model.classes_.tolist() == sorted(["b", "d", "f", *new])
    at = np.searchsorted(model.classes_, ["b", "d", "f"])
    rest = np.setdiff1d(np.arange(len(model.classes_)), at)
    after = scores_of(model)
    for name in ("coef_", "intercept_", "start_", "end_"):
        np.testing.assert_array_equal(after[name][at], before[name])
        assert not after[name][rest].any()
    np.testing.assert_array_equal(after["transitions_"][np.ix_(at, at)], before["transitions_"])
    np.testing.assert_array_equal(model.last_transitions_[np.ix_(at, at)], last)
    assert not after["transitions_"][rest].any() and not after["transitions_"][:, rest].any()
    again = pickle.loads(pickle.dumps(model))
    others = np.where(np.arange(len(y)) % 7 == 0, new[0], y)
    for each in (model, again):
        each.partial_fit(as_rows(X), others, sid=sid)
    np.testing.assert_array_equal(again.transitions_, model.transitions_)
    assert new[0] in model.predict(as_rows(X), sid=sid)


def test_it_learns_as_from_the_start():
    """Where the new label is far below the others, the steps are those of a tagger that knew it from the start."""
    X, y, sid = data(40)
    weights = {"norm": "l2", "average": "linear", "update": "perceptron"}
    model = PredtronSequenceTagger(**weights).partial_fit(X, y, ["b", "d", "f"], sid=sid)
    known = PredtronSequenceTagger(**weights).partial_fit(X, y, ["b", "d", "f", "h"], sid=sid)
    model.widen(classes=["h"])
    Z, new, ids = data(60, 4, seed=1)
    for each in (model, known):
        for _ in range(5):
            each.partial_fit(Z, new, sid=ids)
    assert abs(model.score(Z, new, sid=ids) - known.score(Z, new, sid=ids)) < 0.05
    assert model.score(Z, new, sid=ids) > 0.5


def test_constraints():
    X, y, sid = data()
    tags = np.array(["O", "B-x", "I-x"])[np.searchsorted(["b", "d", "f"], y)]
    tags[np.append(True, sid[1:] != sid[:-1])] = "B-x"
    tags = chunk_labels(tags, sid)
    model = PredtronSequenceTagger(constraint="bio").partial_fit(X, tags, ["O", "B-x", "I-x"], sid=sid)
    before = pickle.dumps(model)
    with pytest.raises(ValueError, match=r"lets no sequence come to the label\(s\) \['I-y'\]"):
        model.widen(classes=["I-y"])
    with pytest.raises(ValueError, match="constraint='bio' is for the labels"):
        model.widen(classes=["y"])
    assert pickle.dumps(model) == before
    model.widen(classes=["B-y", "I-y"])
    k = model.classes_.tolist()
    assert model.transitions_[k.index("O"), k.index("I-y")] == -np.inf and model.start_[k.index("I-y")] == -np.inf
    assert np.isfinite(model.transitions_[k.index("B-y"), k.index("I-y")])
    observed = PredtronSequenceTagger(constraint="observed").fit(X, y, sid=sid)
    with pytest.raises(ValueError, match="constraint='observed' allows what fit has seen"):
        observed.widen(classes=["z"])
    given = PredtronSequenceTagger(constraint=np.ones((4, 3), dtype=bool)).fit(X, y, sid=sid)
    with pytest.raises(ValueError, match=r"array of shape \(5, 4\)"):
        given.widen(classes=["z"])
    given.set_params(constraint=np.ones((5, 4), dtype=bool)).widen(classes=["z"]).partial_fit(X, y, sid=sid)


def test_what_else_there_is():
    X, y, sid = data()
    model = PredtronSequenceTagger(random_state=0).fit(X, y, sid=sid).calibrate(X, y, sid=sid)
    model.widen(classes=["z"])
    assert not hasattr(model, "predict_proba")  # what scores of the new label mean is not known
    assert model.calibrate(X, y, sid=sid).predict_proba(X, sid=sid).shape == (len(y), 4)
    with pytest.raises(ValueError, match="are not of the type of those known"):
        model.widen(classes=[1])
    costs = PredtronSequenceTagger(loss=SequenceHamming(1 - np.eye(3)), random_state=0).fit(X, y, sid=sid)
    with pytest.raises(ValueError, match="costs"):
        costs.widen(classes=["z"])
    assert costs.classes_.tolist() == ["b", "d", "f"]
    one = PredtronSequenceTagger().partial_fit(X[:5], y[:5], ["b", "d", "f"], sid="one")
    one.partial_fit(X[5:9], y[5:9]).widen(classes=["z"], n_features=X.shape[1] + 2)
    wide = np.column_stack([X, np.ones((len(X), 2))])
    assert one.partial_fit(wide[:4], ["z", "z", "b", "z"]).predict(wide[:4], sid="one").shape == (4,)


# --------------------------------------------------------------------------------------------- long sequences, trained in parts

N = 3600
LONG = f"1 of {{}} sequences have more than 250 tokens, the longest {N:,}; they are trained in parts of about 50 tokens"


def noisy(n, seed=0):
    """Labels that stay for five tokens on the mean, and rows that show them with noise."""
    random = np.random.default_rng(seed)
    y = np.cumsum(random.random(n) < 0.2) % 3
    return np.eye(3)[y] + random.standard_normal((n, 3)), y


def parts(n, size=50):
    """The sequences that the parts of one sequence would be."""
    return np.arange(n) // size


@pytest.mark.parametrize("seed", [0, 1])
def test_one_long_sequence_is_learned_about_as_well_as_sentences(seed):
    """The same tokens as sentences of twenty, and as one sequence, in one pass and by fit."""
    X, y = noisy(N + 2400, seed)
    train, test = (X[:N], y[:N]), (X[N:], y[N:])

    def errors(sid):
        stream = PredtronSequenceTagger().partial_fit(*train, classes=np.arange(3), sid=sid)
        fitted = PredtronSequenceTagger(random_state=0).fit(*train, sid=sid)
        return np.array([1 - model.score(*test, sid="one") for model in (stream, fitted)])

    sentences = errors(parts(N, 20))
    with pytest.warns(UserWarning, match=LONG.format(1)) as caught:
        assert (errors("one") < sentences + [0.03, 0.02]).all()
    assert len(caught) == 2  # one a call


def interleaved(sid):
    """An order of tokens that mixes the sequences, in which each keeps its own order and its rank among the others."""
    random, place = np.random.default_rng(1), np.empty(len(sid))
    for i, name in enumerate(np.unique(sid)):
        place[sid == name] = np.sort(random.random(np.sum(sid == name)))
        place[np.argmax(sid == name)] = i - len(sid)
    return np.argsort(place)


@pytest.mark.filterwarnings("ignore:sid")
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("weights", [(1, 1, 1), (3, 1, 2), (1, 0, 1)])
def test_parts_are_sequences_of_their_own(form, weights):
    """A long sequence among short ones gives the bits of its parts, in streams and in fit, gathered or interleaved."""
    (X, y), sid = noisy(N + 40), np.repeat([0, 1, 2], [20, N, 20])
    weight, mixed = np.array(weights)[sid], interleaved(sid)
    X, apart = form(X), np.concatenate([np.zeros(20), 1 + parts(N) / N, np.full(20, 2)])

    def stream(*rows, **how):
        return PredtronSequenceTagger().partial_fit(*rows, classes=np.arange(3), **how)

    def fitted(*rows, **how):
        return PredtronSequenceTagger(shuffle=False, cv=0).fit(*rows, **how)

    for learn in (stream, fitted):
        whole, expected = (learn(X, y, sid=ids, sample_weight=weight) for ids in (sid, apart))
        assert_same_bits(whole, expected, learn.__name__)
    assert_same_bits(
        stream(X[mixed], y[mixed], sid=sid[mixed], sample_weight=weight[mixed]),
        stream(X, y, sid=apart, sample_weight=weight),
        "interleaved",
    )


@pytest.mark.filterwarnings("ignore:sid")
def test_parts_begin_where_a_sequence_may():
    """Under "bio" no part begins within a chunk; one sequence by itself, without ids, takes the same way."""
    _, y = noisy(N)
    y = np.array(["B-x", "I-x", "O"])[np.where((y == 1) & (np.roll(y, 1) == 2), 2, y)]
    X = np.random.default_rng(0).standard_normal((N, 2))
    may, classes = np.flatnonzero(y != "I-x"), ["B-x", "I-x", "O"]
    begins = may[np.searchsorted(may, np.arange(0, N, 50))]
    sid = np.cumsum(np.isin(np.arange(N), begins))
    expected = PredtronSequenceTagger(constraint="bio").partial_fit(X, y, classes=classes, sid=sid).partial_fit(X, y, sid=sid)
    model = PredtronSequenceTagger(constraint="bio").partial_fit(X, y, classes=classes).partial_fit(X, y)
    assert_same_bits(model, expected, "one sequence")


@pytest.mark.filterwarnings("ignore:sid")
def test_sequences_are_held_out_and_predicted_whole():
    """Folds count sequences; the bound of the loss holds with the margin of the rounds."""
    X, y = noisy(3000)
    sid = parts(3000, 300)
    folds = [(np.arange(5), np.arange(5, 10)), (np.arange(5, 10), np.arange(5))]
    model = PredtronSequenceTagger(cv=folds, random_state=0).fit(X, y, sid=sid)
    assert model.predict_proba(X, sid=sid).shape == (3000, 3)
    assert np.all(model.sample_loss(X, y, sid=sid) > 12)  # wrong tokens of 300
    easy, rule = 4 * np.eye(3)[y], {"update": "perceptron", "intercept_scaling": 1.0, "norm": "l2", "cv": 0}
    model = PredtronSequenceTagger(**rule, random_state=0).fit(easy, y, sid=sid)
    assert model.cumulative_loss_ <= model.loss_bound(model.margin(easy, y, sid=sid), radius=17**0.5)


def test_sequences_of_up_to_250_tokens_are_rounds():
    """No warning, and one round a sequence."""
    X, y = noisy(1000)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert PredtronSequenceTagger().partial_fit(X, y, classes=np.arange(3), sid=parts(1000, 250)).t_ == 4
