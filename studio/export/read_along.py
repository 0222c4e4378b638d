"""Read-along page: the text with its audio in one HTML file, in which the spoken word is highlighted."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from html import escape
from pathlib import Path

from studio.export.subtitles import LineTiming, as_subtitle, shown_words, with_spaces
from studio.text.language import language_of_script

_MEDIA_TYPES = {
    ".wav": "audio/wav", ".flac": "audio/flac", ".mp3": "audio/mpeg", ".ogg": "audio/ogg", ".opus": "audio/ogg",
    ".m4a": "audio/mp4", ".m4b": "audio/mp4",
}  # fmt: skip
_PAGE = """\
<!DOCTYPE html>
<html lang="{language}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; media-src data:; style-src 'unsafe-inline'; \
script-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; scroll-padding-bottom: 6rem; }}
body {{ max-width: 38rem; margin: 0 auto; padding: 1rem 1rem 6rem; font: 1.15rem/1.7 Georgia, serif; }}
h2 {{ margin-top: 2.5rem; }}
b {{ display: block; font: 600 0.8rem sans-serif; opacity: 0.7; }}
span {{ cursor: pointer; border-radius: 3px; }}
.now {{ background: #ffe39a; color: #1b1c22; }}
audio {{ position: fixed; left: 0; right: 0; bottom: 0; width: 100%; }}
</style>
</head>
<body>
<h1>{title}</h1>
{text}
<audio controls src="data:{media_type};base64,{audio}"></audio>
<script>
const audio = document.querySelector("audio");
const words = [...document.querySelectorAll("span")];
const starts = words.map(word => Number(word.dataset.from));
const ends = words.map(word => Number(word.dataset.to));
let shown = null;
function follow() {{
  let low = 0, high = starts.length;
  while (low < high) {{
    const middle = (low + high) >> 1;
    if (starts[middle] <= audio.currentTime) low = middle + 1; else high = middle;
  }}
  const word = low && audio.currentTime < ends[low - 1] ? words[low - 1] : null;
  if (word !== shown) {{
    if (shown) shown.classList.remove("now");
    if (word) {{ word.classList.add("now"); word.scrollIntoView({{ block: "nearest" }}); }}
    shown = word;
  }}
  if (!audio.paused) requestAnimationFrame(follow);
}}
audio.addEventListener("play", follow);
audio.addEventListener("seeked", follow);
words.forEach((word, number) => word.addEventListener("click", () => {{
  audio.currentTime = starts[number];
  audio.play();
}}));
// Space plays and pauses, and the arrows go to the word before and after. The player has keys of its own.
document.addEventListener("keydown", event => {{
  if (event.target === audio || event.ctrlKey || event.altKey || event.metaKey) return;
  if (event.key === " ") {{
    if (audio.paused) audio.play(); else audio.pause();
  }} else if (event.key === "ArrowRight") {{
    audio.currentTime = starts.find(start => start > audio.currentTime) ?? audio.currentTime;
  }} else if (event.key === "ArrowLeft") {{
    const current = starts.filter(start => start <= audio.currentTime).length - 1;
    audio.currentTime = starts[Math.max(0, current - 1)];
  }} else return;
  event.preventDefault();
}});
</script>
</body>
</html>
"""


def read_along_page(timings: Iterable[LineTiming], title: str, audio: Path) -> str:
    """Return the page of the lines in ``audio``. Lines without word times are highlighted as a whole."""
    blocks: list[str] = []
    chapter, character = "", ""
    timings = list(timings)
    for timing in timings:
        text = as_subtitle(timing.item.text)
        if not text:
            continue
        if timing.item.chapter.title != chapter:
            chapter, character = timing.item.chapter.title, ""
            if text == chapter:
                blocks.append(f"<h2>{_words(timing, text)}</h2>")
                continue
            blocks.append(f"<h2>{escape(chapter)}</h2>")
        name = ""
        if timing.item.character != character:
            character = timing.item.character
            name = f"<b>{escape(character)}</b>" if character else ""
        blocks.append(f"<p>{name}{_words(timing, text)}</p>")
    return _PAGE.format(
        title=escape(title),
        language=language_of_script(timing.item.text for timing in timings),
        text="\n".join(blocks),
        media_type=_MEDIA_TYPES[audio.suffix],
        audio=base64.b64encode(audio.read_bytes()).decode("ascii"),
    )


def _words(timing: LineTiming, text: str) -> str:
    whole = [(timing.start_seconds, timing.start_seconds + timing.seconds, text)]
    return "".join(
        f'<span data-from="{start:.3f}" data-to="{end:.3f}">{escape(word)}</span>'
        for start, end, word in with_spaces(shown_words(timing)) or whole
    )
