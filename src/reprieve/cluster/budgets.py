"""Disruption budgets, and which of them cover a pod."""

from collections.abc import Sequence

from reprieve.cluster.classes import PodClass
from reprieve.objects import PodDisruptionBudget, matches


class BudgetTable:
    """Budgets in order of arrival. Which of them cover a class is cached until a selector changes."""

    def __init__(self) -> None:
        self._by_key: dict[str, PodDisruptionBudget] = {}
        self._list: list[PodDisruptionBudget] | None = None
        self._covering: dict[PodClass, tuple[int, ...]] = {}
        """By class, not by its number: another class may get that later."""
        self.coverage = 0
        """Increases whenever the budgets that cover a pod may be others than before."""

    @property
    def all(self) -> Sequence[PodDisruptionBudget]:
        if self._list is None:
            self._list = list(self._by_key.values())
        return self._list

    def set(self, budget: PodDisruptionBudget) -> None:
        old = self._by_key.get(budget.key)
        self._by_key[budget.key] = budget
        self._list = None
        if old is None or old.spec.selector != budget.spec.selector:
            self.forget()

    def remove(self, key: str) -> None:
        self._by_key.pop(key, None)
        self.forget()

    def covering(self, cls: PodClass) -> tuple[int, ...]:
        """Numbers of the budgets that select pods of this class. An empty selector selects none."""
        found = self._covering.get(cls)
        if found is None:
            found = self._covering[cls] = tuple(
                number for number, budget in enumerate(self.all) if _covers(budget, cls)
            )
        return found

    def forget(self) -> None:
        """Drop what is cached about classes."""
        self._list = None
        self._covering.clear()
        self.coverage += 1


def _covers(budget: PodDisruptionBudget, cls: PodClass) -> bool:
    selector = budget.spec.selector
    if selector is None or not cls.labels or budget.namespace != cls.namespace:
        return False
    return bool(selector.match_labels or selector.match_expressions) and matches(selector, cls.labels)
