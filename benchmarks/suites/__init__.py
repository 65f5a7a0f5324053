"""The suites; each has run(options), which returns its tables."""

from benchmarks.suites import (
    inference,
    kernels,
    label_ranking,
    memory,
    multilabel,
    norms,
    ordinal,
    quality,
    ranking,
    reject,
    stream,
    throughput_dense,
    throughput_sparse,
    updates,
    weights,
)

SUITES = {
    "throughput_dense": throughput_dense,
    "throughput_sparse": throughput_sparse,
    "updates": updates,
    "stream": stream,
    "memory": memory,
    "quality": quality,
    "reject": reject,
    "ordinal": ordinal,
    "multilabel": multilabel,
    "inference": inference,
    "ranking": ranking,
    "label_ranking": label_ranking,
    "norms": norms,
    "kernels": kernels,
    "weights": weights,
}
