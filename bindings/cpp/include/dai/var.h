// SPDX-License-Identifier: MIT OR Apache-2.0
/// @file
/// @brief A discrete variable.
#ifndef FASTLBP_DAI_VAR_H
#define FASTLBP_DAI_VAR_H

#include <dai/util.h>

namespace dai {

/// A discrete variable: a label, which names and orders it, and its number of states, 1 or more.
class Var {
public:
    /// Label 0, no states.
    Var() : label_(0), states_(0) {}
    /// A label and a number of states.
    Var(size_t label, size_t states) : label_(label), states_(states) {}

    /// The label.
    size_t label() const { return label_; }
    /// The label, to be changed.
    size_t& label() { return label_; }
    /// The number of states.
    size_t states() const { return states_; }
    /// The number of states, to be changed.
    size_t& states() { return states_; }

    /// Variables are compared by their labels; those of equal labels must have equally many states.
    friend bool operator<(const Var& a, const Var& b) { return a.label_ < b.label_; }
    /// By labels.
    friend bool operator>(const Var& a, const Var& b) { return b < a; }
    /// By labels.
    friend bool operator<=(const Var& a, const Var& b) { return !(b < a); }
    /// By labels.
    friend bool operator>=(const Var& a, const Var& b) { return !(a < b); }
    /// By labels.
    friend bool operator==(const Var& a, const Var& b) {
        DAI_DEBASSERT(a.label_ != b.label_ || a.states_ == b.states_);
        return a.label_ == b.label_;
    }
    /// By labels.
    friend bool operator!=(const Var& a, const Var& b) { return !(a == b); }
    /// Writes the variable with label 3 as x3.
    friend std::ostream& operator<<(std::ostream& stream, const Var& v) { return stream << "x" << v.label_; }
    /// As the operator << writes it.
    std::string toString() const { return dai::toString(*this); }

private:
    size_t label_, states_;
};

} // namespace dai

#endif
