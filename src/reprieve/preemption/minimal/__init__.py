"""`preemption.algorithm: minimal-cost`: among all placements and victim sets, the cheapest one.

`model` states the question in arrays, `search` answers it: per node the sets of victims worth considering (`frontier`,
`options`), across nodes an exact table (`table`), across units that live on several nodes branch and bound (`branch`),
and lower bounds for everything at once (`curves`). Nothing here reads a clock: work is metered (`meter`).
"""
