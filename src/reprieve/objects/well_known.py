"""Names on the wire, each written once: labels, annotations, condition types and reasons, classes, phases, namespaces."""

KUBECONFIG_NAMESPACE = "kueue-system"
"""Where the Secrets with the workers' kubeconfigs live, as with Kueue."""
