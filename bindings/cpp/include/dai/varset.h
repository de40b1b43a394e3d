// SPDX-License-Identifier: MIT OR Apache-2.0
/// @file
/// @brief A set of variables, and the numbering of their joint states.
#ifndef FASTLBP_DAI_VARSET_H
#define FASTLBP_DAI_VARSET_H

#include <dai/smallset.h>
#include <dai/var.h>

namespace dai {

/// A set of variables, ascending by label. Joint states are numbered with the first variable fastest.
class VarSet : public SmallSet<Var> {
public:
    /// The empty set.
    VarSet() {}
    /// From a set.
    VarSet(const SmallSet<Var>& x) : SmallSet<Var>(x) {}
    /// One variable.
    VarSet(const Var& v) : SmallSet<Var>(v) {}
    /// Two variables.
    VarSet(const Var& a, const Var& b) : SmallSet<Var>(a, b) {}
    /// The variables of a range.
    template <typename Iterator>
    VarSet(Iterator begin, Iterator end, size_t sizeHint = 0) : SmallSet<Var>(begin, end, sizeHint) {}

    /// Number of joint states, 1 for the empty set.
    BigInt nrStates() const {
        BigInt product = 1;
        for (const Var& v : *this)
            product *= v.states();
        return product;
    }

    /// Writes {x0, x1}.
    friend std::ostream& operator<<(std::ostream& stream, const VarSet& x) {
        return stream << static_cast<const SmallSet<Var>&>(x);
    }
    /// As the operator << writes it.
    std::string toString() const { return dai::toString(*this); }
};

namespace detail {
/// Length of a table of some variables; ASSERTION_FAILED where it does not fit.
inline size_t table_length(const VarSet& vars) {
    size_t product = 1;
    for (const Var& v : vars) {
        DAI_ASSERT(v.states() == 0 || product <= static_cast<size_t>(-1) / v.states());
        product *= v.states();
    }
    return product;
}
} // namespace detail

/// The set of two variables.
inline VarSet operator|(const Var& a, const Var& b) { return VarSet(a, b); }

/// The number of a joint state given variable by variable; variables that are missing are in state 0.
inline size_t calcLinearState(const VarSet& vars, const std::map<Var, size_t>& states) {
    size_t index = 0, stride = 1;
    for (const Var& v : vars) {
        const std::map<Var, size_t>::const_iterator at = states.find(v);
        if (at != states.end())
            index += stride * at->second;
        stride *= v.states();
    }
    return index;
}

/// A joint state variable by variable, from its number.
inline std::map<Var, size_t> calcState(const VarSet& vars, size_t linearState) {
    std::map<Var, size_t> states;
    for (const Var& v : vars) {
        states[v] = linearState % v.states();
        linearState /= v.states();
    }
    DAI_ASSERT(linearState == 0);
    return states;
}

} // namespace dai

#endif
