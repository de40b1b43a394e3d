# %% [markdown]
# # A session of BINGO
#
# Datarace alarms of the program weblech, with the derivations that led to them. A user inspects the most probable alarm,
# says whether it is a true one, and all others are ranked again by that answer.

# %%
from pathlib import Path

import fastlbp

folder = Path(__file__).parent if "__file__" in globals() else Path()  # a notebook has no __file__
data = folder.resolve().parents[1] / "data"
graph = fastlbp.FactorGraph.read(data / "weblech.causal_fg.gz")
names = graph.read_dictionary(data / "weblech.dict.gz")
alarms = graph.read_marked(data / "weblech.alarms")
print(graph)
print(f"{len(alarms)} alarms, {sum(mark for _, _, mark in alarms)} of them true")

# %% [markdown]
# An inspection has a session of its own: BINGO's schedule is SEQFIX, and its rule for the end of a run is the default.

# %%
session = fastlbp.BeliefPropagation(graph, schedule="SEQFIX")
inspection = fastlbp.Inspection(session, [(label, name) for label, name, _ in alarms])
for alarm in inspection.order()[:3]:
    print(f"{alarm.name}: {alarm.probability:.6f}")

# %% [markdown]
# Why is the first one so probable? Its derivations, and their least probable premises.

# %%
first = inspection.order()[0]
for derivation in inspection.explain(first.label):
    print(f"rule {names.get(derivation.label, derivation.label)[:34]}...: {derivation.probability:.6f}")
    label, probability = derivation.premises[0]
    print(f"  needs {names.get(label, label)}: {probability:.6f}")

# %% [markdown]
# An answer changes the probabilities of the others; undoing it brings the same bits back.

# %%
before = inspection.order()
inspection.answer(first.label, False)
print("after 'no':", ", ".join(alarm.name for alarm in inspection.order()[:3]))
inspection.undo()
print("undone:", inspection.order() == before)

# %% [markdown]
# With known answers, the loop runs by itself until all true alarms are found. What was it worth?

# %%
answers, quality = fastlbp.rank(session, [(label, name) for label, name, _ in alarms], [mark for _, _, mark in alarms])
print("true alarms at", [number for number, (_, is_true, _) in enumerate(answers, 1) if is_true])
print(quality)
