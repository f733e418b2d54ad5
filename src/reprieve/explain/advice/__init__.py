"""What would help: changes as data, tried on a copy of the cluster before anybody hears of them.

`give.advice` is the entry point. What can be changed is in `node_changes`, `pod_changes`, `quota_changes`. A
`draft` is the copy; a `scene` and a `quota_scene` ask the planner about it. `holds` and `quota_holds` end
what keeps a unit from being tried, `fixes` what nodes object to. `units` and `workloads` know ways out,
`ways` tries them, and a `remedy` is one that helps. `facts` says in numbers what stands in the way.
"""
