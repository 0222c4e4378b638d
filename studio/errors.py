"""Errors a person may meet: a sentence that says what happened, and one that says what to do.

A ``StudioError`` is composed where the facts are and shown in one place. Every class carries a
stable ``code`` (kebab-case, never re-used) for scripts and bug reports, and the exit status the
command line ends with. Rooms declare their own subclasses here, so that this file is the one list
of everything that can go wrong. ``assert`` is for what cannot happen.
"""

from __future__ import annotations

from typing import ClassVar

from studio.wording import Message, wording

ErrorRecord = tuple[str, Message, Message]


class StudioError(Exception):
    """Something a person did, or a disk, or a device; never a bug of ours.

    The first sentence says what happened, ``remedy`` what to do about it. Both are templates in plain
    letters, with a ``{name}`` for each of the ``facts``, so that the window can say them in its own
    language (``packaging/translations.py`` finds them) and another process can hand them on:
    see :meth:`to_record` and :func:`from_record`.
    """

    code: ClassVar[str] = "studio-error"
    exit_status: ClassVar[int] = 1

    def __init_subclass__(cls, *, code: str, exit_status: int) -> None:
        assert code not in type_of_code, f"two errors share the code {code}"
        cls.code, cls.exit_status = code, exit_status
        type_of_code[code] = cls

    def __init__(self, sentence: str | Message, *, remedy: str | Message = "", **facts: object) -> None:
        self.sentence = sentence if isinstance(sentence, Message) else wording(sentence, **facts)
        self.advice = remedy if isinstance(remedy, Message) else wording(remedy, **facts)
        super().__init__(self.message)

    @property
    def message(self) -> str:
        return str(self.sentence)

    @property
    def remedy(self) -> str:
        return str(self.advice)

    @property
    def wording(self) -> Message:
        """Both sentences."""
        if not self.advice.template:
            return self.sentence
        return Message("{sentence} {remedy}", {"sentence": self.sentence, "remedy": self.advice})

    def __str__(self) -> str:
        return str(self.wording)

    def to_record(self) -> ErrorRecord:
        return (self.code, self.sentence, self.advice)


type_of_code: dict[str, type[StudioError]] = {}


def from_record(record: ErrorRecord) -> StudioError:
    """The error another process described; of the same class where this process knows its code."""
    code, sentence, remedy = record
    return type_of_code.get(code, StudioError)(sentence, remedy=remedy)


class ModelNotFound(StudioError, code="model-not-found", exit_status=3):
    """The named model folder does not exist or is not a model folder."""


class UnknownGeneration(StudioError, code="unknown-generation", exit_status=3):
    """The folder's yaml does not describe a generation this program speaks."""


class BadModelSettings(StudioError, code="bad-model-settings", exit_status=3):
    """The folder's yaml is missing a value, or holds an absurd one."""


class MissingModelFile(StudioError, code="missing-model-file", exit_status=3):
    """A file that the model needs is not in its folder."""


class DamagedModelFile(StudioError, code="damaged-model-file", exit_status=3):
    """A model file is truncated, is not what its name says, or carries code."""


class WrongTensors(StudioError, code="wrong-tensors", exit_status=3):
    """A weight file lacks tensors, has tensors nobody knows, or tensors of another shape."""


class UnsupportedPrecision(StudioError, code="unsupported-precision", exit_status=3):
    """The asked-for precision or engine cannot run here."""


class UnreadableClip(StudioError, code="unreadable-clip", exit_status=4):
    """A file is not sound that we can read."""


class ClipTooShort(StudioError, code="clip-too-short", exit_status=4):
    """Too little sound to learn a voice from."""


class ClipTooLong(StudioError, code="clip-too-long", exit_status=4):
    """More sound than the model takes as a prompt."""


class SilentClip(StudioError, code="silent-clip", exit_status=4):
    """The clip holds no speech: it is silent."""


class BrokenClip(StudioError, code="broken-clip", exit_status=4):
    """The clip holds numbers that are not sound (NaN, infinity)."""


class LowSampleRate(StudioError, code="low-sample-rate", exit_status=4):
    """The clip's sample rate is too low for the model."""


class NoAudioDevice(StudioError, code="no-audio-device", exit_status=5):
    """There is no sound card, or it vanished."""


class NothingToSpeak(StudioError, code="nothing-to-speak", exit_status=6):
    """The text holds nothing that can be spoken."""


class TextTooLong(StudioError, code="text-too-long", exit_status=6):
    """More text than one request may hold."""


class UnknownPreset(StudioError, code="unknown-preset", exit_status=6):
    """No style preset of that name exists for the loaded model."""


class StyleNotSupported(StudioError, code="style-not-supported", exit_status=6):
    """The loaded model does not know the asked-for style, tag or mode."""


class VoiceNotFound(StudioError, code="voice-not-found", exit_status=7):
    """No voice of that name, and no such file."""


class VoiceExists(StudioError, code="voice-exists", exit_status=7):
    """A voice of that name exists already."""


class BadVoiceFile(StudioError, code="bad-voice-file", exit_status=7):
    """A voice archive is damaged, hostile or not one of ours."""


class OffGridCut(StudioError, code="off-grid-cut", exit_status=1):
    """A chunk boundary that the exact streaming flow cannot cut at."""


class NoSpeechMade(StudioError, code="no-speech-made", exit_status=8):
    """The model ended the utterance before it said anything."""


class SequenceTooLong(StudioError, code="sequence-too-long", exit_status=8):
    """Prompt and text together exceed what the model can hold."""


class ModelOverflow(StudioError, code="model-overflow", exit_status=8):
    """A network computed something that is not a number."""


class OutOfMemory(StudioError, code="out-of-memory", exit_status=8):
    """The computer's or the GPU's memory does not suffice."""


class WorkerDied(StudioError, code="worker-died", exit_status=9):
    """The process that speaks ended unexpectedly."""


class WorkerBusy(StudioError, code="worker-busy", exit_status=9):
    """The worker does not answer in time."""


class EngineDied(StudioError, code="engine-died", exit_status=9):
    """A process in which a library runs a part of the model ended, did not start, or says nothing."""


class DiskFull(StudioError, code="disk-full", exit_status=10):
    """There is no room left on the disk."""


class CannotWrite(StudioError, code="cannot-write", exit_status=10):
    """A file or folder cannot be written."""


class InternalError(StudioError, code="internal-error", exit_status=70):
    """The one exception to "never a bug of ours": how such a bug travels between processes. The log has the rest."""


class IncompleteInstallation(StudioError, code="incomplete-installation", exit_status=70):
    """A library the program needs is missing or cannot be loaded."""


class UnreadableText(StudioError, code="unreadable-text", exit_status=6):
    """A text file cannot be opened or is not text."""


class DamagedLibrary(StudioError, code="damaged-library", exit_status=7):
    """The list of the user's voices cannot be read."""


class UnusableSetting(StudioError, code="unusable-setting", exit_status=2):
    """A setting of a request lies outside what is possible."""


class BadVoiceName(StudioError, code="bad-voice-name", exit_status=7):
    """A voice cannot be called that."""


class VoiceOfAnotherModel(StudioError, code="voice-of-another-model", exit_status=7):
    """A stored voice without a recording, made for another generation of models."""


class BadPronunciation(StudioError, code="bad-pronunciation", exit_status=6):
    """A pronunciation cannot be said with the sounds the models know."""


class UnreadableProject(StudioError, code="unreadable-project", exit_status=11):
    """A project file is missing, damaged, or not a project."""


class ProjectInUse(StudioError, code="project-in-use", exit_status=11):
    """A working copy is open in another window of the program."""


class ProjectChangedElsewhere(StudioError, code="project-changed-elsewhere", exit_status=11):
    """A project's file is no longer the one that was opened."""


class TakeNotFound(StudioError, code="take-not-found", exit_status=11):
    """A take, or its sound, is not in the project."""


class UnreadableScript(StudioError, code="unreadable-script", exit_status=6):
    """A document cannot be read as a script."""


class FolderBusy(StudioError, code="folder-busy", exit_status=10):
    """Another export is writing into the same folder."""


class NoScreen(StudioError, code="no-screen", exit_status=12):
    """The window was asked for where nothing can be shown."""


class ModelBusy(StudioError, code="model-busy", exit_status=3):
    """Another program is installing, checking or removing the same model."""


class BadModelArchive(StudioError, code="bad-model-archive", exit_status=3):
    """A model archive is damaged, hostile or holds no model."""


class BadModelName(StudioError, code="bad-model-name", exit_status=3):
    """A model cannot be called that, or another one is."""


class SourceUnreachable(StudioError, code="source-unreachable", exit_status=13):
    """The place models come from does not answer, or not any more."""


class SourceRefused(StudioError, code="source-refused", exit_status=13):
    """The place models come from does not hand out what was asked for."""


class WrongDownload(StudioError, code="wrong-download", exit_status=13):
    """What arrived is not the file that was published."""
