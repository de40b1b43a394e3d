// Factors that are no conjunctions of literals, with their parameters where the host has put them
// (src/engine/cuda/parameters.rs): both programs have them.
#pragma once

#include "../arithmetic/terms.cuh"
#include "groups.cuh"

namespace fastlbp {

/// All messages of such a factor from its inputs, or the one to `target`, to `out`; 0/0 is a contradiction. `radices` are the
/// states of its variables, and `scratch` is the group's. All threads of the group call it, and meet at its end.
FASTLBP_DEVICE void other_messages(const FactorParameters &all, bool maxima, const Record &record, const uint32_t *radices,
                                   uint32_t arity, uint32_t target, const Packed *inputs, Packed *out, void *scratch,
                                   const ThreadGroup &group) {
    switch (record.kind) {
        case NOISY_FACTOR: {
            // Maxima take it as a table.
            const NoisyRecord &noisy = all.noisy[record.parameter];
            const NoisyLiterals c = {noisy.head, noisy.literals};
            share_noisy_messages(inputs, arity, record.head, c, target, out, scratch, group);
            return;
        }
        case TABLE_FACTOR: {
            const TableRecord &table = all.tables[record.parameter];
            const TableInputs factor = {table.values, table.entries, table.low, table.high, radices, arity, inputs};
            if (maxima) {
                table_messages_with<Max<Wide>>(factor, target, out, scratch, group);
            } else {
                table_messages<SumProduct>(factor, target, out, scratch, group);
            }
            return;
        }
        default: {
            if (group.rank() == 0) {
                const TermsRecord &terms = all.terms[record.parameter];
                const TermInputs factor = {terms.weights, terms.terms, terms.offsets, terms.literals, radices, arity, inputs};
                if (maxima && !terms.signed_weights) {
                    term_messages_with<Max<Wide>>(factor, terms.states, target, out, scratch);
                } else {
                    term_messages<SumProduct>(factor, terms.states, target, out, scratch);
                }
            }
            group.sync();
        }
    }
}

}  // namespace fastlbp
