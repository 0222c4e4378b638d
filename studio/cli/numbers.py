"""Numbers on the command line. Each function parses the text of an option and raises ``ArgumentTypeError``."""

from __future__ import annotations

import argparse
from datetime import date

from studio.audio.time_stretch import MAX_SPEED, MIN_SPEED
from studio.take_checks.policy import MAX_RETRIES

# More than any computer has. A number that the system refuses would crash the worker.
_MAX_THREADS = 1024


def iso_date(text: str) -> str:
    """Parse a date such as 2030-12-31."""
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text} is not a date like 2030-12-31") from error


def positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is not above 0")
    return number


def share(text: str) -> float:
    number = float(text)
    if not 0.0 < number <= 1.0:
        raise argparse.ArgumentTypeError(f"{text} is not between 0 and 1")
    return number


def speed(text: str) -> float:
    number = float(text)
    if not MIN_SPEED <= number <= MAX_SPEED:
        raise argparse.ArgumentTypeError(f"{text} is not between {MIN_SPEED:g} and {MAX_SPEED:g}")
    return number


def seed(text: str) -> int:
    number = int(text)
    if not 0 <= number < 2**63:
        raise argparse.ArgumentTypeError(f"{text} is not between 0 and 2^63")
    return number


def num_threads(text: str) -> int:
    number = positive(text)
    if number > _MAX_THREADS:
        raise argparse.ArgumentTypeError(f"{text} is above {_MAX_THREADS}")
    return number


def num_retries(text: str) -> int:
    if not text.isdecimal() or int(text) > MAX_RETRIES:
        raise argparse.ArgumentTypeError(f"{text} is not a number from 0 to {MAX_RETRIES}")
    return int(text)


def port_number(text: str) -> int:
    port = int(text)
    if not 0 <= port < 1 << 16:
        raise argparse.ArgumentTypeError(f"{text} is not between 0 and 65535")
    return port
