"""For clusters with Prometheus and Grafana: what to scrape, when to wake somebody, what to look at.

Alerts and panels are data (`alerts.yaml`, `dashboards.yaml`); here they become objects.
"""

import json
from importlib.resources import files
from typing import Any

import yaml

from reprieve.manifests.deployment import LABELS, Installation, labelled
from reprieve.objects import Document

MONITORING = "monitoring.coreos.com/v1"
RUNBOOKS = "docs/troubleshooting.md"
"""In this repository; whoever publishes the docs names the address of that page."""
WIDTH, HEIGHT, COLUMNS = 12, 8, 2
"""Of a panel, on Grafana's grid of 24 columns."""


def monitoring(installation: Installation, runbooks: str = RUNBOOKS) -> list[Document]:
    """ServiceMonitor, PrometheusRule, and a ConfigMap a dashboard, as Grafana's sidecar looks for them."""
    return [service_monitor(installation), alerts(installation, runbooks), *dashboards(installation)]


def service_monitor(installation: Installation) -> Document:
    spec = {
        "selector": {"matchLabels": dict(LABELS)},
        "endpoints": [{"port": "http", "path": "/metrics", "interval": "30s"}],
    }
    return labelled(MONITORING, "ServiceMonitor", installation, spec=spec)


def alerts(installation: Installation, runbooks: str = RUNBOOKS) -> Document:
    rules = [
        {
            "alert": each["alert"],
            "expr": each["expr"],
            "for": each["for"],
            "labels": {"severity": each["severity"]},
            "annotations": {"summary": each["summary"], "runbook_url": f"{runbooks}#{each['alert'].lower()}"},
        }
        for each in _data("alerts.yaml")
    ]
    groups = [{"name": "reprieve", "rules": rules}]
    return labelled(MONITORING, "PrometheusRule", installation, spec={"groups": groups})


def dashboards(installation: Installation) -> list[Document]:
    documents = []
    for dashboard in _data("dashboards.yaml"):
        data = {f"{dashboard['uid']}.json": json.dumps(grafana(dashboard), indent=2)}
        document = labelled("v1", "ConfigMap", installation, dashboard["uid"], data=data)
        document["metadata"]["labels"]["grafana_dashboard"] = "1"
        documents.append(document)
    return documents


def grafana(dashboard: Document) -> Document:
    """A dashboard as Grafana imports it; the data source is asked for, not guessed."""
    return {
        "uid": dashboard["uid"],
        "title": dashboard["title"],
        "tags": ["reprieve"],
        "schemaVersion": 39,
        "editable": True,
        "refresh": "30s",
        "time": {"from": "now-6h", "to": "now"},
        "templating": {
            "list": [{"name": "source", "label": "Source", "type": "datasource", "query": "prometheus"}]
        },
        "panels": [_panel(number, panel) for number, panel in enumerate(dashboard["panels"])],
    }


def _panel(number: int, panel: Document) -> Document:
    source = {"type": "prometheus", "uid": "${source}"}
    row, column = divmod(number, COLUMNS)
    return {
        "id": number + 1,
        "type": "timeseries",
        "title": panel["title"],
        "datasource": source,
        "gridPos": {"x": column * WIDTH, "y": row * HEIGHT, "w": WIDTH, "h": HEIGHT},
        "fieldConfig": {"defaults": {"unit": panel["unit"], "min": 0}, "overrides": []},
        "options": {"legend": {"displayMode": "list", "placement": "bottom"}, "tooltip": {"mode": "multi"}},
        "targets": [
            {"refId": chr(ord("A") + place), "datasource": source, "expr": query, "legendFormat": legend}
            for place, (legend, query) in enumerate(panel["queries"].items())
        ],
    }


def _data(name: str) -> list[dict[str, Any]]:
    loaded: list[dict[str, Any]] = yaml.safe_load(
        files("reprieve.manifests").joinpath(name).read_text(encoding="utf-8")
    )
    return loaded
