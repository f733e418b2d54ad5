"""What a cluster needs to run Reprieve: custom resources for kinds it lacks, and the deployment with the least rights.

    crds()                          CustomResourceDefinitions of PodGroup, Workload and Kueue's kinds
    deployment(Installation(...))   Namespace, RBAC, ConfigMap, Deployment, Service, PodDisruptionBudget, NetworkPolicy

Documents only: nothing here talks to a cluster.
"""

from reprieve.manifests.crds import crds
from reprieve.manifests.deployment import Installation, deployment

__all__ = ["Installation", "crds", "deployment"]
