"""Every error the program reports to the user.

A ``StudioError`` is raised where the facts are known and shown in one place. Each class has a stable ``code``
(kebab-case, never reused) for scripts and bug reports, and the exit status of a command that ends with it. All classes
are declared here, ordered by exit status, so that this file is the reference of all errors: ``timbre doctor --codes`` and
the window show it. Bugs are found with ``assert``.
"""

from __future__ import annotations

from typing import ClassVar

from studio.messages import Message, message

ErrorRecord = tuple[str, Message, Message]


class StudioError(Exception):
    """A failure caused by input, files, devices or the network, not by a bug.

    ``problem`` is a sentence about what happened, ``remedy`` about what to do. Both are literal templates with a
    ``{name}`` for each of the ``facts``, so that ``packaging/translations.py`` finds them for translation. Records
    (:meth:`to_record`, :func:`from_record`) pass errors from one process to another.
    """

    code: ClassVar[str] = "studio-error"
    exit_status: ClassVar[int] = 1
    # What usually causes an error of this class, and what to do about it, for ``timbre doctor --codes``.
    cause: ClassVar[Message]
    usual_remedy: ClassVar[Message]

    def __init_subclass__(cls, *, code: str, exit_status: int) -> None:
        assert code not in type_of_code, f"two errors share the code {code}"
        cls.code, cls.exit_status = code, exit_status
        type_of_code[code] = cls

    def __init__(self, problem: str | Message, *, remedy: str | Message = "", **facts: object) -> None:
        self.problem = problem if isinstance(problem, Message) else message(problem, **facts)
        self.remedy = remedy if isinstance(remedy, Message) else message(remedy, **facts)
        super().__init__(str(self.problem))

    @property
    def message(self) -> Message:
        """The problem and the remedy."""
        if not self.remedy.template:
            return self.problem
        return Message("{problem} {remedy}", {"problem": self.problem, "remedy": self.remedy})

    def __str__(self) -> str:
        return str(self.message)

    def to_record(self) -> ErrorRecord:
        return (self.code, self.problem, self.remedy)


type_of_code: dict[str, type[StudioError]] = {}


def from_record(record: ErrorRecord) -> StudioError:
    """Return the error of a record from another process. An unknown code becomes a plain ``StudioError``."""
    code, problem, remedy = record
    return type_of_code.get(code, StudioError)(problem, remedy=remedy)


class OffGridCut(StudioError, code="off-grid-cut", exit_status=1):
    cause = message("The first chunk (--first-hop) ends where exact streaming cannot split the audio.")
    usual_remedy = message("Use a length that the message lists, or omit the option.")


class UnusableSetting(StudioError, code="unusable-setting", exit_status=2):
    cause = message("An option or setting has an invalid value.")
    usual_remedy = message("The message lists the valid values.")


class ModelNotFound(StudioError, code="model-not-found", exit_status=3):
    cause = message("The model is not installed under that name, or the folder does not exist.")
    usual_remedy = message("Install the model, or correct the name or folder. `timbre models list` lists models.")


class UnknownGeneration(StudioError, code="unknown-generation", exit_status=3):
    cause = message("The folder contains a model of a generation that this version does not support.")
    usual_remedy = message(
        "Use a model of CosyVoice-300M, CosyVoice2 or Fun-CosyVoice3, or a newer version of the program."
    )


class BadModelSettings(StudioError, code="bad-model-settings", exit_status=3):
    cause = message("The model's YAML file lacks a value or contains an invalid one.")
    usual_remedy = message("Undo any changes to the YAML file, or repair the model.")


class MissingModelFile(StudioError, code="missing-model-file", exit_status=3):
    cause = message("A file of the model is missing from its folder.")
    usual_remedy = message("Run `timbre models verify --repair`; in a folder of your own, add the file.")


class DamagedModelFile(StudioError, code="damaged-model-file", exit_status=3):
    cause = message("A model file is truncated, damaged, or not what its name suggests.")
    usual_remedy = message("Run `timbre models verify --repair`, or choose Verify on the Models page (Ctrl+M).")


class WrongTensors(StudioError, code="wrong-tensors", exit_status=3):
    cause = message("A weight file belongs to another or a modified model.")
    usual_remedy = message("Put all files of one release into the folder, or install the model again.")


class UnsupportedPrecision(StudioError, code="unsupported-precision", exit_status=3):
    cause = message("The chosen precision or device is not supported on this computer.")
    usual_remedy = message("Set it to automatic (Settings, Speech and playback).")


class ModelBusy(StudioError, code="model-busy", exit_status=3):
    cause = message("Another program or window is installing, checking or removing the same model.")
    usual_remedy = message("Wait until it has finished, or stop it there.")


class BadModelArchive(StudioError, code="bad-model-archive", exit_status=3):
    cause = message("The archive is damaged, is not a zip or tar file, or contains no model.")
    usual_remedy = message("Copy or export it again. It must contain a cosyvoice*.yaml and the files beside it.")


class BadModelName(StudioError, code="bad-model-name", exit_status=3):
    cause = message("The name is in use, is not a valid folder name, or belongs to a release with other contents.")
    usual_remedy = message("Choose another name.")


class RecognizerNotFound(StudioError, code="recognizer-not-found", exit_status=3):
    cause = message(
        "No installed speech recogniser supports the language of the text, or the chosen one is not installed."
    )
    usual_remedy = message("Install a recogniser. `timbre models list` shows the languages of each.")


class UnrecognizedVoice(StudioError, code="unrecognized-voice", exit_status=3):
    cause = message("The speech recogniser does not understand this voice, for example a robotic one.")
    usual_remedy = message("Install another recogniser. `timbre models list` shows the languages of each.")


class UnreadableClip(StudioError, code="unreadable-clip", exit_status=4):
    cause = message("The file is missing, is not audio, or has a format that needs ffmpeg.")
    usual_remedy = message("Save it as WAV, FLAC or MP3; for m4a, mp4 and webm install ffmpeg.")


class ClipTooShort(StudioError, code="clip-too-short", exit_status=4):
    cause = message("The recording contains too little speech to clone a voice.")
    usual_remedy = message("Use three to ten seconds of one speaker.")


class ClipTooLong(StudioError, code="clip-too-long", exit_status=4):
    cause = message("The recording is longer than the model accepts.")
    usual_remedy = message("Choose its best ten seconds.")


class SilentClip(StudioError, code="silent-clip", exit_status=4):
    cause = message("The recording is silent.")
    usual_remedy = message("Check the microphone and its level, and record again.")


class BrokenClip(StudioError, code="broken-clip", exit_status=4):
    cause = message("The file contains values that are not audio.")
    usual_remedy = message("Export it again from its original program.")


class SyntheticClip(StudioError, code="synthetic-clip", exit_status=4):
    cause = message("The recording of a consent contains the mark of synthetic speech.")
    usual_remedy = message("Record the speaker.")


class LowSampleRate(StudioError, code="low-sample-rate", exit_status=4):
    cause = message("The sample rate of the recording is too low for the model.")
    usual_remedy = message("Record at 16 kHz or more; telephone quality is not enough.")


class NoAudioDevice(StudioError, code="no-audio-device", exit_status=5):
    cause = message("No output device is available, or it was disconnected.")
    usual_remedy = message("Connect one and choose it in the settings. Exporting files works without one.")


class UnsupportedLanguage(StudioError, code="unsupported-language", exit_status=6):
    cause = message("The model has not learned the language of the text, so its speech would be unintelligible.")
    usual_remedy = message("Use a model that supports the language (Ctrl+M lists them), or speak the line anyway.")


class NothingToSpeak(StudioError, code="nothing-to-speak", exit_status=6):
    cause = message("The text contains nothing that can be spoken.")
    usual_remedy = message("Write some words.")


class TextTooLong(StudioError, code="text-too-long", exit_status=6):
    cause = message("The text is too long for one request.")
    usual_remedy = message("Split it into lines, or use `timbre export`.")


class UnreadableText(StudioError, code="unreadable-text", exit_status=6):
    cause = message("A text file or the pronunciation dictionary cannot be read.")
    usual_remedy = message("Check that the file in the message is UTF-8 text and that you may read it.")


class UnreadableScript(StudioError, code="unreadable-script", exit_status=6):
    cause = message("The document cannot be read as a script.")
    usual_remedy = message("Save it as text, Markdown, Word (docx), subtitles or CSV.")


class UnknownPreset(StudioError, code="unknown-preset", exit_status=6):
    cause = message("The model has no style with that name.")
    usual_remedy = message("`timbre styles` lists the styles of a model.")


class StyleNotSupported(StudioError, code="style-not-supported", exit_status=6):
    cause = message("The model does not support that style or tag.")
    usual_remedy = message("Choose another style, or another model.")


class BadPronunciation(StudioError, code="bad-pronunciation", exit_status=6):
    cause = message("A pronunciation contains sounds that the models do not support.")
    usual_remedy = message("Write it in pinyin or with the sounds that the dictionary offers.")


class VoiceNotFound(StudioError, code="voice-not-found", exit_status=7):
    cause = message("There is no voice or file with that name.")
    usual_remedy = message("Add the voice, or correct the name. `timbre voices list` lists the voices.")


class VoiceExists(StudioError, code="voice-exists", exit_status=7):
    cause = message("A voice with that name exists already.")
    usual_remedy = message("Choose another name, or remove the other voice.")


class BadVoiceFile(StudioError, code="bad-voice-file", exit_status=7):
    cause = message("The voice file is damaged, or is not a voice file of this program.")
    usual_remedy = message("Export it again.")


class BadVoiceName(StudioError, code="bad-voice-name", exit_status=7):
    cause = message("The name is not valid for a voice.")
    usual_remedy = message("Use letters, digits and spaces.")


class VoiceOfAnotherModel(StudioError, code="voice-of-another-model", exit_status=7):
    cause = message("The voice was stored without its recording, for another generation of models.")
    usual_remedy = message("Use a model of that generation, or create the voice from a recording.")


class ConsentExpired(StudioError, code="consent-expired", exit_status=7):
    cause = message("The consent to use the voice has ended.")
    usual_remedy = message("Ask the speaker again, or choose another voice.")


class ConsentMissing(StudioError, code="consent-missing", exit_status=7):
    cause = message("The consent of the speaker is required, but not recorded.")
    usual_remedy = message("Record the consent in the details of the voice, or choose another voice.")


class DamagedLibrary(StudioError, code="damaged-library", exit_status=7):
    cause = message("The voice library cannot be read; the recordings still exist.")
    usual_remedy = message("Restore the library file from a backup, or add the recordings again.")


class NoSpeechMade(StudioError, code="no-speech-made", exit_status=8):
    cause = message("The model stopped before it produced speech.")
    usual_remedy = message("Try again with another seed, or write a longer text.")


class SequenceTooLong(StudioError, code="sequence-too-long", exit_status=8):
    cause = message("The recording and the text together exceed the capacity of the model.")
    usual_remedy = message("Use a shorter recording or a shorter text.")


class ModelOverflow(StudioError, code="model-overflow", exit_status=8):
    cause = message("A network computed invalid numbers, usually in half precision.")
    usual_remedy = message("Choose float32 (Settings), or rebuild the engines.")


class OutOfMemory(StudioError, code="out-of-memory", exit_status=8):
    cause = message("The computer or its GPU has too little free memory.")
    usual_remedy = message("Close other programs, choose a smaller model, or run it on the CPU.")


class WorkerDied(StudioError, code="worker-died", exit_status=9):
    cause = message("The speech process ended: it crashed, or the system ended it for lack of memory.")
    usual_remedy = message(
        "Try again; it is restarted automatically. If it happens again, send the report and the worker's log."
    )


class WorkerBusy(StudioError, code="worker-busy", exit_status=9):
    cause = message("The speech process has no model loaded.")
    usual_remedy = message("Load a model and try again.")


class ServiceStopping(StudioError, code="service-stopping", exit_status=9):
    cause = message("The speech service is being stopped or restarted.")
    usual_remedy = message("Try again in a moment.")


class EngineDied(StudioError, code="engine-died", exit_status=9):
    cause = message("A process that runs part of the model ended or does not respond.")
    usual_remedy = message("Another engine is used. `timbre engines why` shows the cause.")


class CheckerDied(StudioError, code="checker-died", exit_status=9):
    cause = message("The process that checks takes ended: it crashed, or the system ended it for lack of memory.")
    usual_remedy = message("Check the take again; the process is restarted automatically. Speech is not affected.")


class CheckerHung(StudioError, code="checker-hung", exit_status=9):
    cause = message("The process that checks takes did not respond and was stopped.")
    usual_remedy = message("Check the take again; the process is restarted automatically. Speech is not affected.")


class DiskFull(StudioError, code="disk-full", exit_status=10):
    cause = message("The disk is full, or a quota is used up.")
    usual_remedy = message("Free disk space; existing files are kept.")


class CannotWrite(StudioError, code="cannot-write", exit_status=10):
    cause = message("A file or folder is not writable, is in use, or is on a read-only disk.")
    usual_remedy = message("Check the permissions, or choose another folder.")


class CannotSign(StudioError, code="cannot-sign", exit_status=10):
    cause = message("The library c2pa-python could not add a signed manifest to a file.")
    usual_remedy = message("Write the file without a manifest (--unsigned), or use another certificate.")


class UnusableCertificate(StudioError, code="unusable-certificate", exit_status=10):
    cause = message("The key or certificate that signs files is damaged, has expired, or is readable by other users.")
    usual_remedy = message("Correct or replace the file that the message names.")


class FolderBusy(StudioError, code="folder-busy", exit_status=10):
    cause = message("Another export is writing to the folder.")
    usual_remedy = message("Wait until it has finished, or choose another folder.")


class UnreadableProject(StudioError, code="unreadable-project", exit_status=11):
    cause = message("The project file is missing, damaged, from a newer version, or not a project.")
    usual_remedy = message(
        "Use a backup or update the program. The window offers to recover unsaved changes when it opens."
    )


class ProjectInUse(StudioError, code="project-in-use", exit_status=11):
    cause = message("The project is open in another window.")
    usual_remedy = message("Continue there, or close it there first.")


class ProjectChangedElsewhere(StudioError, code="project-changed-elsewhere", exit_status=11):
    cause = message("Another program has changed the project file.")
    usual_remedy = message("Save under another name to keep both versions.")


class TakeNotFound(StudioError, code="take-not-found", exit_status=11):
    cause = message("A take or its audio is not in the project.")
    usual_remedy = message("Speak the line again.")


class NoScreen(StudioError, code="no-screen", exit_status=12):
    cause = message("The window cannot be opened: no display is available.")
    usual_remedy = message("Use the command line (`timbre --help`), or start the program on a desktop.")


class SourceUnreachable(StudioError, code="source-unreachable", exit_status=13):
    cause = message("The download source cannot be reached: no network, a proxy, or an untrusted certificate.")
    usual_remedy = message(
        "Check the connection and the proxy; choose the other source or a mirror. Downloaded data is kept."
    )


class SourceRefused(StudioError, code="source-refused", exit_status=13):
    cause = message("The download source refuses the model: access denied, not found, or too many requests.")
    usual_remedy = message("Wait a few minutes, or choose the other source or a mirror.")


class WrongDownload(StudioError, code="wrong-download", exit_status=13):
    cause = message(
        "The downloaded data is not the published file: a login page, a modified mirror, or damage in transit."
    )
    usual_remedy = message("Log in to the network, try again, or choose the other source.")


class BadRequest(StudioError, code="bad-request", exit_status=14):
    cause = message("A program sent the speech service a request with missing or invalid values.")
    usual_remedy = message("Correct the request; the response names the invalid value.")


class UnknownPath(StudioError, code="unknown-path", exit_status=14):
    cause = message("A program sent the speech service a request with a path or method that it does not have.")
    usual_remedy = message(
        "Correct the address of the program: it ends with /v1. /openapi.json describes the requests."
    )


class CannotServe(StudioError, code="cannot-serve", exit_status=14):
    cause = message(
        "The speech service cannot listen on its address, its token file cannot be used, or no cluster runs."
    )
    usual_remedy = message("Choose another port or token file; the message names what a cluster needs.")


class NotAllowed(StudioError, code="not-allowed", exit_status=14):
    cause = message("A request to the speech service had an unknown host name, or came from a web page.")
    usual_remedy = message("Use the address of the service, or start it with --allow-host or --allow-origin.")


class RequestTooLarge(StudioError, code="request-too-large", exit_status=14):
    cause = message("A request to the speech service exceeds its limit of bytes.")
    usual_remedy = message("Send a shorter text or recording.")


class RequestTimedOut(StudioError, code="request-timed-out", exit_status=14):
    cause = message("A client of the speech service kept a connection open without sending anything.")
    usual_remedy = message("Connect again when there is something to send.")


class TooManyRequests(StudioError, code="too-many-requests", exit_status=14):
    cause = message("The queue of the speech service is full.")
    usual_remedy = message("Send the request again later; the response states when.")


class WrongToken(StudioError, code="wrong-token", exit_status=14):
    cause = message("The token of a request to the speech service was missing or wrong.")
    usual_remedy = message("Set the API key of the client to the token of the service.")


class UnknownVoice(StudioError, code="unknown-voice", exit_status=14):
    cause = message("The speech service does not have the file of a voice.")
    usual_remedy = message("Send the file of the voice first, as Timbre Studio does.")


class ServerUnreachable(StudioError, code="server-unreachable", exit_status=15):
    cause = message("The other computer cannot be reached.")
    usual_remedy = message("Check its address and that `timbre serve` runs there, or use a model of this computer.")


class ConnectionLost(StudioError, code="connection-lost", exit_status=15):
    cause = message("The connection to the other computer was lost in the middle of a line, and could not be restored.")
    usual_remedy = message("Speak the line again, or use a model of this computer.")


class ServerRefused(StudioError, code="server-refused", exit_status=15):
    cause = message("The other computer refuses the request.")
    usual_remedy = message("Check the token, and that both computers have the same version of the program.")


class UnknownService(StudioError, code="unknown-service", exit_status=15):
    cause = message("The other computer answers, but not as a known speech service.")
    usual_remedy = message("Check the address and the port.")


class NotOnServer(StudioError, code="not-on-server", exit_status=15):
    cause = message("The other computer does not support this.")
    usual_remedy = message("Use a model of this computer.")


class IncompleteInstallation(StudioError, code="incomplete-installation", exit_status=16):
    cause = message("A required library is missing or cannot be loaded.")
    usual_remedy = message("Run `timbre doctor` for details, and set up the program again.")


class InternalError(StudioError, code="internal-error", exit_status=70):
    cause = message("An error in the program itself.")
    usual_remedy = message("Please send the report with the log.")
