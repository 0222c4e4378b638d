"""The Ray Serve application: the ingress with the HTTP service, and the replicas with the workers."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable
from pathlib import Path
from typing import Any

import ray
from ray import serve
from ray.exceptions import RayActorError, RayError, RayTaskError
from ray.serve._private import replica as ray_replica
from ray.serve.exceptions import BackPressureError, RayServeException, ReplicaUnavailableError
from starlette.types import ASGIApp

from studio.catalog.built_in_speakers import open_voice_library
from studio.cluster.backend import ClusterBackend
from studio.cluster.options import ClusterOptions, require_authentication
from studio.cluster.replica import Replica
from studio.cluster.sent_requests import SentFile, SentRequest
from studio.cluster.service import ClusterService
from studio.errors import InternalError, StudioError, TooManyRequests, WorkerDied
from studio.pipeline.request import EngineDescription, VoiceReference
from studio.provenance.signing import chosen_signing
from studio.serve.application import create_application
from studio.serve.service import ServiceOptions
from studio.settings import MARKS_FILES
from studio.settings_store import Settings
from studio.text.arriving import Fragment
from studio.worker.client import WorkerClient
from studio.worker.process import ENGINE, WorkerProcess
from studio.worker.protocol import Event

_log = logging.getLogger(__name__)

INGRESS, REPLICA = "speech", "worker"
# The resource that Ray gives to the head node only.
_HEAD_NODE = "node:__internal_head__"
_SHUTDOWN_SECONDS = 30
_HEALTH_CHECK_SECONDS = 1
_UPSCALE_SECONDS = 5
# Replicas that are not needed end after this time, because it takes long to load a model again.
_DOWNSCALE_SECONDS = 600.0
# Calls that wait in Ray while replicas start. The queue of the service comes first.
_WAITING_CALLS_PER_LINE = 2


def application(options: ClusterOptions | dict[str, Any]) -> Any:
    """Return the application of Ray Serve. Raise ``CannotServe`` and ``ModelNotFound``.

    Ray passes the ``args`` of its deployment file as a dict. It converts them only for functions whose annotations are
    classes, and here they are strings.
    """
    return build_application(ClusterOptions.model_validate(options), ENGINE)


def build_application(options: ClusterOptions, engine: str, *, downscale_seconds: float = _DOWNSCALE_SECONDS) -> Any:
    """Return the application with a different model from the one in ``options``: see ``WorkerProcess``."""
    require_authentication()
    options.require_token()
    options.model_folder()
    # Paths of requests contain names of voices.
    logging_config = {"enable_access_log": False}
    replicas = serve.deployment(
        SpeechReplica,
        name=REPLICA,
        ray_actor_options=options.resources,
        max_ongoing_requests=options.lines,
        max_queued_requests=_WAITING_CALLS_PER_LINE * options.num_lines,
        autoscaling_config={
            "min_replicas": options.fewest_replicas,
            "max_replicas": options.most_replicas,
            "target_ongoing_requests": options.lines,
            "upscale_delay_s": _UPSCALE_SECONDS,
            "downscale_delay_s": downscale_seconds,
        },
        health_check_period_s=_HEALTH_CHECK_SECONDS,
        graceful_shutdown_timeout_s=_SHUTDOWN_SECONDS,
        logging_config=logging_config,
    )
    ingress = serve.deployment(
        serve.ingress()(SpeechIngress),
        name=INGRESS,
        # The loss of another node must not end the connections of clients.
        ray_actor_options={"num_cpus": 0, "resources": {_HEAD_NODE: 0.001}},
        # The queue of the service is the limit.
        max_ongoing_requests=1_000_000,
        health_check_period_s=_HEALTH_CHECK_SECONDS,
        graceful_shutdown_timeout_s=_SHUTDOWN_SECONDS,
        logging_config=logging_config,
    )
    return ingress.bind(replicas.bind(options, engine), options)


def _listen_on_node_address() -> None:
    """Make the server for calls from other nodes listen on the address of this node. Call it before the server starts.

    WORKAROUND: Ray starts it on all interfaces, without an option (ray/serve/_private/replica.py, "[::]:0").
    """
    add_port = ray_replica.add_port_to_grpc_server
    # The address that Ray tells other nodes.
    host = ray.util.get_node_ip_address()
    address = f"[{host}]:0" if ":" in host else f"{host}:0"
    ray_replica.add_port_to_grpc_server = lambda server, _address: add_port(server, address)


class SpeechReplica:
    """A deployment of Ray Serve with one worker. ``engine`` names the function that opens its model there."""

    async def __init__(self, options: ClusterOptions, engine: str) -> None:  # type: ignore[misc] # Ray awaits it
        _listen_on_node_address()
        folder = options.model_folder()
        client = WorkerClient(folder, options.engine, start_worker=lambda: WorkerProcess(engine))
        self._replica = Replica(client)
        self._clips: dict[str, SentFile] = {}
        voice = open_voice_library().voices()[0]
        self._description, num_voices = await self._replica.open(
            VoiceReference(voice.clip, voice.transcript, voice.name), options.quality
        )

        async def load_voice(digest: str) -> Path:
            return await self._replica.file(self._clips[digest])

        self._load_voice = serve.multiplexed(max_num_models_per_replica=num_voices)(load_voice)

    async def describe(self) -> EngineDescription:
        return self._description

    async def speak(self, sent: SentRequest) -> AsyncIterator[Event]:
        async for event in self._replica.stream(sent, self._voice, _fetch_text):
            yield event

    async def _voice(self, clip: SentFile) -> Path:
        """Return the path of ``clip``, and tell Ray Serve that this replica has the voice."""
        self._clips[clip.digest] = clip
        try:
            path: Path = await self._load_voice(clip.digest)
        finally:
            self._clips.pop(clip.digest, None)
        return path

    async def __del__(self) -> None:
        await self._replica.close()


async def _fetch_text(text_id: str, first: int) -> list[Fragment]:
    """Return fragments of a sentence from the ingress, of which there is one."""
    ingress = serve.get_deployment_handle(INGRESS, serve.get_replica_context().app_name)
    fragments: list[Fragment] = await ingress.fragments.remote(text_id, first)
    return fragments


class SpeechIngress:
    """A deployment of Ray Serve with the HTTP service."""

    def __init__(self, replicas: Any, options: ClusterOptions) -> None:
        _listen_on_node_address()
        self._rules = options.access_rules()
        self._replicas = RayReplicas(replicas)
        backend = ClusterBackend(self._replicas, num_lines=options.num_lines)
        self._texts = backend.texts
        service_options = ServiceOptions(
            options.model_folder(),
            options.voice,
            options.queue,
            options.quality,
            voice_names=options.voice_names,
            is_strict=options.strict_models,
            signing=chosen_signing(Settings()) if options.signs_files else None,
            is_marked=options.marks_files and Settings()[MARKS_FILES],
        )
        self._service = ClusterService(backend, service_options)
        self._loading = asyncio.get_running_loop().create_task(self._service.load())

    async def describe(self) -> EngineDescription:
        """Wait until a replica is ready, and return its description."""
        return await self._replicas.describe()

    async def fragments(self, text_id: str, first: int) -> list[Fragment]:
        """See ``ArrivingTexts.fragments``. Called by replicas."""
        return await self._texts.fragments(text_id, first)

    def __serve_build_asgi_app__(self) -> ASGIApp:
        return create_application(self._service, self._rules)

    def __del__(self) -> None:
        self._service.close()


class RayReplicas:
    """Calls to the replicas through ``handle``, a ``DeploymentHandle``. Implements ``Replicas``."""

    def __init__(self, handle: Any) -> None:
        self._handle = handle
        self._lost: set[str] = set()

    @property
    def num_lost(self) -> int:
        return len(self._lost)

    async def describe(self) -> EngineDescription:
        while True:
            try:
                description: EngineDescription = await self._handle.describe.remote()
            except (RayError, ReplicaUnavailableError) as error:
                _log.warning("a replica ended before it was described: %s", error)
            else:
                return description

    def put(self, content: bytes) -> Awaitable[bytes]:
        stored: Awaitable[bytes] = ray.put(content)
        return stored

    async def stream(self, sent: SentRequest) -> AsyncIterator[Event]:
        # Requests without a voice run anywhere.
        voice = {} if sent.clip is None else {"multiplexed_model_id": sent.clip.digest}
        handle = self._handle.options(stream=True, **voice)
        events = handle.speak.remote(sent)
        try:
            async for event in events:
                yield event
        except (RayError, RayServeException) as error:
            raise self._as_studio_error(error) from error
        finally:
            events.cancel()

    def _as_studio_error(self, error: Exception) -> StudioError:
        """Return the error of the service for an error of Ray."""
        if isinstance(error, BackPressureError):
            return TooManyRequests("The cluster is busy.", remedy="Try again in a few seconds.")
        if isinstance(error, RayTaskError):  # raised by the code of the replica, not by its loss
            _log.error("a replica failed", exc_info=error)
            return InternalError("The speech was not completed.", remedy="Try again.")
        if isinstance(error, RayActorError):
            self._lost.add(str(error.actor_id))
        _log.warning("a replica was lost: %s", error)
        return WorkerDied("A replica of the cluster was lost.", remedy="Try again.")
