"""``comparisons.json`` of the bundled voice: comparisons that need not be made on each computer.

They are the quality of the language model in 8 bits, and the distances of the flow's reduced solvers in each precision. A
solver's time is its share of the steps.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from studio.model.config import Precision
from studio.model.cpu_products import multiplies_in
from studio.model.measurements import INCLUDED_FILE, Record, Records, Timing, portable_facts, record_key, write_json
from studio.model.options import Quality
from studio.pipeline.loading import load_synthesizer
from studio.pipeline.request import EngineOptions, RequestControl
from training.shipping.ship import SHIPPED_FOLDER


def write_comparisons(folder: Path) -> None:
    """Compare the model of ``folder`` in each precision that this processor has, and write the records.

    The cache folder must be empty.
    """
    (folder / INCLUDED_FILE).unlink(missing_ok=True)
    for precision in filter(multiplies_in, (Precision.FLOAT32, Precision.BFLOAT16, Precision.INT8)):
        synthesizer = load_synthesizer(folder, EngineOptions(flow_precision=precision.value))
        decodings = synthesizer._decodings
        for quality in (Quality.FAST, Quality.DRAFT):
            decodings.choose(quality, synthesizer._measured_speech, RequestControl())
        num_steps = synthesizer.checkpoint.flow.solver.num_steps
        synthesizer.close()
    records = [
        _portable(record, num_steps) for record in Records().all() if record.facts["stage"] in ("speech-lm", "flow")
    ]
    write_json(folder / INCLUDED_FILE, {"records": sorted(records, key=lambda record: record.key)})


def _portable(record: Record, num_steps: int) -> Record:
    facts = portable_facts(record.facts)
    timing = record.timing
    if timing is not None:
        share = int(record.facts["name"].partition("-")[0]) / num_steps
        timing = Timing(share, 1.0, share, 1)
    return replace(record, key=record_key(facts), facts=facts, timing=timing)


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="train.py comparisons", description=__doc__)
    parser.add_argument("--to", type=Path, default=SHIPPED_FOLDER, help="the folder of the model")
    folder = parser.parse_args(arguments).to
    with tempfile.TemporaryDirectory() as cache:
        os.environ["TIMBRE_CACHE"] = cache
        write_comparisons(folder)
    return 0
