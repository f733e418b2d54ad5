"""Write what `deploy/` holds of `reprieve manifests`: the chart's files and the Kustomize base.

    python tools/deploy_files.py            write them anew
    python tools/deploy_files.py --check    exit 1 and name those that are not up to date

Rights, definitions, alerts and dashboards have one home, `src/reprieve/manifests`. Helm and Kustomize read
files, so these are made of it; a test runs the check.
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from reprieve.manifests import KUEUE, RULES, SCHEDULING, Installation, crds, deployment, monitoring
from reprieve.manifests.rights import DASHBOARD, KUBECONFIGS, LEASE, WEBHOOK_ACCESS, WEBHOOK_SECRET
from reprieve.objects import format_yaml

DEPLOY = Path(__file__).parent.parent / "deploy"


def wanted() -> Iterator[tuple[str, str]]:
    """Path under `deploy/` and content of every file that is made."""
    yield from _chart()
    yield from _kustomize()


def _chart() -> Iterator[tuple[str, str]]:
    rights = {
        **RULES,
        "dashboard": DASHBOARD,
        "lease": LEASE,
        "kubeconfigs": KUBECONFIGS,
        "webhook": WEBHOOK_ACCESS,
        "certificate": WEBHOOK_SECRET,
    }
    for name, rules in rights.items():
        yield f"chart/files/rights/{name}.yaml", _plain(list(rules))
    for name, group in {"scheduling": SCHEDULING, "kueue": KUEUE}.items():
        documents = crds((group,))
        for document in documents:
            # A definition that goes takes every object of its kind with it.
            document["metadata"].setdefault("annotations", {})["helm.sh/resource-policy"] = "keep"
        yield f"chart/files/crds/{name}.yaml", format_yaml(documents)
    *_, webhook = deployment(Installation(controllers=("quota",), webhook=True))
    yield "chart/files/webhook.yaml", _plain(webhook["webhooks"])
    _, alerts, *dashboards = monitoring(Installation())
    yield "chart/files/alerts.yaml", _plain(alerts["spec"])
    for dashboard in dashboards:
        for name, content in dashboard["data"].items():
            yield f"chart/files/dashboards/{name}", content + "\n"


def _kustomize() -> Iterator[tuple[str, str]]:
    """The scheduler, and what watches it: folders to build or to build upon."""
    installation = Installation()
    for folder, documents in {
        "base": deployment(installation),
        "monitoring": monitoring(installation),
    }.items():
        kustomization = {
            "apiVersion": "kustomize.config.k8s.io/v1beta1",
            "kind": "Kustomization",
            "resources": [f"{folder}.yaml"],
        }
        yield f"kustomize/{folder}/kustomization.yaml", format_yaml([kustomization])
        yield f"kustomize/{folder}/{folder}.yaml", format_yaml(documents)


def _plain(value: Any) -> str:
    """Of something that need not be an object; without the last line's end, for the chart's `nindent`."""
    return format_yaml([value]).rstrip("\n")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    stale = []
    for path, content in wanted():
        target = DEPLOY / path
        if target.exists() and target.read_text(encoding="utf-8") == content:
            continue
        stale.append(path)
        if not check:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(content, encoding="utf-8")
    if check and stale:
        sys.exit(f"not up to date: {', '.join(stale)}; run `make deploy`")


if __name__ == "__main__":
    main()
