"""The built-in resources: a table, nothing else. Short names and categories are upstream's, so that
`kubectl get po` and `kubectl get all` work as people expect.
"""

from reprieve.objects import well_known
from reprieve.server.chart_resources import chart_resources
from reprieve.server.kueue_versions import to_v1beta1
from reprieve.server.registry import ALL_VERBS, RBAC, ResourceInfo, ScalePaths

STATUS = frozenset({"status"})
SCALED = frozenset({"status", "scale"})
CREATE_ONLY = ("create",)

_NO_ADDRESS = "stored, but there is no network here: nothing answers at its address, and it gets no endpoints"


def _core() -> list[ResourceInfo]:
    def core(kind: str, plural: str, **more: object) -> ResourceInfo:
        return ResourceInfo(group="", version="v1", kind=kind, plural=plural, **more)  # type: ignore[arg-type]

    return [
        core(
            "Namespace",
            "namespaces",
            namespaced=False,
            short_names=("ns",),
            verbs=tuple(verb for verb in ALL_VERBS if verb != "deletecollection"),
            subresources=frozenset({"status", "finalize"}),
        ),
        core("Node", "nodes", namespaced=False, short_names=("no",), subresources=STATUS),
        core(
            "Pod",
            "pods",
            short_names=("po",),
            categories=("all",),
            subresources=frozenset({"status", "binding", "eviction", "resize"}),
            has_generation=True,
        ),
        core("ConfigMap", "configmaps", short_names=("cm",)),
        core("Secret", "secrets"),
        core("ServiceAccount", "serviceaccounts", short_names=("sa",), subresources=frozenset({"token"})),
        core("Event", "events", short_names=("ev",)),
        core(
            "Service",
            "services",
            short_names=("svc",),
            categories=("all",),
            subresources=STATUS,
            inert=_NO_ADDRESS,
        ),
        core("Endpoints", "endpoints", short_names=("ep",)),
        core("LimitRange", "limitranges", short_names=("limits",)),
        core("ResourceQuota", "resourcequotas", short_names=("quota",), subresources=STATUS),
        core("PersistentVolumeClaim", "persistentvolumeclaims", short_names=("pvc",), subresources=STATUS),
        core(
            "PersistentVolume",
            "persistentvolumes",
            namespaced=False,
            short_names=("pv",),
            subresources=STATUS,
        ),
        core("PodTemplate", "podtemplates", has_generation=True),
        core(
            "ReplicationController",
            "replicationcontrollers",
            short_names=("rc",),
            categories=("all",),
            subresources=SCALED,
            scale_paths=ScalePaths(),
            has_generation=True,
        ),
        core("Binding", "bindings", verbs=CREATE_ONLY),
    ]


def _workloads() -> list[ResourceInfo]:
    def apps(kind: str, plural: str, short: str, scaled: bool = True) -> ResourceInfo:
        return ResourceInfo(
            group="apps",
            version="v1",
            kind=kind,
            plural=plural,
            short_names=(short,),
            categories=("all",),
            subresources=SCALED if scaled else STATUS,
            scale_paths=ScalePaths() if scaled else None,
            has_generation=True,
        )

    def batch(kind: str, plural: str, short: tuple[str, ...] = ()) -> ResourceInfo:
        return ResourceInfo(
            group="batch",
            version="v1",
            kind=kind,
            plural=plural,
            short_names=short,
            categories=("all",),
            subresources=STATUS,
            has_generation=True,
        )

    return [
        apps("Deployment", "deployments", "deploy"),
        apps("ReplicaSet", "replicasets", "rs"),
        apps("StatefulSet", "statefulsets", "sts"),
        apps("DaemonSet", "daemonsets", "ds", scaled=False),
        batch("Job", "jobs"),
        batch("CronJob", "cronjobs", ("cj",)),
        ResourceInfo(group="apps", version="v1", kind="ControllerRevision", plural="controllerrevisions"),
    ]


def _policies() -> list[ResourceInfo]:
    return [
        ResourceInfo(
            group="policy",
            version="v1",
            kind="PodDisruptionBudget",
            plural="poddisruptionbudgets",
            short_names=("pdb",),
            subresources=STATUS,
            has_generation=True,
            unconditional_update=False,
        ),
        ResourceInfo(
            group="coordination.k8s.io",
            version="v1",
            kind="Lease",
            plural="leases",
            unconditional_update=False,
        ),
    ]


def _scheduling() -> list[ResourceInfo]:
    def group(kind: str, plural: str, subresources: frozenset[str], version: str = "v1beta1") -> ResourceInfo:
        return ResourceInfo(
            group="scheduling.k8s.io",
            version=version,
            kind=kind,
            plural=plural,
            subresources=subresources,
            has_generation=True,
            unconditional_update=False,
        )

    return [
        ResourceInfo(
            group="scheduling.k8s.io",
            version="v1",
            kind="PriorityClass",
            plural="priorityclasses",
            namespaced=False,
            short_names=("pc",),
            has_generation=True,
        ),
        group("PodGroup", "podgroups", STATUS),
        group("CompositePodGroup", "compositepodgroups", STATUS, "v1alpha3"),
        group("Workload", "workloads", frozenset()),
    ]


def _definitions() -> list[ResourceInfo]:
    return [
        ResourceInfo(
            group="apiextensions.k8s.io",
            version="v1",
            kind="CustomResourceDefinition",
            plural="customresourcedefinitions",
            namespaced=False,
            short_names=("crd", "crds"),
            categories=("api-extensions",),
            subresources=STATUS,
            has_generation=True,
            unconditional_update=False,
        )
    ]


def _access() -> list[ResourceInfo]:
    """Reviews are answered and not stored; what roles and bindings mean is in `security.rights`."""

    def review(group: str, kind: str, namespaced: bool = False) -> ResourceInfo:
        plural = kind.lower() + "s"
        return ResourceInfo(
            group=group, version="v1", kind=kind, plural=plural, namespaced=namespaced, verbs=CREATE_ONLY
        )

    def rbac(kind: str, plural: str, namespaced: bool) -> ResourceInfo:
        return ResourceInfo(group=RBAC, version="v1", kind=kind, plural=plural, namespaced=namespaced)

    return [
        review("authorization.k8s.io", "SelfSubjectAccessReview"),
        review("authorization.k8s.io", "SelfSubjectRulesReview"),
        review("authorization.k8s.io", "SubjectAccessReview"),
        review("authorization.k8s.io", "LocalSubjectAccessReview", namespaced=True),
        review("authentication.k8s.io", "SelfSubjectReview"),
        review("authentication.k8s.io", "TokenReview"),
        rbac("Role", "roles", namespaced=True),
        rbac("RoleBinding", "rolebindings", namespaced=True),
        rbac("ClusterRole", "clusterroles", namespaced=False),
        rbac("ClusterRoleBinding", "clusterrolebindings", namespaced=False),
    ]


EVENT_FIELDS = {
    "regarding": "involvedObject",
    "note": "message",
    "reportingController": "reportingComponent",
    "deprecatedSource": "source",
    "deprecatedFirstTimestamp": "firstTimestamp",
    "deprecatedLastTimestamp": "lastTimestamp",
    "deprecatedCount": "count",
}


def _events(core: ResourceInfo) -> ResourceInfo:
    """The newer API for events; both show the same ones."""
    return ResourceInfo(
        group="events.k8s.io",
        version="v1",
        kind="Event",
        plural="events",
        short_names=("ev",),
        twin=core,
        renames=EVENT_FIELDS,
    )


KUEUE = well_known.KUEUE_API
_KUEUE_KINDS: tuple[tuple[str, str, bool, tuple[str, ...], bool], ...] = (
    # kind, plural, namespaced, short names, status subresource
    ("ClusterQueue", "clusterqueues", False, ("cq",), True),
    ("Cohort", "cohorts", False, (), True),
    ("LocalQueue", "localqueues", True, ("queue", "queues", "lq"), True),
    ("ResourceFlavor", "resourceflavors", False, ("flavor", "flavors", "rf"), False),
    ("Workload", "workloads", True, ("wl",), True),
    ("WorkloadPriorityClass", "workloadpriorityclasses", False, (), False),
    ("AdmissionCheck", "admissionchecks", False, (), True),
    ("Topology", "topologies", False, (), False),
    ("MultiKueueConfig", "multikueueconfigs", False, (), False),
    ("MultiKueueCluster", "multikueueclusters", False, (), True),
    ("ProvisioningRequestConfig", "provisioningrequestconfigs", False, (), False),
)


def _kueue() -> list[ResourceInfo]:
    """Both served versions; the storage version is the newer one."""
    return [
        ResourceInfo(
            group=KUEUE,
            version=version,
            storage_version="v1beta2",
            kind=kind,
            plural=plural,
            namespaced=namespaced,
            short_names=short,
            categories=("kueue",),
            subresources=STATUS if status else frozenset(),
            has_generation=True,
            unconditional_update=False,
            downgrade=to_v1beta1 if version == "v1beta1" else None,
        )
        for version in ("v1beta2", "v1beta1")
        for kind, plural, namespaced, short, status in _KUEUE_KINDS
    ]


def builtin_resources() -> list[ResourceInfo]:
    """A fresh list in discovery order."""
    core = _core()
    events = _events(next(r for r in core if r.kind == "Event"))
    return [
        *core,
        *_workloads(),
        *_policies(),
        *chart_resources(),
        *_scheduling(),
        *_definitions(),
        *_access(),
        events,
        *_kueue(),
    ]
