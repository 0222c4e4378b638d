"""What the columns of a table contain, by their titles in English or Chinese, or by their cells."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from enum import Enum

import regex


class Field(Enum):
    """Meanings of table columns. An ID is a different text in each row."""

    TEXT = "text"
    ID = "id"
    CHARACTER = "character"
    VOICE = "voice"
    STYLE = "style"
    FILE_NAME = "file_name"
    SPEED = "speed"
    PAUSE = "pause"
    NOTE = "note"
    LANGUAGE = "language"
    CHAPTER = "chapter"
    SCENE = "scene"


_WORDS = {
    Field.TEXT: "text line lines words script dialogue dialog utterance transcript speech 文本 台词 内容 文字 对白 旁白 文案",
    Field.CHARACTER: "character char chara role speaker talker npc actor cast who 说话人 角色 人物 说话者 演员",
    Field.VOICE: "voice 音色 声音 配音",
    Field.STYLE: "style emotion instruct instruction preset mood tone delivery 风格 情感 指令 情绪 语气",
    Field.FILE_NAME: "file filename path output audio wav wave soundwave clip cue asset 文件 文件名 路径 音频",
    Field.SPEED: "speed rate 语速 速度",
    Field.PAUSE: "pause pauseafter gap 停顿 间隔",
    Field.NOTE: "note notes comment comments remark remarks direction directions context description"
    " 备注 备忘 注释 说明 注解 场景说明",
    Field.LANGUAGE: "language lang locale 语言 语种",
    Field.CHAPTER: "chapter act episode quest mission level sheet 章节 章 幕 集 任务 关卡",
    Field.SCENE: "scene conversation cutscene node 场景 场次 对话",
}
_FIELDS = {word: field for field, words in _WORDS.items() for word in words.split(" ")}
# Titles of the text where no column has a title above.
_OTHER_TEXT_WORDS = (
    "source original translation target content copy string sentence sentences phrase quote caption subtitle subtitles"
    " message english en chinese zh cn german deutsch de french fr spanish es italian it japanese ja jp korean ko kr russian"
    " ru 中文 英文 日文 韩文 原文 译文 翻译 字幕 句子 语句"
)
_OTHER_TEXTS = frozenset(_OTHER_TEXT_WORDS.split(" "))
# Titles that end with these words number or describe the lines.
_KEY_WORDS = (
    "id ids key keys no nr num number index code count length duration time date status start end seq sequence take"
    " timecode version type 编号 序号 时长 时间 日期 状态 序列 键 字数"
)
_KEYS = frozenset(_KEY_WORDS.split(" "))
_IDS = frozenset({"id", "ids", "key", "keys", "guid", "uuid", "uid", "编号", "键"})
_NAMED_BY_ID = (Field.CHARACTER, Field.CHAPTER, Field.SCENE)
# A column called "name" contains characters if another column contains files, else it contains files.
_AMBIGUOUS = ("name", "名称", "名字")
_NOT_IN_NAMES = regex.compile(r"[\s_\-()\[\].:：]+")
_IN_PARENTHESES = regex.compile(r"[(\[（【][^()\[\]（）【】]*[)\]）】]")
_TITLE_WORD = regex.compile(r"\p{Lu}?[\p{L}--\p{Han}--\p{Lu}]+|\p{Lu}+|\p{Han}+", regex.V1)
_HAN_WORDS = sorted((word for word in {*_FIELDS, *_KEYS, *_OTHER_TEXTS} if regex.match(r"\p{Han}", word)), key=len)
_ENDS_SENTENCE = regex.compile(r"[.!?…。！？；;][\"'”’」』)]*\Z")
_LIKE_SENTENCE = regex.compile(r"\p{L}.*(?:\s.*\p{L}|[.!?…。！？])|\p{Han}.*\p{Han}.*\p{Han}", regex.DOTALL)
_NUMBER = regex.compile(r"[\d\s.,:;/%+\-]+")
_LIKE_KEY = regex.compile(rf"\S*[_/\\]\S*|[a-zA-Z0-9]+(?:\.[a-zA-Z0-9]+)+|{_NUMBER.pattern}")
_MAX_TITLE_LENGTH = 40
_MAX_TITLE_WORDS = 5
_MIN_SENTENCES = 0.5  # share of the cells of a text column that look like sentences
_MAX_KEYS = 0.5  # share of the cells of the only column that look like numbers or keys
_MIN_LEAD = 1.3  # how much longer the text column must be than the next
_ROWS_READ = 500


def guess_mapping(columns: Sequence[str]) -> dict[Field, int]:
    """Return the columns with known titles, in English or Chinese."""
    found: dict[Field, int] = {}
    exact = [_FIELDS.get(_plain(title)) for title in columns]
    for fields in (exact, [_field(title) for title in columns]):
        for at, field in enumerate(fields):
            if field is not None and at not in found.values():
                found.setdefault(field, at)
    for at, title in enumerate(columns):
        if _plain(title) in _AMBIGUOUS:
            found.setdefault(Field.CHARACTER if Field.FILE_NAME in found else Field.FILE_NAME, at)
    for at, title in enumerate(columns):  # such as character_id
        *_, before, last = ["", "", *_title_words(title)]
        if last in _IDS and _FIELDS.get(before) in _NAMED_BY_ID and at not in found.values():
            found.setdefault(_FIELDS[before], at)
    other_texts = [at for at, title in enumerate(columns) if _last_word(title) in _OTHER_TEXTS]
    if Field.TEXT not in found and other_texts:
        found[Field.TEXT] = other_texts[0]
    return found


def is_ambiguous(columns: Sequence[str], at: int | None) -> bool:
    """Return whether the title of a column may mean files and characters."""
    return at is not None and _plain(columns[at]) in _AMBIGUOUS


def _plain(title: str) -> str:
    return _NOT_IN_NAMES.sub("", title.casefold())


def _title_words(title: str) -> list[str]:
    """Return the known and unknown words of a title, without what is in parentheses."""
    words: list[str] = []
    for word in _TITLE_WORD.findall(_IN_PARENTHESES.sub(" ", title) or title):
        inside = [each for each in _HAN_WORDS if each in word]
        words += sorted(inside, key=lambda each: (word.rfind(each) + len(each), len(each))) or [word.casefold()]
    return words


def _last_word(title: str) -> str:
    return next(reversed(_title_words(title)), "")


def _field(title: str) -> Field | None:
    words = _title_words(title)
    if not words or words[-1] in _KEYS:
        return None
    return next((_FIELDS[word] for word in reversed(words) if word in _FIELDS), None)


def _is_known(title: str) -> bool:
    return _field(title) is not None or _last_word(title) in (_OTHER_TEXTS | _KEYS) or _plain(title) in _AMBIGUOUS


def _are_known(row: Sequence[str]) -> bool:
    """Return whether a row is another row of titles: at least two, and all known."""
    titles = [cell for cell in row if cell]
    return len(titles) > 1 and _may_be_titles(titles) and all(map(_is_known, titles))


def _may_be_titles(cells: Sequence[str]) -> bool:
    """Return whether cells are short enough for titles, and neither sentences nor numbers."""
    titles = [cell for cell in cells if cell]
    return bool(titles) and all(
        len(title) <= _MAX_TITLE_LENGTH
        and len(title.split()) <= _MAX_TITLE_WORDS
        and not _ENDS_SENTENCE.search(title)
        and not _NUMBER.fullmatch(title)
        for title in titles
    )


def find_titles(rows: Sequence[Sequence[str]]) -> tuple[int, int]:
    """Return the place of the row of titles among the first ``rows``, and how many rows it has; 0 without titles."""
    best, most = 0, 0
    for at, row in enumerate(rows):
        if not _may_be_titles(row):
            continue
        mapping = guess_mapping(row)
        num_titles = sum(map(bool, row))
        is_exact = any(_plain(title) in _FIELDS for title in row)
        if (Field.TEXT in mapping and (num_titles > 1 or is_exact)) or len(mapping) > 1:
            num_known = sum(_is_known(title) for title in row if title)
            if num_known > most:
                best, most = at, num_known
    if most:
        if best + 1 < len(rows) and _are_known(rows[best + 1]):
            return best, 2
        return (best - 1, 2) if best and _are_known(rows[best - 1]) else (best, 1)
    return (0, 1) if _begins_with_titles(rows) else (0, 0)


def _begins_with_titles(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether the first row has unknown titles: a title of keys, or short words above keys or sentences."""
    if len(rows) < 2 or not _may_be_titles(rows[0]) or sum(map(bool, rows[0])) < 2:
        return False
    if any(_plain(title) in _KEYS for title in rows[0]):
        return True
    for at, title in enumerate(rows[0]):
        cells = [row[at] for row in rows[1:] if at < len(row) and row[at]]
        if not title or regex.search(r"\d", title) or not cells:
            continue
        are_keys = all(regex.search(r"\d", cell) and not cell.isdecimal() and " " not in cell for cell in cells)
        if are_keys or all(_ENDS_SENTENCE.search(cell) for cell in cells):
            return True
    return False


def find_ids(columns: Sequence[str], rows: Sequence[Sequence[str]], used: Collection[int]) -> int | None:
    """Return the column whose title names an ID and whose cells all differ, or None."""
    for at, title in enumerate(columns):
        cells = [row[at] for row in rows if row[at]]
        if at not in used and cells and _last_word(title) in _IDS and len(set(cells)) == len(cells):
            return at
    return None


def find_text(rows: Sequence[Sequence[str]], num_columns: int, used: Collection[int]) -> int | None:
    """Return the column whose cells are sentences, None if there is none or several are alike."""
    sizes: dict[int, int] = {}
    for at in range(num_columns):
        cells = [row[at] for row in rows[:_ROWS_READ] if row[at]]
        sentences = [cell for cell in cells if _LIKE_SENTENCE.search(cell) and not _LIKE_KEY.fullmatch(cell)]
        if at not in used and cells and len(sentences) >= _MIN_SENTENCES * len(cells):
            sizes[at] = sum(map(len, cells))
    filled = [at for at in range(num_columns) if any(row[at] for row in rows)]
    if len(filled) == 1:
        cells = [row[filled[0]] for row in rows[:_ROWS_READ] if row[filled[0]]]
        return filled[0] if sum(map(bool, map(_LIKE_KEY.fullmatch, cells))) <= _MAX_KEYS * len(cells) else None
    best = max(sizes, key=lambda at: sizes[at], default=None)
    if best is None or any(at != best and sizes[best] < _MIN_LEAD * size for at, size in sizes.items()):
        return None
    return best
