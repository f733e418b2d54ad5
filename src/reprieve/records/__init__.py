"""What was decided and why, and how long things ran: records in a ring and a file, and queries over them.

    log = DecisionLog(path="/var/lib/reprieve/decisions.jsonl")        # path is optional: ring only
    log.add(Decision(time=now, controller="scheduler", for_="PodGroup/ml/train", outcome="preempts",
                     revision="4711", duration_ms=1.2, placements={…}, victims=[…], reasons=[…]))
    log.latest(100), log.get("17"), log.find(victim="dev/a"), log.preemptions, log.victims
    log.add_run(Run(ran="Job/ml/train", time=now, seconds=3600, end="ended")), log.runs

Knows nothing of clusters; time comes in with the decision. `kept` reads what another process has kept.
"""

from reprieve.records.decision import Decision, sentence
from reprieve.records.kept import Kept, NothingKept, RecordFile, RunningController
from reprieve.records.log import DecisionLog
from reprieve.records.run import End, Run

__all__ = [
    "Decision",
    "DecisionLog",
    "End",
    "Kept",
    "NothingKept",
    "RecordFile",
    "Run",
    "RunningController",
    "sentence",
]
