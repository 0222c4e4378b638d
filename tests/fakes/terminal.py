"""A terminal for tests: the command line in this process, with a fake model and a fake sound device."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from fake_model import FakeModel, open_fake
from sound_card import CardOutputs, NoOutputs, SoundCard
from thread_worker import ThreadWorker

from studio.cli.command_context import CommandContext
from studio.cli.main import main
from studio.pipeline.request import EngineOptions
from studio.voices.library import VoiceLibrary


@dataclass
class Ran:
    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


class Terminal:
    """Call it with the arguments of a command. ``folder`` is its working folder; ``opened`` lists the loaded models."""

    def __init__(self, folder: Path, capture: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self.library = VoiceLibrary(folder / "data" / "voices", built_in=folder / "built-in")
        self.opened: list[FakeModel] = []
        self.card: SoundCard | None = None
        self._capture = capture
        self.command_context = CommandContext(
            start_worker=lambda: ThreadWorker(self._open_model),
            outputs=NoOutputs(SoundCard()),
            open_library=lambda: self.library,
        )

    def __call__(self, *arguments: str | Path) -> Ran:
        self._capture.readouterr()
        try:
            status = main([str(argument) for argument in arguments], command_context=self.command_context)
        except SystemExit as exit_:
            status = int(exit_.code or 0)
        out, err = self._capture.readouterr()
        return Ran(status, out, err)

    def with_sound_card(self, card: SoundCard | None = None) -> SoundCard:
        self.card = card or SoundCard()
        self.change(outputs=CardOutputs(self.card))
        return self.card

    def change(self, **changes: Any) -> None:
        self.command_context = dataclasses.replace(self.command_context, **changes)

    def files(self) -> set[str]:
        """Return the names of all files in the working folder, including hidden ones."""
        return {path.name for path in self.folder.iterdir() if path.is_file()}

    def _open_model(self, folder: Path, options: EngineOptions) -> FakeModel:
        self.opened.append(open_fake(folder, options))
        return self.opened[-1]
