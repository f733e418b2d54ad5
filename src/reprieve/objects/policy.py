"""policy/v1: budgets for voluntary disruption."""

# ruff: noqa: RUF012 - msgspec gives every instance its own empty dict

from reprieve.objects.meta import Int32, LabelSelector, Object, Time, View


class PodDisruptionBudgetSpec(View):
    selector: LabelSelector | None = None
    min_available: Int32 | str | None = None
    max_unavailable: Int32 | str | None = None


class PodDisruptionBudgetStatus(View):
    disruptions_allowed: Int32 = 0
    disrupted_pods: dict[str, Time] = {}
    current_healthy: Int32 = 0
    desired_healthy: Int32 = 0
    expected_pods: Int32 = 0


class PodDisruptionBudget(Object):
    spec: PodDisruptionBudgetSpec = PodDisruptionBudgetSpec()
    status: PodDisruptionBudgetStatus = PodDisruptionBudgetStatus()
