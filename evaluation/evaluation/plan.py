"""The measurements: which there are, and what each is called by."""

from dataclasses import dataclass
from typing import Callable

from . import machine, programs

# RQ1: the paper's 500 synchronous iterations, and BINGO's rule.
SYNCHRONOUS, QUICK_SYNCHRONOUS = 500, 20
BINGO_RULE, QUICK_BINGO_RULE = "1e-06,500,1000,100", "1e-06,20,40,10"

# RQ2: the schedules that are compared, the paper's first.
SCHEDULES = {
    "SEQFIX": ["--schedule", "SEQFIX"],
    "PARALL": ["--schedule", "PARALL"],
    "TOPO": ["--schedule", "TOPO"],
    "FWDBWD": ["--schedule", "FWDBWD"],
    "BLOCKS": ["--schedule", "BLOCKS"],
    "SEQRND": ["--schedule", "SEQRND"],
    "SEQMAX": ["--schedule", "SEQMAX"],
    "SEQFIX damped": ["--schedule", "SEQFIX", "--damping", "0.5"],
    "PARALL damped": ["--schedule", "PARALL", "--damping", "0.5"],
}
RANKINGS = {**SCHEDULES, "SEQFIX warm": ["--schedule", "SEQFIX", "--warm"]}
QUICK_RANKINGS = ("SEQFIX", "FWDBWD", "SEQFIX warm")
QUICK_SCHEDULES = ("SEQFIX", "PARALL", "FWDBWD")
# When a run counts as converged.
TOLERANCE, MOST_ITERATIONS = "1e-6", 200
# Generated graphs above this take long by schedules that are not synchronous, and say nothing new.
LARGEST_GENERATED = 500_000


# Iterations on one thread may be fewer above so many edges (--fewer).
MANY_EDGES = 100_000


@dataclass
class Job:
    key: str
    measure: Callable


def engines(here):
    """What fastlbp runs on here, by name."""
    found = {"1 thread": ["--backend", "cpu", "--threads", "1"]}
    if here["cores"] > 1:
        found[f"{here['cores']} threads"] = ["--backend", "cpu", "--threads", str(here["cores"])]
    if here["devices"]:
        found["CUDA"] = ["--backend", "cuda"]
    return found


def best(arguments, here):
    """The engine for RQ2, whose results have the same bits on all."""
    threads = ["--threads", str(arguments.threads)] if arguments.threads else []
    return engines(here).get("CUDA", ["--backend", "cpu", *threads])


def peers(arguments):
    """Name, kind and command of each peer."""
    given = [("protocol", text) for text in arguments.protocol_peer] + [("command", text) for text in arguments.command_peer]
    return [(name, kind, command) for kind, text in given for name, _, command in [text.partition("=")]]


def speed_key(subject, engine):
    return f"speed / {subject.name} / {engine}"


def schedule_key(subject, schedule):
    return f"schedule / {subject.name} / {schedule}"


def ranking_key(subject, schedule):
    return f"ranking / {subject.name} / {schedule}"


def makes_fewer(arguments, subject, engine):
    """Whether a graph makes fewer iterations on an engine than the protocol says."""
    return bool(arguments.fewer) and engine == "1 thread" and subject.edges > MANY_EDGES


def speed_options(arguments, subject, engine=None):
    """The protocol of the paper for a graph."""
    if makes_fewer(arguments, subject, engine):
        if subject.family == "smartfl":
            return ["--schedule", "PARALL", "--iterations", str(arguments.fewer)]
        return ["--schedule", "SEQFIX", "--bingo", f"1e-06,{arguments.fewer},{2 * arguments.fewer},{min(100, arguments.fewer)}"]
    if subject.family == "smartfl":
        return ["--schedule", "PARALL", "--iterations", str(QUICK_SYNCHRONOUS if arguments.quick else SYNCHRONOUS)]
    return ["--schedule", "SEQFIX", "--bingo", QUICK_BINGO_RULE if arguments.quick else BINGO_RULE]


def jobs(arguments, here, subjects):
    """All of them, in the order of their use: speed, then quality, small graphs first."""
    program, limit = arguments.fastlbp, arguments.limit
    repeats = 1 if arguments.quick else arguments.repeats
    listed = []

    def add(key, measure, *given, **more):
        def timed():
            before = machine.load()
            return {**measure(*given), **more, "load": before}

        listed.append(Job(key, timed))

    for subject in subjects:
        options = speed_options(arguments, subject)
        for engine, where in engines(here).items():
            more = {"fewer": True} if makes_fewer(arguments, subject, engine) else {}
            own = speed_options(arguments, subject, engine)
            add(speed_key(subject, engine), programs.infer, program, subject, own + where, limit, repeats, **more)
        for name, kind, command in peers(arguments):
            if kind == "protocol" and subject.family == "bingo":
                add(speed_key(subject, name), programs.protocol_peer, command, subject, options[-1], limit)
            elif kind == "command" and subject.family == "smartfl":
                add(speed_key(subject, name), programs.command_peer, program, command, subject, int(options[-1]), limit)
    for subject in subjects:
        if subject.is_generated and subject.variables > LARGEST_GENERATED:
            continue
        for schedule in QUICK_SCHEDULES if arguments.quick else SCHEDULES:
            options = [*SCHEDULES[schedule], "--tolerance", TOLERANCE, "--max-iterations", str(MOST_ITERATIONS), *best(arguments, here)]
            add(schedule_key(subject, schedule), programs.infer, program, subject, options, limit, 1)
    for subject in subjects:
        if not subject.alarms:
            continue
        for schedule in QUICK_RANKINGS if arguments.quick else RANKINGS:
            options = [*RANKINGS[schedule], *best(arguments, here)]
            if arguments.quick:
                options += ["--bingo", QUICK_BINGO_RULE]
            add(ranking_key(subject, schedule), programs.rank, program, subject, options, limit)
    return listed
