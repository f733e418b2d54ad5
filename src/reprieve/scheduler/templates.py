"""Groups that name their Workload's template: completed from it in memory, as often as either changes.

No API server does it: what is stored stays as it was written, and every decision is made with the whole.
"""

from reprieve.objects import PodGroup, complete_group, scheduling


class Templates:
    def __init__(self) -> None:
        self._workloads: dict[str, scheduling.Workload] = {}
        self._groups: dict[str, PodGroup] = {}
        """Groups that name a template, as they are stored."""
        self._of: dict[str, dict[str, None]] = {}
        """Their keys, by the Workload that they name."""
        self._contrary: dict[str, str] = {}
        """What they say otherwise than their templates, if anything."""

    def complete(self, group: PodGroup) -> PodGroup:
        """A group as decisions see it; nothing is kept of those that name no template."""
        if group.spec.workload_ref is None:
            return group
        return complete_group(group, self._workloads.get(_workload_of(group)))[0]

    def see_group(self, group: PodGroup, gone: bool) -> None:
        if group.spec.workload_ref is None:
            return
        members = self._of.setdefault(_workload_of(group), {})
        if gone:
            self._groups.pop(group.key, None)
            self._contrary.pop(group.key, None)
            members.pop(group.key, None)
            if not members:
                del self._of[_workload_of(group)]
        else:
            self._groups[group.key] = group
            members[group.key] = None
            self._compare(group)

    def see_workload(self, workload: scheduling.Workload, gone: bool) -> list[PodGroup]:
        """The groups, as they are stored, that may mean something else now."""
        if gone:
            self._workloads.pop(workload.key, None)
        else:
            self._workloads[workload.key] = workload
        found = [self._groups[key] for key in self._of.get(workload.key, ())]
        for group in found:
            self._compare(group)
        return found

    def contradiction(self, key: str) -> str:
        """What a group says otherwise than its template; empty where nothing does."""
        return self._contrary.get(key, "")

    def workload_of(self, key: str) -> scheduling.Workload | None:
        """The Workload that has a group's template."""
        group = self._groups.get(key)
        return None if group is None else self._workloads.get(_workload_of(group))

    def _compare(self, group: PodGroup) -> None:
        text = complete_group(group, self._workloads.get(_workload_of(group)))[1]
        if text:
            self._contrary[group.key] = text
        else:
            self._contrary.pop(group.key, None)


def _workload_of(group: PodGroup) -> str:
    assert group.spec.workload_ref is not None
    return f"{group.namespace}/{group.spec.workload_ref.workload_name}"
