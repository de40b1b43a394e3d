"""Exact marginals by pgmpy, for tests/networks.rs.

Prints a line per state of every variable of the BIF files (.bif or .bif.gz) given as arguments:
file, "prior" or "posterior", variable, state, probability, separated by tabs. The posterior is that
with the last variable in its first state.
"""

import gzip
import sys

from pgmpy.inference import VariableElimination
from pgmpy.readwrite import BIFReader


def text_of(path):
    if path.endswith(".gz"):
        return gzip.open(path, "rt", encoding="utf-8").read()
    return open(path, encoding="utf-8").read()


for path in sys.argv[1:]:
    reader = BIFReader(string=text_of(path))
    elimination = VariableElimination(reader.get_model())
    last = reader.variable_names[-1]
    for case, evidence in [("prior", {}), ("posterior", {last: reader.variable_states[last][0]})]:
        for variable in reader.variable_names:
            if variable in evidence:
                continue
            factor = elimination.query([variable], evidence=evidence, show_progress=False)
            for state in reader.variable_states[variable]:
                value = float(factor.get_value(**{variable: state}))
                print(path, case, variable, state, repr(value), sep="\t")
