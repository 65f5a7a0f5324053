/* What compilers, C libraries and processors differ in; the only place that asks which they are.
 *
 * With SKLEARN_PREDTRON_PLAIN every compiler takes the C of those that know no GNU C, such as Microsoft's. */
#ifndef SKLEARN_PREDTRON_COMPILER_H
#define SKLEARN_PREDTRON_COMPILER_H

#include <limits.h> /* says whether the C library is glibc */

#if (defined(__GNUC__) || defined(__clang__)) && !defined(SKLEARN_PREDTRON_PLAIN)
#define GNU_C 1 /* vectors, attributes and builtins */
#define INLINE static inline __attribute__((always_inline))
#define APART static __attribute__((noinline))
#define PREFETCH(p) __builtin_prefetch(p)
#define RARELY(condition) __builtin_expect(!!(condition), 0)
#else
#define GNU_C 0
#define INLINE static inline
#define PREFETCH(p) ((void)(p))
#define RARELY(condition) (condition)
#endif

/* Versions of a function for several processors, where the compiler and the loader know how to choose one: musl, macOS and
 * Windows have no such loader, clang before 18 hides the choice from other files, under the name of .ifunc, and ThreadSanitizer
 * is called in the choice before it is there. */
#if GNU_C && defined(__has_attribute) && defined(__x86_64__) && defined(__GLIBC__) && \
    !(defined(__clang__) && __clang_major__ < 18) && !defined(__SANITIZE_THREAD__)
#if __has_attribute(target_clones)
#define DISPATCHES 1
#define FOR_PROCESSORS(...) __attribute__((target_clones(__VA_ARGS__)))
#define HAS_PROCESSOR(name) (__builtin_cpu_init(), __builtin_cpu_supports(name) != 0)
#endif
#endif
#ifndef DISPATCHES
#define DISPATCHES 0
#define FOR_PROCESSORS(...)
#define HAS_PROCESSOR(name) 0
#endif
#define DISPATCHED FOR_PROCESSORS("fma", "default")

/* What decides the last bits of a sum. */
static inline const char *instructions(void)
{
    return !GNU_C ? "plain" : HAS_PROCESSOR("fma") ? "fma" : "default";
}

#endif
