"""What a cluster needs to run Reprieve: definitions of missing kinds, a deployment with the least rights.

    crds()                          CustomResourceDefinitions of PodGroup, Workload and Kueue's kinds
    deployment(Installation(...))   Namespace, RBAC, ConfigMap, Deployment, Service, PodDisruptionBudget,
                                    NetworkPolicy
    monitoring(Installation(...))   ServiceMonitor, PrometheusRule and Grafana dashboards

Documents only: nothing here talks to a cluster.
"""

from reprieve.manifests.crds import KUEUE, SCHEDULING, crds
from reprieve.manifests.deployment import Installation, deployment
from reprieve.manifests.monitoring import RUNBOOKS, monitoring
from reprieve.manifests.rights import RULES

__all__ = ["KUEUE", "RULES", "RUNBOOKS", "SCHEDULING", "Installation", "crds", "deployment", "monitoring"]
