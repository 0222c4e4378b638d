"""Options of a cluster: the ``args`` of Ray Serve's deployment file, which are sent to all nodes."""

from __future__ import annotations

import os
from pathlib import Path

from pydantic import BaseModel, ConfigDict, PositiveInt

from studio.catalog.installed import DEFAULT_MODEL, installed_models, model_not_found
from studio.errors import CannotServe
from studio.model.options import Quality
from studio.pipeline.request import EngineOptions
from studio.serve.access import AccessRules
from studio.serve.running import Address, access_rules
from studio.serve.service import DEFAULT_QUEUE
from studio.storage.token_file import read_token

_AUTHENTICATION_VARIABLE = "RAY_AUTH_MODE"
_TOKEN_VARIABLE, _TOKEN_PATH_VARIABLE = "RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH"


class ClusterOptions(BaseModel):
    """Options of a cluster.

    Attributes:
        model: A model folder that exists on every node, or the name of a model that is installed on every node.
        voice: Voice for requests that specify none.
        quality: Quality of requests that specify none.
        voice_names: Voices by the names that clients send.
        strict_models: Refuse requests for other model names.
        signs_files: Sign whole files, as the settings of the head node say.
        marks_files: Add the imperceptible mark to whole files, as the settings of the head node say.
        engine: Options of every worker.
        fewest_replicas, most_replicas: Limits of the number of workers.
        lines: Lines that one worker runs at once.
        cores, gpus: Resources of one worker. By default one GPU, or two cores if ``engine`` uses the CPU.
        queue: Length of the queue of requests.
        host: Address on which the service listens. Addresses other than this computer's need ``token_file``.
        token_file: File on the head node with the token of the service.
        allowed_hosts, allowed_origins: As in ``Address``.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str = DEFAULT_MODEL
    voice: str = ""
    quality: Quality = Quality.EXACT
    voice_names: dict[str, str] = {}
    strict_models: bool = False
    signs_files: bool = True
    marks_files: bool = True
    engine: EngineOptions = EngineOptions()
    fewest_replicas: PositiveInt = 1
    most_replicas: PositiveInt = 1
    lines: PositiveInt = 1
    cores: float | None = None
    gpus: float | None = None
    queue: PositiveInt = DEFAULT_QUEUE
    host: str = "0.0.0.0"  # noqa: S104 - the address of a RayService is not known here, so a token is required
    token_file: Path | None = None
    allowed_hosts: tuple[str, ...] = ()
    allowed_origins: tuple[str, ...] = ()

    @property
    def num_lines(self) -> int:
        """The total number of lines that the replicas run at once."""
        return self.most_replicas * self.lines

    @property
    def resources(self) -> dict[str, float]:
        """Resources of one replica, as options of a Ray actor."""
        uses_gpu = self.engine.device != "cpu"
        gpus = float(uses_gpu) if self.gpus is None else self.gpus
        cores = (1.0 if uses_gpu else 2.0) if self.cores is None else self.cores
        return {"num_cpus": cores, "num_gpus": gpus}

    def require_token(self) -> None:
        """Raise ``CannotServe`` if a token is needed. Its file is not read, because only the head node has it."""
        if self.token_file is None:
            self.access_rules()

    def access_rules(self) -> AccessRules:
        """Return the rules of access. Raise ``CannotServe`` if a token is needed, or cannot be used."""
        return access_rules(
            Address(
                self.host,
                token_file=self.token_file,
                allowed_hosts=self.allowed_hosts,
                allowed_origins=self.allowed_origins,
            )
        )

    def model_folder(self) -> Path:
        """Return the folder of the model on this computer. Raise ``ModelNotFound``."""
        if Path(self.model).is_dir():
            return Path(self.model)
        folder = installed_models().get(self.model)
        if folder is None:
            raise model_not_found(self.model)
        return folder


def require_authentication() -> None:
    """Raise ``CannotServe`` unless Ray is configured to authenticate everything that connects to it.

    Raise ``UnusableSetting`` if other users can read the token.
    """
    if os.environ.get(_AUTHENTICATION_VARIABLE, "").lower() != "token":
        raise CannotServe(
            "Ray would run the code of every program that can reach its ports, because its authentication is off.",
            remedy="Run “ray get-auth-token --generate” on one computer, copy ~/.ray/auth_token to the others, and set "
            "{variable}=token on all of them.",
            variable=_AUTHENTICATION_VARIABLE,
        )
    if not os.environ.get(_TOKEN_VARIABLE):
        path = Path(os.environ.get(_TOKEN_PATH_VARIABLE) or Path.home() / ".ray" / "auth_token")
        if read_token(path) is None:
            raise CannotServe(
                "The token of Ray is missing in {path}.",
                remedy="Run “ray get-auth-token --generate”, then “chmod 600 {path}”.",
                path=path,
            )
