"""What a RuntimeClass means for the pods that name it: overhead, and where they may run.

As kube-apiserver's admission does it (plugin/pkg/admission/runtimeclass/admission.go): the overhead of the
class is written into the pod; its node selector and tolerations are added to the pod's own.
"""

from reprieve.objects import Document, raw


def named(pod: Document) -> str:
    """The class that the pod names; empty for none."""
    name = raw.at(pod, "spec", "runtimeClassName")
    return name if isinstance(name, str) else ""


def complete(pod: Document, runtime_class: Document) -> str:
    """Add what the class gives, in place. Returns why the pod contradicts the class; empty if it does not."""
    spec = pod["spec"]
    overhead = raw.mapping(runtime_class, "overhead", "podFixed")
    selector, own = (
        raw.mapping(runtime_class, "scheduling", "nodeSelector"),
        raw.mapping(spec, "nodeSelector"),
    )
    if overhead and spec.get("overhead") not in (None, {}, overhead):
        return "Pod's Overhead doesn't match RuntimeClass's defined Overhead"
    if any(own.get(key, value) != value for key, value in selector.items()):
        return "the pod's nodeSelector conflicts with that of its RuntimeClass"
    if overhead:
        spec["overhead"] = overhead
    if selector:
        spec["nodeSelector"] = {**own, **selector}
    tolerations = raw.items(spec, "tolerations")
    given = raw.items(runtime_class, "scheduling", "tolerations")
    added = [each for each in given if each not in tolerations]
    if added:
        spec["tolerations"] = [*tolerations, *added]
    return ""
