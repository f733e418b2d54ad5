"""What can be changed: as data, in words, and carried out on a draft.

A change claims nothing by itself. A remedy (`remedy`) is a list of changes together with what they bring, and
it is only given after they were carried out on a copy of the cluster.
"""

import msgspec

from reprieve.explain.advice.draft import Draft


class Change(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel", tag_field="change"
):
    """One change of one object. `change` says which one it is."""

    def words(self) -> str:
        """What to do, as part of a sentence."""
        raise NotImplementedError

    def carry_out(self, draft: Draft) -> None:
        raise NotImplementedError


def whose(unit: str) -> str:
    kind = unit.partition("/")[0]
    return {"Pod": "the pod", "Workload": "its pod template"}.get(kind, "its pods")


def amounts_in_words(amounts: dict[str, str], more: str = "") -> str:
    """`2 cpu, 1Gi memory and 1 pod slot`; with `more`, `2 more cpu` and so on."""
    nouns = {r: ("pod slot" if q == "1" else "pod slots") if r == "pods" else r for r, q in amounts.items()}
    return listed([" ".join(filter(None, (q, more, nouns[r]))) for r, q in amounts.items()])


def listed(parts: list[str]) -> str:
    """`a, b and c`."""
    return f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else "".join(parts)


def pairs(labels: dict[str, str]) -> str:
    return ", ".join(f"{key}={value}" for key, value in labels.items())
