"""Tables and figures: report.md, a .csv for each table, and .svg files."""

import csv
import io

from . import plan, svg


def shown(value):
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(shown(cell) for cell in row) + " |" for row in rows]) + "\n"


def as_csv(head, rows):
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerows([head, *rows])
    return out.getvalue()


def missing(value):
    """What stands for a number that is not there."""
    if value and value.get("unfinished"):
        return f"> {value['unfinished']:.0f} s"
    return "failed" if value else None


def fewer(store):
    """What is to be known of runs that made fewer iterations than they should."""
    if not any(value.get("fewer") for _, value in store.items()):
        return ""
    return (f" On one thread, graphs of more than {plan.MANY_EDGES:,} edges made fewer iterations, as the table says; they are not "
            "in the figures.")


def speeds(here, arguments, subjects, store):
    names = [*plan.engines(here), *(name for name, _, _ in plan.peers(arguments))]
    head = ["graph", "variables", "edges", "engine", "iterations", "read s", "prepare s", "run s", "us/iteration", "ns/edge"]
    rows = []
    for subject in subjects:
        for name in names:
            value = store.known.get(plan.speed_key(subject, name))
            if value is None:
                continue
            row = [subject.name, subject.variables, subject.edges, name]
            if "run" not in value:
                rows.append(row + [None, None, None, missing(value), None, None])
                continue
            iterations = value.get("iterations")
            each = value["run"] / iterations if iterations else None
            rows.append(row + [iterations, value.get("read"), value.get("prepare"), value["run"], each and each * 1e6,
                               each and each / subject.edges * 1e9])
    return head, rows


def schedules(subjects, store):
    head = ["graph", "schedule", "levels", "converged", "iterations", "largest change", "contradictions", "run s"]
    keys = ("levels", "converged", "iterations", "max_diff", "contradictions", "run")
    return head, by_schedule(subjects, store, plan.SCHEDULES, plan.schedule_key, keys)


def by_schedule(subjects, store, names, key_of, keys):
    """A row for each graph and schedule with a result; in the last column of one that was ended, its limit."""
    rows = []
    for subject in subjects:
        for schedule in names:
            value = store.known.get(key_of(subject, schedule))
            if value is not None:
                cells = [value.get(key) for key in keys]
                if "unfinished" in value or "error" in value:
                    cells[-1] = missing(value)
                rows.append([subject.name, schedule, *cells])
    return rows


def rankings(subjects, store):
    head = ["graph", "schedule", "answers", "true alarms found", "inversions", "Rank-100%-T", "Rank-90%-T",
            "iterations per answer", "s per answer", "s in all"]
    keys = ("answers", "found", "inversions", "rank_100", "rank_90", "iterations", "seconds_per_answer", "seconds")
    return head, by_schedule(subjects, store, plan.RANKINGS, plan.ranking_key, keys)


def speed_figure(here, arguments, subjects, store, family, title):
    """The paper's figure: time over variables, on logarithmic axes."""
    series = []
    for name in [*plan.engines(here), *(name for name, _, _ in plan.peers(arguments))]:
        of = [(subject, store.get(plan.speed_key(subject, name))) for subject in subjects if subject.family == family]
        series.append((name, sorted((subject.variables, value["run"]) for subject, value in of
                                 if value and "run" in value and not value.get("fewer"))))
    return svg.figure(title, "variables", "seconds", series, (True, True), has_lines=False)


def steps(curve, start):
    """A curve that rises where an alarm was found, from a time on, as a logarithmic axis has no zero."""
    points, last = [(start, 0)], 0
    for seconds, found in curve:
        if found != last:
            points += [(max(seconds, start), last), (max(seconds, start), found)]
            last = found
    return [*points, (max(curve[-1][0], start), last)]


def ranking_figure(subject, store):
    """The paper's other figure: true alarms over accumulated time."""
    values = [(schedule, store.get(plan.ranking_key(subject, schedule))) for schedule in plan.RANKINGS]
    curves = [(schedule, value["curve"]) for schedule, value in values if value and "curve" in value]
    times = [seconds for _, curve in curves for seconds, _ in curve if seconds > 0]
    start = min(times, default=1.0)
    title = f"{subject.name}: true alarms found over the time of the runs"
    drawn = [(schedule, steps(curve, start)) for schedule, curve in curves]
    return svg.figure(title, "seconds of runs", "true alarms", drawn, (True, False))


def loads(store):
    found = [value["load"] for _, value in store.items() if value.get("load") is not None]
    return f"{min(found)} to {max(found)}" if found else "not known"


def write(arguments, here, subjects, store):
    """Writes everything; gives the files."""
    files = {}

    def put(name, text):
        if text is not None:
            files[name] = text
        return text is not None

    out = [f"# Measured on {here['cores']} cores" + (" and CUDA" if here["devices"] else ""), "",
           "Written by `evaluation/run" + (" --quick`." if arguments.quick else "`."), ""]
    if arguments.quick:
        out += ["Few iterations on small graphs: this shows that the evaluation works, and measures nothing.", ""]
    out += [table(["machine", ""], [
        ["processor", here["cpu"]], ["cores", here["cores"]], ["memory", here["memory"]],
        ["CUDA devices", ", ".join(here["devices"]) or "none"], ["system", here["system"]], ["fastlbp", here["fastlbp"]],
        ["program", f"SHA-256 {here['program']}..."], ["load before measurements", loads(store)],
    ]), "The load is the number of programs that want to run: work of others on the same cores makes times longer.",
        arguments.note, ""]
    out += ["## RQ1: how fast", "",
            f"SmartFL graphs: {plan.QUICK_SYNCHRONOUS if arguments.quick else plan.SYNCHRONOUS} synchronous iterations. BINGO "
            f"graphs: SEQFIX by BINGO's rule with {plan.QUICK_BINGO_RULE if arguments.quick else plan.BINGO_RULE}." + fewer(store), ""]
    for family, title in (("smartfl", "Synchronous iterations"), ("bingo", "A run by BINGO's rule")):
        if put(f"speed-{family}.svg", speed_figure(here, arguments, subjects, store, family, title)):
            out += [f"![{title}: time over variables](speed-{family}.svg)", "", f"*{title}: time over variables.*", ""]
    head, rows = speeds(here, arguments, subjects, store)
    put("speed.csv", as_csv(head, rows))
    out += [table(head, rows)]
    out += ["## RQ2: how good", "", "### Rankings", "",
            "BINGO's loop with the truth as answers, until all true alarms are found. Fewer inversions are better. A row with a "
            "limit in its last column was ended by it: it says how far it had come.", ""]
    for subject in subjects:
        if subject.alarms and put(f"ranking-{subject.name}.svg", ranking_figure(subject, store)):
            out += [f"![{subject.name}: true alarms over accumulated time](ranking-{subject.name}.svg)", "",
                    f"*{subject.name}: true alarms over accumulated time.*", ""]
    head, rows = rankings(subjects, store)
    put("rankings.csv", as_csv(head, rows))
    out += [table(head, rows)]
    out += ["### Convergence", "",
            f"Within {plan.MOST_ITERATIONS} iterations, to changes of at most {plan.TOLERANCE}, with the evidence of each graph.", ""]
    head, rows = schedules(subjects, store)
    put("schedules.csv", as_csv(head, rows))
    out += [table(head, rows)]
    put("report.md", "\n".join(out))
    paths = []
    for name, text in files.items():
        path = store.folder / name
        path.write_text(text)
        paths.append(path)
    return paths
