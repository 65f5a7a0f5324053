/* A flag that one thread at a time can raise, and words beside it that others may read meanwhile. */
#ifndef SKLEARN_PREDTRON_BUSY_H
#define SKLEARN_PREDTRON_BUSY_H

#include <stddef.h>

#if defined(_MSC_VER) && !defined(__clang__)
#include <intrin.h>
typedef volatile long BusyFlag;
typedef void *volatile BusyWord; /* Interlocked pointers are as wide as the processor */
#define BUSY_RAISE(flag) (_InterlockedExchange((flag), 1) == 0)
#define BUSY_LOWER(flag) ((void)_InterlockedExchange((flag), 0))
#define BUSY_RAISED(flag) (_InterlockedOr((flag), 0) != 0)
#define BUSY_READ(word) ((size_t)_InterlockedCompareExchangePointer((word), NULL, NULL))
#define BUSY_WRITE(word, value) ((void)_InterlockedExchangePointer((word), (void *)(value)))
#else
#include <stdatomic.h>
typedef atomic_int BusyFlag;
typedef atomic_size_t BusyWord;
#define BUSY_RAISE(flag) (atomic_exchange_explicit((flag), 1, memory_order_acquire) == 0)
#define BUSY_LOWER(flag) atomic_store_explicit((flag), 0, memory_order_release)
#define BUSY_RAISED(flag) (atomic_load_explicit((flag), memory_order_acquire) != 0)
#define BUSY_READ(word) atomic_load((word))
#define BUSY_WRITE(word, value) atomic_store((word), (value))
#endif

/* Raise the flag; 0 where it is up already. */
static inline int busy_raise(BusyFlag *flag) { return BUSY_RAISE(flag); }
static inline void busy_lower(BusyFlag *flag) { BUSY_LOWER(flag); }
static inline int busy_raised(BusyFlag *flag) { return BUSY_RAISED(flag); }

static inline size_t busy_read(BusyWord *word) { return BUSY_READ(word); }
static inline void busy_write(BusyWord *word, size_t value) { BUSY_WRITE(word, value); }

#endif
