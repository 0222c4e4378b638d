"""The places of this machine: its processor and its graphics cards, as torch can use them, and what is free there."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence

import psutil
import torch

from studio.engines.stage import Device, DeviceKind
from studio.errors import UnusableSetting
from studio.system.processor import cpu_name

_ASK_SECONDS = 10.0
# Left alone at a place: the desktop's own needs, and what grows while a line is spoken.
_KEPT_FREE_BYTES = {DeviceKind.CPU: 1 << 30, DeviceKind.CUDA: 512 << 20}


def processor(num_threads: int | None = None) -> Device:
    """The processor, with one thread for each physical core unless told otherwise."""
    return Device(
        kind=DeviceKind.CPU,
        name=cpu_name(),
        num_threads=num_threads or _num_cores(),
        total_bytes=psutil.virtual_memory().total,
        instructions=torch.backends.cpu.get_cpu_capability(),
    )


def graphics_cards(num_threads: int | None = None) -> tuple[Device, ...]:
    """The cards torch can use, the one with most memory first."""
    if not torch.cuda.is_available():
        return ()
    driver = _driver_version()
    cards = []
    for index in range(torch.cuda.device_count()):
        properties = torch.cuda.get_device_properties(index)
        cards.append(
            Device(
                kind=DeviceKind.CUDA,
                name=properties.name,
                num_threads=num_threads or _num_cores(),
                total_bytes=properties.total_memory,
                index=index,
                compute_capability=(properties.major, properties.minor),
                driver=driver,
            )
        )
    return tuple(sorted(cards, key=lambda card: (-card.total_bytes, card.index)))


def device_named(wish: str, *, num_threads: int | None = None) -> Device:
    """The place of ``wish``: ``cpu``, ``cuda`` (the card with most memory), ``cuda:1``, or part of a card's name.

    ``auto``: a card where there is one, else the processor. Raises ``UnusableSetting``.
    """
    cards = graphics_cards(num_threads)
    if wish == "cpu" or (wish == "auto" and not cards):
        return processor(num_threads)
    found = choose_card(wish, cards)
    if found is None:
        raise UnusableSetting(
            "There is no graphics card “{wish}” that PyTorch can use.",
            remedy="Choose one of: {places}.",
            wish=wish,
            places=", ".join(["cpu", *(f"{card.device} ({card.name})" for card in cards)]),
        )
    return found


def choose_card(wish: str, cards: Sequence[Device]) -> Device | None:
    """Of ``cards``, the best first, the one that is meant."""
    if wish in ("auto", "cuda"):
        return cards[0] if cards else None
    by_device = {card.device: card for card in cards}
    if wish in by_device:
        return by_device[wish]
    return next((card for card in cards if wish.casefold() in card.name.casefold()), None)


def free_bytes(place: Device) -> int:
    """What is free at ``place`` now, whoever has the rest."""
    if place.kind is DeviceKind.CPU:
        return int(psutil.virtual_memory().available)
    return int(torch.cuda.mem_get_info(place.index)[0])


def empty_cache(device: str) -> None:
    """What torch keeps of a card's memory for later goes back, to be free for other libraries and programs.

    Not while a thread computes there.
    """
    if torch.device(device).type == "cuda":
        torch._C._cuda_clearCublasWorkspaces()
        torch.cuda.empty_cache()


def budget_bytes(place: Device) -> int:
    """What an engine may take now: what is free, less what must stay so."""
    return max(0, free_bytes(place) - _KEPT_FREE_BYTES[place.kind])


def _num_cores() -> int:
    """Virtual machines may not tell which of their processors share a core."""
    return psutil.cpu_count(logical=False) or psutil.cpu_count() or 1


def _driver_version() -> str:
    """The driver's version as NVIDIA counts it; where its tool is missing, the CUDA version torch was made for."""
    tool = shutil.which("nvidia-smi")
    if tool:
        try:
            asked = subprocess.run(  # noqa: S603 - a fixed question
                [tool, "--query-gpu=driver_version", "--format=csv,noheader"],
                capture_output=True,
                text=True,
                timeout=_ASK_SECONDS,
                check=True,
            )
            return asked.stdout.splitlines()[0].strip()
        except (OSError, subprocess.SubprocessError, IndexError):
            pass
    return f"cuda-{torch.version.cuda}"
