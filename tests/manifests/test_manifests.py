"""What `reprieve manifests` prints can be applied, and gives no right that is not used."""

import re

import pytest
import yaml
from click.testing import CliRunner

from reprieve.cli.manifests import command
from reprieve.config import Configuration
from reprieve.controllers import quota
from reprieve.dashboard import feed
from reprieve.kube import (
    ADMISSION_KINDS,
    CLAIMS,
    JOBS,
    QUOTA_KINDS,
    RESOURCE_CLAIMS,
    SCHEDULER_KINDS,
    VOLUMES,
    Client,
    Election,
    LeaderElector,
    kubeconfig,
)
from reprieve.kube.http_transport import HttpTransport
from reprieve.manifests import Installation, crds, deployment
from reprieve.manifests.rights import LEASE, rules
from reprieve.objects import builtin_problems
from tests.controllers.clusters import NAMESPACE, Kubelet, job
from tests.controllers.clusters import cluster as quota_cluster
from tests.controllers.test_quota_live import PRIORITY, held_pod, runs, with_classes
from tests.scheduler import equipped as device_tests
from tests.scheduler.claims import claim, claiming, free_volume
from tests.scheduler.live import POD_GROUPS, PODS, cluster, pod, pod_group, scheduling
from tests.server.wire import connected
from tests.waiting import eventually
from tests.wrapped import Wrapped


@pytest.mark.parametrize("definition", crds(), ids=lambda each: each["metadata"]["name"])
def test_every_definition_is_a_valid_structural_one(definition):
    assert builtin_problems(definition, None) == []


def test_the_definitions_cover_what_the_controllers_read():
    names = {each["metadata"]["name"] for each in crds()}
    assert {"podgroups.scheduling.reprieve.dev", "workloads.kueue.x-k8s.io"} <= names


def test_no_definition_is_in_a_group_that_every_api_server_keeps_for_itself():
    """kube-apiserver answers 404 for whatever a definition adds to one of its own groups."""
    assert {each["spec"]["group"] for each in crds()} == {"scheduling.reprieve.dev", "kueue.x-k8s.io"}


def test_list_keys_are_required_as_the_api_server_demands():
    def walk(schema):
        for key in schema.get("x-kubernetes-list-map-keys", ()):
            assert key in schema["items"]["required"]
        for child in [
            *schema.get("properties", {}).values(),
            schema.get("items"),
            schema.get("additionalProperties"),
        ]:
            if child:
                walk(child)

    for definition in crds():
        for version in definition["spec"]["versions"]:
            walk(version["schema"]["openAPIV3Schema"])


def test_the_deployment_is_complete_and_consistent():
    documents = {each["kind"]: each for each in deployment(Installation(image="x:1", namespace="here"))}
    assert list(documents) == [
        "Namespace", "ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding",
        "ConfigMap", "Deployment", "Service", "PodDisruptionBudget", "NetworkPolicy",
    ]  # fmt: skip
    template = documents["Deployment"]["spec"]["template"]
    assert documents["Deployment"]["spec"]["replicas"] == 2
    labels = template["metadata"]["labels"]
    assert documents["Service"]["spec"]["selector"] == labels
    assert documents["PodDisruptionBudget"]["spec"]["selector"]["matchLabels"] == labels
    config = Configuration.load(yaml.safe_load(documents["ConfigMap"]["data"]["config.yaml"]))
    assert config.scheduler.leader_election.namespace == "here"
    [container] = template["spec"]["containers"]
    assert container["securityContext"]["readOnlyRootFilesystem"]


INSTALLATIONS = {
    "plain": Installation(),
    "everything": Installation(
        controllers=("scheduler", "quota", "fleet"),
        dashboard=True,
        webhook=True,
        tracing="http://collector.tracing:4318/v1/traces",
    ),
}
PLURALS = {"NetworkPolicy": "networkpolicies"}


def path_of(document):
    version, namespace = document["apiVersion"], document["metadata"].get("namespace")
    where = f"/namespaces/{namespace}" if namespace else ""
    plural = PLURALS.get(document["kind"], document["kind"].lower() + "s")
    return f"/{'apis' if '/' in version else 'api'}/{version}{where}/{plural}"


@pytest.mark.parametrize("installation", INSTALLATIONS.values(), ids=INSTALLATIONS)
async def test_the_deployment_is_accepted_by_an_api_server(installation):
    """Every document of it, in the order in which they are printed, and with no field that is not known."""
    async with connected() as wire:
        for document in deployment(installation):
            answer = await wire.post(f"{path_of(document)}?fieldValidation=Strict", document)
            assert answer.status == 201, (document["kind"], answer.body)


def test_ports_name_their_protocol_since_it_is_a_key_of_the_list():
    """API servers before 1.22 refuse a server-side apply that leaves it out."""
    documents = {each["kind"]: each for each in deployment(Installation())}
    [container] = documents["Deployment"]["spec"]["template"]["spec"]["containers"]
    ports = [*documents["Service"]["spec"]["ports"], *container["ports"]]
    assert [port["protocol"] for port in ports] == ["TCP", "TCP"]


def test_the_budget_is_printed_in_the_version_that_the_server_has():
    result = CliRunner().invoke(command, ["deploy", "--policy-version", "v1beta1"])
    assert "policy/v1beta1" in {each["apiVersion"] for each in yaml.safe_load_all(result.output)}


def test_the_commands_print_documents_without_anchors():
    for arguments in (["crds"], ["crds", "--no-kueue"], ["deploy", "--controllers", "scheduler,quota,fleet"]):
        result = CliRunner().invoke(command, arguments)
        assert result.exit_code == 0
        assert not re.search(r"(^|\s)[&*]id\d", result.output)
        assert all("kind" in document for document in yaml.safe_load_all(result.output))


def test_an_unknown_controller_is_refused():
    result = CliRunner().invoke(command, ["deploy", "--controllers", "x"])
    assert result.exit_code == 2
    assert "known are scheduler, quota, fleet" in result.output


VERBS = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}


class Noting(Wrapped):
    """Notes what each request needs as (group, resource, verb)."""

    def __init__(self, inner):
        super().__init__(inner)
        self.used = set()

    def _note(self, request):
        match = re.match(
            r"^/api(?:s/([^/]+))?/v[^/]+(?:/namespaces/[^/]+)?/([^/]+)(?:/([^/]+))?(?:/([^/]+))?$",
            request.path,
        )
        if match is None:
            return  # discovery
        resource_group, resource, name, sub = match.groups()
        if request.method == "GET":
            verb = "watch" if request.query.get("watch") else "get" if name else "list"
        else:
            verb = VERBS[request.method]
        self.used.add((resource_group or "", f"{resource}/{sub}" if sub else resource, verb))

    async def call(self, request):
        self._note(request)
        return await super().call(request)

    def stream(self, request):
        self._note(request)
        return super().stream(request)


async def test_the_scheduler_uses_no_right_that_it_was_not_given_and_was_given_none_that_it_does_not_use():
    async with cluster(2, 3) as live:
        noting = Noting(HttpTransport(kubeconfig.load(live.server.kubeconfig)))
        async with scheduling(live, client=Client(noting)) as scheduler:
            await live.create(POD_GROUPS, pod_group("v", 2, mode="all"), pod_group("p", 2, "high"))
            await live.create(PODS, *(pod(f"v{i}", "2", group="v") for i in range(2)))
            await live.until(lambda: len(live.bound("v")) == 2)
            await live.create(PODS, *(pod(f"p{i}", "2", "high", group="p") for i in range(2)))
            await live.until(lambda: len(live.bound("p")) == 2)
            await live.create(VOLUMES, free_volume("pv", "2Gi"))
            await live.create(CLAIMS, claim("small"), claim("large", size="9Gi"))
            await live.create(PODS, *(claiming(f"c-{name}", name, cpu="1") for name in ("small", "large")))
            await live.until(lambda: len(live.bound("c-")) == 2)
            await device_tests.equip(live, 1)
            await live.create(RESOURCE_CLAIMS, device_tests.claim("gpu"))
            await live.create(PODS, device_tests.using("d", "gpu", cpu="0"))
            await live.until(lambda: live.bound("d") == ["d"])
            # What an attempt has left for an extended resource is deleted, and made anew.
            await live.create(PODS, device_tests.asking("x", cpu="0"))
            await live.create(RESOURCE_CLAIMS, device_tests.left_for(live, "x"))
            await live.until(lambda: len(device_tests.claims(live)) == 1)
            await live.client.delete(PODS, "d", "ns")
            await live.until(lambda: live.bound("x") == ["x"])
            # An event that happens again is patched: this pod is looked at twice, and fits neither time.
            await live.create(PODS, pod("huge", "100"))
            await live.until(lambda: bool(list(scheduler.shell.records.find(for_="Pod/ns/huge"))))
            await live.client.delete(PODS, "c-small", "ns")
            await eventually(lambda: ("", "events", "patch") in noting.used, "an event is patched")
            await scheduler.settled()
            elector = LeaderElector(Client(noting), Election("reprieve", "ns", "me"))
            assert await elector._try()
            assert await elector._try()
    granted = {
        (rule["apiGroups"][0], resource, verb)
        for rule in [*rules(["scheduler"]), *LEASE]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }
    assert noting.used - granted == set()
    # LIST and GET are needed where streaming lists are not served, and to look at a pod whose binding got no
    # answer; the stand-in group where the server has no pod groups of its own.
    unused = {each for each in granted - noting.used if each[2] not in ("list", "get")}
    # Newer API servers ask for the right to bind devices in addition to that to write a claim's status.
    unused.discard(("resource.k8s.io", "resourceclaims/binding", "patch"))
    assert {each for each in unused if each[0] != "scheduling.reprieve.dev"} == set()


async def test_the_quota_controller_uses_no_right_that_it_was_not_given():
    async with quota_cluster("one") as place:
        noting = Noting(HttpTransport(kubeconfig.load(place.server.kubeconfig)))
        await place.furnish(cpu="6")
        await with_classes(place)
        place.start(quota.run(Client(noting)))
        place.start(Kubelet(place, stopping=0.2).run())
        labels = {"kueue.x-k8s.io/queue-name": "main"}
        gang = {"metadata": {"name": "g", "namespace": NAMESPACE, "labels": labels}}
        await place.client.create(
            POD_GROUPS, {**gang, "spec": {"schedulingPolicy": {"gang": {"minCount": 1}}}}, NAMESPACE
        )
        await place.client.create(PODS, held_pod("g-0", "g"), NAMESPACE)

        async def let_go() -> bool:
            held = await place.client.get(PODS.raw(), "g-0", NAMESPACE)
            return not held["spec"].get("schedulingGates")

        await eventually(let_go, "the group's pod may go")
        await place.client.create(JOBS, job("a", labels={PRIORITY: "low"}))
        await eventually(lambda: runs(place, "a"), "the first job runs")
        await place.client.create(JOBS, job("b", labels={PRIORITY: "high"}))
        await eventually(lambda: runs(place, "b"), "the important job took its place")
        await place.stop_controllers()
    granted = {
        (rule["apiGroups"][0], resource, verb)
        for rule in rules(["quota"])
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }
    assert noting.used - granted == set()
    assert ("", "pods", "patch") in noting.used


def test_only_the_fleet_reads_secrets_and_only_where_the_kubeconfigs_are():
    documents = deployment(Installation(image="x:1", controllers=("scheduler", "quota", "fleet")))
    readers = [
        (each["kind"], each["metadata"].get("namespace"))
        for each in documents
        for rule in each.get("rules", ())
        if "secrets" in rule["resources"]
    ]
    assert readers == [("Role", "kueue-system")]


def test_the_page_gets_its_rights_and_its_token_only_where_it_is_wanted():
    plain = deployment(Installation())
    with_page = deployment(Installation(dashboard=True))
    assert "REPRIEVE_TOKEN" not in yaml.safe_dump(plain)
    [pods] = [each for each in with_page if each["kind"] == "Deployment"]
    [container] = pods["spec"]["template"]["spec"]["containers"]
    assert "--dashboard" in container["args"]
    assert container["env"] == [
        {
            "name": "REPRIEVE_TOKEN",
            "valueFrom": {"secretKeyRef": {"name": "reprieve-dashboard", "key": "token"}},
        }
    ]
    read = {
        (rule["apiGroups"][0], resource)
        for rule in rules([], dashboard=True)
        for resource in rule["resources"]
    }
    asked = (*feed.WATCHED, *SCHEDULER_KINDS, *QUOTA_KINDS, *ADMISSION_KINDS)
    shown = {(resource.group, resource.plural) for resource in asked}
    assert read == shown | {("scheduling.reprieve.dev", "podgroups"), ("", "events")}  # events: for the why
    assert {verb for rule in rules([], dashboard=True) for verb in rule["verbs"]} == {"list", "watch"}
