"""The Grafana dashboard shows all metrics of the service, and no others."""

from __future__ import annotations

import json
import re
from pathlib import Path

from studio.serve.fair_queue import FairQueue
from studio.serve.metrics import ServiceMetrics

DASHBOARD = Path(__file__).parents[2] / "packaging" / "grafana" / "timbre-studio.json"


def test_the_dashboard_shows_every_metric() -> None:
    panels = json.loads(DASHBOARD.read_text("utf-8"))["panels"]
    expressions = [target["expr"] for panel in panels for target in panel["targets"]]
    used = {name for each in expressions for name in re.findall(r"timbre_\w+", each)}
    described = re.findall(r"# TYPE (timbre_\w+) (\w+)", ServiceMetrics(FairQueue(1, lambda: 1)).text(0).decode())
    exposed = {f"{name}_bucket" if kind == "histogram" else name for name, kind in described}
    assert used == {name for name in exposed if not name.endswith("_created")}
