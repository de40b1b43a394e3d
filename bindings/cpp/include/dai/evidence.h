// SPDX-License-Identifier: MIT OR Apache-2.0
/// @file
/// @brief Samples to learn from.
#ifndef FASTLBP_DAI_EVIDENCE_H
#define FASTLBP_DAI_EVIDENCE_H

#include <dai/daialg.h>

namespace dai {

/// Samples, each of which has the states of some variables.
class Evidence {
public:
    /// A sample.
    typedef std::map<Var, size_t> Observation;
    typedef std::vector<Observation>::iterator iterator;
    typedef std::vector<Observation>::const_iterator const_iterator;

    /// No samples.
    Evidence() {}
    /// The samples of a vector.
    Evidence(const std::vector<Observation>& samples) : samples_(samples) {}

    /// Adds the samples of a file in libDAI's format `.tab`: a line of the labels of variables, an empty line, and for
    /// each sample a line of their states; columns are separated by a tab, and a state that is not known is left out.
    /// INVALID_EVIDENCE_FILE, and then no sample is added.
    void addEvidenceTabFile(std::istream& stream, const FactorGraph& fg) {
        std::vector<Var> columns;
        for (const std::string& label : row(stream)) {
            for (const Var& v : fg.vars())
                if (toString(v.label()) == label)
                    columns.push_back(v);
            if (columns.empty() || toString(columns.back().label()) != label)
                DAI_THROWE(INVALID_EVIDENCE_FILE, "the graph has no variable '" + label + "'");
        }
        const std::vector<std::string> separator = row(stream);
        if (!stream || separator.size() != 1 || !separator[0].empty())
            DAI_THROWE(INVALID_EVIDENCE_FILE, "the second line should be empty");
        std::vector<Observation> all(samples_);
        // Samples begin in the third line.
        size_t line = 3;
        for (std::vector<std::string> fields = row(stream); stream; fields = row(stream), ++line) {
            if (fields.size() != columns.size())
                refuse(line, "has " + toString(fields.size()) + " columns instead of " + toString(columns.size()));
            all.push_back(Observation());
            for (size_t column = 0; column < columns.size(); ++column)
                if (!fields[column].empty())
                    all.back()[columns[column]] = parseState(fields[column], columns[column], line);
        }
        samples_.swap(all);
    }

    /// Number of samples.
    size_t nrSamples() const { return samples_.size(); }
    iterator begin() { return samples_.begin(); }
    const_iterator begin() const { return samples_.begin(); }
    iterator end() { return samples_.end(); }
    const_iterator end() const { return samples_.end(); }

private:
    // The columns of the next line.
    static std::vector<std::string> row(std::istream& stream) {
        std::string line;
        std::getline(stream, line);
        if (!line.empty() && line[line.size() - 1] == '\r')
            line.erase(line.size() - 1);
        return tokenizeString(line, true, "\t");
    }
    static size_t parseState(const std::string& text, const Var& v, size_t line) {
        // Longer ones are out of the range of any variable that has a table, and may be of size_t.
        if (text.find_first_not_of("0123456789") != std::string::npos || text.size() > 18)
            refuse(line, "has '" + text + "' for a state");
        const size_t state = fromString<size_t>(text);
        if (state >= v.states())
            refuse(line, "has state " + text + " of " + toString(v) + ", which has " + toString(v.states()));
        return state;
    }
    [[noreturn]] static void refuse(size_t line, const std::string& what) {
        DAI_THROWE(INVALID_EVIDENCE_FILE, "line " + toString(line) + " " + what);
    }

    std::vector<Observation> samples_;
};

} // namespace dai

#endif
