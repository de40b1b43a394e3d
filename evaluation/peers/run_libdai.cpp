// libDAI as a peer of evaluation/run: a `.fg` graph, so many synchronous iterations of its BP, and their time.
//
//     g++ -O2 -o run_libdai evaluation/peers/run_libdai.cpp -ldai -lgmpxx -lgmp
//     run_libdai GRAPH.fg EVIDENCE.obs ITERATIONS
//
// Reading and setting up are left out of the time, which is printed last, as `seconds S`. Observed variables are clamped.
#include <dai/alldai.h>

#include <chrono>
#include <exception>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <string>

namespace {

// Label and state of each observed variable.
std::map<std::size_t, std::size_t> observations(const char* path) {
    std::map<std::size_t, std::size_t> found;
    std::ifstream file(path);
    std::string line;
    while (std::getline(file, line)) {
        std::istringstream words(line);
        std::size_t label = 0;
        std::string value;
        if (words >> label >> value) {
            found[label] = value == "1" || value == "true" ? 1 : 0;
        }
    }
    return found;
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 4) {
        std::cerr << "usage: run_libdai GRAPH.fg EVIDENCE.obs ITERATIONS\n";
        return 2;
    }
    try {
        dai::FactorGraph graph;
        graph.ReadFromFile(arguments[1]);
        const std::map<std::size_t, std::size_t> observed = observations(arguments[2]);
        for (std::size_t variable = 0; variable < graph.nrVars(); ++variable) {
            const auto known = observed.find(graph.var(variable).label());
            if (known != observed.end()) {
                graph.clamp(variable, known->second);
            }
        }
        // A tolerance of 0 is never reached, so that all iterations are made.
        dai::PropertySet options;
        options.set("updates", std::string("PARALL"));
        options.set("tol", dai::Real(0));
        options.set("maxiter", std::size_t(std::stoul(arguments[3])));
        options.set("logdomain", false);
        options.set("verbose", std::size_t(0));
        dai::BP bp(graph, options);
        bp.init();
        const auto started = std::chrono::steady_clock::now();
        bp.run();
        const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - started;
        std::cout << graph.nrVars() << " variables, " << graph.nrFactors() << " factors, " << bp.Iterations()
                  << " iterations\n"
                  << "seconds " << seconds.count() << "\n";
    } catch (const std::exception& error) {
        std::cerr << error.what() << "\n";
        return 1;
    }
}
