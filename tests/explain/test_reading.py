"""What conditions say is read back into codes: each sentence of the catalogues that can stand in one."""

import inspect
from collections.abc import Iterator
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

import reprieve
from reprieve.explain import Evidence, explain
from reprieve.explain.reading import (
    ALONE,
    AROUND,
    FAILURES,
    NOT_UNDERSTOOD,
    QUOTES,
    Reading,
    Said,
    excluding,
    is_understood,
    lacking,
    not_understood,
    obstacle,
    preemptor_uid,
    read,
    read_preemption,
    said_by,
)
from reprieve.explain.sentences import answers
from reprieve.placement import Code, Reason, device_texts, filter_texts, group_texts, volume_texts
from reprieve.preemption import preemption_texts
from reprieve.quota import Cause, quota_texts
from reprieve.scheduler import scheduler_texts
from tests.builders import Document, cluster_queue, flavor, local_queue, node, pod, workload
from tests.strategies.cluster import Scene, scenes
from tests.strategies.quota import NOW, worlds


def samples(said: Said) -> Iterator[tuple[str, list[str]]]:
    """A sentence with values filled in, once for each way to say it, and the values that are in it."""
    if isinstance(said, str):
        yield said, []
        return
    for choice in (False, True):
        positional: list[object] = []
        keywords: dict[str, object] = {}
        for number, each in enumerate(inspect.signature(said).parameters.values()):
            kind = str(each.annotation)
            value: object = f"ml/name-{number}"
            if "bool" in kind:
                value = choice
            elif "Sequence" in kind or "Iterable" in kind:
                value = [f"name-{number}", f"other-{number}"]
            elif "int" in kind:
                value = 2 + 3 * number if choice else 17 * (number + 1)
            if each.kind is each.KEYWORD_ONLY:
                keywords[each.name] = value
            else:
                positional.append(value)
        text = said(*positional, **keywords)
        yield text, [str(v) for v in positional if not isinstance(v, list | bool) and str(v) in text]


WHOLE = [each for each in (*ALONE, *Code, *Cause) if each not in QUOTES]


@pytest.mark.parametrize("code", WHOLE, ids=lambda code: getattr(code, "__name__", str(code)))
def test_every_sentence_is_read_back_to_its_code_and_values(code: Code | Cause | Said) -> None:
    for text, values in samples(said_by(code)):
        (found,) = read(text)
        assert found.code == code, text
        assert set(values) <= set(found.values), text


ALL_NODES = filter_texts.refused_before_nodes
WITHIN = filter_texts.every_node_objects(
    5, {str(Reason(Code.INSUFFICIENT, ("cpu",))): 4, filter_texts.TAINTED: 1}
)
INNER: dict[Said, str] = {
    preemption_texts.preempts_for_pod: preemption_texts.preempts_for_pod(WITHIN, "n", 2),
    preemption_texts.preempts_for_group: preemption_texts.preempts_for_group(WITHIN, 2),
    preemption_texts.group_preemption_refused: preemption_texts.group_preemption_refused(
        group_texts.unschedulable(group_texts.cannot_reach_minimum(3, 1, 1)), preemption_texts.NO_VICTIMS
    ),
    preemption_texts.preemption_refused: preemption_texts.preemption_refused(
        WITHIN, filter_texts.every_node_objects(5, {preemption_texts.NO_VICTIMS_FOR_POD: 5})
    ),
    preemption_texts.preemption_not_reached: preemption_texts.preemption_not_reached(
        filter_texts.refused_before_nodes(1, volume_texts.volume_not_found("pv"))
    ),
    filter_texts.refused_before_nodes: WITHIN,
    preemption_texts.devices_refused: preemption_texts.devices_refused(device_texts.claim_not_found("ml/c")),
    scheduler_texts.about_group: scheduler_texts.about_group("g", scheduler_texts.lacks_pods(1, 3)),
    lacking: scheduler_texts.lacks_pods_because(
        scheduler_texts.lacks_pods(1, 3), scheduler_texts.MISSING_PODS_DO_NOT_EXIST
    ),
    group_texts.unschedulable: group_texts.unschedulable(group_texts.below_minimum(3, 1, 1)),
    group_texts.no_domain_available: group_texts.no_domain_available(
        3, group_texts.unschedulable(group_texts.cannot_reach_minimum(3, 1, 1))
    ),
    group_texts.child_failed: group_texts.child_failed(group_texts.NO_PLACEMENTS),
    quota_texts.pending_preemption: quota_texts.pending_preemption(
        quota_texts.no_flavors([("main", [quota_texts.quota_is_used("x", "cpu", 1)])]), 2
    ),
    obstacle: quota_texts.no_flavors(
        [
            (
                "a",
                [
                    quota_texts.quota_is_used("x", "cpu", 1),
                    quota_texts.more_than_quota("x", "memory", 1, 2, 3),
                ],
            ),
            ("b", [quota_texts.untolerated_taint("k", "", "NoSchedule", "y")]),
        ]
    ),
    quota_texts.cannot_admit: quota_texts.cannot_admit(
        [quota_texts.STOPPED, quota_texts.flavors_missing(["a", "b"]), quota_texts.checks_missing(["c"])]
    ),
    excluding: quota_texts.with_excluded_nodes(
        quota_texts.topology_is_full("t", 1, 3, slices=False),
        5,
        [quota_texts.excluded_by_taint("k=v:NoSchedule", 2), quota_texts.excluded_by_resource("cpu", 1)],
    ),
    quota_texts.previously: quota_texts.previously(quota_texts.GATED),
}


def test_every_sentence_around_others_has_a_case() -> None:
    assert INNER.keys() == AROUND.keys()


@pytest.mark.parametrize("code", INNER, ids=lambda code: getattr(code, "__name__", str(code)))
def test_every_sentence_around_others_is_read_with_them(code: Said) -> None:
    found = read(INNER[code])
    assert is_understood(found), found
    assert code in {each.code for each in found}
    assert len(found) > 1


def test_a_filter_that_cannot_tell_is_read_as_that() -> None:
    for said in FAILURES:
        for text, _ in samples(said):
            assert read(text) == (Reading(Code.ATTEMPT_FAILS, (text,)),)


def test_what_the_nodes_object_to_is_read_one_by_one() -> None:
    assert [each.code for each in read(WITHIN)] == [
        Code.TAINTED,
        Code.INSUFFICIENT,
        filter_texts.refused_before_nodes,
    ]
    assert Reading(Code.INSUFFICIENT, ("cpu",)) in read(WITHIN)


def test_what_is_in_no_catalogue_is_named_beside_what_is() -> None:
    mood = "2 node(s) were in a bad mood"
    text = f"0/3 nodes are available: 1 {filter_texts.TAINTED}, {mood}."
    assert [each.code for each in read(text)] == [
        Code.TAINTED,
        NOT_UNDERSTOOD,
        filter_texts.refused_before_nodes,
    ]
    assert not_understood([text, text]) == [mood]
    assert not_understood([preemption_texts.preemption_refused(text, preemption_texts.ONGOING)]) == [mood]
    assert not_understood(["the stars were not found"]) == ["the stars were not found"]


@given(scenes(), st.sampled_from(["kubernetes", "kep-5710"]))
def test_every_message_about_nodes_is_understood(scene: Scene, algorithm: str) -> None:
    config = {"preemption": {"algorithm": algorithm}}
    documents, target = scene
    plan = reprieve.plan(documents, target, now=NOW, config=config).to_dict()
    assert not plan["message"] or not not_understood([plan["message"]])


@given(worlds(gates=True))
def test_every_message_about_quota_is_understood(objects: list[Document]) -> None:
    waiting = reprieve.admit(objects, now=NOW, max_cycles=2).to_dict()["waiting"]
    assert not not_understood([each["message"] for each in waiting.values()])


@pytest.mark.parametrize(
    "text",
    [
        "untolerated taint {" + "a " * 2000,
        "x, " * 1300,
        "Can't admit new workloads: " + "x, " * 1300,
        "a preemption: " * 290,
        "y not found" * 370,
        "long " * 100_000,
    ],
    ids=lambda text: text[:20],
)
def test_no_message_keeps_explain_busy(text: str) -> None:
    start = process_time()
    assert not is_understood(read(text))
    assert process_time() - start < 1


def scheduled_false(message: str) -> Document:
    return {
        "conditions": [
            {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message}
        ]
    }


def test_explain_says_which_message_it_does_not_understand() -> None:
    documents = [node("n", 1), pod("p", 2, namespace="ml", status=scheduled_false("the stars are wrong"))]
    answer = explain("pod/ml/p", Evidence(documents), NOW)
    assert answers.not_understood("the stars are wrong") in answer.details
    assert answer.remedies


def test_explain_says_which_message_of_quota_it_does_not_understand() -> None:
    waits = workload("w", namespace="jobs")
    condition = {"type": "QuotaReserved", "status": "False", "reason": "Odd", "message": "no luck"}
    waits["status"] = {"conditions": [condition]}
    documents = [flavor(), cluster_queue("cq", 4), local_queue("main", "cq", namespace="jobs"), waits]
    said = answers.not_understood("no luck")
    assert said in explain("workload/jobs/w", Evidence(documents), NOW).details
    waits["status"]["conditions"].append({"type": "Evicted", "status": "True", "message": "no luck"})
    assert (
        answers.not_understood("no luck") not in explain("workload/jobs/w", Evidence(documents), NOW).details
    )


def test_events_of_kube_scheduler_and_ours_name_the_node_and_the_reason() -> None:
    ours = scheduler_texts.preempted_by("pod", "ml/a", "u", "n", "it was: in the way")
    assert read_preemption(ours) == ("n", "it was: in the way")
    assert read_preemption("Preempted by pod 5e3f on node n") == ("n", "")
    assert read_preemption("gone") == ("", "gone")


def test_a_preempted_workload_names_the_uid_of_its_preemptor() -> None:
    assert preemptor_uid(quota_texts.preempted("u-1", "", quota_texts.RECLAIMED, "/a", "/b")) == "u-1"
    assert preemptor_uid("gone") == ""
