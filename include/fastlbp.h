/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Made from src/ffi by cbindgen; see tests/header.rs. Do not edit. */

/**
 * @file fastlbp.h
 * @brief fastlbp: belief propagation on factor graphs, for probabilistic program analysis.
 *
 * A `fastlbp_graph` is a factor graph: discrete variables, and factors that are dense tables, priors
 * (singletons), noisy conjunctions (AND, the probabilistic Horn clauses), noisy disjunctions (OR),
 * conjunctions of signed literals (also CNF clauses), noisy-OR and noisy-AND, or sums of weighted terms.
 * A `fastlbp_bp` is a session of belief propagation on one: an update schedule, evidence, messages,
 * and the results of the last run. For a graph, schedule, evidence and number of passes, results are
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
 *     double p[3];
 *     fastlbp_graph *graph = NULL;
 *     fastlbp_bp *bp = NULL;
 *     if (fastlbp_graph_new(&graph) != FASTLBP_STATUS_OK
 *         || fastlbp_graph_add_singleton(graph, 1, 0.3) != FASTLBP_STATUS_OK
 *         || fastlbp_graph_add_singleton(graph, 2, 0.8) != FASTLBP_STATUS_OK
 *         || fastlbp_graph_add_and(graph, 3, body, 2, 0.9, 0.0) != FASTLBP_STATUS_OK
 *         || fastlbp_bp_new(graph, &bp) != FASTLBP_STATUS_OK)
 *         return failed("graph");
 *     fastlbp_graph_free(graph); // the session shares what it needs
 *
 *     if (fastlbp_bp_set_schedule(bp, "TREE", 0) != FASTLBP_STATUS_OK
 *         || fastlbp_bp_observe_label(bp, 3, 1) != FASTLBP_STATUS_OK // x3 is true
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
 * @par Status and error text
 * Every call that can fail returns a `fastlbp_status`; fastlbp_last_error() then has a text, per
 * thread, that says what was wrong, with which value, and what would be right. When a call fails, it
 * has written none of its outputs (but `*needed`, see below) and changed nothing, except where its
 * description says otherwise. The list of statuses of a function leaves out those that many can
 * return: NULL_POINTER, BUSY, POISONED, PANIC, OUT_OF_MEMORY.
 *
 * @par Ownership
 * Handles come from functions with an `out` parameter and go back by the `_free` function of their
 * type, which takes NULL as well. Arrays and strings that go in are copied and only read during the
 * call. Results go into memory of the caller. Strings that come out as `const char *` belong to the
 * library. Strings are NUL-terminated UTF-8.
 *
 * @par Arrays
 * All lengths are numbers of entries. An array of length 0 may be NULL. Where a function fills
 * `buffer`, a longer one is fine, and only its beginning is written; for one that is too short the
 * status is FASTLBP_STATUS_BUFFER_TOO_SMALL and nothing is written but the length needed, to
 * `*needed`, which is also written on success; `needed` may be NULL. To ask for the length alone, call
 * with NULL and 0.
 *
 * @par Threads
 * Any thread may call any function, and different handles are independent. Functions that take a
 * `const` handle only read it, and any number of them may run at the same time on one handle.
 * Functions that take a handle without `const` change it: when such a call and any other one on the
 * same handle would run at the same time, the one that comes later returns FASTLBP_STATUS_BUSY at once
 * and does nothing. Only the `_free` functions need care: no call that uses the handle may begin once
 * it is called. The error text is per thread.
 *
 * @par Defects
 * A defect of the library that it notices ends the call with FASTLBP_STATUS_PANIC, not the process;
 * the handle in use then answers FASTLBP_STATUS_POISONED and can only be freed.
 *
 * @par Compatibility
 * C99 or later, C++11 or later. Within one SONAME functions, constants and statuses are only added.
 * Numbers passed as an enumeration (`uint32_t`) are checked: unknown ones are
 * FASTLBP_STATUS_INVALID_ARGUMENT.
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
 * Kind of a factor: a dense table.
 */
#define FASTLBP_FACTOR_TABLE 0

/**
 * Kind of a factor: the prior of a binary variable, f(1) = p and f(0) = 1 - p.
 */
#define FASTLBP_FACTOR_SINGLETON 1

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
 * In arrays of variable indices: no variable.
 */
#define FASTLBP_NO_VARIABLE UINT32_MAX

/**
 * In the indicators of terms: any state.
 */
#define FASTLBP_WILDCARD -1

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
 * Start of a run: from uniform messages.
 */
#define FASTLBP_START_FRESH 0

/**
 * Start of a run: from the messages as the last run, fastlbp_bp_set_messages or
 * fastlbp_bp_restore_state left them.
 */
#define FASTLBP_START_WARM 1

/**
 * Contradictions (places where certain messages that disagree meet, so that a belief or message
 * would be 0/0): end the run with FASTLBP_STATUS_CONTRADICTION.
 */
#define FASTLBP_CONTRADICTION_ERROR 0

/**
 * Contradictions: the state backed by more certain messages wins, a tie is uniform; the run goes on
 * and counts them.
 */
#define FASTLBP_CONTRADICTION_VOTE 1

/**
 * A run ended since the changes fell to the tolerance.
 */
#define FASTLBP_STOP_CONVERGED 0

/**
 * A run ended since all passes asked for were made.
 */
#define FASTLBP_STOP_PASSES 1

/**
 * A run ended by BINGO's rule since few variables and factors still moved.
 */
#define FASTLBP_STOP_SHARE 2

/**
 * A run ended since the time was up.
 */
#define FASTLBP_STOP_TIME 3

/**
 * A run ended since the progress callback asked for it.
 */
#define FASTLBP_STOP_CANCELLED 4

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
 * For fastlbp_bp_set_device: the device of the environment variable FASTLBP_DEVICE, and 0 where that is
 * not set.
 */
#define FASTLBP_DEVICE_DEFAULT UINT32_MAX

/**
 * What a call came to. Numbers are fixed: later versions only add some.
 *
 * Any function that takes a handle can also return NULL_POINTER, BUSY, POISONED and PANIC, and any
 * that allocates OUT_OF_MEMORY; the functions' own lists leave these out.
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
     * Certain messages that disagree meet; the text names the variable.
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
 * A session of belief propagation on one graph: a schedule, evidence, messages, and the results of
 * the last run.
 *
 * The analysis of the schedule and all buffers are made once, at the first run or
 * fastlbp_bp_prepare; evidence is data that can change between runs at no cost but its own.
 *
 * Made by fastlbp_bp_new or fastlbp_bp_clone, freed by fastlbp_bp_free.
 */
typedef struct fastlbp_bp fastlbp_bp;

/**
 * A factor graph over discrete variables.
 *
 * Variables are named by labels, any 64-bit numbers of the caller's; labels may have gaps. The
 * index of a variable is the rank of its label, counted from 0. The index of a factor is the
 * number of factors added before it. An edge joins a factor with one of its variables; edges are
 * numbered factor by factor, and within a factor by ascending variable. Labels are used to build
 * a graph, indices everywhere else unless said otherwise.
 *
 * Adding factors and reading the graph may alternate: the compact form that reading and
 * fastlbp_bp_new need is built when it is first needed, in O(variables log variables + edges +
 * table entries), and again after more was added. Errors that only show when all factors are known
 * (see fastlbp_graph_build) are returned by the call that needs that form.
 *
 * Made by fastlbp_graph_new or fastlbp_graph_read_file, freed by fastlbp_graph_free.
 */
typedef struct fastlbp_graph fastlbp_graph;

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
 * Told after each pass how a run goes.
 *
 * @param user The pointer given to fastlbp_bp_set_progress.
 * @param passes Passes done in this run.
 * @param max_passes Largest number of passes that this run can make.
 * @param max_diff Largest change in the last pass; infinity where the run does not measure it.
 * @param frac Share of variables and factors that still move (fastlbp_bp_run_bingo), else 1.
 * @return 0 to go on, any other number to end the run before its next pass.
 *
 * Called on the thread that called the run function. Calls on the running session from inside it
 * return FASTLBP_STATUS_BUSY, but fastlbp_bp_free, which takes effect when the run ends. It must
 * return: no exception and no longjmp may leave it.
 */
typedef int32_t (*fastlbp_progress_callback)(void *user,
                                             uint64_t passes,
                                             uint64_t max_passes,
                                             double max_diff,
                                             double frac);

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * Version of the library that is loaded, such as "0.1.0"; compare it with FASTLBP_VERSION_MAJOR,
 * FASTLBP_VERSION_MINOR and FASTLBP_VERSION_PATCH of the header.
 *
 * @return A static string, never NULL.
 *
 * May be called from any thread at any time.
 */
FASTLBP_API const char *fastlbp_version(void);

/**
 * How the loaded library was built: version, machine, debug or release, backends, features; for
 * logs and bug reports.
 *
 * @return A static string, never NULL.
 *
 * May be called from any thread at any time.
 */
FASTLBP_API const char *fastlbp_build_info(void);

/**
 * The name of a status, such as "FASTLBP_STATUS_BUSY".
 *
 * @param status Any number.
 * @return A static string, never NULL; "unknown status" for a number that names none.
 *
 * May be called from any thread at any time.
 */
FASTLBP_API const char *fastlbp_status_string(int32_t status);

/**
 * What was wrong in the last call on this thread that failed: with which value, and what would be
 * right.
 *
 * @return UTF-8 text, never NULL; "" if no call on this thread has failed yet. It belongs to the
 *         library and stays valid until the next fastlbp call on this thread; copy it to keep it.
 *         Calls that succeed do not change it.
 *
 * May be called from any thread at any time; each thread has its own text.
 */
FASTLBP_API const char *fastlbp_last_error(void);

/**
 * Sets where the library's messages go; by default, and with NULL, nowhere. The library writes
 * nothing to stdout or stderr (the one exception is a call that ends with FASTLBP_STATUS_PANIC: the
 * language's runtime then describes the defect on stderr).
 *
 * @param callback The function to call, or NULL.
 * @param user Handed to the callback as it is; may be NULL.
 * @return FASTLBP_STATUS_OK; FASTLBP_STATUS_BUSY from inside the callback itself.
 *
 * May be called from any thread. It waits until calls of the previous callback on other threads
 * have ended: after its return, the previous callback is not called any more.
 */
FASTLBP_API fastlbp_status fastlbp_set_log_callback(fastlbp_log_callback callback, void *user);

/**
 * Makes an empty graph.
 *
 * @param out Where the handle is written; free it with fastlbp_graph_free.
 * @return FASTLBP_STATUS_OK.
 */
FASTLBP_API fastlbp_status fastlbp_graph_new(fastlbp_graph **out);

/**
 * Reads a graph from a file. The name's suffix tells the format: `.causal_fg` (the format of the
 * CausalBP extension of libDAI), `.fg` (libDAI), `.uai` (UAI competitions) or `.bif` (Bayesian
 * networks, whose names are left out), each also compressed with a further `.gz`. O(size of the file).
 *
 * @param path Name of the file.
 * @param out Where the handle is written; free it with fastlbp_graph_free.
 * @return FASTLBP_STATUS_OK; FASTLBP_STATUS_IO; FASTLBP_STATUS_PARSE, with file and line in the
 *         text; FASTLBP_STATUS_INVALID_ARGUMENT for an unknown suffix or a graph with errors as in
 *         fastlbp_graph_build; FASTLBP_STATUS_LIMIT_EXCEEDED; FASTLBP_STATUS_INVALID_UTF8.
 */
FASTLBP_API
fastlbp_status fastlbp_graph_read_file(const char *path,
                                       fastlbp_graph **out);

/**
 * Frees a graph. Sessions made from it go on working: they share what they need.
 *
 * @param graph A handle, or NULL, for which nothing happens. It must not be used afterwards.
 */
FASTLBP_API void fastlbp_graph_free(fastlbp_graph *graph);

/**
 * Declares a variable. Only needed for variables with more than two states and for such as occur in
 * no factor: a label that is not declared is a binary variable.
 *
 * @param graph The graph; changed.
 * @param label The label. Declaring it again with the same cardinality is harmless.
 * @param cardinality Number of states, at least 1; a variable with a single state is for tables and
 *        terms only.
 * @return FASTLBP_STATUS_OK; FASTLBP_STATUS_INVALID_ARGUMENT; FASTLBP_STATUS_LIMIT_EXCEEDED.
 */
FASTLBP_API
fastlbp_status fastlbp_graph_add_variable(fastlbp_graph *graph,
                                          uint64_t label,
                                          size_t cardinality);

/**
 * Declares many variables, or none if one is wrong; see fastlbp_graph_add_variable.
 *
 * @param graph The graph; changed.
 * @param labels `count` labels.
 * @param cardinalities `count` numbers of states, each at least 1.
 * @param count Number of variables.
 * @return FASTLBP_STATUS_OK; FASTLBP_STATUS_INVALID_ARGUMENT.
 */
FASTLBP_API
fastlbp_status fastlbp_graph_add_variables(fastlbp_graph *graph,
                                           const uint64_t *labels,
                                           const uint32_t *cardinalities,
                                           size_t count);

/**
 * Adds the prior of a binary variable: f(1) = p, f(0) = 1 - p.
 *
 * @param graph The graph; changed.
 * @param label Label of the variable.
 * @param p A probability, from 0 to 1.
 * @return FASTLBP_STATUS_OK; FASTLBP_STATUS_INVALID_ARGUMENT.
 */
FASTLBP_API
fastlbp_status fastlbp_graph_add_singleton(fastlbp_graph *graph,
                                           uint64_t label,
                                           double p);

/**
 * Adds a noisy conjunction of binary variables: P(head = 1) = p if the whole body is true, and q
 * otherwise. An empty body is true. A probabilistic Horn clause is one, with q = 0 mostly.
 *
 * @param graph The graph; changed.
 * @param head Label of the head.
 * @param body `body_length` labels; duplicates merge.
 * @param body_length Number of labels in the body.
 * @param p A probability, from 0 to 1.
 * @param q A probability, from 0 to 1.
 * @return FASTLBP_STATUS_OK; FASTLBP_STATUS_INVALID_ARGUMENT.
 *
 * O(body_length).
 */
FASTLBP_API
fastlbp_status fastlbp_graph_add_and(fastlbp_graph *graph,
                                     uint64_t head,
                                     const uint64_t *body,
                                     size_t body_length,
                                     double p,
                                     double q);

/**
 * Adds a noisy disjunction of binary variables: P(head = 0) = p if the whole body is false, and q
 * otherwise. An empty body is false.
 *
 * @param graph The graph; changed.
 * @param head Label of the head.
 * @param body `body_length` labels; duplicates merge.
 * @param body_length Number of labels in the body.
 * @param p A probability, from 0 to 1.
 * @param q A probability, from 0 to 1.
 * @return FASTLBP_STATUS_OK; FASTLBP_STATUS_INVALID_ARGUMENT.
 *
 * O(body_length).
 */
FASTLBP_API
fastlbp_status fastlbp_graph_add_or(fastlbp_graph *graph,
                                    uint64_t head,
                                    const uint64_t *body,
                                    size_t body_length,
                                    double p,
                                    double q);

/**
 * Adds many singleton, AND and OR factors in one call, or none if one is wrong. Factor i has the
 * kind `kinds[i]`, the head `heads[i]`, as its body the labels from `bodies[body_offsets[i]]` up to,
 * but not including, `bodies[body_offsets[i + 1]]` (none for a singleton), and the probabilities
 * `p[i]` and `q[i]` (q is ignored for a singleton).
 *
 * @param graph The graph; changed.
 * @param count Number of factors.
 * @param kinds `count` kinds: FASTLBP_FACTOR_SINGLETON, FASTLBP_FACTOR_AND or FASTLBP_FACTOR_OR.
 * @param heads `count` labels.
 * @param body_offsets `count + 1` offsets, not descending, from 0 to `bodies_length`.
 * @param bodies `bodies_length` labels.
 * @param bodies_length Number of labels in all bodies together.
 * @param p `count` probabilities, from 0 to 1.
 * @param q `count` probabilities, from 0 to 1.
 * @return FASTLBP_STATUS_OK; FASTLBP_STATUS_INVALID_ARGUMENT.
 *
 * O(count + bodies_length). Gives the same graph as the single calls.
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
 * Adds a dense table. The first variable of the scope varies fastest, as in libDAI: for a scope
 * (a, b), the value for states (x, y) is `values[x + y * cardinality(a)]`.
 *
 * @param graph The graph; changed.
 * @param scope `scope_length` labels, all different.
 * @param scope_length Number of variables; 0 makes a constant.
 * @param values `values_length` values, one per joint state: finite, not negative, not all zero.
 * @param values_length Number of values: the product of the cardinalities of the scope, which is
 *        checked when the graph is built.
 * @return FASTLBP_STATUS_OK; FASTLBP_STATUS_INVALID_ARGUMENT.
 *
 * O(scope_length + values_length).
 */
FASTLBP_API
fastlbp_status fastlbp_graph_add_table(fastlbp_graph *graph,
                                       const uint64_t *scope,
                                       size_t scope_length,
                                       const double *values,
                                       size_t values_length);

/**
 * Adds many dense tables in one call, or none if one is wrong; see fastlbp_graph_add_table. Table i
 * has the scope from `scopes[scope_offsets[i]]` up to, but not including,
 * `scopes[scope_offsets[i + 1]]`, and likewise the values cut out by `value_offsets`.
 *
 * @param graph The graph; changed.
 * @param count Number of tables.
 * @param scope_offsets `count + 1` offsets, not descending, from 0 to `scopes_length`.
 * @param scopes `scopes_length` labels.
 * @param scopes_length Number of labels in all scopes together.
 * @param value_offsets `count + 1` offsets, not descending, from 0 to `values_length`.
 * @param values `values_length` values.
 * @param values_length Number of values in all tables together.
 * @return FASTLBP_STATUS_OK; FASTLBP_STATUS_INVALID_ARGUMENT.
 *
 * O(count + scopes_length + values_length).
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

/**
 * Checks the graph and builds its compact form now, instead of when it is first needed.
 *
 * @param graph The graph.
 * @return FASTLBP_STATUS_OK; FASTLBP_STATUS_INVALID_ARGUMENT if a variable is declared with two
 *         cardinalities, a table, NOISY or TERMS factor names a variable twice, a table does not
 *         have one value per joint state, a factor with a head names a variable with more than two
 *         states, or terms add up to a negative value or to zero everywhere (see
 *         fastlbp_graph_add_terms); FASTLBP_STATUS_OUT_OF_RANGE if a term wants a state that its
 *         variable does not have; FASTLBP_STATUS_LIMIT_EXCEEDED for more than 2^32 - 2 variables,
 *         factors or edges. Factors cannot be taken back: a graph with an error can only be freed.
 */
FASTLBP_API fastlbp_status fastlbp_graph_build(const fastlbp_graph *graph);

/**
 * Writes the graph to a file, in the format that the name's suffix tells (see
 * fastlbp_graph_read_file); every number is written so that it reads back to the same bits. The
 * file appears when it is complete.
 *
 * @param graph The graph.
 * @param path Name of the file.
 * @return FASTLBP_STATUS_OK; FASTLBP_STATUS_IO; FASTLBP_STATUS_INVALID_ARGUMENT for an unknown
 *         suffix or as in fastlbp_graph_build; FASTLBP_STATUS_UNSUPPORTED where the format cannot
 *         hold the graph; FASTLBP_STATUS_INVALID_UTF8.
 */
FASTLBP_API fastlbp_status fastlbp_graph_write_file(const fastlbp_graph *graph, const char *path);

/**
 * Adds a factor decided by a conjunction of signed literals of binary variables (a Horn clause with
 * signs): its value depends on the head and on whether all literals hold. An empty body holds. Equal
 * literals merge; a body with both signs of a variable never holds; the head may occur in its body.
 *
 * @param graph The graph; changed.
 * @param head Label of the head.
 * @param body `body_length` labels.
 * @param negated `body_length` signs: 0 for the literal `body[i]` = 1, 1 for `body[i]` = 0.
 * @param body_length Number of literals.
 * @param values 4 values: f(head = 1 | all hold), f(head = 0 | all hold), f(head = 1 | one fails),
 *        f(head = 0 | one fails): finite, not negative, not all zero.
 * @return FASTLBP_STATUS_OK; FASTLBP_STATUS_INVALID_ARGUMENT.
 *
 * O(body_length); all messages of the factor together take O(arity), as with all kinds but tables and
 * terms.
 */
FASTLBP_API
fastlbp_status fastlbp_graph_add_signed(fastlbp_graph *graph,
                                        uint64_t head,
                                        const uint64_t *body,
                                        const uint8_t *negated,
                                        size_t body_length,
                                        const double *values);

/**
 * Adds a noisy conjunction of signed literals: P(head = 1) = p if all literals hold, and q otherwise.
 * It is the SIGNED factor with the values (p, 1 - p, q, 1 - q); see fastlbp_graph_add_signed.
 *
 * @param graph The graph; changed.
 * @param head Label of the head.
 * @param body `body_length` labels.
 * @param negated `body_length` signs: 0 for the literal `body[i]` = 1, 1 for `body[i]` = 0.
 * @param body_length Number of literals.
 * @param p A probability, from 0 to 1.
 * @param q A probability, from 0 to 1.
 * @return FASTLBP_STATUS_OK; FASTLBP_STATUS_INVALID_ARGUMENT.
 *
 * O(body_length).
 */
FASTLBP_API
fastlbp_status fastlbp_graph_add_signed_and(fastlbp_graph *graph,
                                            uint64_t head,
                                            const uint64_t *body,
                                            const uint8_t *negated,
                                            size_t body_length,
                                            double p,
                                            double q);

/**
 * Adds a noisy disjunction of signed literals: P(head = 0) = p if no literal holds, and q otherwise.
 * It is the SIGNED factor with all signs turned and the values (1 - p, p, 1 - q, q); see
 * fastlbp_graph_add_signed.
 *
 * @param graph The graph; changed.
 * @param head Label of the head.
 * @param body `body_length` labels.
 * @param negated `body_length` signs: 0 for the literal `body[i]` = 1, 1 for `body[i]` = 0.
 * @param body_length Number of literals.
 * @param p A probability, from 0 to 1.
 * @param q A probability, from 0 to 1.
 * @return FASTLBP_STATUS_OK; FASTLBP_STATUS_INVALID_ARGUMENT.
 *
 * O(body_length).
 */
FASTLBP_API
fastlbp_status fastlbp_graph_add_signed_or(fastlbp_graph *graph,
                                           uint64_t head,
                                           const uint64_t *body,
                                           const uint8_t *negated,
                                           size_t body_length,
                                           double p,
                                           double q);

/**
 * Adds a clause of conjunctive normal form over binary variables: the factor is `satisfied` where one
 * of the literals holds, and `violated` where none does; 1 and 0 make a hard clause. It is a SIGNED
 * factor whose head is the first variable.
 *
 * @param graph The graph; changed.
 * @param variables `length` labels.
 * @param negated `length` signs: 0 for the literal `variables[i]` = 1, 1 for `variables[i]` = 0.
 * @param length Number of literals, at least 1.
 * @param satisfied A value, finite, not negative.
 * @param violated A value, finite, not negative; not both zero.
 * @return FASTLBP_STATUS_OK; FASTLBP_STATUS_INVALID_ARGUMENT.
 *
 * O(length).
 */
FASTLBP_API
fastlbp_status fastlbp_graph_add_clause(fastlbp_graph *graph,
                                        const uint64_t *variables,
                                        const uint8_t *negated,
                                        size_t length,
                                        double satisfied,
                                        double violated);

/**
 * Adds many SIGNED factors in one call, or none if one is wrong; see fastlbp_graph_add_signed. Factor
 * i has the head `heads[i]`, as its body the labels from `bodies[body_offsets[i]]` up to, but not
 * including, `bodies[body_offsets[i + 1]]` with the signs at the same places of `negated`, and the
 * values `values[4 * i]` to `values[4 * i + 3]`.
 *
 * @param graph The graph; changed.
 * @param count Number of factors.
 * @param heads `count` labels.
 * @param body_offsets `count + 1` offsets, not descending, from 0 to `bodies_length`.
 * @param bodies `bodies_length` labels.
 * @param negated `bodies_length` signs: 0 for the literal x = 1, 1 for x = 0.
 * @param bodies_length Number of literals in all bodies together.
 * @param values `4 * count` values, for each factor finite, not negative, not all zero.
 * @return FASTLBP_STATUS_OK; FASTLBP_STATUS_INVALID_ARGUMENT.
 *
 * O(count + bodies_length). Gives the same graph as the single calls.
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
 * Adds a factor decided by a conjunction of noisy literals: each holds with a probability that depends
 * on the state of its binary variable, independently of the others. With P(x) the product over i of
 * P(literal i holds | `body[i]`),
 *
 * `f(head, x) = P(x) * f(head | all hold) + (1 - P(x)) * f(head | one fails)`
 *
 * @param graph The graph; changed.
 * @param head Label of the head.
 * @param body `body_length` labels, all different and different from the head.
 * @param literals `4 * body_length` probabilities, for each literal that it holds and that it fails
 *        if its variable is 0, then that it holds and that it fails if it is 1. Both of a pair are
 *        given, as neither follows from the other without rounding; they add up to 1 within 1e-12.
 * @param body_length Number of literals.
 * @param values 4 values: f(head = 1 | all hold), f(head = 0 | all hold), f(head = 1 | one fails),
 *        f(head = 0 | one fails): finite, not negative, not all zero.
 * @return FASTLBP_STATUS_OK; FASTLBP_STATUS_INVALID_ARGUMENT.
 *
 * O(body_length).
 */
FASTLBP_API
fastlbp_status fastlbp_graph_add_noisy(fastlbp_graph *graph,
                                       uint64_t head,
                                       const uint64_t *body,
                                       const double *literals,
                                       size_t body_length,
                                       const double *values);

/**
 * Adds a noisy-OR of binary variables (Pearl 1988): P(head = 0 | x) = (1 - leak) * the product of
 * 1 - `links[i]` over all i with `body[i]` = 1. It is a NOISY factor.
 *
 * @param graph The graph; changed.
 * @param head Label of the head.
 * @param body `body_length` labels, all different and different from the head.
 * @param links `body_length` probabilities, from 0 to 1, that `body[i]` = 1 alone causes head = 1.
 * @param body_length Number of causes.
 * @param leak Probability, from 0 to 1, of head = 1 without any cause.
 * @return FASTLBP_STATUS_OK; FASTLBP_STATUS_INVALID_ARGUMENT.
 *
 * O(body_length).
 */
FASTLBP_API
fastlbp_status fastlbp_graph_add_noisy_or(fastlbp_graph *graph,
                                          uint64_t head,
                                          const uint64_t *body,
                                          const double *links,
                                          size_t body_length,
                                          double leak);

/**
 * Adds a noisy-AND of binary variables: P(head = 1 | x) = p * the product of `links[i]` over all i
 * with `body[i]` = 0. It is a NOISY factor.
 *
 * @param graph The graph; changed.
 * @param head Label of the head.
 * @param body `body_length` labels, all different and different from the head.
 * @param links `body_length` probabilities, from 0 to 1, that head = 1 survives `body[i]` = 0.
 * @param body_length Number of conditions.
 * @param p Probability, from 0 to 1, of head = 1 if the whole body is true.
 * @return FASTLBP_STATUS_OK; FASTLBP_STATUS_INVALID_ARGUMENT.
 *
 * O(body_length).
 */
FASTLBP_API
fastlbp_status fastlbp_graph_add_noisy_and(fastlbp_graph *graph,
                                           uint64_t head,
                                           const uint64_t *body,
                                           const double *links,
                                           size_t body_length,
                                           double p);

/**
 * Adds a factor with local structure, a sum of weighted terms over variables of any cardinalities: its
 * value is the sum of `weights[t]` over all terms t for which every variable i of the scope is in the
 * state `indicators[t * scope_length + i]`, or that is FASTLBP_WILDCARD. All messages of the factor
 * together take O(terms * scope_length).
 *
 * Weights may be negative as long as no value of the factor is. fastlbp_graph_build checks this where
 * it is cheap: terms that exclude each other, and factors of at most 2^16 joint states; elsewhere
 * the caller answers for it. With weights of both signs, positive and negative terms are added up
 * apart and subtracted once, so that values that are nearly zero have an absolute accuracy only.
 *
 * @param graph The graph; changed.
 * @param scope `scope_length` labels, all different.
 * @param scope_length Number of variables.
 * @param weights `weights_length` weights, one per term, finite.
 * @param weights_length Number of terms, at least 1.
 * @param indicators `indicators_length` states or FASTLBP_WILDCARD, term by term.
 * @param indicators_length Must be `weights_length * scope_length`.
 * @return FASTLBP_STATUS_OK; FASTLBP_STATUS_INVALID_ARGUMENT. States are checked when the graph is
 *         built.
 *
 * O(indicators_length).
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
 * Adds many TERMS factors in one call, or none if one is wrong; see fastlbp_graph_add_terms. Factor i
 * has the scope from `scopes[scope_offsets[i]]` up to, but not including,
 * `scopes[scope_offsets[i + 1]]`, and likewise the terms whose weights `term_offsets` cuts out.
 * `indicators` holds one entry per term and variable of its factor, factor by factor and term by
 * term.
 *
 * @param graph The graph; changed.
 * @param count Number of factors.
 * @param scope_offsets `count + 1` offsets, not descending, from 0 to `scopes_length`.
 * @param scopes `scopes_length` labels.
 * @param scopes_length Number of labels in all scopes together.
 * @param term_offsets `count + 1` offsets, not descending, from 0 to `weights_length`.
 * @param weights `weights_length` weights, finite.
 * @param weights_length Number of terms in all factors together.
 * @param indicators `indicators_length` states or FASTLBP_WILDCARD.
 * @param indicators_length Must be the sum over all factors of terms times variables.
 * @return FASTLBP_STATUS_OK; FASTLBP_STATUS_INVALID_ARGUMENT.
 *
 * O(count + scopes_length + weights_length + indicators_length). Gives the same graph as the single
 * calls.
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

/**
 * Number of variables.
 *
 * @param graph The graph.
 * @param out Where the number is written.
 * @return FASTLBP_STATUS_OK; as in fastlbp_graph_build.
 */
FASTLBP_API fastlbp_status fastlbp_graph_variable_count(const fastlbp_graph *graph, size_t *out);

/**
 * Number of factors.
 *
 * @param graph The graph.
 * @param out Where the number is written.
 * @return FASTLBP_STATUS_OK; as in fastlbp_graph_build.
 */
FASTLBP_API fastlbp_status fastlbp_graph_factor_count(const fastlbp_graph *graph, size_t *out);

/**
 * Number of edges, that is of pairs of a factor and one of its variables.
 *
 * @param graph The graph.
 * @param out Where the number is written.
 * @return FASTLBP_STATUS_OK; as in fastlbp_graph_build.
 */
FASTLBP_API fastlbp_status fastlbp_graph_edge_count(const fastlbp_graph *graph, size_t *out);

/**
 * Sum of all cardinalities: the length of the array of all marginals, twice the number of variables
 * if all are binary.
 *
 * @param graph The graph.
 * @param out Where the number is written.
 * @return FASTLBP_STATUS_OK; as in fastlbp_graph_build.
 */
FASTLBP_API fastlbp_status fastlbp_graph_state_count(const fastlbp_graph *graph, size_t *out);

/**
 * Label of a variable.
 *
 * @param graph The graph.
 * @param variable Index of the variable.
 * @param out Where the label is written.
 * @return FASTLBP_STATUS_OK; FASTLBP_STATUS_OUT_OF_RANGE; as in fastlbp_graph_build.
 */
FASTLBP_API
fastlbp_status fastlbp_graph_label(const fastlbp_graph *graph,
                                   size_t variable,
                                   uint64_t *out);

/**
 * Labels of all variables, ascending.
 *
 * @param graph The graph.
 * @param buffer Where the labels are written.
 * @param length Length of the buffer; fastlbp_graph_variable_count is enough.
 * @param needed Where the length needed is written, or NULL.
 * @return FASTLBP_STATUS_OK; FASTLBP_STATUS_BUFFER_TOO_SMALL; as in fastlbp_graph_build.
 */
FASTLBP_API
fastlbp_status fastlbp_graph_labels(const fastlbp_graph *graph,
                                    uint64_t *buffer,
                                    size_t length,
                                    size_t *needed);

/**
 * Index of the variable with a label. O(log variables), O(1) for labels without gaps.
 *
 * @param graph The graph.
 * @param label The label.
 * @param out Where the index is written.
 * @return FASTLBP_STATUS_OK; FASTLBP_STATUS_OUT_OF_RANGE if there is no such variable; as in
 *         fastlbp_graph_build.
 */
FASTLBP_API
fastlbp_status fastlbp_graph_variable_of_label(const fastlbp_graph *graph,
                                               uint64_t label,
                                               size_t *out);

/**
 * Indices of the variables with many labels.
 *
 * @param graph The graph.
 * @param labels `count` labels.
 * @param count Number of labels.
 * @param out Where `count` indices are written.
 * @return FASTLBP_STATUS_OK; FASTLBP_STATUS_OUT_OF_RANGE if one label names no variable; as in
 *         fastlbp_graph_build.
 */
FASTLBP_API
fastlbp_status fastlbp_graph_variables_of_labels(const fastlbp_graph *graph,
                                                 const uint64_t *labels,
                                                 size_t count,
                                                 uint32_t *out);

/**
 * Number of states of a variable.
 *
 * @param graph The graph.
 * @param variable Index of the variable.
 * @param out Where the number is written.
 * @return FASTLBP_STATUS_OK; FASTLBP_STATUS_OUT_OF_RANGE; as in fastlbp_graph_build.
 */
FASTLBP_API
fastlbp_status fastlbp_graph_cardinality(const fastlbp_graph *graph,
                                         size_t variable,
                                         size_t *out);

/**
 * Numbers of states of all variables, by index.
 *
 * @param graph The graph.
 * @param buffer Where the numbers are written.
 * @param length Length of the buffer; fastlbp_graph_variable_count is enough.
 * @param needed Where the length needed is written, or NULL.
 * @return FASTLBP_STATUS_OK; FASTLBP_STATUS_BUFFER_TOO_SMALL; as in fastlbp_graph_build.
 */
FASTLBP_API
fastlbp_status fastlbp_graph_cardinalities(const fastlbp_graph *graph,
                                           uint32_t *buffer,
                                           size_t length,
                                           size_t *needed);

/**
 * Kinds of all factors:
 *
 * | kind | parameters are read by |
 * |---|---|
 * | FASTLBP_FACTOR_TABLE | fastlbp_graph_factor_values |
 * | FASTLBP_FACTOR_SINGLETON, FASTLBP_FACTOR_AND, FASTLBP_FACTOR_OR | fastlbp_graph_factor_heads, fastlbp_graph_factor_heads_in_bodies, fastlbp_graph_factor_parameters |
 * | FASTLBP_FACTOR_SIGNED | fastlbp_graph_factor_heads, fastlbp_graph_factor_conditionals, fastlbp_graph_edge_signs |
 * | FASTLBP_FACTOR_NOISY | fastlbp_graph_factor_heads, fastlbp_graph_factor_conditionals, fastlbp_graph_factor_literals |
 * | FASTLBP_FACTOR_TERMS | fastlbp_graph_factor_weights, fastlbp_graph_factor_indicators |
 *
 * @param graph The graph.
 * @param buffer Where the kinds are written.
 * @param length Length of the buffer; fastlbp_graph_factor_count is enough.
 * @param needed Where the length needed is written, or NULL.
 * @return FASTLBP_STATUS_OK; FASTLBP_STATUS_BUFFER_TOO_SMALL; as in fastlbp_graph_build.
 */
FASTLBP_API
fastlbp_status fastlbp_graph_factor_kinds(const fastlbp_graph *graph,
                                          uint32_t *buffer,
                                          size_t length,
                                          size_t *needed);

/**
 * Heads of all factors, as variable indices: FASTLBP_NO_VARIABLE for a table and for terms, which
 * have none.
 *
 * @param graph The graph.
 * @param buffer Where the indices are written.
 * @param length Length of the buffer; fastlbp_graph_factor_count is enough.
 * @param needed Where the length needed is written, or NULL.
 * @return FASTLBP_STATUS_OK; FASTLBP_STATUS_BUFFER_TOO_SMALL; as in fastlbp_graph_build.
 */
FASTLBP_API
fastlbp_status fastlbp_graph_factor_heads(const fastlbp_graph *graph,
                                          uint32_t *buffer,
                                          size_t length,
                                          size_t *needed);

/**
 * Whether each factor's head is in its own body as well: 1 or 0. Only AND and OR factors keep it
 * apart: a SIGNED factor's values already say what it makes of its head.
 *
 * @param graph The graph.
 * @param buffer Where the answers are written.
 * @param length Length of the buffer; fastlbp_graph_factor_count is enough.
 * @param needed Where the length needed is written, or NULL.
 * @return FASTLBP_STATUS_OK; FASTLBP_STATUS_BUFFER_TOO_SMALL; as in fastlbp_graph_build.
 */
FASTLBP_API
fastlbp_status fastlbp_graph_factor_heads_in_bodies(const fastlbp_graph *graph,
                                                    uint8_t *buffer,
                                                    size_t length,
                                                    size_t *needed);

/**
 * The probabilities p and q of all factors: 0 where there is none (q for a singleton, both for all
 * kinds but singleton, AND and OR).
 *
 * @param graph The graph.
 * @param p Where the probabilities p are written.
 * @param q Where the probabilities q are written.
 * @param length Length of each of the two buffers; fastlbp_graph_factor_count is enough.
 * @param needed Where the length needed is written, or NULL.
 * @return FASTLBP_STATUS_OK; FASTLBP_STATUS_BUFFER_TOO_SMALL; as in fastlbp_graph_build.
 */
FASTLBP_API
fastlbp_status fastlbp_graph_factor_parameters(const fastlbp_graph *graph,
                                               double *p,
                                               double *q,
                                               size_t length,
                                               size_t *needed);

/**
 * Where the edges of each factor start: those of factor f are the numbers from `buffer[f]` up to,
 * but not including, `buffer[f + 1]`. With fastlbp_graph_edge_variables, the scopes of all factors.
 *
 * @param graph The graph.
 * @param buffer Where the offsets are written.
 * @param length Length of the buffer; fastlbp_graph_factor_count + 1 is enough.
 * @param needed Where the length needed is written, or NULL.
 * @return FASTLBP_STATUS_OK; FASTLBP_STATUS_BUFFER_TOO_SMALL; as in fastlbp_graph_build.
 */
FASTLBP_API
fastlbp_status fastlbp_graph_factor_offsets(const fastlbp_graph *graph,
                                            size_t *buffer,
                                            size_t length,
                                            size_t *needed);

/**
 * The variable of each edge, as an index.
 *
 * @param graph The graph.
 * @param buffer Where the indices are written.
 * @param length Length of the buffer; fastlbp_graph_edge_count is enough.
 * @param needed Where the length needed is written, or NULL.
 * @return FASTLBP_STATUS_OK; FASTLBP_STATUS_BUFFER_TOO_SMALL; as in fastlbp_graph_build.
 */
FASTLBP_API
fastlbp_status fastlbp_graph_edge_variables(const fastlbp_graph *graph,
                                            uint32_t *buffer,
                                            size_t length,
                                            size_t *needed);

/**
 * The factor of each edge.
 *
 * @param graph The graph.
 * @param buffer Where the indices are written.
 * @param length Length of the buffer; fastlbp_graph_edge_count is enough.
 * @param needed Where the length needed is written, or NULL.
 * @return FASTLBP_STATUS_OK; FASTLBP_STATUS_BUFFER_TOO_SMALL; as in fastlbp_graph_build.
 */
FASTLBP_API
fastlbp_status fastlbp_graph_edge_factors(const fastlbp_graph *graph,
                                          uint32_t *buffer,
                                          size_t length,
                                          size_t *needed);

/**
 * The edge that joins a factor and a variable. O(log arity).
 *
 * @param graph The graph.
 * @param factor Index of the factor.
 * @param variable Index of the variable.
 * @param out Where the number of the edge is written.
 * @return FASTLBP_STATUS_OK; FASTLBP_STATUS_OUT_OF_RANGE if there is no such factor or variable, or
 *         no edge between the two; as in fastlbp_graph_build.
 */
FASTLBP_API
fastlbp_status fastlbp_graph_edge(const fastlbp_graph *graph,
                                  size_t factor,
                                  size_t variable,
                                  size_t *out);

/**
 * The variables of a factor, as ascending indices.
 *
 * @param graph The graph.
 * @param factor Index of the factor.
 * @param buffer Where the indices are written.
 * @param length Length of the buffer.
 * @param needed Where the length needed, the factor's arity, is written, or NULL.
 * @return FASTLBP_STATUS_OK; FASTLBP_STATUS_OUT_OF_RANGE; FASTLBP_STATUS_BUFFER_TOO_SMALL; as in
 *         fastlbp_graph_build.
 */
FASTLBP_API
fastlbp_status fastlbp_graph_factor_variables(const fastlbp_graph *graph,
                                              size_t factor,
                                              uint32_t *buffer,
                                              size_t length,
                                              size_t *needed);

/**
 * The values of a factor of any kind as a table: one per joint state of its variables, which ascend;
 * the first one (lowest index) varies fastest. O(values * arity).
 *
 * @param graph The graph.
 * @param factor Index of the factor.
 * @param buffer Where the values are written.
 * @param length Length of the buffer.
 * @param needed Where the length needed is written, or NULL.
 * @return FASTLBP_STATUS_OK; FASTLBP_STATUS_OUT_OF_RANGE; FASTLBP_STATUS_BUFFER_TOO_SMALL;
 *         FASTLBP_STATUS_LIMIT_EXCEEDED for more than 2^26 values; as in fastlbp_graph_build.
 */
FASTLBP_API
fastlbp_status fastlbp_graph_factor_values(const fastlbp_graph *graph,
                                           size_t factor,
                                           double *buffer,
                                           size_t length,
                                           size_t *needed);

/**
 * The values of all SIGNED and NOISY factors: entries 4 * f to 4 * f + 3 are f(head = 1 | all hold),
 * f(head = 0 | all hold), f(head = 1 | one fails), f(head = 0 | one fails) of factor f, and 0 for the
 * other kinds. Those of a SIGNED factor whose head is in its body, or whose body has both signs of a
 * variable, are the values that this comes to without such literals.
 *
 * @param graph The graph.
 * @param buffer Where the values are written.
 * @param length Length of the buffer; 4 * fastlbp_graph_factor_count is enough.
 * @param needed Where the length needed is written, or NULL.
 * @return FASTLBP_STATUS_OK; FASTLBP_STATUS_BUFFER_TOO_SMALL; as in fastlbp_graph_build.
 *
 * O(factors).
 */
FASTLBP_API
fastlbp_status fastlbp_graph_factor_conditionals(const fastlbp_graph *graph,
                                                 double *buffer,
                                                 size_t length,
                                                 size_t *needed);

/**
 * The signs of the literals of all SIGNED factors, by edge: 1 where the edge's variable occurs as the
 * literal x = 0, and 0 for a literal x = 1, for a head, and for the other kinds.
 *
 * @param graph The graph.
 * @param buffer Where the signs are written.
 * @param length Length of the buffer; fastlbp_graph_edge_count is enough.
 * @param needed Where the length needed is written, or NULL.
 * @return FASTLBP_STATUS_OK; FASTLBP_STATUS_BUFFER_TOO_SMALL; as in fastlbp_graph_build.
 *
 * O(edges).
 */
FASTLBP_API
fastlbp_status fastlbp_graph_edge_signs(const fastlbp_graph *graph,
                                        uint8_t *buffer,
                                        size_t length,
                                        size_t *needed);

/**
 * The literals of a NOISY factor: entries 4 * i to 4 * i + 3 are the probabilities that the literal
 * of its i-th variable (see fastlbp_graph_factor_variables) holds and fails if the variable is 0, and
 * holds and fails if it is 1. That of the head always holds.
 *
 * @param graph The graph.
 * @param factor Index of the factor.
 * @param buffer Where the probabilities are written.
 * @param length Length of the buffer; 4 times the factor's arity is enough.
 * @param needed Where the length needed is written, or NULL.
 * @return FASTLBP_STATUS_OK; FASTLBP_STATUS_OUT_OF_RANGE; FASTLBP_STATUS_INVALID_ARGUMENT for a
 *         factor of another kind; FASTLBP_STATUS_BUFFER_TOO_SMALL; as in fastlbp_graph_build.
 *
 * O(arity).
 */
FASTLBP_API
fastlbp_status fastlbp_graph_factor_literals(const fastlbp_graph *graph,
                                             size_t factor,
                                             double *buffer,
                                             size_t length,
                                             size_t *needed);

/**
 * The weights of the terms of a TERMS factor, in the order in which they were given.
 *
 * @param graph The graph.
 * @param factor Index of the factor.
 * @param buffer Where the weights are written.
 * @param length Length of the buffer.
 * @param needed Where the length needed, the number of terms, is written, or NULL.
 * @return FASTLBP_STATUS_OK; FASTLBP_STATUS_OUT_OF_RANGE; FASTLBP_STATUS_INVALID_ARGUMENT for a
 *         factor of another kind; FASTLBP_STATUS_BUFFER_TOO_SMALL; as in fastlbp_graph_build.
 *
 * O(terms).
 */
FASTLBP_API
fastlbp_status fastlbp_graph_factor_weights(const fastlbp_graph *graph,
                                            size_t factor,
                                            double *buffer,
                                            size_t length,
                                            size_t *needed);

/**
 * The indicators of the terms of a TERMS factor: entry t * arity + i is the state that term t wants
 * of the factor's i-th variable (see fastlbp_graph_factor_variables: they ascend, whatever the order
 * in which the scope was given), or FASTLBP_WILDCARD.
 *
 * @param graph The graph.
 * @param factor Index of the factor.
 * @param buffer Where the indicators are written.
 * @param length Length of the buffer; the number of terms times the factor's arity is enough.
 * @param needed Where the length needed is written, or NULL.
 * @return FASTLBP_STATUS_OK; FASTLBP_STATUS_OUT_OF_RANGE; FASTLBP_STATUS_INVALID_ARGUMENT for a
 *         factor of another kind; FASTLBP_STATUS_BUFFER_TOO_SMALL; as in fastlbp_graph_build.
 *
 * O(terms * arity).
 */
FASTLBP_API
fastlbp_status fastlbp_graph_factor_indicators(const fastlbp_graph *graph,
                                               size_t factor,
                                               int32_t *buffer,
                                               size_t length,
                                               size_t *needed);

/**
 * Makes a session on a graph: schedule SEQFIX, no evidence, sum-product, no damping, no active set,
 * tolerance 1e-9 for beliefs of variables, at most 10000 passes, no time limit, fresh starts,
 * contradictions are errors, backend AUTO, one thread per physical core.
 *
 * The graph is shared, not copied: its handle may be freed or added to at once, neither of which
 * changes the session.
 *
 * @param graph The graph.
 * @param out Where the handle is written; free it with fastlbp_bp_free.
 * @return FASTLBP_STATUS_OK; as in fastlbp_graph_build.
 */
FASTLBP_API fastlbp_status fastlbp_bp_new(const fastlbp_graph *graph, fastlbp_bp **out);

/**
 * Makes a session in the same state as another: settings, schedule, evidence, messages and results,
 * but without the progress callback. The two are independent, and may run at the same time.
 *
 * @param bp The session.
 * @param out Where the new handle is written; free it with fastlbp_bp_free.
 * @return FASTLBP_STATUS_OK, or why a session cannot be prepared (see fastlbp_bp_prepare).
 */
FASTLBP_API fastlbp_status fastlbp_bp_clone(const fastlbp_bp *bp, fastlbp_bp **out);

/**
 * Frees a session. If a call is still running on it, it goes when that call ends.
 *
 * @param bp A handle, or NULL, for which nothing happens. It must not be used afterwards.
 */
FASTLBP_API void fastlbp_bp_free(fastlbp_bp *bp);

/**
 * The graph of a session, as a handle of its own.
 *
 * @param bp The session.
 * @param out Where the handle is written; free it with fastlbp_graph_free.
 * @return FASTLBP_STATUS_OK.
 *
 * O(1): the graph is shared.
 */
FASTLBP_API fastlbp_status fastlbp_bp_graph(const fastlbp_bp *bp, fastlbp_graph **out);

/**
 * Analyses the schedule and makes all buffers by the current settings, where that is still to be
 * done; otherwise the next run does it. Messages, evidence and results stay. With
 * FASTLBP_BACKEND_AUTO these are the buffers of the backend that is expected to be the faster one for
 * fastlbp_bp_run; another run may still choose the other.
 *
 * @param bp The session; changed.
 * @return FASTLBP_STATUS_OK; FASTLBP_STATUS_UNSUPPORTED or FASTLBP_STATUS_NO_DEVICE if the backend
 *         asked for is not there, with the reason in the text; as in fastlbp_bp_run for settings that
 *         no run can have.
 */
FASTLBP_API
fastlbp_status fastlbp_bp_prepare(fastlbp_bp *bp);

/**
 * Sets the number of CPU threads; takes effect with the next run. Results do not depend on it.
 *
 * @param bp The session; changed.
 * @param threads The number, at most 4096; 0 for one per physical core, the default.
 * @return FASTLBP_STATUS_OK; FASTLBP_STATUS_INVALID_ARGUMENT.
 */
FASTLBP_API fastlbp_status fastlbp_bp_set_threads(fastlbp_bp *bp, size_t threads);

/**
 * Number of CPU threads that the session's passes run on. Prepares a session that is not yet
 * prepared.
 *
 * @param bp The session.
 * @param out Where the number is written.
 * @return FASTLBP_STATUS_OK; as in fastlbp_bp_prepare.
 */
FASTLBP_API fastlbp_status fastlbp_bp_threads(const fastlbp_bp *bp, size_t *out);

/**
 * Sets where passes run; takes effect with the next run. Results do not depend on it.
 *
 * @param bp The session; changed.
 * @param backend FASTLBP_BACKEND_AUTO (the default: each run where it is expected to end first; where a
 *        device that is there fails, the CPU, with a message to the log), FASTLBP_BACKEND_CPU or FASTLBP_BACKEND_CUDA (runs fail with the
 *        reason if there is none).
 * @return FASTLBP_STATUS_OK; FASTLBP_STATUS_INVALID_ARGUMENT for another number.
 */
FASTLBP_API
fastlbp_status fastlbp_bp_set_backend(fastlbp_bp *bp,
                                      uint32_t backend);

/**
 * Where the session's last run was made, or where its first one will most likely be (with
 * FASTLBP_BACKEND_AUTO each run may choose anew). Prepares a session that is not yet prepared.
 *
 * @param bp The session.
 * @param out Where FASTLBP_BACKEND_CPU or FASTLBP_BACKEND_CUDA is written.
 * @return FASTLBP_STATUS_OK; as in fastlbp_bp_prepare.
 */
FASTLBP_API fastlbp_status fastlbp_bp_backend(const fastlbp_bp *bp, uint32_t *out);

/**
 * Sets the tolerance of fastlbp_bp_run: the largest change of a probability that counts as none.
 *
 * @param bp The session; changed.
 * @param tolerance A value >= 0; 1e-9 by default.
 * @return FASTLBP_STATUS_OK; FASTLBP_STATUS_INVALID_ARGUMENT for a negative value or NaN.
 */
FASTLBP_API fastlbp_status fastlbp_bp_set_tolerance(fastlbp_bp *bp, double tolerance);

/**
 * Sets the number of passes after which fastlbp_bp_run ends in any case.
 *
 * @param bp The session; changed.
 * @param max_passes The number; 10000 by default.
 * @return FASTLBP_STATUS_OK.
 */
FASTLBP_API fastlbp_status fastlbp_bp_set_max_passes(fastlbp_bp *bp, uint64_t max_passes);

/**
 * Sets the time after which a run of any kind begins no further pass.
 *
 * @param bp The session; changed.
 * @param seconds A value >= 0; infinity, the default, for no limit.
 * @return FASTLBP_STATUS_OK; FASTLBP_STATUS_INVALID_ARGUMENT for a negative value or NaN.
 */
FASTLBP_API fastlbp_status fastlbp_bp_set_max_time(fastlbp_bp *bp, double seconds);

/**
 * Sets what happens where certain messages that disagree meet.
 *
 * @param bp The session; changed.
 * @param policy FASTLBP_CONTRADICTION_ERROR, the default, or FASTLBP_CONTRADICTION_VOTE.
 * @return FASTLBP_STATUS_OK; FASTLBP_STATUS_INVALID_ARGUMENT for another number.
 */
FASTLBP_API fastlbp_status fastlbp_bp_set_contradiction(fastlbp_bp *bp, uint32_t policy);

/**
 * Sets what messages runs start from.
 *
 * @param bp The session; changed.
 * @param start FASTLBP_START_FRESH, the default, or FASTLBP_START_WARM: n passes and then m more give
 *        the bits of n + m passes.
 * @return FASTLBP_STATUS_OK; FASTLBP_STATUS_INVALID_ARGUMENT for another number.
 */
FASTLBP_API
fastlbp_status fastlbp_bp_set_start(fastlbp_bp *bp,
                                    uint32_t start);

/**
 * Sets a function that is told after each pass how a run goes, and can end it.
 *
 * @param bp The session; changed.
 * @param callback The function, or NULL for none.
 * @param user Handed to the callback as it is; may be NULL.
 * @return FASTLBP_STATUS_OK.
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
 * | `tol` | number >= 0 | see fastlbp_bp_set_tolerance |
 * | `maxiter` | whole number | see fastlbp_bp_set_max_passes |
 * | `maxtime` | seconds or `inf` | see fastlbp_bp_set_max_time |
 * | `updates` | `SEQFIX`, `SEQRND`, `PARALL`, `BLOCKS`, `TOPO`, `FWDBWD` or `TREE` | see fastlbp_bp_set_schedule; the seed is that of `seed`, the number of blocks that of `blocks` |
 * | `damping` | number in [0, 1) | see fastlbp_bp_set_damping |
 * | `inference` | `SUMPROD` or `MAXPROD` | see fastlbp_bp_set_inference |
 * | `logdomain` | `0` or `1` | in which domain SEQMAX compares messages; neither loses small numbers |
 * | `verbose` | whole number | from 1 on, each run sends a message to the log |
 * | `threads` | whole number | see fastlbp_bp_set_threads |
 * | `seed` | whole number | seed of SEQRND and BLOCKS |
 * | `blocks` | whole number > 0 | number of blocks of BLOCKS; 8 if never set |
 * | `backend` | `auto`, `cpu` or `cuda` | see fastlbp_bp_set_backend |
 * | `device` | `default` or whole number | see fastlbp_bp_set_device |
 * | `contradiction` | `error` or `vote` | see fastlbp_bp_set_contradiction |
 * | `start` | `fresh` or `warm` | see fastlbp_bp_set_start |
 * | `measure` | `variables` or `all` | see fastlbp_bp_set_measure; libDAI's rule is `all` |
 * | `active` | `off` or number >= 0 | see fastlbp_bp_set_active_threshold |
 *
 * @param bp The session; changed.
 * @param key The key, a string.
 * @param value The value, a string.
 * @return FASTLBP_STATUS_OK; FASTLBP_STATUS_INVALID_ARGUMENT for an unknown key (the text lists the
 *         known ones) or a wrong value; FASTLBP_STATUS_UNSUPPORTED for a value that libDAI takes and
 *         this version does not; FASTLBP_STATUS_INVALID_UTF8.
 */
FASTLBP_API
fastlbp_status fastlbp_bp_set_property(fastlbp_bp *bp,
                                       const char *key,
                                       const char *value);

/**
 * The value of a property, as a string; see fastlbp_bp_set_property.
 *
 * @param bp The session.
 * @param key The key, a string.
 * @param buffer Where the string is written, with its final NUL.
 * @param length Length of the buffer; 64 is enough for all of them.
 * @param needed Where the length needed is written, or NULL.
 * @return FASTLBP_STATUS_OK; FASTLBP_STATUS_INVALID_ARGUMENT for an unknown key;
 *         FASTLBP_STATUS_BUFFER_TOO_SMALL; FASTLBP_STATUS_INVALID_UTF8.
 */
FASTLBP_API
fastlbp_status fastlbp_bp_get_property(const fastlbp_bp *bp,
                                       const char *key,
                                       char *buffer,
                                       size_t length,
                                       size_t *needed);

/**
 * Sets what messages and beliefs are over the states of the other variables; takes effect with the
 * next run of any kind.
 *
 * With FASTLBP_INFERENCE_SUM_PRODUCT, a message of factor f to variable x is the sum over the states
 * of f's other variables of f's value times the messages that come in from these, and beliefs
 * approximate marginals. With FASTLBP_INFERENCE_MAX_PRODUCT it is the maximum of the same products;
 * marginals are then max-marginals, each scaled so that it adds up to 1, and fastlbp_bp_find_maximum
 * decodes a most probable joint state.
 *
 * @param bp The session; changed.
 * @param inference FASTLBP_INFERENCE_SUM_PRODUCT, the default, or FASTLBP_INFERENCE_MAX_PRODUCT.
 * @return FASTLBP_STATUS_OK; FASTLBP_STATUS_INVALID_ARGUMENT for another number.
 *
 * O(1). With max-product, runs fail with FASTLBP_STATUS_UNSUPPORTED on a NOISY factor, or a TERMS factor
 * whose terms do not exclude each other, that has more than 2^22 joint states.
 */
FASTLBP_API
fastlbp_status fastlbp_bp_set_inference(fastlbp_bp *bp,
                                        uint32_t inference);

/**
 * Sets the damping d of runs of any kind: a new message becomes old^d * new^(1-d), state by state,
 * and normalised, so that messages that swing to and fro settle down. Fixed points, and with them
 * converged results, are those without damping; near one, a pass moves about 1 - d as far.
 *
 * Other messages read the damped ones; a variable's belief, and the change that the stop rules look
 * at, is of the undamped ones last computed, as in libDAI. Results are the same bits everywhere with
 * damping too.
 *
 * @param bp The session; changed.
 * @param damping A number from 0, the default, for none, up to but not including 1.
 * @return FASTLBP_STATUS_OK; FASTLBP_STATUS_INVALID_ARGUMENT.
 *
 * O(1). Runs with damping and an active set fail with FASTLBP_STATUS_UNSUPPORTED.
 */
FASTLBP_API
fastlbp_status fastlbp_bp_set_damping(fastlbp_bp *bp,
                                      double damping);

/**
 * Sets the threshold of the active set of runs of any kind: a message is computed again only if one
 * that it reads has changed by more than the threshold since, in log-odds (natural logarithm; of any
 * two states). A change up to it is dropped.
 *
 * With a threshold t, every message of a run that has come to rest is within t of its update; with 0,
 * runs give the bits of runs without an active set. Which messages are computed depends on the
 * schedule alone; passes run on one thread. How many were spared, see fastlbp_bp_spared_messages.
 *
 * @param bp The session; changed.
 * @param threshold A number >= 0, or FASTLBP_ACTIVE_OFF, the default, to compute all messages in every
 *        pass.
 * @return FASTLBP_STATUS_OK; FASTLBP_STATUS_INVALID_ARGUMENT.
 *
 * O(1). Runs with damping and an active set fail with FASTLBP_STATUS_UNSUPPORTED.
 */
FASTLBP_API
fastlbp_status fastlbp_bp_set_active_threshold(fastlbp_bp *bp,
                                               double threshold);

/**
 * Sets whose changes the tolerance of fastlbp_bp_run is compared with. Other runs have rules of their
 * own.
 *
 * @param bp The session; changed.
 * @param measure FASTLBP_MEASURE_VARIABLES, the default, or FASTLBP_MEASURE_ALL, libDAI's rule: no
 *        belief of a variable or of a factor has changed by more than the tolerance; a fresh run
 *        compares its first pass with uniform beliefs.
 * @return FASTLBP_STATUS_OK; FASTLBP_STATUS_INVALID_ARGUMENT for another number.
 *
 * O(1). With FASTLBP_MEASURE_ALL a pass takes O(joint states * arity) of each factor more, and runs
 * fail with FASTLBP_STATUS_LIMIT_EXCEEDED on a factor of more than 2^20 joint states.
 */
FASTLBP_API
fastlbp_status fastlbp_bp_set_measure(fastlbp_bp *bp,
                                      uint32_t measure);

/**
 * Observes a variable in a state; replaces what was known about it. Results of earlier runs stay.
 *
 * @param bp The session; changed.
 * @param variable Index of the variable.
 * @param state The state, counted from 0.
 * @return FASTLBP_STATUS_OK; FASTLBP_STATUS_OUT_OF_RANGE.
 *
 * O(log observed variables).
 */
FASTLBP_API fastlbp_status fastlbp_bp_observe(fastlbp_bp *bp, size_t variable, size_t state);

/**
 * As fastlbp_bp_observe, for the variable with a label.
 *
 * @param bp The session; changed.
 * @param label Label of the variable.
 * @param state The state, counted from 0.
 * @return FASTLBP_STATUS_OK; FASTLBP_STATUS_OUT_OF_RANGE.
 */
FASTLBP_API fastlbp_status fastlbp_bp_observe_label(fastlbp_bp *bp, uint64_t label, size_t state);

/**
 * Observes many variables, or none if one of them cannot be; see fastlbp_bp_observe. Of several
 * states for one variable the last one counts.
 *
 * @param bp The session; changed.
 * @param variables `count` indices of variables.
 * @param states `count` states.
 * @param count Number of observations.
 * @return FASTLBP_STATUS_OK; FASTLBP_STATUS_OUT_OF_RANGE.
 */
FASTLBP_API
fastlbp_status fastlbp_bp_observe_variables(fastlbp_bp *bp,
                                            const uint32_t *variables,
                                            const uint32_t *states,
                                            size_t count);

/**
 * As fastlbp_bp_observe_variables, for variables with labels.
 *
 * @param bp The session; changed.
 * @param labels `count` labels.
 * @param states `count` states.
 * @param count Number of observations.
 * @return FASTLBP_STATUS_OK; FASTLBP_STATUS_OUT_OF_RANGE.
 */
FASTLBP_API
fastlbp_status fastlbp_bp_observe_labels(fastlbp_bp *bp,
                                         const uint64_t *labels,
                                         const uint32_t *states,
                                         size_t count);

/**
 * Sets soft evidence on a variable, a likelihood per state, which multiplies its belief and its
 * outgoing messages; replaces what was known about the variable.
 *
 * @param bp The session; changed.
 * @param variable Index of the variable.
 * @param likelihood `length` values: finite, not negative, not all zero. Only their ratios matter.
 * @param length Must be the variable's number of states.
 * @return FASTLBP_STATUS_OK; FASTLBP_STATUS_OUT_OF_RANGE; FASTLBP_STATUS_INVALID_ARGUMENT.
 */
FASTLBP_API
fastlbp_status fastlbp_bp_set_likelihood(fastlbp_bp *bp,
                                         size_t variable,
                                         const double *likelihood,
                                         size_t length);

/**
 * Forgets what is known about a variable; harmless if nothing is.
 *
 * @param bp The session; changed.
 * @param variable Index of the variable.
 * @return FASTLBP_STATUS_OK; FASTLBP_STATUS_OUT_OF_RANGE.
 */
FASTLBP_API fastlbp_status fastlbp_bp_clear_evidence(fastlbp_bp *bp, size_t variable);

/**
 * Forgets all evidence.
 *
 * @param bp The session; changed.
 * @return FASTLBP_STATUS_OK.
 */
FASTLBP_API fastlbp_status fastlbp_bp_clear_all_evidence(fastlbp_bp *bp);

/**
 * Replaces all evidence by that of a file: one named `.evid` is in the format of the UAI
 * competitions, any other one (`.obs`) has a line `label value` per observation, the value being a
 * state, `true` or `false`. A further `.gz` tells that it is compressed.
 *
 * @param bp The session; changed.
 * @param path Name of the file.
 * @param unknown Where the number of observations is written whose variable the graph does not have:
 *        they are left out, with a message to the log. NULL to make them an error.
 * @return FASTLBP_STATUS_OK; FASTLBP_STATUS_IO; FASTLBP_STATUS_PARSE, with file and line in the
 *         text; FASTLBP_STATUS_INVALID_ARGUMENT for an empty name; FASTLBP_STATUS_INVALID_UTF8.
 */
FASTLBP_API
fastlbp_status fastlbp_bp_read_evidence(fastlbp_bp *bp,
                                        const char *path,
                                        size_t *unknown);

/**
 * Number of variables about which something is known.
 *
 * @param bp The session.
 * @param out Where the number is written.
 * @return FASTLBP_STATUS_OK.
 */
FASTLBP_API fastlbp_status fastlbp_bp_evidence_count(const fastlbp_bp *bp, size_t *out);

/**
 * Runs passes until no belief of a variable (see fastlbp_bp_set_measure) has changed by more than the
 * tolerance in a pass, or until the greatest number of passes or the time limit is reached. Which of
 * these it was, see fastlbp_bp_stop_reason: all of them are FASTLBP_STATUS_OK.
 *
 * @param bp The session; changed.
 * @return FASTLBP_STATUS_OK; FASTLBP_STATUS_CONTRADICTION (see fastlbp_bp_first_contradiction), after
 *         which the messages are those of the contradictory pass and the results those of the last
 *         run without an error; FASTLBP_STATUS_LIMIT_EXCEEDED with FASTLBP_MEASURE_ALL for a factor
 *         of more than 2^20 joint states; FASTLBP_STATUS_UNSUPPORTED for max-product on a NOISY factor,
 *         or a TERMS factor whose terms do not exclude each other, of more than 2^22 joint states,
 *         and for an active set together with damping; as in fastlbp_bp_prepare.
 */
FASTLBP_API
fastlbp_status fastlbp_bp_run(fastlbp_bp *bp);

/**
 * Runs a number of passes, unless the time limit or the progress callback ends them earlier.
 *
 * @param bp The session; changed.
 * @param passes The number.
 * @return As fastlbp_bp_run.
 */
FASTLBP_API fastlbp_status fastlbp_bp_run_passes(fastlbp_bp *bp, uint64_t passes);

/**
 * Runs passes by the rule of BINGO (`run(tolerance, minIters, maxIters, histLength)`). Before each
 * pass, with n passes done, the run ends *converged* if the largest difference is at most
 * `tolerance`; it ends if n > `min_passes` and the share of variables and factors that still move by
 * more than `tolerance` is below (n - min_passes) / (max_passes - min_passes); it ends if
 * n > `max_passes`. Without convergence, the results are the means of the last min(`history`, n)
 * beliefs.
 *
 * @param bp The session; changed.
 * @param tolerance Largest difference that counts as none, >= 0.
 * @param min_passes Passes before the share is looked at.
 * @param max_passes Passes after which the run ends in any case, at least `min_passes`.
 * @param history Number of beliefs that the results average, at least 1.
 * @param frac Where the share after the last pass is written, or NULL.
 * @return As fastlbp_bp_run; FASTLBP_STATUS_INVALID_ARGUMENT.
 */
FASTLBP_API
fastlbp_status fastlbp_bp_run_bingo(fastlbp_bp *bp,
                                    double tolerance,
                                    uint64_t min_passes,
                                    uint64_t max_passes,
                                    uint64_t history,
                                    double *frac);

/**
 * Makes all messages uniform and the number of passes 0, so that the next run is a fresh one even
 * with FASTLBP_START_WARM. Evidence, schedule, settings and results stay.
 *
 * @param bp The session; changed.
 * @return FASTLBP_STATUS_OK.
 *
 * O(edges).
 */
FASTLBP_API fastlbp_status fastlbp_bp_reset(fastlbp_bp *bp);

/**
 * Number of passes of the last run that ended without an error.
 *
 * @param bp The session.
 * @param out Where the number is written.
 * @return FASTLBP_STATUS_OK; FASTLBP_STATUS_NO_RESULT before there is such a run.
 */
FASTLBP_API fastlbp_status fastlbp_bp_passes(const fastlbp_bp *bp, uint64_t *out);

/**
 * Number of passes from uniform messages to the end of the last run that ended without an error:
 * with warm starts, those of several runs.
 *
 * @param bp The session.
 * @param out Where the number is written.
 * @return FASTLBP_STATUS_OK; FASTLBP_STATUS_NO_RESULT before there is such a run.
 */
FASTLBP_API fastlbp_status fastlbp_bp_total_passes(const fastlbp_bp *bp, uint64_t *out);

/**
 * Whether the changes fell to the tolerance in the last run that ended without an error; false for
 * a run with a fixed number of passes.
 *
 * @param bp The session.
 * @param out Where the answer is written.
 * @return FASTLBP_STATUS_OK; FASTLBP_STATUS_NO_RESULT before there is such a run.
 */
FASTLBP_API fastlbp_status fastlbp_bp_converged(const fastlbp_bp *bp, bool *out);

/**
 * Why the last run that ended without an error ended.
 *
 * @param bp The session.
 * @param out Where FASTLBP_STOP_CONVERGED, FASTLBP_STOP_PASSES, FASTLBP_STOP_SHARE,
 *        FASTLBP_STOP_TIME or FASTLBP_STOP_CANCELLED is written.
 * @return FASTLBP_STATUS_OK; FASTLBP_STATUS_NO_RESULT before there is such a run.
 */
FASTLBP_API fastlbp_status fastlbp_bp_stop_reason(const fastlbp_bp *bp, uint32_t *out);

/**
 * Largest change in the last pass of the last run that ended without an error: of a variable's
 * belief, with FASTLBP_MEASURE_ALL also of a factor's, and by BINGO's rule also of a factor's incoming
 * messages. Infinity if no pass was made.
 *
 * @param bp The session.
 * @param out Where the value is written.
 * @return FASTLBP_STATUS_OK; FASTLBP_STATUS_NO_RESULT before there is such a run.
 */
FASTLBP_API
fastlbp_status fastlbp_bp_max_diff(const fastlbp_bp *bp,
                                   double *out);

/**
 * Share of the variables and factors that moved by more than the tolerance in the last pass of the
 * last run that ended without an error (fastlbp_bp_run_bingo); 1 for other runs.
 *
 * @param bp The session.
 * @param out Where the value is written.
 * @return FASTLBP_STATUS_OK; FASTLBP_STATUS_NO_RESULT before there is such a run.
 */
FASTLBP_API fastlbp_status fastlbp_bp_frac(const fastlbp_bp *bp, double *out);

/**
 * Number of messages that the active set spared in the last run that ended without an error; 0
 * without one (see fastlbp_bp_set_active_threshold).
 *
 * @param bp The session.
 * @param out Where the number is written.
 * @return FASTLBP_STATUS_OK; FASTLBP_STATUS_NO_RESULT before there is such a run.
 */
FASTLBP_API fastlbp_status fastlbp_bp_spared_messages(const fastlbp_bp *bp, uint64_t *out);

/**
 * Number of contradictory places of the last run: of the pass with most of them under
 * FASTLBP_CONTRADICTION_VOTE, of the pass that ended the run under FASTLBP_CONTRADICTION_ERROR.
 *
 * @param bp The session.
 * @param out Where the number is written.
 * @return FASTLBP_STATUS_OK; FASTLBP_STATUS_NO_RESULT before the first run.
 */
FASTLBP_API fastlbp_status fastlbp_bp_contradictions(const fastlbp_bp *bp, uint64_t *out);

/**
 * Label of the lowest contradictory variable in the first pass of the last run that had one.
 *
 * @param bp The session.
 * @param out Where the label is written.
 * @return FASTLBP_STATUS_OK; FASTLBP_STATUS_NO_RESULT before the first run, and if it had no
 *         contradictory variable.
 */
FASTLBP_API fastlbp_status fastlbp_bp_first_contradiction(const fastlbp_bp *bp, uint64_t *out);

/**
 * Runs many evidence sets on the session's graph as fastlbp_bp_run would, each as a fresh run of its
 * own with exactly that evidence: entry `i` observes `variables[j]` in `states[j]` for all `j` from
 * `entry_offsets[i]` up to, but not including, `entry_offsets[i + 1]`; of several states for one
 * variable the last one counts. The session's own evidence, messages and results stay as they are; its
 * settings are those of the runs, but for the start, which is fresh, and the time limit is one per
 * entry.
 *
 * On small graphs several entries run at once, on one thread each; results do not depend on that.
 *
 * An entry that fails, as by a contradiction, spoils none of the others: its marginals are NaN, its
 * status says why, and a warning with the reason goes to the log.
 *
 * The progress callback is called after each entry, on the calling thread: `passes` is the number of
 * finished entries, `max_passes` that of all, `max_diff` infinity and `frac` 1. If it ends the
 * call, entries that run at that moment end before their next pass, with the results of their
 * passes so far, and those that have not begun get FASTLBP_STATUS_NO_RESULT.
 *
 * @param bp The session; changed only in that it is prepared and keeps what the next batch can use.
 * @param entry_offsets `entries + 1` offsets, not descending, from 0 to `count`.
 * @param entries Number of entries.
 * @param variables `count` indices of variables.
 * @param states `count` states.
 * @param count Number of observations in all entries.
 * @param marginals Where the marginals of all entries are written, one entry after the other, each
 *        laid out as by fastlbp_bp_marginals.
 * @param length Length of that buffer; entries * fastlbp_graph_state_count is enough.
 * @param needed Where the length needed is written, or NULL.
 * @param statuses Where `entries` statuses are written, or NULL: FASTLBP_STATUS_OK, or that with
 *        which fastlbp_bp_run would have failed.
 * @return FASTLBP_STATUS_OK if the entries were run, whatever their own statuses;
 *         FASTLBP_STATUS_BUFFER_TOO_SMALL, FASTLBP_STATUS_INVALID_ARGUMENT or
 *         FASTLBP_STATUS_OUT_OF_RANGE before anything is run; as in fastlbp_bp_prepare.
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
 * As fastlbp_bp_run_batch, for variables with labels.
 *
 * @param bp The session; changed only in that it is prepared and keeps what the next batch can use.
 * @param entry_offsets `entries + 1` offsets, not descending, from 0 to `count`.
 * @param entries Number of entries.
 * @param labels `count` labels.
 * @param states `count` states.
 * @param count Number of observations in all entries.
 * @param marginals Where the marginals of all entries are written.
 * @param length Length of that buffer; entries * fastlbp_graph_state_count is enough.
 * @param needed Where the length needed is written, or NULL.
 * @param statuses Where `entries` statuses are written, or NULL.
 * @return As fastlbp_bp_run_batch.
 */
FASTLBP_API
fastlbp_status fastlbp_bp_run_batch_labels(fastlbp_bp *bp,
                                           const size_t *entry_offsets,
                                           size_t entries,
                                           const uint64_t *labels,
                                           const uint32_t *states,
                                           size_t count,
                                           double *marginals,
                                           size_t length,
                                           size_t *needed,
                                           fastlbp_status *statuses);

/**
 * Prepares and runs many sessions, such as those of many small graphs, as fastlbp_bp_run would run
 * each of them; afterwards each has its own results and report. Sessions on small graphs run
 * several at once, on one thread each: as many as the session with the most threads may use
 * (fastlbp_bp_set_threads). Then the others, among them those on a device, run one after the other on
 * the calling thread, and so do those with a progress callback. Results do not depend on that.
 *
 * One that fails spoils none of the others: its status says why, and a warning with the reason goes
 * to the log. Other messages to the log may come from threads of the library's own.
 *
 * @param sessions `count` sessions, all different; changed.
 * @param count Number of sessions.
 * @param statuses Where `count` statuses are written: what fastlbp_bp_run would have returned for
 *        each.
 * @return FASTLBP_STATUS_OK if the sessions were run, whatever their own statuses;
 *         FASTLBP_STATUS_NULL_POINTER, FASTLBP_STATUS_BUSY (also for a session that is given twice) or
 *         FASTLBP_STATUS_POISONED, with its position in the text, before anything is run.
 */
FASTLBP_API
fastlbp_status fastlbp_run_all(fastlbp_bp *const *sessions,
                               size_t count,
                               fastlbp_status *statuses);

/**
 * Marginals of all variables from the last run that ended without an error: the probabilities of the
 * states of variable 0, then those of variable 1, and so on. Each is exact to rounding on its own,
 * so that a probability next to 1 can be had from its complement.
 *
 * @param bp The session.
 * @param buffer Where the probabilities are written.
 * @param length Length of the buffer; fastlbp_graph_state_count is enough.
 * @param needed Where the length needed is written, or NULL.
 * @return FASTLBP_STATUS_OK; FASTLBP_STATUS_NO_RESULT before there is such a run;
 *         FASTLBP_STATUS_BUFFER_TOO_SMALL.
 */
FASTLBP_API
fastlbp_status fastlbp_bp_marginals(const fastlbp_bp *bp,
                                    double *buffer,
                                    size_t length,
                                    size_t *needed);

/**
 * Marginal (belief) of one variable from the last run that ended without an error: one probability
 * per state.
 *
 * @param bp The session.
 * @param variable Index of the variable.
 * @param buffer Where the probabilities are written.
 * @param length Length of the buffer; the variable's cardinality is enough.
 * @param needed Where the length needed is written, or NULL.
 * @return FASTLBP_STATUS_OK; FASTLBP_STATUS_NO_RESULT before there is such a run;
 *         FASTLBP_STATUS_OUT_OF_RANGE; FASTLBP_STATUS_BUFFER_TOO_SMALL.
 */
FASTLBP_API
fastlbp_status fastlbp_bp_marginal(const fastlbp_bp *bp,
                                   size_t variable,
                                   double *buffer,
                                   size_t length,
                                   size_t *needed);

/**
 * Probability of state 1 of one variable from the last run that ended without an error.
 *
 * @param bp The session.
 * @param variable Index of the variable.
 * @param out Where the probability is written.
 * @return FASTLBP_STATUS_OK; FASTLBP_STATUS_NO_RESULT before there is such a run;
 *         FASTLBP_STATUS_OUT_OF_RANGE, also for a variable with one state.
 */
FASTLBP_API
fastlbp_status fastlbp_bp_probability(const fastlbp_bp *bp,
                                      size_t variable,
                                      double *out);

/**
 * P(x = 1) of all variables of a graph with binary variables only, from the last run that ended
 * without an error.
 *
 * @param bp The session.
 * @param buffer Where the probabilities are written.
 * @param length Length of the buffer; fastlbp_graph_variable_count is enough.
 * @param needed Where the length needed is written, or NULL.
 * @return FASTLBP_STATUS_OK; FASTLBP_STATUS_NO_RESULT before there is such a run;
 *         FASTLBP_STATUS_UNSUPPORTED if a variable has more or fewer than two states;
 *         FASTLBP_STATUS_BUFFER_TOO_SMALL.
 */
FASTLBP_API
fastlbp_status fastlbp_bp_probabilities(const fastlbp_bp *bp,
                                        double *buffer,
                                        size_t length,
                                        size_t *needed);

/**
 * P(x = 1) of some variables from the last run that ended without an error.
 *
 * @param bp The session.
 * @param variables `count` indices of variables.
 * @param count Number of variables.
 * @param out Where `count` probabilities are written.
 * @return FASTLBP_STATUS_OK; FASTLBP_STATUS_NO_RESULT before there is such a run;
 *         FASTLBP_STATUS_OUT_OF_RANGE, also for a variable with one state.
 */
FASTLBP_API
fastlbp_status fastlbp_bp_probabilities_of(const fastlbp_bp *bp,
                                           const uint32_t *variables,
                                           size_t count,
                                           double *out);

/**
 * Belief of a factor from the current messages and evidence: one probability per joint state of its
 * variables, which ascend; the first one (lowest index) varies fastest.
 *
 * @param bp The session.
 * @param factor Index of the factor.
 * @param buffer Where the probabilities are written.
 * @param length Length of the buffer: the product of the variables' cardinalities is enough.
 * @param needed Where the length needed is written, or NULL.
 * @return FASTLBP_STATUS_OK; FASTLBP_STATUS_OUT_OF_RANGE; FASTLBP_STATUS_BUFFER_TOO_SMALL;
 *         FASTLBP_STATUS_LIMIT_EXCEEDED for more than 2^26 entries; FASTLBP_STATUS_CONTRADICTION if
 *         the belief would be 0/0; as in fastlbp_bp_prepare.
 *
 * O(entries * arity). Prepares a session that is not yet prepared.
 */
FASTLBP_API
fastlbp_status fastlbp_bp_factor_belief(const fastlbp_bp *bp,
                                        size_t factor,
                                        double *buffer,
                                        size_t length,
                                        size_t *needed);

/**
 * One entry of the belief of a factor; see fastlbp_bp_factor_belief.
 *
 * @param bp The session.
 * @param factor Index of the factor.
 * @param index Index of the joint state: the sum over the factor's variables of state times the
 *        product of the cardinalities of the variables before it.
 * @param out Where the probability is written.
 * @return FASTLBP_STATUS_OK; FASTLBP_STATUS_OUT_OF_RANGE; FASTLBP_STATUS_CONTRADICTION if the belief
 *         would be 0/0; as in fastlbp_bp_prepare.
 *
 * O(arity) for factors with a head, O(terms * arity) for terms, O(entries) for tables. Prepares a session that is not yet prepared.
 */
FASTLBP_API
fastlbp_status fastlbp_bp_factor_belief_at(const fastlbp_bp *bp,
                                           size_t factor,
                                           uint64_t index,
                                           double *out);

/**
 * Joint belief of two variables that share a factor, from the current messages and evidence: entry
 * `x + y * cardinality(first)` is the probability of the states x and y. See fastlbp_bp_joint_belief.
 *
 * @param bp The session.
 * @param first Index of one variable.
 * @param second Index of another variable.
 * @param buffer Where the probabilities are written.
 * @param length Length of the buffer; the product of the two cardinalities is enough.
 * @param needed Where the length needed is written, or NULL.
 * @return As fastlbp_bp_joint_belief.
 */
FASTLBP_API
fastlbp_status fastlbp_bp_pair_belief(const fastlbp_bp *bp,
                                      size_t first,
                                      size_t second,
                                      double *buffer,
                                      size_t length,
                                      size_t *needed);

/**
 * Joint belief of some variables that share a factor: one probability per joint state, the first
 * given variable fastest, from the lowest factor that contains all of them and the current messages
 * and evidence. One variable alone gives its marginal from the last run that ended without an error
 * (see fastlbp_bp_marginal), none at all the number 1.
 *
 * @param bp The session.
 * @param variables `count` indices of variables, all different, in any order.
 * @param count Number of variables.
 * @param buffer Where the probabilities are written.
 * @param length Length of the buffer; the product of the variables' cardinalities is enough.
 * @param needed Where the length needed is written, or NULL.
 * @return FASTLBP_STATUS_OK; FASTLBP_STATUS_OUT_OF_RANGE for an index that names no variable;
 *         FASTLBP_STATUS_INVALID_ARGUMENT if a variable is given twice or no factor contains all of
 *         them; FASTLBP_STATUS_BUFFER_TOO_SMALL; FASTLBP_STATUS_LIMIT_EXCEEDED for more than 2^26
 *         entries; FASTLBP_STATUS_CONTRADICTION if the belief would be 0/0; FASTLBP_STATUS_NO_RESULT
 *         for one variable before there is a run; as in fastlbp_bp_prepare.
 *
 * O(factor + entries * arity) for factors with a head, O(entries * terms * arity) for terms, for tables
 * O(their entries * arity); finding the factor takes O(degree of the first variable * count * log
 * arity). Prepares a session that is not yet prepared.
 */
FASTLBP_API
fastlbp_status fastlbp_bp_joint_belief(const fastlbp_bp *bp,
                                       const uint32_t *variables,
                                       size_t count,
                                       double *buffer,
                                       size_t length,
                                       size_t *needed);

/**
 * Natural logarithm of the partition function by the Bethe approximation (libDAI's `logZ`), from the
 * current messages and the beliefs of the last run that ended without an error, a sum-product one:
 *
 * `sum over variables i of (1 - d_i) H(b_i) - sum over factors f of KL(b_f || f)`
 *
 * where d_i is the number of factors of variable i, b its belief and b_f that of a factor (Yedidia,
 * Freeman, Weiss: Constructing free-energy approximations, 2005). Exact on a graph without cycles
 * after a converged run, an approximation elsewhere.
 *
 * With evidence, the partition function sums over the joint states that agree with the observations,
 * weighted by the likelihoods of soft evidence: less the value without evidence, it is the
 * log-probability of the evidence.
 *
 * @param bp The session.
 * @param out Where the logarithm is written.
 * @return FASTLBP_STATUS_OK; FASTLBP_STATUS_NO_RESULT before there is such a run, and in a clone or
 *         after a change of backend or threads until the session has run again (0 passes from a
 *         warm start will do); FASTLBP_STATUS_CONTRADICTION if a factor's belief would be 0/0.
 *
 * O(edges * states), for tables O(entries * arity). Run again first if evidence or messages were changed
 * since the last run. The bits of all that leads to it are the same everywhere; the logarithm is the
 * platform's.
 */
FASTLBP_API
fastlbp_status fastlbp_bp_log_partition(const fastlbp_bp *bp,
                                        double *out);

/**
 * A joint state decoded from the current messages, one state per variable, in general after a run
 * with FASTLBP_INFERENCE_MAX_PRODUCT: on a graph without cycles, after a converged run, one of the
 * most probable joint states; elsewhere a good guess, whose score fastlbp_bp_log_score tells.
 *
 * Factors are visited depth first, as in libDAI: from the lowest of each connected component, then
 * always the highest of the factors of the variables that got their states last. The variables of a
 * factor that are still free take the joint state that maximises the factor's belief, given the states
 * already taken; so what is decoded is one joint state, not a mixture of several. Ties: of joint states
 * whose values are equal, bit for bit, the one with the lower state at the highest variable where they
 * differ wins. Observed variables keep their observed state.
 *
 * @param bp The session.
 * @param buffer Where the states are written, by variable index.
 * @param length Length of the buffer; fastlbp_graph_variable_count is enough.
 * @param needed Where the length needed is written, or NULL.
 * @return FASTLBP_STATUS_OK; FASTLBP_STATUS_BUFFER_TOO_SMALL; FASTLBP_STATUS_NO_RESULT as in
 *         fastlbp_bp_log_partition; FASTLBP_STATUS_CONTRADICTION if a factor excludes the
 *         states already taken, as can happen on graphs with cycles; FASTLBP_STATUS_UNSUPPORTED for a factor that
 *         max-product cannot handle (see fastlbp_bp_set_inference).
 *
 * O(edges * cost of a message).
 */
FASTLBP_API
fastlbp_status fastlbp_bp_find_maximum(const fastlbp_bp *bp,
                                       uint32_t *buffer,
                                       size_t length,
                                       size_t *needed);

/**
 * Natural logarithm of the product of all factors, and of the likelihoods of soft evidence, at a
 * joint state: minus infinity where a factor or an observation excludes it. Less
 * fastlbp_bp_log_partition, it is the log-probability of the joint state.
 *
 * @param bp The session.
 * @param states `length` states, by variable index.
 * @param length Must be the number of variables.
 * @param out Where the logarithm is written.
 * @return FASTLBP_STATUS_OK; FASTLBP_STATUS_INVALID_ARGUMENT for another length;
 *         FASTLBP_STATUS_OUT_OF_RANGE for a state that its variable does not have; as in
 *         fastlbp_bp_prepare.
 *
 * O(edges + conditions of terms). Needs no run. The logarithm is the platform's. Prepares a session that is not yet prepared.
 */
FASTLBP_API
fastlbp_status fastlbp_bp_log_score(const fastlbp_bp *bp,
                                    const uint32_t *states,
                                    size_t length,
                                    double *out);

/**
 * Length of the array of all messages: the sum over all edges of the cardinality of the edge's
 * variable.
 *
 * @param bp The session.
 * @param out Where the length is written.
 * @return FASTLBP_STATUS_OK.
 */
FASTLBP_API fastlbp_status fastlbp_bp_message_length(const fastlbp_bp *bp, size_t *out);

/**
 * All factor-to-variable messages, edge by edge: one probability per state of the edge's variable.
 * These are rounded; to go on later with the same bits, see fastlbp_bp_save_state.
 *
 * @param bp The session.
 * @param buffer Where the messages are written.
 * @param length Length of the buffer; fastlbp_bp_message_length is enough.
 * @param needed Where the length needed is written, or NULL.
 * @return FASTLBP_STATUS_OK; FASTLBP_STATUS_BUFFER_TOO_SMALL; as in fastlbp_bp_prepare.
 *
 * Prepares a session that is not yet prepared.
 */
FASTLBP_API
fastlbp_status fastlbp_bp_messages(const fastlbp_bp *bp,
                                   double *buffer,
                                   size_t length,
                                   size_t *needed);

/**
 * Replaces all factor-to-variable messages, in the layout of fastlbp_bp_messages. The number of
 * passes done counts from 0 again. A run with FASTLBP_START_WARM goes on from them.
 *
 * @param bp The session; changed.
 * @param messages `length` values: for each edge finite and not negative, not all zero; only their
 *        ratios matter.
 * @param length Must be fastlbp_bp_message_length.
 * @return FASTLBP_STATUS_OK; FASTLBP_STATUS_INVALID_ARGUMENT; as in fastlbp_bp_prepare.
 */
FASTLBP_API
fastlbp_status fastlbp_bp_set_messages(fastlbp_bp *bp,
                                       const double *messages,
                                       size_t length);

/**
 * The exact state of the messages and the number of passes done, for fastlbp_bp_restore_state: a
 * sequence of words whose meaning belongs to this version of the library. Evidence, schedule,
 * settings and results are not part of it.
 *
 * @param bp The session.
 * @param buffer Where the words are written.
 * @param length Length of the buffer; 4 more than fastlbp_bp_message_length is enough.
 * @param needed Where the length needed is written, or NULL.
 * @return FASTLBP_STATUS_OK; FASTLBP_STATUS_BUFFER_TOO_SMALL; as in fastlbp_bp_prepare.
 *
 * Prepares a session that is not yet prepared.
 */
FASTLBP_API
fastlbp_status fastlbp_bp_save_state(const fastlbp_bp *bp,
                                     uint64_t *buffer,
                                     size_t length,
                                     size_t *needed);

/**
 * Goes back to a saved state, also of another session on an equal graph. A run with
 * FASTLBP_START_WARM goes on from it with the same bits.
 *
 * @param bp The session; changed.
 * @param state `length` words from fastlbp_bp_save_state.
 * @param length Number of words.
 * @return FASTLBP_STATUS_OK; FASTLBP_STATUS_INVALID_ARGUMENT if it is not a state of this version
 *         and graph; as in fastlbp_bp_prepare.
 */
FASTLBP_API
fastlbp_status fastlbp_bp_restore_state(fastlbp_bp *bp,
                                        const uint64_t *state,
                                        size_t length);

/**
 * Sets the update schedule by its name. Messages, evidence and results stay; the schedule is
 * analysed at the next run or fastlbp_bp_prepare.
 *
 * A schedule is a total preorder on the edges of the graph, a rank per edge: in each pass, a
 * factor-to-variable message reads those of edges of lower rank from the same pass, all others from
 * the previous pass. Whatever the order, runs in parallel give the bits of updating one edge at a
 * time. The names, in upper or lower case:
 *
 * - `PARALL`: all messages at once (flooding).
 * - `SEQFIX`: factors in order, within a factor variables ascending; the default.
 * - `SEQRND`: one edge after the other, in a new random order every pass.
 * - `SEQMAX`: always the message that would change most (residual belief propagation); no preorder.
 *   A pass is as many messages as there are edges. By the property `logdomain`, changes are those of
 *   probabilities or of their logarithms. Not together with an active set.
 * - `BLOCKS`: every edge is in one of some blocks, at random; one block after the other, the edges
 *   of a block at once; the same blocks every pass. 8 blocks, if neither
 *   fastlbp_bp_set_schedule_blocks nor the property `blocks` said otherwise.
 * - `TOPO`: along the arcs from the bodies to the heads of AND and OR factors, then back.
 * - `FWDBWD`: as TOPO, but all messages whose heads are equally deep at once.
 * - `TREE`: towards the roots of a spanning forest, then away from them; exact in one pass on a
 *   graph without cycles.
 *
 * @param bp The session; changed.
 * @param name The name, a string.
 * @param seed The seed of SEQRND and BLOCKS, which gives the same orders on every machine; other
 *        schedules ignore it.
 * @return FASTLBP_STATUS_OK; FASTLBP_STATUS_INVALID_ARGUMENT for an unknown name;
 *         FASTLBP_STATUS_INVALID_UTF8.
 */
FASTLBP_API
fastlbp_status fastlbp_bp_set_schedule(fastlbp_bp *bp,
                                       const char *name,
                                       uint64_t seed);

/**
 * Sets the update schedule BLOCKS: every edge is put into one of `blocks` blocks, each with the same
 * probability, the same ones every pass. The blocks are updated one after the other, the edges of one
 * at once. One block is PARALL.
 *
 * @param bp The session; changed.
 * @param blocks The number of blocks, 1 or more; blocks without edges are passed over.
 * @param seed Of the random blocks; gives the same ones on every machine.
 * @return FASTLBP_STATUS_OK; FASTLBP_STATUS_INVALID_ARGUMENT for 0 blocks.
 *
 * O(1); the schedule is analysed as by fastlbp_bp_set_schedule.
 */
FASTLBP_API
fastlbp_status fastlbp_bp_set_schedule_blocks(fastlbp_bp *bp,
                                              uint32_t blocks,
                                              uint64_t seed);

/**
 * Sets the update schedule by a rank per edge: edges of lower rank come first, edges of equal rank
 * are updated at once. Only order and equality of the ranks matter.
 *
 * @param bp The session; changed.
 * @param ranks `length` ranks, by edge (see fastlbp_graph_edge_variables).
 * @param length Must be the number of edges.
 * @return FASTLBP_STATUS_OK; FASTLBP_STATUS_INVALID_ARGUMENT for another length.
 *
 * O(edges) for ranks that lie close together, O(edges log edges) otherwise.
 */
FASTLBP_API
fastlbp_status fastlbp_bp_set_schedule_ranks(fastlbp_bp *bp,
                                             const uint64_t *ranks,
                                             size_t length);

/**
 * Sets the update schedule by a relation on the edges (its Hasse diagram, or any set of pairs with
 * the same closure): edge `before[i]` is not updated after edge `after[i]`. Edges that the relation
 * puts on both sides of each other are updated at once. It must compare every two edges of which one
 * message reads the other.
 *
 * @param bp The session; changed.
 * @param before `count` edges.
 * @param after `count` edges.
 * @param count Number of pairs.
 * @return FASTLBP_STATUS_OK; FASTLBP_STATUS_OUT_OF_RANGE for an edge that there is not;
 *         FASTLBP_STATUS_INVALID_ARGUMENT if two edges that must be compared are not, which the text
 *         names.
 *
 * O((edges + count) log edges) if the pairs put all classes one after the other, more otherwise.
 */
FASTLBP_API
fastlbp_status fastlbp_bp_set_schedule_relation(fastlbp_bp *bp,
                                                const uint32_t *before,
                                                const uint32_t *after,
                                                size_t count);

/**
 * Name of the schedule in use: as for fastlbp_bp_set_schedule, or `CUSTOM` for one set by ranks or a
 * relation.
 *
 * @param bp The session.
 * @param buffer Where the string is written, with its final NUL.
 * @param length Length of the buffer; 16 is enough.
 * @param needed Where the length needed is written, or NULL.
 * @return FASTLBP_STATUS_OK; FASTLBP_STATUS_BUFFER_TOO_SMALL.
 */
FASTLBP_API
fastlbp_status fastlbp_bp_schedule(const fastlbp_bp *bp,
                                   char *buffer,
                                   size_t length,
                                   size_t *needed);

/**
 * Rank of every edge in a pass, counted from 0 without gaps.
 *
 * @param bp The session.
 * @param pass The number of passes since the messages were uniform, so 0 for the first one; only
 *        SEQRND has different ranks in different passes.
 * @param buffer Where the ranks are written.
 * @param length Length of the buffer; the number of edges is enough.
 * @param needed Where the length needed is written, or NULL.
 * @return FASTLBP_STATUS_OK; FASTLBP_STATUS_BUFFER_TOO_SMALL; FASTLBP_STATUS_UNSUPPORTED for SEQMAX,
 *         which has no preorder.
 *
 * O(edges).
 */
FASTLBP_API
fastlbp_status fastlbp_bp_schedule_ranks(const fastlbp_bp *bp,
                                         uint64_t pass,
                                         uint32_t *buffer,
                                         size_t length,
                                         size_t *needed);

/**
 * Number of dependency levels of the schedule: groups of edges whose messages can be computed at
 * once, with the bits of updating one edge at a time. The fewest there can be when new messages
 * overwrite old ones. For SEQRND, those of the first pass.
 *
 * @param bp The session.
 * @param out Where the number is written.
 * @return FASTLBP_STATUS_OK; FASTLBP_STATUS_UNSUPPORTED for SEQMAX, which has no preorder.
 *
 * Analyses the schedule when called for the first time after the schedule was set: near-linear in
 * the number of edges.
 */
FASTLBP_API fastlbp_status fastlbp_bp_level_count(const fastlbp_bp *bp, size_t *out);

/**
 * Number of edges of each dependency level; see fastlbp_bp_level_count.
 *
 * @param bp The session.
 * @param buffer Where the numbers are written.
 * @param length Length of the buffer; fastlbp_bp_level_count is enough.
 * @param needed Where the length needed is written, or NULL.
 * @return FASTLBP_STATUS_OK; FASTLBP_STATUS_BUFFER_TOO_SMALL; as in fastlbp_bp_level_count.
 */
FASTLBP_API
fastlbp_status fastlbp_bp_level_widths(const fastlbp_bp *bp,
                                       uint32_t *buffer,
                                       size_t length,
                                       size_t *needed);

/**
 * Number of CUDA devices, at least 1. The driver is loaded and started by the first call that needs
 * it.
 *
 * @param out Where the number is written.
 * @return FASTLBP_STATUS_OK; FASTLBP_STATUS_NO_DEVICE if CUDA cannot be used, and the error text says
 *         why: the library was built without it, there is no driver, it is too old or cannot be
 *         started, there is no device.
 *
 * May be called from any thread at any time.
 */
FASTLBP_API
fastlbp_status fastlbp_device_count(uint32_t *out);

/**
 * Name of a CUDA device, such as "NVIDIA H200".
 *
 * @param index Number of the device, from 0, in the driver's order (which the environment variables
 *        CUDA_VISIBLE_DEVICES and CUDA_DEVICE_ORDER change).
 * @param buffer Where the name is written, with a NUL at its end.
 * @param length Length of the buffer.
 * @param needed Where the length needed is written, or NULL.
 * @return FASTLBP_STATUS_OK; FASTLBP_STATUS_BUFFER_TOO_SMALL; FASTLBP_STATUS_OUT_OF_RANGE if there is
 *         no device of this number; FASTLBP_STATUS_NO_DEVICE as in fastlbp_device_count.
 *
 * May be called from any thread at any time.
 */
FASTLBP_API
fastlbp_status fastlbp_device_name(uint32_t index,
                                   char *buffer,
                                   size_t length,
                                   size_t *needed);

/**
 * Memory of a CUDA device, in bytes, at this moment. The first call in a process takes some 100
 * milliseconds and some of that memory, since the driver tells only those that use the device.
 *
 * @param index Number of the device, as in fastlbp_device_name.
 * @param total Where the size of its memory is written.
 * @param free Where the size of what no process uses is written.
 * @return FASTLBP_STATUS_OK; FASTLBP_STATUS_OUT_OF_RANGE if there is no device of this number;
 *         FASTLBP_STATUS_NO_DEVICE as in fastlbp_device_count, and if the device is too old for the
 *         library (compute capability below 7.0); FASTLBP_STATUS_DEVICE_FAILED if it does not work.
 *
 * May be called from any thread at any time.
 */
FASTLBP_API fastlbp_status fastlbp_device_memory(uint32_t index, uint64_t *total, uint64_t *free);

/**
 * The version of CUDA that the driver supports, such as 13.0; the library needs 12.0 or later
 * (NVIDIA's driver 525).
 *
 * @param major Where the major version is written.
 * @param minor Where the minor version is written.
 * @return FASTLBP_STATUS_OK; FASTLBP_STATUS_NO_DEVICE as in fastlbp_device_count.
 *
 * May be called from any thread at any time.
 */
FASTLBP_API fastlbp_status fastlbp_device_driver_version(uint32_t *major, uint32_t *minor);

/**
 * Sets which CUDA device the backends FASTLBP_BACKEND_CUDA and FASTLBP_BACKEND_AUTO use; takes effect
 * with the next run. Results do not depend on it.
 *
 * @param bp The session; changed.
 * @param index Number of the device, as in fastlbp_device_name, or FASTLBP_DEVICE_DEFAULT, the default.
 * @return FASTLBP_STATUS_OK, also where there is no such device: with FASTLBP_BACKEND_CUDA runs then
 *         fail with FASTLBP_STATUS_OUT_OF_RANGE or FASTLBP_STATUS_NO_DEVICE and the reason, with
 *         FASTLBP_BACKEND_AUTO they are made on the CPU.
 *
 * O(1).
 */
FASTLBP_API
fastlbp_status fastlbp_bp_set_device(fastlbp_bp *bp,
                                     uint32_t index);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* FASTLBP_H */
