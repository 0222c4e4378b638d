"""Engines, their standing and their progress in the words of the window."""

from __future__ import annotations

from datetime import UTC, datetime

from PySide6.QtCore import QCoreApplication, QLocale

from studio.app.error_text import words_of
from studio.app.translation import QT_TRANSLATE_NOOP
from studio.engines.ladder import why_not
from studio.engines.overview import CandidateView, EngineStatus, StageView, Status
from studio.engines.stage import Device, Stage
from studio.engines.task import RECORDING, TIMING, VERIFYING

_MINUTE = 60.0
_HOUR = 3600.0
_DAY = 86_400.0

_T = QT_TRANSLATE_NOOP

_STAGES = {
    Stage.SPEECH_TOKENIZER: _T("Engines", "Speech tokenizer"),
    Stage.SPEAKER_ENCODER: _T("Engines", "Speaker encoder"),
    Stage.SPEECH_LM: _T("Engines", "Language model"),
    Stage.FLOW: _T("Engines", "Flow"),
    Stage.VOCODER: _T("Engines", "Vocoder"),
}
_TASKS = {
    Stage.SPEECH_TOKENIZER: _T("Engines", "hears the words of a new voice, once"),
    Stage.SPEAKER_ENCODER: _T("Engines", "hears the timbre of a new voice, once"),
    Stage.SPEECH_LM: _T("Engines", "decides how the text is said"),
    Stage.FLOW: _T("Engines", "paints the spectrogram in the voice"),
    Stage.VOCODER: _T("Engines", "turns the spectrogram into sound"),
}
_STANDINGS = {
    Status.VERIFIED: _T("Engines", "Proven"),
    Status.UNTRIED: _T("Engines", "Not tried yet"),
    Status.TRYING: _T("Engines", "Being tried"),
    Status.UNUSABLE: _T("Engines", "Not usable here"),
    Status.REJECTED: _T("Engines", "Refused"),
    Status.FAILED: _T("Engines", "Failed"),
    Status.BACKED_OFF: _T("Engines", "Rests"),
    Status.INSUFFICIENT_RESOURCES: _T("Engines", "No room now"),
    Status.BUSY: _T("Engines", "Tried by another window"),
}
_ICONS = {
    Status.VERIFIED: ("state-ready", "good"),
    Status.UNTRIED: ("state-draft", "quiet"),
    Status.TRYING: ("state-speaking", "busy"),
    Status.UNUSABLE: ("lock", "quiet"),
    Status.REJECTED: ("state-failed", "bad"),
    Status.FAILED: ("warning", "warn"),
    Status.BACKED_OFF: ("pause", "warn"),
    Status.INSUFFICIENT_RESOURCES: ("warning", "warn"),
    Status.BUSY: ("state-queued", "busy"),
}
_PHASES = {
    RECORDING: _T("Engines", "Recording the float32 reference"),
    VERIFYING: _T("Engines", "Comparing with plain float32"),
    TIMING: _T("Engines", "Measuring the speed"),
    # Of builds, as the candidates call them.
    "Exporting the network": _T("Engines", "Exporting the network"),
    "Building the plan": _T("Engines", "Building the plan"),
    "Calibrating on speech": _T("Engines", "Calibrating on speech"),
    "Writing the weights for vLLM": _T("Engines", "Writing the weights for vLLM"),
}


def _said(text: str) -> str:
    return QCoreApplication.translate("Engines", text)


def stage_title(stage: Stage) -> str:
    return _said(_STAGES[stage])


def stage_task(stage: Stage) -> str:
    """What the stage is for."""
    return _said(_TASKS[stage])


def status_text(status: Status) -> str:
    return _said(_STANDINGS[status])


def status_icon(status: Status) -> tuple[str, str]:
    """The icon's name, and which of the tones it is drawn in."""
    return _ICONS[status]


def engine_title(view: CandidateView) -> str:
    return f"{view.engine} · {view.precision}"


def device_text(place: Device) -> str:
    memory = _size(place.total_bytes)
    if place.kind.is_gpu:
        return _said(_T("Engines", "{name}, {memory}, driver {driver}")).format(
            name=place.name, memory=memory, driver=place.driver
        )
    words = _said(_T("Engines", "{name}, {threads} threads, {memory}; no graphics card is used"))
    return words.format(name=place.name, threads=place.num_threads, memory=memory)


def speed_text(view: CandidateView) -> str:
    if view.timing is None:
        return _said(_T("Engines", "not measured yet"))
    words = _said(_T("Engines", "{seconds} s for a second of sound")).format(
        seconds=figure(view.timing.seconds_per_audio_second)
    )
    if view.is_reference:
        return words
    faster = _said(_T("Engines", "{factor} times as fast as plain float32"))
    return words + ", " + faster.format(factor=figure(view.speedup))


def proof_text(view: CandidateView) -> str:
    """How far from plain float32 it was found."""
    found = view.verification
    if view.is_reference:
        return _said(_T("Engines", "this is what the others are held to"))
    if found is None:
        return _said(_T("Engines", "not compared yet"))
    words = [_said(_T("Engines", "differs by {error}")).format(error=f"{found.relative_error:.2%}")]
    if found.mel_distance_db is not None:
        words.append(f"{found.mel_distance_db:.2f} dB")
    if found.agreement is not None:
        words.append(_said(_T("Engines", "{share} of choices alike")).format(share=f"{found.agreement:.0%}"))
    return ", ".join(words)


def kept_text(view: CandidateView) -> str:
    """Size on the disk and age; empty where nothing is known."""
    if not view.made_at:
        return ""
    made = datetime.fromisoformat(view.made_at)
    ago = _ago((datetime.now(UTC) - made).total_seconds())
    if not view.num_bytes:
        return _said(_T("Engines", "nothing to build; measured {ago}")).format(ago=ago)
    return _said(_T("Engines", "{size} on the disk, built {ago}")).format(size=_size(view.num_bytes), ago=ago)


def reason_text(view: CandidateView, stage: StageView) -> str:
    """Why it is not this one that speaks, or is about to."""
    return words_of(why_not(view, stage.choice if stage.switches_at_next_line else stage.current))


def trial_text(overview: EngineStatus) -> str:
    """What is being tried, how far, and how long still."""
    work = overview.work
    assert work is not None, "asked for while something is tried"
    tried = (view for stage in overview.stages for view in stage.candidates if view.stage is work.stage)
    titles = {view.name: engine_title(view) for view in tried}
    words = _said(_T("Engines", "{index} of {total}: {stage}, {name}")).format(
        index=work.index,
        total=work.total,
        stage=stage_title(work.stage),
        name=titles.get(work.name, work.name),
    )
    if work.step is not None:
        words += " · " + _said(_PHASES.get(work.step.phase, work.step.phase))
    if work.remaining_seconds is not None:
        words += " · " + _said(_T("Engines", "about {time} left")).format(time=_duration(work.remaining_seconds))
    return words


def panel_title(overview: EngineStatus) -> str:
    work = overview.work
    assert work is not None, "the panel is there while something is tried"
    return _said(_T("Engines", "Looking for faster engines for {place}: {index} of {total}")).format(
        place=overview.device.name, index=work.index, total=work.total
    )


def disk_text(overview: EngineStatus) -> str:
    return _said(_T("Engines", "{used} on the disk, at most {limit}")).format(
        used=_size(overview.kept_bytes), limit=_size(overview.limit_bytes)
    )


def note_text(overview: EngineStatus) -> str:
    return "\n".join(words_of(note) for note in overview.notes)


def figure(value: float) -> str:
    """Two digits that count, whatever the size."""
    if value >= 10:
        return f"{value:.0f}"
    return f"{value:.2f}" if value >= 0.1 else f"{value:.2g}" if value >= 1e-4 else "< 0.0001"


def _size(num_bytes: int) -> str:
    return QLocale().formattedDataSize(num_bytes, 1 if num_bytes < 100 << 20 else 0)


def _duration(seconds: float) -> str:
    if seconds < 1.5 * _MINUTE:
        return _said(_T("Engines", "{count} s")).format(count=max(1, round(seconds)))
    if seconds < 1.5 * _HOUR:
        return _said(_T("Engines", "{count} min")).format(count=round(seconds / _MINUTE))
    return _said(_T("Engines", "{count} h")).format(count=round(seconds / _HOUR))


def _ago(seconds: float) -> str:
    if seconds < _DAY:
        return _said(_T("Engines", "today"))
    if seconds < 2 * _DAY:
        return _said(_T("Engines", "yesterday"))
    return _said(_T("Engines", "{count} days ago")).format(count=int(seconds / _DAY))
