"""The text to speak: the argument, a file, or standard input."""

from __future__ import annotations

import argparse
import asyncio
import codecs
import os
import sys
import threading
from collections.abc import AsyncIterator
from pathlib import Path

from studio.errors import NothingToSpeak
from studio.project.importing.script_file import read_text

_BLOCK_BYTES = 4096
ARRIVING = "-"


def add_text_options(parser: argparse.ArgumentParser) -> None:
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument(
        "text", nargs="?", metavar="TEXT", help="the text to speak; - reads standard input as it arrives"
    )
    source.add_argument("--file", type=Path, metavar="FILE", help="speak a text file")


def written_text(arguments: argparse.Namespace) -> str:
    """Return the text of the argument or the file; empty if it arrives on standard input.

    Raises ``NothingToSpeak`` and ``UnreadableScript``.
    """
    if arguments.text == ARRIVING:
        return ""
    text: str = arguments.text if arguments.file is None else read_text(arguments.file, allows_pipe=True)
    if not text.strip():
        raise NothingToSpeak("The text is empty.", remedy="Write at least one word.")
    return text


async def arriving_text(file_descriptor: int) -> AsyncIterator[str]:
    """Yield pieces of text as they arrive, until the end of the input. Undecodable bytes become U+FFFD."""
    encoding = getattr(sys.stdin, "encoding", None) or "utf-8"
    decoder = codecs.getincrementaldecoder("utf-8-sig" if encoding.lower() == "utf-8" else encoding)("replace")
    loop = asyncio.get_running_loop()
    blocks: asyncio.Queue[bytes] = asyncio.Queue()

    def read() -> None:
        # Not through sys.stdin: a blocked buffered reader would keep the program from ending.
        block = b"-"
        while block:
            try:
                block = os.read(file_descriptor, _BLOCK_BYTES)
            except OSError:
                block = b""
            loop.call_soon_threadsafe(blocks.put_nowait, block)

    threading.Thread(target=read, name="standard-input", daemon=True).start()
    while block := await blocks.get():
        yield decoder.decode(block)
    yield decoder.decode(b"", final=True)
