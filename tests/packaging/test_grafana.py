"""The Grafana dashboard shows all metrics of the service, and it and the alert rules name no others."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path

import yaml

from studio.errors import type_of_code
from studio.serve.fair_queue import FairQueue
from studio.serve.metrics import ServiceMetrics

GRAFANA = Path(__file__).parents[2] / "packaging" / "grafana"


def dashboard_expressions() -> list[str]:
    panels = json.loads((GRAFANA / "timbre-studio.json").read_text("utf-8"))["panels"]
    return [target["expr"] for panel in panels for target in panel["targets"]]


def alerts() -> list[dict[str, object]]:
    [group] = yaml.safe_load((GRAFANA / "alerts.yaml").read_text("utf-8"))["groups"]
    rules: list[dict[str, object]] = group["rules"]
    return rules


def names(expressions: Iterable[str]) -> set[str]:
    return {name for each in expressions for name in re.findall(r"timbre_\w+", each)}


def exposed() -> dict[str, str]:
    """Return the kinds of the metrics of this program, by the names that queries use."""
    text = ServiceMetrics(FairQueue(1, lambda: 1), "model").text(0).decode()
    described = re.findall(r"# TYPE (timbre_\w+) (\w+)", text)
    return {f"{name}_bucket" if kind == "histogram" else name: kind for name, kind in described}


def test_the_dashboard_shows_every_metric() -> None:
    counts = {name.replace("_bucket", "_count") for name, kind in exposed().items() if kind == "histogram"}
    assert names(dashboard_expressions()) - counts == set(exposed())


def test_the_alerts_name_metrics_and_codes_that_exist() -> None:
    expressions = [str(rule["expr"]) for rule in alerts()]
    assert names(expressions) <= set(exposed())
    for each in expressions:
        for codes in re.findall(r'code=~?"([^"]+)"', each):
            assert set(codes.split("|")) <= set(type_of_code), codes


def test_every_alert_says_what_happens_and_what_to_do() -> None:
    assert len({rule["alert"] for rule in alerts()}) == len(alerts()) >= 6
    for rule in alerts():
        assert set(rule) <= {"alert", "expr", "for", "labels", "annotations"}
        assert rule["labels"] in ({"severity": "warning"}, {"severity": "critical"})
        assert set(rule["annotations"]) == {"summary", "description"}  # type: ignore[call-overload]


def test_histograms_are_queried_by_bucket() -> None:
    for each in dashboard_expressions() + [str(rule["expr"]) for rule in alerts()]:
        assert ("histogram_quantile" in each) == ("_bucket" in each), each
        assert each.count("(") == each.count(")"), each
