"""``python -m studio.engines.vllm_lm DESCRIPTOR LOG``: the process that runs vLLM, started by ``engine_process``.

It may run under another Python with other libraries, so it imports little of ``studio``.
"""

from __future__ import annotations

import logging
import os
import sys
from multiprocessing.connection import Connection
from pathlib import Path

from studio.system.child_process import init_child


def main() -> None:
    """Serve until the end of the process; exit without library teardown, which may crash."""
    descriptor, log_path = int(sys.argv[1]), Path(sys.argv[2])
    init_child(log_path)
    os.set_inheritable(descriptor, False)
    connection = Connection(descriptor)

    from studio.engines.vllm_lm.serving import serve  # noqa: PLC0415 - torch, whose output goes to the log

    serve(connection)
    logging.shutdown()
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
