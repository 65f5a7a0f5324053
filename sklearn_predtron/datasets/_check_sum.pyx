"""A fast check sum that depends on the order of words."""
from libc.stdint cimport uint64_t
from libc.string cimport memcpy, memset

cdef extern from "compiler.h" nogil:
    void PREFETCH(const void* place)

cdef enum:
    LANES = 8           # as many as a processor multiplies while it waits for the first product
    BLOCK = 8 * LANES   # bytes: a word of each lane
    AHEAD = 4096        # a page, beyond which processors do not look themselves


cdef inline uint64_t mixed(uint64_t lane, uint64_t word) noexcept nogil:
    """Mix two values so that any changed word shows."""
    lane += word
    return (lane << 27 | lane >> 37) * <uint64_t> 0x9e3779b185ebca87


cdef inline uint64_t scattered(uint64_t word) noexcept nogil:
    """Apply the end of MurmurHash3; `mixed` is almost linear: without it, differences of two lanes could cancel."""
    word = (word ^ word >> 33) * <uint64_t> 0xff51afd7ed558ccd
    word = (word ^ word >> 33) * <uint64_t> 0xc4ceb9fe1a85ec53
    return word ^ word >> 33


cdef inline void mix_block(uint64_t* lanes, const unsigned char* block) noexcept nogil:
    cdef uint64_t word
    cdef int k
    for k in range(LANES):
        memcpy(&word, block + 8 * k, 8)
        lanes[k] = mixed(lanes[k], word)


cdef uint64_t sum_of(const unsigned char* data, Py_ssize_t n) noexcept nogil:
    cdef uint64_t lanes[LANES]
    cdef unsigned char last[BLOCK]
    cdef uint64_t whole = <uint64_t> n
    cdef Py_ssize_t at = 0
    cdef int k
    for k in range(LANES):
        lanes[k] = k + 1
    while n - at >= BLOCK:
        PREFETCH(data + at + AHEAD)
        mix_block(lanes, data + at)
        at += BLOCK
    if at < n:
        memset(last, 0, BLOCK)
        memcpy(last, data + at, n - at)
        mix_block(lanes, last)
    for k in range(LANES):
        whole = scattered(whole + lanes[k])
    return whole


def check_sum(const unsigned char[::1] data):
    """Return a signed 64-bit check sum of bytes."""
    cdef uint64_t whole
    with nogil:
        whole = sum_of(&data[0] if data.shape[0] > 0 else NULL, data.shape[0])
    return <long long> whole
