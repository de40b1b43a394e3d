// SPDX-License-Identifier: MIT OR Apache-2.0
/// @file
/// @brief Ways through joint states.
#ifndef FASTLBP_DAI_INDEX_H
#define FASTLBP_DAI_INDEX_H

#include <dai/varset.h>

namespace dai {

/// Goes through the joint states of some variables in order, and tells for each the number of the joint
/// state of other variables: those that are among both have the same state, others count as 0.
class IndexFor {
public:
    /// Not valid.
    IndexFor() : index_(0), valid_(false) {}
    /// Through the states of `forVars`, telling those of `indexVars`.
    IndexFor(const VarSet& indexVars, const VarSet& forVars)
        : index_(0), valid_(true), state_(forVars.size(), 0) {
        for (const Var& v : forVars) {
            size_t stride = 1;
            for (const Var& w : indexVars) {
                if (w == v)
                    break;
                stride *= w.states();
            }
            strides_.push_back(indexVars.contains(v) ? stride : 0);
            ranges_.push_back(v.states());
        }
    }

    /// Back to the first joint state.
    IndexFor& reset() {
        std::fill(state_.begin(), state_.end(), size_t(0));
        index_ = 0;
        valid_ = true;
        return *this;
    }
    /// The number of the joint state of the index variables.
    operator size_t() const {
        DAI_ASSERT(valid_);
        return index_;
    }
    /// To the next joint state.
    IndexFor& operator++() {
        DAI_ASSERT(valid_);
        for (size_t i = 0; i < state_.size(); ++i) {
            index_ += strides_[i];
            if (++state_[i] < ranges_[i])
                return *this;
            index_ -= strides_[i] * ranges_[i];
            state_[i] = 0;
        }
        valid_ = false;
        return *this;
    }
    /// To the next joint state.
    void operator++(int) { ++*this; }
    /// Whether there is such a joint state: not after the last one.
    bool valid() const { return valid_; }

private:
    size_t index_;
    bool valid_;
    std::vector<size_t> state_, strides_, ranges_;
};

/// Numbers of joint states under another order of their variables.
class Permute {
public:
    /// Of no variables.
    Permute() {}
    /// Place i of the new order is place `sigma[i]` of the old one, whose places have `ranges` states.
    Permute(const std::vector<size_t>& ranges, const std::vector<size_t>& sigma)
        : ranges_(ranges), sigma_(sigma) {
        DAI_ASSERT(ranges.size() == sigma.size());
    }
    /// From ascending labels to the order of some variables, first one fastest (last one, if `reverse`).
    explicit Permute(const std::vector<Var>& vars, bool reverse = false) {
        const VarSet sorted(vars.begin(), vars.end());
        DAI_ASSERT(sorted.size() == vars.size());
        for (size_t i = 0; i < vars.size(); ++i)
            ranges_.push_back(vars[reverse ? vars.size() - 1 - i : i].states());
        for (const Var& v : sorted) {
            const size_t at = static_cast<size_t>(std::find(vars.begin(), vars.end(), v) - vars.begin());
            sigma_.push_back(reverse ? vars.size() - 1 - at : at);
        }
    }

    /// The number in the old order of the joint state with a number in the new one.
    size_t convertLinearIndex(size_t index) const {
        std::vector<size_t> strides(ranges_.size(), 1);
        for (size_t i = 1; i < ranges_.size(); ++i)
            strides[i] = strides[i - 1] * ranges_[i - 1];
        size_t converted = 0;
        for (size_t i = 0; i < sigma_.size(); ++i) {
            const size_t range = ranges_[sigma_[i]];
            converted += index % range * strides[sigma_[i]];
            index /= range;
        }
        return converted;
    }
    /// The places.
    const std::vector<size_t>& sigma() const { return sigma_; }
    /// The places, to be changed.
    std::vector<size_t>& sigma() { return sigma_; }
    /// Numbers of states in the old order.
    const std::vector<size_t>& ranges() const { return ranges_; }
    /// One place.
    size_t operator[](size_t i) const { return sigma_[i]; }
    /// The way back.
    Permute inverse() const {
        std::vector<size_t> ranges(ranges_.size()), sigma(sigma_.size());
        for (size_t i = 0; i < sigma_.size(); ++i) {
            ranges[i] = ranges_[sigma_[i]];
            sigma[sigma_[i]] = i;
        }
        return Permute(ranges, sigma);
    }

private:
    std::vector<size_t> ranges_, sigma_;
};

/// A joint state of some variables, and the way through all of them.
class State {
public:
    typedef std::map<Var, size_t> states_type;
    typedef states_type::const_iterator const_iterator;

    /// Of no variables.
    State() : linear_(0), valid_(true) {}
    /// The joint state of some variables with a number.
    State(const VarSet& vars, BigInt linearState = 0)
        : linear_(linearState), valid_(true), states_(calcState(vars, linearState)) {}
    /// Variable by variable.
    State(const states_type& states) : linear_(0), valid_(true) { insert(states.begin(), states.end()); }

    const_iterator begin() const { return states_.begin(); }
    const_iterator end() const { return states_.end(); }
    /// Its number.
    operator size_t() const {
        DAI_ASSERT(valid_);
        return linear_;
    }
    /// Adds the states of further variables.
    template <typename Iterator>
    void insert(Iterator begin, Iterator end) {
        states_.insert(begin, end);
        size_t stride = 1;
        linear_ = 0;
        for (const auto& entry : states_) {
            linear_ += stride * entry.second;
            stride *= entry.first.states();
        }
    }
    /// Variable by variable.
    const states_type& get() const { return states_; }
    /// Variable by variable.
    operator const states_type&() const { return states_; }
    /// State of a variable, 0 for one that is not there.
    size_t operator()(const Var& v) const {
        const const_iterator at = states_.find(v);
        return at == states_.end() ? 0 : at->second;
    }
    /// Number of the joint state of some of the variables.
    BigInt operator()(const VarSet& vars) const { return calcLinearState(vars, states_); }
    /// To the next joint state.
    void operator++() {
        DAI_ASSERT(valid_);
        ++linear_;
        for (auto& entry : states_) {
            if (++entry.second < entry.first.states())
                return;
            entry.second = 0;
        }
        valid_ = false;
    }
    /// To the next joint state.
    void operator++(int) { ++*this; }
    /// Whether there is such a joint state: not after the last one.
    bool valid() const { return valid_; }
    /// Back to the first joint state.
    void reset() {
        for (auto& entry : states_)
            entry.second = 0;
        linear_ = 0;
        valid_ = true;
    }

private:
    size_t linear_;
    bool valid_;
    states_type states_;
};

} // namespace dai

#endif
