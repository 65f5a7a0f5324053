"""The mutants: a small plausible bug each, and the tests that own what it breaks."""

from __future__ import annotations

from dataclasses import dataclass

CORE = "sklearn_predtron/_core"
DECISIONS = "sklearn_predtron/decisions"
FAMILIES = "sklearn_predtron/families"
NORMS = "sklearn_predtron/norms"
PROBLEMS = "sklearn_predtron/problems"
UPDATES = "sklearn_predtron/updates"
LOSSES = "sklearn_predtron/losses"
FEATURES = "sklearn_predtron/features"
MIXING = "sklearn_predtron/mixing"
DATASETS = "sklearn_predtron/datasets"
CLI = "sklearn_predtron/cli"
METRICS = "sklearn_predtron/metrics"
INSPECTION = "sklearn_predtron/inspection"
PREDICTOR = "sklearn_predtron/predictor"
ONNX = "sklearn_predtron/onnx"
RIVER = "sklearn_predtron/river"
TRAINING = f"{FAMILIES}/training"

WORLDS = "tests/families/test_worlds.py"
TABLES = ("tests/core/test_properties.py", "tests/problems/test_ties.py")
BATCHES = ("tests/problems/test_batches.py", "tests/families/test_bipartite.py", WORLDS)
SETS = ("tests/problems/test_ties.py", "tests/problems/test_label_sets.py", "tests/families/test_multilabel.py", WORLDS)
RANKS = ("tests/families/test_ordinal.py", WORLDS, "tests/theory/test_ordinal_theory.py")
RANKINGS = ("tests/problems/test_ties.py", "tests/families/test_ranking.py", WORLDS)
PREFERENCES = ("tests/families/test_preferences.py", WORLDS)
INFERENCE = ("tests/problems/test_loss_augmented.py", "tests/problems/test_ties.py")
RULES = ("tests/updates/test_steps.py",)
FORMULAS = ("tests/losses/test_formulas.py",)
PAIRWISE = ("tests/families/test_ranking.py", WORLDS, "tests/theory/test_ranking_theory.py")
SPARSE = ("tests/core/test_sparse_rows.py", WORLDS)
ENGINE = ("tests/core/test_learner.py", WORLDS, "tests/norms/test_range.py")
CHOOSING = ("tests/families/test_choosing_average.py",)
AGAIN = ("tests/core/test_replay.py",)
RECORDS = ("tests/core/test_recent_scores.py",)
AHEAD = ("tests/norms/test_ahead.py",)
DUAL = (WORLDS, "tests/norms/test_dual_numbers.py")
FAST_PATH = (
    "tests/families/test_classification.py",
    "tests/families/test_changed_parts.py",
    "tests/families/test_sample_weights.py",
)
QUERIES = ("tests/families/test_ranking_queries.py", "tests/families/test_ranking_estimator.py")
WEIGHTS = ("tests/families/test_sample_weights.py",)
THEORY = ("tests/theory/test_constants.py", "tests/theory/test_margins.py", "tests/theory/test_bounds.py")
JOINT = (
    WORLDS,
    "tests/problems/test_joint.py",
    "tests/problems/test_joint_errors.py",
    "tests/problems/test_answers_in_python.py",
)
BOUNDS = ("tests/updates/test_comparator_bounds.py",)
CAPACITY = ("tests/families/test_capacity.py",)


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
        f"{PROBLEMS}/_finite.pyx",
        "d = larger(s[sigma + 3], d)",
        "d = larger(s[sigma + 2], d)",
        TABLES,
    ),
    Mutant("table-right-prediction-is-the-first-free-one", f"{PROBLEMS}/_finite.pyx", "        right[own] = own\n", "", TABLES),
    Mutant(
        "table-margin-forgets-free-predictions-ahead",
        f"{PROBLEMS}/_finite.pyx",
        "loses | (decision > right[:, None])",
        "loses",
        TABLES,
    ),
    Mutant(
        "sets-jaccard-search-off-by-one",
        f"{PROBLEMS}/_label_sets.pyx",
        "self.positive[a].key > 1 / <double> (self.P + more)",
        "self.positive[a].key > 1 / <double> (self.P + more + 1)",
        SETS,
    ),
    Mutant(
        "sets-at-k-margin-of-too-few-labels",
        f"{PROBLEMS}/_at_k.pyx",
        "if a + b == self.limited(a + b, self.k_now(), self.n):",
        "if a + b >= self.k_now() - 1:",
        SETS,
    ),
    Mutant(
        "sets-at-least-k-search-off-by-one",
        f"{PROBLEMS}/_at_k.pyx",
        "self.negative[more - 1].key > 1 / <double> size",
        "self.negative[more - 1].key > 1 / <double> (size + 1)",
        SETS,
    ),
    Mutant(
        "batch-forgets-the-weights-of-the-classes",
        f"{PROBLEMS}/_label_sets.pyx",
        "if self.balance > 0 and self.P > 0 and self.N > 0:",
        "if self.balance > 1:",
        BATCHES,
    ),
    Mutant(
        "batch-measures-its-step-without-the-offset",
        f"{CORE}/score_map.pyx",
        "return g2 + r2 * self.intercept_weight(g) ** 2 if r2 > 0 else g2",
        "return g2",
        BATCHES,
    ),
    Mutant(
        "ranks-tie-goes-to-the-lower",
        f"{PROBLEMS}/_thermometer.pyx",
        "self.k - 1 - self.decision(scores)[:, ::-1].argmax(axis=1)",
        "self.decision(scores).argmax(axis=1)",
        RANKS,
    ),
    Mutant(
        "ndcg-least-loss-of-a-grade-that-ends-here",
        f"{PROBLEMS}/_ranking_losses.pyx",
        "if self.y.first[grade] > begin and self.y.first[grade + 1] > x + 1:",
        "if self.y.first[grade] > begin:",
        THEORY,
    ),
    Mutant(
        "kendall-lead-that-meets-the-target-is-short",
        f"{PROBLEMS}/_kendall.pyx",
        "self.order[high].key - self.order[low].key < target",
        "self.order[high].key - self.order[low].key <= target",
        RANKINGS,
    ),
    Mutant(
        "votes-of-a-score-of-zero-count",
        f"{PROBLEMS}/_preferences.pyx",
        "key[i] += t[k] > 0",
        "key[i] += t[k] >= 0",
        PREFERENCES,
    ),
    Mutant(
        "pairs-share-what-the-rule-has-learned",
        f"{UPDATES}/_preferences.pyx",
        "size = self.rule.size(&self.rounds[k])\n            self.rule.exchange(&self.sums[k], &self.counts[k])",
        "size = self.rule.size(&self.rounds[k])",
        PREFERENCES,
    ),
    Mutant("pairs-of-no-direction-are-measured", f"{UPDATES}/_preferences.pyx", " and single.value[0] != 0:", ":", PREFERENCES),
    # ------------------------------------------------------------------------------------------------------- inference
    Mutant(
        "chains-by-the-largest-fall-of-the-discount",
        f"{PROBLEMS}/inference/_ranking_inference.pyx",
        "if self.dD[x] * self.df[hi] > self.dD[hi] * self.df[x]:",
        "if self.dD[x] > self.dD[hi]:",
        INFERENCE,
    ),
    Mutant(
        "precision-gain-off-by-one",
        f"{PROBLEMS}/inference/_ranking_inference.pyx",
        "- self.curve[x - 1] * (n + 1))",
        "- self.curve[x - 1] * n)",
        INFERENCE,
    ),
    Mutant(
        "lanes-do-not-look-left-again",
        f"{PROBLEMS}/inference/_residual.pyx",
        "                        lanes.from_left[x + 1] = True\n                    lanes.from_right[x - 1] = True\n",
        "                        lanes.from_left[x + 1] = True\n",
        INFERENCE,
    ),
    Mutant(
        "sort-of-long-lists-is-not-stable",
        f"{PROBLEMS}/inference/_sorting.pyx",
        "spare[i].key < items[j].key",
        "spare[i].key <= items[j].key",
        INFERENCE,
    ),
    Mutant(
        "sets-tie-goes-to-the-larger",
        f"{PROBLEMS}/_label_sets.pyx",
        "            sigma[i] = t[i] > 0",
        "            sigma[i] = t[i] >= 0",
        SETS,
    ),
    # --------------------------------------------------------------------------------------------------------- updates
    Mutant(
        "theory-step-forgets-the-weight",
        f"{UPDATES}/_rules.pyx",
        "return r.weight * self.theory / r.radius2",
        "return self.theory / r.radius2",
        RULES,
    ),
    Mutant("adaptive-cap-is-a-product", f"{UPDATES}/_rules.pyx", "exp(self.log_cap / self.count)", "exp(self.log_cap)", RULES),
    Mutant("f-beta-forgets-to-square", f"{LOSSES}/subset.py", "b + self.beta**2 * np", "b + self.beta * np", FORMULAS),
    Mutant("pairs-of-labels-count-half", f"{LOSSES}/subset.py", "np.asarray(b) * c / np", "np.asarray(b) * c / 2 / np", FORMULAS),
    Mutant("pa2-softening-forgets-the-weight", f"{UPDATES}/_rules.pyx", "1 / (2 * self.C * r.weight)", "1 / (2 * self.C)", RULES),
    Mutant(
        "rounding-is-a-hinge",
        f"{UPDATES}/_rules.pyx",
        "r.hinge > 1e-12 * (r.competitor_loss + fabs(r.score_gap))",
        "r.hinge > 0",
        RULES,
    ),
    Mutant("prank-score-on-a-threshold-above", f"{UPDATES}/_prank.pyx", "else t[j] >= 0:", "else t[j] > 0:", RANKS),
    Mutant(
        "slam-step-by-the-weight-of-the-lowest-grade",
        f"{UPDATES}/_ranking_rules.pyx",
        "if weight > 0 and grade < ranking.y.n_grades - 1:",
        "if weight > 0:",
        PAIRWISE,
    ),
    Mutant(
        "max-pair-of-neighbouring-grades",
        f"{PROBLEMS}/_ranking.pyx",
        "            if self.top[g + 1] > self.top[top]:\n                top = g + 1\n            if self.top[top] - self",
        "            top = g + 1\n            if self.top[top] - self",
        PAIRWISE,
    ),
    # ----------------------------------------------------------------------------------------------------------- norms
    Mutant(
        "l2-average-pending-without-the-scale-of-the-sum",
        f"{NORMS}/_l2.pxd",
        "-change * self.sums[which].weight / self.sums[which].scale",
        "-change * self.sums[which].weight",
        ENGINE,
    ),
    Mutant(
        "l2-scale-multiplied-out-but-for-the-offsets",
        f"{NORMS}/_l2.pyx",
        "        self.multiply_out(self.b, True)\n",
        "",
        ENGINE,
    ),
    Mutant(
        "intercept-keeps-its-length-of-a-round-called-off",
        f"{CORE}/intercept.pyx",
        "self.count, self.known = mantissa, exponent, rows, r2\n",
        "self.count = mantissa, exponent, rows\n",
        ENGINE,
    ),
    Mutant(
        "candidates-are-charged-for-ever",
        f"{CORE}/averages.pyx",
        "self.fade * self.lately[i]",
        "self.lately[i]",
        CHOOSING,
    ),
    Mutant(
        "average-that-should-forget-does-not",
        f"{CORE}/averages.pyx",
        "        return 1 if which == 1 else 0.5 ** (1 / HALF_LIFE)\n",
        "        return 1\n",
        CHOOSING,
    ),
    Mutant(
        "bets-that-lost-are-not-given-back",
        f"{CORE}/averages.pyx",
        "b.for_it[k] = min(max(b.for_it[k], 1) * (1 + STAKES[k] * difference), RICH)",
        "b.for_it[k] = min(b.for_it[k] * (1 + STAKES[k] * difference), RICH)",
        CHOOSING,
    ),
    Mutant(
        "linear-average-comes-back-while-it-loses-more",
        f"{CORE}/averages.pyx",
        "self.leader != 1 and self.lately[1] <= self.lately[self.leader] and (",
        "self.leader != 1 and (",
        CHOOSING,
    ),
    Mutant(
        "heavy-rows-come-back-as-light-ones",
        f"{CORE}/replay.pyx",
        "self.heavy.keep(x, y, 1, weight - 1)",
        "self.heavy.keep(x, y, 1, 1)",
        AGAIN,
    ),
    Mutant(
        "light-rows-take-whole-steps",
        f"{CORE}/learner.pyx",
        "min(weight, 1) if replaying else weight",
        "1 if replaying else weight",
        AGAIN,
    ),
    Mutant(
        "recent-rows-are-kept-for-ever",
        f"{CORE}/replay.pyx",
        "        if t <= LAST:\n            self.due_of_recent",
        "        if t > 0:\n            self.due_of_recent",
        AGAIN,
    ),
    Mutant(
        "recent-rows-come-back-under-drift",
        f"{CORE}/replay.pyx",
        "if t <= LAST and not drifts else 0",
        "if t <= LAST else 0",
        AGAIN,
    ),
    Mutant(
        "rows-that-come-back-count-as-updates",
        f"{CORE}/learner.pyx",
        "                if size > 0:\n                    weights.step(&row, g, size)\n",
        "                if size > 0:\n                    self.counts.n_updates += 1\n"
        "                    weights.step(&row, g, size)\n",
        AGAIN,
    ),
    Mutant(
        "kept-rows-of-other-places-are-loaded",
        f"{CORE}/replay.pyx",
        "wholes(of_places, least=0, most=n_features - 1)",
        "wholes(of_places, least=0, most=n_features)",
        AGAIN,
    ),
    Mutant(
        "a-kept-label-keeps-its-number-among-more-classes",
        f"{PROBLEMS}/_finite.pyx",
        "np.asarray(places, dtype=np.intp)[labels.view(np.intp)].view(np.uint8)",
        "labels",
        AGAIN,
    ),
    Mutant(
        "a-mean-of-runs-counts-as-one-short-run",
        f"{FAMILIES}/training/runs.py",
        "total * runs",
        "total",
        ("tests/families/test_continuing.py",),
    ),
    Mutant(
        "as-many-rows-where-a-class-is-rare",
        f"{DECISIONS}/_recent_scores.pyx",
        "self.rarest(size) < RARE",
        "self.rarest(size) < 0",
        RECORDS,
    ),
    Mutant(
        "record-that-grew-forgets-its-oldest-rows",
        f"{DECISIONS}/_recent_scores.pyx",
        "        self.copy_rows(first, 0, ahead)\n",
        "        self.copy_rows(0, 0, ahead)\n",
        RECORDS,
    ),
    Mutant(
        "l2-candidate-scored-without-the-scale-of-the-weights",
        f"{NORMS}/_l2.pyx",
        "s.weight / (s.mass * self.scale)",
        "s.weight / s.mass",
        CHOOSING,
    ),
    Mutant(
        "dual-average-flushed-with-a-stale-sum",
        f"{NORMS}/_dual.pyx",
        "            if s.had[line] != 0:\n                s.had[line] = 0\n",
        "            pass\n",
        DUAL,
    ),
    Mutant(
        "trace-square-scaled-once",
        f"{NORMS}/_trace.pyx",
        "self.K[i] *= square",
        "self.K[i] *= self.scale",
        ("tests/norms/test_dual_numbers.py", WORLDS),
    ),
    Mutant(
        "scaled-average-loses-its-centre",
        f"{NORMS}/_scaled.pyx",
        "                    self.sums[which].C[c] += pending * along * g.value[i]\n",
        "",
        ("tests/norms/test_scaled.py", WORLDS),
    ),
    Mutant(
        "scaled-counts-of-mixed-rows-taken-for-those-of-dense-ones",
        f"{NORMS}/_feature_statistics.pyx",
        "bool((counts == rows).all() and ((last == rows) | (mean == 0)).all())",
        "True",
        ("tests/norms/test_feature_statistics.py",),
    ),
    Mutant(
        "scaled-counts-that-are-unwritten-stay-so",
        f"{NORMS}/_feature_statistics.pyx",
        "            scaling_write_counts(self.unwritten.n, self.unwritten.rows, &self.S)\n",
        "",
        ("tests/norms/test_feature_statistics.py", "tests/norms/test_scaled.py"),
    ),
    Mutant(
        "budget-keeps-a-stale-nearest-row",
        f"{NORMS}/_budget.pyx",
        """\
            if self.nearest[other] == slot:
                self.find_nearest(other)
            else:
                self.compare(other, slot)
""",
        """\
            self.compare(other, slot)
""",
        ("tests/norms/test_budget.py",),
    ),
    Mutant(
        "shared-thresholds-pooled-at-half-way",
        f"{NORMS}/_shared_direction.pyx",
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
        SPARSE,
    ),
    Mutant(
        "csr-duplicates-of-a-first-entry-are-missed",
        f"{CORE}/rows.pyx",
        "twice |= met[index[k]] >= first",
        "twice |= met[index[k]] > first",
        SPARSE,
    ),
    Mutant(
        "csr-features-of-one-hash-count-as-one",
        f"{CORE}/rows.pyx",
        "while met[place] >= first and index[met[place]] != index[k]:",
        "while False:",
        SPARSE,
    ),
    Mutant(
        "queries-read-on-behind-a-summed-row",
        f"{CORE}/rows.pyx",
        "self.documents = documents.consecutive(self.longest)",
        "self.documents = documents",
        SPARSE,
    ),
    Mutant(
        "kernels-add-up-in-the-order-of-either-row",
        f"{NORMS}/_rkhs.pyx",
        "    matrix.sum_duplicates()\n",
        "",
        SPARSE,
    ),
    Mutant(
        "fast-path-learns-classes-of-weight-zero",
        f"{FAMILIES}/labels/label_readers.pyx",
        """\
                if self.class_weight is not None and self.class_weight[code[i]] == 0:
                    return None
""",
        "",
        FAST_PATH,
    ),
    Mutant(
        "fast-path-outlives-its-learner",
        f"{FAMILIES}/input/stream.pyx",
        "return not self.closed and self.learn(X, y)",
        "return self.learn(X, y)",
        ("tests/families/test_busy.py",),
    ),
    Mutant(
        "fast-path-takes-negative-relevances",
        f"{FAMILIES}/labels/label_readers.pyx",
        "good &= 0 <= flat[i] < INFINITY",
        "good &= flat[i] < INFINITY",
        ("tests/families/test_label_ranking.py", *QUERIES),
    ),
    Mutant(
        "fast-path-takes-forbidden-transitions",
        f"{FAMILIES}/labels/label_readers.pyx",
        "if labels is None or not self.allows(labels.array):",
        "if labels is None:",
        ("tests/families/test_tagger.py",),
    ),
    Mutant(
        "rows-ahead-keep-the-scores-before-a-step",
        f"{NORMS}/_block_scores.pyx",
        "self.sum_class(g.at[i], 1)",
        "pass",
        AHEAD,
    ),
    Mutant(
        "rows-ahead-keep-the-scores-before-weights-are-multiplied-out",
        f"{NORMS}/_l2.pyx",
        "        self.reset_scales()\n        if self.upcoming is not None:",
        "        self.reset_scales()\n        if False:",
        AHEAD,
    ),
    Mutant(
        "what-predicts-is-kept-while-rows-are-learned",
        f"{CORE}/predictors.pyx",
        " or self.moment != self.lock.moment():",
        ":",
        ("tests/core/test_predictor.py",),
    ),
    # ---------------------------------------------------------------------------------------------------------- the model
    Mutant(
        "parameters-change-while-a-call-learns",
        f"{FAMILIES}/estimator/base.py",
        'if "_call_lock" in self.__dict__:',
        "if False:",
        ("tests/families/test_busy.py",),
    ),
    Mutant(
        "a-norm-that-is-given-is-told-of-formats",
        f"{FAMILIES}/model/model.py",
        ' and isinstance(resolve(Norm, norm, "norm"), Auto)',
        "",
        ("tests/cli/test_odd_words.py",),
    ),
    Mutant(
        "a-fit-that-goes-on-learns-on-the-learner-it-may-keep",
        f"{FAMILIES}/training/trainer.py",
        "learner=copy.deepcopy(known.learner), ",
        "",
        ("tests/norms/test_range.py",),
    ),
    Mutant(
        "a-fit-whose-rows-are-refused-is-kept",
        f"{FAMILIES}/training/trainer.py",
        "if kind is not None and issubclass(kind, Exception):",
        "if False:",
        ("tests/families/test_held_out.py", "tests/families/test_estimators.py"),
    ),
    # -------------------------------------------------------------------------------------------------- labels and epochs
    Mutant(
        "balanced-weights-count-rows",
        f"{FAMILIES}/input/weighted_rows.py",
        "np.bincount(codes, weights=relative, minlength",
        "np.bincount(codes, minlength",
        ("tests/families/test_classification.py", *WEIGHTS),
    ),
    Mutant(
        "epoch-shows-the-last-appearance",
        f"{FAMILIES}/training/runs.py",
        "first[order[::-1]] = np.arange(len(order))[::-1]",
        "first[order] = np.arange(len(order))",
        WEIGHTS,
    ),
    Mutant(
        "tol-stops-at-equality",
        f"{FAMILIES}/training/patience.py",
        "if loss < best - self.tol:",
        "if loss <= best - self.tol:",
        ("tests/families/test_classification.py", "tests/families/test_sklearn_integration.py"),
    ),
    Mutant(
        "queries-are-gathered-in-any-order",
        "sklearn_predtron/_support/queries.py",
        'np.argsort(query, kind="stable")',
        "np.argsort(query)",
        QUERIES,
    ),
    # ---------------------------------------------------------------------------------------------------- joint features
    Mutant(
        "joint-competitor-is-not-copied",
        f"{PROBLEMS}/_joint.pyx",
        "self.features_of(x, competitor, w).copied()",
        "self.features_of(x, competitor, w)",
        JOINT,
    ),
    Mutant("joint-features-are-left-in-the-total", f"{PROBLEMS}/_joint.pyx", "                self.total[j] = 0\n", "", JOINT),
    Mutant("joint-indices-are-not-checked", f"{PROBLEMS}/_joint.pyx", "0 <= index[k] < self.n_features", "0 <= index[k]", JOINT),
    Mutant(
        "joint-decoder-of-averages-asks-the-last-iterate",
        f"{NORMS}/_joint.pyx",
        "x, int which, const double* last, double* t) noexcept nogil:\n        t[0] = which",
        "x, int which, const double* last, double* t) noexcept nogil:\n        t[0] = 0",
        JOINT,
    ),
    Mutant("joint-iterate-forgets-its-scale", f"{NORMS}/_joint.pyx", "self.scale == 1 and ", "", JOINT),
    Mutant("joint-radius-is-not-seen", f"{PROBLEMS}/_joint.pyx", "x.norm2 = self.norm2", "x.norm2 = 0", JOINT),
    Mutant(
        "joint-decoder-is-not-compared",
        f"{PROBLEMS}/_joint.pyx",
        "best = max(of_right.score, of_competitor.score)",
        "best = of_prediction.score",
        JOINT,
    ),
    # ------------------------------------------------------------------------------------------------ theory and metrics
    Mutant(
        "largest-total-of-half-the-excess", f"{UPDATES}/_shared_bounds.py", "slope2 + 4 * excess", "slope2 + 2 * excess", BOUNDS
    ),
    Mutant(
        "query-weight-is-a-sum",
        "sklearn_predtron/metrics/_means.py",
        "of_query = np.bincount(rows, weights) / np.bincount(rows)",
        "of_query = np.bincount(rows, weights)",
        ("tests/metrics/test_id_scorers.py", "tests/metrics/test_rankings.py"),
    ),
    # ------------------------------------------------------------------------------------------ files and the command line
    Mutant(
        "costs-are-not-taken-with-their-rows",
        "sklearn_predtron/datasets/formats/base.py",
        "{pair: cost[rows] for pair, cost in self.costs.items()}",
        "self.costs",
        ("tests/datasets/test_open_rows.py", "tests/cli/test_costs.py"),
    ),
    Mutant(
        "held-out-rows-are-trained",
        "sklearn_predtron/cli/_training.py",
        "np.flatnonzero(chosen if held else ~chosen)",
        "np.flatnonzero(chosen if held else chosen | True)",
        ("tests/cli/test_commands.py",),
    ),
    Mutant(
        "tables-with-gaps-keep-their-columns",
        f"{CLI}/_run.py",
        'if "features" not in job.model.parameters and is_incomplete(files.train):',
        'if "features" in job.model.parameters and is_incomplete(files.train):',
        ("tests/cli/test_files_in_memory.py",),
    ),
    Mutant(
        "rows-to-predict-are-read-as-those-of-training-might-be",
        f"{CLI}/_run.py",
        "files.test.format.missing = accepted_cells(map_of_model(model))[0]",
        "files.test.format.missing = files.test.format.missing",
        ("tests/cli/test_files_in_memory.py",),
    ),
    Mutant(
        "rows-with-gaps-are-checked-as-numbers",
        f"{CLI}/_training.py",
        "chunk = chunk if is_incomplete(rows) else self._checked(chunk)",
        "chunk = self._checked(chunk)",
        ("tests/cli/test_files_in_memory.py",),
    ),
    Mutant(
        "held-out-rows-depend-on-chunks",
        "sklearn_predtron/cli/_training.py",
        "            first += len(chunk)\n",
        "",
        ("tests/cli/test_commands.py",),
    ),
    Mutant(
        "cost-of-a-constant-is-of-a-chunk",
        "sklearn_predtron/cli/_evaluation.py",
        "self.constants = self.constants + table[rows, true].sum(axis=0)",
        "self.constants = table[rows, true].sum(axis=0)",
        ("tests/cli/test_costs.py",),
    ),
    Mutant(
        "missing-cells-are-zero",
        "sklearn_predtron/datasets/formats/tables.py",
        "found.append(None if kind == CATEGORY else np.nan)",
        "found.append(None if kind == CATEGORY else 0.0)",
        ("tests/datasets/test_open_rows.py", "tests/cli/test_csv_files.py"),
    ),
    # ------------------------------------------------------------------------------------------------------------------ decisions
    Mutant(
        "bounds-are-shown-by-the-confidence-itself",
        f"{DECISIONS}/_constraints.py",
        "np.where(p <= 1 - confidence, 0.0",
        "np.where(p <= confidence, 0.0",
        ("tests/decisions/test_constraints.py",),
    ),
    Mutant(
        "bounds-of-weighted-rows-count-weights-as-rows",
        f"{DECISIONS}/_constraints.py",
        "        weight = weight * (weight.sum() / (weight**2).sum())  # as many rows as have the same information (Kish 1965)\n",
        "",
        ("tests/decisions/test_constraints.py",),
    ),
    Mutant(
        "promises-share-no-level",
        f"{DECISIONS}/_promises.py",
        "sequences[i] > level / len(open_ones)",
        "sequences[i] > level",
        ("tests/decisions/test_promises.py",),
    ),
    Mutant(
        "bets-see-the-row-they-are-made-on",
        f"{DECISIONS}/_promises.py",
        "mean / 2 + sums(x)[:-1]) / seen",
        "mean / 2 + sums(x)[1:]) / seen",
        ("tests/decisions/test_promises.py",),
    ),
    Mutant(
        "recall-leaves-out-abstained-rows",
        f"{DECISIONS}/_promises.py",
        "scope[true], hits[true, label] = 1, 1",
        "scope[true, :k], hits[true, label] = 1, 1",
        ("tests/decisions/test_promises.py",),
    ),
    Mutant(
        "smoothing-of-one-row-fewer",
        f"{DECISIONS}/_calibration.py",
        "(np.asarray(n) + 2)",
        "(np.asarray(n) + 1)",
        ("tests/decisions/test_maps.py",),
    ),
    Mutant(
        "cuts-know-nothing-of-the-floor",
        f"{DECISIONS}/_calibration.py",
        "odds * (1 - self.floor) - self.floor, 1 - self.floor - odds * self.floor",
        "odds, np.ones_like(odds)",
        ("tests/decisions/test_maps.py",),
    ),
    Mutant(
        "reject-rate-forgets-rows-since-the-record",
        f"{DECISIONS}/_reject_at_rate.py",
        "            level += unseen.observer.up_to_now(self)[0]\n",
        "            pass\n",
        ("tests/families/test_reject.py",),
    ),
    Mutant(
        "certificates-outlive-training",
        f"{DECISIONS}/_reject_at_risk.py",
        "known[0] == unseen.t and ",
        "",
        ("tests/families/test_reject.py",),
    ),
    Mutant(
        "thresholds-trust-a-single-row",
        f"{DECISIONS}/_threshold.py",
        "        cuts[np.minimum(rows[0], rows[1]) < 2] = 0.0\n",
        "",
        ("tests/families/test_thresholds.py",),
    ),
    Mutant(
        "thresholds-of-equal-loss-far-from-zero",
        f"{DECISIONS}/_threshold.py",
        "cuts[best[np.abs(cuts[best]).argmin()]]",
        "cuts[best[0]]",
        ("tests/families/test_thresholds.py",),
    ),
    Mutant(
        "temperature-leaves-transitions-as-they-are",
        f"{DECISIONS}/_tempered.py",
        "tuple(part / self.temperature for part in table)",
        "table",
        ("tests/families/test_token_probabilities.py",),
    ),
    Mutant(
        "fitted-values-outlive-their-parameters",
        f"{DECISIONS}/_base.py",
        "known[:2] == (moment, terms)",
        "known[0] == moment",
        ("tests/families/test_thresholds.py",),
    ),
    # --------------------------------------------------------------------------------------------------------------------- mixing
    Mutant(
        "mixed-loss-is-summed-over-shards",
        f"{MIXING}/_rounds.py",
        "before.mixed_loss + learned.loss / learned.rounds",
        "before.mixed_loss + learned.loss",
        ("tests/mixing/test_theory.py",),
    ),
    Mutant(
        "later-calls-have-no-unseen-rows",
        f"{MIXING}/_rounds.py",
        "fresh=turn == start",
        "fresh=turn == 0",
        ("tests/mixing/test_parameter_mixing.py",),
    ),
    Mutant(
        "checkpoint-goes-on-with-other-rows",
        f"{MIXING}/_checkpoint.py",
        "rows, self.rows or rows, strict",
        "rows, rows, strict",
        ("tests/mixing/test_checkpoint_rows.py",),
    ),
    Mutant(
        "digest-of-sparse-rows-leaves-values-out",
        f"{MIXING}/_digest.py",
        "(rows.indptr, rows.indices, rows.data)",
        "(rows.indptr, rows.indices)",
        ("tests/mixing/test_checkpoint_rows.py",),
    ),
    Mutant(
        "a-query-in-two-shards-passes",
        f"{MIXING}/_shards.py",
        "for (before, (_, last)), (after, (first, _))",
        "for (before, (last, _)), (after, (first, _))",
        ("tests/mixing/test_shards.py",),
    ),
    Mutant(
        "loss-of-a-round-is-of-its-first-pass",
        f"{MIXING}/_parameter_mixing.py",
        "np.mean(epochs[i : i + self.passes])",
        "epochs[i]",
        ("tests/mixing/test_mixing_tasks.py", "tests/mixing/test_parameter_mixing.py"),
    ),
    Mutant(
        "later-files-forget-the-base-of-the-first",
        f"{MIXING}/_parameter_mixing.py",
        "known._replace(zero_based=given.zero_based if known.zero_based is None else known.zero_based)",
        "known._replace(zero_based=given.zero_based)",
        ("tests/mixing/test_shards.py",),
    ),
    Mutant(
        "a-total-carries-a-level-too-late",
        f"{MIXING}/_total.py",
        "while level < len(self.sums) - 1:",
        "while level < len(self.sums) - 2:",
        ("tests/mixing/test_state.py",),
    ),
    # ------------------------------------------------------------------------------------------------------------------- features
    Mutant(
        "weighted-quantiles-reach-past-the-last-row",
        f"{FEATURES}/_knots.py",
        "else ends[-1] - 1)",
        "else ends[-1])",
        ("tests/features/test_piecewise.py",),
    ),
    Mutant(
        "a-missing-value-has-an-indicator-if-all-miss",
        f"{FEATURES}/_feature_maps.py",
        "np.isnan(matrix).any(axis=0)",
        "np.isnan(matrix).all(axis=0)",
        ("tests/features/test_piecewise.py",),
    ),
    Mutant(
        "rare-categories-have-places-of-their-own",
        f"{FEATURES}/_columns.py",
        "(-counts[text], text)",
        "(counts[text], text)",
        ("tests/features/test_categories.py",),
    ),
    Mutant(
        "hashed-categories-share-the-places-of-known-ones",
        f"{FEATURES}/_columns.py",
        "n_known + crc32(",
        "crc32(",
        ("tests/features/test_categories.py",),
    ),
    Mutant(
        "cosines-of-half-the-width",
        f"{FEATURES}/_feature_maps.py",
        "np.sqrt(2 * gamma)",
        "np.sqrt(gamma)",
        ("tests/features/test_random_fourier.py",),
    ),
    Mutant(
        "pairs-explain-what-columns-explain",
        f"{FEATURES}/_pairs.py",
        "-drops(bins, left, weight, pairs)",
        "-drops(bins, targets, weight, pairs)",
        ("tests/features/test_piecewise.py",),
    ),
    Mutant(
        "names-of-products-are-exchanged",
        f"{FEATURES}/_names.py",
        "for a in factors[i] for b in factors[j]",
        "for b in factors[j] for a in factors[i]",
        ("tests/features/test_piecewise.py", "tests/features/test_categories.py"),
    ),
    Mutant(
        "deviation-of-weighted-rows-is-unweighted",
        f"{FEATURES}/_knots.py",
        "np.average((values - mean) ** 2, weights=weight)",
        "np.average((values - mean) ** 2)",
        ("tests/features/test_piecewise.py",),
    ),
    Mutant(
        "streams-of-frames-forget-targets",
        f"{FEATURES}/_table.py",
        '[*self.state["y"], *np.asarray(y)[:more].tolist()]',
        "None",
        ("tests/features/test_piecewise.py",),
    ),
    # ------------------------------------------------------------------------------------------------------------------ data sets
    Mutant(
        "quoted-commas-count-as-delimiters",
        f"{DATASETS}/formats/tables.py",
        'bare = "".join(line.split(\'"\')[::2])  # without quoted text',
        "bare = line",
        ("tests/cli/test_csv_files.py",),
    ),
    Mutant(
        "the-label-is-a-feature",
        f"{DATASETS}/formats/named_features.py",
        "if name != self.label and value is not None]",
        "if value is not None]",
        ("tests/cli/test_named_features.py",),
    ),
    Mutant(
        "scale-of-a-namespace-is-ignored",
        f"{DATASETS}/formats/named_features.py",
        "name, scale * value",
        "name, value",
        ("tests/cli/test_named_features.py",),
    ),
    Mutant(
        "importance-of-lines-is-ignored",
        f"{DATASETS}/formats/named_features.py",
        "return label, 1.0 if weight is None else weight",
        "return label, 1.0",
        ("tests/cli/test_named_features.py",),
    ),
    Mutant(
        "files-that-count-from-one-lose-their-last-feature",
        f"{DATASETS}/formats/svmlight.py",
        "summary.n_features + (self.zero_based and not summary.zero_based)",
        "summary.n_features",
        ("tests/cli/test_several_files.py",),
    ),
    Mutant(
        "token-features-look-into-the-next-sequence",
        f"{DATASETS}/_token_features.py",
        "(before >= -item.offset) & (after >= item.offset)",
        "(before >= -item.offset)",
        ("tests/datasets/test_token_features.py",),
    ),
    Mutant(
        "iob-begins-at-each-sequence",
        f"{DATASETS}/_chunk_labels.py",
        " & ~first[starts[1:]]",
        "",
        ("tests/datasets/test_chunk_labels.py",),
    ),
    Mutant(
        "a-query-that-comes-back-goes-on",
        f"{DATASETS}/_parquet.py",
        "if ids[start] in seen:",
        "if False:",
        ("tests/datasets/test_parquet.py",),
    ),
    Mutant(
        "a-query-across-batches-counts-twice",
        f"{DATASETS}/_parquet.py",
        "bool(before is None or before != ids[0])",
        "1",
        ("tests/datasets/test_parquet.py",),
    ),
    Mutant(
        "windows-look-into-the-sequence-before",
        f"{DATASETS}/_sequences.py",
        "(there >= first) & (there < last)",
        "(there >= 0) & (there < last)",
        ("tests/datasets/test_sequences.py",),
    ),
    Mutant(
        "progress-counts-what-is-read-ahead",
        f"{DATASETS}/_reader.py",
        "raw.tell() - plain * block.unread - begin",
        "raw.tell() - begin",
        ("tests/datasets/test_file_parts.py",),
    ),
    Mutant(
        "cache-is-read-under-another-type",
        f"{DATASETS}/_reader.py",
        ', "dtype": self.dtype.name}',
        "}",
        ("tests/datasets/test_cache.py",),
    ),
    # ----------------------------------------------------------------------------------------------------------- the command line
    Mutant(
        "closeness-of-ranks-by-their-number",
        f"{CLI}/_evaluation.py",
        "/ (len(self.classes) - 1)",
        "/ len(self.classes)",
        ("tests/cli/test_costs.py",),
    ),
    Mutant(
        "labels-nobody-learned-count-as-right",
        f"{CLI}/_evaluation.py",
        "(encode(predicted, classes) + 1) % len(classes)",
        "encode(predicted, classes)",
        ("tests/cli/test_labels_of_test.py",),
    ),
    Mutant(
        "accuracy-on-accepted-rows-is-of-all",
        f"{CLI}/_evaluation.py",
        'found["accuracy_on_accepted"] = mean_of(self.score, self.accepted)',
        'found["accuracy_on_accepted"] = mean_of(self.score, self.tested)',
        ("tests/cli/test_costs.py",),
    ),
    Mutant(
        "queries-at-the-ends-of-chunks-are-joined",
        f"{CLI}/_training.py",
        "*(part[-1] + 1 for part in parts[:-1])",
        "*(part[-1] for part in parts[:-1])",
        ("tests/cli/test_files_in_memory.py",),
    ),
    Mutant(
        "later-epochs-count-as-progressive",
        f"{CLI}/_training.py",
        "progressive=epoch == 0",
        "progressive=True",
        ("tests/cli/test_formats_alike.py",),
    ),
    Mutant(
        "the-first-unseen-feature-is-not-counted",
        f"{CLI}/_unseen.py",
        "X.indices[X.indices >= width]",
        "X.indices[X.indices > width]",
        ("tests/cli/test_several_files.py",),
    ),
    # -------------------------------------------------------------------------------------------------------------------- metrics
    Mutant(
        "savings-of-unweighted-constants",
        f"{METRICS}/_savings.py",
        "constant = (weight @ table[rows, true]).min()",
        "constant = table[rows, true].sum(axis=0).min()",
        ("tests/metrics/test_savings.py",),
    ),
    Mutant(
        "groups-of-a-monitor-have-the-whole-error",
        f"{METRICS}/_cost_monitor.py",
        "error = (1 - self.confidence) / len(names)",
        "error = 1 - self.confidence",
        ("tests/metrics/test_cost_monitor.py",),
    ),
    Mutant(
        "equal-confidences-are-in-order-of-rows",
        f"{METRICS}/_risk_coverage.py",
        "np.append(np.flatnonzero(np.diff(margins[order])), len(order) - 1)",
        "np.arange(len(order))",
        ("tests/metrics/test_risk_coverage.py",),
    ),
    Mutant(
        "calibration-error-is-a-sum-over-classes",
        f"{METRICS}/_calibration_error.py",
        " / weight.sum() / p.shape[1]",
        " / weight.sum()",
        ("tests/metrics/test_calibration_error.py",),
    ),
    Mutant(
        "chunks-that-end-elsewhere-are-found",
        f"{METRICS}/_chunks.py",
        " & (of_true.end == of_predicted.end)",
        "",
        ("tests/metrics/test_chunks.py",),
    ),
    Mutant(
        "a-delay-is-one-item-shorter",
        f"{METRICS}/_progressive.py",
        "if len(waiting) > delay:",
        "if len(waiting) >= delay:",
        ("tests/metrics/test_progressive.py",),
    ),
    # ----------------------------------------------------------------------------------------------------------------- inspection
    Mutant(
        "better-constant-of-the-other-class",
        f"{INSPECTION}/_costs.py",
        "min((1 - share) * false, share * missed)",
        "min(share * false, (1 - share) * missed)",
        ("tests/inspection/test_costs_and_probabilities.py",),
    ),
    Mutant(
        "rolling-window-is-a-round-longer",
        f"{INSPECTION}/_online_loss.py",
        'side="right") - 1  # the last',
        'side="left") - 1  # the last',
        ("tests/inspection/test_inspection.py",),
    ),
    # -------------------------------------------------------------------------------------------------------------- the predictor
    Mutant(
        "predictor-takes-repeated-features-apart",
        f"{PREDICTOR}/_predictor.py",
        "if len(rows.repeating()) == 0:",
        "if True:",
        ("tests/predictor/test_numpy_predictor.py",),
    ),
    # ------------------------------------------------------------------------------------------------------------- ONNX and River
    Mutant(
        "onnx-ties-go-to-the-first",
        f"{ONNX}/_classes.py",
        "select_last_index=int(of_ties > 0)",
        "select_last_index=0",
        ("tests/interoperability/test_onnx.py",),
    ),
    Mutant(
        "onnx-at-k-of-precision-and-recall-are-exchanged",
        f"{ONNX}/_sets.py",
        '"And" if problem.recall else "Or"',
        '"Or" if problem.recall else "And"',
        ("tests/interoperability/test_onnx.py",),
    ),
    Mutant(
        "river-names-of-a-failed-batch-stay",
        f"{RIVER}/_wrappers.py",
        "                self._columns.keep(n_known)\n",
        "",
        ("tests/interoperability/test_river.py",),
    ),
    # ------------------------------------------------------------------------------------------------------------------- training
    Mutant(
        "maps-are-taken-for-any-gain",
        f"{TRAINING}/maps.py",
        "return gain > ERRORS * error",
        "return gain > 0",
        ("tests/families/test_default_model.py",),
    ),
    Mutant(
        "diverged-fold-models-stay", f"{TRAINING}/runs.py", "if size <= most]", "if size >= 0]", ("tests/families/test_folds.py",)
    ),
    # --------------------------------------------------------------------------------- costs by row, monotone curves and tokens
    Mutant(
        "a-capacity-has-one-row-more",
        "sklearn_predtron/_support/row_costs.py",
        "most = int(self.share * len(expected) * (1 + 1e-12))",
        "most = 1 + int(self.share * len(expected) * (1 + 1e-12))",
        CAPACITY,
    ),
    Mutant(
        "a-capacity-goes-to-the-first-rows",
        "sklearn_predtron/_support/row_costs.py",
        'np.argsort(-saving[wanted], kind="stable")',
        "np.arange(len(wanted))",
        CAPACITY,
    ),
    Mutant(
        "single-rows-exceed-the-mean-saving",
        f"{DECISIONS}/_constraints.py",
        "return float(saving[order[most]]) if most < len(order) else 0.0",
        "return float(saving.mean())",
        CAPACITY,
    ),
    Mutant(
        "cuts-forget-what-right-answers-cost",
        f"{DECISIONS}/_expected_cost.py",
        "odds(self.regrets[0, 1], self.regrets[1, 0])",
        "odds(self.costs[0, 1], self.costs[1, 0])",
        CAPACITY,
    ),
    Mutant(
        "costs-known-with-the-label-decide",
        "sklearn_predtron/_support/row_costs.py",
        "    table = np.full(shape, np.nan)\n",
        "    table = np.zeros(shape)\n",
        CAPACITY,
    ),
    Mutant(
        "rows-that-would-show-a-promise-are-too-few",
        f"{DECISIONS}/_reject_at_risk.py",
        "rows.repeated(n), recorded)",
        "rows.repeated(2 * n), recorded)",
        ("tests/families/test_certified_promises.py",),
    ),
    Mutant(
        "costs-of-rows-are-drawn-by-probability",
        f"{INSPECTION}/_costs.py",
        'np.argsort(expected[:, 1] - expected[:, 0], kind="stable")',
        'np.argsort(-p[:, 1], kind="stable")',
        ("tests/inspection/test_costs_of_rows.py",),
    ),
    Mutant(
        "steps-of-a-kernel-are-those-of-the-first-token",
        f"{NORMS}/_chained.pyx",
        "self.kernel.here = self.kernel.next - x.m + r",
        "self.kernel.here = self.kernel.next - x.m",
        ("tests/families/test_tagger_kernels.py", WORLDS),
    ),
    Mutant(
        "monotone-sums-forget-the-order",
        f"{NORMS}/_monotone.pyx",
        "            self.sums[i].total.data[j] += self.pending(i, value - self.data[j])\n",
        "            pass\n",
        ("tests/features/test_monotone.py",),
    ),
    Mutant(
        "monotone-neighbours-count-alike",
        f"{NORMS}/_monotone.pyx",
        "* own / (own + before)",
        "/ 2",
        ("tests/features/test_monotone.py",),
    ),
    # ------------------------------------------------------------------------------------- bounds, orders and weights of displays
    Mutant(
        "bounds-of-unequal-losses-are-tested-as-those-of-mistakes",
        f"{DECISIONS}/_constraints.py",
        "np.minimum(1.0, weaker * p)",
        "np.minimum(1.0, p)",
        ("tests/decisions/test_constraints.py",),
    ),
    Mutant(
        "rounds-shuffle-rows-alike",
        f"{MIXING}/_rounds.py",
        "[settings.seed, turn, number]",
        "[settings.seed, number]",
        ("tests/mixing/test_parameter_mixing.py",),
    ),
    Mutant(
        "operating-point-counts-rows-of-no-weight",
        f"{INSPECTION}/_risk_coverage.py",
        "weight[accepted].sum() / weight.sum()",
        "accepted.mean()",
        ("tests/inspection/test_inspection.py",),
    ),
    Mutant(
        "strength-of-an-effect-has-its-mean",
        f"{INSPECTION}/_terms.py",
        "np.abs(explanation.values - self.means).mean",
        "np.abs(explanation.values).mean",
        ("tests/inspection/test_effects_display.py",),
    ),
    Mutant(
        "predictor-doubles-the-score-of-two-classes",
        f"{PREDICTOR}/_answers.py",
        "difference / 2 if scores",
        "difference if scores",
        ("tests/predictor/test_numpy_predictor.py",),
    ),
    Mutant(
        "predictor-takes-gaps-that-the-map-refuses",
        f"{PREDICTOR}/_predictor.py",
        'bool(state.get("missing", True))',
        "True",
        ("tests/predictor/test_numpy_predictor.py",),
    ),
    Mutant(
        "a-call-with-other-parts-restarts-the-update",
        f"{TRAINING}/factory.py",
        "        update.__setstate__(learner.update.state())\n",
        "        pass\n",
        ("tests/families/test_changed_parts.py",),
    ),
]
