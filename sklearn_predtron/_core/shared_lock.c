/* A phase-fair lock of readers and one writer: whoever waits when the writer leaves is in before it comes again. */
#if !defined(_WIN32) && !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L /* the clock, which strict C11 hides */
#endif
#include "compiler.h"
#include "shared_lock.h"

#include <stdlib.h>

#ifdef _WIN32
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
typedef SRWLOCK Mutex;
typedef CONDITION_VARIABLE Condition;
#define UNTAKEN SRWLOCK_INIT
static int prepare(Mutex *mutex, Condition *readers, Condition *writer) {
    InitializeSRWLock(mutex);
    InitializeConditionVariable(readers);
    InitializeConditionVariable(writer);
    return 1;
}
static void discard(Mutex *mutex, Condition *readers, Condition *writer) { (void)mutex, (void)readers, (void)writer; }
static void seize(Mutex *mutex) { AcquireSRWLockExclusive(mutex); }
static void yield_up(Mutex *mutex) { ReleaseSRWLockExclusive(mutex); }
static void await(Condition *condition, Mutex *mutex) { SleepConditionVariableSRW(condition, mutex, INFINITE, 0); }
static void wake(Condition *condition) { WakeAllConditionVariable(condition); }
static double seconds(void) {
    LARGE_INTEGER now, frequency;
    QueryPerformanceCounter(&now);
    QueryPerformanceFrequency(&frequency);
    return (double)now.QuadPart / (double)frequency.QuadPart;
}
#else
#include <pthread.h>
#include <time.h>
typedef pthread_mutex_t Mutex;
typedef pthread_cond_t Condition;
#define UNTAKEN PTHREAD_MUTEX_INITIALIZER
static int prepare(Mutex *mutex, Condition *readers, Condition *writer) {
    return pthread_mutex_init(mutex, NULL) == 0 && pthread_cond_init(readers, NULL) == 0 && pthread_cond_init(writer, NULL) == 0;
}
static void discard(Mutex *mutex, Condition *readers, Condition *writer) {
    pthread_mutex_destroy(mutex);
    pthread_cond_destroy(readers);
    pthread_cond_destroy(writer);
}
static void seize(Mutex *mutex) { pthread_mutex_lock(mutex); }
static void yield_up(Mutex *mutex) { pthread_mutex_unlock(mutex); }
static void await(Condition *condition, Mutex *mutex) { pthread_cond_wait(condition, mutex); }
static void wake(Condition *condition) { pthread_cond_broadcast(condition); }
static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
#endif

#if defined(_MSC_VER) && !defined(__clang__)
typedef void *volatile Caller;
#define LOAD(word) _InterlockedOr((LockWord *)(word), 0)
#define STORE(word, value) ((void)_InterlockedExchange((word), (value)))
#define OR(word, value) _InterlockedOr((word), (value))
#define ADD(word, value) _InterlockedExchangeAdd((word), (value))
static int exchange(LockWord *word, long *expected, long value) {
    long before = _InterlockedCompareExchange(word, value, *expected), there = before == *expected;
    *expected = before;
    return there;
}
static int claim(Caller *caller, void *thread) { return _InterlockedCompareExchangePointer(caller, thread, NULL) == NULL; }
#define CALLER(caller) _InterlockedCompareExchangePointer((Caller *)(caller), NULL, NULL)
#define NOBODY(caller) ((void)_InterlockedExchangePointer((caller), NULL))
#define THREAD_LOCAL __declspec(thread)
#else
typedef _Atomic(void *) Caller;
#define LOAD(word) atomic_load((LockWord *)(word))
#define STORE(word, value) atomic_store((word), (value))
#define OR(word, value) atomic_fetch_or((word), (value))
#define ADD(word, value) atomic_fetch_add((word), (value))
#define exchange(word, expected, value) atomic_compare_exchange_weak((word), (expected), (value))
static int claim(Caller *caller, void *thread) {
    void *nobody = NULL;
    return atomic_compare_exchange_strong(caller, &nobody, thread);
}
#define CALLER(caller) atomic_load((Caller *)(caller))
#define NOBODY(caller) atomic_store_explicit((caller), NULL, memory_order_release)
#define THREAD_LOCAL _Thread_local
#endif

enum {
    WRITER = 1,  /* a writer is in, or waits until the readers that are in have left */
    WAITING = 2, /* readers wait until the writer has left */
    READER = 4   /* times those that are in */
};
#define PATIENCE 2e-4 /* seconds that readers wait, once they are noticed, before the writer gives way */

struct Lock {
    LockWord word;
    Caller caller; /* the thread that has the call */
    Mutex mutex;   /* of what follows */
    Condition of_readers, of_writer;
    long waiting; /* readers */
    size_t phase; /* grows when they are let in */
    /* Of the thread that has the call, and of those who read what it has written: */
    int changing;
    size_t changes;
    double noticed; /* when it saw readers wait; 0 if it has not */
    /* Of `registry`: */
    SharedLock *previous, *next;
    int pins, gone; /* forks that look at it, and whether it is freed once none does */
};

/* What this thread reads in; the address tells threads apart. */
static THREAD_LOCAL Section *sections;

/* The list of all locks.  Whoever has its mutex does nothing else, and is attached to the interpreter: in a fork nobody has it. */
#define GUARDED /* by that mutex */
static GUARDED Mutex registry = UNTAKEN;
static GUARDED SharedLock *first, *last;

static void list(SharedLock *lock) {
    seize(&registry);
    lock->previous = last;
    *(last == NULL ? &first : &last->next) = lock;
    last = lock;
    yield_up(&registry);
}

/* Take a lock that is gone from the list, and free it, unless a fork looks at it. */
static void drop(SharedLock *lock, int pins, int gone) {
    int dropped;
    seize(&registry);
    lock->pins += pins;
    lock->gone |= gone;
    dropped = lock->gone && lock->pins == 0;
    if (dropped) {
        *(lock->previous == NULL ? &first : &lock->previous->next) = lock->next;
        *(lock->next == NULL ? &last : &lock->next->previous) = lock->previous;
    }
    yield_up(&registry);
    if (dropped) {
        discard(&lock->mutex, &lock->of_readers, &lock->of_writer);
        free(lock);
    }
}

SharedLock *lock_new(void) {
    SharedLock *lock = calloc(1, sizeof(SharedLock));
    if (lock != NULL && !prepare(&lock->mutex, &lock->of_readers, &lock->of_writer)) {
        free(lock);
        return NULL;
    }
    if (lock != NULL)
        list(lock);
    return lock;
}

void lock_free(SharedLock *lock) { drop(lock, 0, 1); }

SharedLock *lock_pin_next(SharedLock *lock) {
    seize(&registry);
    lock = lock == NULL ? first : lock->next;
    while (lock != NULL && lock->gone)
        lock = lock->next;
    if (lock != NULL)
        lock->pins++;
    yield_up(&registry);
    return lock;
}

void lock_unpin(SharedLock *lock) { drop(lock, -1, 0); }

const LockWord *lock_word(const SharedLock *lock) { return &lock->word; }

/* ------------------------------------------------------------------------------------------------------------ the call */

int lock_take(SharedLock *lock) { return claim(&lock->caller, &sections); }

void lock_release(SharedLock *lock) { NOBODY(&lock->caller); }

int lock_is_taken(const SharedLock *lock) { return CALLER(&lock->caller) != NULL; }

int lock_is_taken_here(const SharedLock *lock) { return CALLER(&lock->caller) == (void *)&sections; }

/* ------------------------------------------------------------------------------------------------------------- reading */

int lock_is_read_here(const SharedLock *lock) {
    const Section *section;
    for (section = sections; section != NULL; section = section->below)
        if (section->lock == lock)
            return 1;
    return 0;
}

int lock_enter_call(SharedLock *lock) {
    void *caller = CALLER(&lock->caller);
    if (caller == (void *)&sections && lock->changing)
        return LOCK_IS_BUSY;
    if (sections != NULL && lock_is_read_here(lock))
        return LOCK_IS_READ;
    if (caller == (void *)&sections)
        return LOCK_GOES_ON;
    return lock_take(lock) ? LOCK_TAKEN : LOCK_IS_BUSY;
}

/* Whoever reads another model already does not wait for a writer that waits itself: it may be for this thread. */
static int is_open(long word) { return !(word & WRITER) || (word >= READER && sections != NULL); }

static int enter(SharedLock *lock) {
    long word = LOAD(&lock->word);
    while (is_open(word))
        if (exchange(&lock->word, &word, word + READER))
            return 1;
    return 0;
}

/* Enter, or say that readers wait. */
static int enter_or_mark(SharedLock *lock) {
    long word = LOAD(&lock->word);
    for (;;) {
        int open = is_open(word);
        if (exchange(&lock->word, &word, open ? word + READER : word | WAITING))
            return open;
    }
}

static void wait_to_read(SharedLock *lock) {
    seize(&lock->mutex);
    if (!enter_or_mark(lock)) {
        size_t phase = lock->phase;
        lock->waiting++;
        while (lock->phase == phase)
            await(&lock->of_readers, &lock->mutex);
    }
    yield_up(&lock->mutex);
}

int lock_read(SharedLock *lock, Section *section, int wait) {
    section->nested = lock_is_changed_here(lock) || lock_is_read_here(lock);
    if (!section->nested && !enter(lock)) {
        if (!wait)
            return 0;
        wait_to_read(lock);
    }
    section->lock = lock;
    section->below = sections;
    sections = section;
    return 1;
}

int lock_end_read(SharedLock *lock, Section *section) {
    Section **place = &sections;
    Section *other;
    while (*place != NULL && *place != section)
        place = &(*place)->below;
    if (*place == NULL)
        return 0;
    *place = section->below;
    for (other = section->nested ? NULL : sections; other != NULL; other = other->below)
        if (other->lock == lock) { /* one in which it was nested no more: that one is in from here on */
            other->nested = 0;
            return 1;
        }
    if (!section->nested) {
        long left = ADD(&lock->word, -READER) - READER;
        if ((left & WRITER) && left < READER) {
            seize(&lock->mutex);
            wake(&lock->of_writer);
            yield_up(&lock->mutex);
        }
    }
    return 1;
}

/* ------------------------------------------------------------------------------------------------------------ changing */

int lock_is_changed_here(const SharedLock *lock) { return lock_is_taken_here(lock) && lock->changing; }

size_t lock_moment(const SharedLock *lock) { return lock_is_changed_here(lock) ? 0 : lock->changes + 1; }

int lock_change(SharedLock *lock, int wait) {
    if (OR(&lock->word, WRITER) >= READER) {
        if (!wait)
            return 0; /* and no more readers come in, until it is called again to wait for the last of them */
        seize(&lock->mutex);
        while (LOAD(&lock->word) >= READER)
            await(&lock->of_writer, &lock->mutex);
        yield_up(&lock->mutex);
    }
    lock->changing = 1;
    lock->changes++;
    lock->noticed = 0;
    return 1;
}

void lock_end_change(SharedLock *lock) {
    long word = WRITER;
    lock->changing = 0;
    while (word == WRITER)
        if (exchange(&lock->word, &word, 0))
            return;
    seize(&lock->mutex);
    STORE(&lock->word, lock->waiting * READER);
    lock->waiting = 0;
    lock->phase++;
    wake(&lock->of_readers);
    yield_up(&lock->mutex);
}

void lock_give_way(SharedLock *lock) {
    double now = seconds();
    if (lock->noticed == 0)
        lock->noticed = now;
    if (now - lock->noticed < PATIENCE)
        return;
    lock_end_change(lock);
    lock_change(lock, 1);
}

/* --------------------------------------------------------------------------------------------------------------- forks */

void lock_after_fork(SharedLock *lock) {
    const Section *section;
    long readers = 0;
    for (section = sections; section != NULL; section = section->below)
        if (section->lock == lock && !section->nested)
            readers++;
    prepare(&lock->mutex, &lock->of_readers, &lock->of_writer); /* a thread that is no more may have had the mutex */
    lock->waiting = 0;
    if (!lock_is_taken_here(lock)) {
        lock->changing = 0;
        NOBODY(&lock->caller);
    }
    STORE(&lock->word, readers * READER | (lock->changing ? WRITER : 0));
}
