"""What all controllers of pods share: which pods belong to an object.

Those that name it as their controller and match its selector. A pod without a controller that the selector
matches is adopted; one that it no longer matches is released.
"""

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timedelta
from functools import partial
from itertools import chain, islice

import msgspec

from reprieve.objects import Document, LabelSelector, matches
from reprieve.server.api import Api
from reprieve.server.controllers.controller import Controller, Key, in_parallel
from reprieve.server.controllers.events import record_event
from reprieve.server.controllers.pods import Pod, PodIndex, owner_reference
from reprieve.server.errors import ApiError
from reprieve.server.patch import STRATEGIC_MERGE_PATCH
from reprieve.server.storage import Record

AFTER_REFUSAL = timedelta(seconds=5)
"""When to try again to create pods that were refused, for instance by a quota."""


class Selectors:
    """Which objects select these labels? Indexed by one label of each selector: there may be thousands."""

    def __init__(self) -> None:
        self._selectors: dict[Key, LabelSelector] = {}
        self._by_label: dict[tuple[str, str, str], set[Key]] = {}
        """Namespace, label and value; a selector without `matchLabels` is under the empty label."""

    def put(self, key: Key, selector: LabelSelector | None) -> None:
        if self._selectors.get(key) == selector:
            return
        self.drop(key)
        if selector is not None:
            self._selectors[key] = selector
            self._by_label.setdefault(_place(key, selector), set()).add(key)

    def drop(self, key: Key) -> None:
        selector = self._selectors.pop(key, None)
        if selector is not None:
            place = _place(key, selector)
            self._by_label[place].discard(key)
            if not self._by_label[place]:
                del self._by_label[place]

    def matching(self, namespace: str, labels: dict[str, str]) -> Iterator[Key]:
        if not self._selectors:
            return
        for label, value in [("", ""), *labels.items()]:
            for key in self._by_label.get((namespace, label, value), ()):
                if matches(self._selectors[key], labels):
                    yield key


def _place(key: Key, selector: LabelSelector) -> tuple[str, str, str]:
    return key[0], *min(selector.match_labels.items(), default=("", ""))


def selector_of(owner: Document) -> LabelSelector | None:
    """A ReplicationController's selector is a plain map of labels."""
    selector = (owner.get("spec") or {}).get("selector")
    if selector is None:
        return None
    if owner.get("kind") == "ReplicationController":
        return LabelSelector(match_labels=selector)
    return msgspec.convert(selector, LabelSelector)


class PodOwners(Controller):
    """Reconciles an object when it, one of its pods or an orphan that it selects changes."""

    kind = ""
    manager = ""
    finalizers: tuple[str, ...] = ()
    """What pods of this controller carry, also adopted ones."""

    def __init__(self, api: Api, pods: PodIndex) -> None:
        self.pods = pods
        self._selectors = Selectors()
        super().__init__(api)
        for record in api.backend.store.collection(self.resource).scan(None):
            self._selectors.put((record.namespace, record.name), selector_of(record.object))
        pods.listen(self._pod_changed)

    def changed(self, record: Record, gone: bool) -> None:
        key = (record.namespace, record.name)
        if gone:
            self._selectors.drop(key)
        else:
            self._selectors.put(key, selector_of(record.object))
        super().changed(record, gone)

    def _pod_changed(self, before: Pod | None, after: Pod | None) -> None:
        for pod in (before, after):
            if pod is not None and pod.controller_kind == self.kind:
                self.queue.add((pod.namespace, pod.controller_name))
        if after is not None and not after.controller_uid:
            for key in self._selectors.matching(after.namespace, after.labels):
                self.queue.add(key)

    async def claim(
        self, owner: Document, accepts: Callable[[Document, Pod], bool] | None = None
    ) -> list[Pod]:
        """The pods that belong to the owner, after adoption and release. `accepts` may refuse more pods."""
        uid = owner["metadata"]["uid"]
        if owner["metadata"].get("deletionTimestamp"):
            return self.pods.of_controller(uid)
        selector = selector_of(owner)

        def fits(pod: Pod) -> bool:
            return matches(selector, pod.labels) and (accepts is None or accepts(owner, pod))

        strangers = [p for p in self.pods.of_controller(uid) if not fits(p)]
        orphans = [p for p in self._orphans(owner, selector) if not p.deleting and fits(p)]
        if strangers or orphans:
            await in_parallel(
                [partial(self._release, owner, p) for p in strangers]
                + [partial(self._adopt, owner, p) for p in orphans]
            )
        return [p for p in self.pods.of_controller(uid) if fits(p)]

    def _orphans(self, owner: Document, selector: LabelSelector | None) -> list[Pod]:
        if selector is None:
            return []
        return self.pods.orphans(*_place((owner["metadata"]["namespace"], ""), selector))

    async def _adopt(self, owner: Document, pod: Pod) -> None:
        metadata: Document = {"uid": pod.uid, "ownerReferences": [owner_reference(owner)]}
        if self.finalizers:
            metadata["finalizers"] = list(self.finalizers)
        await self._patch(pod, metadata)

    async def _release(self, owner: Document, pod: Pod) -> None:
        reference = {"$patch": "delete", "uid": owner["metadata"]["uid"]}
        metadata: Document = {"uid": pod.uid, "ownerReferences": [reference]}
        if self.finalizers:
            metadata["$deleteFromPrimitiveList/finalizers"] = list(self.finalizers)
        await self._patch(pod, metadata)

    async def _patch(self, pod: Pod, metadata: Document) -> None:
        await self.api.patch(
            "pods",
            pod.name,
            {"metadata": metadata},
            pod.namespace,
            content_type=STRATEGIC_MERGE_PATCH,
            manager=self.manager,
        )

    # -- making and removing pods ----------------------------------------------------------------------------

    async def create_pods(self, owner: Document, pods: Iterable[Document]) -> ApiError | None:
        """Create pods of one template; what refuses one refuses the rest, and an event says so.

        A pod that its owner's selector does not match would not be the owner's, and be made again and again.
        """
        waiting = iter(pods)
        first = list(islice(waiting, 1))
        selector = selector_of(owner)
        if not all(matches(selector, pod["metadata"].get("labels") or {}) for pod in first):
            message = "The selector does not match the labels of the template: no pods are created"
            await record_event(
                self.api, owner, "SelectorMismatch", message, component=self.manager, warning=True
            )
            return None
        refusals = await in_parallel(
            (partial(self.api.create, "pods", pod, manager=self.manager) for pod in chain(first, waiting)),
            stop_when_refused=True,
        )
        real = [r for r in refusals if not is_ending(r) and r.reason != "AlreadyExists"]
        if not real:
            return None
        why = str(real[0]).partition(" is forbidden: ")[2]  # without the name, which is new every time
        message = f"Error creating: {real[0]}"
        await record_event(
            self.api, owner, "FailedCreate", message, component=self.manager, warning=True, topic=why
        )
        return real[0]

    async def delete_pods(self, pods: list[Pod]) -> None:
        await in_parallel(
            partial(self.api.delete, "pods", pod.name, pod.namespace, uid=pod.uid) for pod in pods
        )

    def later(self, refusal: ApiError | None) -> list[datetime]:
        """When to look again after creations were refused."""
        return [] if refusal is None else [self.api.now() + AFTER_REFUSAL]


def is_ending(refusal: ApiError) -> bool:
    """Refused because the namespace is being deleted: nothing to report and nothing to repeat."""
    causes = (refusal.details or {}).get("causes") or ()
    return any(cause.get("reason") == "NamespaceTerminating" for cause in causes)
