import numpy as np
import pytest

from benchmarks import embeddings


@pytest.mark.parametrize("clouds", [1, 3])
def test_embeddings_have_length_one_and_classes_that_can_be_told(clouds):
    X, y = embeddings.make_embeddings(3000, clouds, d=64)
    assert X.dtype == np.float32 and X.shape == (3000, 64)
    np.testing.assert_allclose(np.linalg.norm(X, axis=1), 1, rtol=1e-5)
    assert set(y) == set(range(embeddings.N_CLASSES))
    centres = np.stack([X[:1500][y[:1500] == label].mean(axis=0) for label in range(embeddings.N_CLASSES)])
    nearest = ((X[1500:, np.newaxis] - centres) ** 2).sum(axis=-1).argmin(axis=1)
    assert 0.1 < (nearest == y[1500:]).mean() < 1 - embeddings.WRONG


def test_every_head_is_measured(monkeypatch, capsys):
    monkeypatch.setattr(embeddings, "N_TEST", 300)
    small = {name: head for name, head in embeddings.HEADS.items() if name != "LogisticRegression"}
    monkeypatch.setattr(embeddings, "HEADS", small)
    embeddings.main(["--rows", "1500"])
    lines = capsys.readouterr().out.splitlines()
    assert [line[:30].strip() for line in lines] == list(small)
    errors = [float(line.split("error ")[1].split()[0]) for line in lines]
    assert all(0 < error < 0.98 for error in errors)  # chance is 0.99
