"""Two causes of three alarms: which one to inspect next, and what an answer says about the others."""

import fastlbp

builder = fastlbp.FactorGraphBuilder()
builder.add_prior(1, 0.6)
builder.add_prior(2, 0.5)
builder.add_and(10, [1], 0.9)
builder.add_and(11, [1], 0.8)
builder.add_and(12, [2], 0.9)
graph = builder.build()

session = fastlbp.BeliefPropagation(graph, schedule="SEQFIX")
session.run()
print("before any answer:", dict(zip(graph.labels.tolist(), session.probabilities().round(4).tolist())))

inspection = fastlbp.Inspection(session, [10, 11, 12])
while inspection.order():
    alarm = inspection.order()[0]
    is_true = alarm.label == 12
    print(f"alarm {alarm.label}: probability {alarm.probability:.4f}, it is {'true' if is_true else 'false'}")
    inspection.answer(alarm.label, is_true)
