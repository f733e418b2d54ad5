"""A guided tour: real controllers, a real API server and real HTTP on this machine, all thrown away at the
end.

`stage` starts the clusters, `tour` prints for the viewer, `scenes` are what is shown. Nothing is pretended:
what a scene prints was read back from the cluster.
"""

from reprieve.demo.scenes import show

__all__ = ["show"]
