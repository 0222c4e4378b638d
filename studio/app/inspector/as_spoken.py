"""What the model will really read: the text with numbers and signs in words, worked out beside the window's thread."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal

from studio.errors import StudioError

Run = Callable[[Coroutine[Any, Any, Any]], asyncio.Task[Any]]

_PATIENCE_MILLISECONDS = 300
# How many letters a token has, about: enough to split sentences as the model's tokenizer would.
_LETTERS_A_TOKEN = 4


class AsSpoken(QObject):
    """``show`` asks, ``ready`` answers, for the last text only."""

    ready = Signal(str)

    def __init__(self, run: Run, parent: QObject | None = None) -> None:
        """``run`` lets work go on beside the window (``WorkerBridge.run``)."""
        super().__init__(parent)
        self._run = run
        self._folder: Path | None = None
        self._wanted = ""
        self._working: asyncio.Task[None] | None = None
        self._patience = QTimer(self)
        self._patience.setSingleShot(True)
        self._patience.setInterval(_PATIENCE_MILLISECONDS)
        self._patience.timeout.connect(self._begin)

    def use_model(self, folder: Path) -> None:
        self._folder = folder

    def show(self, text: str) -> None:
        """Answers a moment after the last key."""
        self._wanted = text
        self._patience.start()

    def _begin(self) -> None:
        if self._working is None:
            self._working = self._run(self._work())
            self._working.add_done_callback(lambda _: setattr(self, "_working", None))

    async def _work(self) -> None:
        while True:
            text, folder = self._wanted, self._folder
            words = await asyncio.to_thread(_spoken, text, folder) if text.strip() and folder else ""
            if text == self._wanted:
                self.ready.emit(words)
                return


def _spoken(text: str, folder: Path) -> str:
    from studio.model.recognition import recognise  # noqa: PLC0415 - after the first paint
    from studio.text.prepare import Sentence, prepare_text  # noqa: PLC0415

    try:
        generation, _ = recognise(folder)
        items = prepare_text(text, form=generation.text, tokenizer=_RoughEncoder())
    except StudioError as error:
        return str(error)
    return "".join(item.spoken if isinstance(item, Sentence) else item.written for item in items).strip()


class _AnyTag(dict[str, int]):
    def __missing__(self, tag: str) -> int:
        return 0


class _RoughEncoder:
    """Counts letters: a preview need not load a hundred thousand tokens."""

    def __init__(self) -> None:
        self.special_ids: dict[str, int] = _AnyTag()

    def encode(self, text: str, *, allow_special: bool) -> tuple[int, ...]:  # noqa: ARG002 - as the real one
        return tuple(range(len(text) // _LETTERS_A_TOKEN + 1))
