// The loop over passes, on the device: stop rules, contradictions, barriers. What host and device tell each other about
// it is in interface.cuh.
#pragma once

#include "interface.cuh"
#include "threads.cuh"

namespace fastlbp {

/// Notes a factor's message that was 0/0.
FASTLBP_DEVICE_COLD void note_factor(Tally *tally, uint32_t variable) {
    atomic_add(&tally->factor_count, 1ULL);
    atomic_max(&tally->factor_lowest, ~variable);
}

/// Notes a variable at which certain messages disagree.
FASTLBP_DEVICE_COLD void note_variable(Tally *tally, uint32_t variable) {
    atomic_add(&tally->variable_count, 1ULL);
    atomic_max(&tally->variable_lowest, ~variable);
}

/// Notes that certain messages disagreed when a message of a variable was computed.
FASTLBP_DEVICE_COLD void note_met(Tally *tally, uint32_t variable) {
    atomic_max(&tally->met_lowest, ~variable);
}

/// Adds what the threads of a warp measured to a tally; all of them call it.
FASTLBP_DEVICE void note_movement(Tally *tally, double max_diff, uint32_t moved) {
    unsigned long long bits = to_bits(max_diff);
    for (uint32_t distance = LANES / 2; distance > 0; distance /= 2) {
        const unsigned long long other = shuffle_xor(bits, distance);
        bits = other > bits ? other : bits;
        moved += shuffle_xor(moved, distance);
    }
    if (thread_of_block() % LANES == 0) {
        if (bits != 0) {
            atomic_max(&tally->max_diff, bits);
        }
        if (moved != 0) {
            atomic_add(&tally->moved, static_cast<unsigned long long>(moved));
        }
    }
}

/// Whether the beliefs of the state after `passes` passes are wanted, be it to compare with.
FASTLBP_DEVICE bool is_measured(const Rule &rule, uint64_t passes) {
    if (passes == 0) {
        return (rule.flags & FRESH) == 0;
    }
    return rule.kind != RULE_PASSES || passes + 1 >= rule.max_iterations;
}

/// When a run ends, by docs/src/reference/contract.md; asked before each iteration, with `n` done.
FASTLBP_DEVICE uint32_t reason_to_stop(const Rule &rule, uint64_t n, double max_diff, double active_fraction) {
    if (rule.kind != RULE_PASSES && n > 0 && max_diff <= rule.tolerance) {
        return CONVERGED;
    }
    if (rule.kind == RULE_BINGO) {
        if (n > rule.min_iterations) {
            const double bound = static_cast<double>(n - rule.min_iterations) /
                                 static_cast<double>(rule.max_iterations - rule.min_iterations);
            if (active_fraction < bound) {
                return SHARE;
            }
        }
        return n > rule.max_iterations ? ALL_PASSES : RUNNING;
    }
    return n >= rule.max_iterations ? ALL_PASSES : RUNNING;
}

/// Passes that run at once with a sample of the beliefs being measured: at least so many, as there is something to be done before
/// and after them; and at first.
constexpr uint64_t AT_ONCE_LEAST = 12;
constexpr uint64_t AT_ONCE_FIRST = 14;
constexpr uint64_t AT_ONCE_UNLIMITED = uint64_t(1) << 32;

/// How a state is measured: not; all of its beliefs, of which those of a sample alone have one of the state before to be compared
/// with, or all.
enum Measuring : uint32_t {
    NOT_MEASURED = 0,
    SAMPLE_COMPARED = 1,
    ALL_COMPARED = 2,
};

/// What is known of a run, by the first thread of each block, each the same. In shared memory: of what is spilled,
/// nothing is left in the cache when blocks have met.
struct Findings : Found {
    /// Contradictory variables as last counted, and whether they have to be counted again.
    uint64_t variable_count;
    uint32_t variable_lowest;
    uint32_t scanning;
    uint32_t reason;
    /// Passes done and those before this launch, the buffer with the messages, whether their state is still to be
    /// looked at, and whether the launch is at its end.
    uint64_t n, begin;
    uint32_t buffer, pending, ended;
    /// Whether all beliefs that are there are of the state before; and whether passes are to be done once more, since a sample did
    /// not say that the run goes on.
    uint32_t complete, returning;
    /// Whether this is the one that tells the host of each pass.
    bool is_logging;

    /// Takes over what earlier launches have found.
    FASTLBP_DEVICE void begin_launch(const Control &control, bool logging) {
        static_cast<Found &>(*this) = control.found;
        variable_count = 0;
        variable_lowest = 0;
        scanning = 1;
        reason = RUNNING;
        n = begin = control.iterations;
        buffer = control.buffer;
        // Else an earlier launch has done this.
        pending = n == 0;
        ended = 0;
        complete = 1;
        returning = 0;
        is_logging = logging;
    }

    /// Hands over what is known at the end of a launch.
    FASTLBP_DEVICE void end_launch(Control &control) const {
        control.iterations = n;
        control.reason = reason;
        control.buffer = buffer;
        control.found = *this;
    }

    /// Takes over contradictory places; returns whether they end the run.
    FASTLBP_DEVICE bool judge(const Rule &rule, uint64_t count, uint32_t lowest) {
        if (count == 0) {
            return false;
        }
        if (rule.flags & STOP_AT_CONTRADICTION) {
            error_count = count;
            error_variable = lowest;
            return true;
        }
        contradictions = larger_of(contradictions, count);
        first_contradiction = first_contradiction ? first_contradiction : lowest;
        return false;
    }

    /// Looks at the state after `n` passes, given its complete tally; null for empty ones. Returns why the run ends.
    FASTLBP_DEVICE uint32_t evaluate(const Rule &rule, uint64_t n, bool closing, const Tally *all,
                                     const Tally *next) {
        // All loads together.
        const Tally copy = all ? *all : Tally{}, *tally = &copy;
        const uint32_t certain_changed = next ? next->certain_changed : 0;
        uint64_t count = tally->factor_count;
        uint32_t lowest = tally->factor_lowest;
        const bool by_levels = (rule.flags & BY_LEVELS) != 0;
        if (scanning || closing) {
            variable_count = tally->variable_count;
            variable_lowest = tally->variable_lowest;
        }
        // What the next pass does of this is complete at its end.
        scanning = !by_levels || n == 0 || certain_changed != 0;
        if (by_levels && count == 0 && tally->met_lowest != 0) {
            count = 1;
            lowest = tally->met_lowest;
        }
        if (!by_levels && judge(rule, count, lowest)) {
            return CONTRADICTION;
        }
        if (n > 0) {
            const bool measured = rule.kind != RULE_PASSES || n >= rule.max_iterations;
            max_diff = from_bits(measured ? uint64_t(tally->max_diff) : uint64_t(0x7ff) << 52);
            moved = measured && complete != 0 ? uint64_t(tally->moved) : moved;
            if (rule.kind == RULE_BINGO && rule.nodes > 0) {
                active_fraction = static_cast<double>(tally->moved) / static_cast<double>(rule.nodes);
            }
        }
        // By levels, a state from which passes begin is not looked at.
        if (n > 0 || !by_levels || (closing && (rule.flags & FRESH) == 0)) {
            if (judge(rule, count + variable_count, larger_of(lowest, variable_lowest))) {
                return CONTRADICTION;
            }
        }
        return reason_to_stop(rule, n, max_diff, active_fraction);
    }

    /// Takes over what was found in passes that ran ahead: the most contradictory places of a state, and the lowest variable
    /// of the first state with any.
    FASTLBP_DEVICE void take_over(uint64_t most, uint32_t first) {
        contradictions = larger_of(contradictions, most);
        first_contradiction = first_contradiction ? first_contradiction : first;
    }

    /// So many passes from here on, of which no more is to be known.
    FASTLBP_DEVICE uint64_t passes_unmeasured(const Loop &loop) const {
        const uint64_t end = smaller_of(loop.limit, loop.rule.max_iterations - 1);
        return loop.rule.kind == RULE_PASSES && !is_measured(loop.rule, n) && end > n ? end - n : 0;
    }

    /// How the state is to be measured when blocks meet.
    FASTLBP_DEVICE Measuring measuring(const Rule &rule) const {
        return pending == 0 || !is_measured(rule, n) ? NOT_MEASURED : complete != 0 ? ALL_COMPARED : SAMPLE_COMPARED;
    }

    /// So many passes from here on may run at once, of whose states a sample of the beliefs is measured: as long as some of these
    /// change by more than the tolerance, nothing else is to be known. All beliefs of the last two states of a launch are wanted.
    FASTLBP_DEVICE uint64_t passes_sampled(const Loop &loop) {
        const Rule &rule = loop.rule;
        uint64_t end = smaller_of(loop.limit, rule.max_iterations) - 1;
        if (doubtful != 0 && n < doubtful) {
            // That it goes on is known until then.
            end = smaller_of(end, larger_of(doubtful, uint64_t(2)) - 2);
        } else if (n < 2 * doubtful || !(max_diff > 16.0 * rule.tolerance)) {
            return 0;
        }
        if (rule.kind != RULE_TOLERANCE || (rule.flags & ROUGH) == 0 || pending == 0 || complete == 0 || n < 2 || end <= n) {
            return 0;
        }
        at_once = at_once == 0 ? AT_ONCE_FIRST : at_once;
        if (at_once < AT_ONCE_LEAST) {
            ++at_once;
            return 0;
        }
        // If changes end all of a sudden, not much is to be done once more.
        return smaller_of(smaller_of(at_once, larger_of(n / 2, AT_ONCE_FIRST)), end - n);
    }

    /// After so many of these, given the changes in the first and the last state as bits: as many are to follow as leave a quarter
    /// of those that will be needed, if changes go on to fall as they did.
    FASTLBP_DEVICE void plan(const Rule &rule, uint64_t passes, uint64_t first, uint64_t last) {
        // Logarithms of two, in units of 1/256.
        const uint64_t from = first >> 44, to = last >> 44, tolerance = to_bits(rule.tolerance) >> 44;
        const uint64_t fallen = from > to ? from - to : 0, left = to > tolerance ? to - tolerance : 0;
        at_once = fallen == 0 ? 4 * passes : smaller_of(4 * passes, 3 * left * (passes - 1) / (4 * fallen));
        // The last ones, with blocks that meet: not before as many of these is something else to be expected.
        at_once = at_once < AT_ONCE_LEAST ? 1 : at_once;
    }

    /// Where the sample does not say that the run goes on after so many of them.
    FASTLBP_DEVICE void doubt(uint64_t passes) {
        doubtful = n + passes;
        at_once = AT_ONCE_UNLIMITED;
    }

    /// Begins once more after `passes` passes, with the messages in this buffer and all beliefs of the state before.
    FASTLBP_DEVICE void go_back(uint64_t passes, uint32_t to) {
        doubt(0);
        n = passes;
        buffer = to;
        pending = complete = 1;
        returning = 0;
    }

    /// After so many passes of which nothing more is to be known, and after which the messages are in the same buffer.
    FASTLBP_DEVICE void skip(const Loop &loop, uint64_t passes) {
        pending = 1;
        if (loop.rule.kind == RULE_TOLERANCE) {
            // The host has been told of each, and of all beliefs those of the sample alone are there.
            n += passes;
            complete = 0;
            return;
        }
        max_diff = from_bits(uint64_t(0x7ff) << 52);
        for (const uint64_t end = n + passes; n < end; ++n) {
            if (is_logging && n > begin) {
                loop.log[n - begin - 1] = Progress{max_diff, active_fraction};
            }
        }
    }

    /// After a pass, or when all passes of a launch are done; by the first thread of each block. The next state is in
    /// the next of so many buffers. If it is `quiet`, tallies are empty, and are not read.
    FASTLBP_DEVICE void go_on(const Loop &loop, uint32_t buffers, bool quiet = false) {
        const bool closing = n == loop.limit;
        const Tally *const tallies = loop.control->counters;
        if (quiet && n > begin && !closing && loop.rule.kind == RULE_PASSES && n < loop.rule.max_iterations) {
            // As below, in fewer steps, one after the other, for which all others wait.
            max_diff = from_bits(uint64_t(0x7ff) << 52);
            if (is_logging) {
                loop.log[n - begin - 1] = Progress{max_diff, active_fraction};
            }
        } else if (pending != 0) {
            reason = evaluate(loop.rule, n, closing, quiet ? nullptr : &tallies[n % 4],
                              quiet ? nullptr : &tallies[(n + 1) % 4]);
            if (reason == CONVERGED && complete == 0) {
                reason = RUNNING;
                returning = 1;
                return;
            }
            complete |= static_cast<uint32_t>(is_measured(loop.rule, n));
            if (is_logging && n > begin) {
                loop.log[n - begin - 1] = Progress{max_diff, active_fraction};
            }
        }
        if (reason != RUNNING || closing) {
            ended = 1;
            return;
        }
        ++n;
        buffer = buffer + 1 == buffers ? 0 : buffer + 1;
        pending = 1;
    }
};

/// How a launch has ended: in which buffer the messages are, and passes done, also before this launch.
struct Ending {
    uint32_t reason, buffer;
    uint64_t n, begin;
};

/// Runs passes. `Work` has
///   pass(buffer, n, measuring, scanning, of_state, of_pass, barrier): pass n + 1, from the messages in
///     `buffer` to the other one, with a barrier at its end; finds contradictory variables of the state after
///     n passes, which is in `buffer`, if `scanning`, and measures it as `measuring` says, into *of_state;
///     contradictions of the pass go to *of_pass;
///   close(buffer, n, measuring, of_state, barrier): the same of the state only;
///   run_ahead(findings, barrier): more passes at once, if it can; returns how many; tells what it found;
///   go_back(findings, barrier): makes the state once more from which passes ran ahead last;
///   is_quiet(barrier): whether nothing was noted in this launch; asked by the first thread of each block.
/// What they wrote of a state that turns out to be the last is not used. Gives what all blocks know at the end.
template <class Work, class Barrier>
FASTLBP_DEVICE Ending run_passes(Work &work, Barrier &barrier, const Loop &loop) {
    FASTLBP_SHARED(Findings, findings);
    Control *const control = loop.control;
    if (thread_of_block() == 0) {
        findings.begin_launch(*control, thread_of_grid() == 0);
    }
    sync_block();
    while (findings.ended == 0) {
        if (const uint64_t passes = work.run_ahead(findings, barrier)) {
            if (thread_of_block() == 0) {
                findings.skip(loop, passes);
            }
            sync_block();
        }
        const uint64_t n = findings.n;
        const Measuring measuring = findings.measuring(loop.rule);
        Tally *const of_state = &control->counters[n % 4];
        if (thread_of_grid() == 0) {
            // Last read before the last barrier but one, next used after the next one.
            control->counters[(n + 2) % 4] = Tally{};
            control->scans[(n + 2) % 4] = control->scans[(n + 2) % 4 + 4] = LookProgress{};
        }
        if (n != loop.limit) {
            Tally *const of_pass = &control->counters[(n + 1) % 4];
            work.pass(findings.buffer, n, measuring, findings.scanning != 0, of_state, of_pass, barrier);
        } else if (findings.pending != 0) {
            // Passes that measure a sample do not come as far as this.
            work.close(findings.buffer, n, measuring != NOT_MEASURED, of_state, barrier);
        } else {
            sync_block();
        }
        if (thread_of_block() == 0) {
            findings.go_on(loop, PASS_BUFFERS, measuring == NOT_MEASURED && work.is_quiet(barrier));
        }
        sync_block();
        if (findings.returning != 0) {
            work.go_back(findings, barrier);
        }
    }
    if (thread_of_grid() == 0) {
        findings.end_launch(*control);
    }
    return Ending{findings.reason, findings.buffer, findings.n, findings.begin};
}

}  // namespace fastlbp
