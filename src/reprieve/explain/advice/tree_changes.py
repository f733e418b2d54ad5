"""Changes of the groups of a tree: fewer of them, or without their domains."""

from reprieve.explain.advice.changes import Change
from reprieve.explain.advice.draft import Draft
from reprieve.explain.sentences import changes
from reprieve.objects import Reference


class LowerMinGroupCount(Change, frozen=True, kw_only=True, tag=True):
    group: str
    min_group_count: int

    def words(self) -> str:
        return changes.lower_min_group_count(self.group, self.min_group_count)

    def carry_out(self, draft: Draft) -> None:
        spec = draft.edit("CompositePodGroup", self.group).setdefault("spec", {})
        spec["schedulingPolicy"] = {"gang": {"minGroupCount": self.min_group_count}}


class DropTopology(Change, frozen=True, kw_only=True, tag=True):
    """Let a group spread over several domains."""

    group: str
    """`Kind/namespace/name`."""
    key: str

    def words(self) -> str:
        where = Reference.parse(self.group)
        return changes.drop_topology(where.kind, where.key, self.key)

    def carry_out(self, draft: Draft) -> None:
        where = Reference.parse(self.group)
        draft.edit(where.kind, where.key).setdefault("spec", {}).pop("schedulingConstraints", None)


class CreateComposite(Change, frozen=True, kw_only=True, tag=True):
    group: str

    def words(self) -> str:
        return changes.create_composite(self.group)

    def carry_out(self, draft: Draft) -> None:
        group = draft.edit("CompositePodGroup", self.group)
        children = draft.children(self.group)
        model = (draft.find(children[0].kind, children[0].key) or {}).get("spec") or {} if children else {}
        fields = ("priority", "priorityClassName", "preemptionPolicy")
        group["spec"] = {
            "schedulingPolicy": {"gang": {"minGroupCount": 1}},
            **{field: model[field] for field in fields if field in model},
        }
