"""Texts about models, their states and their tasks."""

from __future__ import annotations

import math
from collections.abc import Collection

from PySide6.QtCore import QCoreApplication, QLocale

from studio import paths
from studio.app.error_text import error_message, message_text
from studio.app.models.model_tasks import ModelTask, ModelTaskKind
from studio.app.translation import QT_TRANSLATE_NOOP, duration_text, join_phrases, join_sentences, with_label
from studio.catalog.installed import ModelState, ModelStatus
from studio.catalog.known import Ability, KnownModel
from studio.catalog.machine import Advice, MachineFacts, Reason, recommend_model, speed_message
from studio.catalog.progress import Phase, Progress
from studio.text.styles import load_styles

_SLOW_MEGABITS, _FAST_MEGABITS = 20, 100
_BITS_PER_MEGABIT = 1e6


_T = QT_TRANSLATE_NOOP


def _tr(text: str) -> str:
    return QCoreApplication.translate("Models", text)


_STATES = {
    ModelState.BUNDLED: _T("Models", "Included"),
    ModelState.INSTALLED: _T("Models", "Installed"),
    ModelState.DAMAGED: _T("Models", "Damaged"),
    ModelState.PARTIAL: _T("Models", "Partly downloaded"),
    ModelState.AVAILABLE: _T("Models", "Not installed"),
    ModelState.UNSUPPORTED: _T("Models", "Not supported yet"),
}
_ICONS = {
    ModelState.BUNDLED: ("state-ready", "good"),
    ModelState.INSTALLED: ("state-ready", "good"),
    ModelState.DAMAGED: ("warning", "bad"),
    ModelState.PARTIAL: ("pause", "warn"),
    ModelState.AVAILABLE: ("down", "quiet"),
    ModelState.UNSUPPORTED: ("lock", "quiet"),
}
# Every model has one of the first two abilities, which begins the line.
_ABILITIES = {
    Ability.CLONE: _T("Models", "Clones any voice"),
    Ability.STORED_VOICES: _T("Models", "Built-in voices"),
    Ability.INSTRUCT: _T("Models", "follows style instructions"),
    Ability.STREAM: _T("Models", "streams"),
    Ability.RECOGNIZE: _T("Models", "Recognises speech, to check takes"),
}
_LANGUAGES = {
    "zh": _T("Models", "Chinese"),
    "en": _T("Models", "English"),
    "ja": _T("Models", "Japanese"),
    "ko": _T("Models", "Korean"),
    "de": _T("Models", "German"),
    "es": _T("Models", "Spanish"),
    "fr": _T("Models", "French"),
    "it": _T("Models", "Italian"),
    "ru": _T("Models", "Russian"),
    "yue": _T("Models", "Cantonese"),
}
_TASKS = {
    ModelTaskKind.INSTALL: _T("Models", "Downloading {name}"),
    ModelTaskKind.CHECK: _T("Models", "Checking {name}"),
    ModelTaskKind.IMPORT: _T("Models", "Importing {name}"),
    ModelTaskKind.EXPORT: _T("Models", "Exporting {name}"),
    ModelTaskKind.REMOVE: _T("Models", "Removing {name}"),
    ModelTaskKind.DISCARD: _T("Models", "Discarding the download of {name}"),
}


def size_text(num_bytes: float) -> str:
    """Return a file size in decimal units, as model hubs show it."""
    return QLocale().formattedDataSize(round(num_bytes), 2, QLocale.DataSizeFormat.DataSizeSIFormat)


def memory_text(num_bytes: float) -> str:
    """Return a memory size in binary units."""
    return QLocale().formattedDataSize(round(num_bytes), 1, QLocale.DataSizeFormat.DataSizeTraditionalFormat)


def state_text(status: ModelStatus) -> str:
    words = _tr(_STATES[status.state])
    if status.arrived_bytes and status.state is not ModelState.UNSUPPORTED:
        downloaded = _tr(_T("Models", "{done} of {all} downloaded"))
        done, size = size_text(status.arrived_bytes), size_text(status.size_bytes)
        return join_phrases((words, downloaded.format(done=done, all=size)))
    return words


def state_icon(status: ModelStatus) -> tuple[str, str]:
    """Return the names of the icon and of its colour."""
    return _ICONS[status.state]


def language_text(known: KnownModel) -> str:
    named = [_tr(words) for code, words in _LANGUAGES.items() if code in known.languages]
    if others := len(known.languages) - len(named):
        named.append(_tr(_T("Models", "{count} other languages")).format(count=others))
    return _tr(_T("Models", ", ")).join(named)


def ability_text(known: KnownModel) -> str:
    languages = language_text(known)
    abilities = [_tr(words) for ability, words in _ABILITIES.items() if ability in known.abilities]
    if num_styles := _num_styles(known):
        abilities.append(_tr(_T("Models", "{count} preset styles")).format(count=num_styles))
    if known.num_dialects:
        dialects = _tr(_T("Models", "{count} Chinese dialects")).format(count=known.num_dialects)
        languages += _tr(_T("Models", ", ")) + dialects
    words = languages + "\n" + " · ".join(abilities)
    if known.is_demonstration:
        words += "\n" + _tr(_T("Models", "Demonstration model; the others sound far better."))
    return words


def _num_styles(known: KnownModel) -> int:
    if known.is_recognizer:
        return 0
    return len(load_styles(known.generation, paths.resources() / "models" / known.name).presets)


def recommended_model(machine: MachineFacts | None, models: Collection[KnownModel]) -> Advice | None:
    """Recommend one of ``models`` for this computer, preferably one that supports the language of the interface."""
    code = QLocale().name().partition("_")[0]
    return recommend_model(machine, [model for model in models if code in model.languages] or models)


def advice_text(advice: Advice, machine: MachineFacts, seconds_per_second: float | None = None) -> str:
    """Return why a model is recommended for this computer.

    ``seconds_per_second`` is the expected time for a second of speech on the processor, if it was measured.
    """
    if advice.reason is Reason.HAS_GPU and machine.gpu is not None:
        words = _tr(_T("Models", "Recommended for this computer: newest model, fits the {size} of {gpu}."))
        sentences = [words.format(size=memory_text(machine.gpu.memory_bytes), gpu=machine.gpu.name)]
    else:
        sentences = [_tr(_T("Models", "Recommended for this computer: smallest full-quality model for your language."))]
        if seconds_per_second is None:
            sentences.append(_tr(_T("Models", "Slow without an NVIDIA GPU.")))
        else:
            sentences.append(message_text(speed_message(seconds_per_second)))
    if advice.lacks_memory:
        words = _tr(_T("Models", "It needs more memory than the {size} of this computer."))
        sentences.append(words.format(size=memory_text(machine.memory_bytes)))
    if advice.lacks_disk:
        sentences.append(_tr(_T("Models", "There is not enough free disk space for it.")))
    return join_sentences(sentences)


def origin_text(status: ModelStatus) -> str:
    known = status.known
    parts = [size_text(status.size_bytes)]
    if known is not None:
        parts.append(_tr(_T("Models", "licence {licence}")).format(licence=known.licence))
    if status.record is not None:
        parts.append(_tr(_T("Models", "from {origin}")).format(origin=status.record.origin))
    elif known is not None and known.can_be_downloaded:
        parts.append(" / ".join(dict.fromkeys(known.repositories.values())))
    return " · ".join(parts)


def task_text(task: ModelTask) -> str:
    name = task.name or task.path.name
    words = _tr(_TASKS[task.kind]).format(name=name)
    details = progress_text(task.progress) if task.progress is not None and task.is_running else ""
    if not task.is_running:
        details = _tr(_T("Models", "queued"))
    if task.stop.is_cancelled:
        details = _tr(_T("Models", "stopping…"))
    return with_label(words, details) if details else words


def is_waiting(task: ModelTask) -> bool:
    """Return whether the download waits for another attempt, or has not begun because of its source."""
    progress = task.progress
    return (
        task.kind is ModelTaskKind.INSTALL
        and task.is_running
        and progress is not None
        and (progress.phase is Phase.WAITING or (progress.phase is Phase.LISTING and progress.error is not None))
    )


def progress_text(progress: Progress) -> str:
    """Return the number of bytes, and the speed and remaining time once they are known."""
    match progress.phase:
        case Phase.LISTING:
            if progress.error is not None and progress.source:
                words = _tr(_T("Models", "{error} Trying {source}…"))
                return words.format(error=error_message(progress.error), source=progress.source)
            return _tr(_T("Models", "requesting the file list…"))
        case Phase.WAITING:
            seconds = math.ceil(progress.wait_seconds)
            if progress.error is None:
                return _tr(_T("Models", "retrying in {seconds} s")).format(seconds=seconds)
            # The remedy is left out, because the user need not do anything yet.
            words = _tr(_T("Models", "{error} Retrying in {seconds} s."))
            return words.format(error=error_message(progress.error), seconds=seconds)
        case _:
            pass
    parts = []
    if progress.total_bytes:
        bytes_text = _tr(_T("Models", "{done} of {all}"))
        parts.append(bytes_text.format(done=size_text(progress.done_bytes), all=size_text(progress.total_bytes)))
    if progress.source and progress.phase is Phase.RECEIVING:
        parts.append(_tr(_T("Models", "from {origin}")).format(origin=progress.source))
    if progress.bytes_per_second is not None:
        speed = _tr(_T("Models", "{size}/s")).format(size=size_text(progress.bytes_per_second))
        parts.append(speed)
    if progress.remaining_seconds is not None:
        parts.append(_tr(_T("Models", "{time} left")).format(time=duration_text(progress.remaining_seconds)))
    return join_phrases(parts)


def download_text(num_bytes: int) -> str:
    """Return the size of a download and its duration at two typical speeds."""
    slow, fast = (8 * num_bytes / (rate * _BITS_PER_MEGABIT) for rate in (_SLOW_MEGABITS, _FAST_MEGABITS))
    words = _tr(_T("Models", "Download: {size} (about {fast} at {high} Mbit/s, {slow} at {low} Mbit/s)"))
    return words.format(
        size=size_text(num_bytes),
        fast=duration_text(fast),
        high=_FAST_MEGABITS,
        slow=duration_text(slow),
        low=_SLOW_MEGABITS,
    )


def file_text(progress: Progress) -> str:
    """Return the current file with its progress, or an empty string."""
    if not progress.file:
        return ""
    words = _tr(_T("Models", "{file}: {done} of {all}"))
    return words.format(
        file=progress.file, done=size_text(progress.file_bytes), all=size_text(progress.file_size_bytes)
    )
