/* Run-time dispatch by the processor, where the compiler and the loader know how. */
#ifndef SKLEARN_PREDTRON_DISPATCH_H
#define SKLEARN_PREDTRON_DISPATCH_H

#if defined(__has_attribute) && defined(__x86_64__) && defined(__GLIBC__)
#if __has_attribute(target_clones)
#define DISPATCHES
#define DISPATCHED __attribute__((target_clones("fma", "default")))
#endif
#endif
#ifndef DISPATCHED
#define DISPATCHED
#endif

#endif
