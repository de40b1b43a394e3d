// Messages of factors level by level.
#pragma once

#include "binary_gathered.cuh"
#include "completions.cuh"

namespace fastlbp {

/// Notes that certain messages disagree when one is computed from these.
__device__ __noinline__ inline void check_met(const Binary &g, uint32_t slot, uint64_t a, uint64_t b, uint64_t c,
                                              Tally *of_pass) {
    Certain certain = {0, 0};
    certain.count(Packed{a});
    certain.count(Packed{b});
    certain.count(Packed{c});
    if (certain.contradictory()) {
        note_met(of_pass, variable_of_slot(g, slot));
    }
}

/// A variable's message where it has five to eight factors.
__device__ __noinline__ inline Packed gather_eight(uint32_t slot, uint32_t fresh, const Block &pass) {
    Packed values[8];
    const uint32_t first = slot & ~7u;
    FASTLBP_UNROLL
    for (int i = 0; i < 8; ++i) {
        values[i] = read_mixed(pass, first + i, fresh >> i & 1);
    }
    Leaves leaves;
    leaves.set(values);
    bool contradictory;
    const Packed odds = leaves.others_of(Product::neutral(), slot & 7, contradictory);
    if (contradictory) {
        note_met(pass.of_pass, variable_of_slot(pass.g, slot));
    }
    return odds;
}

/// The message to an input of a factor from a variable with two to four factors, whose loads run together
/// with others'.
struct Few {
    Packed other, far_x, far_y;

    __device__ __forceinline__ void load(uint32_t input, uint32_t fresh, const Block &pass) {
        const uint32_t source = input >> SOURCE_SHIFT, slot = input & SLOT_MASK;
        other = far_x = far_y = Packed::one();
        if (source - SOURCE_TWO <= SOURCE_FOUR - SOURCE_TWO) {
            // The bits of `fresh` are those of the slots from the variable's first on.
            const uint32_t partner = slot ^ 1;
            other = read_mixed(pass, partner, fresh >> (source == SOURCE_TWO ? partner & 1 : partner & 3) & 1);
        }
        if (source == SOURCE_FOUR) {
            const uint32_t far = (slot & ~1u) ^ 2;
            far_x = read_mixed(pass, far, fresh >> (far & 3) & 1);
            far_y = read_mixed(pass, far + 1, fresh >> (far & 3) >> 1 & 1);
        }
    }

    __device__ __forceinline__ Packed message(uint32_t input, uint32_t fresh, const Block &pass) const {
        const uint32_t source = input >> SOURCE_SHIFT;
        if (source == SOURCE_FOUR) {
            if (other.is_certain() | far_x.is_certain() | far_y.is_certain()) {
                check_met(pass.g, input & SLOT_MASK, other.bits, far_x.bits, far_y.bits, pass.of_pass);
            }
            return send_three(far_x, far_y, other);
        }
        if (source == SOURCE_EIGHT) {
            return gather_eight(input & SLOT_MASK, fresh, pass);
        }
        return source == SOURCE_FALSE ? Packed::zero() : source == SOURCE_TRUE ? Packed::infinity() : other;
    }
};

/// Some messages of the factors of a level's tile, one by each thread. Words: numbers of coefficients, then
/// for each position, the head first, a row of inputs and a row that says which slots of the variable are
/// read anew (bits 0-7), and whether the edge is sent (SENT); `count` to a row.
template <int N>
__device__ __forceinline__ void level_factors(const Block &pass, const Words &words, uint32_t count) {
    const uint32_t lane = threadIdx.x % 32;
    if (lane >= count) {
        return;
    }
    uint32_t inputs[N], fresh[N];
    FASTLBP_UNROLL
    for (int i = 0; i < N; ++i) {
        inputs[i] = words[4 + count * (2 * i + 1) + lane];
        fresh[i] = words[4 + count * (2 * i + 2) + lane];
    }
    Few few[N];
    Packed old[N];
    FASTLBP_UNROLL
    for (int i = 0; i < N; ++i) {
        few[i].load(inputs[i], fresh[i], pass);
        old[i] = pass.from[inputs[i] & SLOT_MASK];
    }
    Packed values[N];
    FASTLBP_UNROLL
    for (int i = 0; i < N; ++i) {
        values[i] = few[i].message(inputs[i], fresh[i], pass);
    }
    small_horn_messages<SumProduct>(values, 0, pass.literals(words[4 + lane]));
    FASTLBP_UNROLL
    for (int i = 0; i < N; ++i) {
        if (fresh[i] & SENT) {
            store_message(inputs[i] & SLOT_MASK, values[i], old[i], pass);
        }
    }
}

/// Eight neighbouring messages of a hub from `leaf` on; for `fresh` see level_item.
__device__ __forceinline__ void load_hub(Leaves &leaves, const Block &pass, uint32_t first,
                                         uint32_t leaf, uint32_t fresh) {
    uint32_t is_new;
    if (fresh & LISTED) {
        is_new = pass.g.fresh[(fresh & ~LISTED) + leaf / 8];
    } else {
        const uint32_t count = fresh > leaf ? fresh - leaf : 0;
        is_new = count < 8 ? (1u << count) - 1 : 255;
    }
    Packed values[8];
    FASTLBP_UNROLL
    for (int i = 0; i < 8; ++i) {
        values[i] = (is_new >> i & 1 ? pass.to : pass.from)[first + leaf + i];
    }
    leaves.set(values);
}

/// What is above a piece of a hub with more than WARP_LEAVES messages.
__device__ __noinline__ inline Product above_piece(const Block &pass, uint32_t first, uint32_t count,
                                                   uint32_t own_piece, uint32_t fresh) {
    const uint32_t lane = threadIdx.x % 32;
    const uint32_t pieces = (count + WARP_LEAVES - 1) / WARP_LEAVES;
    Product total = Product::neutral();
    for (uint32_t piece = 0; piece < pieces; ++piece) {
        const uint32_t at = piece * WARP_LEAVES + 8 * lane;
        Leaves leaves;
        if (at < count) {
            load_hub(leaves, pass, first, at, fresh);
        } else {
            leaves.fill_with_ones();
        }
        Ascent ascent;
        ascent.climb(leaves.total(), 32);
        total = lane == piece ? ascent.total() : total;
    }
    return product_without(total, own_piece);
}

/// A hub's message to the factor at `slot`, by a warp; the hub has `count` slots from `first` on. Any hub.
__device__ __noinline__ inline uint64_t any_hub_message(const Block &pass, uint32_t first, uint32_t count,
                                                        uint32_t slot, uint32_t fresh) {
    const uint32_t lane = threadIdx.x % 32;
    const uint32_t leaf = slot - first, own_piece = leaf / WARP_LEAVES;
    const uint32_t at = own_piece * WARP_LEAVES + 8 * lane;
    Leaves leaves;
    if (at < count) {
        load_hub(leaves, pass, first, at, fresh);
    } else {
        leaves.fill_with_ones();
    }
    Ascent ascent;
    ascent.climb(leaves.total(), 32);
    Product above = ascent.above(32);
    if (count > WARP_LEAVES) {
        above = ascent.above_from(above_piece(pass, first, count, own_piece, fresh));
    }
    bool contradictory;
    const Packed odds = leaves.others_of(above, leaf % 8, contradictory);
    const int owner = leaf % WARP_LEAVES / 8;
    if (static_cast<int>(lane) == owner && contradictory) {
        note_met(pass.of_pass, variable_of_slot(pass.g, slot));
    }
    return __shfl_sync(~0u, odds.bits, owner);
}

/// Hubs of at most this many slots are read by 8 threads each.
constexpr uint32_t HUB_OF_GROUP = 64;

/// Some messages of a factor that has hubs among its variables, or many, by a warp. Words: number of
/// coefficients; number of hubs of up to HUB_OF_GROUP slots, and from bit 8 on of larger ones; then for
/// each thread up to the last of the body's, and then for the head, four: the input; what is read anew, as in
/// tiles; of a hub its first slot; flags (SENT, NEGATED), and of a hub from bit 12 on its number. Then for
/// each hub, the small ones first: the slot; the number of its first slots that are read anew or, with LISTED,
/// where in Binary::fresh a byte for each 8 of them stands; its first slot and number of slots.
template <int LEVELS>
__device__ __forceinline__ void level_item(const Block &pass, const Words &words, uint32_t arity) {
    const uint32_t lane = threadIdx.x % 32;
    const bool is_head = lane == (1 << LEVELS) - 1;
    const bool there = lane + 1 < arity || is_head;
    const uint32_t at = is_head ? arity - 1 : lane;
    uint32_t input = 0, fresh = 0, first = 0, more = 0;
    if (there) {
        input = words[4 + 4 * at];
        fresh = words[5 + 4 * at];
        first = words[6 + 4 * at];
        more = words[7 + 4 * at];
    }
    const uint32_t slot = input & SLOT_MASK, number = more >> COEFFICIENTS_SHIFT;
    const bool is_hub = there && input >> SOURCE_SHIFT == SOURCE_HUB;
    Few few;
    few.load(input, fresh, pass);
    const bool sent = there && (more & SENT) != 0;
    const Packed old = sent ? pass.from[slot] : Packed::one();
    const uint32_t small = words[2] & 255, hubs = small + (words[2] >> 8), records = 4 + 4 * arity;
    Packed value = Packed::one();
    for (uint32_t begin = 0; begin < small; begin += 4) {
        const uint32_t hub = begin + lane / 8, record = records + 4 * hub, leaf = 8 * (lane % 8);
        const bool mine = hub < small;
        const uint32_t hub_slot = mine ? words[record] : 0, hub_first = mine ? words[record + 2] : 0;
        Leaves leaves;
        if (mine && leaf < words[record + 3]) {
            load_hub(leaves, pass, hub_first, leaf, words[record + 1]);
        } else {
            leaves.fill_with_ones();
        }
        Ascent ascent;
        ascent.climb(leaves.total(), 8);
        const uint32_t own = hub_slot - hub_first;
        bool contradictory;
        const Packed odds = leaves.others_of(ascent.above(8), own % 8, contradictory);
        const int reader = 8 * (number % 4) + (slot - first) / 8;
        const Packed sent_by_hub = Packed{__shfl_sync(~0u, odds.bits, reader)};
        const bool disagreed = __shfl_sync(~0u, static_cast<int>(contradictory), reader) != 0;
        // Not if the hub is observed.
        if (is_hub && number / 4 == begin / 4 && number < small) {
            value = sent_by_hub;
            if (disagreed) {
                note_met(pass.of_pass, variable_of_slot(pass.g, slot));
            }
        }
    }
    for (uint32_t hub = small; hub < hubs; ++hub) {
        const uint32_t record = records + 4 * hub;
        if (!__any_sync(~0u, is_hub && number == hub)) {
            continue;
        }
        const Packed odds = Packed{any_hub_message(pass, words[record + 2], words[record + 3], words[record],
                                                   words[record + 1])};
        value = is_hub && number == hub ? odds : value;
    }
    // Also hubs that are observed.
    if (there && input >> SOURCE_SHIFT != SOURCE_HUB) {
        value = few.message(input, fresh, pass);
    }
    const Packed message = group_message<LEVELS>(value, there, (more & NEGATED) != 0,
                                                 pass.coefficients_of(words[1]), arity);
    if (sent) {
        store_message(slot, message, old, pass);
    }
}

/// A tile of factors of any number of variables.
__device__ __noinline__ inline void level_tile(const Block &pass, Words words, uint32_t arity, uint32_t count) {
    switch (arity) {
    case 2: level_factors<2>(pass, words, count); break;
    case 3: level_factors<3>(pass, words, count); break;
    case 4: level_factors<4>(pass, words, count); break;
    case 5: level_factors<5>(pass, words, count); break;
    default: level_factors<6>(pass, words, count); break;
    }
    __syncwarp();
}

/// All messages of a warp in a section. Returns how it ends.
__device__ __forceinline__ uint32_t send_section(const Block &pass, const WorkStream &stream,
                                                 const Completions &completions) {
    for (;;) {
        Words words;
        const uint4 unit = stream.unit(words);
        const uint32_t head = unit.x, kind = head % 4, arity = head >> 2 & 63, count = head >> 8 & 63;
        const bool waits = (unit.w & WAITS) != 0;
        if (kind == UNIT_GATHERED && count == 2) {
            GatheredFactors<2> factors;
            factors.prepare(pass, words, unit.y);
            if (waits) {
                completions.wait(unit.w >> COMPLETIONS_SHIFT);
            }
            factors.send(pass, words, arity);
        } else if (kind == UNIT_GATHERED && count == 3) {
            GatheredFactors<3> factors;
            factors.prepare(pass, words, unit.y);
            if (waits) {
                completions.wait(unit.w >> COMPLETIONS_SHIFT);
            }
            factors.send(pass, words, arity);
        } else if (kind != UNIT_EMPTY) {
            if (waits) {
                completions.wait(unit.w >> COMPLETIONS_SHIFT);
            }
            if (kind == UNIT_TILE) {
                level_tile(pass, words, arity, count);
            } else if (kind == UNIT_GATHERED) {
                gathered_wide_factors(pass, words, arity, unit.y);
            } else if (arity <= 8) {
                level_item<3>(pass, words, arity);
            } else {
                level_item<5>(pass, words, arity);
            }
        }
        if (unit.w & COMPLETES) {
            completions.complete();
        }
        stream.advance(head);
        if (unit.w & END_MASK) {
            return unit.w;
        }
    }
}

}  // namespace fastlbp
