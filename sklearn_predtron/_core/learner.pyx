"""The one training loop; it serves every family, norm and update, for dense and sparse rows, batches and streams."""
from cpython.exc cimport PyErr_CheckSignals
from libc.math cimport INFINITY, isfinite
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

cimport cython

import copy

import numpy as np

from sklearn_predtron._core.averages cimport CANDIDATES
from sklearn_predtron._core.lock cimport lock_is_wanted
from sklearn_predtron._core.predictors cimport Predictor, score
from sklearn_predtron._core.replay cimport Replay
from sklearn_predtron._core.rows cimport of_doubles, takes
from sklearn_predtron._core.weights cimport ScoreFunction

from sklearn_predtron._core.mixable_state import fields, joined, part_of
from sklearn_predtron._core.rows import OVERFLOW
from sklearn_predtron._core.state import between, capture, count, flag, optional, restored

cdef extern from "compiler.h":
    const char* instructions()

INSTRUCTIONS = instructions().decode()  # for which the operations on rows were compiled, or chosen by the loader

OVERSTEPPED = "X, the losses or the update's parameters hold values for which the step overflows; scale them towards 1."

# Between the first two of them g2 has an inverse with room to spare; the third is the largest squared length of a step.  Steps
# of updates that are not measured need no look at it up to the last: the lengths of rows have a range of their own.
cdef double LEAST_G2 = 1e-300, LARGEST_G2 = 1e300, LONGEST_STEP2 = 1e290, SAFE_SIZE = 1e8
cdef double LEAST_WEIGHT = 1e-150   # of a round, relative to the mean: averages that forget divide by sums of few

cdef enum:
    PREFETCHED = 4       # rounds between the prefetch of a row and its use
    FEW_VALUES = 1 << 16    # of rows that stay in a cache near the core, without a prefetch


cdef class Observer:
    """Observer of the average's predictions for rows before training."""

    @property
    def kept(self):
        """The last result computed from observations; one reader leaves it for the next ones."""
        with cython.critical_section(self):
            return self.made

    @kept.setter
    def kept(self, made):
        with cython.critical_section(self):
            self.made, made = made, self.made       # the old object is released after the section

    def watch(self, Problem problem not None):
        """Observe the predictions of a problem from here on."""

    cdef int check(self, Problem problem) except -1:
        """Raise ValueError if the problem's predictions cannot be observed."""
        return 0

    cdef void record(self, double* t, const void* y, Py_ssize_t m, double weight) noexcept nogil:
        """Observe the scores and the label of a round, which counts `weight` times."""

    cdef bint wants(self, Py_ssize_t t) noexcept nogil:
        """Return whether to record the next round, after t rounds."""
        return True

    def sparingly(self, Py_ssize_t every):
        """Record only a part of the rounds from here on; one in so many is recorded, if that is enough."""

    def export(self):
        """Return the observations as a state to be mixed; those of other rows are mixed with it; see `_core.mixable_state`."""
        return fields()

    def adopt(self, state, bint with_sums):
        """Continue from the state of mixed observers; without sums, start from no observations."""

    def resized(self, Problem problem not None, places):
        """Return this observer for a problem with more classes; it has seen the same rounds; class c becomes places[c]."""
        raise ValueError(f"{type(self).__name__} does not know more classes.")


cdef int check_order(const Py_ssize_t[::1] order, Py_ssize_t n, str name) except -1:
    """Raise ValueError unless there are n numbers, one a round."""
    cdef Py_ssize_t i
    if order is not None:
        for i in range(order.shape[0]):
            if not 0 <= order[i] < n:
                raise ValueError(f"{name} must hold numbers from 0 to {n - 1}, got {order[i]}.")
    return 0


cdef class Totals:
    """Counts of all rounds so far of some weights."""

    cdef Totals copied(self):
        """Totals that continue by themselves."""
        cdef Totals other = Totals()
        other.learners = 1
        other.t, other.n_mistakes, other.n_updates = self.t, self.n_mistakes, self.n_updates
        other.cumulative_loss, other.mean_weight, other.weighted = self.cumulative_loss, self.mean_weight, self.weighted
        return other


cdef class Learner:
    """Weights, problem, update and average, with the training history.

    One call at a time learns; another, in any thread or from within the user's own problem, raises RuntimeError.  Whoever reads
    meanwhile waits for a block of rounds at most, and finds the weights after the last of them.
    """

    def __cinit__(self):
        self.counts = Totals()
        self.counts.learners = self.number = 1

    def __init__(self, Weights weights not None, Problem problem not None, Rule update not None, Average average not None,
                 Observer observer=None, Lock lock=None):
        self.weights, self.problem, self.update, self.average = weights, problem, update, average
        self.observer = observer
        self.lock = Lock() if lock is None else lock
        self.predictors = Predictors(weights, self.lock)
        self.check()

    cdef int check(self) except -1:
        """Raise ValueError if the parts are not compatible; the loop relies on it."""
        cdef Problem problem = self.problem
        if problem is None or problem.d < 1 or problem.d != self.weights.d or self.weights.p < 1:
            raise ValueError(f"weights for {self.weights.d} scores do not go with a problem of {problem.d}.")
        if not problem.score_map.is_of(self.weights.score_map):
            maps = [type(part.score_map).__name__ for part in (self.weights, problem)]
            raise ValueError(f"weights of a {maps[0]} do not go with a problem of a {maps[1]}.")
        if (problem.of_one_score is not None) != self.update.of_each_score:
            raise ValueError(f"a {type(self.update).__name__} does not take the steps that a {type(problem).__name__} asks for.")
        self.update.check(problem)
        if self.observer is not None:
            self.observer.check(problem)
        if self.history is not None and self.history.size == 0:
            raise ValueError("the history was not initialised.")
        if self.replay is not None:
            self.replay.check(self.problem, self.weights.n_features)
        return 0

    @property
    def t(self):
        """Rounds so far."""
        with self.lock.reading():
            return self.counts.t

    @property
    def n_mistakes(self):
        """Rounds whose prediction lost."""
        with self.lock.reading():
            return self.counts.n_mistakes

    @property
    def n_updates(self):
        """Rounds with a step."""
        with self.lock.reading():
            return self.counts.n_updates

    @property
    def cumulative_loss(self):
        """Losses of all rounds."""
        with self.lock.reading():
            return self.counts.cumulative_loss

    @property
    def mean_weight(self):
        """Mean weight of the rounds; the effect of a round depends on its weight relative to this mean."""
        with self.lock.reading():
            return self.counts.mean_weight

    @property
    def weighted(self):
        """Whether any round had another weight."""
        with self.lock.reading():
            return self.counts.weighted

    # --------------------------------------------------------------------------------------------------- one made of another

    def parts(self):
        """Return the problem, update, average and observer; `with_parts` takes them in this form."""
        return self.problem, self.update, self.average, self.observer

    def with_parts(self, Problem problem not None, Rule update not None, Average average, Observer observer):
        """Return a learner with the same weights and other parts.

        Counts, history and lock are the same too; `average` is None if the last iterate predicts.

        This learner changes only when the other trains, and not if that raises an error before its first round.
        """
        cdef Learner other = Learner(self.weights, problem, update, average or self.average, observer, self.lock)
        other.predictors, other.counts, other.history, other.replay = self.predictors, self.counts, self.history, self.replay
        other.origin = self if self.origin is None else self.origin
        self.counts.learners += 1
        other.number = self.counts.learners
        return other

    def with_weights(self, Weights weights not None, Problem problem not None, Observer observer):
        """Return a learner of the same rounds with other weights; it has the same lock."""
        cdef Learner other = Learner(weights, problem, self.update, self.average, observer, self.lock)
        with self.lock.reading():
            other.counts, other.history = self.counts.copied(), self.history
        return other

    def resized(self, Py_ssize_t p, places, Problem problem not None, Observer observer):
        """Return a learner with room for p features.

        It has the same training state; readers of this one can continue.

        Score c becomes score places[c] of the problem.
        """
        cdef Learner wide = self.with_weights(self.read(lambda weights: weights.resized(p, problem.d, places)), problem, observer)
        if self.replay is not None:
            wide.replay = self.replay.resized(problem, self.weights.n_features, places)
        return wide

    def copied(self):
        """Return an independent copy under the same lock."""
        cdef Learner other = copy.deepcopy(self)
        other.lock, other.predictors = self.lock, Predictors(other.weights, self.lock)
        return other

    def widen(self, Py_ssize_t n_features):
        """Set the number of features of the rows to come; the weights must have room for them."""
        with self.lock.changing():
            self.weights.widen(n_features)
            if self.replay is not None:
                self.replay.check(self.problem, n_features)

    def record(self, LossCurve history):
        """Record the cumulative loss from here on."""
        with self.lock.changing():
            self.history = history

    def set_replay(self, bint wanted):
        """Learn from rows again from here on, if the update does and the rounds can be kept; see `Replay`."""
        cdef Py_ssize_t p = self.weights.n_features
        if not wanted or not self.update.replays or self.problem.label_size == 0 or self.weights.expansion is not None:
            self.replay = None
        elif self.replay is None:
            self.replay = Replay(self.problem, p)
        else:
            self.replay.check(self.problem, p)

    @property
    def replayed(self):
        """Whether any round was learned from again."""
        return self.replay is not None and self.replay.rounds > 0

    cdef int instruct(self) except -1:
        """Pass the parts' needs to the observer and the weights."""
        if self.observer is not None:
            self.observer.watch(self.problem)
        self.weights.watch_radius(self.update.radius_needed, self.update.radius_of_rows)
        self.weights.select_average(self.average.leader)
        self.counts.instructed = self.number
        return 0

    # -------------------------------------------------------------------------------------------------------------- reading

    cdef int open_section(self, Section* section) except -1:
        """Block training until the section closes; make the weights readable."""
        if self.weights is None:
            raise ValueError("the learner has no parts.")
        self.lock.read(section)
        try:
            if self.lock.is_changed_here():
                self.weights.make_readable()
            elif self.weights.unfinished():
                self.lock.end_read(section)
                try:
                    self.finish()
                finally:
                    self.lock.read(section)
        except BaseException:
            self.lock.end_read(section)
            raise
        return 0

    cdef int finish(self) except -1:
        """Complete the last call's work after an interrupt."""
        with self.lock.changing():
            self.weights.complete()
        return 0

    def read(self, reader):
        """Return reader(weights), of one moment."""
        cdef Section section
        self.open_section(&section)
        try:
            with np.errstate(under="ignore"):
                return reader(self.weights)
        finally:
            self.lock.end_read(&section)

    def scores(self, Rows rows not None, double[:, ::1] out not None, bint mean=True, Py_ssize_t first=0):
        """Write the scores W x + b of rows into out.

        The average or the last iterate scores the rows from the first on.  Return whether all scores are finite.

        Features that the rows do not have are zeros.
        """
        cdef Section section
        cdef ScoreFunction scoring
        rows = rows.apart()
        self.open_section(&section)
        try:
            scoring = self.predictors.recall(mean)
            if scoring is None:
                scoring = self.predictors.in_passing(rows, mean)
                if scoring is not None:
                    return score(scoring, rows, out, first, mean)
                scoring = self.predictors.whole(mean)
        finally:
            self.lock.end_read(&section)
        return score(scoring, rows, out, first, mean)

    def predictor(self, bint mean=True):
        """Return a predictor with the present weights; training does not change it; kernel expansions are for one thread only."""
        cdef Section section
        self.open_section(&section)
        try:
            return Predictor(self.predictors.whole(mean), mean)
        finally:
            self.lock.end_read(&section)

    def __reduce__(self):
        """Return the whole state as of one moment; it stays consistent however long pickling takes."""
        cdef Section section
        captured = {}
        self.open_section(&section)
        try:
            parts = self.weights, self.problem, self.update, self.average
            parts = tuple([capture(part, captured) for part in parts])
            if self.observer is not None:   # which watches another problem where a call without rounds has changed the parts
                captured[id(self.observer.problem)] = captured[id(self.problem)]
            if self.replay is not None:
                captured[id(self.replay.problem)] = captured[id(self.problem)]
            observed = [capture(part, captured) for part in (self.observer, self.history, self.replay)]
            numbers = self.t, self.n_mistakes, self.n_updates, self.cumulative_loss, self.mean_weight, self.weighted
            return Learner, parts, (*numbers, *observed)
        finally:
            self.lock.end_read(&section)

    def __setstate__(self, state):
        cdef Totals counts = self.counts
        if self.weights is None:
            raise ValueError("The saved state of a Learner is damaged: it has no parts.")
        pattern = (count, count, count, between(0, INFINITY), between(0, 1e308), flag, optional(Observer), optional(LossCurve),
                   optional(Replay))
        (counts.t, counts.n_mistakes, counts.n_updates, counts.cumulative_loss, counts.mean_weight, counts.weighted,
         self.observer, self.history, self.replay) = restored(self, state, pattern)
        self.check()

    # ------------------------------------------------------------------------------------------------------------- mixing

    def export(self):
        """Return the state that learners of other rows are mixed with.

        See `_core.mixable_state`.  It copies: later rounds of this learner do not depend on exports.
        """
        cdef Totals counts = self.counts
        with self.lock.changing():
            clock = fields(sum={"mistakes": counts.n_mistakes, "updates": counts.n_updates, "loss": counts.cumulative_loss},
                           gain={"rounds": counts.t, "weight": counts.mean_weight * counts.t}, most={"weighted": counts.weighted})
            observer = fields() if self.observer is None else self.observer.export()
            return joined(clock=clock, weights=self.weights.export(), update=self.update.export(), observer=observer)

    def adopt(self, state, bint with_sums):
        """Continue from the state of mixed learners; without sums, totals over rounds start at 0."""
        cdef Totals counts = self.counts
        clock = part_of(state, "clock")
        with self.lock.changing():
            self.predictors.clear()
            self.instruct()
            self.weights.adopt(part_of(state, "weights"), with_sums)    # which says if the state is of others
            counts.t, weight = int(clock["gain"]["rounds"]), clock["gain"]["weight"]
            counts.mean_weight = weight / counts.t if counts.t > 0 else 0
            counts.weighted = clock["most"]["weighted"]
            total = clock["sum"] if with_sums else {"mistakes": 0, "updates": 0, "loss": 0}
            counts.n_mistakes, counts.n_updates, counts.cumulative_loss = (int(total["mistakes"]), int(total["updates"]),
                                                                           total["loss"])
            self.update.adopt(part_of(state, "update"))
            if self.observer is not None:
                self.observer.adopt(part_of(state, "observer"), with_sums)
            if self.replay is not None:
                self.replay = Replay(self.problem, self.weights.n_features)
            self.origin = None

    # ------------------------------------------------------------------------------------------------------------ learning

    def learn(self, Rows rows not None, Labels labels not None, const Py_ssize_t[::1] order=None,
              const double[::1] weight=None, double usual=1, bint fresh=True, const double[::1] counts=None,
              bint unchecked=False, bint observed=True, const Py_ssize_t[::1] counted_first=None):
        """Train on the rows in the given order.

        Each is one round; row i has weight[i] > 0, or `usual` if weight is None.

        Only rows that are `fresh` count in the statistics of norm="scaled", each in its round or, if they are given, those
        `counted_first` before the first round; and the observer sees them if they are to be `observed`, with their weights; or,
        given counts, counts[i] times the i-th round.

        Returns -1, or the row whose scores or step were not finite, before which it stopped; rows that are `unchecked` also stop
        it where their lengths are out of range.  An exception (an interrupt, or the user's own problem's) leaves the state of
        the last complete round.
        """
        cdef bint taken
        cdef Batch batch
        if self.weights is None:
            raise ValueError("the learner has no parts.")
        taken = self.lock.enter_call()
        self.refused = self.overstepped = False
        try:
            self.check_rounds(rows, labels, order, weight, counts)
            check_order(counted_first, rows.n, "counted_first")
            rows = rows.apart()
            batch.n = rows.n if order is None else order.shape[0]
            batch.order, batch.weight, batch.counts = NULL, NULL, NULL
            if order is not None and batch.n > 0:
                batch.order = &order[0]
            if weight is not None and rows.n > 0:
                batch.weight = &weight[0]
            if counts is not None:
                batch.counts = &counts[0]
            batch.usual, batch.fresh, batch.unchecked = usual, fresh, unchecked
            batch.observed = observed and fresh and self.observer is not None
            batch.choosing = fresh and self.average.every > 0 and self.weights.averaging > 0
            batch.parting = not self.weights.whole_in_blocks
            return self.learn_rounds(rows, labels, order, counted_first, &batch)
        finally:
            if taken:
                self.lock.release()

    def why_refused(self, row, before):
        """Explain why the last call to `learn` stopped at a row.

        The message also says whether rounds since number `before` were learned.
        """
        reason = self.weights.complaint() or (OVERSTEPPED if self.overstepped else OVERFLOW)
        if self.t == before:
            return reason
        return f"{reason}  The rounds before {self.weights.score_map.round_name} {row} were trained on: t_ = {self.t}."

    cdef int check_rounds(self, Rows rows, Labels labels, const Py_ssize_t[::1] order, const double[::1] weight,
                          const double[::1] counts) except -1:
        """Raise ValueError if the arguments are not compatible; the loop relies on it."""
        if rows.p != self.weights.n_features:
            raise ValueError(f"rows must have {self.weights.n_features} features, got {rows.p}.")
        self.problem.check(rows, labels)
        if weight is not None and weight.shape[0] != rows.n:
            raise ValueError(f"there are {rows.n} rounds and {weight.shape[0]} weights; both must be the same number.")
        if counts is not None and (counts.shape[0] != (rows.n if order is None else order.shape[0]) or not np.any(counts)):
            raise ValueError("counts must have a number for each round, not all of them 0.")
        return check_order(order, rows.n, "order")

    cdef Py_ssize_t learn_rounds(self, Rows rows, Labels labels, const Py_ssize_t[::1] order, const Py_ssize_t[::1] counted_first,
                                 Batch* batch) except -2:
        cdef Py_ssize_t done = 0, end, bad = -1, before = self.counts.t
        cdef Py_ssize_t d = rows.longest * self.problem.d + self.problem.score_map.extra
        cdef double* scratch
        cdef ScoreGradient g
        cdef bint lengths_wanted, undo_needed = self.problem.may_raise or getattr(self.update, "eta", 0) > SAFE_SIZE
        self.problem.prepare(labels)
        self.intercept = self.weights.intercept
        scratch = <double*> malloc(d * (4 * sizeof(double) + sizeof(Py_ssize_t)))
        if scratch == NULL:
            raise MemoryError
        g.at = <Py_ssize_t*> (scratch + 4 * d)
        self.lock.change()
        try:
            self.predictors.clear()
            if self.counts.instructed != self.number:
                self.instruct()
            self.problem.open_call(self.weights)
            self.weights.open_call(rows, batch.fresh, undo_needed)
            lengths_wanted = batch.unchecked or self.update.needs_norm or self.weights.observing
            self.weights.request_lengths(lengths_wanted and rows.longest == 1)
            if batch.fresh and counted_first is not None:
                bad = self.weights.update_statistics_of_all(rows, counted_first)
                self.refused = bad >= 0
            while done < batch.n and bad < 0:
                if done > 0:
                    self.pause()
                self.refused = True
                end = min(done + self.problem.rounds_of_block(rows), batch.n)
                end = self.weights.open_block(rows, order, done, end, batch.observed or batch.choosing)
                self.refused = False
                with nogil:
                    bad = self.run(self.weights, self.problem, self.update, self.average, self.intercept, self.counts, rows,
                                   labels, batch, done, end, scratch, &g)
                done = end
                self.refused = bad >= 0
                if self.problem.failed:
                    self.problem.reraise()
                self.weights.close_block()
        finally:
            free(scratch)
            self.end_rounds(self.counts.t > before)
        PyErr_CheckSignals()
        return bad

    cdef int pause(self) except -1:
        """Admit waiting readers between two blocks; raise an error if an interrupt is pending."""
        self.lock.end_change()
        try:
            PyErr_CheckSignals()
        finally:
            self.lock.change()
        return 0

    cdef int end_rounds(self, bint learned) except -1:
        """Release the rows; if nothing was learned, undo the changes of the call."""
        try:
            self.weights.close_call(learned)
            if self.origin is not None and not learned:
                self.origin.instruct()
        finally:
            if learned:
                self.origin = None
            self.lock.end_change()
        return 0

    cdef Py_ssize_t run(self, Weights weights, Problem problem, Rule update, Average average, Intercept intercept, Totals counts,
                        Rows rows, Labels labels, const Batch* batch, Py_ssize_t first, Py_ssize_t last, double* scratch,
                        ScoreGradient* g) noexcept nogil:
        """Run the rounds from the first to the last; the parts are arguments, so that no round has to look them up."""
        cdef const Py_ssize_t* order = batch.order
        cdef const LockWord* word = self.lock.word
        cdef Py_ssize_t i, row, rounds, d = problem.d, extra = problem.score_map.extra
        cdef double given, mean, weight, size, mantissa, r2
        cdef Py_ssize_t exponent, rows_seen
        cdef const void* y
        cdef Py_ssize_t* at = g.at
        cdef double* value = scratch + rows.longest * d + extra
        cdef double* t = scratch
        cdef double* of_average = value + rows.longest * d + extra
        cdef double* of_leader = of_average + rows.longest * d + extra
        cdef double losses[CANDIDATES]
        cdef bint fetching = rows.n_values() >= FEW_VALUES, looking_ahead = rows.sparse and weights.large
        cdef bint stepping, shown, of_last, charged = False, replaying = self.replay is not None
        cdef View x
        cdef Round r
        cdef int which
        for i in range(first, last):
            if batch.parting and lock_is_wanted(word):
                self.lock.yield_to_readers()
            row = i if order == NULL else order[i]
            if fetching and i + PREFETCHED < last:
                rows.prefetch(i + PREFETCHED if order == NULL else order[i + PREFETCHED])
            if looking_ahead and i + 1 < last:
                rows.view(i + 1 if order == NULL else order[i + 1], &x)
                weights.prefetch(&x)
            rows.view(row, &x)
            if batch.unchecked and not weights.measures and not takes(&x):
                return row
            mantissa, exponent, rows_seen, r2 = intercept.mantissa, intercept.exponent, intercept.count, intercept.known
            if not weights.begin_round(&x):
                return row
            weights.scores(&x, t)
            if batch.unchecked and weights.measures and not takes(&x):
                return row
            if not isfinite(t[0]) or (problem.check_all_scores and not of_doubles(False).finite(x.m * d + extra, t)):
                weights.abandon_round()
                return row
            g.at = at
            g.value = value
            r.t = counts.t + 1
            r.unavoidable_loss = r.score_gap = 0
            weight = 1
            given = batch.usual if batch.weight == NULL else batch.weight[row]
            mean = counts.mean_weight
            if given != mean:
                mean += (given - mean) / r.t
                weight = max(given / mean, LEAST_WEIGHT)
            r.weight = min(weight, 1) if replaying else weight
            y = labels.at(row)
            if batch.choosing:
                charged = counts.t % average.every == 0
                if charged:
                    self.lose(&x, t, of_average, of_leader, y, r, losses)
                    if problem.failed:
                        weights.abandon_round()
                        return -1
            shown = batch.observed and (batch.counts == NULL or batch.counts[i] > 0) and self.observer.wants(counts.t)
            of_last = shown and not charged and weights.predicting(True) == 0
            if of_last:
                memcpy(of_leader, t, (x.m * d + extra) * sizeof(double))
            stepping = update.propose(problem, t, y, x.m, &r, g)
            if problem.failed:
                weights.abandon_round()
                return -1
            if not isfinite(r.score_gap):
                weights.abandon_round()
                return row
            losses[0] = r.loss + r.unavoidable_loss
            if stepping:
                problem.fill_input(&x)
            if shown and not of_last and not charged:
                weights.mean_scores(&x, weights.predicting(True), of_leader)
            if weights.observing:
                weights.update_statistics(&x)
            size = self.size_of_step(&x, g, &r) if stepping and weights.is_trainable else 0
            if size < 0:
                self.overstepped = True
                weights.abandon_round()
                intercept.go_back(mantissa, exponent, rows_seen, r2)
                return row
            if shown:
                self.observer.record(of_leader, y, x.m, given if batch.counts == NULL else batch.counts[i])
            if update.shrinking:
                weights.shrink(update.shrinkage(&r))
            if size > 0:
                weights.step(&x, g, size)
                counts.n_updates += 1
            counts.t += 1
            counts.mean_weight = mean
            if weight != 1:
                counts.weighted = True
            counts.n_mistakes += r.loss > 0
            counts.cumulative_loss += losses[0]
            if self.history is not None:
                self.history.record(counts.t, counts.cumulative_loss)
            if replaying:
                # Where another one than an average of all rounds predicts, the stream drifts.
                rounds = self.replay.keep(&x, y, weight, r.t, weights.predicting(True) != 1 or average.keep_of(1) < 1)
                self.learn_again(weights, problem, update, self.replay, rounds, &x, t, g)
            r.weight = weight
            for which in range(1, weights.averaging + 1):
                weights.add_to_average(which, average.weight(which, &r), average.keep_of(which))
            if batch.choosing:
                average.follow(losses[0])
            if charged:
                self.choose(losses, &r)
        return -1

    cdef void learn_again(self, Weights weights, Problem problem, Rule update, Replay replay, Py_ssize_t rounds, const View* x,
                          double* t, ScoreGradient* g) noexcept nogil:
        """Learn from so many rows that are kept; they count in no statistics; those whose steps overflow are left out."""
        cdef const void* y
        cdef double size
        cdef View row
        cdef Round r
        r.t = self.counts.t
        weights.replaying = rounds > 0
        for _ in range(rounds):
            y = replay.next(x.p, &row, &r.weight)
            if y == NULL:
                continue
            r.unavoidable_loss = r.score_gap = 0
            weights.scores(&row, t)
            if of_doubles(False).finite(problem.d, t) and update.propose(problem, t, y, 1, &r, g) and isfinite(r.score_gap):
                problem.fill_input(&row)
                size = self.size_of_step(&row, g, &r) if weights.is_trainable else 0
                if size > 0:
                    weights.step(&row, g, size)
        weights.replaying = False

    cdef void lose(self, const View* x, const double* t, double* of_average, double* of_leader, const void* y, Round r,
                   double* losses) noexcept nogil:
        """Fill in the loss of each average.

        The last iterate has scores t.  The scores of the predicting average are filled in too.
        """
        cdef int which, leader = self.weights.predicting(True)
        cdef Py_ssize_t n = x.m * self.problem.d + self.problem.score_map.extra
        r.loss = 0
        if leader == 0:
            memcpy(of_leader, t, n * sizeof(double))
        for which in range(1, self.weights.averaging + 1):
            self.weights.average_scores(x, which, t, of_average)
            if which == leader:
                memcpy(of_leader, of_average, n * sizeof(double))
            self.problem.decode_loss(of_average, y, x.m, which > 1, &r)
            if self.problem.failed:
                return
            losses[which] = r.loss + r.unavoidable_loss

    cdef void choose(self, const double* losses, const Round* r) noexcept nogil:
        """Charge the candidates for their losses; the one that leads by these predicts."""
        self.weights.select_average(self.average.charge(losses, self.weights.averaging + 1, r))

    cdef double size_of_step(self, View* x, ScoreGradient* g, Round* r) noexcept nogil:
        """Return the size of the step, 0 for none; it is negative for a step that overflows."""
        cdef double size
        r.update_norm2, r.bounded = 0, self.update.bounds_steps
        if self.update.needs_norm:
            self.weights.update_norm(x, g, r)
            if r.update_norm2 != 0 and not LEAST_G2 <= r.update_norm2 <= LARGEST_G2:
                return -1
        size = self.update.size_of(g, r)
        if size <= 0:
            return 0
        if not self.update.needs_norm and size > SAFE_SIZE:
            self.weights.update_norm(x, g, r)
        return size if (size * r.update_norm2) * size <= LONGEST_STEP2 else -1
