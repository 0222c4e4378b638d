"""The Ray node of this computer: a child process that is started, found again and ended. Does not import Ray."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import psutil

from studio import paths
from studio.cluster.options import require_authentication
from studio.errors import CannotServe
from studio.storage.atomic_file import atomic_path
from studio.storage.json_input import read_json
from studio.system.child_process import new_log_path

DEFAULT_RAY_PORT = 6379
_START_SECONDS = 180.0
# A head node that is being started may not answer for this long.
_HEAD_SECONDS = 10.0
# A node of a busy computer may miss the 30 seconds in which Ray expects it.
_JOIN_ATTEMPTS = 3
# A node that leaves the cluster lets its workers finish their lines for this long.
_DRAIN_SECONDS = 30
_STOP_SECONDS = _DRAIN_SECONDS + 15.0
_POLL_SECONDS = 0.2
# Ray's settings for all of its processes on a node. Environment variables take precedence.
RAY_ENVIRONMENT = {
    # Ray starts the processes of replicas at a priority of 15, at which speech waits for all other programs.
    "RAY_worker_niceness": "0",
    # Ray notices the end of a node after two seconds, and a computer that does not answer after eleven. With Ray's
    # defaults it takes 15 seconds or more, and lines wait for it before they are spoken again.
    "RAY_health_check_period_ms": "1000",
    "RAY_health_check_timeout_ms": "3000",
    "RAY_health_check_failure_threshold": "3",
    # Chunks pass through one thread of each process and, between the service and Ray's HTTP proxy, not through its object
    # store: 3.5 ms instead of 5.3. Without the last value, no answer could contain more than 4 MiB at once.
    "RAY_SERVE_RUN_USER_CODE_IN_SEPARATE_THREAD": "0",
    "RAY_SERVE_RUN_ROUTER_IN_SEPARATE_LOOP": "0",
    "RAY_SERVE_PROXY_USE_GRPC": "1",
    # On a busy computer, the HTTP proxy takes longer than five seconds to start and is replaced before it runs.
    "RAY_SERVE_PROXY_READY_CHECK_TIMEOUT_S": "60",
    "RAY_SERVE_REPLICA_GRPC_MAX_MESSAGE_LENGTH": str(2**31 - 1),
}
# Ray's switch for clusters of several computers, which are experimental on Windows and macOS.
_SEVERAL_COMPUTERS = "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"
# What `ray start` prints once the node runs.
_STARTED = "Ray runtime started."


@dataclass(frozen=True, slots=True)
class Node:
    """A Ray node of this computer.

    Attributes:
        pid, created: The process that ends all others of the node, and its start time.
        address: Host and port of the head node, for other nodes.
        url: URL of the service, empty on nodes other than the head.
        is_private: Whether Ray listens on this computer only. See :func:`keep_private`.
    """

    pid: int
    created: float
    address: str
    url: str = ""
    is_private: bool = False


def keep_private() -> None:
    """Make Ray listen on 127.0.0.1 only, in this process and its children. Call it before Ray is imported.

    Ray replaces 127.0.0.1 by an address of the network unless clusters of several computers are switched off.
    """
    os.environ[_SEVERAL_COMPUTERS] = "0"


def start_node(
    *,
    join: str | None,
    port: int = DEFAULT_RAY_PORT,
    host: str | None = None,
    cores: int | None = None,
    gpus: int | None = None,
) -> Node:
    """Start a head node on ``port``, or a node that joins the head node ``join``. Return when it runs.

    ``host`` is the address of this computer for other nodes. 127.0.0.1 needs :func:`keep_private`.
    ``cores`` and ``gpus`` are what Ray may use of this computer; by default all. Raise ``CannotServe``, for example if the
    head node does not answer, and ``UnusableSetting`` if other users can read the token of Ray.
    """
    require_authentication()
    if (running := running_node()) is not None:
        raise CannotServe(
            "A node of the cluster {address} runs on this computer already.",
            remedy="End it with “timbre cluster stop”.",
            address=running.address,
        )
    command = [sys.executable, "-m", "studio.cluster.ray_start", "start", "--block", "--disable-usage-stats"]
    if join is None:
        # The monitor would start computers of a cloud.
        command += ["--head", f"--port={port}", "--include-dashboard=false", "--no-monitor"]
    else:
        require_head(join)
        command += [f"--address={join}"]
    command += [f"--node-ip-address={host}"] if host is not None else []
    command += [f"--num-cpus={cores}"] if cores is not None else []
    command += [f"--num-gpus={gpus}"] if gpus is not None else []
    address = join or f"{host or '127.0.0.1'}:{port}"
    for attempts_left in reversed(range(1 if join is None else _JOIN_ATTEMPTS)):
        try:
            node = _start(command, address, is_head=join is None)
        except CannotServe:
            if not attempts_left:
                raise
        else:
            break
    remember(node)
    return node


def _start(command: list[str], address: str, *, is_head: bool) -> Node:
    log_path = new_log_path("cluster")
    with log_path.open("wb") as log:
        process = subprocess.Popen(  # noqa: S603 - the arguments are numbers and the address of the head node
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=RAY_ENVIRONMENT | os.environ | _environment(is_head=is_head),
            start_new_session=True,
        )
    is_private = os.environ.get(_SEVERAL_COMPUTERS) == "0"
    node = Node(process.pid, psutil.Process(process.pid).create_time(), address, is_private=is_private)
    try:
        _wait_until_started(process, log_path)
    except BaseException:
        _end(node, _STOP_SECONDS)
        raise
    return node


def require_head(address: str) -> None:
    """Raise ``CannotServe`` unless something answers at ``address``. Ray would try to connect forever."""
    host, _, port = address.rpartition(":")
    deadline = time.monotonic() + _HEAD_SECONDS
    while True:
        try:
            socket.create_connection((host.strip("[]"), int(port)), timeout=_HEAD_SECONDS).close()
        except (OSError, ValueError) as error:
            if isinstance(error, ValueError) or time.monotonic() >= deadline:
                raise CannotServe(
                    "The head node {address} does not answer ({reason}).",
                    remedy="Check the address and its firewall, or start the cluster there with “timbre cluster start”.",
                    address=address,
                    reason=error,
                ) from error
            time.sleep(_POLL_SECONDS)
        else:
            return


def remember(node: Node) -> None:
    """Store ``node``, so that other commands find it."""
    path = _state_path()
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_path(path) as part:
        part.write_text(json.dumps(asdict(node)), "utf-8")


def running_node() -> Node | None:
    """Return the node of this computer, or None if none runs."""
    try:
        values = read_json(_state_path())
        node = Node(
            int(values["pid"]),
            float(values["created"]),
            str(values["address"]),
            str(values["url"]),
            bool(values.get("is_private")),
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return node if _process(node) is not None else None


def stop_node(node: Node, *, grace_seconds: float = _STOP_SECONDS) -> None:
    """End all processes of ``node``, and kill those that still run after ``grace_seconds``."""
    _end(node, grace_seconds)
    _state_path().unlink(missing_ok=True)


def _environment(*, is_head: bool) -> dict[str, str]:
    drain_seconds = 0 if is_head else _DRAIN_SECONDS  # the service has ended before its head node
    return {"RAY_USAGE_STATS_ENABLED": "0", "RAY_GRACEFUL_SHUTDOWN_DRAIN_TIMEOUT_S": str(drain_seconds)}


def _wait_until_started(process: subprocess.Popen[bytes], log_path: Path) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while _STARTED not in log_path.read_text("utf-8", "replace"):
        if process.poll() is not None or time.monotonic() > deadline:
            raise CannotServe("Ray did not start on this computer.", remedy="The reason is in {path}.", path=log_path)
        time.sleep(_POLL_SECONDS)


def _process(node: Node) -> psutil.Process | None:
    with contextlib.suppress(psutil.NoSuchProcess):
        process = psutil.Process(node.pid)
        if process.create_time() == node.created and process.status() != psutil.STATUS_ZOMBIE:
            return process
    return None


def _end(node: Node, grace_seconds: float) -> None:
    process = _process(node)
    if process is None:
        return
    family = [process, *process.children(recursive=True)]
    process.terminate()  # `ray start --block` ends the others
    _, alive = psutil.wait_procs(family, grace_seconds)
    for each in alive:
        with contextlib.suppress(psutil.NoSuchProcess):
            each.kill()
    psutil.wait_procs(alive, grace_seconds)


def _state_path() -> Path:
    return paths.data_folder() / "cluster.json"
