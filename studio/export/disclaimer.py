"""Audible disclaimer at the start of an export: a line in the language of the script."""

from __future__ import annotations

from studio.project.lines import Line

LINE_ID = "disclaimer"
_PAUSE_SECONDS = 1.0
_SENTENCES = {
    "de": "Die folgende Aufnahme wurde von einem Computer mit einer künstlichen Stimme gesprochen.",
    "en": "The following recording was spoken by a computer, with a synthetic voice.",
    "es": "La siguiente grabación ha sido leída por un ordenador con una voz sintética.",
    "fr": "L'enregistrement suivant a été lu par un ordinateur, avec une voix de synthèse.",
    "it": "La registrazione seguente è stata letta da un computer con una voce sintetica.",
    "ja": "これからお聞きいただく音声は、コンピューターによる合成音声です。",
    "ko": "지금부터 들으실 음성은 컴퓨터로 합성한 음성입니다.",
    "ru": "Следующая запись прочитана компьютером, синтезированным голосом.",
    "zh": "以下内容由计算机合成语音朗读。",
}


def disclaimer(first: Line, language: str) -> Line:
    """Return the disclaimer in ``language``, or in English, spoken like the ``first`` line of the script."""
    known = language if language in _SENTENCES else "en"
    return Line(LINE_ID, _SENTENCES[known], first.voice, language=known, pause_after_seconds=_PAUSE_SECONDS)
