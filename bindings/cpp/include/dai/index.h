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
    /// To the next joint state; after the last one it stays not valid.
    IndexFor& operator++() {
        if (!valid_)
            return *this;
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

/// A permutation of the dimensions of an array, and what it does to the numbers of its entries, which are counted with
/// the first dimension fastest.
class Permute {
public:
    /// Of no dimensions.
    Permute() {}
    /// The dimensions have `ranges` entries; dimension k of the permuted array is dimension `sigma[k]`.
    Permute(const std::vector<size_t>& ranges, const std::vector<size_t>& sigma)
        : ranges_(ranges), sigma_(sigma) {
        DAI_ASSERT(ranges.size() == sigma.size());
    }
    /// From variables in the order of some list, or, if `reverse`, in its opposite, to ascending labels.
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

    /// The number in the permuted array of the entry with a number in the array.
    size_t convertLinearIndex(size_t index) const {
        std::vector<size_t> place(ranges_.size());
        for (size_t i = 0; i < ranges_.size(); ++i) {
            place[i] = index % ranges_[i];
            index /= ranges_[i];
        }
        size_t converted = 0;
        for (size_t k = sigma_.size(); k-- > 0;)
            converted = converted * ranges_[sigma_[k]] + place[sigma_[k]];
        return converted;
    }
    /// The permutation.
    const std::vector<size_t>& sigma() const { return sigma_; }
    /// The permutation, to be changed.
    std::vector<size_t>& sigma() { return sigma_; }
    /// Numbers of entries of the dimensions.
    const std::vector<size_t>& ranges() const { return ranges_; }
    /// The dimension that becomes dimension i.
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

/// Nested loops, as many as there are ranges: goes through all lists of numbers that are less than these, the first one
/// fastest.
class multifor {
public:
    /// Of no loops: valid once.
    multifor() : linear_(0), valid_(true) {}
    /// From all 0 on.
    multifor(const std::vector<size_t>& ranges)
        : ranges_(ranges), indices_(ranges.size(), 0), linear_(0), valid_(true) {}

    /// How many came before.
    operator size_t() const {
        DAI_DEBASSERT(valid_);
        return linear_;
    }
    /// The number of loop k.
    size_t operator[](size_t k) const {
        DAI_DEBASSERT(valid_);
        return indices_.at(k);
    }
    /// To the next list; after the last one it stays not valid.
    multifor& operator++() {
        if (!valid_)
            return *this;
        ++linear_;
        for (size_t k = 0; k < indices_.size(); ++k) {
            if (++indices_[k] < ranges_[k])
                return *this;
            indices_[k] = 0;
        }
        valid_ = false;
        return *this;
    }
    /// To the next list.
    void operator++(int) { ++*this; }
    /// Back to the first list.
    multifor& reset() {
        indices_.assign(indices_.size(), 0);
        linear_ = 0;
        valid_ = true;
        return *this;
    }
    /// Whether there is such a list: not after the last one.
    bool valid() const { return valid_; }

private:
    std::vector<size_t> ranges_, indices_;
    size_t linear_;
    bool valid_;
};

/// A joint state of some variables, and the way through all of them.
class State {
public:
    typedef std::map<Var, size_t> states_type;
    typedef states_type::const_iterator const_iterator;

    /// Of no variables.
    State() : linear_(0), valid_(true) {}
    /// The joint state of some variables with a number.
    State(const VarSet& vars, BigInt linearState = 0) : linear_(linearState), valid_(true) {
        for (const Var& v : vars) {
            states_[v] = BigInt_size_t(linearState % v.states());
            linearState /= v.states();
        }
        DAI_ASSERT(linearState == 0);
    }
    /// Variable by variable.
    State(const states_type& states) : linear_(0), valid_(true) { insert(states.begin(), states.end()); }

    const_iterator begin() const { return states_.begin(); }
    const_iterator end() const { return states_.end(); }
    /// Its number.
    operator size_t() const {
        DAI_ASSERT(valid_);
        return BigInt_size_t(linear_);
    }
    /// Adds the states of further variables.
    template <typename Iterator>
    void insert(Iterator begin, Iterator end) {
        states_.insert(begin, end);
        BigInt stride = 1;
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
    BigInt operator()(const VarSet& vars) const {
        BigInt index = 0, stride = 1;
        for (const Var& v : vars) {
            index += stride * (*this)(v);
            stride *= v.states();
        }
        return index;
    }
    /// To the next joint state; after the last one it stays not valid.
    void operator++() {
        if (!valid_)
            return;
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
    BigInt linear_;
    bool valid_;
    states_type states_;
};

} // namespace dai

#endif
