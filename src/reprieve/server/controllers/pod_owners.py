"""What all controllers of pods share.

The pods of an object are those that name it as their controller: none is adopted or released by its labels.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from functools import partial
from itertools import chain, islice

import msgspec

from reprieve.objects import Document, LabelSelector, matches
from reprieve.server.api import Api
from reprieve.server.controllers.controller import Controller, in_parallel
from reprieve.server.controllers.events import record_event
from reprieve.server.controllers.pods import Pod, PodIndex
from reprieve.server.errors import ApiError

AFTER_REFUSAL = timedelta(seconds=5)
"""When to try again to create pods that were refused, for instance by a quota."""


def selector_of(owner: Document) -> LabelSelector | None:
    """A ReplicationController's selector is a plain map of labels."""
    selector = (owner.get("spec") or {}).get("selector")
    if selector is None:
        return None
    if owner.get("kind") == "ReplicationController":
        return LabelSelector(match_labels=selector)
    return msgspec.convert(selector, LabelSelector)


class PodOwners(Controller):
    """Reconciles an object when it or one of its pods changes."""

    kind = ""
    manager = ""

    def __init__(self, api: Api, pods: PodIndex) -> None:
        self.pods = pods
        super().__init__(api)
        pods.listen(self._pod_changed)

    def _pod_changed(self, before: Pod | None, after: Pod | None) -> None:
        for pod in (before, after):
            if pod is not None and pod.controller_kind == self.kind:
                self.queue.add((pod.namespace, pod.controller_name))

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
