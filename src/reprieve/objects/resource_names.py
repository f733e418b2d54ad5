"""What the name of a resource says about it, as Kubernetes reads names."""

from reprieve.objects import labels

STANDARD = ("cpu", "memory", "ephemeral-storage")
_HUGE_PAGES = "hugepages-"
_QUOTA_PREFIX = "requests."


def is_native(name: str) -> bool:
    """Kubernetes' own: without a domain, or in one of `kubernetes.io`."""
    return "/" not in name or "kubernetes.io/" in name


def is_huge_pages(name: str) -> bool:
    return name.startswith(_HUGE_PAGES)


def is_extended(name: str) -> bool:
    """What device plugins and administrators add to nodes, such as nvidia.com/gpu: counted in whole ones."""
    if is_native(name) or name.startswith(_QUOTA_PREFIX):
        return False
    return labels.label_key(_QUOTA_PREFIX + name) is None


def may_be_overcommitted(name: str) -> bool:
    """Whether a container may use more than it requests; devices and huge pages are handed out once."""
    return is_native(name) and not is_huge_pages(name)


def is_for_containers(name: str) -> bool:
    """Whether a container may ask for it."""
    if "/" not in name:
        return name in STANDARD or is_huge_pages(name)
    return is_native(name) or is_extended(name)


def is_for_pods(name: str) -> bool:
    """Whether it may be stated for a pod as a whole."""
    return name in ("cpu", "memory") or is_huge_pages(name)


def is_tracked(name: str) -> bool:
    """Whether a node's accounting knows the name: built in, extended, huge pages or attachable volumes."""
    if name in STANDARD:
        return True
    if "kubernetes.io/" in name or name.startswith((_HUGE_PAGES, "attachable-volumes-")):
        return True
    return "/" in name and not name.startswith(_QUOTA_PREFIX)
