"""What is sent to the API server, and what each answer means."""

import asyncio
from datetime import UTC, datetime

import pytest

from reprieve.controllers.scheduler.api_actions import ApiActions
from reprieve.controllers.scheduler.retries import ATTEMPTS
from reprieve.kube import EventRecorder, TransportError
from reprieve.objects import Reference
from reprieve.scheduler import Mark
from reprieve.scheduler.actions import ActionError, Bind, Nominate, SetGroupCondition, SetPodCondition
from tests.kube.apiserver import Script, ok, status

POD = Reference("Pod", "ns", "a", "u1")
GROUP = Reference("PodGroup", "ns", "g", "u2")
SUCCESS = ok({"kind": "Status", "status": "Success"})


def bound_to(node, uid="u1"):
    return ok(
        {"metadata": {"name": "a", "namespace": "ns", "uid": uid}, "spec": {"nodeName": node} if node else {}}
    )


MARK = Mark("PreemptionByScheduler", "x", "{}")


def marked(uid="u1", **metadata):
    """The pod as the server has it, with our mark."""
    notes = {"reprieve.dev/evicted-for": "{}"}
    return ok({"metadata": {"name": "a", "namespace": "ns", "uid": uid, "annotations": notes, **metadata}})


def actions(*answers):
    script = Script(*answers)
    client = script.client()
    slept = []

    async def sleep(seconds):
        slept.append(seconds)
        await asyncio.sleep(0)

    live = ApiActions(
        client,
        EventRecorder(client, "x"),
        sleep=sleep,
        jitter=lambda: 0.0,
        now=lambda: datetime(2026, 1, 1, tzinfo=UTC),
    )
    return live, script, slept


def lost(request):
    raise TransportError("lost")


class TestBinding:
    async def test_a_binding_names_the_pod_by_uid(self):
        live, script, _ = actions(SUCCESS)
        await live.bind(Bind(POD, POD, "n1"))
        assert script.requests[0].path == "/api/v1/namespaces/ns/pods/a/binding"
        assert script.requests[0].json()["metadata"]["uid"] == "u1"

    async def test_a_lost_answer_is_looked_up_before_the_binding_is_sent_again(self):
        live, script, _ = actions(lost, bound_to("n1"))
        await live.bind(Bind(POD, POD, "n1"))
        assert [request.method for request in script.requests] == ["POST", "GET"]

    async def test_a_request_that_never_arrived_is_sent_again(self):
        live, script, _ = actions(lost, bound_to(""), SUCCESS)
        await live.bind(Bind(POD, POD, "n1"))
        assert [request.method for request in script.requests] == ["POST", "GET", "POST"]

    async def test_a_conflict_with_our_own_earlier_binding_is_a_success(self):
        live, _, _ = actions(status(409, "Conflict"), bound_to("n1"))
        await live.bind(Bind(POD, POD, "n1"))

    async def test_a_pod_bound_by_someone_else_says_where(self):
        live, _, _ = actions(status(409, "Conflict"), bound_to("n2"))
        with pytest.raises(ActionError, match="already bound to n2"):
            await live.bind(Bind(POD, POD, "n1"))

    @pytest.mark.parametrize("answer", [status(404, "NotFound"), bound_to("", uid="other")])
    async def test_a_pod_that_vanished_is_gone(self, answer):
        live, _, _ = actions(status(409, "Conflict"), answer)
        with pytest.raises(ActionError) as raised:
            await live.bind(Bind(POD, POD, "n1"))
        assert raised.value.gone

    async def test_the_binding_of_a_gangs_pod_is_repeated_until_it_happens(self):
        live, script, _ = actions(*[status(500, "InternalError"), bound_to("")] * (2 * ATTEMPTS), SUCCESS)
        await live.bind(Bind(GROUP, POD, "n1", insist=True))
        assert len([request for request in script.requests if request.method == "POST"]) > ATTEMPTS

    async def test_trouble_that_lasts_is_given_up(self):
        live, script, slept = actions(status(500, "InternalError"))
        with pytest.raises(ActionError, match="500"):
            await live.mark(POD, Mark("PreemptionByScheduler", "x", ""))
        assert len(script.requests) == ATTEMPTS
        assert slept == sorted(slept)


class TestEvicting:
    async def test_the_mark_is_a_strategic_patch_of_the_status_for_this_very_pod(self):
        live, script, _ = actions(ok({}))
        await live.mark(POD, Mark("PreemptionByScheduler", "reprieve: why", "{}"))
        request = script.requests[0]
        assert request.content_type == "application/strategic-merge-patch+json"
        assert request.path.endswith("/pods/a/status")
        assert request.json() == {
            "metadata": {"uid": "u1", "annotations": {"reprieve.dev/evicted-for": "{}"}},
            "status": {
                "conditions": [
                    {
                        "type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler",
                        "message": "reprieve: why", "lastTransitionTime": "2026-01-01T00:00:00Z",
                    }
                ]
            },
        }  # fmt: skip

    async def test_a_deletion_is_about_this_very_pod_as_it_was_marked(self):
        live, script, _ = actions(SUCCESS)
        await live.delete(POD, MARK, "7", lambda: True)
        assert script.requests[0].json()["preconditions"] == {"uid": "u1", "resourceVersion": "7"}

    @pytest.mark.parametrize(
        "answers",
        [
            [status(404, "NotFound")],
            [status(409, "Conflict", "UID in precondition"), marked(uid="another")],
            [status(409, "Conflict"), status(404, "NotFound")],
            [lost, status(409, "Conflict"), marked(deletionTimestamp="2026-01-01T00:00:00Z")],
        ],
        ids=["gone", "another of its name", "gone meanwhile", "lost answer"],
    )
    async def test_deleting_what_is_gone_has_succeeded(self, answers):
        live, _, _ = actions(*answers)
        await live.delete(POD, MARK, "7", lambda: True)

    async def test_a_pod_that_changed_is_looked_at_again_and_deleted_as_it_is_now(self):
        live, script, _ = actions(status(409, "Conflict"), marked(resourceVersion="9"), SUCCESS)
        await live.delete(POD, MARK, "7", lambda: True)
        assert [request.method for request in script.requests] == ["DELETE", "GET", "DELETE"]
        assert script.requests[-1].json()["preconditions"] == {"uid": "u1", "resourceVersion": "9"}

    async def test_a_pod_whose_mark_somebody_took_off_stays(self):
        live, script, _ = actions(status(409, "Conflict"), marked(annotations={}))
        with pytest.raises(ActionError, match="its mark was changed or taken off"):
            await live.delete(POD, MARK, "7", lambda: True)
        assert [request.method for request in script.requests] == ["DELETE", "GET"]

    async def test_nothing_is_sent_for_what_is_not_wanted_any_more(self):
        live, script, _ = actions(status(409, "Conflict"), marked(resourceVersion="9"), SUCCESS)
        answers = iter([True, False])
        with pytest.raises(ActionError, match="does not wait for it any more"):
            await live.delete(POD, MARK, "7", lambda: next(answers))
        assert [request.method for request in script.requests] == ["DELETE", "GET"]

    async def test_marking_what_is_gone_says_so(self):
        live, _, _ = actions(status(404, "NotFound"))
        with pytest.raises(ActionError) as raised:
            await live.mark(POD, Mark("PreemptionByScheduler", "x", ""))
        assert raised.value.gone

    async def test_a_reprieve_turns_the_mark_off(self):
        live, script, _ = actions(ok({}))
        await live.reprieve(POD, "x")
        [condition] = script.requests[0].json()["status"]["conditions"]
        assert (condition["status"], condition["reason"]) == ("False", "PreemptionWithdrawn")


class TestStatus:
    async def test_a_nomination_and_its_condition_go_together(self):
        live, script, _ = actions(ok({}))
        await live.nominate(Nominate(POD, "n1", "no room"))
        sent = script.requests[0].json()["status"]
        assert sent["nominatedNodeName"] == "n1"
        assert sent["conditions"][0]["message"] == "no room"

    async def test_a_nomination_taken_back_is_removed(self):
        live, script, _ = actions(ok({}))
        await live.nominate(Nominate(POD, ""))
        assert script.requests[0].json()["status"] == {"nominatedNodeName": None}

    async def test_a_pod_says_why_it_waits(self):
        live, script, _ = actions(ok({}))
        await live.set_pod_condition(SetPodCondition(POD, "Unschedulable", "no room"))
        [condition] = script.requests[0].json()["status"]["conditions"]
        assert (condition["type"], condition["status"], condition["reason"]) == (
            "PodScheduled",
            "False",
            "Unschedulable",
        )

    async def test_a_groups_condition_is_written_over_what_is_there(self):
        before = {
            "metadata": {"name": "g", "uid": "u2", "resourceVersion": "7"},
            "status": {"conditions": [{"type": "Mine"}]},
        }
        live, script, _ = actions(ok(before), ok({}))
        await live.set_group_condition(
            SetGroupCondition(GROUP, "PodGroupInitiallyScheduled", "True", "Scheduled", "", 3)
        )
        sent = script.requests[1].json()
        assert sent["metadata"]["resourceVersion"] == "7"
        assert [each["type"] for each in sent["status"]["conditions"]] == [
            "Mine",
            "PodGroupInitiallyScheduled",
        ]
        assert sent["status"]["conditions"][1]["observedGeneration"] == 3

    async def test_a_namesake_of_the_group_is_left_alone(self):
        live, script, _ = actions(ok({"metadata": {"name": "g", "uid": "other"}}))
        await live.set_group_condition(SetGroupCondition(GROUP, "X", "True", "Y", ""))
        assert [request.method for request in script.requests] == ["GET"]
