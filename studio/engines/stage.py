"""The stages an engine can run, and the device it runs on. No torch: the window and the CLI import this."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from studio.model.device_kind import DeviceKind


class Stage(Enum):
    """A part of a model that one engine runs; the protocols are in ``studio/model/stages.py``.

    Decision: the flow's encoder, estimator and solver are one stage. Reason: they share caches and the chunk grid,
    and ``FlowDecoder`` is the protocol the pipeline uses. An engine may still run each with another library.
    """

    SPEECH_TOKENIZER = "speech-tokenizer"
    SPEAKER_ENCODER = "speaker-encoder"
    SPEECH_LM = "speech-lm"
    FLOW = "flow"
    VOCODER = "vocoder"


@dataclass(frozen=True, slots=True)
class Device:
    """The CPU or one GPU.

    Attributes:
        name: The manufacturer's name of the device.
        total_bytes: The size of its memory.
        index: The number of the GPU in torch.
        compute_capability: Set for GPUs only.
        driver: The full version of the driver, for GPUs only.
        instructions: The instruction set that torch uses on a CPU, such as "AVX512".
    """

    kind: DeviceKind
    name: str
    num_threads: int
    total_bytes: int
    index: int = 0
    compute_capability: tuple[int, int] | None = None
    driver: str = ""
    instructions: str = ""

    @property
    def torch_name(self) -> str:
        """The name of the device in torch: "cpu", "cuda:1"."""
        return f"{self.kind.value}:{self.index}" if self.kind.is_gpu else self.kind.value

    @property
    def identity(self) -> dict[str, str]:
        """The facts that built engines depend on. Driver updates within a branch keep engines valid."""
        if not self.kind.is_gpu:
            return {"place": self.name, "instructions": self.instructions, "threads": str(self.num_threads)}
        major, minor = self.compute_capability or (0, 0)
        return {"place": self.name, "capability": f"{major}.{minor}", "driver": self.driver.partition(".")[0]}

    @property
    def description(self) -> str:
        """The device in words, for the terminal."""
        memory = f"{self.total_bytes / 2**30:.0f} GB"
        if not self.kind.is_gpu:
            threads = "1 thread" if self.num_threads == 1 else f"{self.num_threads} threads"
            return f"{self.name}, {threads}, {memory}"
        major, minor = self.compute_capability or (0, 0)
        return f"{self.name} ({self.torch_name}, compute capability {major}.{minor}, driver {self.driver}, {memory})"
