// SPDX-License-Identifier: MIT OR Apache-2.0
/**
 * @file graph.hpp
 * @brief Factor graphs: building, reading and writing them, and their contents.
 */
#ifndef FASTLBP_GRAPH_HPP
#define FASTLBP_GRAPH_HPP

#include <cstddef>
#include <cstdint>
#include <fastlbp/span.hpp>
#include <memory>
#include <vector>

namespace fastlbp {

/// In arrays of variable indices: no variable.
constexpr std::uint32_t no_variable = FASTLBP_NO_VARIABLE;

/// In the indicators of terms: any state.
constexpr std::int32_t wildcard = FASTLBP_WILDCARD;

/// Kind of a factor.
enum class FactorKind : std::uint32_t {
    /// A dense table.
    table = FASTLBP_FACTOR_TABLE,
    /// The prior of a binary variable.
    prior = FASTLBP_FACTOR_PRIOR,
    /// A noisy conjunction.
    conjunction = FASTLBP_FACTOR_AND,
    /// A noisy disjunction.
    disjunction = FASTLBP_FACTOR_OR,
    /// Values by the head and by whether all of some signed literals hold.
    signed_literals = FASTLBP_FACTOR_SIGNED,
    /// The same with literals that hold with a probability.
    noisy_literals = FASTLBP_FACTOR_NOISY,
    /// A sum of weighted terms over variables of any cardinalities.
    terms = FASTLBP_FACTOR_TERMS
};

/**
 * A factor graph over discrete variables.
 *
 * Variables are named by labels, any 64-bit numbers; their indices, from 0, are by ascending label.
 * Factors have indices in the order in which they were added, edges factor by factor and within a factor
 * by ascending variable. Adding factors and reading the graph may alternate: the compact form that reading
 * and sessions need is built when it is first needed, in O(variables log variables + edges + table
 * entries), so that all functions but those that add can throw what build() throws.
 *
 * Each function calls the function of fastlbp.h that its text names, which says more; all throw Error.
 * The lengths of arrays that belong together are compared (Status::invalid_argument). A function that
 * takes a `buffer` writes its result to the beginning of it and returns the number of elements written
 * (Status::buffer_too_small if it is too short); the one without makes a vector.
 *
 * Functions that are const may run at the same time on several threads. A graph that was moved from can be
 * destroyed and assigned to; everything else throws Status::null_pointer.
 */
class Graph : private detail::Reader<Graph, fastlbp_graph> {
    friend class detail::Reader<Graph, fastlbp_graph>;

public:
    /// An empty graph: fastlbp_graph_new().
    Graph() : Graph(detail::value<fastlbp_graph *>(&fastlbp_graph_new)) {}

    /// Takes over a handle of the C interface, which may be null.
    explicit Graph(fastlbp_graph *handle) noexcept : handle_(handle) {}

    /// Reads a graph from a file, whose suffix tells the format: `.causal_fg`, `.fg` or `.uai`, each also
    /// with `.gz`; Status::io, Status::parse with file and line: fastlbp_graph_read_file().
    static Graph read_file(const Text &path) {
        fastlbp_graph *handle = nullptr;
        detail::check(fastlbp_graph_read_file(path.c_str(), &handle));
        return Graph(handle);
    }

    /// Writes the graph in the format of the name's suffix; every number reads back to the same bits:
    /// fastlbp_graph_write_file().
    void write_file(const Text &path) const {
        detail::check(fastlbp_graph_write_file(get(), path.c_str()));
    }

    /// Reads a graph from what a file of this name would have in it: fastlbp_graph_read_memory().
    static Graph read_memory(Span<const std::uint8_t> bytes, const Text &name) {
        fastlbp_graph *handle = nullptr;
        detail::check(fastlbp_graph_read_memory(bytes.data(), bytes.size(), name.c_str(), &handle));
        return Graph(handle);
    }

    /// What write_file() would write to a file of this name: fastlbp_graph_write_memory().
    std::vector<std::uint8_t> write_memory(const Text &name) const {
        return of<const char *>(&fastlbp_graph_write_memory, name.c_str());
    }
    /// @copydoc write_memory(const Text &) const
    std::size_t write_memory(const Text &name, Span<std::uint8_t> buffer) const {
        return of<const char *>(&fastlbp_graph_write_memory, name.c_str(), buffer);
    }

    /// The handle, for calls of the C interface; the graph keeps it.
    fastlbp_graph *get() const noexcept { return handle_.get(); }

    /// The handle, which the caller has to free; the graph is as if moved from.
    fastlbp_graph *release() noexcept { return handle_.release(); }

    /// @name Adding variables and factors
    /// @{

    /// Declares a variable with `cardinality` >= 1 states. Labels that are not declared are binary variables:
    /// fastlbp_graph_add_variables().
    void add_variable(std::uint64_t label, std::uint32_t cardinality) {
        add_variables({label}, {cardinality});
    }

    /// Declares many variables, or none if one is wrong: fastlbp_graph_add_variables().
    void add_variables(Span<const std::uint64_t> labels, Span<const std::uint32_t> cardinalities) {
        detail::check_length("cardinalities", cardinalities.size(), labels.size());
        detail::check(
            fastlbp_graph_add_variables(get(), labels.data(), cardinalities.data(), labels.size()));
    }

    /// Adds the prior of a binary variable, P(x = 1) = p: fastlbp_graph_add_prior().
    void add_prior(std::uint64_t label, double p) {
        detail::check(fastlbp_graph_add_prior(get(), label, p));
    }

    /// Adds a noisy conjunction: P(head = 1) = p if the whole body is true, and q otherwise:
    /// fastlbp_graph_add_and().
    void add_and(std::uint64_t head, Span<const std::uint64_t> body, double p, double q) {
        detail::check(fastlbp_graph_add_and(get(), head, body.data(), body.size(), p, q));
    }

    /// Adds a noisy disjunction: P(head = 0) = p if the whole body is false, and q otherwise:
    /// fastlbp_graph_add_or().
    void add_or(std::uint64_t head, Span<const std::uint64_t> body, double p, double q) {
        detail::check(fastlbp_graph_add_or(get(), head, body.data(), body.size(), p, q));
    }

    /// Adds many priors, AND and OR factors, or none if one is wrong. Factor i has the kind `kinds[i]`, the
    /// head `heads[i]`, the body `bodies[body_offsets[i]]` up to, but not including,
    /// `bodies[body_offsets[i + 1]]`, and the probabilities `p[i]` and `q[i]`: fastlbp_graph_add_factors().
    void add_factors(Span<const FactorKind> kinds, Span<const std::uint64_t> heads,
                     Span<const std::size_t> body_offsets, Span<const std::uint64_t> bodies,
                     Span<const double> p, Span<const double> q) {
        const std::size_t count = kinds.size();
        detail::check_length("heads", heads.size(), count);
        check_offsets("body_offsets", body_offsets, count);
        detail::check_length("p", p.size(), count);
        detail::check_length("q", q.size(), count);
        std::vector<std::uint32_t> numbers;
        numbers.reserve(count);
        for (FactorKind kind : kinds)
            numbers.push_back(static_cast<std::uint32_t>(kind));
        detail::check(fastlbp_graph_add_factors(get(), count, numbers.data(), heads.data(),
                                                body_offsets.data(), bodies.data(), bodies.size(),
                                                p.data(), q.data()));
    }

    /// Adds a dense table, the first variable of the scope fastest; `values` has one value per joint state:
    /// fastlbp_graph_add_table().
    void add_table(Span<const std::uint64_t> scope, Span<const double> values) {
        detail::check(fastlbp_graph_add_table(get(), scope.data(), scope.size(), values.data(),
                                              values.size()));
    }

    /// Adds many dense tables, or none if one is wrong; offsets as in add_factors(), one more than tables:
    /// fastlbp_graph_add_tables().
    void add_tables(Span<const std::size_t> scope_offsets, Span<const std::uint64_t> scopes,
                    Span<const std::size_t> value_offsets, Span<const double> values) {
        const std::size_t count = offset_count(scope_offsets);
        check_offsets("value_offsets", value_offsets, count);
        detail::check(fastlbp_graph_add_tables(get(), count, scope_offsets.data(), scopes.data(),
                                               scopes.size(), value_offsets.data(), values.data(),
                                               values.size()));
    }

    /// Adds a factor decided by a conjunction of signed literals: `negated[i]` is 0 for the literal
    /// `body[i]` = 1 and 1 for `body[i]` = 0. `values` are f(head = 1 | all hold), f(head = 0 | all hold),
    /// f(head = 1 | one fails), f(head = 0 | one fails): fastlbp_graph_add_signed().
    void add_signed(std::uint64_t head, Span<const std::uint64_t> body, Span<const std::uint8_t> negated,
                    Span<const double> values) {
        detail::check_length("negated", negated.size(), body.size());
        detail::check_length("values", values.size(), 4);
        detail::check(fastlbp_graph_add_signed(get(), head, body.data(), negated.data(), body.size(),
                                               values.data()));
    }

    /// Adds a noisy conjunction of signed literals: P(head = 1) = p if all hold, and q otherwise; add_signed().
    void add_signed_and(std::uint64_t head, Span<const std::uint64_t> body,
                        Span<const std::uint8_t> negated, double p, double q) {
        add_signed(head, body, negated, {p, 1 - p, q, 1 - q});
    }

    /// Adds a noisy disjunction of signed literals: P(head = 0) = p if none holds, and q otherwise; add_signed().
    void add_signed_or(std::uint64_t head, Span<const std::uint64_t> body,
                       Span<const std::uint8_t> negated, double p, double q) {
        add_signed(head, body, turned(negated), {1 - p, p, 1 - q, q});
    }

    /// Adds a clause: `satisfied` where one of the signed literals holds, `violated` where none does; add_signed().
    /// Status::invalid_argument for a clause without literals.
    void add_clause(Span<const std::uint64_t> variables, Span<const std::uint8_t> negated,
                    double satisfied, double violated) {
        detail::check_length("negated", negated.size(), variables.size());
        if (variables.size() == 0)
            throw Error(Status::invalid_argument, "a clause without literals: one is needed at least");
        // The first literal decides where all others are violated.
        const std::vector<std::uint8_t> signs = turned({negated.data() + 1, negated.size() - 1});
        const bool is_negated = negated[0] != 0;
        add_signed(variables[0], {variables.data() + 1, signs.size()}, signs,
                   {is_negated ? violated : satisfied, is_negated ? satisfied : violated, satisfied,
                    satisfied});
    }

    /// Adds many factors as add_signed(), or none if one is wrong; factor i has the values `values[4 * i]` to
    /// `values[4 * i + 3]`: fastlbp_graph_add_signed_factors().
    void add_signed_factors(Span<const std::uint64_t> heads, Span<const std::size_t> body_offsets,
                            Span<const std::uint64_t> bodies, Span<const std::uint8_t> negated,
                            Span<const double> values) {
        const std::size_t count = heads.size();
        check_offsets("body_offsets", body_offsets, count);
        detail::check_length("negated", negated.size(), bodies.size());
        detail::check_length("values", values.size(), 4 * count);
        detail::check(fastlbp_graph_add_signed_factors(get(), count, heads.data(), body_offsets.data(),
                                                       bodies.data(), negated.data(), bodies.size(),
                                                       values.data()));
    }

    /// Adds a factor decided by a conjunction of noisy literals: literal i holds and fails with the
    /// probabilities `literals[4 * i]` and `literals[4 * i + 1]` if `body[i]` is 0, and `literals[4 * i + 2]` and
    /// `literals[4 * i + 3]` if it is 1; `values` as in add_signed(): fastlbp_graph_add_noisy().
    void add_noisy(std::uint64_t head, Span<const std::uint64_t> body, Span<const double> literals,
                   Span<const double> values) {
        detail::check_length("literals", literals.size(), 4 * body.size());
        detail::check_length("values", values.size(), 4);
        detail::check(fastlbp_graph_add_noisy(get(), head, body.data(), literals.data(), body.size(),
                                              values.data()));
    }

    /// Adds a noisy-OR: `links[i]` is the probability that `body[i]` = 1 alone causes head = 1, `leak` that of
    /// head = 1 without any cause; add_noisy().
    void add_noisy_or(std::uint64_t head, Span<const std::uint64_t> body, Span<const double> links,
                      double leak) {
        detail::check_length("links", links.size(), body.size());
        std::vector<double> literals;
        for (double link : links)
            literals.insert(literals.end(), {1.0, 0.0, 1 - link, link});
        add_noisy(head, body, literals, {leak, 1 - leak, 1.0, 0.0});
    }

    /// Adds a noisy-AND: `links[i]` is the probability that head = 1 survives `body[i]` = 0, `p` that of
    /// head = 1 if the whole body is true; add_noisy().
    void add_noisy_and(std::uint64_t head, Span<const std::uint64_t> body, Span<const double> links,
                       double p) {
        detail::check_length("links", links.size(), body.size());
        std::vector<double> literals;
        for (double link : links)
            literals.insert(literals.end(), {link, 1 - link, 1.0, 0.0});
        add_noisy(head, body, literals, {p, 1 - p, 0.0, 1.0});
    }

    /// Adds a sum of weighted terms: term t has the weight `weights[t]` and wants variable i of the scope in
    /// the state `indicators[t * scope.size() + i]`, or in any if that is ::fastlbp::wildcard:
    /// fastlbp_graph_add_terms().
    void add_terms(Span<const std::uint64_t> scope, Span<const double> weights,
                   Span<const std::int32_t> indicators) {
        detail::check(fastlbp_graph_add_terms(get(), scope.data(), scope.size(), weights.data(),
                                              weights.size(), indicators.data(), indicators.size()));
    }

    /// Adds many factors as add_terms(), or none if one is wrong; offsets as in add_factors(), one more than
    /// factors: fastlbp_graph_add_term_factors().
    void add_term_factors(Span<const std::size_t> scope_offsets, Span<const std::uint64_t> scopes,
                          Span<const std::size_t> term_offsets, Span<const double> weights,
                          Span<const std::int32_t> indicators) {
        const std::size_t count = offset_count(scope_offsets);
        check_offsets("term_offsets", term_offsets, count);
        detail::check(fastlbp_graph_add_term_factors(
            get(), count, scope_offsets.data(), scopes.data(), scopes.size(), term_offsets.data(),
            weights.data(), weights.size(), indicators.data(), indicators.size()));
    }

    /// Checks the graph and builds its compact form now; Status::invalid_argument, Status::out_of_range or
    /// Status::limit_exceeded if it has errors, after which it can only be destroyed: fastlbp_graph_build().
    void build() const { detail::check(fastlbp_graph_build(get())); }

    /// @}
    /// @name Variables
    /// @{

    /// Number of variables: fastlbp_graph_count().
    std::size_t variable_count() const { return count(FASTLBP_COUNT_VARIABLES); }

    /// Number of factors: fastlbp_graph_count().
    std::size_t factor_count() const { return count(FASTLBP_COUNT_FACTORS); }

    /// Number of pairs of a factor and one of its variables: fastlbp_graph_count().
    std::size_t edge_count() const { return count(FASTLBP_COUNT_EDGES); }

    /// Sum of all cardinalities, the length of all marginals together: fastlbp_graph_count().
    std::size_t state_count() const { return count(FASTLBP_COUNT_STATES); }

    /// Bytes of memory that the graph's arrays take; a session has its own beside it: fastlbp_graph_count().
    std::size_t byte_count() const { return count(FASTLBP_COUNT_BYTES); }

    /// Labels of all variables, ascending: fastlbp_graph_labels().
    std::vector<std::uint64_t> labels() const { return all(&fastlbp_graph_labels); }
    /// @copydoc labels() const
    std::size_t labels(Span<std::uint64_t> buffer) const { return all(&fastlbp_graph_labels, buffer); }

    /// Index of the variable with a label, Status::out_of_range if there is none:
    /// fastlbp_graph_variables_of_labels().
    std::size_t variable_of_label(std::uint64_t label) const { return variables_of_labels({label})[0]; }

    /// Indices of the variables with some labels: fastlbp_graph_variables_of_labels().
    std::vector<std::uint32_t> variables_of_labels(Span<const std::uint64_t> labels) const {
        std::vector<std::uint32_t> variables(labels.size());
        variables_of_labels(labels, variables);
        return variables;
    }
    /// @copydoc variables_of_labels(Span<const std::uint64_t>) const
    /// `buffer` must be as long as `labels`.
    void variables_of_labels(Span<const std::uint64_t> labels, Span<std::uint32_t> buffer) const {
        detail::check_length("buffer", buffer.size(), labels.size());
        detail::check(
            fastlbp_graph_variables_of_labels(get(), labels.data(), labels.size(), buffer.data()));
    }

    /// Numbers of states of all variables: fastlbp_graph_cardinalities().
    std::vector<std::uint32_t> cardinalities() const { return all(&fastlbp_graph_cardinalities); }
    /// @copydoc cardinalities() const
    std::size_t cardinalities(Span<std::uint32_t> buffer) const {
        return all(&fastlbp_graph_cardinalities, buffer);
    }

    /// @}
    /// @name Factors and edges
    /// @{

    /// Kinds of all factors: fastlbp_graph_factor_kinds().
    std::vector<FactorKind> factor_kinds() const {
        std::vector<FactorKind> kinds;
        for (std::uint32_t kind : all(&fastlbp_graph_factor_kinds))
            kinds.push_back(static_cast<FactorKind>(kind));
        return kinds;
    }

    /// Heads of all factors, ::fastlbp::no_variable for a table and for terms: fastlbp_graph_factor_heads().
    std::vector<std::uint32_t> factor_heads() const { return all(&fastlbp_graph_factor_heads); }
    /// @copydoc factor_heads() const
    std::size_t factor_heads(Span<std::uint32_t> buffer) const {
        return all(&fastlbp_graph_factor_heads, buffer);
    }

    /// Where the edges of each factor start, with the number of edges at the end:
    /// fastlbp_graph_factor_offsets().
    std::vector<std::size_t> factor_offsets() const { return all(&fastlbp_graph_factor_offsets); }
    /// @copydoc factor_offsets() const
    std::size_t factor_offsets(Span<std::size_t> buffer) const {
        return all(&fastlbp_graph_factor_offsets, buffer);
    }

    /// The variable of each edge: fastlbp_graph_edge_variables().
    std::vector<std::uint32_t> edge_variables() const { return all(&fastlbp_graph_edge_variables); }
    /// @copydoc edge_variables() const
    std::size_t edge_variables(Span<std::uint32_t> buffer) const {
        return all(&fastlbp_graph_edge_variables, buffer);
    }

    /// The variables of a factor, ascending: fastlbp_graph_factor_variables().
    std::vector<std::uint32_t> factor_variables(std::size_t factor) const {
        return of(&fastlbp_graph_factor_variables, factor);
    }
    /// @copydoc factor_variables(std::size_t) const
    std::size_t factor_variables(std::size_t factor, Span<std::uint32_t> buffer) const {
        return of(&fastlbp_graph_factor_variables, factor, buffer);
    }

    /// A factor of any kind as a table over its ascending variables, the lowest fastest:
    /// fastlbp_graph_factor_values().
    std::vector<double> factor_values(std::size_t factor) const {
        return of(&fastlbp_graph_factor_values, factor);
    }
    /// @copydoc factor_values(std::size_t) const
    std::size_t factor_values(std::size_t factor, Span<double> buffer) const {
        return of(&fastlbp_graph_factor_values, factor, buffer);
    }

    /// The parameters of a factor, which its kind gives a meaning: fastlbp_graph_factor_parameters().
    std::vector<double> factor_parameters(std::size_t factor) const {
        return of(&fastlbp_graph_factor_parameters, factor);
    }
    /// @copydoc factor_parameters(std::size_t) const
    std::size_t factor_parameters(std::size_t factor, Span<double> buffer) const {
        return of(&fastlbp_graph_factor_parameters, factor, buffer);
    }

    /// The states that a factor's conditions want of its ascending variables, ::fastlbp::wildcard for any; for TERMS
    /// term by term: fastlbp_graph_factor_indicators().
    std::vector<std::int32_t> factor_indicators(std::size_t factor) const {
        return of(&fastlbp_graph_factor_indicators, factor);
    }
    /// @copydoc factor_indicators(std::size_t) const
    std::size_t factor_indicators(std::size_t factor, Span<std::int32_t> buffer) const {
        return of(&fastlbp_graph_factor_indicators, factor, buffer);
    }

    /// @}

private:
    std::size_t count(std::uint32_t what) const {
        return detail::value<std::size_t>(
            [&](std::size_t *out) { return fastlbp_graph_count(get(), what, out); });
    }

    // The signs of the negated literals.
    static std::vector<std::uint8_t> turned(Span<const std::uint8_t> negated) {
        std::vector<std::uint8_t> signs;
        for (std::uint8_t sign : negated)
            signs.push_back(sign == 0 ? 1 : sign == 1 ? 0 : sign); // another number is refused by the library
        return signs;
    }

    // Number of factors that an array of offsets cuts out: an empty array is that of none.
    static std::size_t offset_count(Span<const std::size_t> offsets) {
        return offsets.size() == 0 ? 0 : offsets.size() - 1;
    }
    static void check_offsets(const char *name, Span<const std::size_t> offsets, std::size_t count) {
        if (count != 0 || offsets.size() != 0)
            detail::check_length(name, offsets.size(), count + 1);
    }

    struct Free {
        void operator()(fastlbp_graph *handle) const noexcept { fastlbp_graph_free(handle); }
    };
    std::unique_ptr<fastlbp_graph, Free> handle_;
};

} // namespace fastlbp

#endif
