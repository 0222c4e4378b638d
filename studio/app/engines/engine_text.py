"""Texts about engines, their status and the progress of tuning."""

from __future__ import annotations

from datetime import UTC, datetime

from PySide6.QtCore import QCoreApplication, QLocale

from studio.app.error_text import message_text
from studio.app.translation import QT_TRANSLATE_NOOP, duration_text, join_phrases
from studio.engines.ladder import why_not
from studio.engines.overview import CandidateView, EngineStatus, StageView, Status
from studio.engines.stage import Device, Stage
from studio.engines.task import RECORDING, TIMING, VERIFYING

_DAY_SECONDS = 86_400.0

_T = QT_TRANSLATE_NOOP

_STAGES = {
    Stage.SPEECH_TOKENIZER: _T("Engines", "Speech tokenizer"),
    Stage.SPEAKER_ENCODER: _T("Engines", "Speaker encoder"),
    Stage.SPEECH_LM: _T("Engines", "Language model"),
    Stage.FLOW: _T("Engines", "Flow"),
    Stage.VOCODER: _T("Engines", "Vocoder"),
}
_TASKS = {
    Stage.SPEECH_TOKENIZER: _T("Engines", "content of a new voice, once"),
    Stage.SPEAKER_ENCODER: _T("Engines", "timbre of a new voice, once"),
    Stage.SPEECH_LM: _T("Engines", "text to speech tokens"),
    Stage.FLOW: _T("Engines", "speech tokens to spectrogram"),
    Stage.VOCODER: _T("Engines", "spectrogram to audio"),
}
_STATUSES = {
    Status.VERIFIED: _T("Engines", "Verified"),
    Status.UNTRIED: _T("Engines", "Not tested"),
    Status.TRYING: _T("Engines", "Testing"),
    Status.UNUSABLE: _T("Engines", "Not available"),
    Status.REJECTED: _T("Engines", "Rejected"),
    Status.FAILED: _T("Engines", "Failed"),
    Status.BACKED_OFF: _T("Engines", "Paused after failures"),
    Status.INSUFFICIENT_RESOURCES: _T("Engines", "Not enough memory or storage"),
    Status.BUSY: _T("Engines", "Testing in another window"),
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
    VERIFYING: _T("Engines", "Comparing with float32"),
    TIMING: _T("Engines", "Measuring speed"),
    # Phases of a build, by the text reported by the candidate.
    "Exporting the network": _T("Engines", "Exporting the network"),
    "Building the plan": _T("Engines", "Building the engine"),
    "Calibrating on speech": _T("Engines", "Calibrating on speech"),
    "Writing the weights for vLLM": _T("Engines", "Exporting weights for vLLM"),
}


def _tr(text: str) -> str:
    return QCoreApplication.translate("Engines", text)


def stage_title(stage: Stage) -> str:
    return _tr(_STAGES[stage])


def stage_task(stage: Stage) -> str:
    """Return the purpose of the stage."""
    return _tr(_TASKS[stage])


def status_text(view: CandidateView) -> str:
    if view.is_reference and view.status is Status.UNTRIED:
        return _tr(_T("Engines", "Reference"))
    return _tr(_STATUSES[view.status])


def status_icon(status: Status) -> tuple[str, str]:
    """Return the names of the icon and of its colour."""
    return _ICONS[status]


def engine_title(view: CandidateView) -> str:
    return f"{view.engine} · {view.precision}"


def device_text(device: Device) -> str:
    memory = _size(device.total_bytes)
    if device.kind.is_gpu:
        return _tr(_T("Engines", "{name}, {memory}, driver {driver}")).format(
            name=device.name, memory=memory, driver=device.driver
        )
    words = _tr(_T("Engines", "{name}, {threads} threads, {memory}; no GPU in use"))
    return words.format(name=device.name, threads=device.num_threads, memory=memory)


def speed_text(view: CandidateView) -> str:
    if view.timing is None:
        return _tr(_T("Engines", "not measured"))
    words = _tr(_T("Engines", "{seconds} s per second of audio")).format(
        seconds=figure(view.timing.seconds_per_audio_second)
    )
    if view.is_reference:
        return words
    faster = _tr(_T("Engines", "{factor}x the speed of float32"))
    return join_phrases((words, faster.format(factor=figure(view.speedup))))


def proof_text(view: CandidateView) -> str:
    """Return the measured difference from float32."""
    found = view.verification
    if view.is_reference:
        return _tr(_T("Engines", "reference"))
    if found is None:
        return _tr(_T("Engines", "used before a comparison with float32"))
    words = [_tr(_T("Engines", "differs by {error}")).format(error=f"{found.relative_error:.2%}")]
    if found.mel_distance_db is not None:
        words.append(f"{found.mel_distance_db:.2f} dB")
    if found.agreement is not None:
        words.append(_tr(_T("Engines", "{share} of tokens equal")).format(share=f"{found.agreement:.0%}"))
    return join_phrases(words)


def kept_text(view: CandidateView) -> str:
    """Return the size on disk and the age, or an empty string if they are unknown."""
    if not view.made_at:
        return ""
    made = datetime.fromisoformat(view.made_at)
    ago = _ago((datetime.now(UTC) - made).total_seconds())
    if not view.num_bytes:
        words = _tr(_T("Engines", "no build needed, measured {ago}")).format(ago=ago)
    else:
        words = _tr(_T("Engines", "{size} on disk, built {ago}")).format(size=_size(view.num_bytes), ago=ago)
    if view.was_disturbed:
        disturbed = _tr(_T("Engines", "other programs kept the computer busy; measured again later"))
        words = join_phrases([words, disturbed])
    return words


def reason_text(view: CandidateView, stage: StageView) -> str:
    """Return why this engine is not used."""
    used = stage.choice if stage.switches_at_next_line else stage.current
    words = message_text(why_not(view, used))
    return "" if words.casefold() == status_text(view).casefold() else words


def trial_text(overview: EngineStatus) -> str:
    """Return the engine that is being tested, its progress and the remaining time."""
    work = overview.work
    assert work is not None, "called only during a trial"
    tried = (view for stage in overview.stages for view in stage.candidates if view.stage is work.stage)
    titles = {view.name: engine_title(view) for view in tried}
    words = _tr(_T("Engines", "({index}/{total}) {stage}, {name}")).format(
        index=work.index,
        total=work.total,
        stage=stage_title(work.stage),
        name=titles.get(work.name, work.name),
    )
    if work.step is not None:
        words += " · " + _tr(_PHASES.get(work.step.phase, work.step.phase))
    if work.remaining_seconds is not None:
        words += " · " + _tr(_T("Engines", "about {time} left")).format(time=duration_text(work.remaining_seconds))
    return words


def panel_title(overview: EngineStatus) -> str:
    work = overview.work
    assert work is not None, "called only during a trial"
    return _tr(_T("Engines", "Optimising for {place}: {index} of {total}")).format(
        place=overview.device.name, index=work.index, total=work.total
    )


def progress_text(overview: EngineStatus) -> str:
    """Return a short text about the progress of tuning."""
    work = overview.work
    assert work is not None, "called only during a trial"
    if overview.is_paused:
        return _tr(_T("Engines", "Optimising paused"))
    return _tr(_T("Engines", "Optimising {index} of {total}")).format(index=work.index, total=work.total)


def disk_text(overview: EngineStatus) -> str:
    return _tr(_T("Engines", "{used} on disk, limit {limit}")).format(
        used=_size(overview.kept_bytes), limit=_size(overview.limit_bytes)
    )


def note_text(overview: EngineStatus) -> str:
    return "\n".join(message_text(note) for note in overview.notes)


def figure(value: float) -> str:
    """Return ``value`` with about two significant digits."""
    if value >= 10:
        return f"{value:.0f}"
    return f"{value:.2f}" if value >= 0.1 else f"{value:.2g}" if value >= 1e-4 else "< 0.0001"


def _size(num_bytes: int) -> str:
    return QLocale().formattedDataSize(num_bytes, 1 if num_bytes < 100 << 20 else 0)


def _ago(seconds: float) -> str:
    if seconds < _DAY_SECONDS:
        return _tr(_T("Engines", "today"))
    if seconds < 2 * _DAY_SECONDS:
        return _tr(_T("Engines", "yesterday"))
    return _tr(_T("Engines", "{count} days ago")).format(count=int(seconds / _DAY_SECONDS))
