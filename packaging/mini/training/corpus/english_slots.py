"""Sentences from templates with random numbers, dates, times, names, places and messages of apps."""

from __future__ import annotations

import re

import numpy as np

from studio.text.number_words import english_cardinal, english_digits

_TEMPLATES = """
{Name} will arrive at {time}.|{Name} and {name} live in {place}.|My number is {digits}.|The code is {digits}.
The meeting is on {weekday}, {month} the {ordinal}.|It is {number} kilometers from {place} to {place}.
{Number} people visited {place} last {month}.|Call {name} back at {time}, please.|Is {name} coming on {weekday}?
The train from {place} leaves at {time}.|Platform {small} is closed until {weekday}.|That costs {number} dollars.
Today is {weekday}, the {ordinal} of {month}.|It is {small} degrees in {place}.|{Name} was born in {year}.
In {year}, {name} moved to {place}.|Turn to page {number}.|Chapter {small}.|Room {digits} is on floor {small}.
{Name} ordered {small} {things} and {small} {things}.|We need {small} more {things}.|Where are the {things}?
The {thing} is {adjective}.|This {thing} is too {adjective} for {name}.|Look at that {adjective} {thing}!
I bought a {adjective} {thing} in {place}.|Do you prefer the {adjective} {thing} or the {adjective} one?
{Name}, have you seen my {thing}?|Hello, {name}.|Good morning, {name}!|Thank you, {name}.|Good night, {name}.
How are you, {name}?|I am {name}, and I come from {place}.|My name is {name}.|Who is {name}?
The file was saved.|The recording has ended.|Please speak now.|Choose another microphone.|The model is loading.
Press play to listen.|No sound was found.|Your voice is ready.|Install the model first.|Export has finished.
There are {small} lines left.|Take {small} is better than take {small}.|{Number} minutes remain.|Try again later.
The download is at {number} percent.|Your {thing} will be ready in {small} minutes.|Something went wrong.
Yes.|No.|Of course.|Not yet.|Why not?|I do not know.|Let me see.|Stop!|Wait a moment.|That is all.|Very good.
{Small}, {small}, {small}.|{Number} plus {number} makes {number}.|{Small} times {small}.|Minus {small} degrees.
The {ordinal} of {month} is a {weekday}.|Between {month} and {month}, {place} is {adjective}.
Read the {adjective} book about {things}, {name} said.|"{Adjective} {things}," said {name}, "are rare."
If it rains in {place}, bring a {thing}.|The {thing} weighs {number} grams.|{Name} lost the {thing} near {place}.
This is a demonstration voice.|I am a small synthetic voice.|I can whisper, and I can speak loudly.
Could you say that again, please?|Where did you put the {thing}?|{Name} asked for the {adjective} {thing}.
"""
_NAMES = (
    "Anna Peter Maria Thomas Julia David Emma Martin Laura Simon Alice Victor Helen Oscar Ruth Daniel Clara Henry Nora "
    "Felix Irene George Sophie Paul Vera Hugo Lucy Adam Eva Max Olivia James Grace Leo Rachel Philip Diana Robert Judith "
    "Edward Megan Walter Amy Frank Teresa Louis Hannah Charles Zoe Arthur Jane Roger Pamela Gilbert Yvonne"
).split()
_PLACES = (
    "London Paris Boston Dublin Geneva Chicago Vienna Oslo Toronto Madrid Lisbon Denver Athens Cairo Sydney Berlin Rome "
    "Houston Edinburgh Tokyo Helsinki Brussels Seattle Bristol Warsaw Prague Oxford Montreal Cambridge Georgia Virginia"
).split()
_MONTHS = "January February March April May June July August September October November December".split()
_WEEKDAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
_THINGS = (
    "chair book lamp bicycle guitar window basket bottle camera carpet drawer engine flower glove hammer island jacket "
    "kettle letter mirror needle orange pencil quilt rocket shovel ticket umbrella violin wallet yacht zipper bridge "
    "cushion ladder marble pillow saddle teapot vase wheel anchor button candle donkey feather garden helmet"
).split()
_ADJECTIVES = (
    "red blue heavy broken quiet cheap narrow gentle huge strange yellow wooden useful brave curious dusty empty famous "
    "golden hollow innocent jolly large modern noisy open patient round smooth tiny usual vivid warm young thick sharp "
    "polite northern joyful thin rough awful eager orange early"
).split()
_ORDINALS = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth "
    "sixteenth seventeenth eighteenth nineteenth twentieth twenty-first twenty-second twenty-third thirtieth thirty-first"
).split()
_SLOT = re.compile(r"\{(\w+)\}")


def fill_in(number: int, generator: np.random.Generator) -> list[str]:
    """Return ``number`` sentences, as distinct as the templates permit."""
    templates = [template for line in _TEMPLATES.strip().splitlines() for template in line.split("|")]
    drawn: dict[str, None] = {}
    for _ in range(4 * number):
        template = templates[int(generator.integers(len(templates)))]
        drawn[_SLOT.sub(lambda slot: word(slot[1], generator), template)] = None
        if len(drawn) == number:
            break
    return list(drawn)


def word(slot: str, generator: np.random.Generator) -> str:
    if slot[0].isupper():
        drawn = word(slot.lower(), generator)
        return drawn[0].upper() + drawn[1:]
    return _listed(slot, generator) or _counted(slot, generator)


def _listed(slot: str, generator: np.random.Generator) -> str:
    """Return a word of the list with the name of the slot, or an empty string without such a list."""
    lists = {
        "name": _NAMES, "place": _PLACES, "month": _MONTHS, "weekday": _WEEKDAYS, "thing": _THINGS,
        "adjective": _ADJECTIVES, "ordinal": _ORDINALS,
    }  # fmt: skip
    if slot == "things":
        return f"{generator.choice(_THINGS)}s"
    return str(generator.choice(lists[slot])) if slot in lists else ""


def _counted(slot: str, generator: np.random.Generator) -> str:
    if slot == "small":
        return english_cardinal(str(generator.integers(1, 30)))
    if slot == "number":
        return english_cardinal(str(generator.integers(1, 10 ** int(generator.integers(2, 5)))))
    if slot == "digits":
        return english_digits(
            "".join(str(digit) for digit in generator.integers(0, 10, size=int(generator.integers(3, 7))))
        )
    if slot == "year":
        return (
            f"{english_cardinal(str(generator.integers(17, 20)))} {english_cardinal(str(generator.integers(11, 100)))}"
        )
    assert slot == "time", f"no words for {slot}"
    hour, minute = english_cardinal(str(generator.integers(1, 13))), int(generator.integers(1, 60))
    if minute == 30:
        return f"half past {hour}"
    return f"{hour} {'oh ' if minute < 10 else ''}{english_cardinal(str(minute))}"
