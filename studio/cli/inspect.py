"""`timbre inspect`: where an audio file comes from, and whether it has changed."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from studio.cli.command_context import CommandContext
from studio.cli.options import Commands, add_command
from studio.errors import UnusableCertificate
from studio.messages import printable
from studio.provenance.inspection import Inspection, ManifestState, inspect_file, inspections_json
from studio.storage.disk import require_regular_file

EXAMPLES = """\
examples:
  timbre inspect hello.wav
  timbre inspect book/*.mp3 --json
  timbre inspect news.wav --trust publisher.pem      also trust the certificates in this file

A valid manifest proves that the file has not changed since it was signed. Who has signed it is certain only if the
certificate is trusted: your own key, and those of --trust, are. A file without a manifest may be synthetic, too.

The exit status is 1 if a file was changed or its manifest cannot be read.
"""
_MAX_CERTIFICATE_BYTES = 1 << 20
_MAX_LINES = 5


def add_parser(commands: Commands) -> None:
    parser = add_command(
        commands,
        "inspect",
        run,
        help_text="verify where audio files come from",
        description="Read the signed manifest and the tags of audio files, and verify that the files have not changed.",
        examples=EXAMPLES,
    )
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE", help="an audio file")
    parser.add_argument("--trust", type=Path, metavar="FILE", help="a PEM file with certificates that you trust")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace, _command_context: CommandContext) -> int:
    trusted = _own_certificates() + (_certificates(arguments.trust) if arguments.trust else b"")
    found = [inspect_file(path, trusted=trusted) for path in arguments.files]
    if arguments.json:
        print(inspections_json(found), flush=True)
    else:
        for each in found:
            print("\n".join(map(printable, _sentences(each))), flush=True)
    return int(any(each.state in (ManifestState.CHANGED, ManifestState.UNREADABLE) for each in found))


def _own_certificates() -> bytes:
    """Return the certificate of the self-made key, or nothing if no usable key exists."""
    from studio.provenance.credentials import load_credentials, self_made_path  # noqa: PLC0415 - an optional extra

    try:
        return load_credentials(None).certificates if self_made_path().exists() else b""
    except UnusableCertificate:  # reported when it signs
        return b""


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
    lines += [f"  recordings that keep their own manifest: {found.num_ingredients}"] * bool(found.num_ingredients)
    lines += [f"  {name}: {' '.join(value.split())}" for name, value in found.tags.items()]
    return lines


def _state(found: Inspection) -> str:
    trust = "" if found.is_trusted else ", which no trusted certificate confirms"
    match found.state:
        case ManifestState.VALID:
            return f"valid, not changed since it was signed by “{found.signer}”{trust}"
        case ManifestState.ABSENT:
            return "absent; the file does not say where it comes from"
        case _:
            return f"{found.state.value}. {found.reason}"


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
        sentences.append(f"line: voice {line.get('voice')}, seed {line.get('seed')}{verdict}")
    if len(lines) > _MAX_LINES:
        sentences.append(f"and {len(lines) - _MAX_LINES} more lines")
    return sentences
