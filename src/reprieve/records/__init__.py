"""What was decided and why: decision records in a ring and a file, and queries over them.

    log = DecisionLog(path="/var/lib/reprieve/decisions.jsonl")        # path is optional: ring only
    log.add(Decision(time=now, controller="scheduler", for_="PodGroup/ml/train", outcome="preempts",
                     revision="4711", duration_ms=1.2, placements={…}, victims=[…], reasons=[…]))
    log.latest(100), log.get("17"), log.find(victim="dev/a"), log.preemptions, log.victims

Knows nothing of clusters or of HTTP; time comes in with the decision.
"""

from reprieve.records.decision import Decision, sentence
from reprieve.records.log import DecisionLog

__all__ = ["Decision", "DecisionLog", "sentence"]
