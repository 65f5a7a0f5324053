"""The main job on streams of every format and task: it learns, scores and predicts what the estimator does on arrays."""

import bz2
import gzip
import json
import re
import signal

import numpy as np
import pytest
from cases import state, weights_of
from numpy.testing import assert_allclose, assert_array_equal

import sklearn_predtron
from sklearn_predtron._support.parts import kinds
from sklearn_predtron.cli._tasks import TASKS
from sklearn_predtron.datasets import unstack
from sklearn_predtron.norms import Norm
from tests.cli_cases import run
from tests.cli_worlds import NO_ID, WORLDS

pytestmark = pytest.mark.usefixtures("as_streams")

EVERY = pytest.mark.parametrize("name", WORLDS)
N_A, N_B, N_TEST = 60, 30, 25
PLAIN = ["--no-shuffle", "--json"]


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Return a function of a world's name: the world, its data, and their files."""
    folder, found = tmp_path_factory.mktemp("worlds"), {}

    def of(name):
        if name not in found:
            world, at = WORLDS[name], folder / name.replace(" ", "-")
            at.mkdir()
            data = {part: world.draw(n, seed) for seed, (part, n) in enumerate({"a": N_A, "b": N_B, "test": N_TEST}.items())}
            files = {part: world.write(at / part, rounds) for part, rounds in data.items()}
            files["bare"] = world.write(at / "bare", data["test"], labelled=False)
            found[name] = world, data, files
        return found[name]

    return of


def trained(capsys, *argv, code=0):
    """Return the results, and standard error."""
    found, out, err = run(capsys, *argv)
    assert found == code and (code or err == ""), err
    return json.loads(out)["results"][0], err


LEARNED = ("classes_", "coef_", "intercept_", "transitions_", "start_")


def assert_same(path, model):
    """Assert that a saved model has the bits of a model."""
    found = sklearn_predtron.load(path)
    assert state(found) == state(model)
    for name in LEARNED:
        if hasattr(model, name):
            assert_array_equal(getattr(found, name), getattr(model, name))


@EVERY
@pytest.mark.always(each="name")
@pytest.mark.parametrize("chunk", [1, 30, 10_000])
def test_one_pass_is_partial_fit(capsys, written, tmp_path, name, chunk):
    """However long the chunks are, in which no round is cut."""
    world, data, files = written(name)
    to = ["--save", tmp_path / "m", "--predictions", tmp_path / "p"]
    ours, _ = trained(capsys, files["a"], "--test", files["test"], "--chunk", chunk, *world.options, *to, *PLAIN)
    model, test = world.learn(world.estimator(), data["a"]), data["test"]
    assert_same(tmp_path / "m", model)
    assert (ours["data"], ours["learner"]) == (files["a"].name, type(model).__name__)
    assert (ours["training"], ours["rounds"]) == ("stream", model.t_)
    assert ours["progressive_loss"] == pytest.approx(model.progressive_loss_)
    assert ours["last_iterate_loss"] == pytest.approx(model.cumulative_loss_ / model.t_)
    score = model.score(world.rows(test), world.target(test), **world.given(test))
    assert ours["held_out_score"] == pytest.approx(score) and 0.3 < score < 1
    found, expected = world.read((tmp_path / "p").read_text(encoding="utf-8")), world.predictions(model, test)
    if world.ids == "qid":
        assert_allclose(found, expected, rtol=1e-13)
    else:
        assert found == expected


@EVERY
@pytest.mark.always(each="name")
def test_the_table_shows_the_figures(capsys, written, name):
    world, _, files = written(name)
    argv = [files["a"], "--test", files["test"], *world.options]
    figures, (_, out, _) = trained(capsys, *argv, "--json")[0], run(capsys, *argv)
    header, rule, line, *_ = out.splitlines()
    cells = [[text[a:b].strip() for a, b in (match.span() for match in re.finditer("-+", rule))] for text in (header, line)]
    shown = dict(zip(*cells, strict=True))
    assert (shown.pop("data"), shown.pop("learner"), shown.pop("rounds/s") != "") == (figures["data"], figures["learner"], True)
    names = {"last iterate": "last_iterate_loss", "F1 of chunks": "held_out_chunk_f1"}
    values = {column: figures[names.get(column, column.replace(" ", "_").replace("held-", "held_"))] for column in shown}
    assert shown == {column: f"{value:.4f}" if isinstance(value, float) else str(value) for column, value in values.items()}
    assert {"rounds", "progressive loss", "held-out score"} <= shown.keys()


OF_TASK = {"ranks": "ordinal", "sets": "multilabel", "queries": "rank", "sentences": "sequence"}
LOSSES = [(name, loss) for name, task in OF_TASK.items() for loss in TASKS[task].loss_names] + [("ranks", "0:2=5")]


@pytest.mark.parametrize(("name", "loss"), LOSSES)
@pytest.mark.always(each="name")
def test_losses(capsys, tmp_path, name, loss):
    world = WORLDS[name]
    if loss in ("ap", "swapped_pairs"):
        world = world._replace(labels=[0, 1])
    data, test = world.draw(N_A, 0), world.draw(N_TEST, 1)
    paths = [world.write(tmp_path / "a", data), "--test", world.write(tmp_path / "test", test)]
    ours, _ = trained(capsys, *paths, *world.options, "--loss", loss, *PLAIN, "--save", tmp_path / "m")
    given = {(0.0, 2.0): 5.0} if "=" in loss else loss
    model = world.learn(world.estimator().set_params(loss=given), data)
    assert_same(tmp_path / "m", model)
    assert sklearn_predtron.load(tmp_path / "m").loss == given
    assert ours["progressive_loss"] == pytest.approx(model.progressive_loss_)
    assert ours["held_out_score"] == pytest.approx(model.score(world.rows(test), world.target(test), **world.given(test)))
    if name == "sentences":
        losses = model.sample_loss(world.rows(test), world.target(test), **world.given(test))
        wrong = unstack(world.target(test) != model.predict(world.rows(test), **world.given(test)), test.group)
        assert ours["held_out_loss"] == pytest.approx(losses.mean())
        assert ours["held_out_loss"] == pytest.approx(
            np.mean([part.sum() if loss == "hamming" else part.any() for part in wrong])
        )


@pytest.mark.parametrize("norm", [kind.alias for kind in kinds(Norm) if kind.of_sequences])
def test_norms_of_sequences(capsys, written, tmp_path, norm):
    world, data, files = written("sentences")
    trained(capsys, files["a"], *world.options, "--norm", norm, *PLAIN, "--save", tmp_path / "m")
    model = world.estimator().set_params(norm={"auto": "scaled"}.get(norm, norm))  # of rows that were dense
    learned = world.learn(model, data["a"])
    if norm == "rkhs":  # whose last bits depend on the rows of a call
        assert_allclose(sklearn_predtron.load(tmp_path / "m").dual_coef_, learned.dual_coef_, rtol=1e-12)
    else:
        assert_same(tmp_path / "m", learned)


OF_NUMBERS = ["classes", "two classes", "ranks", "queries", "sentences", "numbers"]


@pytest.mark.parametrize("features", ["piecewise", "fourier", "auto"])
@pytest.mark.parametrize("name", OF_NUMBERS)
@pytest.mark.always(each="name")
def test_features_are_made_as_of_an_array(capsys, tmp_path, name, features):
    """Lines of svmlight's are sparse rows, whose columns "auto" keeps, standardised as without the option."""
    world = WORLDS[name]
    data, test = world.draw(700 if world.ids is None else 250, 0), world.draw(N_TEST, 1)
    kind, kept = type(world.estimator()), features == "auto"
    if not kept:
        world = world._replace(estimator=lambda: kind(features=features), rows=lambda part: part.X)
    paths = [world.write(tmp_path / "a", data), "--test", world.write(tmp_path / "test", test)]
    how = ["--features", features, "--chunk", 300, *world.options]
    ours, _ = trained(capsys, *paths, *how, *PLAIN, "--save", tmp_path / "m")
    model = world.learn(world.estimator(), data)
    assert_array_equal(weights_of(sklearn_predtron.load(tmp_path / "m")), weights_of(model))
    score = model.score(world.rows(test), world.target(test), **world.given(test))
    assert ours["held_out_score"] == pytest.approx(score)


@EVERY
@pytest.mark.always(each="name")
def test_load_goes_on(capsys, written, tmp_path, name):
    """With a second file, which in one stream with the first gives the same model; so do two epochs and files in parts."""
    world, data, files = written(name)
    form = ["--classes", *world.labels] if world.classes or world.ids is None else []
    options = [*world.options, *PLAIN, "--chunk", 17, "--save"]
    trained(capsys, files["a"], *form, *options, tmp_path / "m")
    load, test = ["--load", tmp_path / "m"], ["--test", files["test"]]
    part, _ = trained(capsys, files["b"], *load, *PLAIN, "--chunk", 17, *test, "--save", tmp_path / "m")
    (tmp_path / f"none.{world.ending}").write_text({"csv": "a,b,c,d,e,f,y\n"}.get(world.ending, "\n"))
    parts = [files["a"], tmp_path / f"none.{world.ending}", files["b"]]
    whole, _ = trained(capsys, *parts, *form, *test, *options, tmp_path / "n")
    model = world.learn(world.learn(world.estimator(), data["a"]), data["b"])
    assert_same(tmp_path / "m", model), assert_same(tmp_path / "n", model)
    again, _ = trained(capsys, *load, *test, "--chunk", 17, "--json")
    assert whole["data"] == f"{files['a'].name} and 2 more"
    for figure in ("held_out_score", "held_out_loss"):
        assert part[figure] == whole[figure] == again[figure]


@EVERY
@pytest.mark.always(each="name")
def test_rounds_are_shuffled_within_chunks(capsys, written, tmp_path, name):
    """In each epoch anew; figures of progress are those of the first epoch."""
    world, data, files = written(name)
    group, chunks = data["a"].group, []
    for start in range(N_A):
        if not chunks or len(group[np.isin(group, chunks[-1])]) >= 40:
            chunks.append([])
        chunks[-1].append(start)
    random, model, losses = np.random.default_rng(4), world.estimator(), []
    for _ in range(2):
        for chunk in chunks:
            world.learn(model, data["a"].of([chunk[i] for i in random.permutation(len(chunk))]))
        losses.append(model.progressive_loss_)
    how = ["--seed", 4, "--chunk", 40, *world.options, "--json", "--save"]
    twice, _ = trained(capsys, files["a"], "--epochs", 2, *how, tmp_path / "m")
    once, _ = trained(capsys, files["a"], *how, tmp_path / "n")
    assert_same(tmp_path / "m", model)
    assert len(chunks) > 1 and twice["rounds"] == model.t_ == 2 * once["rounds"]
    assert twice["progressive_loss"] == once["progressive_loss"] == pytest.approx(losses[0])


@EVERY
@pytest.mark.always(each="name")
@pytest.mark.parametrize("given", [False, True])
def test_rounds_before_a_broken_line_are_kept(capsys, written, tmp_path, name, given):
    """In the first pass, or without one, and as the first line of a file that is scored."""
    world, data, files = written(name)
    line, reason = world.broken
    before, rest = (world.text(data["a"].of(rounds)).splitlines() for rounds in (range(20), range(20, N_A)))
    lines = [*before, line, *rest[world.ending == "csv" :]]
    broken = tmp_path / f"broken.{world.ending}"
    broken.write_text("\n".join(lines) + "\n", encoding="utf-8")
    form = ["--classes", *world.labels] if world.classes or world.ids is None else []
    form = [*form, *(world.form if given else ())]
    how = [*form, *world.options, *PLAIN, "--chunk", 13, "--epochs", 2, "--test", files["test"], "--save", tmp_path / "m"]
    ours, err = trained(capsys, broken, *how, code=1)
    model = world.learn(world.estimator(), data["a"].of(range(20)))
    kept = f"the {model.t_} rounds before it are kept, in {tmp_path / 'm'}"
    assert err == f"error: {broken}, line {len(before) + 1}: {reason}; {kept}\n"
    assert ours["rounds"] == model.t_ and ours["held_out_score"] is not None
    assert_same(tmp_path / "m", model)


PACKED = {".gz": gzip.compress, ".bz2": bz2.compress, "": lambda text: b"\xef\xbb\xbf" + text.replace(b"\n", b"\r\n")}


@EVERY
@pytest.mark.always(each="name")
def test_the_bytes_may_come_from_anywhere(capsys, written, tmp_path, standard_input, name):
    """Compressed, with a byte order mark and Windows' line ends, and from a pipe, whose copy serves the second epoch."""
    world, data, files = written(name)
    text, how = files["a"].read_bytes(), [*world.options, *PLAIN, "--epochs", 2, "--save"]
    model = world.learn(world.learn(world.estimator(), data["a"]), data["a"])
    for ending, pack in PACKED.items():
        path = tmp_path / f"a.{world.ending}{ending}"
        path.write_bytes(pack(text))
        trained(capsys, path, *how, tmp_path / "m")
        assert_same(tmp_path / "m", model)
    standard_input(text)
    form = [] if world.ending == "svm" else ["--format", {"jsonl": "json"}.get(world.ending, world.ending)]
    ours, _ = trained(capsys, "-", *form, *how, tmp_path / "m")
    assert ours["data"] == "standard input"
    assert_same(tmp_path / "m", model)


@EVERY
@pytest.mark.always(each="name")
def test_rows_without_labels_are_predicted(capsys, written, tmp_path, standard_input, name):
    """As TRAIN, as TEST, by `predict`, from a pipe, in chunks of any size, and whatever labels a file has."""
    world, data, files = written(name)
    trained(capsys, files["a"], *world.options, *PLAIN, "--save", tmp_path / "m")
    model = sklearn_predtron.load(tmp_path / "m")
    expected = run(capsys, "predict", tmp_path / "m", files["bare"])
    assert (expected[0], expected[2]) == (0, "") and world.read(expected[1]) == world.predictions(model, data["test"])
    load = ["--load", tmp_path / "m"]
    for how in (
        [*load, files["bare"], "--chunk", 1],
        [*load, "--test", files["bare"], "--chunk", 7],
        ["predict", tmp_path / "m", files["test"]],
    ):
        assert run(capsys, *how) == expected
    standard_input(files["bare"].read_bytes())
    assert run(capsys, *load, "-") == expected
    assert run(capsys, "predict", tmp_path / "m", files["bare"], "-o", tmp_path / "p") == (0, "", "")
    assert (tmp_path / "p").read_text(encoding="utf-8") == expected[1]
    scores = np.array([line.split() for line in run(capsys, *load, files["bare"], "--scores")[1].splitlines() if line], float)
    of_rows = {} if world.ids != "sid" else world.given(data["test"])
    score = model.predict if world.ids == "qid" else model.decision_function
    assert_allclose(scores, score(world.rows(data["test"]), **of_rows).reshape(len(scores), -1), rtol=1e-12)


@pytest.mark.parametrize("name", ["classes", "two classes", "ranks", "sets", "queries", "sentences"])
def test_a_given_form_needs_one_pass(capsys, written, name):
    world, _, files = written(name)
    form = ["--features", 6, *(["--classes", *world.labels[::-1]] if world.ids != "qid" else [])]
    found = [trained(capsys, files["a"], "--test", files["test"], *world.options, *more, "--json")[0] for more in (form, [])]
    one, other = ({figure: value for figure, value in row.items() if "second" not in figure} for row in found)
    assert one == other


@pytest.mark.parametrize("name", ["classes", "queries", "sentences", "tokens"])
@pytest.mark.parametrize(
    ("stop", "code", "message"),
    [
        (KeyboardInterrupt(), 130, "error: stopped from the keyboard; the {n} rounds before it are kept, in "),
        (signal.SIGTERM, 143, "error: terminated; the {n} rounds before it are kept, in "),
        (ValueError("too large"), 1, "in the chunk that begins {here}: too large; the {n} rounds before it are kept, in "),
    ],
)
def test_stopped_while_learning(capsys, written, tmp_path, monkeypatch, name, stop, code, message):
    world, data, files = written(name)
    kind, (first, rows) = type(world.estimator()), (20, int(np.sum(data["a"].group < 20)))
    learn = kind.partial_fit

    def learn_some(self, *args, **kwargs):
        if getattr(self, "t_", 0) >= first:
            if isinstance(stop, signal.Signals):
                signal.raise_signal(stop)
            raise stop
        return learn(self, *args, **kwargs)

    monkeypatch.setattr(kind, "partial_fit", learn_some)
    ours, err = trained(
        capsys, files["a"], *world.options, "--chunk", rows, "--test", files["test"], *PLAIN, "--save", tmp_path / "m", code=code
    )
    here = "with qid:30" if world.ending == "svm" and world.ids else "here"
    assert message.format(n=first, here=here) in err and ours["rounds"] == first
    assert sklearn_predtron.load(tmp_path / "m").t_ == first and signal.getsignal(signal.SIGTERM) == signal.SIG_DFL


@pytest.mark.parametrize(
    ("name", "line", "reason", "n"),
    [
        ("queries", "1 1:2", f"at '1:2': {NO_ID}", 19),
        ("queries", "1 qid:999 oops", "at 'oops': expected INDEX:VALUE", 20),
        ("sentences", "1 1:2", f"at '1:2': {NO_ID}", 19),
        ("sentences", "3 qid:999 1:1", "at '3': the label is not one of the classes [-1, 2, 7]", 20),
    ],
)
def test_a_row_without_an_id_may_be_of_the_round_before(capsys, written, tmp_path, name, line, reason, n):
    world, data, _ = written(name)
    lines, at = world.text(data["a"]).splitlines(), int(np.sum(data["a"].group < 20))
    path = tmp_path / "broken.svm"
    path.write_text("\n".join([*lines[:at], line, *lines[at:]]) + "\n")
    how = [*world.options, *PLAIN, "--features", 6, *([] if name == "queries" else ["--classes", *world.labels])]
    _, err = trained(capsys, path, *how, "--save", tmp_path / "m", code=1)
    assert err == f"error: {path}, line {at + 1}: {reason}; the {n} rounds before it are kept, in {tmp_path / 'm'}\n"
    assert_same(tmp_path / "m", world.learn(world.estimator(), data["a"].of(range(n))))


@EVERY
@pytest.mark.always(each="name")
def test_a_broken_line_of_a_test_ends_the_score(capsys, written, tmp_path, name):
    world, data, files = written(name)
    broken = tmp_path / f"broken.{world.ending}"
    text = world.text(data["test"].of(range(10)))
    broken.write_text(f"{text}{world.broken[0]}\n{world.text(data['test'])}", encoding="utf-8")
    to = ["--predictions", tmp_path / "p", "--json", *world.options]
    ours, err = trained(capsys, files["a"], "--no-shuffle", "--test", broken, *to, code=1)
    first = data["test"].of(range(10))
    model = world.learn(world.estimator(), data["a"])
    score = model.score(world.rows(first), world.target(first), **world.given(first))
    assert f"{broken}, line {text.count(chr(10)) + 1}: " in err and "the held-out score is of the rows before it" in err
    assert ours["held_out_score"] == pytest.approx(score)
    assert len(world.read((tmp_path / "p").read_text(encoding="utf-8"))) == len(first.codes)


@EVERY
@pytest.mark.always(each="name")
def test_a_broken_first_line_leaves_no_model(capsys, written, tmp_path, name):
    world, _, files = written(name)
    broken = tmp_path / f"broken.{world.ending}"
    head, rest = ("a,b,c,d,e,f,y\n", "1,2,3,4,5,6\n") if world.ending == "csv" else ("", "")
    lines = files["a"].read_text(encoding="utf-8")
    broken.write_text(f"{head}{rest or world.broken[0]}\n{'' if head else lines}", encoding="utf-8")
    form = ["--classes", *world.labels] if world.classes or world.ids is None else []
    code, _, err = run(capsys, broken, *form, *world.options, "--test", files["test"], "--save", tmp_path / "m")
    assert code == 1 and f"line {1 + bool(head)}" in err and "there is no trained model yet" in err
    assert not (tmp_path / "m").exists()
