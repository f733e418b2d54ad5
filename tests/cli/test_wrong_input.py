"""Wrong input, whatever the command: exit code 2 (1 where the answer is no), a sentence that helps, never a
traceback.
"""

import base64
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
import yaml
from click.testing import CliRunner

from reprieve.cli import main
from reprieve.explain.sentences import answers
from reprieve.forecast import sentences as forecasts
from reprieve.objects import Reference, nearest
from reprieve.server import EmbeddedServer
from reprieve.server.security import kubeconfig
from reprieve.whatif import sentences as plans
from tests.waiting import PATIENCE

EXAMPLES = Path(__file__).parents[2] / "examples"
CLOSED = "http://127.0.0.1:1"
"""Nothing listens there."""

FILES = {
    "broken.yaml": b"kind: Pod\nmetadata: [unclosed\n",
    "words.yaml": b"hello\n",
    "empty.yaml": b"",
    "latin.yaml": b"kind: \xff\xfe",
    "tab.yaml": "kind: Pod # größer\nmetadata:\n\tname: a\n".encode(),
    "sign.yaml": b"kind: Pod\nmetadata: {name: @a}\n",
    "magic.yaml": b"kind: ReprieveConfiguration\npreemption: {algorithm: magic}\n",
    "typo.yaml": b"kind: ReprieveConfiguration\npreemptoin: {}\n",
    "kindless.yaml": b"kind: Pod\n",
    "number.yaml": b"apiVersion: v1\nkind: Pod\nmetadata: {name: 5}\n",
    "no-context": b"",
}


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Names that the cases use in braces: files, kubeconfigs, an API server."""
    folder = tmp_path_factory.mktemp("wrong")
    for name, content in FILES.items():
        (folder / name).write_bytes(content)
    with EmbeddedServer(controllers=False) as server:
        tokens = {"reader": server.reader_token, "stranger": "no-such-token"}
        for name, token in tokens.items():
            (folder / name).write_text(kubeconfig(server.url, token, server.ca))
        (folder / "powerless").write_text(_with_certificate(server))
        (folder / "silent").write_text(kubeconfig("https://127.0.0.1:1", server.token, server.ca))
        yield {
            "at": str(folder),
            "admin": str(server.kubeconfig),
            "gang": str(EXAMPLES / "01-first-plan"),
            "queues": str(EXAMPLES / "10-flavors-preempt-before-spot"),
            "fleet": str(EXAMPLES / "30-fleet"),
            "closed": CLOSED,
        }


def _with_certificate(server: EmbeddedServer) -> str:
    """The kubeconfig of somebody whom the server knows and who may do nothing."""
    config = yaml.safe_load(kubeconfig(server.url, "", server.ca))
    certificate, key = server.authority.client("powerless")
    config["users"][0]["user"] = {
        "client-certificate-data": base64.b64encode(certificate).decode(),
        "client-key-data": base64.b64encode(key).decode(),
    }
    return str(yaml.safe_dump(config))


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No kubeconfig of the user who runs the tests."""
    monkeypatch.delenv("KUBECONFIG", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))


def ask(line: str, places: dict[str, str]) -> tuple[int, str, str]:
    result = CliRunner().invoke(main, line.format_map(places).split())
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise AssertionError(f"`reprieve {line}` crashed") from result.exception
    return result.exit_code, result.stdout, result.stderr


def message(stderr: str) -> str:
    """What is said, without click's two lines on usage."""
    lines = [line for line in stderr.splitlines() if line and not line.startswith(("Usage:", "Try "))]
    return "\n".join(lines)


UNKNOWN_OBJECTS = {
    "plan -f {gang} --for PodGroup/ml/trian": (
        "there is no PodGroup 'ml/trian'; known groups: data/crunch, dev/notebooks, ml/train; "
        "did you mean 'PodGroup/ml/train'?"
    ),
    "plan -f {gang} --for Pod/ml/none": "there is no pod 'ml/none'",
    "plan -f {queues} --for Workload/jobs/none": "there is no Workload jobs/none",
    "plan --fleet {fleet}/workers -f {fleet}/urgent.yaml --for Workload/ml/none": (
        "there is no such Workload (kueue.x-k8s.io) in the files"
    ),
    "plan --kubeconfig {admin} --for PodGroup/ml/train": (
        "there is no PodGroup 'ml/train'; known groups: none"
    ),
}

MALFORMED = {
    "plan": "what is to be planned? Name it with --for KIND/NAMESPACE/NAME",
    "plan -f {queues}/../20-any-job/cluster.yaml": "nothing waits for a node",
    "plan -f {gang} --for train": "cannot plan for 'train': 'train' is no kind known here; expected",
    "plan -f {gang} --for Node/node-1": "cannot plan for 'Node/node-1': 'Node' is no kind for this; expected",
    "plan -f {gang} --for PodGroup/": "cannot plan for 'PodGroup/': the name is missing; expected",
    "plan -f {gang} --for PodGroup/ml/train --now yesterday": "--now: 'yesterday' is not a timestamp such as",
    "plan -f {gang} --for PodGroup/ml/train -o xml": "'xml' is not one of 'table', 'json', 'yaml'",
    "plan --fleet {at}/nowhere -f {fleet}/urgent.yaml --for Workload/ml/urgent": (
        "nowhere: not a folder with one file or sub-folder for each worker"
    ),
    "plan --fleet {fleet}/workers -f {fleet}/urgent.yaml --for Pod/ml/urgent": (
        "there is no such Workload (kueue.x-k8s.io)"
    ),
    "plan -f {queues} --for Workload/jobs/training --compare": "--compare compares node plans",
    "plan --for PodGroup/ml/train": "give manifests with -f",
    "plan -f {gang} --for PodGroup/ml/train --kubecofnig x": (
        "Error: No such option '--kubecofnig'; did you mean '--kubeconfig'?"
    ),
    "--verson": "Error: No such option '--verson'; did you mean '--version'?",
    "up --node x": "Error: No such option '--node'; did you mean '--nodes'?",
    "admit -f {gang}": (
        "there is neither a ClusterQueue nor a Workload (kueue.x-k8s.io) in these manifests: there is no "
        "quota, and nobody asks for any; pods and pod groups ask for nodes, which is what `reprieve plan` "
        "answers"
    ),
    "admit --kubeconfig {admin}": (
        "there is neither a ClusterQueue nor a Workload (kueue.x-k8s.io) in this cluster"
    ),
    "plan -f {gang} --for Deployment/web/shop": plans.no_such_job("Deployment", "web/shop", []),
    "plan -f {gang} --for PodGroup/train": (
        "there is no PodGroup 'default/train'; known groups: data/crunch, dev/notebooks, ml/train; "
        "did you mean 'PodGroup/ml/train'?"
    ),
    "plan -f {gang} --for Pod/ml/train": "did you mean 'PodGroup/ml/train'?",
    "plan -f {gang} --for job/ml/train": (
        plans.no_such_job("Job", "ml/train", []) + nearest("Job/ml/train", ["PodGroup/ml/train"])
    ),
    "plan -f {gang} --for pg/ml/trian": "there is no PodGroup 'ml/trian'; known groups:",
    "plan -f {at}/kindless.yaml --for Pod/a/b": "kindless.yaml:1: apiVersion: is required",
    "plan -f {at}/number.yaml --for Pod/a/b": (
        "number.yaml:1: metadata.name: expected a string, got integer 5"
    ),
    "plan -f https://example.test/x.yaml --for Pod/a/b": (
        "-f https://example.test/x.yaml: not a file; fetch it first: "
        "curl -sL https://example.test/x.yaml | reprieve … -f -"
    ),
    "plan -f {at} --for Pod/a/b": "broken.yaml:1: line 3",
    "plan -f= --for Pod/a/b": "Error: -f is empty; was a variable not set?",
    "plan -f {gang} --for PodGroup/ml/train --kubeconfig=": (
        "Error: --kubeconfig is empty; was a variable not set?"
    ),
    "plan -f {gang} --for PodGroup/ml/train --config=": "Error: --config is empty; was a variable not set?",
    "validate --filename=": "Error: --filename is empty; was a variable not set?",
    "up --data-dir=": "Error: --data-dir is empty; was a variable not set?",
    "manifests deploy --scheduler-name=": "Error: --scheduler-name is empty; was a variable not set?",
    "admit {queues}": "; files are given with -f, and names in one word: KIND/NAMESPACE/NAME",
    "explain pod train-0": (
        "Got unexpected extra argument (train-0); files are given with -f, and names in one word: "
        "KIND/NAMESPACE/NAME"
    ),
    "explain pod/ml/train-0 -f {gang} --controller {closed}": (
        "-f explains from manifests, --controller from what happened on a cluster: give one of them"
    ),
    "up --nodes a=1:cpu=1 --nodes a=2:cpu=2": (
        "--nodes: 'a-0' would be there twice; give each kind of node its own name"
    ),
    "up --nodes n=1:cpu=1;zone=a": "unknown option 'zone=a'; known are zones, racks, blocks, labels, taints",
    "up --kinds cats": "--kinds cats: not known; known are jobset, kubeflow, trainer, ray, lws",
    "up --run-for -5s": "--run-for: '-5s' is negative; write for instance 30s",
    "up --workers 2 --config {at}/magic.yaml": "--config is for one cluster; with --workers leave it out",
    "up --workers 2 --controllers quota": "--controllers is for one cluster; with --workers leave it out",
    "up --kubeconfig {at}": "is a directory",
    "up node=3": "Got unexpected extra argument (node=3)",
    "run --listen 127.0.0.1:99999": "'127.0.0.1:99999' is not HOST:PORT",
    "run --listen 8080": "'8080' is not HOST:PORT; write for instance 127.0.0.1:8080",
    "run --kubeconfig {at}": "Is a directory",
    "demo now": "Got unexpected extra argument (now)",
    "admit": "give manifests with -f, or a cluster with --kubeconfig",
    "admit -f {queues} --now yesterday": "--now: 'yesterday' is not a timestamp such as",
    "admit -f {queues} --max-cycles 0": "0 is not in the range",
    "admit -f {queues} -o xml": "'xml' is not one of",
    "validate": "Missing option '-f'",
    "validate -f {gang} --max-size 0": "0 is not in the range",
    "validate -f {gang} -o xml": "'xml' is not one of",
    "explain": "Missing argument 'KIND/NAMESPACE/NAME'",
    "explain train -f {gang}": (
        "cannot explain 'train': 'train' is no kind known here; expected KIND/NAMESPACE/NAME, for instance"
    ),
    "explain cat/ml/felix -f {gang}": (
        "'cat' is no kind known here; expected KIND/NAMESPACE/NAME, for instance PodGroup/ml/train, "
        "with KIND one of Pod, PodGroup, CompositePodGroup, Workload, ClusterQueue, LocalQueue, Node, Job, "
        "CronJob, Deployment, "
        "ReplicaSet, ReplicationController, StatefulSet, JobSet, LeaderWorkerSet, PyTorchJob, TFJob, "
        "XGBoostJob, PaddleJob, JAXJob, MPIJob, TrainJob, RayCluster, RayJob, RayService, RayCronJob, "
        "DisaggregatedSet, Workflow, AppWrapper, SparkApplication, DaemonSet"
    ),
    "explain deploymnet/ml/web -f {gang}": "'deploymnet' is no kind known here; did you mean 'deployment'?",
    "explain pod/a/b/c -f {gang}": "expected KIND/NAMESPACE/NAME",
    "explain pod/ml/train-0 -f {gang} -o xml": "'xml' is not one of",
    "up --nodes some": "no resources; write some=1:cpu=8,memory=32Gi",
    "up --nodes n=two:cpu=1": "'two' is no number of nodes",
    "up --nodes n=1:cpu=lots": "'cpu=lots' is no amount; write for instance cpu=8",
    "up --run-for soon": "--run-for: 'soon' is not a duration such as 300ms",
    "up --terminate-after soon": "--terminate-after: 'soon' is not a duration such as 300ms",
    "up --port 99999": "99999 is not in the range",
    "up --workers 99": "99 is not in the range",
    "up --data-dir {at}/empty.yaml": "is a file",
    "run --log-level loud": "'loud' is not one of",
    "run --kube-api-qps many": "'many' is not a valid float",
    "manifests deploy --controllers clairvoyant": "'clairvoyant'; known are scheduler, quota, fleet",
    "manifests deploy --namespace My_Namespace": (
        "'My_Namespace': must be a DNS label: lower case letters, digits and '-'"
    ),
    "manifests deploy --replicas 0": "0 is not in the range",
    "manifests crds --all": "No such option '--all'",
    "manifests everything": "No such command 'everything'",
    "demo --port 99999": "99999 is not in the range",
    "schema Plna": "there is no format 'Plna'; did you mean 'Plan'?; known are Plan, JobPlan, QuotaPlan",
    "completion tcsh": "'tcsh' is not one of 'bash', 'zsh', 'fish'",
    "simulate": "Missing option '--trace'",
    "simulate --trace {at}/missing.csv": "missing.csv: No such file or directory",
    "simulate jobs.csv": "Got unexpected extra argument (jobs.csv); files are given with -f",
    "simulate imprt": "No such command 'imprt'; did you mean 'import'?",
    "simulate --seed 3 import --from swf x": "--seed says nothing to `reprieve simulate import`; leave it",
    "simulate import --from swf": "Missing argument 'FILE'",
    "simulate import --from swff {at}/kindless.yaml": "unknown format 'swff'; did you mean 'swf'?",
    "simulate import --from swf {at}/kindless.yaml": "kindless.yaml:1: 2 fields instead of 18",
    "when -f {gang} --for PodGroup/ml/train pod/a/b": "the target is given twice",
    "when -f {gang} pods": "cannot look ahead for 'pods': the name is missing; expected KIND/NAMESPACE/NAME",
    "when -f {gang} pod/ml/trian-0": (forecasts.is_not_there(Reference("Pod", "ml", "trian-0"), ["train-0"])),
    "when -f {gang} pod/ml/train-0 --horizon soon": "--horizon: 'soon' is not a duration",
    "when -f {gang} pod/ml/train-0 --horizon 0s": "--horizon 0s: must be more than 0",
    "when -f {gang} pod/ml/train-0 --futures 0": "0 is not in the range",
    "when -f {gang} pod/ml/train-0 --history {at}/missing.csv": "missing.csv: No such file or directory",
    "mcp -f -": "standard input belongs to the assistant",
    "mcp -f {at}/missing.yaml": "missing.yaml: No such file or directory",
    "mcp --kubeconfig {at}/missing": "missing: No such file or directory",
    "plan -f examples/01-gone": "No such file or directory; the examples are in the source archive",
    "explian pod/a/b": "did you mean 'explain'?",
}

FILES_THAT_ARE_NONE = {
    "{at}/missing.yaml": "missing.yaml: cannot be read: No such file or directory",
    "{at}/broken.yaml": "broken.yaml:1: line 3: did not find expected ',' or ']'",
    "{at}/words.yaml": "words.yaml:1: expected an object, got 'hello'",
    "{at}/empty.yaml": "empty.yaml: holds no document",
    "{at}/latin.yaml": "latin.yaml: not UTF-8: byte 0xff at offset 6",
    "{at}/tab.yaml": "tab.yaml:1: line 3: a tab, where YAML wants spaces: indent with spaces",
    "{at}/sign.yaml": "sign.yaml:1: line 2: no value begins with this character: put the value in quotes",
}
READERS = ["plan --for PodGroup/ml/train -f", "admit -f", "explain pod/ml/train-0 -f"]

CONFIGURATIONS = {
    "{at}/missing.yaml": "missing.yaml: cannot be read",
    "{at}/broken.yaml": "broken.yaml:1: line 3",
    "{at}/magic.yaml": (
        "preemption.algorithm: expected one of kep-5710, kubernetes, minimal-cost; got 'magic'"
    ),
    "{at}/typo.yaml": "preemptoin",
}
CONFIGURED = [
    "plan -f {gang} --for PodGroup/ml/train --config",
    "admit -f {queues} --config",
    "validate -f {gang} --config",
]

KUBECONFIGS = {
    "{at}/missing": "missing: No such file or directory",
    "{at}/no-context": "kubeconfig has no current-context",
    "{at}/broken.yaml": "not YAML",
    "{at}/silent": "the API server does not answer",
    "{at}/stranger": "the API server refuses: 401 Unauthorized",
}
CONNECTED = [
    "plan --for PodGroup/ml/train --kubeconfig",
    "admit --kubeconfig",
    "explain pod/ml/train-0 --kubeconfig",
]

RECORDS = {
    "--controller {closed}": "no decision records from http://127.0.0.1:1: Cannot connect",
    "--controller localhost": "not an address; write for instance http://127.0.0.1:8080",
    "--records {at}/missing": "does not exist",
    "--records {at}/words.yaml": "no line of it is a decision record",
    "--context nowhere": "context 'nowhere' does not exist (known: ",
}

REFUSED = (
    UNKNOWN_OBJECTS
    | MALFORMED
    | {f"{command} {file}": said for command in READERS for file, said in FILES_THAT_ARE_NONE.items()}
    | {f"{command} {file}": said for command in CONFIGURED for file, said in CONFIGURATIONS.items()}
    | {f"{command} {file}": said for command in CONNECTED for file, said in KUBECONFIGS.items()}
    | {f"explain pod/ml/train-0 --kubeconfig {{admin}} {rest}": said for rest, said in RECORDS.items()}
    | {"explain pod/ml/train-0": "no kubeconfig: give --kubeconfig, set KUBECONFIG, or create ~/.kube/config"}
)


@pytest.mark.parametrize("line", REFUSED)
def test_wrong_input_is_refused_with_a_sentence_that_helps(line: str, places: dict[str, str]) -> None:
    code, out, err = ask(line, places)
    assert code == 2
    assert out == ""
    said = message(err)
    assert said.lower().startswith("error: ")
    assert REFUSED[line] in said


@pytest.mark.parametrize("file", FILES_THAT_ARE_NONE)
def test_validate_names_what_cannot_be_read_among_its_problems(file: str, places: dict[str, str]) -> None:
    code, out, _ = ask(f"validate -f {file}", places)
    assert code == 2
    assert FILES_THAT_ARE_NONE[file] in out
    assert "1 problem" in out


@pytest.mark.parametrize(
    "target",
    [
        "pod/ml/none",
        "podgroup/ml/none",
        "workload/ml/none",
        "node/none",
        "clusterqueue/none",
        "localqueue/ml/none",
    ],
)
def test_an_object_that_nobody_knows_is_no_and_not_an_error(target: str, places: dict[str, str]) -> None:
    for where in ("-f {gang}", "--kubeconfig {admin}", "--kubeconfig {at}/reader"):
        code, out, err = ask(f"explain {target} {where}", places)
        assert (code, err) == (1, "")
        assert out.startswith("There is no ")


@pytest.mark.parametrize("command", CONNECTED)
def test_the_right_to_read_is_enough_for_commands_that_only_ask(command: str, places: dict[str, str]) -> None:
    code, _, err = ask(f"{command} {{at}}/reader", places)
    assert code in (1, 2)
    assert "Forbidden" not in err


def test_without_any_right_a_plan_is_refused_and_an_explanation_says_what_it_may_not_show(
    places: dict[str, str],
) -> None:
    code, out, err = ask("plan --for PodGroup/ml/train --kubeconfig {at}/powerless", places)
    assert (code, out) == (2, "")
    assert "the API server refuses: 403 Forbidden" in err
    assert "ask for that right, or choose another --context" in err
    code, out, err = ask("explain pod/ml/train-0 --kubeconfig {at}/powerless", places)
    assert (code, err) == (1, "")
    assert "Not shown" in out
    assert answers.may_not_list("pods", "ml") in out


def test_queues_without_workloads_are_shown_with_a_hint(places: dict[str, str]) -> None:
    code, out, err = ask("admit -f {queues}/queues.yaml", places)
    assert (code, err) == (
        0,
        "note: there is no Workload (kueue.x-k8s.io) in these manifests: nobody asks for quota\n",
    )
    assert "stable" in out


def test_jobs_that_name_a_queue_ask_for_quota_without_a_workload(places: dict[str, str]) -> None:
    job = Path(places["at"]) / "queued.yaml"
    job.write_text(
        """
        {apiVersion: batch/v1, kind: Job,
         metadata: {name: report, namespace: jobs, labels: {kueue.x-k8s.io/queue-name: nightly}},
         spec: {suspend: true, template: {spec: {restartPolicy: Never, containers: [{name: a, image: b}]}}}}
        """,
        encoding="utf-8",
    )
    _, out, err = ask("admit -f {queues}/queues.yaml -f {at}/queued.yaml", places)
    assert err == ""
    assert "Job/jobs/report" in out


def test_a_shell_variable_that_is_not_set_is_not_the_folder_one_stands_in() -> None:
    result = CliRunner().invoke(main, ["plan", "-f", "", "--for", "Pod/a/b"])
    assert result.exit_code == 2
    assert "Error: -f is empty; was a variable not set?" in result.stderr


@pytest.mark.parametrize("target", ["podgroup/ml/train", "pg/ml/train", "PodGroup/ml/train"])
def test_a_kind_may_be_written_as_for_kubectl(target: str, places: dict[str, str]) -> None:
    code, out, _ = ask(f"plan -f {{gang}} --for {target} -o json", places)
    assert (code, '"for": "PodGroup/ml/train"' in out) == (0, True)


def test_a_plan_without_any_node_says_what_is_missing(places: dict[str, str], tmp_path: Path) -> None:
    pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c, image: i}]}\n"
    (tmp_path / "pod.yaml").write_text(pod)
    code, _, err = ask(f"plan -f {tmp_path}/pod.yaml --for Pod/default/p", places)
    assert code == 1
    assert (
        err
        == "note: there is no Node in what was read; describe some with --nodes, give the cluster's nodes "
        "and pods too, or ask it with --kubeconfig\n"
    )


def test_every_command_is_tried_with_something_wrong() -> None:
    assert isinstance(main, click.Group)
    tried = {line.split()[0] for line in REFUSED}
    assert set(main.list_commands(click.Context(main))) <= tried


STARTING = {
    "up --controllers clairvoyant": "there is no controller 'clairvoyant'; known are scheduler, quota, fleet",
    "up --nodes none --config {at}/magic.yaml": "preemption.algorithm: expected one of",
    "up --host 203.0.113.7": "cannot listen on 203.0.113.7",
    "run --controllers clairvoyant": (
        "there is no controller 'clairvoyant'; known are scheduler, quota, fleet"
    ),
    "run --kubeconfig {at}/missing": "missing: No such file or directory",
    "run --kubeconfig {admin} --listen nonsense": "'nonsense' is not HOST:PORT",
    "run --kubeconfig {admin} --config {at}/typo.yaml": "preemptoin",
    "run --kubeconfig {at}/stranger --listen=": "401 Unauthorized",
}


@pytest.mark.parametrize("line", STARTING)
def test_what_cannot_start_ends_at_once_and_says_why(line: str, places: dict[str, str]) -> None:
    arguments = line.format_map(places).split()
    process = subprocess.run(
        [sys.executable, "-m", "reprieve", *arguments],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert process.returncode == 2
    assert STARTING[line] in process.stderr
    assert "Traceback" not in process.stderr
