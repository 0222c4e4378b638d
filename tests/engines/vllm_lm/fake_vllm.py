"""``fake_vllm.py BEHAVIOUR DESCRIPTOR LOG``: a fake of the vLLM process with a chosen misbehaviour."""

from __future__ import annotations

import os
import signal
import sys
import time
from multiprocessing.connection import Connection

import numpy as np

from studio.engines.vllm_lm.messages import (
    Ended,
    EngineExited,
    Generate,
    Ready,
    Rejected,
    SampleRequest,
    SampleResult,
    Serve,
    Stop,
    Tokens,
)


def main() -> None:
    behaviour, descriptor = sys.argv[1], int(sys.argv[2])
    connection = Connection(descriptor)
    assert isinstance(connection.recv(), Serve)
    match behaviour:
        case "crashes":
            os._exit(3)
        case "sleeps":
            time.sleep(600)
        case "refuses":
            connection.send(EngineExited("no kernel for this GPU"))
            return
        case "starves":
            connection.send(EngineExited("CUDA out of memory", is_memory=True))
            return
    connection.send(Ready("0.0", 4096))
    stopped: list[int] = []
    while True:
        try:
            command = connection.recv()
        except EOFError:
            return
        match command:
            case Generate():
                _speak(connection, behaviour, command, stopped)
            case Stop(line):
                stopped.append(line)


def _speak(connection: Connection, behaviour: str, command: Generate, stopped: list[int]) -> None:
    if behaviour == "declines":
        connection.send(Rejected(command.line, "it is too long"))
        return
    if behaviour == "names-the-stopped" and stopped:
        connection.send(Tokens(command.line, tuple(stopped)))
        connection.send(Ended(command.line, 0))
        return
    for token in range(command.max_tokens):
        if token == 3 and behaviour == "dies":
            os.kill(os.getpid(), signal.SIGKILL)
        if token == 3 and behaviour in ("falls-silent", "names-the-stopped"):
            return
        if behaviour == "asks":
            connection.send(SampleRequest(command.line, np.full(10, token, np.float32)))
            answer = connection.recv()
            while not isinstance(answer, SampleResult):
                answer = connection.recv()
            token = answer.token  # noqa: PLW2901
        connection.send(Tokens(command.line, (token,)))
    connection.send(Ended(command.line, 0))


if __name__ == "__main__":
    main()
