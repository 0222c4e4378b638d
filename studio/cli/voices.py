"""`timbre voices`: manages the voice library."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import dataclasses
import json
import tempfile
from datetime import date
from pathlib import Path
from typing import Any

from studio.audio.files import read_audio
from studio.catalog.built_in_speakers import are_mixable, mixed_speaker, similarities
from studio.cli import clip_repair
from studio.cli.command_context import CommandContext
from studio.cli.numbers import iso_date
from studio.cli.options import Actions, Commands, add_command, add_model_option, model_folder
from studio.cli.progress import print_message
from studio.errors import ModelNotFound, StudioError, UnusableSetting
from studio.export.names import sanitize_filename
from studio.messages import printable
from studio.model.generations import detect_generation
from studio.provenance.spoken_consents import MIN_SIMILARITY, compare_spoken_consent, consent_sentence
from studio.take_checks.records import Transcript
from studio.take_checks.requests import TranscriptRequest
from studio.take_checks.shorter_voice import add_shorter_voice
from studio.text.language import detect_language
from studio.voices.library import Addition, Consent, Voice, VoiceLibrary
from studio.voices.voice import NO_CONSENT, SpokenConsent, SpokenWords
from studio.voices.voice_file import SUFFIX
from studio.worker.client import WorkerClient
from studio.worker.protocol import StoredVoicesWritten

EXAMPLES = """\
examples:
  timbre voices add Anna anna.wav --transcript "The words of the recording."
  timbre voices add Jane jane.wav --consent "Jane Doe" --consent-scope "one audiobook" --consent-until 2030-12-31
  timbre voices edit Jane --consent-clip agreement.wav    compare a spoken consent with the voice
  timbre voices list
  timbre voices show Anna
  timbre voices check Anna                   compare the transcript with the recording, or propose one
  timbre voices shorten Anna                 add a voice of the best 4 seconds, for slow processors
  timbre voices passages interview.flac      list the best passages of a long recording
  timbre voices repair Anna                  add a voice of the cleaned clip, if its speech is better
  timbre voices edit Anna --transcript "The corrected words of the recording."
  timbre voices rename Anna Annabel
  timbre voices mix Mia 中文女 英文女         add a voice halfway between two speakers of a model
  timbre voices remove Anna
  timbre voices export Anna anna.voice       write one file, for another computer
  timbre voices import anna.voice
  timbre voices import CosyVoice2-0.5B/spk2info.pt     import voices stored by the official program

Only clone voices you have permission to use.
"""


def add_parser(commands: Commands) -> None:
    parser = add_command(
        commands,
        "voices",
        None,
        help_text="manage the voice library",
        description="Manage the voice library: named recordings of voices and their transcripts.",
        examples=EXAMPLES,
    )
    actions = Actions(parser)
    add = actions.add("add", _add, "add a voice from a recording", "NAME")
    add.add_argument("clip", type=Path, metavar="CLIP", help="3 to 10 seconds of one speaker")
    _add_details(add)
    add.add_argument("--check", action="store_true", help="compare the transcript with the recording, or propose one")
    list_ = actions.add("list", _list, "list all voices")
    list_.add_argument("--json", action="store_true", help="print a JSON array")
    show = actions.add("show", _show, "show a voice", "NAME")
    show.add_argument("--json", action="store_true", help="print one JSON object")
    actions.add("remove", _remove, "delete a voice and its recording", "NAME")
    actions.add("rename", _rename, "rename a voice", "NAME", "NEW_NAME")
    _add_details(actions.add("edit", _edit, "change a voice's transcript or notes", "NAME"))
    check = actions.add("check", _check, "compare a voice's transcript with its recording, or propose one", "NAME")
    check.add_argument("--json", action="store_true", help="print one JSON object")
    shorten = actions.add("shorten", _shorten, "add a voice of the best 4 seconds, for slow processors", "NAME")
    add_model_option(shorten)
    mix = actions.add("mix", _mix, "add a voice halfway between two speakers of a model", "NAME")
    mix.add_argument(
        "speakers", nargs=2, metavar="SPEAKER", help="a voice without a recording; see `timbre voices list`"
    )
    clip_repair.add_actions(actions)
    export = actions.add("export", _export, f"write a voice to one {SUFFIX} file", "NAME")
    export.add_argument("file", type=Path, nargs="?", metavar="FILE", help=f"default: NAME{SUFFIX}")
    import_ = actions.add("import", _import, f"import voices from a {SUFFIX} file or an official spk2info.pt")
    import_.add_argument("file", type=Path, metavar="FILE")
    import_.add_argument("--name", help="name of the voice (default: from the file)")
    add_model_option(import_, default="for an spk2info.pt: the model folder that contains it")


def _add_details(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--transcript", metavar="TEXT", help="the words of the recording")
    parser.add_argument("--notes", metavar="TEXT", help="your notes")
    parser.add_argument(
        "--consent", metavar="NAME", help="who consented to the use of the voice; today's date is recorded"
    )
    parser.add_argument("--consent-scope", metavar="TEXT", help="the use that is permitted")
    parser.add_argument("--consent-until", type=iso_date, metavar="DATE", help="the last day, such as 2030-12-31")
    parser.add_argument(
        "--consent-clip",
        type=Path,
        metavar="FILE",
        help=f"a recording in which the speaker says: “{consent_sentence('NAME', 'en')}”, or the same in Chinese: "
        f"“{consent_sentence('NAME', 'zh')}”. It is compared with the voice and kept",
    )


def _consent(arguments: argparse.Namespace, before: Consent = NO_CONSENT) -> Consent:
    """Return ``before`` with the changes of the options."""
    given = {"by": arguments.consent, "scope": arguments.consent_scope, "until": arguments.consent_until}
    changes = {name: value for name, value in given.items() if value is not None}
    return dataclasses.replace(before, date=date.today().isoformat(), **changes) if changes else before


def _with_spoken(
    consent: Consent,
    arguments: argparse.Namespace,
    voice_clip: Path | None,
    transcript: str | None,
    command_context: CommandContext,
) -> Consent:
    """Return ``consent`` with the recording of the options, compared with the clip of the voice and kept."""
    clip: Path | None = arguments.consent_clip
    if clip is None:
        return consent
    if not consent.by:
        raise UnusableSetting("It is not known who consents in {file}.", remedy="Add --consent NAME.", file=clip.name)
    sentence = consent_sentence(consent.by, detect_language(transcript or "").value)
    with contextlib.closing(command_context.open_checks()) as checks:
        spoken = compare_spoken_consent(clip, voice_clip, sentence, checks)
    command_context.open_library().keep_consent_clip(clip)
    _print_spoken(spoken)
    return dataclasses.replace(consent, spoken=spoken)


def _print_spoken(spoken: SpokenConsent) -> None:
    if spoken.similarity is not None:
        print_message(f"similarity of the speaker who consents: {spoken.similarity:.2f} (1 means identical)")
        if spoken.similarity < MIN_SIMILARITY:
            print_message(f"note: below {MIN_SIMILARITY}, it is probably another speaker, or another microphone")
    match spoken.words:
        case SpokenWords.OTHER:
            print_message(f'note: other words were heard than "{printable(spoken.sentence)}"')
        case SpokenWords.UNKNOWN:
            print_message("note: the words were not compared, because no recogniser understands them")


def _add(arguments: argparse.Namespace, command_context: CommandContext) -> int:
    consent = _with_spoken(_consent(arguments), arguments, arguments.clip, arguments.transcript, command_context)
    addition = command_context.open_library().add(
        arguments.clip,
        arguments.name,
        arguments.transcript,
        notes=arguments.notes or "",
        consent=consent,
    )
    _print_added(addition)
    if not addition.voice.consent:
        print_message(
            "note: the consent of the speaker is not recorded; add it with `timbre voices edit` and --consent"
        )
    if arguments.check:
        _print_transcript(addition.voice, _transcribed(addition.voice, command_context))
    return 0


def _check(arguments: argparse.Namespace, command_context: CommandContext) -> int:
    """Return 0 if the transcript agrees with the recording, otherwise 1."""
    voice = command_context.open_library().get(arguments.name)
    transcript = _transcribed(voice, command_context)
    if arguments.json:
        print(json.dumps(_transcript_json(voice, transcript), ensure_ascii=False))
    else:
        _print_transcript(voice, transcript)
    return 0 if voice.transcript and not transcript.differences and not transcript.error_code else 1


def _shorten(arguments: argparse.Namespace, command_context: CommandContext) -> int:
    library = command_context.open_library()
    voice = library.get(arguments.name)
    with contextlib.closing(command_context.open_checks()) as checks:
        shorter = add_shorter_voice(library, voice, checks, model_folder(arguments.model))
    added = shorter.voice
    print_message(f"added {added.name}: {added.clip_seconds:.1f} of {voice.clip_seconds:.1f} s of {voice.name}")
    if shorter.similarity is not None:
        print_message(f"similarity of the speaker: {shorter.similarity:.2f} (1 means identical)")
    print_message(f"prepared in about {shorter.share:.0%} of the time, with as much less memory")
    if added.transcript:
        print_message("The transcript was recognised. Correct it with `timbre voices edit`:")
        print(printable(added.transcript))
    elif voice.transcript:
        print_message("The transcript was not recognised. Add it with `timbre voices edit`.")
    return 0


def _mix(arguments: argparse.Namespace, command_context: CommandContext) -> int:
    library = command_context.open_library()
    speakers = [library.get(name) for name in arguments.speakers]
    if not are_mixable(speakers):
        raise UnusableSetting(
            "{first} and {second} cannot be mixed, because a recording is the voice of one speaker.",
            remedy="Mix speakers of one model, such as those of CosyVoice-300M-SFT.",
            first=speakers[0].name,
            second=speakers[1].name,
        )
    mixed = library.add_copy(mixed_speaker(arguments.name, speakers), arguments.name)
    print_message(f"added {mixed.name}")
    for speaker, similarity in zip(speakers, similarities(mixed, speakers), strict=True):
        print_message(f"similarity to {speaker.name}: {similarity:.2f} (1 means identical)")
    return 0


def _transcribed(voice: Voice, command_context: CommandContext) -> Transcript:
    waveform = read_audio(voice.clip)
    client = command_context.open_checks()
    try:
        request = TranscriptRequest(
            waveform.samples, waveform.sample_rate, voice.transcript or "", language=voice.language or ""
        )
        return client.transcribe(request).result()
    finally:
        client.close()


def _print_transcript(voice: Voice, transcript: Transcript) -> None:
    if transcript.error_code:
        print_message(f"The transcript of {voice.name} was not compared ({transcript.error_code}).")
    elif not voice.transcript:
        print_message(f"Proposed transcript of {voice.name}, to correct and set with `timbre voices edit`:")
        print(printable(transcript.text))
    elif not transcript.differences:
        print_message(f"The transcript of {voice.name} agrees with its recording.")
    for each in transcript.differences:
        place = f"{each.from_seconds:.2f} to {each.to_seconds:.2f} s"
        typed = f'"{printable(each.typed)}" is written' if each.typed else "nothing is written"
        heard = f'"{printable(each.heard)}" was heard' if each.heard else "it was not heard"
        print_message(f"{place}: {typed}, {heard}")


def _transcript_json(voice: Voice, transcript: Transcript) -> dict[str, Any]:
    return {
        "name": voice.name,
        "transcript": voice.transcript,
        "heard": transcript.text,
        "differences": [
            {
                "kind": each.kind.value,
                "typed": each.typed,
                "heard": each.heard,
                "from_seconds": round(each.from_seconds, 3),
                "to_seconds": round(each.to_seconds, 3),
                "confidence": round(each.confidence, 3),
            }
            for each in transcript.differences
        ],
        "recognizer": transcript.recognizer or None,
        "error_code": transcript.error_code or None,
    }


def _list(arguments: argparse.Namespace, command_context: CommandContext) -> int:
    voices = command_context.open_library().voices()
    if arguments.json:
        print(json.dumps([_as_json(voice) for voice in voices], ensure_ascii=False))
    elif not voices:
        print_message("There are no voices yet. Add one with `timbre voices add NAME CLIP`.")
    else:
        width = max(len(voice.name) for voice in voices)
        for voice in voices:
            length = f"{voice.clip_seconds:4.1f} s" if voice.clip_seconds else " " * 6
            print(printable(f"{voice.name:<{width}}  {length}  {_in_short(voice)}".rstrip()))
    return 0


def _show(arguments: argparse.Namespace, command_context: CommandContext) -> int:
    values = _as_json(command_context.open_library().get(arguments.name))
    if arguments.json:
        print(json.dumps(values, ensure_ascii=False))
    else:
        spoken = values.pop("spoken_consent") or {}
        for name, value in (values | spoken).items():
            if value not in (None, "", False):
                lines = map(printable, str(value).splitlines())  # notes may have several lines
                print(f"{name + ':':<14}", "\n".join(lines))
    return 0


def _remove(arguments: argparse.Namespace, command_context: CommandContext) -> int:
    command_context.open_library().remove(arguments.name)
    print_message(f"removed {arguments.name}")
    return 0


def _rename(arguments: argparse.Namespace, command_context: CommandContext) -> int:
    voice = command_context.open_library().rename(arguments.name, arguments.new_name)
    print_message(f"renamed {arguments.name} to {voice.name}")
    return 0


def _edit(arguments: argparse.Namespace, command_context: CommandContext) -> int:
    library = command_context.open_library()
    voice = library.get(arguments.name)
    before = voice.consent
    transcript = arguments.transcript or voice.transcript
    clip = voice.clip if voice.generation is None else None
    changed = _with_spoken(_consent(arguments, before), arguments, clip, transcript, command_context)
    voice = library.update_metadata(
        arguments.name,
        transcript=arguments.transcript,
        notes=arguments.notes,
        consent=None if changed == before else changed,
    )
    print_message(f"changed {voice.name}")
    return 0


def _export(arguments: argparse.Namespace, command_context: CommandContext) -> int:
    path = arguments.file or Path(f"{sanitize_filename(arguments.name)}{SUFFIX}")
    command_context.open_library().export(arguments.name, path)
    print_message(f"wrote {path}")
    return 0


def _import(arguments: argparse.Namespace, command_context: CommandContext) -> int:
    library = command_context.open_library()
    if arguments.file.suffix != ".pt":
        _print_added(library.import_(arguments.file, name=arguments.name))
        return 0
    folder = model_folder(arguments.model) if arguments.model else _folder_of(arguments.file)
    with tempfile.TemporaryDirectory(prefix="timbre-import-") as destination:
        written = asyncio.run(_stored_voices(arguments.file, folder, Path(destination), command_context))
        return _add_stored(written, library, arguments.name)


async def _stored_voices(
    path: Path, folder: Path, destination: Path, command_context: CommandContext
) -> StoredVoicesWritten:
    async with WorkerClient(folder, start_worker=command_context.start_worker) as client:
        return await client.import_stored_voices(path, destination)


def _add_stored(written: StoredVoicesWritten, library: VoiceLibrary, name: str | None) -> int:
    """Add as many voices as possible. Return the exit status of the last failure, or 0."""
    status = 0
    for sentence in written.refused:
        print_message(str(sentence))
    for stored in written.voices:
        try:
            new_name = name if name and len(written.voices) == 1 else stored.name
            _print_added(library.add(stored.features, new_name, stored.transcript, generation=stored.generation))
        except StudioError as error:
            print_message(f"timbre: {error} ({error.code})")
            status = error.exit_status
    return status


def _folder_of(path: Path) -> Path:
    """Return the model folder that contains the spk2info.pt and thus has the matching tokenizer and generation."""
    try:
        detect_generation(path.parent)
    except ModelNotFound as error:
        raise ModelNotFound(
            "{file} is not in a model folder.",
            remedy="Give the model it was stored with: --model.",
            file=path.name,
        ) from error
    return path.parent


def _print_added(addition: Addition) -> None:
    for warning in addition.warnings:
        print_message(warning)
    voice = addition.voice
    hint = "" if voice.transcript or not voice.clip_seconds else "; add a --transcript for a closer likeness"
    print_message(f"added {voice.name} ({voice.clip_seconds:.1f} s{hint})")


def _consent_words(consent: Consent) -> tuple[str, ...]:
    return consent.by, consent.date, consent.scope, consent.until


def _in_short(voice: Voice) -> str:
    if voice.models:
        return f"(built-in voice of {', '.join(voice.models)})"
    if not voice.clip_seconds:
        return f"({voice.generation} only, no recording)"
    origin = "bundled" if voice.is_built_in else f"{voice.generation} only" if voice.generation else ""
    return f"{f'({origin}) ' if origin else ''}{voice.transcript or '(no transcript)'}"


def _as_json(voice: Voice) -> dict[str, Any]:
    return {
        "name": voice.name,
        "transcript": voice.transcript,
        "clip_seconds": round(voice.clip_seconds, 3),
        "notes": voice.notes,
        "language": voice.language,
        "quality": voice.quality.value if voice.quality else None,
        "consent": " · ".join(part for part in _consent_words(voice.consent) if part) or None,
        "spoken_consent": dataclasses.asdict(voice.consent.spoken) if voice.consent.spoken else None,
        "generation": voice.generation,
        "created": voice.created or None,
        "built_in": voice.is_built_in,
        "models": list(voice.models),
        "clip": str(voice.clip),
    }
