from reprieve.whatif.overlay import overlay


def document(kind: str, name: str, group: str = "", **more: str) -> dict:
    version = f"{group}/v1" if group else "v1"
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name, **more}}


def test_a_manifest_takes_the_place_of_the_object_it_names():
    old, other = document("Pod", "a", namespace="x"), document("Pod", "a", namespace="y")
    new = {**old, "spec": {"priority": 1}}
    assert overlay([old, other], [new]) == [other, new]


def test_kinds_of_the_same_name_in_other_groups_are_other_objects():
    ours, theirs = document("Workload", "w", "scheduling.k8s.io"), document("Workload", "w", "kueue.x-k8s.io")
    assert overlay([theirs], [ours]) == [theirs, ours]


def test_no_namespace_is_the_default_one():
    assert overlay([document("Pod", "a", namespace="default")], [document("Pod", "a")]) == [
        document("Pod", "a")
    ]
