"""Reference of all error codes: cause and remedy of each, for ``timbre doctor --codes`` and the window's doctor.

The message of an individual error is composed where it occurs, with its details.
"""

from __future__ import annotations

from dataclasses import dataclass

from studio.errors import type_of_code
from studio.messages import Message, wording


@dataclass(frozen=True, slots=True)
class CodeMeaning:
    code: str
    exit_status: int  # exit status of a command that fails with this error
    cause: Message
    remedy: Message


def code_meanings() -> tuple[CodeMeaning, ...]:
    """Return all codes, ordered by exit status, which groups them by subject."""
    meanings = (
        CodeMeaning(code, type_of_code[code].exit_status, cause, remedy) for code, (cause, remedy) in _MEANINGS.items()
    )
    return tuple(sorted(meanings, key=lambda meaning: meaning.exit_status))


_MEANINGS: dict[str, tuple[Message, Message]] = {
    "model-not-found": (
        wording("The model is not installed under that name, or the folder does not exist."),
        wording("Install the model, or correct the name or folder. `timbre models list` lists models."),
    ),
    "unknown-generation": (
        wording("The folder contains a model of a generation that this version does not support."),
        wording("Use CosyVoice2 or Fun-CosyVoice3, or a newer version of the program."),
    ),
    "bad-model-settings": (
        wording("The model's YAML file lacks a value or contains an invalid one."),
        wording("Undo any changes to the YAML file, or repair the model."),
    ),
    "missing-model-file": (
        wording("A file of the model is missing from its folder."),
        wording("Run `timbre models verify --repair`; in a folder of your own, add the file."),
    ),
    "damaged-model-file": (
        wording("A model file is truncated, damaged, or not what its name suggests."),
        wording("Run `timbre models verify --repair`, or choose Verify on the Models page (Ctrl+M)."),
    ),
    "wrong-tensors": (
        wording("A weight file belongs to another or a modified model."),
        wording("Put all files of one release into the folder, or install the model again."),
    ),
    "unsupported-precision": (
        wording("The chosen precision or device is not supported on this computer."),
        wording("Set it to automatic (Settings, Speech and playback)."),
    ),
    "model-busy": (
        wording("Another program or window is installing, checking or removing the same model."),
        wording("Wait until it has finished, or stop it there."),
    ),
    "bad-model-archive": (
        wording("The archive is damaged, is not a zip or tar file, or contains no model."),
        wording("Copy or export it again. It must contain a cosyvoice*.yaml and the files beside it."),
    ),
    "bad-model-name": (
        wording("The name is in use, is not a valid folder name, or belongs to a release with other contents."),
        wording("Choose another name."),
    ),
    "unreadable-clip": (
        wording("The file is missing, is not audio, or has a format that needs ffmpeg."),
        wording("Save it as WAV, FLAC or MP3; for m4a, mp4 and webm install ffmpeg."),
    ),
    "clip-too-short": (
        wording("The recording contains too little speech to clone a voice."),
        wording("Use three to ten seconds of one speaker."),
    ),
    "clip-too-long": (
        wording("The recording is longer than the model accepts."),
        wording("Choose its best ten seconds."),
    ),
    "silent-clip": (
        wording("The recording is silent."),
        wording("Check the microphone and its level, and record again."),
    ),
    "broken-clip": (
        wording("The file contains values that are not audio."),
        wording("Export it again from its original program."),
    ),
    "low-sample-rate": (
        wording("The sample rate of the recording is too low for the model."),
        wording("Record at 16 kHz or more; telephone quality is not enough."),
    ),
    "no-audio-device": (
        wording("No output device is available, or it was disconnected."),
        wording("Connect one and choose it in the settings. Exporting files works without one."),
    ),
    "unsupported-language": (
        wording("The model has not learned the language of the text, so its speech would be unintelligible."),
        wording("Use a model that speaks the language (Ctrl+M lists them), or speak the line anyway."),
    ),
    "nothing-to-speak": (
        wording("The text contains nothing that can be spoken."),
        wording("Write some words."),
    ),
    "text-too-long": (
        wording("The text is too long for one request."),
        wording("Split it into lines, or use `timbre export`."),
    ),
    "unreadable-text": (
        wording("The global pronunciation dictionary cannot be read."),
        wording("Check the permissions of the file named in the message, or start a new one; the old one is kept."),
    ),
    "unreadable-script": (
        wording("The document cannot be read as a script."),
        wording("Save it as text, Markdown, Word (docx), subtitles or CSV."),
    ),
    "unknown-preset": (
        wording("The model has no style with that name."),
        wording("`timbre styles` lists the styles of a model."),
    ),
    "style-not-supported": (
        wording("The model does not support that style or tag."),
        wording("Choose another style, or another model."),
    ),
    "bad-pronunciation": (
        wording("A pronunciation contains sounds that the models do not support."),
        wording("Write it in pinyin or with the sounds that the dictionary offers."),
    ),
    "voice-not-found": (
        wording("There is no voice or file with that name."),
        wording("Add the voice, or correct the name. `timbre voices list` lists the voices."),
    ),
    "voice-exists": (
        wording("A voice with that name exists already."),
        wording("Choose another name, or remove the other voice."),
    ),
    "bad-voice-file": (
        wording("The voice file is damaged, or is not a voice file of this program."),
        wording("Export it again."),
    ),
    "bad-voice-name": (
        wording("The name is not valid for a voice."),
        wording("Use letters, digits and spaces."),
    ),
    "voice-of-another-model": (
        wording("The voice was stored without its recording, for another generation of models."),
        wording("Use a model of that generation, or create the voice from a recording."),
    ),
    "damaged-library": (
        wording("The voice library cannot be read; the recordings still exist."),
        wording("Restore the library file from a backup, or add the recordings again."),
    ),
    "no-speech-made": (
        wording("The model stopped before it produced speech."),
        wording("Try again with another seed, or write a longer text."),
    ),
    "sequence-too-long": (
        wording("The recording and the text together exceed the capacity of the model."),
        wording("Use a shorter recording or a shorter text."),
    ),
    "model-overflow": (
        wording("A network computed invalid numbers, usually in half precision."),
        wording("Choose float32 (Settings), or rebuild the engines."),
    ),
    "out-of-memory": (
        wording("The computer or its GPU has too little free memory."),
        wording("Close other programs, choose a smaller model, or run it on the CPU."),
    ),
    "worker-died": (
        wording("The speech process ended: it crashed, or the system ended it for lack of memory."),
        wording("Try again; it is restarted automatically. If it happens again, send the report and the worker's log."),
    ),
    "worker-busy": (
        wording("The speech process has no model loaded."),
        wording("Load a model and try again."),
    ),
    "engine-died": (
        wording("A process in which a library runs a part of the model ended or does not respond."),
        wording("Another engine is used. `timbre engines why` shows the cause."),
    ),
    "checker-died": (
        wording("The process that checks takes ended: it crashed, or the system ended it for lack of memory."),
        wording("Check the take again; the process is restarted automatically. Speech is not affected."),
    ),
    "checker-hung": (
        wording("The process that checks takes did not respond and was stopped."),
        wording("Check the take again; the process is restarted automatically. Speech is not affected."),
    ),
    "recognizer-not-found": (
        wording("No installed speech recogniser knows the language of the text, or the chosen one is not installed."),
        wording("Install a recogniser. `timbre models list` shows the languages of each."),
    ),
    "unrecognized-voice": (
        wording("The speech recogniser does not understand this voice, for example a robotic one."),
        wording("Install another recogniser. `timbre models list` shows the languages of each."),
    ),
    "disk-full": (
        wording("The disk is full, or a quota is used up."),
        wording("Free disk space; existing files are kept."),
    ),
    "cannot-write": (
        wording("A file or folder is not writable, is in use, or is on a read-only disk."),
        wording("Check the permissions, or choose another folder."),
    ),
    "folder-busy": (
        wording("Another export is writing to the folder."),
        wording("Wait until it has finished, or choose another folder."),
    ),
    "unreadable-project": (
        wording("The project file is missing, damaged, from a newer version, or not a project."),
        wording("Use a backup or update the program. The window offers to recover unsaved changes when it opens."),
    ),
    "project-in-use": (
        wording("The project is open in another window."),
        wording("Continue there, or close it there first."),
    ),
    "project-changed-elsewhere": (
        wording("Another program has changed the project file."),
        wording("Save under another name to keep both versions."),
    ),
    "take-not-found": (
        wording("A take or its audio is not in the project."),
        wording("Speak the line again."),
    ),
    "no-screen": (
        wording("The window cannot be opened: no display is available."),
        wording("Use the command line (`timbre --help`), or start the program on a desktop."),
    ),
    "source-unreachable": (
        wording("The download source cannot be reached: no network, a proxy, or an untrusted certificate."),
        wording("Check the connection and the proxy; choose the other source or a mirror. Downloaded data is kept."),
    ),
    "source-refused": (
        wording("The download source refuses the model: access denied, not found, or too many requests."),
        wording("Wait a few minutes, or choose the other source or a mirror."),
    ),
    "wrong-download": (
        wording(
            "The downloaded data is not the published file: a login page, a modified mirror, or damage in transit."
        ),
        wording("Log in to the network, try again, or choose the other source."),
    ),
    "unusable-setting": (
        wording("An option or setting has an invalid value."),
        wording("The message lists the valid values."),
    ),
    "off-grid-cut": (
        wording("The first chunk (--first-hop) ends where exact streaming cannot split the audio."),
        wording("Use a length that the message lists, or omit the option."),
    ),
    "internal-error": (
        wording("An error in the program itself."),
        wording("Please send the report with the log."),
    ),
    "incomplete-installation": (
        wording("A required library is missing or cannot be loaded."),
        wording("Run `timbre doctor` for details, and set up the program again."),
    ),
    "bad-request": (
        wording("A program sent the speech service a request with missing or invalid values."),
        wording("Correct the request; the response names the invalid value."),
    ),
    "cannot-serve": (
        wording("The speech service cannot listen on its address, or its token file cannot be used."),
        wording("Choose another port or token file."),
    ),
    "not-allowed": (
        wording("A request to the speech service had an unknown host name, or came from a web page."),
        wording("Use the address of the service, or start it with --allow-host or --allow-origin."),
    ),
    "request-too-large": (
        wording("A request to the speech service exceeds its limit of bytes."),
        wording("Send a shorter text or recording."),
    ),
    "too-many-requests": (
        wording("The queue of the speech service is full."),
        wording("Send the request again later; the response says when."),
    ),
    "wrong-token": (
        wording("The token of a request to the speech service was missing or wrong."),
        wording("Set the API key of the client to the token of the service."),
    ),
    "unknown-voice": (
        wording("The speech service does not have the file of a voice."),
        wording("Send the file of the voice first, as Timbre Studio does."),
    ),
    "server-unreachable": (
        wording("The other computer that speaks cannot be reached."),
        wording("Check its address and that `timbre serve` runs there, or use a model of this computer."),
    ),
    "connection-lost": (
        wording("The connection to the other computer was lost in the middle of a line, and could not be restored."),
        wording("Speak the line again, or use a model of this computer."),
    ),
    "server-refused": (
        wording("The other computer refuses the request."),
        wording("Check the token, and that both computers have the same version of the program."),
    ),
    "unknown-service": (
        wording("The other computer answers, but not as a known speech service."),
        wording("Check the address and the port."),
    ),
    "not-on-server": (
        wording("The other computer cannot do this."),
        wording("Use a model of this computer."),
    ),
}
