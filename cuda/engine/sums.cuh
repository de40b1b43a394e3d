// Sums of lists of numbers, each in the shape of the tree, as pairwise_sum gives it, whoever adds it up: a short list is for a
// thread, a longer one for a warp, and those of factors of very many variables are for several warps (LongFactors).
#pragma once

#include "../arithmetic/tree.cuh"
#include "interface.cuh"
#include "threads.cuh"

namespace fastlbp {

/// What threads read at once: so many numbers are on their way together.
constexpr uint32_t NUMBERS_OF_THREAD = 8, NUMBERS_OF_LANE = 16;

/// The sum of N neighbours of a list, a power of two; `begin` is the first one's number, and those from `count` on are zeros.
template <uint32_t N, class Number>
FASTLBP_DEVICE double sum_of_neighbours(uint32_t begin, uint32_t count, const Number &number) {
    double some[N];
    FASTLBP_UNROLL
    for (uint32_t i = 0; i < N; ++i) {
        some[i] = begin + i < count ? number(begin + i) : 0.0;
    }
    return pairwise_sum_of_few(some);
}

/// The sum of number(0) to number(count - 1), none of which is negative, by a thread.
template <class Number>
FASTLBP_DEVICE double sum_of_thread(uint32_t count, const Number &number) {
    if (count <= NUMBERS_OF_THREAD) {
        return sum_of_neighbours<NUMBERS_OF_THREAD>(0, count, number);
    }
    SubtreeSums<double> sums;
    for (uint32_t i = 0; i * NUMBERS_OF_THREAD < count; ++i) {
        sums.add(sum_of_neighbours<NUMBERS_OF_THREAD>(i * NUMBERS_OF_THREAD, count, number), i);
    }
    return sums.total();
}

/// The same of number(first) to number(first + count - 1) by all lanes of a warp.
template <class Number>
FASTLBP_DEVICE_COLD double sum_of_warp(uint32_t first, uint32_t count, const Number number) {
    constexpr uint32_t ALL = LANES * NUMBERS_OF_LANE;
    SubtreeSums<double> sums;
    for (uint32_t i = 0; i * ALL < count; ++i) {
        const uint32_t begin = i * ALL + thread_of_block() % LANES * NUMBERS_OF_LANE;
        double sum = sum_of_neighbours<NUMBERS_OF_LANE>(begin, count, [&](uint32_t at) { return number(first + at); });
        for (uint32_t distance = 1; distance < LANES; distance *= 2) {
            sum = sum + shuffle_xor(sum, distance);
        }
        sums.add(sum, i);
    }
    return sums.total();
}

/// Of a list for each lane, of number(first) and those behind it, the sum; all lanes of a warp call this. What is long is for
/// all of them, one list after the other, unless most lists are.
template <class Number>
FASTLBP_DEVICE double sum_of_each(uint32_t first, uint32_t count, const Number &number) {
    const uint32_t many = count_bits(lanes_where(count > 4 * NUMBERS_OF_THREAD));
    const bool is_long = count > NUMBERS_OF_THREAD * (many < 4 ? 4 : many);
    double sum = is_long ? 0.0 : sum_of_thread(count, [&](uint32_t i) { return number(first + i); });
    for (uint32_t rest = lanes_where(is_long); rest != 0; rest &= rest - 1) {
        const uint32_t lane = count_bits((rest & (~rest + 1)) - 1);
        const uint32_t first_of_lane = shuffle_from(first, lane), count_of_lane = shuffle_from(count, lane);
        const double of_lane = sum_of_warp(first_of_lane, count_of_lane, number);
        sum = thread_of_block() % LANES == lane ? of_lane : sum;
    }
    return sum;
}

/// The numbers of list `item` are number(offsets[item]) to number(offsets[item + 1] - 1).
struct List {
    uint32_t first, count;

    /// An empty one from `items` on.
    FASTLBP_DEVICE List(const uint32_t *offsets, uint32_t item, uint32_t items)
        : first(item < items ? offsets[item] : 0), count(item < items ? offsets[item + 1] - first : 0) {}
};

/// Calls take(sum, count) for the lists from `begin` on, before `end`, in some thread; all lanes of a warp call this.
template <class Number, class Take>
FASTLBP_DEVICE void sums_by_warp(const uint32_t *offsets, uint32_t begin, uint32_t end, const Number &number, const Take &take) {
    for (; begin < end; begin += LANES) {
        const uint32_t item = begin + thread_of_block() % LANES;
        const List list(offsets, item, end);
        const double sum = sum_of_each(list.first, list.count, number);
        if (item < end) {
            take(sum, list.count);
        }
    }
}

/// Calls take(sum, count) for the lists but those of long factors, in some thread; all threads of a grid call this. Few lists are
/// spread over all blocks, and neighbours are together.
template <class Number, class Take>
FASTLBP_DEVICE void sums_by_grid(const uint32_t *offsets, uint32_t items, const Number &number, const Take &take) {
    constexpr uint32_t TOGETHER = LANES < 8 ? LANES : 8;
    const uint32_t thread = thread_of_block();
    const uint32_t own = (thread / TOGETHER * blocks_of_grid() + block_of_grid()) * TOGETHER + thread % TOGETHER;
    for (uint32_t begin = 0; begin < items; begin += threads_of_grid()) {
        const List list(offsets, begin + own, items);
        const bool is_taken = list.count <= PART_OF_LIST;
        const double sum = sum_of_each(list.first, is_taken ? list.count : 0, number);
        if (begin + own < items && is_taken) {
            take(sum, list.count);
        }
    }
}

/// The sums of the parts of long factors; all threads of a grid call this, meet, and call sums_of_parts.
template <class Number>
FASTLBP_DEVICE void sum_parts(const LongFactors &long_factors, const Number &number) {
    for (uint32_t part = warp_of_grid(); part < long_factors.parts; part += warps_of_grid()) {
        const uint32_t first = long_factors.part_edges[2 * part], count = long_factors.part_edges[2 * part + 1];
        const double sum = sum_of_warp(first, count, number);
        if (thread_of_block() % LANES == 0) {
            long_factors.sums[part] = sum;
        }
    }
}

/// Then, as sums_by_grid, those of long factors.
template <class Take>
FASTLBP_DEVICE void sums_of_parts(const LongFactors &long_factors, const Take &take) {
    for (uint32_t begin = warp_of_grid() * LANES; begin < long_factors.count; begin += threads_of_grid()) {
        const uint32_t item = begin + thread_of_block() % LANES;
        const List parts(long_factors.first_parts, item, long_factors.count);
        const double sum = sum_of_each(parts.first, parts.count, [&](uint32_t part) { return long_factors.sums[part]; });
        if (item < long_factors.count) {
            const uint32_t last = parts.first + parts.count - 1;
            take(sum, (parts.count - 1) * PART_OF_LIST + long_factors.part_edges[2 * last + 1]);
        }
    }
}

}  // namespace fastlbp
