"""Where may the pods of a workload go? Topologies, what their domains have free, and placements in them."""
