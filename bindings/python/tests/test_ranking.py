"""Inspections and suspects, also against the command line."""

import json

import pytest
from conftest import DATA

import fastlbp
from fastlbp import BeliefPropagation, Inspection, Quality


def test_an_inspection(alarms, tmp_path):
    session = BeliefPropagation(alarms, "SEQFIX", backend="cpu")
    journal = tmp_path / "journal"
    inspection = Inspection(session, [10, (11, "eleven")], journal=journal)
    assert [one.label for one in inspection.order()] == [11, 10] and inspection.order()[0].name == "eleven"
    before = inspection.order()
    inspection.answer(11, False)
    assert [one.label for one in inspection.order()] == [10] and inspection.answers() == [(11, False)]
    assert inspection.undo() == (11, False) and inspection.order() == before and inspection.undo() is None
    inspection.answer(11, True)
    ways = inspection.explain(20)
    assert ways[0].label == 11 and ways[0].strength == 0.8 and ways[0].premises[0][0] == 2
    assert inspection.marginals().shape == (10,) and session.report is None
    for wrong in (lambda: inspection.answer(11, True), lambda: inspection.answer(1, True),
                  lambda: inspection.answer(99, True), lambda: Inspection(session, [10, 10]),
                  lambda: Inspection(session, [99]), lambda: inspection.explain(99),
                  lambda: Inspection(session, [10], damping=2.0)):
        with pytest.raises(fastlbp.Error):
            wrong()
    del inspection
    again = Inspection(session, [10, (11, "eleven")], journal=journal)
    assert again.answers() == [(11, True)]
    with pytest.raises(fastlbp.Error):
        Inspection(session, [10], journal=tmp_path / "no" / "journal")


def test_ranking_to_the_end(alarms):
    session = BeliefPropagation(alarms, "SEQFIX", backend="cpu")
    answers, quality = fastlbp.rank(session, [10, 11, 20], [True, False, True], until_found=False)
    assert [label for label, _, _ in answers] == sorted((one[0] for one in answers), key=[a[0] for a in answers].index)
    assert len(answers) == 3 and quality.found == 2
    asked = []
    again, _ = fastlbp.rank(session, [10, 11, 20], lambda label: asked.append(label) or label != 11)
    assert again == answers and asked == [label for label, _, _ in answers]
    assert fastlbp.rank(session, [10, 11, 20], [False] * 3)[0] == []
    assert Quality.of([False, True], 1) == Quality(1, 1, 2, 2)


def test_suspects(alarms):
    session = BeliefPropagation(alarms, backend="cpu")
    session.observe(20, 0)
    suspects = fastlbp.locate(session, [1, 2, 10, 11], at_fault=[2])
    probabilities = [one.probability for one in suspects]
    assert probabilities == sorted(probabilities, reverse=True)
    assert (suspects[0].best, suspects[0].worst, suspects[0].average) == (1, 2, 1.5)  # 10 and 11 are false for certain
    rank_of_two = [one.label for one in suspects].index(2) + 1
    assert suspects.first_worst == rank_of_two == suspects.first_average and suspects.report.converged
    assert fastlbp.locate(session, [1]).first_worst is None
    for wrong in (lambda: fastlbp.locate(session, [99]), lambda: fastlbp.locate(session, [1], fault_state=2)):
        with pytest.raises(fastlbp.Error):
            wrong()


def test_a_smartfl_subject_is_the_command_line_s(program, tmp_path):
    folder = DATA / "graphs" / "smartfl"
    graph = fastlbp.FactorGraph.read(next(folder.glob("*.causal_fg*")))
    candidates = [int(label) for label in graph.labels[:200]]
    listed = tmp_path / "candidates"
    listed.write_text("".join(f"{label}\n" for label in candidates))
    printed = program("locate", next(folder.glob("*.causal_fg*")), "--candidates", listed, "--top", 200, "--json")
    wanted = json.loads(printed.splitlines()[0])
    session = BeliefPropagation(graph)
    suspects = fastlbp.locate(session, candidates)
    assert wanted["iterations"] == suspects.report.iterations
    assert [one["label"] for one in wanted["suspects"]] == [one.label for one in suspects]
    assert [one["probability"] for one in wanted["suspects"]] == [one.probability for one in suspects]
