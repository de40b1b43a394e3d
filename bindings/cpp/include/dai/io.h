// SPDX-License-Identifier: MIT OR Apache-2.0
/// @file
/// @brief Files of the UAI approximate inference challenge.
#ifndef FASTLBP_DAI_IO_H
#define FASTLBP_DAI_IO_H

#include <dai/factor.h>

namespace dai {

namespace detail {
/// Reads words of a file as numbers.
class UaiReader {
public:
    /// CANNOT_READ_FILE. Errors in the file get `code`.
    UaiReader(const char* filename, Exception::Code code) : filename_(filename), code_(code), stream_(filename) {
        if (!stream_)
            DAI_THROWE(CANNOT_READ_FILE, "'" + filename_ + "' cannot be opened");
    }
    /// All words of the next line that is not empty, none at the end of the file.
    std::vector<std::string> line() {
        std::string text;
        std::vector<std::string> words;
        while (words.empty() && std::getline(stream_, text))
            words = tokenizeString(text, false, " \t\r");
        return words;
    }
    /// The next word as a number.
    template <typename T>
    T number(const std::string& what) {
        std::string word;
        stream_ >> word;
        return parse<T>(word, what);
    }
    /// A word as a number.
    template <typename T>
    T parse(const std::string& word, const std::string& what) const {
        try {
            if (!word.empty() && word[0] != '-')
                return fromString<T>(word);
        } catch (const Exception&) {
        }
        fail(what + " is '" + word + "' and should be a number");
    }
    /// Ends with an error.
    [[noreturn]] void fail(const std::string& what) const {
        throw Exception(code_, __FILE__, FUNCTION_NAME, DAI_TOSTRING(__LINE__), filename_ + ": " + what);
    }

private:
    std::string filename_;
    Exception::Code code_;
    std::ifstream stream_;
};
} // namespace detail

/// Reads a graph in the format `.uai`: its variables, its factors, and how each was permuted, as the format has the last
/// variable fastest. From `verbose` 2 on, says on the standard output what it reads. CANNOT_READ_FILE,
/// INVALID_FACTORGRAPH_FILE, ASSERTION_FAILED where a factor has a wrong number of values or a variable twice.
inline void ReadUaiAieFactorGraphFile(const char* filename, size_t verbose, std::vector<Var>& vars,
                                      std::vector<Factor>& factors, std::vector<Permute>& permutations) {
    detail::UaiReader reader(filename, Exception::INVALID_FACTORGRAPH_FILE);
    vars.clear();
    factors.clear();
    permutations.clear();
    const std::vector<std::string> header = reader.line();
    if (header.size() != 1 || (header[0] != "BAYES" && header[0] != "MARKOV"))
        reader.fail("the first line should be BAYES or MARKOV");
    if (verbose >= 2)
        std::cout << "Reading " << header[0] << " network..." << std::endl;
    const size_t nrVars = reader.number<size_t>("the number of variables");
    if (verbose >= 2)
        std::cout << "Reading " << nrVars << " variables..." << std::endl;
    for (size_t i = 0; i < nrVars; ++i)
        vars.push_back(Var(i, reader.number<size_t>("the number of states of variable " + toString(i))));
    const size_t nrFactors = reader.number<size_t>("the number of factors");
    if (verbose >= 2)
        std::cout << "Reading " << nrFactors << " factors..." << std::endl;
    std::vector<std::vector<Var>> scopes;
    for (size_t I = 0; I < nrFactors; ++I) {
        scopes.push_back(std::vector<Var>());
        for (size_t left = reader.number<size_t>("the number of variables of factor " + toString(I)); left > 0; --left) {
            const size_t i = reader.number<size_t>("a variable of factor " + toString(I));
            if (i >= nrVars)
                reader.fail("factor " + toString(I) + " has variable " + toString(i) + " of " + toString(nrVars));
            scopes.back().push_back(vars[i]);
        }
    }
    for (size_t I = 0; I < nrFactors; ++I) {
        permutations.push_back(Permute(scopes[I], true));
        const size_t length = detail::table_length(VarSet(scopes[I].begin(), scopes[I].end()));
        DAI_ASSERT(reader.number<size_t>("the number of values of factor " + toString(I)) == length);
        // The values come first, so that a short file cannot ask for much memory.
        std::vector<Real> values;
        for (size_t k = 0; k < length; ++k)
            values.push_back(reader.number<Real>("a value of factor " + toString(I)));
        factors.push_back(Factor(VarSet(scopes[I].begin(), scopes[I].end()), Real(0)));
        for (size_t k = 0; k < length; ++k)
            factors.back().set(permutations.back().convertLinearIndex(k), values[k]);
    }
}

/// Reads observations in the format `.uai.evid`: for each case the states of variables by label; one case without any, if
/// the file says 0. The formats of the challenges of 2010 (the number of cases comes first), before (one case, a line for the
/// number of its observations) and after (one case, one line) are told apart by the words of the first two lines. CANNOT_READ_FILE, INVALID_EVIDENCE_FILE.
inline std::vector<std::map<size_t, size_t>> ReadUaiAieEvidenceFile(const char* filename, size_t verbose) {
    detail::UaiReader reader(filename, Exception::INVALID_EVIDENCE_FILE);
    std::vector<std::string> words;
    for (std::vector<std::string> line = reader.line(); !line.empty(); line = reader.line()) {
        // A case of 2010 is a line of its number of observations and two words for each.
        if ((words.empty() && line.size() != 1) || (words.size() == 1 && line.size() % 2 == 0))
            words.insert(words.begin(), "1");
        words.insert(words.end(), line.begin(), line.end());
    }
    if (words.empty())
        reader.fail("there is no number of cases");
    size_t at = 0;
    const auto next = [&](const char* what) {
        if (at == words.size())
            reader.fail(std::string("the file ends where ") + what + " should be");
        return reader.parse<size_t>(words[at++], what);
    };
    const size_t cases = next("the number of cases");
    if (verbose >= 2)
        std::cout << "Reading " << cases << " evidence cases..." << std::endl;
    std::vector<std::map<size_t, size_t>> result;
    for (size_t k = 0; k < cases; ++k) {
        result.push_back(std::map<size_t, size_t>());
        for (size_t left = next("a number of observations"); left > 0; --left) {
            const size_t label = next("a variable");
            result.back()[label] = next("a state");
        }
    }
    if (result.empty())
        result.resize(1);
    return result;
}

} // namespace dai

#endif
