"""`timbre inspect`: where an audio file comes from, and whether it has changed."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from studio.cli.command_context import CommandContext
from studio.cli.options import Commands, add_command, add_engine_options, add_model_option, add_voice_options
from studio.cli.recompute import Recomputed, recompute
from studio.cli.speaking import run_until_cancelled
from studio.errors import UnusableCertificate
from studio.messages import printable
from studio.provenance.inspection import Inspection, ManifestState, inspect_file, inspection_values, own_certificates
from studio.provenance.mark import FoundMark, MarkState
from studio.provenance.recorded_speech import Match
from studio.storage.disk import require_regular_file

EXAMPLES = """\
examples:
  timbre inspect hello.wav
  timbre inspect book/*.mp3 --json
  timbre inspect news.wav --trust publisher.pem      also trust the certificates in this file
  timbre inspect hello.wav --recompute --text "Hello there."   speak it again, and compare

A valid manifest proves that the file has not changed since it was signed. Who has signed it is certain only if the
certificate is trusted: your own key, and those of --trust, are. A file without a manifest may be synthetic, too.

A mark stays in the sound when the manifest is removed, after compression, and often after a change of speed by up to
10 %. It is found in most lines of two seconds and more. Speech without a mark may be synthetic, too: it may come
from another program, or the mark may have been removed. In half a minute of speech that you have signed, the mark
contains the number of the file, which its manifest states as "mark_code". Only your key can read it.

--recompute speaks the lines with the same model, voice and seed. "identical" means that every sample is the same, and
"same tokens, other arithmetic" that the speech is, but a processor or engine rounds differently.

Manifests are verified with the library c2pa-python, which the extra "provenance" contains. Without it they are not
checked; the mark and the tags are.

The exit status is 1 if a file was changed, its manifest cannot be read or checked, or the speech is different.
"""
_MAX_CERTIFICATE_BYTES = 1 << 20
_MAX_LINES = 5


def add_parser(commands: Commands) -> None:
    parser = add_command(
        commands,
        "inspect",
        run,
        help_text="verify where audio files come from",
        description="Read the signed manifest and the tags of audio files, verify that the files have not changed, and search the sound for the imperceptible mark of synthetic speech.",
        examples=EXAMPLES,
    )
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE", help="an audio file")
    parser.add_argument("--trust", type=Path, metavar="FILE", help="a PEM file with certificates that you trust")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    again = parser.add_argument_group("speaking again")
    again.add_argument("--recompute", action="store_true", help="speak the lines again, and compare them")
    again.add_argument(
        "--text", metavar="TEXT|FILE", help="the text, or a file with it; manifests contain only a hash of each line"
    )
    add_voice_options(parser)
    add_model_option(parser)
    add_engine_options(parser)


def run(arguments: argparse.Namespace, command_context: CommandContext) -> int:
    trusted = own_certificates() + (_certificates(arguments.trust) if arguments.trust else b"")
    found = [inspect_file(path, trusted=trusted) for path in arguments.files]
    recomputed: list[Recomputed] = []
    if arguments.recompute:

        async def work() -> None:
            recomputed.extend(await recompute(found, arguments, command_context))

        run_until_cancelled(work())
    if arguments.json:
        values = [inspection_values(each) for each in found]
        for value, again in zip(values, recomputed, strict=False):
            value["recomputed"] = again.as_json()
        print(json.dumps({"files": values}, ensure_ascii=False), flush=True)
    else:
        for position, each in enumerate(found):
            sentences = _sentences(each) + (_comparisons(recomputed[position]) if recomputed else [])
            print("\n".join(map(printable, sentences)), flush=True)
    is_in_doubt = any(each.state not in (ManifestState.VALID, ManifestState.ABSENT) for each in found)
    return int(is_in_doubt or any(each.is_different for each in recomputed))


def _certificates(path: Path) -> bytes:
    try:
        require_regular_file(path)
        with path.open("rb") as file:
            return file.read(_MAX_CERTIFICATE_BYTES)
    except OSError as error:
        raise UnusableCertificate(
            "The certificates {path} cannot be read ({reason}).",
            remedy="Check the name of the file.",
            path=path,
            reason=error,
        ) from error


def _sentences(found: Inspection) -> list[str]:
    lines = [f"{found.path}:", f"  manifest: {_state(found)}"]
    if found.speech is not None:
        lines += [f"  {line}" for line in _speech(found.speech)]
    lines.append(f"  mark: {_mark(found.mark)}")
    lines += [f"  recordings that keep their own manifest: {found.num_ingredients}"] * bool(found.num_ingredients)
    lines += [f"  {name}: {' '.join(value.split())}" for name, value in found.tags.items()]
    return lines


def _mark(mark: FoundMark) -> str:
    match mark.state:
        case MarkState.FOUND:
            speed = "" if mark.speed == 1.0 else f", played {mark.speed:g} times as fast"
            place = f"clearest from {mark.start_seconds:.0f} to {mark.end_seconds:.0f} s"
            number = f"; your file {mark.number}" if mark.number else ""
            return f"found; the speech is synthetic ({place}{speed}){number}"
        case MarkState.NOT_FOUND:
            return "no mark found; the speech may be synthetic, too"
        case MarkState.NOT_CHECKED:
            return "not checked; the sound is too short or cannot be read"


def _state(found: Inspection) -> str:
    trust = "" if found.is_trusted else ", which no trusted certificate confirms"
    match found.state:
        case ManifestState.VALID:
            return f"valid, not changed since it was signed by “{found.signer}”{trust}"
        case ManifestState.ABSENT:
            return "absent; the file does not say where it comes from"
        case _:
            return f"{found.state.value.replace('-', ' ')}. {found.reason}"


def _comparisons(recomputed: Recomputed) -> list[str]:
    """Return how the speech compares with the same lines spoken again."""
    words = {
        Match.IDENTICAL: "identical",
        Match.SAME_TOKENS: "same tokens, other arithmetic",
        Match.DIFFERENT: "different",
        Match.NOT_COMPARED: "not compared",
    }
    lines = [
        (f"  line {line.number} spoken again: " if line.number else "  spoken again: ")
        + words[line.match]
        + (f". {line.reason}" if line.reason else "")
        for line in recomputed.lines
    ]
    match recomputed.contains_take:
        case True:
            lines.append("  The file contains exactly this take.")
        case False:
            lines.append("  The audio of the file is not this take.")
        case None if recomputed.edits:
            lines.append(f"  Takes were compared as they were before these edits: {', '.join(recomputed.edits)}.")
    return lines


def _speech(speech: Mapping[str, Any]) -> list[str]:
    """Return what the manifest says about the speech. Its values are untrusted."""
    model, licence, edits = speech.get("model"), speech.get("licence"), speech.get("edits")
    listed = speech.get("lines")
    lines = [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
    sentences = [f"synthetic speech: model {model}" + (f", licence {licence}" if licence else "")]
    sentences += [f"made: {speech['made']}"] if "made" in speech else []
    sentences += [f"edits: {', '.join(map(str, edits))}"] if isinstance(edits, list) and edits else []
    for line in lines[:_MAX_LINES]:
        verdict = f", check {line['verdict']}" if "verdict" in line else ""
        consent = f", consent: {line['consent']}" if "consent" in line else ""
        recording = f", human recording ({line['recording']})" if "recording" in line else ""
        sentences.append(f"line: voice {line.get('voice')}, seed {line.get('seed')}{recording}{verdict}{consent}")
    if len(lines) > _MAX_LINES:
        sentences.append(f"and {len(lines) - _MAX_LINES} more lines")
    return sentences
