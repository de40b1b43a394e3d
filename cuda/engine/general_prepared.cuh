// Variables of many factors, of which a level reads many messages: all that they send is computed before the level's factors
// are, to `by_edge`, from where these take it. Made by src/engine/cuda/general/prepared.rs.
#pragma once

#include "general_delivery.cuh"

namespace fastlbp {

/// Null if a variable is never prepared.
FASTLBP_DEVICE PreparedState *prepared_state(const General &g, uint32_t variable) {
    const uint32_t number = g.prepared ? g.prepared[variable] : NOT_PREPARED;
    return number == NOT_PREPARED ? nullptr : g.prepared_states + number;
}

/// Whether a variable has been prepared for edges of a rank in this level.
FASTLBP_DEVICE bool is_prepared(const General &g, uint32_t level, uint32_t variable, uint32_t rank) {
    const PreparedState *const state = prepared_state(g, variable);
    return state && state->level == level && state->rank == rank;
}

/// What a variable sends to all of its factors, as edges of a rank see it; by a group with memory for it. Where certain
/// messages to it disagree, some reader finds that they do without its own, since more factors read it than it has states.
FASTLBP_DEVICE_COLD void prepare_variable(const General &g, const Pass &pass, uint32_t variable, uint32_t rank, void *room,
                                          const ThreadGroup &group) {
    const uint32_t *const inputs = g.slot_inputs + g.variable_offsets[variable];
    const Incoming incoming(g, pass.old_values, pass.new_values, variable, rank);
    if (is_observed(g.known[variable])) {
        for (uint32_t leaf = group.rank(); leaf < incoming.degree; leaf += group.size()) {
            store_observed(g, variable, g.by_edge + inputs[leaf]);
        }
        group.sync();
        return;
    }
    const VariableMemory memory(incoming, room);
    multiply_many(incoming, memory, group);
    if (is_contradictory(with_evidence(g, variable, memory), incoming.width) && group.rank() == 0) {
        note_met(pass.tally, variable);
    }
    if (incoming.width > 1) {
        send_many(g, variable, incoming, memory, group);
        return;
    }
    for (uint32_t block = group.rank(); block < memory.blocks; block += group.size()) {
        give_others(g, variable, incoming, memory, 0, block,
                    [&](uint32_t leaf, const Product &product) { g.by_edge[inputs[leaf]] = product.odds(); });
    }
    group.sync();
}

/// All variables that are prepared for a level; returns whether there are any, each thread the same. A barrier must come
/// before factors read them.
FASTLBP_DEVICE_COLD bool prepare_level(const General &g, const Pass &pass, uint32_t level) {
    bool any = false;
    for (uint32_t span = SPAN_BLOCK; span > SPAN_THREAD; --span) {
        const ItemList &list = g.prepared_items[span];
        const Groups groups(g, span);
        const uint32_t first = list.levels[level], end = list.levels[level + 1];
        any |= first != end;
        for (uint32_t i = first + groups.number; groups.number < groups.count && i < end; i += groups.count) {
            const uint32_t variable = list.items[i].factor, rank = list.items[i].first;
            const ThreadGroup group = {span};
            prepare_variable(g, pass, variable, rank, groups.memory, group);
            if (group.rank() == 0) {
                *prepared_state(g, variable) = {level, rank};
            }
        }
    }
    return any;
}

}  // namespace fastlbp
