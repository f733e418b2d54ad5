"""The wire: what a request asks for, how the answer looks. `operations/` makes all decisions."""
