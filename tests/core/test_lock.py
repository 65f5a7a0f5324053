"""The lock of a model: one call at a time, readers side by side, and neither side of a change waits for ever."""

import copy
import os
import pickle
import signal
import threading
import time

import pytest
from cases import BUSY, threads_of

from sklearn_predtron._core.lock import Lock

SOON = 10  # seconds, which nothing here takes


def started(task):
    """A thread that runs a task."""
    thread = threading.Thread(target=task, daemon=True)
    thread.start()
    return thread


def assert_ends(*threads):
    for thread in threads:
        thread.join(SOON)
        assert not thread.is_alive()


def test_a_second_call_is_refused_in_any_thread():
    lock, refused = Lock(), []

    def take():
        for call in (lock.__enter__, lock.check_free, lock.changing().__enter__):
            with pytest.raises(RuntimeError, match=BUSY):
                call()
            refused.append(call)

    with lock:
        assert_ends(started(take))
        with pytest.raises(RuntimeError, match=BUSY):
            lock.__enter__()
        with pytest.raises(RuntimeError, match=BUSY):
            lock.check_free()
    assert len(refused) == 3
    lock.check_free()
    with lock:
        pass


def test_an_exception_gives_everything_back():
    lock = Lock()
    for section in (lambda: lock, lock.changing, lock.reading):
        with pytest.raises(KeyError), section():
            raise KeyError
    with lock, lock.changing():
        pass
    assert_ends(started(lambda: lock.changing().__enter__()))


def test_a_copy_is_free():
    lock = Lock()
    with lock, lock.changing():
        for other in (copy.deepcopy(lock), pickle.loads(pickle.dumps(lock))):
            with other, other.changing():
                pass


def test_readers_read_side_by_side():
    """Each waits in its section for the others."""
    lock, together = Lock(), threading.Barrier(4)

    def read():
        with lock.reading():
            together.wait(SOON)

    threads_of(*[read] * 4)


def test_a_reader_waits_for_a_change_and_a_change_for_its_readers():
    lock, events, read, go = Lock(), [], threading.Event(), threading.Event()

    def reader():
        with lock.reading():
            events.append("reads")
            read.set()
            go.wait(SOON)
            events.append("has read")

    with lock:
        with lock.changing():
            thread = started(reader)
            assert not read.wait(0.05)
            events.append("has changed")
        assert read.wait(SOON)
        changing = started(lambda: time.sleep(0.02) or go.set())
        with lock.changing():
            events.append("changes again")
    assert_ends(thread, changing)
    assert events == ["has changed", "reads", "has read", "changes again"]


def test_no_reader_waits_for_more_than_one_change():
    """A thread that changes the model again and again lets in, after each change, whoever came during it."""
    lock, changes, waited, done = Lock(), [0], [], threading.Event()

    def change():
        with lock:
            while not done.is_set():
                with lock.changing():
                    changes[0] += 1
                    time.sleep(2e-4)

    def read():
        for _ in range(100):
            before = changes[0]
            with lock.reading():
                waited.append(changes[0] - before)

    thread = started(change)
    threads_of(read, read, read)
    done.set()
    assert_ends(thread)
    assert len(waited) == 300
    assert sum(changed > 1 for changed in waited) <= 15  # threads that were put to sleep before they asked


def test_changes_are_not_kept_waiting_by_readers_that_come_and_go():
    """Readers overlap all the time, so that there is never a moment without one."""
    lock, done, readings = Lock(), threading.Event(), [0] * 4

    def read(k):
        while not done.is_set():
            with lock.reading():
                readings[k] += 1
                time.sleep(1e-3)

    threads = [started(lambda k=k: read(k)) for k in range(4)]
    while min(readings) == 0:
        time.sleep(1e-3)
    before, start = sum(readings), time.perf_counter()
    with lock:
        for _ in range(20):
            with lock.changing():
                pass
    between = sum(readings) - before
    assert time.perf_counter() - start < SOON
    done.set()
    assert_ends(*threads)
    assert between <= 20 * 2 * len(threads)  # before each change those that are in, and those that came during the last one


def test_sections_of_one_thread_do_not_wait_for_each_other():
    lock, wanted = Lock(), threading.Event()
    with lock, lock.changing(), lock.reading(), lock.reading():
        pass

    def change():
        wanted.set()
        with lock.changing():
            pass

    outer, inner = lock.reading(), lock.reading()
    outer.__enter__()
    thread = started(change)
    wanted.wait(SOON)
    time.sleep(0.02)  # a change waits, for which others that come would wait
    with lock.reading():
        inner.__enter__()
    outer.__exit__()
    thread.join(0.02)
    assert thread.is_alive()  # the one inside, entered last, is not over
    inner.__exit__()
    assert_ends(thread)


def test_a_reader_of_another_model_does_not_wait_for_one_who_waits():
    """Two threads read two models, each the other's second, while both are about to change."""
    one, two = Lock(), Lock()
    both, ends = threading.Barrier(2), []

    def read(first, second):
        with first.reading():
            both.wait(SOON)
            time.sleep(0.05)  # until both changes wait
            with second.reading():
                ends.append("read")

    def change(lock):
        time.sleep(0.02)
        with lock.changing():
            ends.append("changed")

    threads = [started(lambda: read(one, two)), started(lambda: read(two, one))]
    threads += [started(lambda: change(one)), started(lambda: change(two))]
    assert_ends(*threads)
    assert sorted(ends) == ["changed", "changed", "read", "read"]


def test_who_reads_or_changes_does_not_begin_to_change():
    lock = Lock()
    with lock.reading(), pytest.raises(RuntimeError, match="is being read"):
        lock.changing().__enter__()
    with lock, lock.changing(), pytest.raises(RuntimeError, match=BUSY):
        lock.changing().__enter__()
    with lock.changing():
        pass


def test_a_section_is_entered_once_and_ends_where_it_began():
    lock = Lock()
    section = lock.reading()
    with section:
        with pytest.raises(RuntimeError, match="once"):
            section.__enter__()
        errors = []

        def leave():
            with pytest.raises(RuntimeError, match="thread in which it began") as error:
                section.__exit__(None, None, None)
            errors.append(error)

        assert_ends(started(leave))
        assert errors
    with lock.changing():
        pass


def test_numbers_that_belong_together_are_read_together():
    """Many threads read, several change in turns, and nobody sees one number without the other."""
    lock, pair, seen, done = Lock(), [0, 0], [0] * 4, threading.Event()

    def read(k):
        while not done.is_set() or seen[k] < 100:
            with lock.reading():
                first = pair[0]
                time.sleep(0)
                assert pair[1] == first
                seen[k] += 1

    def change():
        learned = 0
        while learned < 500:
            try:
                with lock, lock.changing():
                    pair[0] += 1
                    time.sleep(0)
                    pair[1] += 1
                learned += 1
            except RuntimeError as error:
                assert BUSY in str(error)
                time.sleep(1e-4)

    def both():
        threads_of(change, change)
        done.set()

    threads_of(both, *[lambda k=k: read(k) for k in range(4)])
    assert pair == [1000, 1000]
    assert min(seen) >= 100


def status_of_child(task):
    """How a child ends that does something: 0, 1 where that fails, or what a signal leaves where it takes too long."""
    child = os.fork()
    if child == 0:
        try:
            task()
            os._exit(0)
        finally:
            os._exit(1)
    end = time.monotonic() + SOON
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return status
        time.sleep(0.001)
    os.kill(child, signal.SIGKILL)
    return os.waitpid(child, 0)[1]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_child_has_neither_the_calls_nor_the_sections_of_other_threads():
    lock, there, done = Lock(), threading.Barrier(3), threading.Event()

    def call():
        with lock:
            there.wait(SOON)
            done.wait(SOON)

    def read():
        with lock.reading():
            there.wait(SOON)
            done.wait(SOON)

    def change():
        with lock, lock.changing(), lock.reading():
            pass

    others = started(call), started(read)
    there.wait(SOON)
    try:
        assert status_of_child(change) == 0
        with pytest.raises(RuntimeError, match=BUSY):
            lock.check_free()
    finally:
        done.set()
    assert_ends(*others)
    change()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_child_finds_no_change_halfway_done():
    lock, numbers, done = Lock(), [0, 0], threading.Event()

    def learn():
        with lock:
            while not done.is_set():
                with lock.changing():
                    numbers[0] += 1
                    time.sleep(0.001)
                    numbers[1] += 1

    def compare():
        with lock.reading():
            assert numbers[0] == numbers[1]

    learner = started(learn)
    try:
        assert [status_of_child(compare) for _ in range(10)] == [0] * 10
    finally:
        done.set()
    assert_ends(learner)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_forks_while_others_make_and_drop_locks():
    """The fork reads those there are, and a child can make others."""
    done, ends = threading.Event(), []

    def make():
        while not done.is_set():
            [Lock() for _ in range(50)]

    def change():
        with Lock().changing():
            pass

    def fork():
        try:
            ends.extend(status_of_child(change) for _ in range(20))
        finally:
            done.set()

    threads_of(make, make, fork)
    assert ends == [0] * 20
