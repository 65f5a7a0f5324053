/* The lock of a model: one call at a time learns, many threads read, and rounds are learned while none does. */
#ifndef SKLEARN_PREDTRON_SHARED_LOCK_H
#define SKLEARN_PREDTRON_SHARED_LOCK_H

#include <stddef.h>

#if defined(_MSC_VER) && !defined(__clang__)
typedef volatile long LockWord;
static inline int lock_is_wanted(const LockWord *word) { return (*word & 2) != 0; }
#else
#include <stdatomic.h>
typedef atomic_long LockWord;
/* Whether readers wait for the thread that changes the model. */
static inline int lock_is_wanted(const LockWord *word) {
    return (atomic_load_explicit((LockWord *)word, memory_order_relaxed) & 2) != 0;
}
#endif

typedef struct Lock SharedLock;

/* What a thread reads in: the caller's, from lock_read to lock_end_read. */
typedef struct Section {
    struct Section *below;
    const SharedLock *lock;
    int nested; /* in another one of the same lock */
} Section;

SharedLock *lock_new(void); /* NULL without memory */
void lock_free(SharedLock *lock);
const LockWord *lock_word(const SharedLock *lock);

/* The call: 0 where another one has it. */
int lock_take(SharedLock *lock);
void lock_release(SharedLock *lock);
int lock_is_taken(const SharedLock *lock);
int lock_is_taken_here(const SharedLock *lock);

/* The lock made after this one that there is, NULL for the first of all: it stays, and lock_free of it waits, until it is unpinned. */
SharedLock *lock_pin_next(SharedLock *lock);
void lock_unpin(SharedLock *lock);

/* In a child, to which of all threads only the one that forked has come, while it read. */
void lock_after_fork(SharedLock *lock);

/* Go on in the call that this thread has, outside its sections, or take it. */
enum { LOCK_GOES_ON, LOCK_TAKEN, LOCK_IS_BUSY, LOCK_IS_READ };
int lock_enter_call(SharedLock *lock);

/* Reading: 0 where it would have to wait and shall not; where a section is left that this thread is not in. */
int lock_read(SharedLock *lock, Section *section, int wait);
int lock_end_read(SharedLock *lock, Section *section);
int lock_is_read_here(const SharedLock *lock);

/* Changing, by the thread that has the call alone. */
int lock_change(SharedLock *lock, int wait);
void lock_end_change(SharedLock *lock);
int lock_is_changed_here(const SharedLock *lock);
size_t lock_moment(const SharedLock *lock); /* for those who read; 0 within a change, whose rounds it would not tell apart */

/* Let readers in that have waited for long enough; called by the thread that changes, where the model can be read. */
void lock_give_way(SharedLock *lock);

#endif
