"""kueue.x-k8s.io: AdmissionCheck, MultiKueueConfig, MultiKueueCluster."""

from collections.abc import Callable

from reprieve.objects import well_known
from reprieve.objects.structure import FORBIDDEN
from reprieve.objects.validation.checks import (
    At,
    Problems,
    at_most_items,
    exactly_one,
    immutable,
    one_of,
    required,
    unique,
)

Gate = Callable[[str], bool]


def strays(path: str) -> bool:
    """Whether a kubeconfig's path leads out of the folder for kubeconfigs."""
    return not path.startswith(well_known.KUBECONFIG_FOLDER) or ".." in path.split("/")


def admission_check(document: At, old: At | None = None) -> Problems:
    spec = document.field("spec")
    controller = spec.field("controllerName")
    yield from required(controller)
    if len(controller.text) > 253:
        yield controller.problem("must be no more than 253 characters")
    parameters = spec.field("parameters")
    if parameters.is_set:
        for name in ("apiGroup", "kind", "name"):
            yield from required(parameters.field(name))
    if old is not None:
        yield from immutable(controller, old.field("spec", "controllerName"))


def multikueue_config(document: At, gate: Gate) -> Problems:
    spec = document.field("spec")
    clusters = spec.field("clusters")
    yield from required(clusters)
    yield from at_most_items(clusters, 20)
    yield from unique(clusters.items())
    for cluster in clusters.items():
        yield from required(cluster)
        if len(cluster.text) > 256:
            yield cluster.problem("must be no more than 256 characters")
    management = spec.field("quotaManagement")
    yield from one_of(management, ("Manual", "Automated"))
    if management.text == "Automated" and not gate("MultiKueueManagerQuotaAutomation"):
        yield management.problem(
            "Automated needs the feature gate MultiKueueManagerQuotaAutomation", FORBIDDEN
        )


def multikueue_cluster(document: At, gate: Gate) -> Problems:
    source = document.field("spec", "clusterSource")
    yield from exactly_one(source, ("kubeConfig", "clusterProfileRef"))
    config = source.field("kubeConfig")
    if isinstance(config.value, dict):
        location = config.field("location")
        yield from required(location)
        yield from one_of(config.field("locationType"), ("Secret", "Path"))
        is_path = config.field("locationType").text == "Path"
        if is_path and gate("MultiKueueKubeConfigPathValidation") and strays(location.text):
            yield location.problem(
                f"a path must lie under {well_known.KUBECONFIG_FOLDER}, got {location.text!r}"
            )
    if source.field("clusterProfileRef").is_set and not gate("MultiKueueClusterProfile"):
        yield source.field("clusterProfileRef").problem(
            "needs the feature gate MultiKueueClusterProfile", FORBIDDEN
        )
