"""`--dry-run` of `timbre say` and `timbre export`: each sentence as written and as spoken, with all changes."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from studio.errors import NothingToSpeak
from studio.worker.normalization import SpokenSentence, spoken_sentences


def sentences_of_texts(
    texts: Iterable[tuple[str, str]], folder: Path, *, normalize: bool = True
) -> list[SpokenSentence]:
    """Return the sentences of all ``texts``, which have language tags. Texts without words have none.

    If ``folder`` has no model, because it is on another computer, the tags are those of Fun-CosyVoice3.
    """
    found: list[SpokenSentence] = []
    for text, language in texts:
        try:
            found += spoken_sentences(text, folder, normalize=normalize, language=language)
        except NothingToSpeak:
            continue
    return found


def print_sentences(sentences: Iterable[SpokenSentence], *, is_json: bool) -> None:
    if is_json:
        print(json.dumps(sentences_json(sentences), ensure_ascii=False), flush=True)
        return
    for sentence in sentences:
        print(f"written ({sentence.language}): {sentence.written}")
        print(f"spoken: {sentence.spoken}")
        for change in sentence.changes:
            print(f"  {change.before or '(nothing)'} → {change.after or '(nothing)'}  [{change.subject}]")
        if sentence.pause_after_seconds:
            print(f"pause: {sentence.pause_after_seconds:g} s")


def sentences_json(sentences: Iterable[SpokenSentence]) -> dict[str, Any]:
    return {
        "sentences": [
            {
                "written": sentence.written,
                "spoken": sentence.spoken,
                "language": sentence.language,
                "changes": [
                    {"from": change.before, "to": change.after, "rule": change.subject} for change in sentence.changes
                ],
            }
            | ({"pause_after_seconds": sentence.pause_after_seconds} if sentence.pause_after_seconds else {})
            for sentence in sentences
        ]
    }
