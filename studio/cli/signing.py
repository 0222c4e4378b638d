"""Options of the commands that sign and mark the files they write."""

from __future__ import annotations

import argparse

from studio.cli.progress import print_message
from studio.provenance.signing import FileSigner, Signing, chosen_signing, why_not_signed
from studio.settings import MARKS_FILES, SIGNS_FILES
from studio.settings_store import Settings


def add_signing_options(parser: argparse._ActionsContainer) -> None:
    parser.add_argument(
        "--unsigned",
        action="store_true",
        help="write files without a signed manifest, so that nobody can verify that they are synthetic and made here",
    )
    parser.add_argument(
        "--unmarked",
        action="store_true",
        help="write files without the imperceptible mark, so that nothing shows that they are synthetic once the "
        "manifest is removed",
    )


def signing_of(arguments: argparse.Namespace) -> Signing | None:
    """Return how files are signed, or None. If the library is missing and files are written, print that they are not."""
    settings = Settings()
    if arguments.unsigned or not settings[SIGNS_FILES]:
        return None
    chosen = chosen_signing(settings)
    if chosen is None and not getattr(arguments, "dry_run", False):
        print_message(f"timbre: {why_not_signed()}")
    return chosen


def is_marked(arguments: argparse.Namespace) -> bool:
    """Return whether files are marked."""
    return Settings()[MARKS_FILES] and not arguments.unmarked


def open_signer(arguments: argparse.Namespace) -> FileSigner | None:
    """Load the key that signs, or return None. Raise ``UnusableCertificate``, ``CannotWrite``, ``DiskFull``."""
    signing = signing_of(arguments)
    return None if signing is None else FileSigner(signing)
