"""Messages on standard error, with a changing progress line below them."""

from __future__ import annotations

import sys
import threading
import time
from typing import TextIO

from studio.messages import printable

_REDRAW_SECONDS = 0.1
_WORDS = {
    "load": "loading the model",
    "voice": "preparing the voice",
    "speech": "speaking",
    "save": "saving the voice",
    "precision": "choosing the fastest precision, once for this model, for less than a minute",
    "quality": "measuring the quality, once for this model",
}
_is_quiet = False  # --quiet
_ERASE_LINE = "\r\x1b[K"


def be_quiet(*, is_quiet: bool) -> None:
    """Set whether only errors are printed."""
    global _is_quiet  # noqa: PLW0603 - an option of the whole process
    _is_quiet = is_quiet


class ProgressLine:
    """The changing last line of a terminal. Not shown if standard error is a pipe or a file, nor with --quiet."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._is_shown = self._stream.isatty() and not _is_quiet
        self._line = ""
        self._drawn = 0.0
        self._lock = threading.RLock()  # audio is reported from the connection's reading thread

    def stage(self, stage: str, share: float) -> None:
        """Show that ``share`` (0..1) of ``stage`` is done."""
        words = _WORDS.get(stage, stage)
        self.show(f"{words} {share:.0%}" if share else f"{words} …")

    def spoken(self, audio_seconds: float, sentence: int, num_sentences: int) -> None:
        of_sentences = f", sentence {sentence} of {num_sentences}" if num_sentences > 1 else ""
        self.show(f"{audio_seconds:.1f} s of speech{of_sentences}")

    def show(self, line: str) -> None:
        with self._lock:
            now = time.monotonic()
            if not self._is_shown or (self._line and now - self._drawn < _REDRAW_SECONDS):
                return
            self._line, self._drawn = line, now
            self._write(f"{_ERASE_LINE}{printable(line)}")

    def say(self, sentence: str) -> None:
        """Print a message above the changing line, even if standard error is a pipe or a file."""
        if _is_quiet:
            return
        with self._lock:
            self.clear()
            self._write(f"{printable(sentence)}\n")

    def clear(self) -> None:
        with self._lock:
            if self._line:
                self._line = ""
                self._write(_ERASE_LINE)

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()


def print_message(message: str, *, is_error: bool = False) -> None:
    """Print ``message`` on standard error; with --quiet, only if it is an error."""
    if is_error or not _is_quiet:
        print(printable(message), file=sys.stderr)


def duration_text(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02} min"
