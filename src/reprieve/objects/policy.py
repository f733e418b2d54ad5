"""policy/v1: budgets for voluntary disruption."""

# ruff: noqa: RUF012 - msgspec gives every instance its own empty dict

from datetime import datetime

from reprieve.objects.meta import LabelSelector, Object, View


class PodDisruptionBudgetSpec(View):
    selector: LabelSelector | None = None
    min_available: int | str | None = None
    max_unavailable: int | str | None = None


class PodDisruptionBudgetStatus(View):
    disruptions_allowed: int = 0
    disrupted_pods: dict[str, datetime] = {}
    current_healthy: int = 0
    desired_healthy: int = 0
    expected_pods: int = 0


class PodDisruptionBudget(Object):
    spec: PodDisruptionBudgetSpec = PodDisruptionBudgetSpec()
    status: PodDisruptionBudgetStatus = PodDisruptionBudgetStatus()
