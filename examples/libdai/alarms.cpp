// Which alarms of a program analysis are real? A front end of libDAI's belief propagation and of its CausalBP
// extension, as it was written for them; it compiles with fastlbp's headers in their place.
#include <dai/alldai.h>
#include <dai_ext/causal_bp.h>
#include <iostream>

using namespace dai;

int main() {
    // Two races, x3 and x4, each real where a path (x1) and an alias (x2) are; x4 is sometimes real without them.
    const Var path(1, 2), alias(2, 2), first(3, 2), second(4, 2);
    const CausalFactorGraph graph({CausalFactor(path, 0.6), CausalFactor(alias, 0.3),
                                   CausalFactor(first, path | alias, true, 0.95),
                                   CausalFactor(second, path | alias, true, 0.5, 0.05)});
    PropertySet opts;
    opts.set("tol", Real(1e-9)).set("updates", std::string("SEQFIX")).set("logdomain", true);

    CausalBP causal(graph, opts);
    causal.clamp(graph.findVar(second), 1); // the second one was inspected, and is real
    causal.init();
    causal.run();
    std::cout << "by conjunctions: P(x3) = " << causal.belief(first)[1] << "\n";

    // The same by tables and by name, as with any algorithm of libDAI.
    InfAlg* tables = newInfAlgFromString("BP[tol=1e-9,updates=SEQMAX,logdomain=0]", graph.factorgraph());
    tables->clamp(graph.findVar(second), 1);
    tables->init();
    tables->run();
    std::cout << "by tables:       " << tables->belief(first) << " after " << tables->Iterations()
              << " iterations, log Z = " << tables->logZ() << "\n";
    delete tables;
    return 0;
}
