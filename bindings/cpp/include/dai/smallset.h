// SPDX-License-Identifier: MIT OR Apache-2.0
/// @file
/// @brief A set of few elements.
#ifndef FASTLBP_DAI_SMALLSET_H
#define FASTLBP_DAI_SMALLSET_H

#include <dai/util.h>

namespace dai {

/// A set that is a sorted vector.
template <typename T>
class SmallSet {
public:
    typedef typename std::vector<T>::const_iterator const_iterator;
    typedef typename std::vector<T>::iterator iterator;
    typedef typename std::vector<T>::const_reverse_iterator const_reverse_iterator;
    typedef typename std::vector<T>::reverse_iterator reverse_iterator;

    /// The empty set.
    SmallSet() {}
    /// One element.
    SmallSet(const T& t) : elements_(1, t) {}
    /// Two elements, which may be equal.
    SmallSet(const T& a, const T& b) : elements_(1, a) { insert(b); }
    /// The elements of a range, in any order and any number of times. The hint has no default: two numbers
    /// would be taken for iterators. It is not used.
    template <typename Iterator>
    SmallSet(Iterator begin, Iterator end, size_t /*sizeHint*/) : elements_(begin, end) {
        std::sort(elements_.begin(), elements_.end());
        elements_.erase(std::unique(elements_.begin(), elements_.end()), elements_.end());
    }

    /// Adds an element.
    SmallSet& insert(const T& t) {
        const iterator at = std::lower_bound(elements_.begin(), elements_.end(), t);
        if (at == elements_.end() || t < *at)
            elements_.insert(at, t);
        return *this;
    }
    /// Takes an element away, if it is there.
    SmallSet& erase(const T& t) {
        const iterator at = std::lower_bound(elements_.begin(), elements_.end(), t);
        if (at != elements_.end() && !(t < *at))
            elements_.erase(at);
        return *this;
    }

    /// Difference.
    SmallSet operator/(const SmallSet& x) const {
        SmallSet result;
        std::set_difference(begin(), end(), x.begin(), x.end(), std::back_inserter(result.elements_));
        return result;
    }
    /// Union.
    SmallSet operator|(const SmallSet& x) const {
        SmallSet result;
        std::set_union(begin(), end(), x.begin(), x.end(), std::back_inserter(result.elements_));
        return result;
    }
    /// Intersection.
    SmallSet operator&(const SmallSet& x) const {
        SmallSet result;
        std::set_intersection(begin(), end(), x.begin(), x.end(), std::back_inserter(result.elements_));
        return result;
    }
    /// Takes the elements of x away.
    SmallSet& operator/=(const SmallSet& x) { return *this = *this / x; }
    /// Takes an element away.
    SmallSet& operator/=(const T& t) { return erase(t); }
    /// Adds the elements of x.
    SmallSet& operator|=(const SmallSet& x) { return *this = *this | x; }
    /// Adds an element.
    SmallSet& operator|=(const T& t) { return insert(t); }
    /// Keeps the elements of x.
    SmallSet& operator&=(const SmallSet& x) { return *this = *this & x; }

    /// Whether this is a subset of x.
    bool operator<<(const SmallSet& x) const {
        return std::includes(x.begin(), x.end(), begin(), end());
    }
    /// Whether x is a subset of this.
    bool operator>>(const SmallSet& x) const { return x << *this; }
    /// Whether there is a common element.
    bool intersects(const SmallSet& x) const { return !(*this & x).empty(); }
    /// Whether t is an element.
    bool contains(const T& t) const { return std::binary_search(begin(), end(), t); }
    /// Number of elements.
    size_t size() const { return elements_.size(); }
    /// Whether there are none.
    bool empty() const { return elements_.empty(); }
    /// The elements, ascending; whoever changes them keeps them so.
    std::vector<T>& elements() { return elements_; }
    /// The elements, ascending.
    const std::vector<T>& elements() const { return elements_; }

    iterator begin() { return elements_.begin(); }
    const_iterator begin() const { return elements_.begin(); }
    iterator end() { return elements_.end(); }
    const_iterator end() const { return elements_.end(); }
    reverse_iterator rbegin() { return elements_.rbegin(); }
    const_reverse_iterator rbegin() const { return elements_.rbegin(); }
    reverse_iterator rend() { return elements_.rend(); }
    const_reverse_iterator rend() const { return elements_.rend(); }
    /// The lowest element.
    T& front() { return elements_.front(); }
    /// The lowest element.
    const T& front() const { return elements_.front(); }
    /// The highest element.
    T& back() { return elements_.back(); }
    /// The highest element.
    const T& back() const { return elements_.back(); }

    friend bool operator==(const SmallSet& a, const SmallSet& b) { return a.elements_ == b.elements_; }
    friend bool operator!=(const SmallSet& a, const SmallSet& b) { return !(a == b); }
    /// By the elements from the lowest on.
    friend bool operator<(const SmallSet& a, const SmallSet& b) { return a.elements_ < b.elements_; }
    /// Writes {a, b, c}.
    friend std::ostream& operator<<(std::ostream& stream, const SmallSet& x) {
        return detail::write_list(stream, '{', '}', x, [&](const T& t) { stream << t; });
    }
    /// As the operator << writes it.
    std::string toString() const { return dai::toString(*this); }

private:
    std::vector<T> elements_;
};

} // namespace dai

#endif
