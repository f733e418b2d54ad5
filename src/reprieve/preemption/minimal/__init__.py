"""`preemption.algorithm: minimal-cost`: among all placements and victim sets, the cheapest one.

`decide` is the entry point. It starts from the plan of `kep-5710` and never returns a worse one.
`translation` and `unit_table` turn the cluster's columns into the arrays of `problem`; `search` solves that:

- on each node, the victim sets worth considering (`frontier`) and what they allow to be placed (`options`);
- across nodes, an exact dynamic program (`dynamic_program`);
- across units with pods on several nodes, branch and bound (`branch`);
- on large clusters, lower bounds for all nodes at once (`node_bounds`) that leave few nodes for a close look
  (`uniform`, `prune`), a quick answer to start with (`first_answer`), and one class after the other where
  there are too many combinations (`class_by_class`).

`optimality` says how far from the optimum the answer can be. Nothing here reads a clock: `work_limit` counts
work. `docs/minimal-cost.md` explains it with an example.
"""

from reprieve.preemption.minimal.decide import Improved, decide, improve

__all__ = ["Improved", "decide", "improve"]
