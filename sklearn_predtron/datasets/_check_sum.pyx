"""A check sum that depends on the order of the words, taken about as fast as memory is read."""
from libc.stdint cimport uint64_t
from libc.string cimport memcpy, memset

cdef extern from "compiler.h" nogil:
    void PREFETCH(const void* place)

cdef enum:
    LANES = 8           # as many as a processor multiplies while it waits for the first product
    BLOCK = 8 * LANES   # bytes
    AHEAD = 4096        # a page, beyond which processors do not look themselves

BLOCK_BYTES = <Py_ssize_t> BLOCK


cdef inline uint64_t mixed(uint64_t lane, uint64_t word) noexcept nogil:
    """Two values of either argument never give the same, so that a single word that changes always shows."""
    lane += word
    return (lane << 27 | lane >> 37) * <uint64_t> 0x9e3779b185ebca87


cdef inline uint64_t scattered(uint64_t word) noexcept nogil:
    """The end of MurmurHash3: as `mixed` is almost linear, what two lanes differ by might else add up to nothing."""
    word = (word ^ word >> 33) * <uint64_t> 0xff51afd7ed558ccd
    word = (word ^ word >> 33) * <uint64_t> 0xc4ceb9fe1a85ec53
    return word ^ word >> 33


cdef inline void mix_block(uint64_t* lanes, const void* block) noexcept nogil:
    cdef uint64_t words[LANES]
    cdef int k
    memcpy(words, block, BLOCK)
    for k in range(LANES):
        lanes[k] = mixed(lanes[k], words[k])


cdef void mix_blocks(uint64_t* lanes, const unsigned char* data, Py_ssize_t n) noexcept nogil:
    """Mix n bytes into the lanes, and zeros after them up to the end of a block."""
    cdef uint64_t own[LANES]  # which the compiler keeps in registers
    cdef uint64_t last[LANES]
    cdef Py_ssize_t at = 0
    memcpy(own, lanes, BLOCK)
    while n - at >= BLOCK:
        PREFETCH(data + at + AHEAD)
        mix_block(own, data + at)
        at += BLOCK
    if at < n:
        memset(last, 0, BLOCK)
        memcpy(last, data + at, n - at)
        mix_block(own, last)
    memcpy(lanes, own, BLOCK)


def check_sum(parts):
    """Return 64 bits, with a sign, of bytes that come in parts, each of which zeros fill up to a multiple of BLOCK_BYTES."""
    cdef uint64_t lanes[LANES]
    cdef uint64_t whole = 0
    cdef const unsigned char[::1] data
    cdef int k
    for k in range(LANES):
        lanes[k] = k + 1
    for part in parts:
        data = part
        if data.shape[0] > 0:
            with nogil:
                mix_blocks(lanes, &data[0], data.shape[0])
    for k in range(LANES):
        whole = scattered(whole + lanes[k])
    return <long long> whole
