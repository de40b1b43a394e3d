// SPDX-License-Identifier: MIT OR Apache-2.0
/// @file
/// @brief fastlbp as an inference algorithm of libDAI: fastlbp::dai::BP, and its registration.
///
/// A program that makes its algorithms by name needs one line, in `main`:
///
/// @code
/// #include <fastlbp/libdai.hpp>
/// ...
/// fastlbp::dai::register_bp(); // newInfAlg("BP", ...) makes fastlbp's from here on
/// @endcode
///
/// C++11 and C++14, as libDAI itself; link libDAI and fastlbp, and let libDAI's include directory come
/// before this one. It works with the headers of fastlbp in place of libDAI's as well (C++11 and later).
/// docs/src/guides/libdai.md says what is served and what differs.
#ifndef FASTLBP_LIBDAI_HPP
#define FASTLBP_LIBDAI_HPP

#include <fastlbp/libdai_algorithm.hpp>
#include <fastlbp/libdai_tables.hpp>

#include <map>

namespace dai {
std::map<std::string, InfAlg*>& builtinInfAlgs();
}

namespace fastlbp {
namespace dai {

/// Loopy belief propagation by fastlbp as an algorithm of libDAI, with the interface of libDAI's own class
/// BP but for the record of sent messages. See Algorithm for runs and results.
class BP : public Algorithm< ::dai::DAIAlgFG> {
public:
    /// Of an empty graph.
    explicit BP(const std::string& name = "BP") : Algorithm(name) {}
    /// Of a copy of a graph; ASSERTION_FAILED where a mandatory property is missing, IMPOSSIBLE_TYPECAST or
    /// UNKNOWN_ENUM_VALUE for a wrong value.
    BP(const FactorGraph& fg, const PropertySet& opts, const std::string& name = "BP")
        : Algorithm(fg, opts, name) {}

    BP* clone() const override { return new BP(*this); }
    BP* construct(const FactorGraph& fg, const PropertySet& opts) const override {
        return new BP(fg, opts, name());
    }

    /// Replaces a factor, as all changes of factors do; it counts from the next run on.
    void setFactor(std::size_t I, const Factor& factor, bool backup = false) override {
        ::dai::DAIAlgFG::setFactor(I, factor, backup);
        changed_ = true;
    }

protected:
    std::size_t run_iterations(std::size_t iterations) override {
        return session_.run(props, props.updates.name(), props.inference.name(), iterations, FASTLBP_MEASURE_ALL);
    }

    // Hands the graph over where that is still to be done.
    void synchronise() const override {
        if (session_.has_graph() && !changed_)
            return;
        const Tables tables(*this);
        if (!session_.has_graph())
            number(tables.graph().get(), tables.labels(), tables.variables());
        session_.set_graph(tables.graph());
        changed_ = false;
    }

private:
    mutable bool changed_ = false; // whether factors have, since set_graph
};

/// Makes newInfAlg(name, ...) and newInfAlgFromString(name[...], ...) give fastlbp's belief propagation, in
/// place of what may have that name: "BP", so that programs change nothing else, or a new one such as
/// "FASTLBP". To be called in `main`, as libDAI's list of algorithms is made before it.
inline void register_bp(const std::string& name = "BP") {
    ::dai::InfAlg*& entry = ::dai::builtinInfAlgs()[name];
    delete entry;
    entry = nullptr;
    entry = new BP(name);
}

} // namespace dai
} // namespace fastlbp

// For builtinInfAlgs(); at the end, since fastlbp's own dai/bp.h includes this file for what is above.
#include <dai/alldai.h>

#endif
