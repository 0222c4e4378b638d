"""``python -m studio.engines.installed``: print library versions, the GPUs and the expected speed as one JSON object.

Runs in a separate process, for callers that must not load these libraries.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict

from studio.system.processor import is_machine_busy


def main() -> int:
    answer = os.dup(1)
    os.dup2(2, 1)  # libraries print to standard output
    import torch  # noqa: PLC0415

    from studio.engines.expected_speed import estimate_seconds  # noqa: PLC0415
    from studio.engines.machine import gpus, unsupported_gpus  # noqa: PLC0415
    from studio.model.onnx_networks import onnxruntime  # noqa: PLC0415

    has_gpu = bool(gpus())
    facts = {
        "torch": torch.__version__,
        "onnxruntime": onnxruntime.__version__,
        "gpus": [asdict(gpu) | {"kind": gpu.kind.value} for gpu in gpus()],
        "unsupported": [asdict(gpu) | {"kind": gpu.kind.value} for gpu in unsupported_gpus()],
        # Unknown on a GPU, and while other programs are busy.
        "seconds_per_second": None if has_gpu or is_machine_busy() else estimate_seconds(),
    }
    os.write(answer, json.dumps(facts).encode())
    return 0


if __name__ == "__main__":
    sys.exit(main())
