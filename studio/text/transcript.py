"""Transcript of a reference clip in spoken form."""

from __future__ import annotations

from studio.text.language import detect_language
from studio.text.layout import Layout, ParagraphEnd, blocks
from studio.text.spoken import Encoder, Part, Spoken, finish, join, speak, text_tokens, trim, without_trailing_commas
from studio.text.tags import TagSet


def spoken_transcript(transcript: str, tags: TagSet, *, normalize: bool = True) -> Spoken:
    """Return the whole ``transcript`` in spoken form: normalised, not split (specification B1).

    Lines end like sentences. The last one keeps its end, because a clip may stop within a sentence.
    """
    layout = Layout.of(transcript.strip(), tags)
    language = detect_language(layout.masked)
    lines: list[Spoken] = []
    for block in blocks(layout):
        if not layout.is_speakable(block.start, block.text_end):
            continue
        line = trim(speak(layout, block.start, block.text_end, language, is_normalized=not normalize))
        if line:
            lines.append(line)
    space: Spoken = () if language.writes_without_spaces else (Part(" "),)
    inner = [piece for line in lines[:-1] for piece in (finish(line, language, ParagraphEnd.PARAGRAPH), space)]
    last = lines[-1] if lines else ()
    if normalize and last and without_trailing_commas(last[-1].text) != last[-1].text.rstrip():
        last = finish(last, language, ParagraphEnd.PARAGRAPH)
    return join([*inner, last])


def transcript_tokens(transcript: str, tags: TagSet, tokenizer: Encoder, *, normalize: bool = True) -> tuple[int, ...]:
    return text_tokens(spoken_transcript(transcript, tags, normalize=normalize), tokenizer)
