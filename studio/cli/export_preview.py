"""Preview of `timbre export`: the effect on files, and findings about lines."""

from __future__ import annotations

import json
from collections.abc import Sequence

from studio.cli.progress import print_message
from studio.export.checks import Finding, number_ranges
from studio.export.forecast import ExportForecast
from studio.export.plan import ExportPlan


def print_findings(findings: Sequence[Finding]) -> None:
    for finding in findings:
        lines = f"lines {', '.join(number_ranges(finding.line_numbers))}: " if finding.line_numbers else ""
        print_message(f"timbre: {lines}{finding.message}")


def print_forecast(found: ExportForecast, plan: ExportPlan, *, is_json: bool) -> None:
    """Print each file and what an export does to it: ``new``, ``replaced`` or ``kept``. Other files are ``unused``."""
    if is_json:
        files = [{"file": str(file), "change": change.value} for file, change in found.changes]
        values = {"folder": str(plan.folder), "files": files, "unused": [str(file) for file in found.orphans]}
        print(json.dumps(values, ensure_ascii=False), flush=True)
        return
    for file, change in found.changes:
        print(f"{change.value:<9}{file}")
    for file in found.orphans:
        print(f"{'unused':<9}{file}")
