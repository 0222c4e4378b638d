"""Errors a person may meet: a sentence that says what happened, and one that says what to do.

A ``StudioError`` is composed where the facts are and shown in one place. Every class carries a
stable ``code`` (kebab-case, never re-used) for scripts and bug reports, and the exit status the
command line ends with. Rooms declare their own subclasses here, so that this file is the one list
of everything that can go wrong. ``assert`` is for what cannot happen.
"""

from __future__ import annotations

from typing import ClassVar


class StudioError(Exception):
    """Something a person did, or a disk, or a device; never a bug of ours.

    ``message`` says what happened, ``remedy`` what to do about it. Both travel between processes:
    see :meth:`to_record` and :func:`from_record`.
    """

    code: ClassVar[str] = "studio-error"
    exit_status: ClassVar[int] = 1

    def __init__(self, message: str, *, remedy: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.message} {self.remedy}".rstrip()

    def to_record(self) -> ErrorRecord:
        return (self.code, self.message, self.remedy)


type_of_code: dict[str, type[StudioError]] = {}
ErrorRecord = tuple[str, str, str]


def from_record(record: ErrorRecord) -> StudioError:
    """The error another process described; of the same class where this process knows its code."""
    code, message, remedy = record
    return type_of_code.get(code, StudioError)(message, remedy=remedy)


def _coded(cls: type[StudioError]) -> type[StudioError]:
    assert cls.code not in type_of_code, f"two errors share the code {cls.code}"
    type_of_code[cls.code] = cls
    return cls


@_coded
class ModelNotFound(StudioError):
    """The named model folder does not exist or is not a model folder."""

    code = "model-not-found"
    exit_status = 3


@_coded
class UnknownGeneration(StudioError):
    """The folder's yaml does not describe a generation this program speaks."""

    code = "unknown-generation"
    exit_status = 3


@_coded
class BadModelSettings(StudioError):
    """The folder's yaml is missing a value, or holds an absurd one."""

    code = "bad-model-settings"
    exit_status = 3


@_coded
class MissingModelFile(StudioError):
    """A file that the model needs is not in its folder."""

    code = "missing-model-file"
    exit_status = 3


@_coded
class DamagedModelFile(StudioError):
    """A model file is truncated, is not what its name says, or carries code."""

    code = "damaged-model-file"
    exit_status = 3


@_coded
class WrongTensors(StudioError):
    """A weight file lacks tensors, has tensors nobody knows, or tensors of another shape."""

    code = "wrong-tensors"
    exit_status = 3


@_coded
class UnsupportedPrecision(StudioError):
    """The asked-for precision or engine cannot run here."""

    code = "unsupported-precision"
    exit_status = 3


@_coded
class UnreadableClip(StudioError):
    """A file is not sound that we can read."""

    code = "unreadable-clip"
    exit_status = 4


@_coded
class ClipTooShort(StudioError):
    """Too little sound to learn a voice from."""

    code = "clip-too-short"
    exit_status = 4


@_coded
class ClipTooLong(StudioError):
    """More sound than the model takes as a prompt."""

    code = "clip-too-long"
    exit_status = 4


@_coded
class SilentClip(StudioError):
    """The clip holds no speech: it is silent."""

    code = "silent-clip"
    exit_status = 4


@_coded
class BrokenClip(StudioError):
    """The clip holds numbers that are not sound (NaN, infinity)."""

    code = "broken-clip"
    exit_status = 4


@_coded
class LowSampleRate(StudioError):
    """The clip's sample rate is too low for the model."""

    code = "low-sample-rate"
    exit_status = 4


@_coded
class NoAudioDevice(StudioError):
    """There is no sound card, or it vanished."""

    code = "no-audio-device"
    exit_status = 5


@_coded
class NothingToSpeak(StudioError):
    """The text holds nothing that can be spoken."""

    code = "nothing-to-speak"
    exit_status = 6


@_coded
class TextTooLong(StudioError):
    """More text than one request may hold."""

    code = "text-too-long"
    exit_status = 6


@_coded
class UnknownPreset(StudioError):
    """No style preset of that name exists for the loaded model."""

    code = "unknown-preset"
    exit_status = 6


@_coded
class StyleNotSupported(StudioError):
    """The loaded model does not know the asked-for style, tag or mode."""

    code = "style-not-supported"
    exit_status = 6


@_coded
class VoiceNotFound(StudioError):
    """No voice of that name, and no such file."""

    code = "voice-not-found"
    exit_status = 7


@_coded
class VoiceExists(StudioError):
    """A voice of that name exists already."""

    code = "voice-exists"
    exit_status = 7


@_coded
class BadVoiceFile(StudioError):
    """A voice archive is damaged, hostile or not one of ours."""

    code = "bad-voice-file"
    exit_status = 7


@_coded
class OffGridCut(StudioError):
    """A chunk boundary that the exact streaming flow cannot cut at."""

    code = "off-grid-cut"
    exit_status = 1


@_coded
class NoSpeechMade(StudioError):
    """The model ended the utterance before it said anything."""

    code = "no-speech-made"
    exit_status = 8


@_coded
class SequenceTooLong(StudioError):
    """Prompt and text together exceed what the model can hold."""

    code = "sequence-too-long"
    exit_status = 8


@_coded
class ModelOverflow(StudioError):
    """A network computed something that is not a number."""

    code = "model-overflow"
    exit_status = 8


@_coded
class OutOfMemory(StudioError):
    """The computer's or the GPU's memory does not suffice."""

    code = "out-of-memory"
    exit_status = 8


@_coded
class WorkerDied(StudioError):
    """The process that speaks ended unexpectedly."""

    code = "worker-died"
    exit_status = 9


@_coded
class WorkerBusy(StudioError):
    """The worker does not answer in time."""

    code = "worker-busy"
    exit_status = 9


@_coded
class DiskFull(StudioError):
    """There is no room left on the disk."""

    code = "disk-full"
    exit_status = 10


@_coded
class CannotWrite(StudioError):
    """A file or folder cannot be written."""

    code = "cannot-write"
    exit_status = 10


@_coded
class InternalError(StudioError):
    """The one exception to "never a bug of ours": how such a bug travels between processes. The log has the rest."""

    code = "internal-error"
    exit_status = 70


@_coded
class IncompleteInstallation(StudioError):
    """A library the program needs is missing or cannot be loaded."""

    code = "incomplete-installation"
    exit_status = 70


@_coded
class UnreadableText(StudioError):
    """A text file cannot be opened or is not text."""

    code = "unreadable-text"
    exit_status = 6


@_coded
class DamagedLibrary(StudioError):
    """The list of the user's voices cannot be read."""

    code = "damaged-library"
    exit_status = 7


@_coded
class UnusableSetting(StudioError):
    """A setting of a request lies outside what is possible."""

    code = "unusable-setting"
    exit_status = 2


@_coded
class BadVoiceName(StudioError):
    """A voice cannot be called that."""

    code = "bad-voice-name"
    exit_status = 7


@_coded
class VoiceOfAnotherModel(StudioError):
    """A stored voice without a recording, made for another generation of models."""

    code = "voice-of-another-model"
    exit_status = 7


@_coded
class BadPronunciation(StudioError):
    """A pronunciation cannot be said with the sounds the models know."""

    code = "bad-pronunciation"
    exit_status = 6


@_coded
class UnreadableProject(StudioError):
    """A project file is missing, damaged, or not a project."""

    code = "unreadable-project"
    exit_status = 11


@_coded
class ProjectInUse(StudioError):
    """A working copy is open in another window of the program."""

    code = "project-in-use"
    exit_status = 11


@_coded
class ProjectChangedElsewhere(StudioError):
    """A project's file is no longer the one that was opened."""

    code = "project-changed-elsewhere"
    exit_status = 11


@_coded
class TakeNotFound(StudioError):
    """A take, or its sound, is not in the project."""

    code = "take-not-found"
    exit_status = 11


@_coded
class UnreadableScript(StudioError):
    """A document cannot be read as a script."""

    code = "unreadable-script"
    exit_status = 6


@_coded
class FolderBusy(StudioError):
    """Another export is writing into the same folder."""

    code = "folder-busy"
    exit_status = 10


@_coded
class NoScreen(StudioError):
    """The window was asked for where nothing can be shown."""

    code = "no-screen"
    exit_status = 12
