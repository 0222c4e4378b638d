"""Preview of the text that the model reads, after the dictionary and text normalization are applied."""

from __future__ import annotations

import asyncio
import re

from PySide6.QtCore import QCoreApplication, QObject, QTimer, Signal

from studio.app.bridge import Engine, EngineState, WorkerBridge
from studio.app.translation import QT_TRANSLATE_NOOP
from studio.errors import StudioError
from studio.project.dictionary import PronunciationDictionary
from studio.project.lines import Line
from studio.project.requests import request_text

_DEBOUNCE_MILLISECONDS = 300
_TAG = re.compile(r"\[[^\]]*\]|<[^>]*>")  # style tags, which are not in the language of the text
# Scripts and the languages that use them. No model supports the scripts without a language.
_SCRIPTS: tuple[tuple[re.Pattern[str], frozenset[str]], ...] = (
    (re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]"), frozenset({"zh", "yue", "ja"})),
    (re.compile(r"[\u3040-\u30ff]"), frozenset({"ja"})),
    (re.compile(r"[\u1100-\u11ff\u3130-\u318f\uac00-\ud7af]"), frozenset({"ko"})),
    (re.compile(r"[\u0400-\u052f]"), frozenset({"ru"})),
    (re.compile(r"[\u0590-\u08ff\u0900-\u0e7f]"), frozenset()),
)
_UNSUPPORTED = QT_TRANSLATE_NOOP(
    "KnownWriting", "{model} supports {languages} only. Text in other languages becomes unintelligible."
)
_SUPPORTED_BY_OTHERS = QT_TRANSLATE_NOOP(
    "KnownWriting",
    "{model} supports {languages} only. Text in other languages becomes unintelligible. "
    "Other models support more languages (File › Models…).",
)


class NormalizedTextPreview(QObject):
    """Normalizes the line passed to ``show`` in the worker and emits ``ready``, but only for the latest line."""

    ready = Signal(object, str, str)  # text or StudioError, a hint, which may be empty, and the text as written

    def __init__(self, bridge: WorkerBridge, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._line: Line | None = None
        self._dictionary = PronunciationDictionary()
        self._language = ""
        self._task: asyncio.Task[None] | None = None
        self._debounce = QTimer(self, singleShot=True, interval=_DEBOUNCE_MILLISECONDS)
        self._debounce.timeout.connect(self._start)
        bridge.engine_changed.connect(self._on_engine_changed)

    def show(self, line: Line | None, dictionary: PronunciationDictionary, language: str = "") -> None:
        """Request the preview of ``line`` in a language, after a short delay for more edits."""
        self._line, self._dictionary, self._language = line, dictionary, language
        self._debounce.start()

    def stop(self) -> None:
        """Cancel the pending request, and ignore later ones. The window is closing."""
        self._debounce.blockSignals(True)
        if self._task is not None:
            self._task.cancel()

    def _on_engine_changed(self, engine: Engine) -> None:
        """Update the preview, which depends on the model. Unloading does not start a worker."""
        if engine.state is EngineState.READY:
            self._debounce.start()

    @property
    def _requested_text(self) -> str:
        engine = self._bridge.engine.description
        generation = engine.generation if engine is not None else ""
        if self._line is None or not self._line.is_spoken:
            return ""
        return request_text(self._line, self._dictionary, generation)

    def _start(self) -> None:
        if self._task is None:
            self._task = self._bridge.run(self._normalize())
            self._task.add_done_callback(self._on_finished)

    def _on_finished(self, _: object) -> None:
        self._task = None

    async def _normalize(self) -> None:
        """Normalize the requested text, and again if it changes meanwhile."""
        answer: str | StudioError = ""
        text, language = "", ""
        is_first = True
        while is_first or (text, language) != (self._requested_text, self._language):
            is_first = False
            text, language = self._requested_text, self._language
            try:
                answer = await self._bridge.spell_out(text, language) if text.strip() else ""
            except StudioError as error:
                answer = error
        engine = self._bridge.engine.description
        hint = ""
        if engine is not None and isinstance(answer, str):
            hint = unsupported_script_hint(engine.model_name, answer)
        self.ready.emit(answer, hint, text)


def mark_changes(written: str, spoken: str) -> str:
    """Return ``spoken`` as rich text in which words that differ from ``written`` are underlined."""
    if not spoken:
        return ""
    import html  # noqa: PLC0415 - after the first paint

    from studio.text.changes import find_changes  # noqa: PLC0415

    marked: list[str] = []
    position = 0
    for change in find_changes(written, spoken):
        if not change.after.strip(".。,，"):
            continue
        marked += (
            html.escape(spoken[position : change.start]),
            f"<u>{html.escape(spoken[change.start : change.end])}</u>",
        )
        position = change.end
    return "".join([*marked, html.escape(spoken[position:])]).replace("\n", "<br>")


def is_script_supported(languages: frozenset[str], text: str) -> bool:
    """Return whether a model for ``languages`` supports all scripts of ``text``.

    A model does not fail on an unsupported script: it produces unintelligible speech.
    """
    written = _TAG.sub(" ", text)
    return all(languages & known or not letters.search(written) for letters, known in _SCRIPTS)


def unsupported_script_hint(model_name: str, text: str) -> str:
    """Return a warning if the model does not support the script of ``text``; empty for unknown models."""
    from studio.app.models.model_text import language_text  # noqa: PLC0415 - after the first paint
    from studio.catalog.known import known_models  # noqa: PLC0415

    models = known_models()
    known = models.get(model_name)
    if known is None or is_script_supported(frozenset(known.languages), text):
        return ""
    is_supported_by_others = any(is_script_supported(frozenset(other.languages), text) for other in models.values())
    words = QCoreApplication.translate("KnownWriting", _SUPPORTED_BY_OTHERS if is_supported_by_others else _UNSUPPORTED)
    return words.format(model=model_name, languages=language_text(known))
