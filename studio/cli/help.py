"""`timbre help`: the manual in the terminal."""

from __future__ import annotations

import argparse
import re

from studio.cli.command_context import CommandContext
from studio.cli.options import Commands, add_command
from studio.cli.progress import print_message
from studio.manual import Topic, read_topics

EXAMPLES = """\
examples:
  timbre help                    list the topics
  timbre help audiobooks
  timbre help cover              list the topics that contain a word

`timbre COMMAND --help` lists the options of a command.
"""
_IMAGE = re.compile(r"^!\[.*\)\n\n", re.MULTILINE)
_LINK_TO_PAGE = re.compile(r"\[([^]]+)\]\((?!https?:)[^)]+\)")


def add_parser(commands: Commands) -> None:
    parser = add_command(
        commands,
        "help",
        run,
        help_text="show the manual",
        description="List the topics of the manual, or print one.",
        examples=EXAMPLES,
    )
    parser.add_argument("words", nargs="*", metavar="TOPIC", help="name of a topic, or words to search for")


def run(arguments: argparse.Namespace, _: CommandContext) -> int:
    topics = read_topics()
    wanted = " ".join(arguments.words)
    for topic in topics:
        if topic.name == wanted:
            print(_plain(topic), end="")
            return 0
    found = [topic for topic in topics if topic.contains(wanted)]
    for topic in found:
        print(f"{topic.name:<16} {topic.title}")
    if not found:
        print_message(f"The manual does not mention {wanted}. `timbre help` lists its topics.")
    return 0 if found else 1


def _plain(topic: Topic) -> str:
    """Return the text without images and without targets of links to other pages."""
    return _LINK_TO_PAGE.sub(r"\1", _IMAGE.sub("", topic.text))
