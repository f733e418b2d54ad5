"""The name of one object: what people may write, and what comes back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reprieve.objects import PodGroup, Reference, ReprieveError, decode, split_key

names = st.from_regex(r"[a-z0-9]([a-z0-9.-]{0,20}[a-z0-9])?", fullmatch=True)
FORM = "expected KIND/NAMESPACE/NAME, for instance PodGroup/ml/train"
KINDS = "with KIND one of Pod, PodGroup"


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("Pod/ml/train-0", "Pod/ml/train-0"),
        ("po/ml/train-0", "Pod/ml/train-0"),
        ("pods/train-0", "Pod/default/train-0"),
        ("pg/ml/train", "PodGroup/ml/train"),
        ("PODGROUP/ml/train", "PodGroup/ml/train"),
        ("wl/ml/job", "Workload/ml/job"),
        ("queue/ml/users", "LocalQueue/ml/users"),
        ("cq/team", "ClusterQueue/team"),
        ("clusterqueue/ignored/team", "ClusterQueue/team"),
        ("no/node-1", "Node/node-1"),
        ("/Pod/ml/train-0/", "Pod/ml/train-0"),
    ],
)
def test_people_may_write_what_they_write_for_kubectl(text: str, canonical: str) -> None:
    assert str(Reference.parse(text)) == canonical


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", f"'' is no kind known here; {FORM}, {KINDS}"),
        ("train", f"'train' is no kind known here; {FORM}, {KINDS}"),
        ("Service/a/b", f"'Service' is no kind known here; {FORM}, {KINDS}"),
        ("Job/a/b", f"'Job' is no kind for this; {FORM}, {KINDS}"),
        ("Node/n", f"'Node' is no kind for this; {FORM}, {KINDS}"),
        ("Pod", f"the name is missing; {FORM}"),
        ("Pod/", f"the name is missing; {FORM}"),
        ("Pod//b", f"the name is missing; {FORM}"),
        ("Pod/a/b/c", f"4 parts are too many; {FORM}"),
        ("Pood/a/b", "'Pood' is no kind known here; did you mean 'pod'?"),
    ],
)
def test_an_error_says_first_what_is_wrong_and_no_more_than_helps(text: str, problem: str) -> None:
    with pytest.raises(ReprieveError) as caught:
        Reference.parse(text, ("Pod", "PodGroup"))
    assert str(caught.value) == f"{text!r}: {problem}"


@given(st.sampled_from(["Pod", "PodGroup", "Workload", "LocalQueue"]), names, names)
def test_a_reference_survives_its_text_and_its_key(kind: str, namespace: str, name: str) -> None:
    reference = Reference(kind, namespace, name)
    assert Reference.parse(str(reference)) == reference
    assert Reference.of(kind, reference.key) == reference
    assert split_key(reference.key) == (namespace, name)


def test_an_object_is_meant_with_its_uid_and_a_namesake_is_another() -> None:
    document = {
        "apiVersion": "scheduling.k8s.io/v1beta1",
        "kind": "PodGroup",
        "metadata": {"name": "g", "namespace": "ml", "uid": "u1"},
        "spec": {"schedulingPolicy": {"basic": {}}},
    }
    group = decode(document)
    assert isinstance(group, PodGroup)
    assert Reference.to(group) == Reference("PodGroup", "ml", "g", "u1")
    assert Reference.to(group) != Reference.read(document) == Reference("PodGroup", "ml", "g")


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ({"kind": "Pod", "metadata": {"name": "a"}}, "Pod/default/a"),
        ({"kind": "Node", "metadata": {"name": "n"}}, "Node/n"),
        ({"kind": "PodGroup", "namespace": "ml", "name": "g"}, "PodGroup/ml/g"),
    ],
)
def test_raw_objects_and_what_events_refer_to_are_read_alike(raw: dict, text: str) -> None:
    assert str(Reference.read(raw)) == text
