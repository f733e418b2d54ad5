from reprieve.whatif import overlay


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


def test_a_pod_group_is_the_same_in_the_group_that_stands_in_for_its_own():
    """Where the API server has no pod groups, those of the cluster come from `scheduling.reprieve.dev`."""
    live, asked = (
        document("PodGroup", "g", group) for group in ("scheduling.reprieve.dev", "scheduling.k8s.io")
    )
    assert overlay([live], [asked]) == [asked]
