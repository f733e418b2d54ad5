"""What the volumes of a pod say about one node, as plainly as it can be written: one claim after the other.

Slow on purpose, and made of raw documents: it shares nothing with the columns.
"""

from typing import Any

from reprieve.objects import exact

Document = dict[str, Any]
FAR = "node(s) didn't match PersistentVolume's node affinity"
NOTHING = "node(s) didn't find available persistent volumes to bind"
FULL = "node(s) did not have enough free storage"
TOO_MANY = "node(s) exceed max volume count"


class World:
    def __init__(self, objects: list[Document]) -> None:
        self.by_kind: dict[str, dict[str, Document]] = {}
        for each in objects:
            self.by_kind.setdefault(each["kind"], {})[each["metadata"]["name"]] = each

    def all(self, kind: str) -> dict[str, Document]:
        return self.by_kind.get(kind, {})


def verdict(world: World, pod: Document, node: Document) -> tuple[list[str], dict[str, str], list[str]]:
    """(reasons against the node, volumes by claim, claims to provision there)."""
    names = [each["persistentVolumeClaim"]["claimName"] for each in pod["spec"]["volumes"]]
    claims = [world.all("PersistentVolumeClaim")[name] for name in names]
    bound = [each for each in claims if each["spec"].get("volumeName")]
    unbound = [each for each in claims if not each["spec"].get("volumeName")]
    if _too_many(world, claims, node):
        return [TOO_MANY], {}, []
    reasons = []
    volumes = world.all("PersistentVolume")
    if not all(_reaches(volumes[each["spec"]["volumeName"]], node) for each in bound):
        reasons.append(FAR)
    chosen: dict[str, str] = {}
    to_make = []
    for claim in unbound:
        where = _notes(claim).get("volume.kubernetes.io/selected-node")
        if where is not None and where != node["metadata"]["name"]:
            return [*reasons, NOTHING], {}, []
        if where is not None:
            to_make.append(claim)
    searching = [each for each in unbound if each not in to_make]
    for claim in sorted(searching, key=_request):
        found = _match(world, claim, node, set(chosen.values()))
        if found is None:
            to_make.append(claim)
        else:
            chosen[claim["metadata"]["name"]] = found
    for claim in to_make:
        problem = _cannot_make(world, claim, node)
        if problem:
            return [*reasons, problem], {}, []
    return reasons, chosen, [each["metadata"]["name"] for each in to_make]


def _notes(each: Document) -> Document:
    return each["metadata"].get("annotations") or {}


def _request(claim: Document) -> Any:
    return exact(claim["spec"]["resources"]["requests"]["storage"])


def _reaches(volume: Document, node: Document) -> bool:
    affinity = volume["spec"].get("nodeAffinity")
    if affinity is None:
        return True
    labels = node["metadata"]["labels"]
    return any(
        all(labels.get(each["key"]) in each["values"] for each in term["matchExpressions"])
        for term in affinity["required"]["nodeSelectorTerms"]
    )


def _match(world: World, claim: Document, node: Document, taken: set[str]) -> str | None:
    meta, spec = claim["metadata"], claim["spec"]
    best: tuple[Any, str] | None = None
    for name, volume in sorted(world.all("PersistentVolume").items()):
        body = volume["spec"]
        kept = body.get("claimRef")
        if body["storageClassName"] != spec["storageClassName"] or name in taken:
            continue
        if kept is not None and (kept["name"], kept["uid"]) != (meta["name"], meta["uid"]):
            continue
        if exact(body["capacity"]["storage"]) < _request(claim):
            continue
        if kept is not None:
            return name if _reaches(volume, node) else None
        offers = set(spec["accessModes"]) <= set(body["accessModes"])
        if volume["status"]["phase"] != "Available" or not offers or not _reaches(volume, node):
            continue
        size = exact(body["capacity"]["storage"])
        if best is None or size < best[0]:
            best = size, name
    return None if best is None else best[1]


def _cannot_make(world: World, claim: Document, node: Document) -> str:
    found = world.all("StorageClass")[claim["spec"]["storageClassName"]]
    labels = node["metadata"]["labels"]
    if found["provisioner"] == "kubernetes.io/no-provisioner":
        return NOTHING
    terms = found.get("allowedTopologies") or []
    if terms and not any(
        all(labels.get(each["key"]) in each["values"] for each in term["matchLabelExpressions"])
        for term in terms
    ):
        return NOTHING
    driver = world.all("CSIDriver").get(found["provisioner"])
    if driver is None or not driver["spec"].get("storageCapacity"):
        return ""
    for pool in world.all("CSIStorageCapacity").values():
        wanted = pool["nodeTopology"]["matchLabels"]
        near = all(labels.get(key) == value for key, value in wanted.items())
        same = pool["storageClassName"] == found["metadata"]["name"]
        if same and near and exact(pool["capacity"]) >= _request(claim):
            return ""
    return FULL


def _too_many(world: World, claims: list[Document], node: Document) -> bool:
    csi = world.all("CSINode").get(node["metadata"]["name"])
    if csi is None:
        return False
    here = {
        _volume(world, world.all("PersistentVolumeClaim")[each["persistentVolumeClaim"]["claimName"]])
        for pod in world.all("Pod").values()
        if pod["spec"].get("nodeName") == node["metadata"]["name"]
        for each in pod["spec"].get("volumes", ())
    }
    new = {_volume(world, each) for each in claims} - here
    for driver in csi["spec"]["drivers"]:
        attached = sum(each is not None and each[0] == driver["name"] for each in here)
        more = sum(each is not None and each[0] == driver["name"] for each in new)
        if more and attached + more > driver["allocatable"]["count"]:
            return True
    return False


def _volume(world: World, claim: Document) -> tuple[str, str] | None:
    """The driver and the name of what a claim attaches."""
    name = claim["spec"].get("volumeName")
    if name:
        source = world.all("PersistentVolume")[name]["spec"].get("csi")
        return None if source is None else (source["driver"], source["volumeHandle"])
    provisioner = world.all("StorageClass")[claim["spec"]["storageClassName"]]["provisioner"]
    return provisioner, f"claim {claim['metadata']['name']}"
