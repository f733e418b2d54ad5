"""`preemption.algorithm: minimal-cost`: among all placements and victim sets, the cheapest one.

    plan = minimal.decide(view, for_, gang, start)   # start: finds what `kep-5710` would choose

Inside: `improve` starts from that plan and never ends worse; `problem` and `unit_table` turn the cluster's
columns into the arrays of `model`; `search` answers: per node the sets of victims worth considering
(`frontier`, `options`), across nodes an exact table (`table`), across units that live on several nodes branch
and bound (`branch`), and for large problems lower bounds for all nodes at once (`node_bounds`, `focus`).
`relaxed` and `gap` say how far from the optimum the answer can be. Nothing here reads a clock: work is
metered (`work`).
"""

from reprieve.preemption.minimal.decide import Improved, decide, improve

__all__ = ["Improved", "decide", "improve"]
