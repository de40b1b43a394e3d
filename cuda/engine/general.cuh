// The general program: a graph of any kinds of factors and any cardinalities, sums and maxima, damping, active sets.
// The structs are in interface.cuh.
#pragma once

#include "../arithmetic/damping.cuh"
#include "../arithmetic/flat.cuh"
#include "../arithmetic/terms.cuh"
#include "../arithmetic/threshold.cuh"
#include "control.cuh"
#include "groups.cuh"

namespace fastlbp {

struct General : GeneralData {
    FASTLBP_DEVICE uint32_t first_value(uint32_t variable) const {
        return variable_values ? variable_values[variable] : variable;
    }
    /// Stored values of a message of a variable: 1 for a binary one.
    FASTLBP_DEVICE uint32_t width(uint32_t variable) const {
        return variable_values ? variable_values[variable + 1] - variable_values[variable] : 1;
    }
    FASTLBP_DEVICE uint32_t input_of(uint32_t edge) const {
        return edge_inputs[edge];
    }
    FASTLBP_DEVICE uint32_t degree(uint32_t variable) const {
        return variable_offsets[variable + 1] - variable_offsets[variable];
    }
    FASTLBP_DEVICE const Packed *weights_of(uint32_t variable) const {
        return weights + first_value(variable);
    }
};

static_assert(sizeof(General) == sizeof(GeneralData), "functions only");

/// The groups of a span that have memory, and this thread's among them; it takes part if its number is below their
/// count.
struct Groups {
    uint32_t number;
    uint32_t count;
    void *memory;

    FASTLBP_DEVICE Groups(const General &g, uint32_t span)
        : number(group_of_grid(span)), count(smaller_of(groups_of_grid(span), g.scratch[span].count)) {
        memory = g.scratch[span].memory + number * g.scratch[span].bytes;
    }
};

}  // namespace fastlbp
