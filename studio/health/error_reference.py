"""Every error the program tells of, in one place: what it means and what to do, for whoever looks a code up.

The sentence of an error itself stands where it happens and knows more: which file, how much room. This is the
page for all of a kind, printed by ``timbre doctor --codes`` and shown by the window's doctor.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from studio.errors import type_of_code
from studio.wording import Message, wording


@dataclass(frozen=True, slots=True)
class CodeMeaning:
    """``cause``: what is behind it; ``remedy``: what a person does. ``exit_status``: a command's."""

    code: str
    exit_status: int
    cause: Message
    remedy: Message


def code_meanings() -> tuple[CodeMeaning, ...]:
    """By exit status, which is by subject."""
    return tuple(sorted(_all(), key=lambda meaning: meaning.exit_status))


def _all() -> Iterator[CodeMeaning]:
    for code, (cause, remedy) in _MEANINGS.items():
        yield CodeMeaning(code, type_of_code[code].exit_status, cause, remedy)


_MEANINGS: dict[str, tuple[Message, Message]] = {
    "model-not-found": (
        wording("The model is not installed under that name, or the folder is not there."),
        wording("`timbre models list` names those there are; install it, or correct the name or folder."),
    ),
    "unknown-generation": (
        wording("The folder holds a model of a generation this version does not speak with."),
        wording("Use CosyVoice2 or Fun-CosyVoice3, or a newer version of the program."),
    ),
    "bad-model-settings": (
        wording("The model's yaml file lacks a value or holds one that cannot be."),
        wording("Verify the model, or install it again; a yaml that was edited must be put back."),
    ),
    "missing-model-file": (
        wording("A file that the model needs is not in its folder."),
        wording("`timbre models verify --repair` fetches it; a folder of your own must be completed."),
    ),
    "damaged-model-file": (
        wording("A model file is cut short, damaged, or not what its name says."),
        wording("`timbre models verify --repair`, or Verify on the page of models (Ctrl+M)."),
    ),
    "wrong-tensors": (
        wording("A weight file belongs to another model, or to a changed one."),
        wording("Put all files of one release into the folder, or install the model again."),
    ),
    "unsupported-precision": (
        wording("The chosen precision or device does not work here."),
        wording("Set it back to automatic (Settings, Speaking and playing)."),
    ),
    "model-busy": (
        wording("Another program or window is installing, checking or removing the same model."),
        wording("Wait until that is done, or end it there."),
    ),
    "bad-model-archive": (
        wording("The archive is damaged, is no zip or tar, or holds no model."),
        wording("Copy or export it again; it must hold a cosyvoice*.yaml and the files beside it."),
    ),
    "bad-model-name": (
        wording("The name is taken, cannot be that of a folder, or is that of a release with other contents."),
        wording("Choose another name."),
    ),
    "unreadable-clip": (
        wording("The file is missing, is no sound, or is of a kind that ffmpeg would have to read."),
        wording("Save it as WAV, FLAC or MP3; for m4a, mp4 and webm install ffmpeg."),
    ),
    "clip-too-short": (
        wording("There is too little speech in the recording to learn a voice from."),
        wording("Use three to ten seconds of one person speaking."),
    ),
    "clip-too-long": (
        wording("The recording is longer than the model takes."),
        wording("Choose the best ten seconds of it."),
    ),
    "silent-clip": (
        wording("Nothing is heard in the recording."),
        wording("Check the microphone and its level, and record again."),
    ),
    "broken-clip": (
        wording("The file holds values that are no sound."),
        wording("Export it again from the program it comes from."),
    ),
    "low-sample-rate": (
        wording("The recording has too few samples a second for the model."),
        wording("Record at 16 kHz or more; telephone quality does not suffice."),
    ),
    "no-audio-device": (
        wording("There is no sound card, or it was taken away."),
        wording("Connect one and choose it in the settings; writing files works without."),
    ),
    "nothing-to-speak": (
        wording("The text holds nothing that can be said."),
        wording("Write some words."),
    ),
    "text-too-long": (
        wording("The text is longer than one request may be."),
        wording("Divide it into lines, or use `timbre export`."),
    ),
    "unreadable-text": (
        wording("The pronunciation dictionary of all scripts cannot be read."),
        wording("The message names its file: check its permissions, or begin a new one; the old one is kept."),
    ),
    "unreadable-script": (
        wording("The document cannot be read as a script."),
        wording("Save it as text, Markdown, Word (docx), subtitles or CSV."),
    ),
    "unknown-preset": (
        wording("The model has no style of that name."),
        wording("`timbre styles` names those of the model; every model has its own."),
    ),
    "style-not-supported": (
        wording("The model does not know that style, tag or way of speaking."),
        wording("Choose another style, or another model."),
    ),
    "bad-pronunciation": (
        wording("A pronunciation uses sounds the models do not know."),
        wording("Write it in pinyin or in the sounds that the dictionary offers."),
    ),
    "voice-not-found": (
        wording("No voice and no file has that name."),
        wording("`timbre voices list` names the voices; add it, or correct the name."),
    ),
    "voice-exists": (
        wording("A voice has that name already."),
        wording("Choose another name, or remove the other voice first."),
    ),
    "bad-voice-file": (
        wording("The voice file is damaged or was not made by this program."),
        wording("Have it exported again."),
    ),
    "bad-voice-name": (
        wording("A voice cannot be called that."),
        wording("Use letters, digits and spaces."),
    ),
    "voice-of-another-model": (
        wording("The voice was kept without its recording, for another generation of models."),
        wording("Use the model it was made for, or add it again from a recording."),
    ),
    "damaged-library": (
        wording("The list of your voices cannot be read; the recordings are still there."),
        wording("Put the library's file back from a backup, or add the recordings again."),
    ),
    "no-speech-made": (
        wording("The model ended before it said anything."),
        wording("Try again with another seed, or write a longer text."),
    ),
    "sequence-too-long": (
        wording("The recording and the text together are longer than the model can hold."),
        wording("Use a shorter recording or a shorter text."),
    ),
    "model-overflow": (
        wording("A network computed something that is no number, most often in half precision."),
        wording("Choose float32 (Settings), or let the engines be rebuilt."),
    ),
    "out-of-memory": (
        wording("The computer or its graphics card has too little memory free."),
        wording("Close other programs, choose a smaller model, or the processor."),
    ),
    "worker-died": (
        wording("The process that speaks ended: a crash, or the system took its memory."),
        wording("Speak again, it starts anew; if it happens again, send the report and the worker's log."),
    ),
    "worker-busy": (
        wording("The process that speaks does not answer."),
        wording("Wait, or stop it and speak again."),
    ),
    "engine-died": (
        wording("A process in which a library runs a part of the model ended or is silent."),
        wording("Another engine takes over; `timbre engines why` tells what happened."),
    ),
    "disk-full": (
        wording("There is no room left on the disk, or a quota is used up."),
        wording("Free some space; what was there before stays."),
    ),
    "cannot-write": (
        wording("A file or folder may not be written, is in use, or is on a read-only disk."),
        wording("Check the permissions, or choose another folder."),
    ),
    "folder-busy": (
        wording("Another export is writing into the folder."),
        wording("Wait until it is done, or choose another folder."),
    ),
    "unreadable-project": (
        wording("The project file is missing, damaged, of a newer version, or no project."),
        wording("Use a backup or update the program; what was never saved is offered when the window opens."),
    ),
    "project-in-use": (
        wording("The project is open in another window."),
        wording("Go on there, or close it there first."),
    ),
    "project-changed-elsewhere": (
        wording("Another program changed the project's file meanwhile."),
        wording("Save under another name; then nothing of either is lost."),
    ),
    "take-not-found": (
        wording("A take or its sound is not in the project."),
        wording("Speak the line again."),
    ),
    "no-screen": (
        wording("The window was asked for where nothing can be shown."),
        wording("Use the commands (`timbre --help`), or start it on a desktop."),
    ),
    "source-unreachable": (
        wording("The place models come from does not answer: no network, a proxy, or its certificate is not trusted."),
        wording("Check the connection and the proxy; choose the other source or a mirror. What has arrived stays."),
    ),
    "source-refused": (
        wording("The place models come from does not hand the model out: forbidden, missing, or asked too often."),
        wording("Wait some minutes, or choose the other source or a mirror."),
    ),
    "wrong-download": (
        wording("What arrived is not the published file: a login page, a changed mirror, or damage on the way."),
        wording("Log in to the network, try again, or choose the other source."),
    ),
    "unusable-setting": (
        wording("An option or setting has a value that cannot be used."),
        wording("Its sentence names what is possible."),
    ),
    "off-grid-cut": (
        wording("The length of the first chunk (--first-hop) ends where the exact streaming cannot cut."),
        wording("Take one that the message names, or leave the option out."),
    ),
    "internal-error": (
        wording("A fault of the program itself."),
        wording("Please send the report, with the log."),
    ),
    "incomplete-installation": (
        wording("A library the program needs is missing or cannot be loaded."),
        wording("`timbre doctor` says which; set the program up again."),
    ),
}
