// SPDX-License-Identifier: MIT OR Apache-2.0
// Factor graphs, their files, and changes of factors.
#include "check.hpp"

#include <dai/io.h>

using namespace dai;

static FactorGraph example() {
    const Var a(0, 2), b(4, 3), c(2, 2);
    return FactorGraph(std::vector<Factor>{Factor(VarSet(a, b), std::vector<Real>{1, 2, 3, 4, 5, 0}),
                                           Factor(VarSet(b, c), std::vector<Real>{0.1, 0.2, 0.3, 0.4, 0.5, 1.0 / 3}),
                                           Factor(c, std::vector<Real>{1, 3})});
}

static void structure() {
    const FactorGraph graph = example();
    SAME(graph.nrVars(), 3u);
    SAME(graph.nrFactors(), 3u);
    SAME(graph.nrEdges(), 5u);
    SAME(toString(graph.vars()), "(x0, x2, x4)");
    SAME(graph.findVar(Var(4, 3)), 2u);
    SAME(graph.findFactor(VarSet(Var(2, 2))), 2u);
    SAME(graph.findVars(VarSet(Var(4, 3), Var(0, 2))).size(), 2u);
    THROWS(graph.findVar(Var(9, 2)), OBJECT_NOT_FOUND, "x9");
    THROWS(graph.findFactor(VarSet(Var(0, 2))), OBJECT_NOT_FOUND, "{x0}");
    SAME(toString(graph.inds2vars(std::vector<size_t>{2, 0})), "{x0, x4}");
    SAME(toString(graph.Delta(0)), "{x0, x4}");
    SAME(toString(graph.delta(2)), "{x0, x2}");
    SAME(toString(graph.Deltai(2)) + toString(graph.deltai(2)), "{0, 1, 2}{0, 1}");
    CHECK(graph.isConnected() && graph.isTree() && graph.isPairwise() && !graph.isBinary());
    CHECK(graph.MarkovGraph().hasEdge(0, 2) && graph.MarkovGraph().nrEdges() == 2);
    CHECK(graph.isMaximal(0) && graph.isMaximal(1) && !graph.isMaximal(2) && graph.maximalFactor(2) == 1);
    SAME(toString(graph.maximalFactorDomains()), "({x0, x4}, {x2, x4})");
    SAME(toString(FactorGraph().maximalFactorDomains()), "({})");
    const FactorGraph maximal = graph.maximalFactors();
    CHECK(maximal.nrFactors() == 2 && maximal.factor(1) == graph.factor(1) * graph.factor(2));
    CHECK(FactorGraph().isTree() && FactorGraph().isConnected());
    size_t count = 0;
    bforeach (const Neighbor& I, graph.nbV(1)) {
        SAME(graph.nbF(I, I.dual).node, 1u);
        CHECK(graph.factor(I).vars().contains(graph.var(1)) && I.iter == count++);
    }
    SAME(count, 2u);
    NEAR(graph.logScore(std::vector<size_t>{1, 0, 1}), std::log(4.0 * 0.3 * 1));
    const std::vector<Var> order = {Var(4, 3), Var(0, 2), Var(2, 2)};
    const FactorGraph other(graph.factors().begin(), graph.factors().end(), order.begin(), order.end());
    SAME(other.findVar(Var(4, 3)), 0u);
    SAME(other.nbF(0, 1).node, 0u); // in a factor, labels ascend
}

static void changes() {
    FactorGraph graph = example();
    const FactorGraph before = graph;
    graph.clamp(0, 1, true);
    CHECK(graph.factor(0) == Factor(VarSet(Var(0, 2), Var(4, 3)), std::vector<Real>{0, 2, 0, 4, 0, 0}));
    THROWS(graph.backupFactor(0), MULTIPLE_UNDO, "factor 0");
    graph.restoreFactor(0);
    CHECK(graph.factor(0) == before.factor(0));
    THROWS(graph.restoreFactor(0), OBJECT_NOT_FOUND, "factor 0");
    graph.clampVar(2, std::vector<size_t>{0, 2}, true);
    CHECK(graph.factor(0)[2] == 0 && graph.factor(0)[4] == 5 && graph.factor(1)[3] == 0 && graph.factor(1)[4] == 0.5);
    graph.restoreFactors();
    CHECK(graph.factor(0) == before.factor(0) && graph.factor(1) == before.factor(1));
    graph.makeCavity(1, true);
    CHECK(graph.factor(2)[0] == 1 && graph.factor(2)[1] == 1 && graph.factor(0) == before.factor(0));
    graph.restoreFactors(VarSet(Var(4, 3))); // of factors 1 and 2 only the first has it
    CHECK(graph.factor(1) == before.factor(1) && graph.factor(2)[1] == 1);
    graph.restoreFactors();
    graph.clampFactor(2, std::vector<size_t>{1});
    CHECK(graph.factor(2)[0] == 0 && graph.factor(2)[1] == 3);
    THROWS(graph.setFactor(2, Factor(Var(0, 2))), ASSERTION_FAILED, "vars()");
    THROWS(graph.clamp(2, 3), ASSERTION_FAILED, "states()");
    THROWS(graph.clampVar(2, std::vector<size_t>{3}), ASSERTION_FAILED, "states()");
    THROWS(graph.clampFactor(2, std::vector<size_t>{2}), ASSERTION_FAILED, "nrStates()");
    // Factors that have the same variables after clamping become one.
    const Var x(0, 2), y(1, 2);
    const FactorGraph merged = FactorGraph(std::vector<Factor>{
        Factor(VarSet(x, y), std::vector<Real>{1, 2, 3, 4}), Factor(y, std::vector<Real>{5, 6}), Factor(x, 2.0),
        Factor(y, std::vector<Real>{7, 8})}).clamped(0, 1);
    SAME(merged.nrFactors(), 2u);
    CHECK(merged.factor(0) == Factor(x, std::vector<Real>{0, 2}) && merged.factor(1) == Factor(y, std::vector<Real>{70, 192}));
    const FactorGraph fixed = before.clamped(1, 1);
    const Factor pair = exact(before, VarSet(Var(2, 2), Var(4, 3)));
    NEAR(exact(fixed, VarSet(Var(4, 3))), pair.slice(VarSet(Var(2, 2)), 1).normalized());
    NEAR(exact_log_sum(fixed), exact_log_sum(before) + std::log(exact(before, VarSet(Var(2, 2)))[1]));
}

static void files(const std::string& data, const std::string& scratch) {
    const FactorGraph graph = example();
    const std::string file = scratch + "/example.fg";
    graph.WriteToFile(file.c_str(), 17);
    FactorGraph read;
    read.ReadFromFile(file.c_str());
    SAME(toString(read.vars()), toString(graph.vars()));
    for (size_t I = 0; I < graph.nrFactors(); ++I)
        CHECK(read.factor(I) == graph.factor(I));
    read.fromString(graph.toString());
    WITHIN(read.factor(1)[5], 1.0 / 3, 1e-6);

    read.fromString("# comment\n1 # one\n\n2\n4 0\n3 2\n# non-zeros\n2\n0 0.5\n5 1e-3"); // x4 is the faster one
    CHECK(read.factor(0) == Factor(std::vector<Var>{Var(4, 3), Var(0, 2)}, std::vector<Real>{0.5, 0, 0, 0, 0, 1e-3}));
    read.ReadFromFile((data + "/three_states.fg").c_str());
    CHECK(read.nrVars() > 0 && !read.isBinary());
    std::ostringstream dot;
    graph.printDot(dot);
    CHECK(dot.str().find("v4 -- f1;") != std::string::npos);

    THROWS(read.ReadFromFile((scratch + "/nothing.fg").c_str()), CANNOT_READ_FILE, "nothing.fg");
    THROWS(graph.WriteToFile((scratch + "/no/directory.fg").c_str()), CANNOT_WRITE_FILE, "directory.fg");
    const char* const wrong[][2] = {{"", "1: the file ends where the number of factors"},
                                    {"x", "1: the number of factors 'x'"},
                                    {"-1", "'-1' should be a whole number"},
                                    {"99999999999999999999999", "should be a whole number"},
                                    {"1\n\n1\n0\n0\n", "5: variable 0 has no states"},
                                    {"1\n1\n0\n2\n1\n2 1\n", "6: an index '2'"},
                                    {"1\n1\n0\n2\n1\n1 nan\n", "'nan' should be a finite number"},
                                    {"1\n1\n0\n2\n1\n1 1e999\n", "'1e999' should be"},
                                    {"1\n1\n0\n2\n1\n1\n", "ends where a value"},
                                    {"2\n1\n0\n2\n0\n1\n0\n3\n0\n", "3 states here and 2 before"}};
    for (const auto& entry : wrong) {
        THROWS(read.fromString(entry[0]), INVALID_FACTORGRAPH_FILE, entry[1]);
        std::ofstream(file.c_str()) << entry[0];
        THROWS(read.ReadFromFile(file.c_str()), INVALID_FACTORGRAPH_FILE, file + ":");
    }
    THROWS(read.fromString("1\n2\n0 0\n2 2\n0\n"), ASSERTION_FAILED, "in the factor twice");
    THROWS(read.fromString("1\n2\n0 1\n100000 100000\n0\n"), ASSERTION_FAILED, "more than 2^26");
    read.fromString("1\n1\n0\n2\n3\n1 1\n0 -2\n1 2\n"); // the last value of an index counts; negative ones are BP's business
    CHECK(read.factor(0) == Factor(Var(0, 2), std::vector<Real>{-2, 2}));
    SAME(FactorGraph(std::vector<Factor>(1, Factor(Var(3, 2), 0.5))).toString(),
         "1\n\n1\n3 \n2 \n2\n0        0.5\n1        0.5\n");
}

/// What is written to a file of the scratch directory.
static std::string written(const std::string& file, const std::string& text) {
    std::ofstream(file.c_str()) << text;
    return file;
}

static void uai_files(const std::string& scratch) {
    const std::string file = scratch + "/example.uai";
    std::vector<Var> vars;
    std::vector<Factor> factors;
    std::vector<Permute> permutations;
    // The last variable of a factor is the fastest.
    written(file, "MARKOV\r\n3\n2 3 2\n2\n1 0\n2 2 1\n\n2 0.25 0.75\n6 1 2 3\n4 5 6\n");
    ReadUaiAieFactorGraphFile(file.c_str(), 0, vars, factors, permutations);
    SAME(toString(vars), "(x0, x1, x2)");
    CHECK(factors.size() == 2 && factors[0] == Factor(vars[0], std::vector<Real>{0.25, 0.75}));
    CHECK(factors[1] == Factor(std::vector<Var>{vars[1], vars[2]}, std::vector<Real>{1, 2, 3, 4, 5, 6}));
    SAME(permutations.size(), 2u);
    const auto read = [&](const std::string& text) {
        ReadUaiAieFactorGraphFile(written(file, text).c_str(), 0, vars, factors, permutations);
    };
    const char* const wrong[][2] = {{"", "should be BAYES or MARKOV"},
                                    {"GRID\n", "should be BAYES or MARKOV"},
                                    {"BAYES\n-1", "the number of variables is '-1'"},
                                    {"BAYES\n1 2 1 1 1", "has variable 1 of 1"},
                                    {"BAYES\n1 2 1 1 0 2 1 x", "a value of factor 0 is 'x'"},
                                    {"BAYES\n1 2 1 1 0 2 1", "a value of factor 0 is ''"}};
    for (const auto& entry : wrong)
        THROWS(read(entry[0]), INVALID_FACTORGRAPH_FILE, entry[1]);
    THROWS(read("BAYES\n1 2 1 1 0 3 1 1 1"), ASSERTION_FAILED, "length");
    THROWS(read("BAYES\n1 2 1 2 0 0 4 1 1 1 1"), ASSERTION_FAILED, "sorted.size()");
    THROWS(ReadUaiAieFactorGraphFile((scratch + "/nothing").c_str(), 0, vars, factors, permutations), CANNOT_READ_FILE,
           "nothing");

    const auto evidence = [&](const std::string& text) {
        return toString(ReadUaiAieEvidenceFile(written(file, text).c_str(), 0));
    };
    SAME(evidence("0\n"), "({})");
    SAME(evidence("2\n0 1 2 0\n"), "({0->1, 2->0})");      // before 2010
    SAME(evidence("2\n1 0 1\n0\n"), "({0->1}, {})");       // of 2010
    SAME(evidence("2 0 1 2 0\n"), "({0->1, 2->0})");        // after it
    THROWS(evidence(""), INVALID_EVIDENCE_FILE, "no number of cases");
    THROWS(evidence("1\n2 0 1\n"), INVALID_EVIDENCE_FILE, "ends where a variable");
    THROWS(evidence("1\n1 0 x\n"), INVALID_EVIDENCE_FILE, "a state is 'x'");
}

void test_graphs(const std::string& data, const std::string& scratch) {
    structure();
    changes();
    files(data, scratch);
    uai_files(scratch);
}
