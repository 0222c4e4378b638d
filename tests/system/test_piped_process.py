"""A child process with a pipe: messages of several threads, and the description of its end."""

from __future__ import annotations

import os
import threading
import time
from multiprocessing.connection import Connection

import pytest

from studio.system.piped_process import PipedProcess, spawned


class CrowdedConnection:
    """A connection that detects overlapping messages."""

    def __init__(self) -> None:
        self.num_inside = self.most_inside = self.num_sent = 0

    def send(self, _message: object) -> None:
        self.num_inside += 1
        self.most_inside = max(self.most_inside, self.num_inside)
        time.sleep(0.02)
        self.num_inside -= 1
        self.num_sent += 1


def test_messages_of_several_threads_do_not_overlap() -> None:
    process = PipedProcess(spawned("builtins:print", name="never-started"), log_name="test")
    process._connection.close()
    process._far_end.close()
    crowded = CrowdedConnection()
    process._connection = crowded  # type: ignore[assignment]
    threads = [threading.Thread(target=process.send, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert (crowded.num_sent, crowded.most_inside) == (4, 1)


def echo(connection: Connection, exit_status: int) -> None:
    connection.send(connection.recv())
    os._exit(exit_status)


@pytest.mark.slow
def test_a_process_answers_and_its_end_is_described() -> None:
    process = PipedProcess(spawned(f"{__name__}:echo", 3, name="echo"), log_name="test")
    process.start()
    assert process.pid is not None
    process.send("word")
    assert process.receive() == "word"
    with pytest.raises((EOFError, OSError)):
        process.receive()
    assert str(process.wait_exit(10.0)) == "exit status 3"
    with pytest.raises(OSError, match="closed"):
        process.send("late")
