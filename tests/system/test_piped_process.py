"""A child process with a pipe: messages of several threads, and the description of its end."""

from __future__ import annotations

import contextlib
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


class ReadConnection:
    """A connection that records whether it was closed while a thread was waiting for a message."""

    def __init__(self) -> None:
        self.is_read = self.was_closed_while_read = self.is_closed = False
        self.reading = threading.Event()

    def poll(self, _seconds: float = 0.0) -> bool:
        if self.is_closed:
            raise OSError("handle is closed")
        self.is_read = True
        self.reading.set()
        time.sleep(0.05)
        self.is_read = False
        return False

    def close(self) -> None:
        self.was_closed_while_read = self.is_read
        self.is_closed = True


class EndedChild:
    """A child whose end is known only once it is waited for."""

    pid = 1
    exitcode: int | None = None

    def start(self) -> None: ...

    def kill(self) -> None: ...

    def join(self, timeout: float | None = None) -> None:
        self.exitcode = 0


def test_the_pipe_is_not_closed_while_a_thread_waits_for_a_message() -> None:
    process = PipedProcess(lambda _far_end, _log_path: EndedChild(), log_name="test")
    process._connection.close()
    process._far_end.close()
    connection = ReadConnection()
    process._connection = connection  # type: ignore[assignment]

    def wait_for_messages() -> None:
        with contextlib.suppress(EOFError, OSError):
            process.receive()

    thread = threading.Thread(target=wait_for_messages)
    thread.start()
    assert connection.reading.wait(60)
    process.wait_exit()
    thread.join(60)
    assert connection.is_closed
    assert not connection.was_closed_while_read


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
