/* A flag that one thread at a time can raise. */
#ifndef SKLEARN_PREDTRON_BUSY_H
#define SKLEARN_PREDTRON_BUSY_H

#if defined(_MSC_VER) && !defined(__clang__)
#include <intrin.h>
typedef volatile long BusyFlag;
#define BUSY_RAISE(flag) (_InterlockedExchange((flag), 1) == 0)
#define BUSY_LOWER(flag) ((void)_InterlockedExchange((flag), 0))
#define BUSY_RAISED(flag) (_InterlockedOr((flag), 0) != 0)
#else
#include <stdatomic.h>
typedef atomic_int BusyFlag;
#define BUSY_RAISE(flag) (atomic_exchange_explicit((flag), 1, memory_order_acquire) == 0)
#define BUSY_LOWER(flag) atomic_store_explicit((flag), 0, memory_order_release)
#define BUSY_RAISED(flag) (atomic_load_explicit((flag), memory_order_acquire) != 0)
#endif

/* Raise the flag; 0 where it is up already. */
static inline int busy_raise(BusyFlag *flag) { return BUSY_RAISE(flag); }
static inline void busy_lower(BusyFlag *flag) { BUSY_LOWER(flag); }
static inline int busy_raised(BusyFlag *flag) { return BUSY_RAISED(flag); }

#endif
