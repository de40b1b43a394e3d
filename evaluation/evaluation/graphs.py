"""The graphs that are measured: those of a folder, and generated ones of growing size."""

import gzip
import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Optional

SUFFIXES = (".causal_fg.gz", ".causal_fg")
# Numbers of variables of generated graphs.
SIZES = (1_000, 10_000, 100_000, 1_000_000)
QUICK_SIZES = (1_000, 4_000)


@dataclass
class Subject:
    name: str
    path: Path
    # "smartfl" or "bingo": which of the paper's protocols it is measured by.
    family: str
    variables: int
    edges: int
    evidence: Optional[Path] = None
    # Alarms, with the truth.
    alarms: Optional[Path] = None
    is_generated: bool = False


def lines_of(path):
    opened = gzip.open(path, "rt") if path.suffix == ".gz" else open(path)
    with opened as file:
        yield from file


def size_of(program, path):
    """Variables and edges of a graph."""
    command = [program, "info", path, "--schedule", "PARALL", "--json"]
    info = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return info["variables"], info["edges"]


def find(program, folder, results):
    """The graphs of a folder. One with alarms, or in a folder `bingo`, is one of BINGO's. Sizes are kept with the results, as
    large graphs take a while to read."""
    found, file = [], results / "sizes.json"
    sizes = json.loads(file.read_text()) if file.is_file() else {}
    for path in sorted(folder.rglob("*")):
        suffix = next((suffix for suffix in SUFFIXES if path.name.endswith(suffix)), None)
        if suffix is None:
            continue
        stem = path.with_name(path.name[: -len(suffix)])
        beside = {end: stem.with_name(f"{stem.name}.{end}") for end in ("obs", "alarms")}
        evidence, alarms = (beside[end] if beside[end].is_file() else None for end in ("obs", "alarms"))
        family = "bingo" if alarms or "bingo" in path.parts else "smartfl"
        key = f"{path.relative_to(folder)} {path.stat().st_size}"
        if key not in sizes:
            sizes[key] = size_of(program, path)
        found.append(Subject(stem.name, path, family, *sizes[key], evidence, alarms))
    file.write_text(json.dumps(sizes))
    return sorted(found, key=lambda subject: (subject.family, subject.edges))


def generate(arguments, folder):
    """Graphs of both families, in files of their own, which a later start finds again."""
    made = []
    (folder / "graphs").mkdir(exist_ok=True)
    for family in ("smartfl", "bingo"):
        for size in QUICK_SIZES if arguments.quick else SIZES:
            name = f"{family}-{size}"
            path, evidence = folder / f"graphs/{name}.causal_fg.gz", folder / f"graphs/{name}.obs"
            sizes = folder / f"graphs/{name}.json"
            if not sizes.is_file():
                command = [arguments.fastlbp, "generate", family, "--variables", str(size), "--observations", evidence, path]
                subprocess.run(command, check=True, capture_output=True)
                sizes.write_text(json.dumps(size_of(arguments.fastlbp, path)))
            variables, edges = json.loads(sizes.read_text())
            made.append(Subject(name, path, family, variables, edges, evidence, is_generated=True))
    return made
