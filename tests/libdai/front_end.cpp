// SPDX-License-Identifier: MIT OR Apache-2.0
// A front end as BINGO's: answers the commands of its line protocol on the graph of a file, by the calls of
// BINGO's version of libDAI and of the CausalBP extension. On a file `.fg` it runs on tables.
#include <dai/alldai.h>
#include <dai_ext/causal_bp.h>
#include <dai_ext/causal_fg.h>

#include <iostream>
#include <map>
#include <memory>
#include <string>

namespace {

/// What is asked of both kinds of graphs.
struct FrontEnd {
    virtual ~FrontEnd() {}
    virtual double run(double tolerance, size_t least, size_t most, size_t history) = 0;
    virtual double belief(size_t variable) const = 0;
    virtual double factor_belief(size_t factor, size_t index) const = 0;
    std::map<size_t, size_t> observed;
};

template <typename Graph, typename Algorithm>
struct Of : FrontEnd {
    Graph graph;
    std::unique_ptr<Algorithm> algorithm;

    explicit Of(const std::string& file) { graph.ReadFromFile(file.c_str()); }

    double run(double tolerance, size_t least, size_t most, size_t history) override {
        dai::PropertySet opts;
        opts.set("maxiter", static_cast<size_t>(10000000))
            .set("maxtime", dai::Real(57600))
            .set("tol", dai::Real(1e-6))
            .set("verb", static_cast<size_t>(1))
            .set("updates", std::string("SEQFIX"))
            .set("logdomain", true);
        algorithm.reset(new Algorithm(graph, opts));
        for (const auto& entry : observed)
            algorithm->clamp(entry.first, entry.second);
        algorithm->init();
        return algorithm->run(tolerance, least, most, history);
    }
    double belief(size_t variable) const override { return algorithm->newBelief(variable); }
    double factor_belief(size_t factor, size_t index) const override {
        return algorithm->beliefF(factor).get(index);
    }
};

} // namespace

int main(int argc, char** argv) {
    if (argc < 2)
        return 2;
    const std::string file = argv[1];
    std::unique_ptr<FrontEnd> front_end;
    if (file.size() > 3 && file.compare(file.size() - 3, 3, ".fg") == 0)
        front_end.reset(new Of<dai::FactorGraph, dai::BP>(file));
    else
        front_end.reset(new Of<dai::CausalFactorGraph, dai::CausalBP>(file));
    std::string command, value;
    size_t variable = 0, index = 0, least = 0, most = 0, history = 0;
    double tolerance = 0;
    while (std::cin >> command) {
        if (command == "BP" && std::cin >> tolerance >> least >> most >> history)
            std::cout << front_end->run(tolerance, least, most, history) << std::endl;
        else if (command == "Q" && std::cin >> variable)
            std::cout << front_end->belief(variable) << std::endl;
        else if (command == "FQ" && std::cin >> variable >> index)
            std::cout << front_end->factor_belief(variable, index) << std::endl;
        else if (command == "O" && std::cin >> variable >> value) {
            front_end->observed[variable] = value == "true" ? 1 : 0;
            std::cout << "O " << variable << " " << value << std::endl;
        } else if (command == "UC" && std::cin >> variable) {
            front_end->observed.erase(variable);
            std::cout << "UC " << variable << std::endl;
        } else if (command == "NL")
            std::cout << std::endl;
        else
            return 1;
    }
    return 0;
}
