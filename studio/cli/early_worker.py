"""A worker process that starts before the command line is imported, so that both import in parallel."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from studio.worker.process import Worker, WorkerProcess

# Commands that need a worker at once, unless another computer runs the model.
_SPEAKING = ("say", "convert")
_OPTIONS_WITHOUT_WORKER = ("--server", "--help", "-h", "--dry-run")


def worker_starter(words: Sequence[str]) -> Callable[[], Worker]:
    """Start a worker at once if the command ``words`` synthesises speech. The first call of the result returns it."""
    needs_none = any(word.partition("=")[0] in _OPTIONS_WITHOUT_WORKER for word in words)
    if not words or words[0] not in _SPEAKING or needs_none:
        return WorkerProcess
    started = [WorkerProcess()]
    try:
        started[0].start()
    except OSError:  # reported when the worker is needed
        return WorkerProcess
    return lambda: started.pop() if started else WorkerProcess()
