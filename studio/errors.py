"""Every error the program reports to the user.

A ``StudioError`` is raised where the facts are known and shown in one place. Each class has a stable ``code``
(kebab-case, never reused) for scripts and bug reports, and the exit status of a command that ends with it. All classes
are declared here, so that this file lists all of them. Bugs are found with ``assert``.
"""

from __future__ import annotations

from typing import ClassVar

from studio.messages import Message, wording

ErrorRecord = tuple[str, Message, Message]


class StudioError(Exception):
    """A failure caused by input, files, devices or the network, not by a bug.

    ``problem`` is a sentence about what happened, ``remedy`` about what to do. Both are literal templates with a
    ``{name}`` for each of the ``facts``, so that ``packaging/translations.py`` finds them for translation. Records
    (:meth:`to_record`, :func:`from_record`) pass errors from one process to another.
    """

    code: ClassVar[str] = "studio-error"
    exit_status: ClassVar[int] = 1

    def __init_subclass__(cls, *, code: str, exit_status: int) -> None:
        assert code not in type_of_code, f"two errors share the code {code}"
        cls.code, cls.exit_status = code, exit_status
        type_of_code[code] = cls

    def __init__(self, problem: str | Message, *, remedy: str | Message = "", **facts: object) -> None:
        self.problem = problem if isinstance(problem, Message) else wording(problem, **facts)
        self.hint = remedy if isinstance(remedy, Message) else wording(remedy, **facts)
        super().__init__(self.message)

    @property
    def message(self) -> str:
        return str(self.problem)

    @property
    def remedy(self) -> str:
        return str(self.hint)

    @property
    def full_message(self) -> Message:
        """The problem and the hint."""
        if not self.hint.template:
            return self.problem
        return Message("{problem} {hint}", {"problem": self.problem, "hint": self.hint})

    def __str__(self) -> str:
        return str(self.full_message)

    def to_record(self) -> ErrorRecord:
        return (self.code, self.problem, self.hint)


type_of_code: dict[str, type[StudioError]] = {}


def from_record(record: ErrorRecord) -> StudioError:
    """Return the error of a record from another process. An unknown code becomes a plain ``StudioError``."""
    code, problem, remedy = record
    return type_of_code.get(code, StudioError)(problem, remedy=remedy)


class ModelNotFound(StudioError, code="model-not-found", exit_status=3):
    """The model folder does not exist or does not contain a model."""


class UnknownGeneration(StudioError, code="unknown-generation", exit_status=3):
    """The folder's yaml file does not describe a supported model generation."""


class BadModelSettings(StudioError, code="bad-model-settings", exit_status=3):
    """The folder's yaml file lacks a value or contains an invalid one."""


class MissingModelFile(StudioError, code="missing-model-file", exit_status=3):
    """A file that the model needs is missing from its folder."""


class DamagedModelFile(StudioError, code="damaged-model-file", exit_status=3):
    """A model file is truncated, has unexpected content or contains executable code."""


class WrongTensors(StudioError, code="wrong-tensors", exit_status=3):
    """A weight file has missing tensors, unknown tensors or tensors of the wrong shape."""


class UnsupportedPrecision(StudioError, code="unsupported-precision", exit_status=3):
    """The requested precision or engine cannot run on this computer."""


class UnreadableClip(StudioError, code="unreadable-clip", exit_status=4):
    """An audio file cannot be read."""


class ClipTooShort(StudioError, code="clip-too-short", exit_status=4):
    """A clip is too short to clone a voice from."""


class ClipTooLong(StudioError, code="clip-too-long", exit_status=4):
    """A clip is longer than the model accepts as a prompt."""


class SilentClip(StudioError, code="silent-clip", exit_status=4):
    """A clip is silent."""


class BrokenClip(StudioError, code="broken-clip", exit_status=4):
    """A clip contains samples that are not finite numbers."""


class LowSampleRate(StudioError, code="low-sample-rate", exit_status=4):
    """A clip's sample rate is too low for the model."""


class NoAudioDevice(StudioError, code="no-audio-device", exit_status=5):
    """No audio device is available, or it was disconnected."""


class NothingToSpeak(StudioError, code="nothing-to-speak", exit_status=6):
    """The text contains nothing that can be spoken."""


class TextTooLong(StudioError, code="text-too-long", exit_status=6):
    """The text exceeds the limit of one request."""


class UnknownPreset(StudioError, code="unknown-preset", exit_status=6):
    """The loaded model has no style preset with that name."""


class StyleNotSupported(StudioError, code="style-not-supported", exit_status=6):
    """The loaded model does not support the requested style, tag or mode."""


class VoiceNotFound(StudioError, code="voice-not-found", exit_status=7):
    """There is neither a voice nor a file with that name."""


class VoiceExists(StudioError, code="voice-exists", exit_status=7):
    """A voice with that name already exists."""


class BadVoiceFile(StudioError, code="bad-voice-file", exit_status=7):
    """A voice archive is damaged, unsafe or in an unsupported format."""


class OffGridCut(StudioError, code="off-grid-cut", exit_status=1):
    """A chunk boundary is not on the grid of the exact streaming flow."""


class NoSpeechMade(StudioError, code="no-speech-made", exit_status=8):
    """The model ended the utterance before generating any speech."""


class SequenceTooLong(StudioError, code="sequence-too-long", exit_status=8):
    """Prompt and text together exceed the context length of the model."""


class ModelOverflow(StudioError, code="model-overflow", exit_status=8):
    """A network produced NaN or infinity."""


class OutOfMemory(StudioError, code="out-of-memory", exit_status=8):
    """The memory of the computer or the GPU is exhausted."""


class WorkerDied(StudioError, code="worker-died", exit_status=9):
    """The worker process ended unexpectedly."""


class WorkerBusy(StudioError, code="worker-busy", exit_status=9):
    """The worker process has no model loaded."""


class EngineDied(StudioError, code="engine-died", exit_status=9):
    """The process of an engine ended, did not start or does not respond."""


class DiskFull(StudioError, code="disk-full", exit_status=10):
    """The disk is full."""


class CannotWrite(StudioError, code="cannot-write", exit_status=10):
    """A file or folder cannot be written."""


class InternalError(StudioError, code="internal-error", exit_status=70):
    """An unexpected exception in another process, passed on as an error. The log has the traceback."""


class IncompleteInstallation(StudioError, code="incomplete-installation", exit_status=70):
    """A required library is missing or cannot be loaded."""


class UnreadableText(StudioError, code="unreadable-text", exit_status=6):
    """A text file cannot be opened or does not contain text."""


class DamagedLibrary(StudioError, code="damaged-library", exit_status=7):
    """The database of the voice library is damaged."""


class UnusableSetting(StudioError, code="unusable-setting", exit_status=2):
    """A setting or an option of a request is out of range."""


class BadVoiceName(StudioError, code="bad-voice-name", exit_status=7):
    """The name is not allowed for a voice."""


class VoiceOfAnotherModel(StudioError, code="voice-of-another-model", exit_status=7):
    """A stored voice without a recording belongs to another model generation."""


class BadPronunciation(StudioError, code="bad-pronunciation", exit_status=6):
    """A pronunciation uses phones that the models do not know."""


class UnreadableProject(StudioError, code="unreadable-project", exit_status=11):
    """A project file is missing, damaged or in an unsupported format."""


class ProjectInUse(StudioError, code="project-in-use", exit_status=11):
    """A working copy is open in another window of the program."""


class ProjectChangedElsewhere(StudioError, code="project-changed-elsewhere", exit_status=11):
    """The project file was changed by another program after it was opened."""


class UnsupportedLanguage(StudioError, code="unsupported-language", exit_status=6):
    """The model has not learned the language of the text."""


class TakeNotFound(StudioError, code="take-not-found", exit_status=11):
    """A take or its audio is not in the project."""


class UnreadableScript(StudioError, code="unreadable-script", exit_status=6):
    """A document cannot be read as a script."""


class FolderBusy(StudioError, code="folder-busy", exit_status=10):
    """Another export is writing to the same folder."""


class NoScreen(StudioError, code="no-screen", exit_status=12):
    """The window cannot be opened because there is no display."""


class ModelBusy(StudioError, code="model-busy", exit_status=3):
    """Another program is installing, checking or removing the same model."""


class BadModelArchive(StudioError, code="bad-model-archive", exit_status=3):
    """A model archive is damaged, unsafe or contains no model."""


class BadModelName(StudioError, code="bad-model-name", exit_status=3):
    """The name is not allowed for a model, or already in use."""


class SourceUnreachable(StudioError, code="source-unreachable", exit_status=13):
    """The download source does not respond."""


class SourceRefused(StudioError, code="source-refused", exit_status=13):
    """The download source refuses the request or lacks the file."""


class WrongDownload(StudioError, code="wrong-download", exit_status=13):
    """A downloaded file differs from the published one."""


class RecognizerNotFound(StudioError, code="recognizer-not-found", exit_status=3):
    """The speech recogniser is not installed, or there is none for the language of the text."""


class UnrecognizedVoice(StudioError, code="unrecognized-voice", exit_status=3):
    """The speech recogniser does not understand a voice, so it cannot tell wrong words from right ones."""


class CheckerDied(StudioError, code="checker-died", exit_status=9):
    """The process that checks takes ended unexpectedly."""


class CheckerHung(StudioError, code="checker-hung", exit_status=9):
    """The process that checks takes did not respond and was stopped."""


class TooManyRequests(StudioError, code="too-many-requests", exit_status=14):
    """The queue of the speech service is full."""


class CannotServe(StudioError, code="cannot-serve", exit_status=14):
    """The speech service cannot start, for example because its port is in use."""


class WrongToken(StudioError, code="wrong-token", exit_status=14):
    """A request to the speech service whose token is missing or wrong."""


class NotAllowed(StudioError, code="not-allowed", exit_status=14):
    """A request to the speech service with an unknown host name, or from a web page."""


class BadRequest(StudioError, code="bad-request", exit_status=14):
    """A request to the speech service with missing or invalid values."""


class RequestTooLarge(StudioError, code="request-too-large", exit_status=14):
    """A request to the speech service that exceeds its limit of bytes."""


class UnknownVoice(StudioError, code="unknown-voice", exit_status=14):
    """The speech service does not have the file of a voice, which the client then sends."""


class ServerUnreachable(StudioError, code="server-unreachable", exit_status=15):
    """The other computer that speaks cannot be reached."""


class ConnectionLost(StudioError, code="connection-lost", exit_status=15):
    """The connection to the other computer was lost during a line, and could not be restored."""


class ServerRefused(StudioError, code="server-refused", exit_status=15):
    """The other computer refuses a request."""


class UnknownService(StudioError, code="unknown-service", exit_status=15):
    """The other computer answers, but not as a known speech service."""


class NotOnServer(StudioError, code="not-on-server", exit_status=15):
    """Something that the other computer cannot do."""
