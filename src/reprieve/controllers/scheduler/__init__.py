"""The scheduler against an API server (`reprieve run --controllers scheduler`): informers in, API calls out,
with the pure `reprieve.scheduler` in between.

service       the controller: informers feed the shell, which acts while this replica leads
shell         the asyncio loop around the core
execution     performs the core's actions and reports how each ended
api_actions   the actions as calls to an API server
keyed_tasks   calls about one object in order, calls about different objects at once
statuses      conditions that wait to be written, the last one about each thing
metrics       Prometheus metrics under kube-scheduler's names
"""

from reprieve.controllers.scheduler.service import LiveScheduler, run

__all__ = ["LiveScheduler", "run"]
