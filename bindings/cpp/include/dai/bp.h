// SPDX-License-Identifier: MIT OR Apache-2.0
/// @file
/// @brief Belief propagation, by fastlbp.
#ifndef FASTLBP_DAI_BP_H
#define FASTLBP_DAI_BP_H

#include <dai/daialg.h>
#include <fastlbp/libdai.hpp>

#include <dai/decmap.h>
#include <dai/jtree.h>

namespace dai {

/// Loopy belief propagation, sum-product and max-product. See fastlbp::dai::BP, which has all of it; also
/// run(tol, minIters, maxIters, histLength) and newBelief(i) as in BINGO's version of libDAI.
class BP : public fastlbp::dai::BP {
public:
    /// Of an empty graph.
    BP() {}
    /// Of a copy of a graph; NOT_ALL_PROPERTIES_SPECIFIED, IMPOSSIBLE_TYPECAST, UNKNOWN_ENUM_VALUE.
    BP(const FactorGraph& fg, const PropertySet& opts) : fastlbp::dai::BP(fg, opts) {}

    BP* clone() const override { return new BP(*this); }
    BP* construct(const FactorGraph& fg, const PropertySet& opts) const override { return new BP(fg, opts); }
};

/// The inference algorithms by name, to be changed: the map owns them. At first there are BP, DECMAP, EXACT and JTREE.
inline std::map<std::string, InfAlg*>& builtinInfAlgs() {
    struct Registry : std::map<std::string, InfAlg*> {
        Registry() {
            (*this)["BP"] = new BP;
            (*this)["DECMAP"] = new DecMAP;
            (*this)["EXACT"] = new ExactInf;
            (*this)["JTREE"] = new JTree;
        }
        ~Registry() {
            for (auto& entry : *this)
                delete entry.second;
        }
    };
    static Registry registry;
    return registry;
}

} // namespace dai

#endif
