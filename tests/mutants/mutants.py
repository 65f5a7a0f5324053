"""The mutants: a small plausible bug each, and the tests that own what it breaks."""

from __future__ import annotations

from dataclasses import dataclass

CORE = "sklearn_predtron/_core"

TABLES = ("tests/test_properties.py", "tests/test_ties.py")
SETS = ("tests/test_ties.py", "tests/test_multilabel_inference.py", "tests/test_multilabel.py")
RANKS = ("tests/test_ordinal.py", "tests/test_ordinal_theory.py")
RANKINGS = ("tests/test_ties.py", "tests/test_ranking.py")
INFERENCE = ("tests/test_ranking_inference.py", "tests/test_ties.py")
UPDATES = ("tests/test_core.py",)
PAIRWISE = ("tests/test_ranking.py", "tests/test_ranking_theory.py")
ENGINE = ("tests/test_core.py", "tests/test_range.py")
LINKS = ("tests/test_link.py", "tests/test_link_numbers.py")
FAST_PATH = ("tests/test_core.py", "tests/test_changed_parts.py", "tests/test_weights.py")
QUERIES = ("tests/test_ranking_queries.py", "tests/test_ranking_face.py")
WEIGHTS = ("tests/test_weights.py",)
THEORY = ("tests/test_theory_functions.py",)
BOUNDS = ("tests/test_competitor_bounds.py",)


@dataclass(frozen=True)
class Mutant:
    """A text that occurs once in a file, what takes its place, and the files and folders of tests that should notice."""

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]


MUTANTS = [
    # ------------------------------------------------------------------------------------------- losses and predictions
    Mutant(
        "table-search-skips-every-fourth-score",
        f"{CORE}/table.pyx",
        "d = larger(s[sigma + 3], d)",
        "d = larger(s[sigma + 2], d)",
        TABLES,
    ),
    Mutant("table-right-prediction-is-the-first-free-one", f"{CORE}/table.pyx", "        right[own] = own\n", "", TABLES),
    Mutant(
        "table-margin-forgets-free-predictions-ahead", f"{CORE}/table.pyx", "loses | (decision > right[:, None])", "loses", TABLES
    ),
    Mutant(
        "sets-jaccard-search-off-by-one",
        f"{CORE}/subset.pyx",
        "self.positive[a].key > 1 / <double> (self.P + more)",
        "self.positive[a].key > 1 / <double> (self.P + more + 1)",
        SETS,
    ),
    Mutant(
        "sets-at-k-margin-of-too-few-labels",
        f"{CORE}/counts.pyx",
        "range(max(0, self.k - self.N), self.most() + 1)",
        "range(0, self.most() + 1)",
        SETS,
    ),
    Mutant(
        "ranks-tie-goes-to-the-lower",
        f"{CORE}/ordinal.pyx",
        "self.k - 1 - self.decision(scores)[:, ::-1].argmax(axis=1)",
        "self.decision(scores).argmax(axis=1)",
        RANKS,
    ),
    Mutant(
        "ndcg-least-loss-of-a-grade-that-ends-here",
        f"{CORE}/ranking.pyx",
        "if self.y.first[grade] > begin and self.y.first[grade + 1] > x + 1:",
        "if self.y.first[grade] > begin:",
        THEORY,
    ),
    Mutant(
        "kendall-lead-that-meets-the-target-is-short",
        f"{CORE}/pairwise.pyx",
        "self.order[high].key - self.order[low].key < target",
        "self.order[high].key - self.order[low].key <= target",
        RANKINGS,
    ),
    # ------------------------------------------------------------------------------------------------------- inference
    Mutant(
        "chains-by-the-largest-fall-of-the-discount",
        f"{CORE}/inference.pyx",
        "if self.dD[x] * self.df[hi] > self.dD[hi] * self.df[x]:",
        "if self.dD[x] > self.dD[hi]:",
        INFERENCE,
    ),
    Mutant(
        "precision-gain-off-by-one",
        f"{CORE}/inference.pyx",
        "- self.curve[x - 1] * (n + 1))",
        "- self.curve[x - 1] * n)",
        INFERENCE,
    ),
    Mutant(
        "lanes-do-not-look-left-again",
        f"{CORE}/lanes.pyx",
        "                        lanes.from_left[x + 1] = True\n                    lanes.from_right[x - 1] = True\n",
        "                        lanes.from_left[x + 1] = True\n",
        INFERENCE,
    ),
    Mutant(
        "sort-of-long-lists-is-not-stable",
        f"{CORE}/sorting.pyx",
        "spare[i].key < items[j].key",
        "spare[i].key <= items[j].key",
        INFERENCE,
    ),
    Mutant(
        "sets-tie-goes-to-the-larger",
        f"{CORE}/subset.pyx",
        "            sigma[i] = t[i] > 0",
        "            sigma[i] = t[i] >= 0",
        SETS,
    ),
    # --------------------------------------------------------------------------------------------------------- updates
    Mutant(
        "theory-step-forgets-the-weight",
        f"{CORE}/updates.pyx",
        "return r.weight * self.theory / r.radius2",
        "return self.theory / r.radius2",
        UPDATES,
    ),
    Mutant("pa2-softening-forgets-the-weight", f"{CORE}/updates.pyx", "1 / (2 * self.C * r.weight)", "1 / (2 * self.C)", UPDATES),
    Mutant(
        "rounding-is-a-hinge",
        f"{CORE}/updates.pyx",
        "r.hinge > 1e-12 * (r.competitor_loss + fabs(r.gap))",
        "r.hinge > 0",
        UPDATES,
    ),
    Mutant("prank-score-on-a-threshold-above", f"{CORE}/ordinal.pyx", "else t[j] >= 0:", "else t[j] > 0:", RANKS),
    Mutant(
        "slam-step-by-the-weight-of-the-lowest-grade",
        f"{CORE}/ranking_updates.pyx",
        "if weight > 0 and grade < ranking.y.n_grades - 1:",
        "if weight > 0:",
        PAIRWISE,
    ),
    Mutant(
        "max-pair-of-neighbouring-grades",
        f"{CORE}/ranking.pyx",
        "            if self.top[g + 1] > self.top[top]:\n                top = g + 1\n            if self.top[top] - self",
        "            top = g + 1\n            if self.top[top] - self",
        PAIRWISE,
    ),
    # ----------------------------------------------------------------------------------------------------------- norms
    Mutant(
        "l2-average-owed-without-the-scale-of-the-sum",
        f"{CORE}/weights.pyx",
        "-change * self.weight / self.total_scale if",
        "-change * self.weight if",
        ENGINE,
    ),
    Mutant(
        "l2-scale-multiplied-out-but-for-the-offsets",
        f"{CORE}/weights.pyx",
        "        self.settle(self.b, self.b_total)\n",
        "",
        ENGINE,
    ),
    Mutant(
        "intercept-keeps-its-length-of-a-round-called-off",
        f"{CORE}/weights.pyx",
        "        self.known_at = -1\n",
        "",
        ENGINE,
    ),
    Mutant("link-settles-with-a-stale-sum", f"{CORE}/link.pyx", "        self.had[:] = 0\n", "", LINKS),
    Mutant(
        "trace-square-scaled-once",
        f"{CORE}/trace.pyx",
        "self.K[i] *= square",
        "self.K[i] *= self.scale",
        ("tests/test_trace.py",),
    ),
    Mutant(
        "scaled-average-loses-its-centre",
        f"{CORE}/scaled.pyx",
        "                self.C_total[c] += owed * along * g.value[i]\n",
        "",
        ("tests/test_scaled.py",),
    ),
    Mutant(
        "budget-keeps-a-stale-nearest-row",
        f"{CORE}/budget.pyx",
        """\
            if self.nearest[other] == place:
                self.find_nearest(other)
            else:
                self.compare(other, place)
""",
        """\
            self.compare(other, place)
""",
        ("tests/test_rkhs.py",),
    ),
    Mutant(
        "shared-thresholds-pooled-at-half-way",
        f"{CORE}/shared.pyx",
        "* self.pooled[pools] / j",
        "/ 2",
        RANKS,
    ),
    # --------------------------------------------------------------------------------------------- engine and fast path
    Mutant(
        "csr-duplicates-count-as-sorted",
        f"{CORE}/rows.pyx",
        """\
            falls_here += index[i] <= index[i - 1]
        falls += falls_here
    for i in range(1, n):
        if 0 < start[i] < start[n] and start[i] > start[i - 1]:
            falls -= index[start[i]] <= index[start[i] - 1]
""",
        """\
            falls_here += index[i] < index[i - 1]
        falls += falls_here
    for i in range(1, n):
        if 0 < start[i] < start[n] and start[i] > start[i - 1]:
            falls -= index[start[i]] < index[start[i] - 1]
""",
        ENGINE,
    ),
    Mutant(
        "fast-path-learns-classes-of-weight-zero",
        f"{CORE}/stream.pyx",
        """\
                if self.class_weight is not None and self.class_weight[code[i]] == 0:
                    return None
""",
        "",
        FAST_PATH,
    ),
    Mutant(
        "fast-path-outlives-its-learner",
        f"{CORE}/stream.pyx",
        "return not self.closed and self.learn(X, y)",
        "return self.learn(X, y)",
        ("tests/test_busy.py",),
    ),
    Mutant(
        "fast-path-takes-negative-relevances",
        f"{CORE}/stream.pyx",
        "good &= 0 <= flat[i] < INFINITY",
        "good &= flat[i] < INFINITY",
        ("tests/test_ranking_labels.py", *QUERIES),
    ),
    # -------------------------------------------------------------------------------------------------- labels and epochs
    Mutant(
        "balanced-weights-count-rows",
        "sklearn_predtron/_table.py",
        "np.bincount(codes, weights=relative, minlength",
        "np.bincount(codes, minlength",
        ("tests/test_classification.py", *WEIGHTS),
    ),
    Mutant(
        "epoch-shows-the-last-appearance",
        "sklearn_predtron/_epochs.py",
        "first[order[::-1]] = np.arange(len(order))[::-1]",
        "first[order] = np.arange(len(order))",
        WEIGHTS,
    ),
    Mutant(
        "tol-stops-at-equality",
        "sklearn_predtron/_base.py",
        "curve[-2] - curve[-1] < self.tol",
        "curve[-2] - curve[-1] <= self.tol",
        ("tests/test_classification.py", "tests/test_tools.py"),
    ),
    Mutant(
        "queries-are-gathered-in-any-order",
        "sklearn_predtron/_queries.py",
        'np.argsort(query, kind="stable")',
        "np.argsort(query)",
        QUERIES,
    ),
    # ------------------------------------------------------------------------------------------------ theory and metrics
    Mutant(
        "largest-total-of-half-the-excess", "sklearn_predtron/_bounds.py", "slope2 + 4 * excess", "slope2 + 2 * excess", BOUNDS
    ),
    Mutant(
        "query-weight-is-a-sum",
        "sklearn_predtron/metrics.py",
        "of_query = np.bincount(rows, weights) / np.bincount(rows)",
        "of_query = np.bincount(rows, weights)",
        ("tests/test_metrics.py",),
    ),
]
