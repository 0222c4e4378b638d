"""Parsers of commands, and the options that several commands share: the model, its engines, the voice, the style."""

from __future__ import annotations

import argparse
import difflib
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from studio.audio.time_stretch import MAX_SPEED, MIN_SPEED
from studio.catalog.installed import DEFAULT_MODEL, installed_models, why_not_loadable
from studio.cli.command_context import CommandContext
from studio.cli.numbers import num_threads, port_number, positive, seed, speed
from studio.cli.old_options import PRECISIONS, add_old_options
from studio.cli.progress import print_message
from studio.errors import ModelNotFound, UnreadableClip, VoiceNotFound, VoiceOfAnotherModel
from studio.messages import did_you_mean, message
from studio.model.generations import GENERATIONS, detect_generation
from studio.model.options import Quality
from studio.pipeline.request import EngineOptions, VoiceReference
from studio.remote.address import ServerAddress, normalized_url
from studio.settings import (
    DEVICE,
    FLOW_PRECISION,
    KEEPS_LEADING_SILENCE,
    NUM_THREADS,
    PREFERS_RL,
    SERVED_VOICE_NAMES,
    SPEECH_LM_PRECISION,
    STREAMS_APPROXIMATELY,
)
from studio.settings_store import Settings
from studio.text.language import Language, tag_named
from studio.voices.library import Voice, VoiceLibrary
from studio.voices.permission import require_permission
from studio.voices.voice import default_voice

Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"
Run = Callable[[argparse.Namespace, CommandContext], int]


def add_command(
    commands: Commands, name: str, run: Run | None, *, help_text: str, description: str, examples: str
) -> argparse.ArgumentParser:
    """Add the parser of a command. ``run`` is None for a command with actions."""
    parser = commands.add_parser(
        name,
        help=help_text,
        description=description,
        epilog=examples,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=run)
    if run is not None:
        _add_quiet_option(parser)
    return parser


class Actions:
    """The actions of the command of ``parser``, such as ``list`` of ``timbre models list``.

    The help of an action contains those examples of the command that use it.
    """

    def __init__(self, parser: argparse.ArgumentParser) -> None:
        self._parsers = parser.add_subparsers(dest="action", metavar="ACTION", title="actions", required=True)
        self._command = parser.prog
        self._examples = (parser.epilog or "").splitlines()

    def add(self, name: str, run: Run, help_text: str, *positionals: str) -> argparse.ArgumentParser:
        """Add the parser of an action. ``positionals`` are its metavars."""
        use = f"{self._command} {name}"
        examples = [line for line in self._examples if f"{line.strip()} ".startswith(f"{use} ")]
        parser = self._parsers.add_parser(
            name,
            help=help_text,
            description=f"{help_text[0].upper()}{help_text[1:]}.",
            epilog="\n".join(["examples:", *examples]) if examples else None,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        parser.set_defaults(run=run)
        for metavar in positionals:
            parser.add_argument(metavar.lower(), metavar=metavar)
        _add_quiet_option(parser)
        return parser


def _add_quiet_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--quiet", action="store_true", help="print results and errors only")


def add_model_option(parser: argparse.ArgumentParser, *, default: str = DEFAULT_MODEL) -> None:
    parser.add_argument(
        "--model",
        metavar="DIR|NAME",
        help=f"a model folder as officially released, or the name of an installed one (default {default})",
    )


def add_server_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("another computer", "speak with the model of another computer's `timbre serve`")
    group.add_argument(
        "--server",
        metavar="URL",
        help="its address, such as 192.168.1.20:8807; --model is ignored. grpc://HOST:PORT is the Triton runtime of "
        "CosyVoice, and --model the name of its model, if it has several",
    )
    group.add_argument("--token-file", type=Path, metavar="FILE", help="file with its token, readable only by you")


def speaking_place(arguments: argparse.Namespace, command_context: CommandContext) -> tuple[Path, CommandContext]:
    """Return the folder that describes the model, and a context whose workers use it, here or with --server.

    Raise ``StudioError``.
    """
    if arguments.server is None:
        return model_folder(arguments.model), command_context
    from studio.remote.open_worker import open_worker  # noqa: PLC0415 - slow to import
    from studio.remote.other_worker import describe  # noqa: PLC0415
    from studio.remote.probing import probe, probe_other  # noqa: PLC0415

    address = ServerAddress(normalized_url(arguments.server), arguments.token_file)
    token = address.token()
    if token is not None and not address.is_encrypted and not address.is_this_computer:
        print_message("note: texts, voices and the token are not encrypted; use a network that you trust")
    if address.is_triton:
        models = probe_other(address, token).models
        address = replace(address, model=_model_of_triton(arguments.model, address.host, models))
        print_message(f"note: {address.model} at {address.host} has no styles, seeds or sampling options")
        folder = Path(describe(address).folder)
    else:
        folder = Path(probe(address, token).description.folder)
    return folder, replace(command_context, start_worker=lambda: open_worker(address))


def _model_of_triton(choice: str | None, host: str, models: Sequence[str]) -> str:
    """Return the model ``choice`` of a server, or its only one. Raise ``ModelNotFound``."""
    if choice is not None and choice in models:
        return choice
    if choice is None and len(models) == 1:
        return models[0]
    if choice is None:
        raise ModelNotFound(
            "{host} has several models.",
            remedy="Give one of these with --model: {known}.",
            host=host,
            known=", ".join(models),
        )
    raise ModelNotFound(
        "{host} has no speech model named {model}.",
        remedy="Give one of these with --model: {known}.",
        host=host,
        model=choice,
        known=", ".join(models),
    )


def add_engine_options(
    parser: argparse.ArgumentParser, *, has_precision: bool = True, has_threads: bool = False
) -> None:
    """Add the options of the engine. Those that are not given are taken from the settings."""
    group = parser.add_argument_group("engine", "how the model runs; the defaults come from the settings")
    add_device_option(group)
    if has_precision:
        group.add_argument(
            "--precision",
            choices=PRECISIONS,
            help="precision of the language model (default auto: the fastest that passes a quality check)",
        )
    else:
        add_old_options(parser, "--precision")
    if has_threads:
        add_threads_option(group)
    else:
        add_old_options(parser, "--threads")
    add_old_options(
        parser, "--flow-precision", "--variant", "--flow-steps", "--flow-left-context", "--approximate-streaming"
    )


def add_device_option(parser: argparse._ActionsContainer) -> None:
    parser.add_argument(
        "--device",
        metavar="WHERE",
        help="where the model runs: auto, cpu, cuda, cuda:1, or part of a GPU's name (default auto: the GPU with the most "
        "memory, otherwise the CPU)",
    )


def add_threads_option(parser: argparse._ActionsContainer) -> None:
    parser.add_argument(
        "--threads", type=num_threads, metavar="N", help="number of CPU threads (default: chosen for this computer)"
    )


def engine_options(arguments: argparse.Namespace, folder: Path | None) -> EngineOptions:
    """Return the options for loading the model of ``folder``, which is None if another computer loads it."""
    settings = Settings()
    return EngineOptions(
        device=arguments.device or settings[DEVICE],
        speech_lm_precision=arguments.precision or settings[SPEECH_LM_PRECISION],
        flow_precision=arguments.flow_precision or settings[FLOW_PRECISION],
        variant=arguments.variant or preferred_variant(settings, folder),
        num_threads=arguments.threads or settings[NUM_THREADS] or None,
        flow_steps=arguments.flow_steps,
        streams_approximately=arguments.approximate_streaming or settings[STREAMS_APPROXIMATELY],
    )


def preferred_variant(settings: Settings, folder: Path | None) -> str | None:
    """Return the variant of the language model that the settings prefer, if it is installed."""
    return "rl" if settings[PREFERS_RL] and folder is not None and (folder / "llm.rl.pt").is_file() else None


def model_folder(choice: str | None) -> Path:
    """Return the folder of ``--model``. Raise ``ModelNotFound``, which suggests similar names."""
    if choice is None:
        choice = DEFAULT_MODEL
    elif os.path.isdir(choice):
        return Path(choice)
    installed = installed_models()
    if choice in installed:
        return installed[choice]
    if error := why_not_loadable(choice):
        raise error
    near = difflib.get_close_matches(choice, installed, n=3)
    raise ModelNotFound(
        "There is no model {choice}.{did_you_mean}",
        remedy="Give a folder, or one of: {known}.",
        choice=choice,
        did_you_mean=did_you_mean(near),
        known=", ".join(sorted(installed)) or message("none is installed"),
    )


def add_voice_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--voice",
        metavar="CLIP|NAME",
        help="a recording of the voice of 3 to 10 seconds, or the name of a voice added with `timbre voices add`",
    )
    parser.add_argument("--transcript", metavar="TEXT", help="the words of the recording, for a closer likeness")


def voice_reference(
    choice: str | None, transcript: str | None, library: VoiceLibrary, model_folder: Path, language: str = ""
) -> VoiceReference:
    """Return the voice given by ``--voice`` (an audio file or a voice of the library), or the default voice for
    ``language``, an ISO code.

    Raise ``VoiceNotFound``, ``UnreadableClip``, ``VoiceOfAnotherModel``, ``ConsentExpired``, ``ConsentMissing``.
    """
    if choice is None:
        voice = _default_voice(library, language)
    elif os.path.isfile(choice):
        require_permission(Voice(Path(choice).stem, Path(choice), transcript, 0.0))
        return VoiceReference(Path(choice), transcript, Path(choice).stem)
    elif _looks_like_a_path(choice):
        raise UnreadableClip("There is no file {choice}.", remedy="Check its name and folder.", choice=choice)
    else:
        voice = library.get(choice)
    if voice.generation is not None:
        _require_generation(voice, model_folder)
    require_permission(voice)
    return VoiceReference(voice.clip, voice.transcript if transcript is None else transcript, voice.name)


def _default_voice(library: VoiceLibrary, language: str) -> Voice:
    """Return the first bundled voice of ``language``, or the only voice of the library."""
    voices = library.voices()
    if voices and (voices[0].is_built_in or len(voices) == 1):
        return default_voice(voices, language)
    known = message(" Your voices: {names}.", names=", ".join(voice.name for voice in voices)) if voices else ""
    raise VoiceNotFound(
        "No voice is given.{known}",
        remedy="Give a recording or the name of a voice with --voice.",
        known=known,
    )


def pair(words: str) -> tuple[str, str]:
    """Parse ``NAME=VALUE``."""
    name, sign, value = words.partition("=")
    if not (sign and name.strip() and value.strip()):
        raise argparse.ArgumentTypeError(f"{words} is not like NAME=VALUE")
    return name.strip(), value.strip()


def _looks_like_a_path(choice: str) -> bool:
    return "/" in choice or "\\" in choice or Path(choice).suffix != ""


def _require_generation(voice: Voice, model_folder: Path) -> None:
    if not model_folder.is_dir():  # a server of another program, which checks it itself
        return
    generation, _ = detect_generation(model_folder)
    if generation.name != voice.generation:
        titles = {known.name: known.title for known in GENERATIONS}
        raise VoiceOfAnotherModel(
            "{name} has no recording, only features stored by a {own} model; {model} is a {generation} model.",
            remedy="Choose a {own} model with --model, or create the voice from a recording.",
            name=voice.name,
            own=titles.get(voice.generation or "", voice.generation),
            model=model_folder.name,
            generation=generation.title,
        )


def add_style_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--instruct", metavar="WORDS", help="the speaking style, in your own words")
    group.add_argument("--preset", metavar="NAME", help="the speaking style, by name: see `timbre styles`")


def add_speech_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--speed", type=speed, default=1.0, help=f"speaking rate, {MIN_SPEED:g} to {MAX_SPEED:g} (default 1)"
    )
    parser.add_argument("--seed", type=seed, default=0, help="random seed for sampling (default 0)")
    add_quality_option(parser)


def add_language_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--language",
        type=language_tag,
        metavar="TAG",
        help="language of the text, such as de or en-GB, for numbers and dates (default: detected)",
    )


def language_tag(name: str) -> str:
    tag = tag_named(name)
    if tag is None:
        known = ", ".join(language.value for language in Language)
        raise argparse.ArgumentTypeError(f"{name} is not one of {known}, with or without a region")
    return tag


def add_whole_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--whole", action="store_true", help="synthesise whole sentences: higher latency, slightly better quality"
    )


def add_quality_option(parser: argparse._ActionsContainer) -> None:
    parser.add_argument(
        "--quality",
        choices=tuple(quality.value for quality in Quality),
        help="exact (default): as released; fast: within 0.6 dB of it in a short test; draft: within 1.6 dB, for trying out",
    )


def chosen_quality(arguments: argparse.Namespace) -> Quality | None:
    return None if arguments.quality is None else Quality(arguments.quality)


def keeps_leading_silence(arguments: argparse.Namespace) -> bool:
    return bool(arguments.keep_leading_silence or Settings()[KEEPS_LEADING_SILENCE])


def add_service_options(parser: argparse.ArgumentParser, *, port_note: str = "") -> None:
    """Add the options of a speech service: its address, access rules, default voice and queue."""
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default 127.0.0.1)")
    parser.add_argument("--port", type=port_number, default=8807, help=f"port to listen on (default 8807{port_note})")
    parser.add_argument(
        "--token-file", type=Path, metavar="FILE", help="file with the token that clients must send as API key"
    )
    parser.add_argument(
        "--voice", default="", metavar="NAME", help="voice for requests that specify none (default: the first)"
    )
    parser.add_argument(
        "--map-voice",
        action="append",
        default=[],
        type=pair,
        metavar="NAME=VOICE",
        help="use VOICE for requests that name NAME, such as alloy=Anna; repeat it for each name",
    )
    parser.add_argument(
        "--strict-models",
        action="store_true",
        help="refuse requests for any other model name than that of the served model",
    )
    parser.add_argument(
        "--queue", type=positive, default=64, metavar="N", help="maximum number of queued requests (default 64)"
    )
    parser.add_argument(
        "--allow-host", action="append", default=[], metavar="NAME", help="also accept requests for this host name"
    )
    parser.add_argument(
        "--allow-origin", action="append", default=[], metavar="URL", help="let the web pages of this origin connect"
    )


def voice_names(arguments: argparse.Namespace, library: VoiceLibrary) -> dict[str, str]:
    """Return the voices by the names that clients send: those of the settings, and then of ``--map-voice``.

    Raise ``VoiceNotFound`` if ``--voice`` or ``--map-voice`` name a voice that does not exist.
    """
    given = dict(arguments.map_voice)
    for voice in (arguments.voice, *given.values()):
        if voice:
            library.get(voice)
    kept = Settings()[SERVED_VOICE_NAMES]
    return {**kept, **given}
