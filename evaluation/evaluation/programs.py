"""How fastlbp and its peers are called. Each function gives what was measured, `unfinished` where the time limit ended it, or
`error`."""

import gzip
import json
import shlex
import shutil
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from .graphs import lines_of


def call(command, limit, output=subprocess.PIPE):
    """The finished process, or what to say instead."""
    try:
        words = [str(word) for word in command]
        done = subprocess.run(words, stdout=output, stderr=subprocess.PIPE, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return {"unfinished": limit}
    except OSError as error:
        return {"error": str(error)}
    if done.returncode:
        return {"error": (done.stderr.strip().splitlines() or ["no message"])[-1][:300]}
    return done


def infer(program, subject, options, limit, repeats):
    """A run: the median of its times, in seconds."""
    stats, times = None, []
    evidence = ["--evidence", subject.evidence] if subject.evidence else []
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "stats.json"
        for _ in range(repeats):
            done = call([program, "infer", subject.path, *evidence, "--contradiction", "vote", *options,
                         "--stats", file, "--output", Path(folder) / "out.txt"], limit)
            if isinstance(done, dict):
                return done
            stats = json.loads(file.read_text())
            times.append(stats["seconds"])
    keys = ("iterations", "converged", "stop_reason", "contradictions", "levels", "backend", "threads", "max_diff")
    median = {name: statistics.median(each[name] for each in times) for name in ("read", "prepare", "run")}
    return {**{key: stats[key] for key in keys}, **median, "megabytes": (stats["peak_rss_bytes"] or 0) / 1e6}


def rank(program, subject, options, limit):
    """BINGO's loop until all true alarms are found: its measures, and when each was found. Of one that is unfinished, how far
    it had come."""
    answers = ["--answers", subject.alarms, "--json"]
    with tempfile.TemporaryFile("w+") as output:
        done = call([program, "rank", subject.path, "--alarms", subject.alarms, *answers, *options], limit, output)
        output.seek(0)
        # (The last line of one that was ended may be torn.)
        events = [json.loads(line) for line in output if line.endswith("\n")]
    if isinstance(done, dict):
        return {**done, **progress(events)}
    keys = ("answers", "true", "inversions", "rank_100", "rank_90", "first_seconds", "seconds_per_answer")
    return {**progress(events), **{key: events[-1].get(key) for key in keys}}


def progress(events):
    """What a ranking's answers come to, and the true alarms over their time."""
    seconds, found, curve = 0.0, 0, [(0.0, 0)]
    answers = [event for event in events if event["event"] == "answer"]
    if not answers:
        return {}
    for event in answers:
        seconds += event["seconds"]
        found += event["answer"]
        curve.append((round(seconds, 6), found))
    iterations = statistics.fmean(event["iterations"] for event in answers)
    return {"answers": len(answers), "found": found, "seconds_per_answer": seconds / len(answers), "seconds": seconds,
            "iterations": iterations, "curve": curve}


def plain(path, folder):
    """A graph without compression, for peers that read no other."""
    if path.suffix != ".gz":
        return path
    copy = Path(folder) / path.stem
    with gzip.open(path, "rb") as source, open(copy, "wb") as sink:
        shutil.copyfileobj(source, sink)
    return copy


def observations(subject):
    """Label and state of each observed variable."""
    lines = lines_of(subject.evidence) if subject.evidence else []
    words = (line.split() for line in lines if line.strip() and not line.startswith("#"))
    return [(label, value in ("1", "true")) for label, value in words]


def protocol_peer(program, subject, rule, limit):
    """One run of a program that speaks BINGO's line protocol, with the time until it answers. Its variables are named by
    index, which is the label in graphs whose labels have no gaps."""
    with tempfile.TemporaryDirectory() as folder:
        lines = [f"O {label} {str(state).lower()}" for label, state in observations(subject) if int(label) < subject.variables]
        command = [*shlex.split(program), str(plain(subject.path, folder))]
        try:
            child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        except OSError as error:
            return {"error": str(error)}
        try:
            def ask(line):
                child.stdin.write(line + "\n")
                child.stdin.flush()
                answer = child.stdout.readline()
                if not answer or answer.startswith("ERROR"):
                    raise ValueError(f"{line}: {answer.strip() or 'no answer'}")

            for line in lines:
                ask(line)
            started = time.monotonic()
            ask("BP " + rule.replace(",", " "))
            seconds = time.monotonic() - started
            return {"run": seconds}
        except (ValueError, BrokenPipeError) as error:
            return {"error": str(error)}
        finally:
            child.kill()
            child.wait()


def command_peer(program, command, subject, iterations, limit):
    """A command in whose last line `seconds S` may stand; else the time of its process counts."""
    with tempfile.TemporaryDirectory() as folder:
        values = {"iterations": str(iterations), "evidence": str(subject.evidence or "/dev/null")}
        values["causal_fg"] = str(plain(subject.path, folder))
        for suffix in ("fg", "uai"):
            if "{" + suffix + "}" in command:
                values[suffix] = f"{folder}/graph.{suffix}"
                done = call([program, "convert", subject.path, values[suffix]], limit)
                if isinstance(done, dict):
                    return done
        words = [word.format(**values) for word in shlex.split(command)]
        started = time.monotonic()
        done = call(words, limit)
        seconds = time.monotonic() - started
        if isinstance(done, dict):
            return done
        last = (done.stdout.strip().splitlines() or [""])[-1].split()
        return {"iterations": iterations, "run": float(last[1]) if len(last) == 2 and last[0] == "seconds" else seconds}
