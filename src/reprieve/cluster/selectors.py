"""Which pods are counted when a pod that says nothing is spread: those of its Services and its controller.

pkg/scheduler/framework/plugins/helper/spread.go, DefaultSelector.
"""

from collections.abc import Mapping

from reprieve.cluster.classes import PodClass
from reprieve.objects import LabelSelector, LabelSelectorRequirement, Object, selecting


class SelectorTable:
    def __init__(self) -> None:
        self._services: dict[str, dict[str, Mapping[str, str]]] = {}
        """By namespace and name."""
        self._controllers: dict[tuple[str, str], LabelSelector | Mapping[str, str] | None] = {}
        """By kind and `namespace/name`."""
        self._found: dict[str, dict[PodClass, LabelSelector | None]] = {}
        """By namespace: selectors of classes, as long as nothing there changes."""

    def set(self, obj: selecting.Service | selecting.Controller) -> None:
        """Most changes of a controller are of its status: what was found stays."""
        if isinstance(obj, selecting.Service):
            services = self._services.setdefault(obj.namespace, {})
            changed = services.get(obj.name) != obj.spec.selector
            services[obj.name] = obj.spec.selector
        else:
            key = type(obj).__name__, obj.key
            changed = self._controllers.get(key) != obj.spec.selector
            self._controllers[key] = obj.spec.selector
        if changed:
            self._found.pop(obj.namespace, None)

    def remove(self, kind: type[Object], key: str) -> bool:
        """Whether it is of a kind that selects pods."""
        namespace, _, name = key.rpartition("/")
        if kind is selecting.Service:
            self._services.get(namespace, {}).pop(name, None)
        elif kind in selecting.SELECTING_KINDS:
            self._controllers.pop((kind.__name__, key), None)
        else:
            return False
        self._found.pop(namespace, None)
        return True

    def forget(self) -> None:
        self._found.clear()

    def of(self, cls: PodClass) -> LabelSelector | None:
        """What selects the pods that count; None: the pod is not spread by default."""
        if cls.controller is None and cls.namespace not in self._services:
            return None
        found = self._found.setdefault(cls.namespace, {})
        if cls not in found:
            found[cls] = self._merged(cls)
        return found[cls]

    def _merged(self, cls: PodClass) -> LabelSelector | None:
        """All Services that select the pod, and its controller, whether or not that selects the pod."""
        labels: dict[str, str] = {}
        for wanted in self._services.get(cls.namespace, {}).values():
            if wanted.items() <= cls.labels.items():
                labels |= wanted
        expressions: list[LabelSelectorRequirement] = []
        if cls.controller is not None:
            kind, name = cls.controller
            own = self._controllers.get((kind, f"{cls.namespace}/{name}"))
            if kind == selecting.ReplicationController.__name__:
                assert not isinstance(own, LabelSelector)
                labels |= own or {}
            elif isinstance(own, LabelSelector):
                for key, value in own.match_labels.items():
                    if labels.setdefault(key, value) != value:  # both must hold: no pod counts
                        expressions.append(LabelSelectorRequirement(key=key, operator="In", values=(value,)))
                expressions += own.match_expressions
        if not labels and not expressions:
            return None
        return LabelSelector(match_labels=labels, match_expressions=tuple(expressions))
