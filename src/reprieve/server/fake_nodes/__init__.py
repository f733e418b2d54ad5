"""Nodes that exist only as objects, and a kubelet that pretends to run pods on them (what kwok does). Which
nodes, `objects.NodeTemplate` says.

    lifecycle   what a pod on a fake node does next, as a pure function of the pod and the time
    health      creates nodes, renews their leases, takes them down and brings them back
    kubelet     watches, waits and writes

A node is fake if it carries the annotation `reprieve.dev/fake-node`. Annotations that control pods and nodes:

    reprieve.dev/run-for          pod: duration after which it ends by itself
    reprieve.dev/exit-code        pod: its exit code; 0 is success
    reprieve.dev/start-after      pod: how long it takes to start
    reprieve.dev/terminate-after  pod: how long it takes to stop, at most its grace period (the default)
    reprieve.dev/fail             node: "true" takes the node down, anything else brings it back
"""

from reprieve.server.fake_nodes.kubelet import FakeKubelet
from reprieve.server.fake_nodes.lifecycle import Habits

__all__ = ["FakeKubelet", "Habits"]
