"""The wire: what a request means, how its answer looks. `operations/` makes all decisions."""
