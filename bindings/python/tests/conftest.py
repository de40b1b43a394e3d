"""What several tests use: small graphs, files of the tree, the program of the command line."""

import os
import subprocess
from pathlib import Path

import pytest

import fastlbp

ROOT = Path(__file__).resolve().parents[3]
DATA = ROOT / "tests" / "data"


@pytest.fixture(autouse=True)
def _doctest_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def alarms():
    """Two causes of an alarm, and another alarm of the second one."""
    builder = fastlbp.FactorGraphBuilder()
    builder.add_prior(1, 0.25)
    builder.add_prior(2, 0.5)
    builder.add_and(10, [1], 0.9)
    builder.add_and(11, [2], 0.8)
    builder.add_or(20, [10, 11])
    return builder.build()


@pytest.fixture
def mixed():
    """Every kind of factor, over variables of several sizes."""
    builder = fastlbp.FactorGraphBuilder()
    builder.add_variable(50, 3)
    builder.add_prior(1, 0.25)
    builder.add_prior(2, 0.5)
    builder.add_and(3, [1, 2], 0.9, 0.125)
    builder.add_or(4, [3, 2], 0.875, 0.0625)
    builder.add_and(4, [4, 1], 0.75, 0.25)
    builder.add_signed(5, [4, 1], [True, False], [0.75, 0.25, 0.5, 0.5])
    builder.add_noisy_or(6, [5, 2], [0.5, 0.25], 0.125)
    builder.add_noisy_and(7, [6], [0.25], 0.75)
    builder.add_clause([1, 5, 7], [True, False, True], 1.0, 0.25)
    builder.add_terms([50, 7], [0.5, 0.25, 1.0], [[0, -1], [1, 1], [-1, 0]])
    builder.add_table([50, 2], [[1, 2], [3, 4], [5, 6]])
    return builder.build()


@pytest.fixture(scope="session")
def program():
    """Runs the command line program."""
    path = os.environ.get("FASTLBP_PROGRAM")
    if not path:
        pytest.skip("FASTLBP_PROGRAM does not name the command line program")

    def run(*arguments):
        done = subprocess.run([path, *map(str, arguments)], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


def marginals_of(text):
    """P(x = 1) by label, as the program prints it."""
    lines = (line.split() for line in text.splitlines() if line and line[0] != "#")
    return {int(label): float(probability) for label, probability in lines}
