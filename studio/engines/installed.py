"""``python -m studio.engines.installed``: which libraries speak here, as one JSON object on standard output.

For whoever must not load them: it runs in a process of its own.
"""

from __future__ import annotations

import json
import os
import sys


def main() -> int:
    answer = os.dup(1)
    os.dup2(2, 1)  # libraries print
    import torch  # noqa: PLC0415

    from studio.model.onnx_runtime import onnxruntime  # noqa: PLC0415

    facts = {
        "torch": torch.__version__,
        "onnxruntime": onnxruntime.__version__,
        "gpu": torch.cuda.get_device_name(0) if torch.cuda.is_available() else None,
    }
    os.write(answer, json.dumps(facts).encode())
    return 0


if __name__ == "__main__":
    sys.exit(main())
