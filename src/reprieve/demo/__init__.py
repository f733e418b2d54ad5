"""A guided tour: real controllers, a real API server and real HTTP on this machine, all thrown away at the end.

`stage` starts the clusters, `tour` speaks to the viewer, each module under `scenes` shows one thing. A scene submits manifests,
waits until the cluster says that it happened, and tells why in one sentence; it never pretends.
"""

from reprieve.demo.show import show

__all__ = ["show"]
