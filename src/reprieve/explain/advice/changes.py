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
