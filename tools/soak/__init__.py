"""A long day in an hour (`make soak`): pods, gangs, quota, preemption and crashes, and what they cost.

`load` creates and removes work, `processes` runs and kills the programs, `measure` takes samples, `plot`
draws them. The server and the controllers are processes of their own, as people run them.
"""
