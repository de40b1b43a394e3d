// SPDX-License-Identifier: MIT OR Apache-2.0
// Expectation maximisation over belief propagation, on the graphs, samples and steps of libDAI's own test of it:
// PROGRAM TESTS, the directory of libDAI's tests. See with_both.hpp.
#include "with_both.hpp"

#include <dai/emalg.h>
#include <dai/evidence.h>

#include <fstream>

using namespace dai;

static Numbers learn(const std::string& tests, const char* const (&files)[3], const char* algorithm,
                     Rounding& rounding) {
    Numbers numbers;
    try {
        FactorGraph read;
        read.ReadFromFile((tests + files[0]).c_str());
        const FactorGraph fg = rounding.changed(read);
        const std::unique_ptr<InfAlg> bp(newInfAlgFromString(algorithm, fg));
        bp->init();
        Evidence evidence;
        std::ifstream samples((tests + files[1]).c_str());
        evidence.addEvidenceTabFile(samples, bp->fg());
        std::ifstream steps((tests + files[2]).c_str());
        EMAlg em(evidence, *bp, steps);
        while (!em.hasSatisfiedTermConditions())
            numbers.push_back(em.iterate());
        for (size_t I = 0; I < fg.nrFactors(); ++I)
            append(numbers, bp->fg().factor(I));
    } catch (const Exception& error) {
        numbers.assign(1, -static_cast<Real>(error.getCode()));
    }
    return numbers;
}

int main(int argc, char** argv) {
    if (argc != 2)
        return 2;
    register_where_wanted();
    const std::string tests = std::string(argv[1]) + "/";
    const char* const cases[][3] = {
        {"testem/2var.fg", "testem/2var_data.tab", "testem/2var.em"},
        {"testem/3var.fg", "testem/2var_data.tab", "testem/3var.em"},
        {"hoi1.fg", "testem/hoi1_data.tab", "testem/hoi1_share_f0_f2.em"},
        {"hoi1.fg", "testem/hoi1_data.tab", "testem/hoi1_share_f0_f1_f2.em"},
        {"hoi1.fg", "testem/hoi1_data.tab", "testem/hoi1_infer_f2.em"},
        // Files that are not what they should be.
        {"hoi1.fg", "testem/2var_data.tab", "testem/hoi1_infer_f2.em"},
        {"testem/2var.fg", "testem/hoi1_data.tab", "testem/2var.em"},
    };
    for (const auto& one : cases)
        for (const char* algorithm : {"BP[updates=SEQFIX,logdomain=0,tol=1e-12,maxiter=1000]",
                                      "BP[updates=SEQMAX,logdomain=0,tol=1e-12,maxiter=1000]",
                                      "BP[updates=PARALL,logdomain=1,tol=1e-12,maxiter=1000]",
                                      "BP[updates=SEQFIX,logdomain=1,tol=1e-12,maxiter=1000,damping=0.1]",
                                      "JTREE[updates=HUGIN]", "EXACT"})
            report(std::string("learning ") + one[0] + " " + one[2] + " " + algorithm,
                   std::string(algorithm).find("SEQMAX") != std::string::npos ? "SEQMAX" : "",
                   [&](Rounding& rounding) { return learn(tests, one, algorithm, rounding); });
    return 0;
}
