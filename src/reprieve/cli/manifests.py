"""`reprieve manifests`: what a cluster needs, as YAML for `kubectl apply -f -`."""

from typing import Any

import click


@click.group()
def command() -> None:
    """Print what a cluster needs: custom resources, deployment, monitoring.

    \b
    Examples:
      reprieve manifests crds | kubectl apply --server-side -f -
      reprieve manifests deploy --image registry.example/reprieve:0.2.0 | kubectl apply -f -
      reprieve manifests monitoring | kubectl apply --server-side -f -
    """


@command.command()
@click.option("--kueue/--no-kueue", default=True, show_default=True, help="Also the kinds of kueue.x-k8s.io.")
def crds(kueue: bool) -> None:
    """CustomResourceDefinitions, for clusters that do not serve the kinds themselves.

    \b
    Examples:
      reprieve manifests crds | kubectl apply --server-side -f -
      reprieve manifests crds --no-kueue | kubectl apply --server-side -f -
    """
    from reprieve.manifests import KUEUE, SCHEDULING
    from reprieve.manifests import crds as definitions

    _print(definitions((SCHEDULING, KUEUE) if kueue else (SCHEDULING,)))


@command.command()
@click.option("--image", help="The container image.  [default: reprieve:VERSION]")
@click.option("--namespace", default="reprieve-system", show_default=True)
@click.option(
    "--controllers",
    default="scheduler",
    show_default=True,
    help="Separated by commas: scheduler, quota, fleet.",
)
@click.option("--scheduler-name", default="reprieve", show_default=True)
@click.option("--replicas", type=click.IntRange(1), default=2, show_default=True)
@click.option(
    "--dashboard",
    is_flag=True,
    help="Serve the web page too: needs more read rights; its token is the key token of the Secret "
    "reprieve-dashboard.",
)
@click.option(
    "--webhook",
    is_flag=True,
    help="Hold jobs and pods of queues at their creation: a MutatingWebhookConfiguration that the quota "
    "controller answers. Without it they are held a moment later.",
)
@click.option(
    "--tracing",
    default="",
    metavar="URL",
    help="Send spans of decisions there, OTLP over HTTP, e.g. http://collector.tracing:4318/v1/traces; the "
    "network policy lets them out.",
)
@click.option(
    "--policy-version",
    type=click.Choice(["v1", "v1beta1"]),
    default="v1",
    show_default=True,
    help="Of the PodDisruptionBudget; v1beta1 for Kubernetes before 1.21.",
)
def deploy(controllers: str, image: str | None, **options: Any) -> None:
    """Deployment, rights, Service, PodDisruptionBudget and NetworkPolicy.

    \b
    Examples:
      reprieve manifests deploy --image registry.example/reprieve:0.2.0 | kubectl apply -f -
      reprieve manifests deploy --controllers scheduler,quota --dashboard --webhook > reprieve.yaml
    """
    from reprieve.manifests import RULES, Installation, deployment
    from reprieve.objects import dns_label

    names = tuple(name.strip() for name in controllers.split(",") if name.strip())
    if unknown := [name for name in names if name not in RULES] or (["none"] if not names else []):
        raise click.BadParameter(f"{unknown[0]!r}; known are {', '.join(RULES)}", param_hint="--controllers")
    if options["webhook"] and "quota" not in names:
        raise click.BadParameter("needs --controllers quota, which answers it", param_hint="--webhook")
    if problem := dns_label(options["namespace"]):
        raise click.BadParameter(f"{options['namespace']!r}: {problem}", param_hint="--namespace")
    if (url := options["tracing"]) and not url.startswith(("http://", "https://")):
        raise click.BadParameter(f"{url!r} is no address of HTTP", param_hint="--tracing")
    if image:
        options["image"] = image
    _print(deployment(Installation(controllers=names, **options)))


@command.command()
@click.option("--namespace", default="reprieve-system", show_default=True)
@click.option(
    "--runbooks",
    default="docs/troubleshooting.md",
    show_default=True,
    help="Address of that page where you publish it; every alert links to its own heading there.",
)
def monitoring(namespace: str, runbooks: str) -> None:
    """ServiceMonitor, PrometheusRule and Grafana dashboards, for the Prometheus operator.

    \b
    Examples:
      reprieve manifests monitoring | kubectl apply --server-side -f -
      reprieve manifests monitoring --runbooks https://docs.example/reprieve/troubleshooting > monitoring.yaml
    """
    from reprieve.manifests import Installation
    from reprieve.manifests import monitoring as watched

    _print(watched(Installation(namespace=namespace), runbooks))


def _print(documents: list[dict[str, Any]]) -> None:
    from reprieve.objects import format_yaml

    click.echo(format_yaml(documents), nl=False)
