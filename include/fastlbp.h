/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Made from src/ffi by cbindgen; see tests/header.rs. Do not edit. */

/**
 * @file fastlbp.h
 * @brief fastlbp: belief propagation on factor graphs, for probabilistic program analysis.
 *
 * A `fastlbp_graph` is a factor graph: discrete variables, and factors that are dense tables, priors,
 * noisy conjunctions (AND, the probabilistic Horn clauses), noisy disjunctions (OR),
 * conjunctions of signed literals (also CNF clauses), noisy-OR and noisy-AND, or sums of weighted terms.
 * A `fastlbp_bp` is a session of belief propagation on one: an update schedule, evidence, messages,
 * and the results of the last run. For a graph, schedule, evidence and number of iterations, results are
 * the same bits on any number of threads and any backend.
 *
 * @code
 * #include <fastlbp.h>
 * #include <stdio.h>
 *
 * static int failed(const char *what) {
 *     fprintf(stderr, "%s: %s\n", what, fastlbp_last_error());
 *     return 1;
 * }
 *
 * int main(void) {
 *     // A rule 0.9: x1 & x2 -> x3 with the priors 0.3 and 0.8; labels are any numbers.
 *     const uint64_t body[] = {1, 2};
 *     const uint32_t variable[] = {2}, state[] = {1}; // indices are by ascending label: x3 is true
 *     double p[3];
 *     fastlbp_graph *graph = NULL;
 *     fastlbp_bp *bp = NULL;
 *     if (fastlbp_graph_new(&graph) != FASTLBP_STATUS_OK
 *         || fastlbp_graph_add_prior(graph, 1, 0.3) != FASTLBP_STATUS_OK
 *         || fastlbp_graph_add_prior(graph, 2, 0.8) != FASTLBP_STATUS_OK
 *         || fastlbp_graph_add_and(graph, 3, body, 2, 0.9, 0.0) != FASTLBP_STATUS_OK
 *         || fastlbp_bp_new(graph, &bp) != FASTLBP_STATUS_OK)
 *         return failed("graph");
 *     fastlbp_graph_free(graph); // the session shares what it needs
 *
 *     if (fastlbp_bp_set_schedule(bp, "TREE", 0) != FASTLBP_STATUS_OK
 *         || fastlbp_bp_observe(bp, variable, state, 1) != FASTLBP_STATUS_OK
 *         || fastlbp_bp_run(bp) != FASTLBP_STATUS_OK
 *         || fastlbp_bp_probabilities(bp, p, 3, NULL) != FASTLBP_STATUS_OK)
 *         return failed("run");
 *     printf("P(x1) = %g, P(x2) = %g, P(x3) = %g\n", p[0], p[1], p[2]); // 1, 1, 1
 *     fastlbp_bp_free(bp);
 *     return 0;
 * }
 * @endcode
 *
 * Compile with `cc example.c $(pkg-config --cflags --libs fastlbp)`, or in CMake with
 * `find_package(fastlbp)` and `target_link_libraries(example fastlbp::fastlbp)`.
 *
 * @par Contents
 * 1. The library
 * 2. Graphs
 * 3. Adding variables and factors
 * 4. Adding factors with local structure
 * 5. Reading a graph
 * 6. Sessions
 * 7. Settings
 * 8. Schedules
 * 9. Evidence
 * 10. Runs
 * 11. Reports
 * 12. Results
 * 13. Messages
 * 14. Many at once
 * 15. Devices
 *
 * @par Status and error text
 * Every call that can fail returns a `fastlbp_status`; fastlbp_last_error() then has a text, per
 * thread, that says what was wrong, with which value, and what would be right. When a call fails, it
 * has written none of its outputs (but `*needed`, see below) and changed nothing, except where its
 * description says otherwise.
 *
 * @par How functions are described
 * Statuses go without their FASTLBP_STATUS_. All calls that succeed return OK; `@return` lists the
 * others, but for those that many can return: NULL_POINTER, BUSY, POISONED, PANIC, OUT_OF_MEMORY, and
 * BUFFER_TOO_SMALL where there is a `needed`. Some parameters mean the same everywhere: `graph` and
 * `bp` are handles, `out` is where the result is written, and `buffer`, `length` and `needed` take an
 * array of results.
 *
 * @par Arrays
 * All lengths are numbers of entries. An array of length 0 may be NULL. Where a function fills
 * `buffer`, which has `length` entries, a longer one is fine, and only its beginning is written; for
 * one that is too short the status is BUFFER_TOO_SMALL and nothing is written but the length needed,
 * to `*needed`, which is also written on success; `needed` may be NULL. To ask for the length alone,
 * call with NULL and 0.
 *
 * @par Ownership
 * Handles come from functions with a `**out` and go back by the `_free` function of their type, which
 * takes NULL as well. Arrays and strings that go in are copied and only read during the call. Results
 * go into memory of the caller. Strings that come out as `const char *` belong to the library. Strings
 * are NUL-terminated UTF-8.
 *
 * @par Threads
 * Any thread may call any function, and different handles are independent. Functions that take a
 * `const` handle only read it, and any number of them may run at the same time on one handle.
 * Functions that take a handle without `const` change it: when such a call and any other one on the
 * same handle would run at the same time, the one that comes later returns BUSY at once and does
 * nothing. Only the `_free` functions need care: no call that uses the handle may begin once it is
 * called. The error text is per thread.
 *
 * @par Defects
 * A defect of the library that it notices ends the call with PANIC, not the process; the handle in
 * use then answers POISONED and can only be freed.
 *
 * @par Compatibility
 * C99 or later, C++11 or later. Within one SONAME functions, constants and statuses are only added.
 * Numbers passed as an enumeration (`uint32_t`) are checked: unknown ones are INVALID_ARGUMENT.
 */

#ifndef FASTLBP_H
#define FASTLBP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Marks what the library exports. */
#ifndef FASTLBP_API
#if defined(__GNUC__)
#define FASTLBP_API __attribute__((visibility("default")))
#else
#define FASTLBP_API
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* =================================================================================================
 * 1. The library
 *
 * For everyone: what is loaded, what statuses mean, and where messages go. All of it may be called from any thread at
 * any time.
 * ================================================================================================= */

/**
 * Major version of the library that this header belongs to.
 */
#define FASTLBP_VERSION_MAJOR 0

/**
 * Minor version of the library that this header belongs to.
 */
#define FASTLBP_VERSION_MINOR 1

/**
 * Patch version of the library that this header belongs to.
 */
#define FASTLBP_VERSION_PATCH 0


/**
 * Version of the library that is loaded, such as "0.1.0"; compare it with FASTLBP_VERSION_MAJOR,
 * FASTLBP_VERSION_MINOR and FASTLBP_VERSION_PATCH of the header.
 *
 * @return A static string, never NULL.
 */
FASTLBP_API const char *fastlbp_version(void);

/**
 * How the loaded library was built: version, machine, debug or release, backends, features; for
 * logs and bug reports.
 *
 * @return A static string, never NULL.
 */
FASTLBP_API const char *fastlbp_build_info(void);

/**
 * Result of a call. Numbers are fixed: later versions only add some.
 */
enum fastlbp_status
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * Done.
     */
    FASTLBP_STATUS_OK = 0,
    /**
     * A pointer that is needed is NULL.
     */
    FASTLBP_STATUS_NULL_POINTER = 1,
    /**
     * A value is not one that the call accepts.
     */
    FASTLBP_STATUS_INVALID_ARGUMENT = 2,
    /**
     * An index, label or state names nothing.
     */
    FASTLBP_STATUS_OUT_OF_RANGE = 3,
    /**
     * The caller's buffer is too small; `*needed` says how long it must be.
     */
    FASTLBP_STATUS_BUFFER_TOO_SMALL = 4,
    /**
     * A string is not UTF-8.
     */
    FASTLBP_STATUS_INVALID_UTF8 = 5,
    /**
     * A file does not follow its format; the text names file and line.
     */
    FASTLBP_STATUS_PARSE = 6,
    /**
     * A file could not be opened, read or written.
     */
    FASTLBP_STATUS_IO = 7,
    /**
     * Deterministic messages disagree; the text names the variable.
     */
    FASTLBP_STATUS_CONTRADICTION = 8,
    /**
     * There are no results yet.
     */
    FASTLBP_STATUS_NO_RESULT = 9,
    /**
     * Another call is running on this handle.
     */
    FASTLBP_STATUS_BUSY = 10,
    /**
     * An earlier call on this handle ended with PANIC; it can only be freed.
     */
    FASTLBP_STATUS_POISONED = 11,
    /**
     * A defect of the library; please report the text. The handle is poisoned.
     */
    FASTLBP_STATUS_PANIC = 12,
    /**
     * Memory could not be had.
     */
    FASTLBP_STATUS_OUT_OF_MEMORY = 13,
    /**
     * Something is larger than the library's 32-bit indices or its limits allow.
     */
    FASTLBP_STATUS_LIMIT_EXCEEDED = 14,
    /**
     * The request is well-formed, but this build does not do it.
     */
    FASTLBP_STATUS_UNSUPPORTED = 15,
    /**
     * There is no usable device for the backend asked for.
     */
    FASTLBP_STATUS_NO_DEVICE = 16,
    /**
     * A CUDA device failed, or computed wrongly; the text says at what.
     */
    FASTLBP_STATUS_DEVICE_FAILED = 17,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum fastlbp_status fastlbp_status;
#else
typedef int32_t fastlbp_status;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus


/**
 * The name of a status, such as "FASTLBP_STATUS_BUSY".
 *
 * @param status Any number.
 * @return A static string, never NULL; "unknown status" for a number that names none.
 */
FASTLBP_API const char *fastlbp_status_string(int32_t status);

/**
 * What was wrong in the last call on this thread that failed: with which value, and what would be
 * right. Each thread has its own text. Calls that succeed do not change it.
 *
 * @return UTF-8 text, never NULL; "" if no call on this thread has failed yet. It belongs to the
 *         library and stays valid until the next fastlbp call on this thread; copy it to keep it.
 */
FASTLBP_API const char *fastlbp_last_error(void);

/**
 * A defect, or something that did not work.
 */
#define FASTLBP_LOG_ERROR 1

/**
 * Something that makes results doubtful, such as contradictions that were voted on.
 */
#define FASTLBP_LOG_WARNING 2

/**
 * What the library decided or did, such as the backend it chose.
 */
#define FASTLBP_LOG_INFO 3

/**
 * Takes a message of the library.
 *
 * @param user The pointer given to fastlbp_set_log_callback.
 * @param level One of FASTLBP_LOG_ERROR, FASTLBP_LOG_WARNING and FASTLBP_LOG_INFO; later versions
 *        may add higher numbers for less important messages.
 * @param text NUL-terminated UTF-8 without a final newline, valid during the call only.
 *
 * Called on the threads that call the library, also on several at the same time. It must return:
 * no exception and no longjmp may leave it.
 */
typedef void (*fastlbp_log_callback)(void *user, uint32_t level, const char *text);


/**
 * Sets where the library's messages go; by default, and with NULL, nowhere. The library writes
 * nothing to stdout or stderr (the one exception is a call that ends with FASTLBP_STATUS_PANIC: the
 * language's runtime then describes the defect on stderr). It waits until calls of the previous callback on other
 * threads have ended: after its return, the previous callback is not called any more.
 *
 * @param callback The function to call, or NULL.
 * @param user Handed to the callback as it is; may be NULL.
 * @return BUSY from inside the callback itself.
 */
FASTLBP_API
fastlbp_status fastlbp_set_log_callback(fastlbp_log_callback callback,
                                        void *user);

/* =================================================================================================
 * 2. Graphs
 *
 * For everyone: a graph is made empty and filled by the functions of the next two chapters, or read from a
 * file. Making a session freezes it: the session shares what it needs, and the graph may be freed or added to.
 * ================================================================================================= */

/**
 * A factor graph over discrete variables.
 *
 * Variables are named by labels, any 64-bit numbers of the caller's; labels may have gaps. The
 * index of a variable is the rank of its label, counted from 0. The index of a factor is the
 * number of factors added before it. An edge joins a factor with one of its variables; edges are
 * numbered factor by factor, and within a factor by ascending variable. Labels are used to build
 * a graph, indices everywhere else; fastlbp_graph_variables_of_labels leads from one to the other.
 *
 * Adding factors and reading the graph may alternate: the compact form that reading and
 * fastlbp_bp_new need is built when it is first needed, in O(variables log variables + edges +
 * table entries), and again after more was added. Errors that only show when all factors are known
 * (see fastlbp_graph_build) are returned by the call that needs that form.
 */
typedef struct fastlbp_graph fastlbp_graph;


/**
 * Makes an empty graph; free it with fastlbp_graph_free.
 *
 * @return OK.
 */
FASTLBP_API fastlbp_status fastlbp_graph_new(fastlbp_graph **out);

/**
 * Reads a graph from a file; free it with fastlbp_graph_free. The suffix of the name tells the format:
 * `.causal_fg` (the CausalBP extension of libDAI), `.fg` (libDAI), `.uai` (UAI competitions) or `.bif` (Bayesian
 * networks, whose names are left out), each also compressed with a further `.gz`. O(size of the file).
 *
 * @param path Name of the file.
 * @return IO; PARSE, with file and line in the text; INVALID_ARGUMENT for an unknown suffix; INVALID_UTF8;
 *         LIMIT_EXCEEDED; as in fastlbp_graph_build.
 */
FASTLBP_API
fastlbp_status fastlbp_graph_read_file(const char *path,
                                       fastlbp_graph **out);

/**
 * Writes a graph to a file, in the format that the suffix of the name tells (see fastlbp_graph_read_file).
 * Every number reads back to the same bits. The file appears when it is complete.
 *
 * @param path Name of the file.
 * @return IO; INVALID_ARGUMENT for an unknown suffix; UNSUPPORTED where the format cannot hold the graph;
 *         INVALID_UTF8; as in fastlbp_graph_build.
 */
FASTLBP_API
fastlbp_status fastlbp_graph_write_file(const fastlbp_graph *graph,
                                        const char *path);

/**
 * Reads a graph from memory, as fastlbp_graph_read_file does from a file; free it with fastlbp_graph_free. Of the name
 * only the suffix counts, such as that of `graph.causal_fg.gz`, and errors call the bytes by it.
 *
 * @param bytes `size` bytes, the content of a file of this name.
 * @param size Number of bytes.
 * @param name Name of the file.
 * @return As fastlbp_graph_read_file, but for IO, which only is what gzip cannot decompress.
 */
FASTLBP_API
fastlbp_status fastlbp_graph_read_memory(const uint8_t *bytes,
                                         size_t size,
                                         const char *name,
                                         fastlbp_graph **out);

/**
 * Writes a graph to memory, as fastlbp_graph_write_file does to a file; of the name only the suffix counts. O(size of
 * the content), also where the buffer is too short for it.
 *
 * @param name Name of the file.
 * @return As fastlbp_graph_write_file, but for IO.
 */
FASTLBP_API
fastlbp_status fastlbp_graph_write_memory(const fastlbp_graph *graph,
                                          const char *name,
                                          uint8_t *buffer,
                                          size_t length,
                                          size_t *needed);

/**
 * Checks the graph and builds its compact form now, instead of when it is first needed.
 *
 * @return INVALID_ARGUMENT if a variable is declared with two cardinalities, a table, NOISY or TERMS factor names a
 *         variable twice, a table does not have one value per joint state, a factor with a head names a variable
 *         with other than two states, or terms add up to a negative value or to zero everywhere;
 *         OUT_OF_RANGE if a term wants a state that its variable does not have; LIMIT_EXCEEDED for more than
 *         2^32 - 2 variables, factors or edges. Factors cannot be taken back: such a graph can only be freed.
 */
FASTLBP_API
fastlbp_status fastlbp_graph_build(const fastlbp_graph *graph);

/**
 * Frees a graph, or nothing for NULL. Sessions made from it go on working.
 */
FASTLBP_API void fastlbp_graph_free(fastlbp_graph *graph);

/* =================================================================================================
 * 3. Adding variables and factors
 *
 * For everyone who builds a graph: variables, priors, conjunctions, disjunctions and tables. Functions with a
 * plural name take arrays and add everything or, if one entry is wrong, nothing; they give the graph of the
 * single calls, and are what to call from another language. Lists of lists are two arrays: list i is what lies from
 * `offsets[i]` up to, but not including, `offsets[i + 1]`.
 * ================================================================================================= */

/**
 * Kind of a factor: a dense table.
 */
#define FASTLBP_FACTOR_TABLE 0

/**
 * Kind of a factor: the prior of a binary variable, f(1) = p and f(0) = 1 - p.
 */
#define FASTLBP_FACTOR_PRIOR 1

/**
 * Kind of a factor: a noisy conjunction. P(head = 1) = p if the whole body is true, q otherwise.
 */
#define FASTLBP_FACTOR_AND 2

/**
 * Kind of a factor: a noisy disjunction. P(head = 0) = p if the whole body is false, q otherwise.
 */
#define FASTLBP_FACTOR_OR 3

/**
 * Kind of a factor: values by the head and by whether all of some signed literals hold.
 */
#define FASTLBP_FACTOR_SIGNED 4

/**
 * Kind of a factor: as FASTLBP_FACTOR_SIGNED, with literals that hold with a probability.
 */
#define FASTLBP_FACTOR_NOISY 5

/**
 * Kind of a factor: a sum of weighted terms over variables of any cardinalities.
 */
#define FASTLBP_FACTOR_TERMS 6


/**
 * Declares variables. Only needed for such with other than two states and for such as occur in no factor: a label
 * that is not declared is a binary variable. Declaring one again with the same cardinality is harmless.
 *
 * @param labels `count` labels.
 * @param cardinalities `count` numbers of states, each at least 1; a single state is for tables and terms only.
 * @param count Number of variables.
 * @return INVALID_ARGUMENT.
 */
FASTLBP_API
fastlbp_status fastlbp_graph_add_variables(fastlbp_graph *graph,
                                           const uint64_t *labels,
                                           const uint32_t *cardinalities,
                                           size_t count);

/**
 * Adds the prior of a binary variable: f(1) = p, f(0) = 1 - p.
 *
 * @param label Label of the variable.
 * @param p A probability, from 0 to 1.
 * @return INVALID_ARGUMENT.
 */
FASTLBP_API fastlbp_status fastlbp_graph_add_prior(fastlbp_graph *graph, uint64_t label, double p);

/**
 * Adds a noisy conjunction of binary variables: P(head = 1) = p if the whole body is true, and q otherwise. An
 * empty body is true. A probabilistic Horn clause is one, with q = 0 mostly. O(body_length).
 *
 * @param head Label of the head.
 * @param body `body_length` labels; duplicates merge.
 * @param body_length Number of labels in the body.
 * @param p A probability, from 0 to 1.
 * @param q A probability, from 0 to 1.
 * @return INVALID_ARGUMENT.
 */
FASTLBP_API
fastlbp_status fastlbp_graph_add_and(fastlbp_graph *graph,
                                     uint64_t head,
                                     const uint64_t *body,
                                     size_t body_length,
                                     double p,
                                     double q);

/**
 * Adds a noisy disjunction of binary variables: P(head = 0) = p if the whole body is false, and q otherwise. An
 * empty body is false. O(body_length).
 *
 * @param head Label of the head.
 * @param body `body_length` labels; duplicates merge.
 * @param body_length Number of labels in the body.
 * @param p A probability, from 0 to 1.
 * @param q A probability, from 0 to 1.
 * @return INVALID_ARGUMENT.
 */
FASTLBP_API
fastlbp_status fastlbp_graph_add_or(fastlbp_graph *graph,
                                    uint64_t head,
                                    const uint64_t *body,
                                    size_t body_length,
                                    double p,
                                    double q);

/**
 * Adds many priors, AND and OR factors. O(count + bodies_length).
 *
 * @param count Number of factors.
 * @param kinds `count` kinds: FASTLBP_FACTOR_PRIOR, FASTLBP_FACTOR_AND or FASTLBP_FACTOR_OR.
 * @param heads `count` labels.
 * @param body_offsets `count + 1` offsets, not descending, from 0 to `bodies_length`.
 * @param bodies `bodies_length` labels; a prior has none.
 * @param bodies_length Number of labels in all bodies together.
 * @param p `count` probabilities, from 0 to 1.
 * @param q `count` probabilities, from 0 to 1; ignored for a prior.
 * @return INVALID_ARGUMENT.
 */
FASTLBP_API
fastlbp_status fastlbp_graph_add_factors(fastlbp_graph *graph,
                                         size_t count,
                                         const uint32_t *kinds,
                                         const uint64_t *heads,
                                         const size_t *body_offsets,
                                         const uint64_t *bodies,
                                         size_t bodies_length,
                                         const double *p,
                                         const double *q);

/**
 * Adds a dense table. The first variable of the scope varies fastest, as in libDAI: for a scope (a, b), the value
 * for the states (x, y) is `values[x + y * cardinality(a)]`. O(scope_length + values_length).
 *
 * @param scope `scope_length` labels, all different.
 * @param scope_length Number of variables; 0 makes a constant.
 * @param values `values_length` values, one per joint state: finite, not negative, not all zero.
 * @param values_length Number of values: the product of the cardinalities of the scope, which is checked when the
 *        graph is built.
 * @return INVALID_ARGUMENT.
 */
FASTLBP_API
fastlbp_status fastlbp_graph_add_table(fastlbp_graph *graph,
                                       const uint64_t *scope,
                                       size_t scope_length,
                                       const double *values,
                                       size_t values_length);

/**
 * Adds many dense tables; see fastlbp_graph_add_table. O(count + scopes_length + values_length).
 *
 * @param count Number of tables.
 * @param scope_offsets `count + 1` offsets, not descending, from 0 to `scopes_length`.
 * @param scopes `scopes_length` labels.
 * @param scopes_length Number of labels in all scopes together.
 * @param value_offsets `count + 1` offsets, not descending, from 0 to `values_length`.
 * @param values `values_length` values.
 * @param values_length Number of values in all tables together.
 * @return INVALID_ARGUMENT.
 */
FASTLBP_API
fastlbp_status fastlbp_graph_add_tables(fastlbp_graph *graph,
                                        size_t count,
                                        const size_t *scope_offsets,
                                        const uint64_t *scopes,
                                        size_t scopes_length,
                                        const size_t *value_offsets,
                                        const double *values,
                                        size_t values_length);

/* =================================================================================================
 * 4. Adding factors with local structure
 *
 * For those whose factors are too large for tables but have a shape: clauses with signs, noisy gates, decision
 * trees, sums. All messages of such a factor together take time linear in its size. Variants are special cases of
 * these functions: a clause is a SIGNED factor, noisy-OR and noisy-AND are NOISY factors.
 * ================================================================================================= */

/**
 * In the indicators of terms: any state.
 */
#define FASTLBP_WILDCARD -1


/**
 * Adds a factor decided by a conjunction of signed literals of binary variables (a Horn clause with signs): its
 * value depends on the head and on whether all literals hold. An empty body holds. Equal literals merge; a body with
 * both signs of a variable never holds; the head may occur in its body. O(body_length).
 *
 * With p if the body holds and q if not, an AND has the values (p, 1 - p, q, 1 - q), and an OR, with all signs
 * turned, (1 - p, p, 1 - q, q). A clause l1 | l2 | ... of weight s where satisfied and v where not has the variable of
 * l1 as head, the negations of l2, ... as body, and the values (s, v, s, s), or (v, s, s, s) if l1 is negated.
 *
 * @param head Label of the head.
 * @param body `body_length` labels.
 * @param negated `body_length` signs: 0 for the literal `body[i]` = 1, 1 for `body[i]` = 0.
 * @param body_length Number of literals.
 * @param values 4 values: f(head = 1 | all hold), f(head = 0 | all hold), f(head = 1 | one fails),
 *        f(head = 0 | one fails): finite, not negative, not all zero.
 * @return INVALID_ARGUMENT.
 */
FASTLBP_API
fastlbp_status fastlbp_graph_add_signed(fastlbp_graph *graph,
                                        uint64_t head,
                                        const uint64_t *body,
                                        const uint8_t *negated,
                                        size_t body_length,
                                        const double *values);

/**
 * Adds many SIGNED factors; see fastlbp_graph_add_signed. O(count + bodies_length).
 *
 * @param count Number of factors.
 * @param heads `count` labels.
 * @param body_offsets `count + 1` offsets, not descending, from 0 to `bodies_length`.
 * @param bodies `bodies_length` labels.
 * @param negated `bodies_length` signs: 0 for the literal x = 1, 1 for x = 0.
 * @param bodies_length Number of literals in all bodies together.
 * @param values `4 * count` values, for each factor finite, not negative, not all zero.
 * @return INVALID_ARGUMENT.
 */
FASTLBP_API
fastlbp_status fastlbp_graph_add_signed_factors(fastlbp_graph *graph,
                                                size_t count,
                                                const uint64_t *heads,
                                                const size_t *body_offsets,
                                                const uint64_t *bodies,
                                                const uint8_t *negated,
                                                size_t bodies_length,
                                                const double *values);

/**
 * Adds a factor decided by a conjunction of noisy literals: each holds with a probability that depends on the
 * state of its binary variable, independently of the others. With P(x) the product over i of P(literal i holds |
 * `body[i]`), f(head, x) = P(x) * f(head | all hold) + (1 - P(x)) * f(head | one fails). O(body_length).
 *
 * A noisy-OR with links l and a leak has the literals (1, 0, 1 - l_i, l_i) and the values (leak, 1 - leak, 1, 0); a
 * noisy-AND with links l and p if the whole body is true has (l_i, 1 - l_i, 1, 0) and (p, 1 - p, 0, 1).
 *
 * @param head Label of the head.
 * @param body `body_length` labels, all different and different from the head.
 * @param literals `4 * body_length` probabilities, for each literal that it holds and that it fails if its
 *        variable is 0, then that it holds and that it fails if it is 1. Both of a pair are given, as neither
 *        follows from the other without rounding; they add up to 1 within 1e-12.
 * @param body_length Number of literals.
 * @param values 4 values, as for fastlbp_graph_add_signed.
 * @return INVALID_ARGUMENT.
 */
FASTLBP_API
fastlbp_status fastlbp_graph_add_noisy(fastlbp_graph *graph,
                                       uint64_t head,
                                       const uint64_t *body,
                                       const double *literals,
                                       size_t body_length,
                                       const double *values);

/**
 * Adds a sum of weighted terms over variables of any cardinalities: the value of the factor is the sum of
 * `weights[t]` over all terms t for which every variable i of the scope is in the state `indicators[t * scope_length +
 * i]`, or that is FASTLBP_WILDCARD. O(indicators_length).
 *
 * Weights may be negative as long as no value of the factor is. fastlbp_graph_build checks this where it is cheap:
 * terms that exclude each other, and factors of at most 2^16 joint states; elsewhere the caller answers for it.
 * Positive and negative terms are added up apart and subtracted once, so that values that are nearly zero have an
 * absolute accuracy only.
 *
 * @param scope `scope_length` labels, all different.
 * @param scope_length Number of variables.
 * @param weights `weights_length` weights, one per term, finite.
 * @param weights_length Number of terms, at least 1.
 * @param indicators `indicators_length` states or FASTLBP_WILDCARD, term by term; states are checked when the graph
 *        is built.
 * @param indicators_length Must be `weights_length * scope_length`.
 * @return INVALID_ARGUMENT.
 */
FASTLBP_API
fastlbp_status fastlbp_graph_add_terms(fastlbp_graph *graph,
                                       const uint64_t *scope,
                                       size_t scope_length,
                                       const double *weights,
                                       size_t weights_length,
                                       const int32_t *indicators,
                                       size_t indicators_length);

/**
 * Adds many TERMS factors; see fastlbp_graph_add_terms. O(size of the arrays).
 *
 * @param count Number of factors.
 * @param scope_offsets `count + 1` offsets, not descending, from 0 to `scopes_length`.
 * @param scopes `scopes_length` labels.
 * @param scopes_length Number of labels in all scopes together.
 * @param term_offsets `count + 1` offsets, not descending, from 0 to `weights_length`.
 * @param weights `weights_length` weights, finite.
 * @param weights_length Number of terms in all factors together.
 * @param indicators `indicators_length` states or FASTLBP_WILDCARD, one per term and variable of its factor, factor
 *        by factor and term by term.
 * @param indicators_length Must be the sum over all factors of terms times variables.
 * @return INVALID_ARGUMENT.
 */
FASTLBP_API
fastlbp_status fastlbp_graph_add_term_factors(fastlbp_graph *graph,
                                              size_t count,
                                              const size_t *scope_offsets,
                                              const uint64_t *scopes,
                                              size_t scopes_length,
                                              const size_t *term_offsets,
                                              const double *weights,
                                              size_t weights_length,
                                              const int32_t *indicators,
                                              size_t indicators_length);

/* =================================================================================================
 * 5. Reading a graph
 *
 * For those who did not build the graph themselves, make schedules of their own, or convert graphs. A factor is
 * its kind, its variables (which ascend), a head among them or none, and by its kind:
 *
 * | kind | parameters | indicators |
 * |---|---|---|
 * | TABLE | its values, the first variable fastest | none |
 * | PRIOR | p | none |
 * | AND | p, q | 1 for a variable of the body, FASTLBP_WILDCARD for a head that is not in it |
 * | OR | p, q | 0 for a variable of the body, FASTLBP_WILDCARD for a head that is not in it |
 * | SIGNED | the 4 values | 1 for a literal x = 1, 0 for x = 0, FASTLBP_WILDCARD for the head |
 * | NOISY | the 4 values, then 4 probabilities per variable; the head's literal always holds | none |
 * | TERMS | the weight of each term | for each term a state or FASTLBP_WILDCARD per variable |
 *
 * With FASTLBP_WILDCARD for any state, an indicator is the state that a condition wants of a variable. A SIGNED
 * factor whose head is in its body, or whose body has both signs of a variable, is read as the factor that this
 * comes to without such literals.
 * ================================================================================================= */

/**
 * Count: the variables.
 */
#define FASTLBP_COUNT_VARIABLES 0

/**
 * Count: the factors.
 */
#define FASTLBP_COUNT_FACTORS 1

/**
 * Count: the edges, that is the pairs of a factor and one of its variables.
 */
#define FASTLBP_COUNT_EDGES 2

/**
 * Count: the states of all variables together, the length of an array of all marginals.
 */
#define FASTLBP_COUNT_STATES 3

/**
 * Count: the bytes of memory that the graph's arrays take; a session has its own beside it.
 */
#define FASTLBP_COUNT_BYTES 4

/**
 * In arrays of variable indices: no variable.
 */
#define FASTLBP_NO_VARIABLE UINT32_MAX


/**
 * How many of something the graph has.
 *
 * @param what FASTLBP_COUNT_VARIABLES, FASTLBP_COUNT_FACTORS, FASTLBP_COUNT_EDGES, FASTLBP_COUNT_STATES or
 *        FASTLBP_COUNT_BYTES.
 * @return INVALID_ARGUMENT for another number; as in fastlbp_graph_build.
 */
FASTLBP_API
fastlbp_status fastlbp_graph_count(const fastlbp_graph *graph,
                                   uint32_t what,
                                   size_t *out);

/**
 * Labels of all variables, ascending.
 *
 * @return As fastlbp_graph_build.
 */
FASTLBP_API
fastlbp_status fastlbp_graph_labels(const fastlbp_graph *graph,
                                    uint64_t *buffer,
                                    size_t length,
                                    size_t *needed);

/**
 * Numbers of states of all variables, by index.
 *
 * @return As fastlbp_graph_build.
 */
FASTLBP_API
fastlbp_status fastlbp_graph_cardinalities(const fastlbp_graph *graph,
                                           uint32_t *buffer,
                                           size_t length,
                                           size_t *needed);

/**
 * Indices of the variables with some labels. O(log variables) for each, O(1) where labels have no gaps.
 *
 * @param labels `count` labels.
 * @param count Number of labels.
 * @param out Where `count` indices are written.
 * @return OUT_OF_RANGE if one label names no variable; as in fastlbp_graph_build.
 */
FASTLBP_API
fastlbp_status fastlbp_graph_variables_of_labels(const fastlbp_graph *graph,
                                                 const uint64_t *labels,
                                                 size_t count,
                                                 uint32_t *out);

/**
 * Kinds of all factors: FASTLBP_FACTOR_TABLE and so on.
 *
 * @return As fastlbp_graph_build.
 */
FASTLBP_API
fastlbp_status fastlbp_graph_factor_kinds(const fastlbp_graph *graph,
                                          uint32_t *buffer,
                                          size_t length,
                                          size_t *needed);

/**
 * Heads of all factors, as variable indices: FASTLBP_NO_VARIABLE for a table and for terms, which have none.
 *
 * @return As fastlbp_graph_build.
 */
FASTLBP_API
fastlbp_status fastlbp_graph_factor_heads(const fastlbp_graph *graph,
                                          uint32_t *buffer,
                                          size_t length,
                                          size_t *needed);

/**
 * Where the edges of each factor start, and behind them the number of edges: those of factor f are the numbers from
 * `buffer[f]` up to, but not including, `buffer[f + 1]`. With fastlbp_graph_edge_variables, the scopes of all factors.
 *
 * @return As fastlbp_graph_build.
 */
FASTLBP_API
fastlbp_status fastlbp_graph_factor_offsets(const fastlbp_graph *graph,
                                            size_t *buffer,
                                            size_t length,
                                            size_t *needed);

/**
 * The variable of each edge, as an index.
 *
 * @return As fastlbp_graph_build.
 */
FASTLBP_API
fastlbp_status fastlbp_graph_edge_variables(const fastlbp_graph *graph,
                                            uint32_t *buffer,
                                            size_t length,
                                            size_t *needed);

/**
 * The variables of a factor, as ascending indices.
 *
 * @param factor Index of the factor.
 * @return OUT_OF_RANGE; as in fastlbp_graph_build.
 */
FASTLBP_API
fastlbp_status fastlbp_graph_factor_variables(const fastlbp_graph *graph,
                                              size_t factor,
                                              uint32_t *buffer,
                                              size_t length,
                                              size_t *needed);

/**
 * The parameters of a factor, see the table above. O(their number).
 *
 * @param factor Index of the factor.
 * @return OUT_OF_RANGE; as in fastlbp_graph_build.
 */
FASTLBP_API
fastlbp_status fastlbp_graph_factor_parameters(const fastlbp_graph *graph,
                                               size_t factor,
                                               double *buffer,
                                               size_t length,
                                               size_t *needed);

/**
 * The indicators of a factor, see the table above: those of its variables in their order, for TERMS term by term.
 * O(their number).
 *
 * @param factor Index of the factor.
 * @return OUT_OF_RANGE; as in fastlbp_graph_build.
 */
FASTLBP_API
fastlbp_status fastlbp_graph_factor_indicators(const fastlbp_graph *graph,
                                               size_t factor,
                                               int32_t *buffer,
                                               size_t length,
                                               size_t *needed);

/**
 * The values of a factor of any kind as a table: one per joint state of its variables, the first one (lowest index)
 * fastest. O(values * arity).
 *
 * @param factor Index of the factor.
 * @return OUT_OF_RANGE; LIMIT_EXCEEDED for more than 2^26 values; as in fastlbp_graph_build.
 */
FASTLBP_API
fastlbp_status fastlbp_graph_factor_values(const fastlbp_graph *graph,
                                           size_t factor,
                                           double *buffer,
                                           size_t length,
                                           size_t *needed);

/* =================================================================================================
 * 6. Sessions
 *
 * For everyone: a session is one graph with a schedule, evidence, messages and results. The analysis of the
 * schedule and all buffers are made once, at the first run or by fastlbp_bp_prepare; evidence is data that can change
 * between runs at no cost but its own. Different sessions may run at the same time.
 * ================================================================================================= */

/**
 * A session of belief propagation on one graph: a schedule, evidence, messages, and the results of
 * the last run.
 */
typedef struct fastlbp_bp fastlbp_bp;


/**
 * Makes a session on a graph; free it with fastlbp_bp_free. The graph is shared, not copied: its handle may be
 * freed or added to at once, neither of which changes the session.
 *
 * It begins with the schedule SEQFIX, no evidence, sum-product, no damping, no active set, the tolerance 1e-9 for
 * beliefs of variables, at most 10000 iterations, no time limit, fresh starts, contradictions as errors, the backend
 * AUTO, and one thread per physical core.
 *
 * @return As fastlbp_graph_build.
 */
FASTLBP_API
fastlbp_status fastlbp_bp_new(const fastlbp_graph *graph,
                              fastlbp_bp **out);

/**
 * Makes a session in the same state as another: settings, schedule, evidence, messages and results, but without the
 * progress callback. The two are independent. Free it with fastlbp_bp_free.
 *
 * @return As fastlbp_bp_prepare.
 */
FASTLBP_API
fastlbp_status fastlbp_bp_clone(const fastlbp_bp *bp,
                                fastlbp_bp **out);

/**
 * The graph of a session, as a handle of its own; free it with fastlbp_graph_free. O(1): the graph is shared.
 *
 * @return OK.
 */
FASTLBP_API
fastlbp_status fastlbp_bp_graph(const fastlbp_bp *bp,
                                fastlbp_graph **out);

/**
 * Analyses the schedule and makes all buffers by the current settings, where that is still to be done; otherwise the
 * next run does it. Messages, evidence and results stay. With FASTLBP_BACKEND_AUTO these are the buffers of the
 * backend that is expected to be the faster one for fastlbp_bp_run; another run may still choose the other.
 *
 * @return UNSUPPORTED or NO_DEVICE if the backend asked for is not there, with the reason in the text; as in
 *         fastlbp_bp_run for settings that no run can have.
 */
FASTLBP_API
fastlbp_status fastlbp_bp_prepare(fastlbp_bp *bp);

/**
 * Frees a session, or nothing for NULL. If a call is still running on it, it goes when that call ends.
 */
FASTLBP_API
void fastlbp_bp_free(fastlbp_bp *bp);

/* =================================================================================================
 * 7. Settings
 *
 * For everyone who wants other than what fastlbp_bp_new sets: each setting has a function, takes effect with the
 * next run of any kind, and costs O(1). fastlbp_bp_set_property sets the same by libDAI's names, from strings such as a
 * command line has.
 * ================================================================================================= */

/**
 * Backend: the one that is expected to be the faster, run by run.
 */
#define FASTLBP_BACKEND_AUTO 0

/**
 * Backend: the processor.
 */
#define FASTLBP_BACKEND_CPU 1

/**
 * Backend: a CUDA device. The first session on one retains its primary context, which other users of CUDA
 * in the process share; it stays, with the kernels in it, to the end of the process, unless it fails.
 */
#define FASTLBP_BACKEND_CUDA 2

/**
 * For fastlbp_bp_set_device: the device of the environment variable FASTLBP_DEVICE, and 0 where that is
 * not set.
 */
#define FASTLBP_DEVICE_DEFAULT UINT32_MAX

/**
 * Contradictions (places where deterministic messages, those with a probability of 0, disagree, so that a belief or
 * message would be 0/0): end the run with FASTLBP_STATUS_CONTRADICTION.
 */
#define FASTLBP_CONTRADICTION_ERROR 0

/**
 * Contradictions: the state backed by more deterministic messages wins, a tie is uniform; the run goes on
 * and counts them.
 */
#define FASTLBP_CONTRADICTION_VOTE 1

/**
 * Start of a run: from uniform messages.
 */
#define FASTLBP_START_FRESH 0

/**
 * Start of a run: from the messages as the last run, fastlbp_bp_set_messages or
 * fastlbp_bp_restore_state left them.
 */
#define FASTLBP_START_WARM 1

/**
 * Inference: sum-product, for marginals.
 */
#define FASTLBP_INFERENCE_SUM_PRODUCT 0

/**
 * Inference: max-product, for the most probable joint state.
 */
#define FASTLBP_INFERENCE_MAX_PRODUCT 1

/**
 * Measure of fastlbp_bp_run: changes of the beliefs of variables.
 */
#define FASTLBP_MEASURE_VARIABLES 0

/**
 * Measure of fastlbp_bp_run: changes of the beliefs of variables and of factors, as in libDAI.
 */
#define FASTLBP_MEASURE_ALL 1

/**
 * For fastlbp_bp_set_active_threshold: no active set.
 */
#define FASTLBP_ACTIVE_OFF -1.0

/**
 * Told after each iteration how a run goes.
 *
 * @param user The pointer given to fastlbp_bp_set_progress.
 * @param iterations Iterations done in this run.
 * @param max_iterations Largest number of iterations that this run can make.
 * @param max_diff Largest change in the last iteration; infinity where the run does not measure it; with the property
 *        `progress` as `rough`, any change that exceeds the tolerance may stand for it.
 * @param active_fraction Fraction of variables and factors that still move (fastlbp_bp_run_bingo), else 1; with `rough`, at
 *        least so many do, or it is that of an iteration before.
 * @return 0 to go on, any other number to end the run before its next iteration.
 *
 * Called on the thread that called the run function. Calls on the running session from inside it
 * return FASTLBP_STATUS_BUSY, but fastlbp_bp_free, which takes effect when the run ends. It must
 * return: no exception and no longjmp may leave it.
 */
typedef int32_t (*fastlbp_progress_callback)(void *user,
                                             uint64_t iterations,
                                             uint64_t max_iterations,
                                             double max_diff,
                                             double active_fraction);


/**
 * Sets the number of CPU threads. Results do not depend on it.
 *
 * @param threads The number, at most 4096; 0 for one per physical core, the default.
 * @return INVALID_ARGUMENT.
 */
FASTLBP_API fastlbp_status fastlbp_bp_set_threads(fastlbp_bp *bp, size_t threads);

/**
 * Sets where iterations run. Results do not depend on it.
 *
 * @param backend FASTLBP_BACKEND_AUTO (the default: each run where it is expected to end first; where a device
 *        that is there fails, the CPU, with a message to the log), FASTLBP_BACKEND_CPU or FASTLBP_BACKEND_CUDA (runs
 *        fail with the reason if there is none).
 * @return INVALID_ARGUMENT for another number.
 */
FASTLBP_API
fastlbp_status fastlbp_bp_set_backend(fastlbp_bp *bp,
                                      uint32_t backend);

/**
 * Sets which CUDA device the backends FASTLBP_BACKEND_CUDA and FASTLBP_BACKEND_AUTO use. Results do not depend on it.
 *
 * @param index Number of the device, as in fastlbp_device_name, or FASTLBP_DEVICE_DEFAULT, the default.
 * @return OK, also where there is no such device: with FASTLBP_BACKEND_CUDA runs then fail with OUT_OF_RANGE or
 *         NO_DEVICE and the reason, with FASTLBP_BACKEND_AUTO they are made on the CPU.
 */
FASTLBP_API
fastlbp_status fastlbp_bp_set_device(fastlbp_bp *bp,
                                     uint32_t index);

/**
 * Sets the tolerance of fastlbp_bp_run: the largest change of a probability that counts as none.
 *
 * @param tolerance A value >= 0; 1e-9 by default.
 * @return INVALID_ARGUMENT for a negative value or NaN.
 */
FASTLBP_API fastlbp_status fastlbp_bp_set_tolerance(fastlbp_bp *bp, double tolerance);

/**
 * Sets the number of iterations after which fastlbp_bp_run ends in any case.
 *
 * @param max_iterations The number; 10000 by default.
 * @return OK.
 */
FASTLBP_API fastlbp_status fastlbp_bp_set_max_iterations(fastlbp_bp *bp, uint64_t max_iterations);

/**
 * Sets the time after which a run of any kind begins no further iteration.
 *
 * @param seconds A value >= 0; infinity, the default, for no limit.
 * @return INVALID_ARGUMENT for a negative value or NaN.
 */
FASTLBP_API fastlbp_status fastlbp_bp_set_max_time(fastlbp_bp *bp, double seconds);

/**
 * Sets what happens where deterministic messages disagree.
 *
 * @param policy FASTLBP_CONTRADICTION_ERROR, the default, or FASTLBP_CONTRADICTION_VOTE.
 * @return INVALID_ARGUMENT for another number.
 */
FASTLBP_API fastlbp_status fastlbp_bp_set_contradiction(fastlbp_bp *bp, uint32_t policy);

/**
 * Sets what messages runs start from.
 *
 * @param start FASTLBP_START_FRESH, the default, or FASTLBP_START_WARM: n iterations and then m more give the bits of
 *        n + m iterations.
 * @return INVALID_ARGUMENT for another number.
 */
FASTLBP_API
fastlbp_status fastlbp_bp_set_start(fastlbp_bp *bp,
                                    uint32_t start);

/**
 * Sets what messages and beliefs are over the states of the other variables: the sum, or the maximum, of the factor's
 * value times the messages that come in. With max-product, marginals are max-marginals, each scaled so that it adds up
 * to 1, and fastlbp_bp_find_maximum decodes a most probable joint state.
 *
 * @param inference FASTLBP_INFERENCE_SUM_PRODUCT, the default, or FASTLBP_INFERENCE_MAX_PRODUCT.
 * @return INVALID_ARGUMENT for another number.
 */
FASTLBP_API
fastlbp_status fastlbp_bp_set_inference(fastlbp_bp *bp,
                                        uint32_t inference);

/**
 * Sets the damping d: a new message becomes old^d * new^(1-d), state by state, and normalised, so that messages that
 * swing to and fro settle down. Fixed points, and with them converged results, are those without damping; near one,
 * an iteration moves about 1 - d as far. Other messages read the damped ones; beliefs, and the changes that stop
 * rules look at, are those of the undamped ones, as in libDAI. Not together with an active set.
 *
 * @param damping A number from 0, the default, for none, up to but not including 1.
 * @return INVALID_ARGUMENT.
 */
FASTLBP_API
fastlbp_status fastlbp_bp_set_damping(fastlbp_bp *bp,
                                      double damping);

/**
 * Sets the threshold of the active set: a message is computed again only if one that it reads has changed by more
 * than the threshold since, in log-odds (natural logarithm; of any two states). A change up to it is dropped.
 *
 * With a threshold t, every message of a run that has come to rest is within t of its update; with 0, runs give the
 * bits of runs without an active set. What is stored depends on the schedule alone. A message that is not computed
 * again would be what it is: so the CPU computes all of an iteration, on its threads, or fewer, whichever is faster,
 * and FASTLBP_REPORT_SPARED_MESSAGES tells how many it left out; devices compute all. Not together with damping.
 *
 * @param threshold A number >= 0, or FASTLBP_ACTIVE_OFF, the default, to compute all messages in every iteration.
 * @return INVALID_ARGUMENT.
 */
FASTLBP_API
fastlbp_status fastlbp_bp_set_active_threshold(fastlbp_bp *bp,
                                               double threshold);

/**
 * Sets whose changes the tolerance of fastlbp_bp_run is compared with. Other runs have rules of their own.
 *
 * @param measure FASTLBP_MEASURE_VARIABLES, the default, or FASTLBP_MEASURE_ALL, libDAI's rule: no belief of a variable
 *        or of a factor has changed by more than the tolerance; a fresh run compares its first iteration with uniform
 *        beliefs. That takes O(joint states * arity) of each factor more.
 * @return INVALID_ARGUMENT for another number.
 */
FASTLBP_API
fastlbp_status fastlbp_bp_set_measure(fastlbp_bp *bp,
                                      uint32_t measure);

/**
 * Sets a function that is told after each iteration how a run goes, and can end it.
 *
 * @param callback The function, or NULL for none.
 * @param user Handed to the callback as it is; may be NULL.
 * @return OK.
 */
FASTLBP_API
fastlbp_status fastlbp_bp_set_progress(fastlbp_bp *bp,
                                       fastlbp_progress_callback callback,
                                       void *user);

/**
 * Sets a property by its name, as libDAI's users know them.
 *
 * | key | value | |
 * |---|---|---|
 * | `tol` | number >= 0 | fastlbp_bp_set_tolerance |
 * | `maxiter` | whole number | fastlbp_bp_set_max_iterations |
 * | `maxtime` | seconds or `inf` | fastlbp_bp_set_max_time |
 * | `updates` | `SEQFIX`, `SEQRND`, `SEQMAX`, `PARALL`, `BLOCKS`, `TOPO`, `FWDBWD` or `TREE` | fastlbp_bp_set_schedule, with the seed of `seed` |
 * | `damping` | number in [0, 1) | fastlbp_bp_set_damping |
 * | `inference` | `SUMPROD` or `MAXPROD` | fastlbp_bp_set_inference |
 * | `logdomain` | `0` or `1` | in which domain SEQMAX compares messages; neither loses small numbers |
 * | `verbose` | whole number | from 1 on, each run writes to the log |
 * | `threads` | whole number | fastlbp_bp_set_threads |
 * | `seed` | whole number | seed of SEQRND and BLOCKS |
 * | `blocks` | whole number > 0 | number of blocks of BLOCKS; 8 if never set |
 * | `backend` | `auto`, `cpu` or `cuda` | fastlbp_bp_set_backend |
 * | `device` | `default`, or whole numbers with commas | fastlbp_bp_set_device; several: for many runs |
 * | `contradiction` | `error` or `vote` | fastlbp_bp_set_contradiction |
 * | `start` | `fresh` or `warm` | fastlbp_bp_set_start |
 * | `measure` | `variables` or `all` | fastlbp_bp_set_measure; libDAI's rule is `all` |
 * | `active` | `off` or number >= 0 | fastlbp_bp_set_active_threshold |
 * | `progress` | `exact` or `rough` | `rough`: a progress callback may be told, as the largest change, any that exceeds the tolerance, and a smaller fraction that still moves; runs are faster, with the same results, but for those by BINGO's rule that the callback ends early |
 *
 * @param key The key, a string.
 * @param value The value, a string.
 * @return INVALID_ARGUMENT for an unknown key (the text lists the known ones) or a wrong value; INVALID_UTF8.
 */
FASTLBP_API
fastlbp_status fastlbp_bp_set_property(fastlbp_bp *bp,
                                       const char *key,
                                       const char *value);

/**
 * The value of a property, as a string that sets it again; see fastlbp_bp_set_property. `updates` is the name of the
 * schedule in use, `CUSTOM` for one set by ranks or a relation, which no string sets.
 *
 * @param key The key, a string.
 * @param buffer Where the characters are written, with the final NUL; 256 are enough for all of them.
 * @return INVALID_ARGUMENT for an unknown key; INVALID_UTF8.
 */
FASTLBP_API
fastlbp_status fastlbp_bp_get_property(const fastlbp_bp *bp,
                                       const char *key,
                                       char *buffer,
                                       size_t length,
                                       size_t *needed);

/* =================================================================================================
 * 8. Schedules
 *
 * For everyone who wants another order of updates than SEQFIX. A schedule is a total preorder on the edges of the
 * graph, a rank per edge: in each iteration, a factor-to-variable message reads those of edges of lower rank from the
 * same iteration, all others from the previous one. Whatever the order, runs in parallel give the bits of updating
 * one edge at a time. Changing it leaves messages, evidence and results; the new one is analysed at the next run or
 * fastlbp_bp_prepare.
 * ================================================================================================= */

/**
 * Sets the schedule by its name, in upper or lower case:
 *
 * - `PARALL`: every message reads those of the iteration before (synchronous).
 * - `SEQFIX`: factors in order, within a factor variables ascending; the default.
 * - `SEQRND`: one edge after the other, in a new random order every iteration.
 * - `SEQMAX`: always the message that would change most (residual belief propagation); no preorder. An iteration is as
 *   many messages as there are edges. By the property `logdomain`, changes are those of probabilities or of their
 *   logarithms. Not together with an active set.
 * - `BLOCKS`: every edge is in one of some blocks, at random; see fastlbp_bp_set_schedule_blocks.
 * - `TOPO`: along the arcs from the bodies to the heads of AND and OR factors, then back.
 * - `FWDBWD`: as TOPO, but all messages whose heads are equally deep at once.
 * - `TREE`: towards the roots of a spanning forest, then away from them; exact in one iteration on a graph without
 *   cycles.
 *
 * @param name The name, a string.
 * @param seed The seed of SEQRND and BLOCKS, which gives the same orders on every machine; others ignore it.
 * @return INVALID_ARGUMENT for an unknown name; INVALID_UTF8.
 */
FASTLBP_API
fastlbp_status fastlbp_bp_set_schedule(fastlbp_bp *bp,
                                       const char *name,
                                       uint64_t seed);

/**
 * Sets the schedule BLOCKS: every edge is put into one of some blocks, each with the same probability, the same ones
 * every iteration. The blocks are updated one after the other, the edges of one at once. One block is PARALL.
 *
 * @param blocks The number of blocks, 1 or more; blocks without edges are passed over.
 * @param seed The seed of the random blocks; gives the same ones on every machine.
 * @return INVALID_ARGUMENT for 0 blocks.
 */
FASTLBP_API
fastlbp_status fastlbp_bp_set_schedule_blocks(fastlbp_bp *bp,
                                              uint32_t blocks,
                                              uint64_t seed);

/**
 * Sets the schedule by a rank per edge: edges of lower rank come first, edges of equal rank are updated at once. Only
 * order and equality of the ranks matter. O(edges) for ranks that lie close together, O(edges log edges) otherwise.
 *
 * @param ranks `length` ranks, by edge (see fastlbp_graph_edge_variables).
 * @param length Must be the number of edges.
 * @return INVALID_ARGUMENT for another length.
 */
FASTLBP_API
fastlbp_status fastlbp_bp_set_schedule_ranks(fastlbp_bp *bp,
                                             const uint64_t *ranks,
                                             size_t length);

/**
 * Sets the schedule by a relation on the edges (its Hasse diagram, or any set of pairs with the same closure): edge
 * `before[i]` is not updated after edge `after[i]`. Edges that the relation puts on both sides of each other are
 * updated at once. It must compare every two edges of which one message reads the other. O((edges + count) log
 * edges) if the pairs put all classes one after the other, more otherwise.
 *
 * @param before `count` edges.
 * @param after `count` edges.
 * @param count Number of pairs.
 * @return OUT_OF_RANGE for an edge that there is not; INVALID_ARGUMENT if two edges that must be compared are not,
 *         which the text names.
 */
FASTLBP_API
fastlbp_status fastlbp_bp_set_schedule_relation(fastlbp_bp *bp,
                                                const uint32_t *before,
                                                const uint32_t *after,
                                                size_t count);

/**
 * Rank of every edge in an iteration, counted from 0 without gaps. O(edges).
 *
 * @param iteration The number of iterations since the messages were uniform, so 0 for the first one; only SEQRND has
 *        different ranks in different iterations.
 * @return UNSUPPORTED for SEQMAX, which has no preorder.
 */
FASTLBP_API
fastlbp_status fastlbp_bp_schedule_ranks(const fastlbp_bp *bp,
                                         uint64_t iteration,
                                         uint32_t *buffer,
                                         size_t length,
                                         size_t *needed);

/**
 * Number of edges of each dependency level of the schedule: a level is a group of edges whose messages can be computed
 * at once, with the bits of updating one edge at a time; there are as few as there can be when new messages overwrite
 * old ones. For SEQRND, those of the first iteration. The first call for a schedule analyses it: near-linear in the
 * number of edges.
 *
 * @return UNSUPPORTED for SEQMAX, which has no preorder.
 */
FASTLBP_API
fastlbp_status fastlbp_bp_level_widths(const fastlbp_bp *bp,
                                       uint32_t *buffer,
                                       size_t length,
                                       size_t *needed);

/* =================================================================================================
 * 9. Evidence
 *
 * For everyone who asks a question: what is known about variables. It can change between runs at no cost but its
 * own; results of earlier runs stay until the next run.
 * ================================================================================================= */

/**
 * Observes variables, or none if one of them cannot be; replaces what was known about them. Of several states for one
 * variable the last one counts. O(log observed variables) for each.
 *
 * @param variables `count` indices of variables; fastlbp_graph_variables_of_labels gives those of labels.
 * @param states `count` states, counted from 0.
 * @param count Number of observations.
 * @return OUT_OF_RANGE.
 */
FASTLBP_API
fastlbp_status fastlbp_bp_observe(fastlbp_bp *bp,
                                  const uint32_t *variables,
                                  const uint32_t *states,
                                  size_t count);

/**
 * Sets soft evidence on a variable, a likelihood per state, which multiplies its belief and its outgoing messages;
 * replaces what was known about it.
 *
 * @param variable Index of the variable.
 * @param likelihood `length` values: finite, not negative, not all zero. Only their ratios matter.
 * @param length Must be the variable's number of states.
 * @return OUT_OF_RANGE; INVALID_ARGUMENT.
 */
FASTLBP_API
fastlbp_status fastlbp_bp_set_likelihood(fastlbp_bp *bp,
                                         size_t variable,
                                         const double *likelihood,
                                         size_t length);

/**
 * Forgets what is known about a variable; harmless if nothing is.
 *
 * @param variable Index of the variable.
 * @return OUT_OF_RANGE.
 */
FASTLBP_API fastlbp_status fastlbp_bp_clear_evidence(fastlbp_bp *bp, size_t variable);

/**
 * Forgets all evidence.
 *
 * @return OK.
 */
FASTLBP_API fastlbp_status fastlbp_bp_clear_all_evidence(fastlbp_bp *bp);

/**
 * Replaces all evidence by that of a file: one named `.evid` is in the format of the UAI competitions, any other one
 * (`.obs`) has a line `label value` per observation, the value being a state, `true` or `false`. A further `.gz` tells
 * that it is compressed.
 *
 * @param path Name of the file.
 * @param unknown Where the number of observations is written whose variable the graph does not have: they are left
 *        out, with a message to the log. NULL to make them an error.
 * @return IO; PARSE, with file and line in the text; INVALID_ARGUMENT for an empty name; INVALID_UTF8.
 */
FASTLBP_API
fastlbp_status fastlbp_bp_read_evidence(fastlbp_bp *bp,
                                        const char *path,
                                        size_t *unknown);

/* =================================================================================================
 * 10. Runs
 *
 * For everyone: runs end by a rule, and all of its ways to end are OK; FASTLBP_REPORT_STOP_REASON says which it was.
 * After an error the results are those of the last run that ended without one.
 * ================================================================================================= */

/**
 * Runs iterations until no belief of a variable (see fastlbp_bp_set_measure) has changed by more than the tolerance in
 * an iteration, or until the greatest number of iterations or the time limit is reached.
 *
 * @return CONTRADICTION (see FASTLBP_REPORT_FIRST_CONTRADICTION), after which the messages are those of the
 *         contradictory iteration; LIMIT_EXCEEDED with FASTLBP_MEASURE_ALL for a factor of more than 2^20 joint
 *         states; UNSUPPORTED for max-product on a NOISY factor, or a TERMS factor whose terms do not exclude each
 *         other, of more than 2^22 joint states, and for an active set together with damping or SEQMAX; as in
 *         fastlbp_bp_prepare; OUT_OF_RANGE for a device that there is not; DEVICE_FAILED.
 */
FASTLBP_API
fastlbp_status fastlbp_bp_run(fastlbp_bp *bp);

/**
 * Runs a number of iterations, unless the time limit or the progress callback ends them earlier.
 *
 * @param iterations The number.
 * @return As fastlbp_bp_run.
 */
FASTLBP_API fastlbp_status fastlbp_bp_run_iterations(fastlbp_bp *bp, uint64_t iterations);

/**
 * Runs iterations by the rule of BINGO (`run(tolerance, minIters, maxIters, histLength)`). Before each iteration, with
 * n done, the run ends *converged* if the largest difference is at most `tolerance`; it ends if n > `min_iterations`
 * and the fraction of variables and factors that still move by more than `tolerance` is below (n - min_iterations) /
 * (max_iterations - min_iterations); it ends if n > `max_iterations`. Without convergence, the results are the means of
 * the last min(`history`, n) beliefs.
 *
 * @param tolerance Largest difference that counts as none, >= 0.
 * @param min_iterations Iterations before the fraction is looked at.
 * @param max_iterations Iterations after which the run ends in any case, at least `min_iterations`.
 * @param history Number of beliefs that the results average, at least 1.
 * @param active_fraction Where the fraction after the last iteration is written, or NULL.
 * @return As fastlbp_bp_run; INVALID_ARGUMENT.
 */
FASTLBP_API
fastlbp_status fastlbp_bp_run_bingo(fastlbp_bp *bp,
                                    double tolerance,
                                    uint64_t min_iterations,
                                    uint64_t max_iterations,
                                    uint64_t history,
                                    double *active_fraction);

/**
 * Computes the results exactly, by a junction tree, in place of iterations: marginals, beliefs of factors and of other
 * variables that are in one clique of it, the log-partition and, with FASTLBP_INFERENCE_MAX_PRODUCT, the most probable
 * joint state; to see how far off a run is, or where the treewidth is small. They are those of the evidence as it is now,
 * and stay until the next run, or until messages are set. Messages and reports are not touched.
 *
 * Time and memory grow exponentially with the treewidth of the graph without the observed variables; `table_limit`
 * entries of 16 bytes and half as many more are the most it takes.
 *
 * @param table_limit Most entries of all tables together, or 0 for 2^24.
 * @return LIMIT_EXCEEDED if more are needed, with the number of variables of the table that was too large;
 *         CONTRADICTION if no joint state is possible.
 */
FASTLBP_API
fastlbp_status fastlbp_bp_run_exact(fastlbp_bp *bp,
                                    size_t table_limit);

/**
 * Makes all messages uniform and the number of iterations 0, so that the next run is a fresh one even with
 * FASTLBP_START_WARM. Evidence, schedule, settings and results stay. O(edges).
 *
 * @return OK.
 */
FASTLBP_API
fastlbp_status fastlbp_bp_reset(fastlbp_bp *bp);

/* =================================================================================================
 * 11. Reports
 *
 * For those who want to know how a run went, or what a session does. Keys are for one of two functions, by the type of
 * what they stand for. Unless it says otherwise, a key is about the last run that ended without an error.
 * ================================================================================================= */

/**
 * Report, u64: number of iterations.
 */
#define FASTLBP_REPORT_ITERATIONS 0

/**
 * Report, u64: number of iterations since the messages were uniform; with warm starts, those of several runs.
 */
#define FASTLBP_REPORT_TOTAL_ITERATIONS 1

/**
 * Report, u64: 1 if the changes fell to the tolerance, else 0; 0 for a run with a fixed number of iterations.
 */
#define FASTLBP_REPORT_CONVERGED 2

/**
 * Report, u64: why the run ended, FASTLBP_STOP_CONVERGED and so on.
 */
#define FASTLBP_REPORT_STOP_REASON 3

/**
 * Report, u64: number of messages that a run with an active set left out on the CPU, which depends on what was faster; 0 without
 * one, and on devices.
 */
#define FASTLBP_REPORT_SPARED_MESSAGES 4

/**
 * Report, u64: number of contradictory places of the last run, also of one that failed by them: of the iteration
 * with most of them under FASTLBP_CONTRADICTION_VOTE, else of the one that ended the run.
 */
#define FASTLBP_REPORT_CONTRADICTIONS 5

/**
 * Report, u64: label of the lowest contradictory variable in the first iteration of the last run that had one, also of
 * a run that failed by it; NO_RESULT if there was none.
 */
#define FASTLBP_REPORT_FIRST_CONTRADICTION 6

/**
 * Report, u64: FASTLBP_BACKEND_CPU or FASTLBP_BACKEND_CUDA, where the last run was made, or where the first one will
 * most likely be. Needs no run; prepares a session that is not yet prepared.
 */
#define FASTLBP_REPORT_BACKEND 7

/**
 * Report, u64: number of CPU threads that iterations run on. Needs no run; prepares a session that is not yet prepared.
 */
#define FASTLBP_REPORT_THREADS 8

/**
 * Report, u64: number of variables about which something is known. Needs no run.
 */
#define FASTLBP_REPORT_EVIDENCE 9

/**
 * Report, f64: largest change in the last iteration: of a variable's belief, with FASTLBP_MEASURE_ALL also of a factor's,
 * by BINGO's rule also of a factor's incoming messages. Infinity if no iteration was made.
 */
#define FASTLBP_REPORT_MAX_DIFF 10

/**
 * Report, f64: fraction of the variables and factors that moved by more than the tolerance in the last iteration
 * (fastlbp_bp_run_bingo); 1 for other runs.
 */
#define FASTLBP_REPORT_ACTIVE_FRACTION 11

/**
 * A run ended since the changes fell to the tolerance.
 */
#define FASTLBP_STOP_CONVERGED 0

/**
 * A run ended since all iterations asked for were made.
 */
#define FASTLBP_STOP_ITERATIONS 1

/**
 * A run ended by BINGO's rule since few variables and factors still moved.
 */
#define FASTLBP_STOP_ACTIVE_FRACTION 2

/**
 * A run ended since the time was up.
 */
#define FASTLBP_STOP_TIME 3

/**
 * A run ended since the progress callback asked for it.
 */
#define FASTLBP_STOP_CANCELLED 4


/**
 * A whole number of the report.
 *
 * @param key FASTLBP_REPORT_ITERATIONS, FASTLBP_REPORT_TOTAL_ITERATIONS, FASTLBP_REPORT_CONVERGED,
 *        FASTLBP_REPORT_STOP_REASON, FASTLBP_REPORT_SPARED_MESSAGES, FASTLBP_REPORT_CONTRADICTIONS,
 *        FASTLBP_REPORT_FIRST_CONTRADICTION, FASTLBP_REPORT_BACKEND, FASTLBP_REPORT_THREADS or FASTLBP_REPORT_EVIDENCE.
 * @return NO_RESULT before there is a run; INVALID_ARGUMENT for another number; as in fastlbp_bp_prepare.
 */
FASTLBP_API
fastlbp_status fastlbp_bp_report_u64(const fastlbp_bp *bp,
                                     uint32_t key,
                                     uint64_t *out);

/**
 * A real number of the report.
 *
 * @param key FASTLBP_REPORT_MAX_DIFF or FASTLBP_REPORT_ACTIVE_FRACTION.
 * @return NO_RESULT before there is a run; INVALID_ARGUMENT for another number.
 */
FASTLBP_API fastlbp_status fastlbp_bp_report_f64(const fastlbp_bp *bp, uint32_t key, double *out);

/* =================================================================================================
 * 12. Results
 *
 * For everyone. Marginals are those of the last run that ended without an error, NO_RESULT before there is one. Beliefs
 * of factors and joint beliefs are of the current messages and evidence, need no run, and prepare a session that is not
 * yet prepared. After fastlbp_bp_run_exact, all of them are those of that run.
 * ================================================================================================= */

/**
 * Marginals of all variables: the probabilities of the states of variable 0, then those of variable 1, and so on;
 * FASTLBP_COUNT_STATES in all. Each is exact to rounding on its own, so that a probability next to 1 can be had from
 * its complement.
 *
 * @return NO_RESULT.
 */
FASTLBP_API
fastlbp_status fastlbp_bp_marginals(const fastlbp_bp *bp,
                                    double *buffer,
                                    size_t length,
                                    size_t *needed);

/**
 * P(x = 1) of all variables of a graph with binary variables only.
 *
 * @return NO_RESULT; UNSUPPORTED if a variable has more or fewer than two states.
 */
FASTLBP_API
fastlbp_status fastlbp_bp_probabilities(const fastlbp_bp *bp,
                                        double *buffer,
                                        size_t length,
                                        size_t *needed);

/**
 * P(x = 1) of some variables.
 *
 * @param variables `count` indices of variables.
 * @param count Number of variables.
 * @param out Where `count` probabilities are written.
 * @return NO_RESULT; OUT_OF_RANGE, also for a variable with one state.
 */
FASTLBP_API
fastlbp_status fastlbp_bp_probabilities_of(const fastlbp_bp *bp,
                                           const uint32_t *variables,
                                           size_t count,
                                           double *out);

/**
 * Belief of some variables: of one alone its marginal, of several that share a factor their joint belief, one
 * probability per joint state, the first given variable fastest, from the lowest factor that contains all of them. None
 * at all gives the number 1. O(entries * size of the factor) at most.
 *
 * @param variables `count` indices of variables, all different, in any order.
 * @param count Number of variables.
 * @return OUT_OF_RANGE; INVALID_ARGUMENT if a variable is given twice or no factor contains all of them; LIMIT_EXCEEDED
 *         for more than 2^26 entries; CONTRADICTION if the belief would be 0/0; NO_RESULT for one variable before there
 *         is a run; as in fastlbp_bp_prepare.
 */
FASTLBP_API
fastlbp_status fastlbp_bp_belief(const fastlbp_bp *bp,
                                 const uint32_t *variables,
                                 size_t count,
                                 double *buffer,
                                 size_t length,
                                 size_t *needed);

/**
 * Belief of a factor: one probability per joint state of its variables, which ascend; the first one (lowest index)
 * varies fastest. O(entries * arity).
 *
 * @param factor Index of the factor.
 * @return OUT_OF_RANGE; LIMIT_EXCEEDED for more than 2^26 entries; CONTRADICTION if the belief would be 0/0; as in
 *         fastlbp_bp_prepare.
 */
FASTLBP_API
fastlbp_status fastlbp_bp_factor_belief(const fastlbp_bp *bp,
                                        size_t factor,
                                        double *buffer,
                                        size_t length,
                                        size_t *needed);

/**
 * One entry of the belief of a factor, for factors that are too large to write out. O(arity) for factors with a head,
 * O(terms * arity) for terms, O(entries) for tables.
 *
 * @param factor Index of the factor.
 * @param index Index of the joint state: the sum over the factor's variables of state times the product of the
 *        cardinalities of the variables before it.
 * @return OUT_OF_RANGE; CONTRADICTION if the belief would be 0/0; as in fastlbp_bp_prepare.
 */
FASTLBP_API
fastlbp_status fastlbp_bp_factor_belief_at(const fastlbp_bp *bp,
                                           size_t factor,
                                           uint64_t index,
                                           double *out);

/**
 * Natural logarithm of the partition function by the Bethe approximation (libDAI's `logZ`), from the current messages
 * and the beliefs of the last run, a sum-product one: the sum over variables i of (1 - d_i) H(b_i), less the sum over
 * factors f of KL(b_f || f), where d_i is the number of factors of variable i, b its belief and b_f that of a factor
 * (Yedidia, Freeman, Weiss: Constructing free-energy approximations, 2005). Exact on a graph without cycles after a
 * converged run. With evidence, the partition function sums over the joint states that agree with it, weighted by
 * likelihoods: less the value without evidence, it is the log-probability of the evidence.
 *
 * Run again first if evidence or messages were changed since the last run. O(edges * states), for tables O(entries *
 * arity). The bits of all that leads to it are the same everywhere; the logarithm is the platform's.
 *
 * @return NO_RESULT before there is such a run, and in a clone or after a change of backend or threads until the session
 *         has run again (0 iterations from a warm start will do); CONTRADICTION if a factor's belief would be 0/0.
 */
FASTLBP_API
fastlbp_status fastlbp_bp_log_partition(const fastlbp_bp *bp,
                                        double *out);

/**
 * A joint state decoded from the current messages, one state per variable, in general after a run with
 * FASTLBP_INFERENCE_MAX_PRODUCT: on a graph without cycles, after a converged run, one of the most probable joint states;
 * elsewhere a good guess, whose score fastlbp_bp_log_score tells. O(edges * cost of a message).
 *
 * Factors are visited depth first, as in libDAI: from the lowest of each connected component, then always the highest of
 * the factors of the variables that got their states last. The variables of a factor that are still free take the joint
 * state that maximises the factor's belief, given the states already taken; so what is decoded is one joint state, not a
 * mixture of several. Of joint states whose values are equal, bit for bit, the one with the lower state at the highest
 * variable where they differ wins. Observed variables keep their observed state.
 *
 * @return NO_RESULT as in fastlbp_bp_log_partition; CONTRADICTION if a factor excludes the states already taken, as can
 *         happen on graphs with cycles; UNSUPPORTED for a factor that max-product cannot handle (see fastlbp_bp_run).
 */
FASTLBP_API
fastlbp_status fastlbp_bp_find_maximum(const fastlbp_bp *bp,
                                       uint32_t *buffer,
                                       size_t length,
                                       size_t *needed);

/**
 * Natural logarithm of the product of all factors, and of the likelihoods of soft evidence, at a joint state: minus
 * infinity where a factor or an observation excludes it. Less fastlbp_bp_log_partition, it is the log-probability of the
 * joint state. Needs no run. O(edges + conditions of terms). The logarithm is the platform's.
 *
 * @param states `length` states, by variable index.
 * @param length Must be the number of variables.
 * @return INVALID_ARGUMENT for another length; OUT_OF_RANGE for a state that its variable does not have; as in
 *         fastlbp_bp_prepare.
 */
FASTLBP_API
fastlbp_status fastlbp_bp_log_score(const fastlbp_bp *bp,
                                    const uint32_t *states,
                                    size_t length,
                                    double *out);

/* =================================================================================================
 * 13. Messages
 *
 * For those who go on later, in another process, or from messages of their own. fastlbp_bp_messages tells them as
 * probabilities, which are rounded; fastlbp_bp_save_state keeps every bit.
 * ================================================================================================= */

/**
 * All factor-to-variable messages, edge by edge: one probability per state of the edge's variable. Prepares a session
 * that is not yet prepared, unless only the length is asked for.
 *
 * @return As fastlbp_bp_prepare.
 */
FASTLBP_API
fastlbp_status fastlbp_bp_messages(const fastlbp_bp *bp,
                                   double *buffer,
                                   size_t length,
                                   size_t *needed);

/**
 * Replaces all factor-to-variable messages, in the layout of fastlbp_bp_messages. The number of iterations done counts
 * from 0 again. A run with FASTLBP_START_WARM goes on from them.
 *
 * @param messages `length` values: for each edge finite and not negative, not all zero; only their ratios matter.
 * @param length Must be the length that fastlbp_bp_messages needs.
 * @return INVALID_ARGUMENT; as in fastlbp_bp_prepare.
 */
FASTLBP_API
fastlbp_status fastlbp_bp_set_messages(fastlbp_bp *bp,
                                       const double *messages,
                                       size_t length);

/**
 * The exact state of the messages and the number of iterations done: words whose meaning belongs to this version of the
 * library. Evidence, schedule, settings and results are not part of it. Prepares a session that is not yet prepared.
 *
 * @return As fastlbp_bp_prepare.
 */
FASTLBP_API
fastlbp_status fastlbp_bp_save_state(const fastlbp_bp *bp,
                                     uint64_t *buffer,
                                     size_t length,
                                     size_t *needed);

/**
 * Goes back to a saved state, also of another session on an equal graph. A run with FASTLBP_START_WARM goes on from it
 * with the same bits.
 *
 * @param state `length` words from fastlbp_bp_save_state.
 * @param length Number of words.
 * @return INVALID_ARGUMENT if it is not a state of this version and of a graph with these labels, cardinalities and
 *         scopes, or is damaged, which a checksum in it tells; as in fastlbp_bp_prepare.
 */
FASTLBP_API
fastlbp_status fastlbp_bp_restore_state(fastlbp_bp *bp,
                                        const uint64_t *state,
                                        size_t length);

/* =================================================================================================
 * 14. Many at once
 *
 * For those with many questions on one graph, or many small graphs: several run at once, and results are those of
 * running them one by one. One that fails spoils none of the others: its status says why, and a warning with the reason
 * goes to the log.
 * ================================================================================================= */

/**
 * Runs many evidence sets on the session's graph as fastlbp_bp_run would, each as a fresh run of its own with exactly
 * that evidence: entry i observes `variables[j]` in `states[j]` for all j from `entry_offsets[i]` up to, but not
 * including, `entry_offsets[i + 1]`; of several states for one variable the last one counts. The session's own evidence,
 * messages and results stay as they are; its settings are those of the runs, but for the start, which is fresh, and the
 * time limit is one per entry. The marginals of an entry that fails are NaN.
 *
 * On devices, entries run on all that the session may use (the property `device`); what one had begun that fails is run
 * on another one.
 *
 * The progress callback is called after each entry, on the calling thread: `iterations` is the number of finished entries,
 * `max_iterations` that of all, `max_diff` infinity and `active_fraction` 1. If it ends the call, entries that run at that
 * moment end before their next iteration, with the results so far, and those that have not begun get NO_RESULT.
 *
 * @param bp The session; changed only in that it is prepared and keeps what the next batch can use.
 * @param entry_offsets `entries + 1` offsets, not descending, from 0 to `count`.
 * @param entries Number of entries.
 * @param variables `count` indices of variables.
 * @param states `count` states.
 * @param count Number of observations in all entries.
 * @param marginals Where the marginals of all entries are written, one entry after the other, each laid out as by
 *        fastlbp_bp_marginals.
 * @param length Length of that buffer; entries * FASTLBP_COUNT_STATES is enough.
 * @param statuses Where `entries` statuses are written, or NULL: OK, or that with which fastlbp_bp_run would have failed.
 * @return OK if the entries were run, whatever their own statuses; INVALID_ARGUMENT or OUT_OF_RANGE before anything is
 *         run; LIMIT_EXCEEDED; as in fastlbp_bp_prepare.
 */
FASTLBP_API
fastlbp_status fastlbp_bp_run_batch(fastlbp_bp *bp,
                                    const size_t *entry_offsets,
                                    size_t entries,
                                    const uint32_t *variables,
                                    const uint32_t *states,
                                    size_t count,
                                    double *marginals,
                                    size_t length,
                                    size_t *needed,
                                    fastlbp_status *statuses);

/**
 * Prepares and runs many sessions as fastlbp_bp_run would run each of them; afterwards each has its own results and
 * report. Where there are several devices, those on a device run on all that they may use (the property `device`), each on
 * the one that it ran on before, or else on the first that is free; what one had begun that fails is run on another one.
 * Sessions on small graphs run several at once, on one thread each: as many as the session with the most threads may use
 * (fastlbp_bp_set_threads). Then the others, among them those on the only device, run one after the other on the calling
 * thread, and so do those with a progress callback. Other messages to the log may come from threads of the library's own.
 *
 * @param sessions `count` sessions, all different; changed.
 * @param count Number of sessions.
 * @param statuses Where `count` statuses are written: what fastlbp_bp_run would have returned for each.
 * @return OK if the sessions were run, whatever their own statuses; NULL_POINTER, BUSY (also for a session that is given
 *         twice) or POISONED, with its position in the text, before anything is run.
 */
FASTLBP_API
fastlbp_status fastlbp_run_all(fastlbp_bp *const *sessions,
                               size_t count,
                               fastlbp_status *statuses);

/* =================================================================================================
 * 15. Devices
 *
 * For those who choose among CUDA devices, or ask why there is none; fastlbp_bp_set_backend and fastlbp_bp_set_device
 * do the choosing. The driver is loaded and started by the first call that needs it; where CUDA cannot be used, all of
 * these are NO_DEVICE, and the error text says why: the library was built without it, there is no driver, it is too old
 * or cannot be started, there is no device.
 * ================================================================================================= */

/**
 * Number of CUDA devices, at least 1.
 *
 * @return NO_DEVICE.
 */
FASTLBP_API fastlbp_status fastlbp_device_count(uint32_t *out);

/**
 * Name of a CUDA device, such as "NVIDIA H200".
 *
 * @param index Number of the device, from 0, in the driver's order (which the environment variables
 *        CUDA_VISIBLE_DEVICES and CUDA_DEVICE_ORDER change).
 * @param buffer Where the characters are written, with the final NUL.
 * @return OUT_OF_RANGE if there is no device of this number; NO_DEVICE.
 */
FASTLBP_API
fastlbp_status fastlbp_device_name(uint32_t index,
                                   char *buffer,
                                   size_t length,
                                   size_t *needed);

/**
 * Memory of a CUDA device, in bytes, at this moment. The first call in a process takes some 100 milliseconds and some
 * of that memory, since the driver tells only those that use the device.
 *
 * @param index Number of the device, as in fastlbp_device_name.
 * @param total Where the size of its memory is written.
 * @param free Where the size of what no process uses is written.
 * @return OUT_OF_RANGE if there is no device of this number; NO_DEVICE, also if the device is too old for the library
 *         (compute capability below 7.0); DEVICE_FAILED if it does not work.
 */
FASTLBP_API
fastlbp_status fastlbp_device_memory(uint32_t index,
                                     uint64_t *total,
                                     uint64_t *free);

/**
 * The version of CUDA that the driver supports, such as 13.0; the library needs 12.0 or later (NVIDIA's driver 525).
 *
 * @param major Where the major version is written.
 * @param minor Where the minor version is written.
 * @return NO_DEVICE.
 */
FASTLBP_API
fastlbp_status fastlbp_device_driver_version(uint32_t *major,
                                             uint32_t *minor);

/**
 * Starts the driver on a CUDA device, and keeps its context, for which the first session on it would wait 0.2 seconds. A thread
 * of the host can do that while another one makes the graph; a session that needs the device meanwhile waits for it. With
 * FASTLBP_BACKEND_AUTO, runs after it count the start as done. The process must not end meanwhile.
 *
 * Where nothing else in the process uses CUDA, the environment variable CUDA_DEVICE_MAX_CONNECTIONS=1, set before the process
 * begins, halves the time that the context takes.
 *
 * @param index Number of the device, as in fastlbp_device_name, or FASTLBP_DEVICE_DEFAULT.
 * @return OUT_OF_RANGE if there is no device of this number; INVALID_ARGUMENT for what FASTLBP_DEVICE holds; NO_DEVICE, also if the
 *         device is too old for the library (compute capability below 7.0); DEVICE_FAILED if it does not work.
 */
FASTLBP_API
fastlbp_status fastlbp_device_start(uint32_t index);

#ifdef __cplusplus
} // extern "C"
#endif

#endif /* FASTLBP_H */
