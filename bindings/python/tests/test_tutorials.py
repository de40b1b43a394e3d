"""The tutorials of the book do and print what the book says. One that goes on with another package ends where that is not
installed, and is then compared up to there."""

import subprocess
import sys

import pytest
from conftest import ROOT

TUTORIALS = sorted((ROOT / "examples" / "python" / "tutorials").glob("*.py"))


@pytest.mark.parametrize("as_notebook", [False, True])
@pytest.mark.parametrize("path", TUTORIALS, ids=lambda path: path.stem)
def test_a_tutorial(path, as_notebook):
    # A notebook runs in its folder, and its cells have no `__file__`.
    program = ["-c", f"exec(open({path.name!r}).read())"] if as_notebook else [path]
    done = subprocess.run(
        [sys.executable, "-W", "ignore", *program],
        capture_output=True,
        text=True,
        check=False,
        cwd=path.parent if as_notebook else None,
    )
    wanted = path.with_suffix(".txt").read_text()
    missing = [line for line in done.stderr.splitlines() if " is not here: " in line]
    if done.returncode and missing:
        assert done.stdout and wanted.startswith(done.stdout)
        pytest.skip(missing[0])
    assert done.returncode == 0, done.stderr
    assert done.stdout == wanted


def test_there_are_tutorials():
    assert [path.stem for path in TUTORIALS] == ["bif_pgmpy", "bingo_session", "denoise_potts", "smartfl_subject"]
    for path in TUTORIALS:
        cells = path.read_text().split("\n# %%")
        assert len(cells) > 4 and path.read_text().startswith("# %% [markdown]\n# # ")
