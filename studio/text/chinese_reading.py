"""Reading of Chinese characters in context: words of CC-CEDICT, particles, and tone sandhi.

The words, with their readings and neutral tones, are those of the packages pypinyin and pypinyin-dict.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import accumulate, pairwise

import regex

from studio.system.garbage import without_collections
from studio.text.chinese_words import IN_CONTEXT, NOT_WORDS, TRADITIONAL, USUAL_READINGS, WORDS
from studio.text.pinyin import HAN, with_tone_mark
from studio.text.simplified import simplified

_DIGITS = frozenset("〇零一二三四五六七八九")
_POWERS = frozenset("十百千万亿")
_COUNTING = _DIGITS | _POWERS | frozenset("两几这那哪每半多整")
# Characters whose reading depends on the word, and those that are so frequent that only other readings are shown.
_SEVERAL_READINGS = frozenset(
    "行长重乐朝弹调差降校落曲宿系载扎传模称创藏率应觉号划圈冠卷参鲜血壳薄剥削吓咽扇铺强劲累蒙"
)
_USUAL_OF_FREQUENT = dict(
    regex.findall(
        r"(\S)=(\S+)",
        "好=hao3 还=hai2 都=dou1 没=mei2 了=le5 大=da4 说=shuo1 看=kan4 中=zhong1 只=zhi3 给=gei3 的=de5 和=he2 地=di4 "
        "得=de5 着=zhe5 要=yao4 会=hui4 可=ke3 发=fa1 间=jian1 种=zhong3 难=nan2 少=shao3 教=jiao4 当=dang1 倒=dao4 "
        "干=gan4 空=kong1 分=fen1 正=zheng4 处=chu4 背=bei4 便=bian4 尽=jin4 几=ji3 将=jiang1 结=jie2 切=qie4 似=si4 "
        "兴=xing4 为=wei4 数=shu4 散=san4 转=zhuan3 相=xiang1 量=liang4 角=jiao3 露=lu4 奇=qi2 石=shi2 喝=he1 假=jia3 "
        "供=gong1 论=lun4 挑=tiao1 更=geng4 与=yu3 盛=sheng4 省=sheng3 提=ti2 冲=chong1 担=dan1 恶=e4 解=jie3 禁=jin4 "
        "据=ju4 任=ren4 丧=sang4 色=se4 识=shi2 食=shi2 挣=zheng4 症=zheng4 择=ze2 折=zhe2 钻=zuan1 作=zuo4 坊=fang1 "
        "待=dai4 吐=tu3",
    )
)
_DOUBLED_VERBS = frozenset(
    "看说想听走试等谈问写聊玩坐尝找学读练动帮爬游散唱逛猜摸摇摆挥拍抱揉擦洗晒歇转算比查挑劝瞧闻敲跑逗哄求管讲笑用聚陪"
)
_KIN = "爸妈爷奶哥姐弟妹叔伯姑舅姨公婆太宝"
# Where 地 is a particle though it could begin or end a word: 慢慢地上楼, 一本一本地看, 用力地点头.
_PARTICLE_DI = regex.compile(rf"(?:([^{_KIN}])\1|一(.)一\2)\K地(?!方|区|位)|地(?=点[了头着])")
_BEFORE_ADVERBIAL = frozenset("遍次步个声回句口颗点字停断样般眼劲")
_AFTER_ONLY = frozenset("有是能要会好不")
_VERBS_BEFORE_GUO = frozenset(
    "去来看吃说听做想见走学用有是问写试读买住跑玩到经教任当受谈聊提讲爱恨打骂骗帮答给借卖养种喝尝进碰遇知懂练弹唱演拍画算查找换病哭笑伤结离约请送收订犯赢输坐论究兴"
)
_SUBJECTS_OF_MUST = frozenset("我你您他她它们咱谁就也都还可总非必又那")
_WORDS_BEFORE_MUST = frozenset(
    ("今天", "明天", "现在", "以后", "一定", "肯定", "恐怕", "至少", "起码", "毕竟", "迟早", "早晚", "不然", "否则")
)
_AFTER_MUST = frozenset(("先", "去", "等", "找", "问", "让", "靠", "赶紧", "赶快", "知道", "看", "问问", "想", "烧"))
_AFTER_GIVEN = frozenset("了到过知此")
_POTENTIAL_VERBS = {
    "得到": frozenset("看听找办做见拿买吃学受达碰遇猜闻摸轮"),
    "得出": frozenset("看听说做拿想写猜认分"),
    "得了": frozenset("受拿做办管走去吃来装治忙躲逃骗干"),
}
_ADVERBS = frozenset("正已就才要会可不没很别先再能该应快也又都还了在所从有未")
_NEGATIONS = frozenset("不未难只所")
_DIRECTIONS = frozenset("上下进出过回起")
_OBJECTS_AFTER_ZHE = frozenset("手眼笔地水火装衣棋力重墨落陆意")
# Characters that do not take the last one of the word before them away: 出现|在, not 出|现在.
_NOT_REDIVIDED = frozenset("了着过的得地吗吧呢在里上于为")
_DETERMINERS = frozenset("这那哪每各某一两几")
_AFTER_ORDINAL_ONE = ("月", "号", "楼", "级", "年级", "季度", "等奖", "的")
_BEFORE_FULL_ONE = _DIGITS | _POWERS | frozenset("第初统唯专")
_PLACES_TO_GO = frozenset("楼车山床岸船厕课学班小中大")
_VERBS_BEFORE_WEI = frozenset("置义作成称视变改分定认以换译名化设转写记升降")
_WORDS_BEFORE_FOR = frozenset(("可以", "所以", "足以", "得以", "难以"))
_MAX_PHRASE = 3  # syllables that are spoken so closely that third tones change


def syllables(characters: str) -> list[str]:
    """Return the syllable of each of ``characters`` as it is spoken, such as "hao3". Tone 5 is the neutral one."""
    return _spoken(characters).syllables


def syllables_of_words(characters: str) -> list[list[str]]:
    """Return :func:`syllables` by the words of ``characters``."""
    reading = _spoken(characters)
    return [
        reading.syllables[start : start + len(word)] for word, start in zip(reading.words, reading.starts, strict=True)
    ]


def annotated(text: str) -> str:
    """Return ``text`` with the pinyin of characters with several readings after them, in parentheses.

    Readings that are usual and frequent are left out, such as that of 的.
    """
    return HAN.sub(lambda found: _annotated(found[0]), text)


def _spoken(characters: str) -> _Reading:
    reading = _Reading.of(characters)
    for rule in _RULES:
        rule(reading)
    return reading


def _annotated(characters: str) -> str:
    reading = _Reading.of(characters)
    _read_in_context(reading)
    _read_particles(reading)
    return "".join(
        f"{written}({with_tone_mark(syllable)})" if _is_worth_showing(character, syllable) else written
        for written, character, syllable in zip(characters, reading.text, reading.syllables, strict=True)
    )


def _is_worth_showing(character: str, syllable: str) -> bool:
    if usual := _USUAL_OF_FREQUENT.get(character):
        return syllable.rstrip("12345") != usual.rstrip("12345") or syllable[-1] not in (usual[-1], "5")
    return character in _SEVERAL_READINGS


@dataclass(slots=True)
class _Reading:
    """``text`` is simplified; ``starts`` are the first characters of the words."""

    text: str
    words: list[str]
    starts: list[int]
    syllables: list[str]

    @classmethod
    def of(cls, text: str) -> _Reading:
        text = _in_simplified(text)
        divide, read = _reader()
        words = divide(text)
        starts = list(accumulate(map(len, words), initial=0))[:-1]
        return cls(text, words, starts, [syllable for word in words for syllable in read(word)])

    def tone(self, place: int) -> str:
        """Return the tone of the syllable at ``place``, or an empty string beyond the end."""
        return self.syllables[place][-1:] if place < len(self.syllables) else ""

    def set_tone(self, place: int, tone: str) -> None:
        self.syllables[place] = self.syllables[place][:-1] + tone

    def before(self, place: int) -> str:
        return self.text[max(0, place - 1) : place]

    def after(self, place: int) -> str:
        return self.text[place + 1 : place + 2]


def _in_simplified(text: str) -> str:
    for pattern, replacement in TRADITIONAL:
        text = pattern.sub(replacement, text)
    return simplified(text)


def _read_in_context(reading: _Reading) -> None:
    """Read the words of ``IN_CONTEXT``."""
    patterns = _patterns_in_context()
    for word, place in zip(reading.words, reading.starts, strict=True):
        for pattern, syllable in patterns.get(word, ()):
            if pattern.match(reading.text, place):
                reading.syllables[place] = syllable


@cache
def _patterns_in_context() -> dict[str, list[tuple[regex.Pattern[str], str]]]:
    """Return the compiled patterns of each word of ``IN_CONTEXT``, with their readings."""
    found: dict[str, list[tuple[regex.Pattern[str], str]]] = {}
    for name, pattern in IN_CONTEXT.items():
        word, syllable = name.split()
        found.setdefault(word, []).append((regex.compile(pattern.replace("_", word)), syllable))
    return found


def _read_particles(reading: _Reading) -> None:
    """Read characters that are particles outside of words."""
    previous = ""
    for word, place, following in zip(reading.words, reading.starts, [*reading.words[1:], ""], strict=False):
        match word:
            case "地" if following and _is_adverbial(reading.text[max(0, place - 4) : place], previous):
                reading.syllables[place] = "de5"
            case "得" if previous not in _NEGATIONS:
                reading.syllables[place] = "dei3" if _is_must(previous, following) else "de5" if previous else "de2"
            case "得到" | "得出" | "得了" if previous and previous[-1] in _POTENTIAL_VERBS[word]:
                reading.syllables[place] = "de5"
                if word == "得了":
                    reading.syllables[place + 1] = "liao3"
            case "着" if previous and reading.syllables[place] != "zhao2":
                reading.syllables[place] = "zhe5"
            case "过" if previous and previous[-1] in _VERBS_BEFORE_GUO:
                reading.set_tone(place, "5")
            case "上" if len(previous) > 1 and previous[-1] != "们" and following[:1] not in _PLACES_TO_GO:
                reading.set_tone(place, "5")
            case "里" if previous and previous[-1] not in _COUNTING:
                reading.set_tone(place, "5")
            case "来" | "去" if len(previous) > 1 and previous[-1] in _DIRECTIONS and previous != "一起":
                reading.set_tone(place, "5")
            case "为" if following and previous[-1:] in _VERBS_BEFORE_WEI and previous not in _WORDS_BEFORE_FOR:
                reading.syllables[place] = "wei2"
            case _ if word[0] == "着" and word[1:] in _OBJECTS_AFTER_ZHE and _is_verb(previous):
                reading.syllables[place] = "zhe5"
        previous = word


def _is_verb(word: str) -> bool:
    return len(word) == 1 and word not in _ADVERBS


def _is_adverbial(before: str, previous: str) -> bool:
    """Return whether 地 is a particle after ``previous``, the last word of ``before``."""
    is_repeated = before[-1:] == before[-2:-1] != "" or (len(before) == 4 and before[:2] == before[2:])
    return len(previous) > 1 or is_repeated or previous in _BEFORE_ADVERBIAL


def _is_must(previous: str, following: str) -> bool:
    """Return whether 得 between these words is the verb "must"."""
    if not previous or not following:
        return bool(following) and following[0] not in _AFTER_GIVEN
    return previous[-1] in _SUBJECTS_OF_MUST or previous in _WORDS_BEFORE_MUST or following in _AFTER_MUST


def _read_doubled_and_measures(reading: _Reading) -> None:
    """Read doubled words, such as 看看 with a neutral tone and 漂漂亮亮 without, and the measure words 个 and 只."""
    text = reading.text
    for place in range(1, len(text)):
        is_doubled = text[place] == text[place - 1]
        if is_doubled and _is_doubled_word(text[place - 1 : place + 3]):
            _read_doubled_word(reading, place - 1)
        elif is_doubled and text[place] in _DOUBLED_VERBS and not _is_doubled_word(text[max(0, place - 3) : place + 1]):
            if reading.tone(place - 1) == "3":
                reading.set_tone(place - 1, "2")
            reading.set_tone(place, "5")
        elif text[place] == "个" and text[place - 1] in _COUNTING:
            reading.set_tone(place, "5")
        elif text[place] == "只":
            is_measure = text[place - 1] in _COUNTING and reading.after(place) not in _AFTER_ONLY
            if is_measure or (is_doubled and reading.syllables[place - 1] == "zhi1"):
                reading.syllables[place] = "zhi1"


def _is_doubled_word(four: str) -> bool:
    """Return whether these characters are a word with both doubled, such as 漂漂亮亮."""
    word = four[::2]
    is_doubled = word == four[1::2] and len(set(word)) == 2
    return is_doubled and word[0] not in _KIN and _is_word(word) and not _is_word(four)


def _read_doubled_word(reading: _Reading, start: int) -> None:
    """Read four characters such as 漂漂亮亮 as the word that is doubled, with its tones in full."""
    _, read = _reader()
    for place, syllable in zip((start, start + 2), read(reading.text[start : start + 4 : 2]), strict=True):
        letters, tone = syllable[:-1], syllable[-1]
        if tone == "5":
            tone = read(reading.text[place])[0][-1]
        reading.syllables[place : place + 2] = [letters + tone] * 2


def _change_one_and_not(reading: _Reading) -> None:
    """Give 一 and 不 the tone that depends on the next one."""
    ends = {start + len(word) - 1 for word, start in zip(reading.words, reading.starts, strict=True) if len(word) > 1}
    for place, character in enumerate(reading.text):
        if character not in "一不":
            continue
        before, after = reading.before(place), reading.after(place)
        is_between = before and before == after and reading.text[place - 2 : place - 1] != character
        is_falling = reading.tone(place + 1) == "4" or after == "个"
        if is_between:
            tone = "5"
        elif character == "不":
            is_weak = reading.tone(place) == "5" and place - 1 in reading.starts and place + 1 in ends
            tone = "5" if is_weak else "2" if is_falling else "4"
        elif (
            not after
            or place in ends
            or before in _BEFORE_FULL_ONE
            or after in _DIGITS
            or reading.text.startswith(_AFTER_ORDINAL_ONE, place + 1)
            or (before == "月" and after == "日")
            or _is_in_decimal(reading.text, place)
        ):
            tone = "1"
        else:
            tone = "2" if is_falling else "4"
        reading.set_tone(place, tone)


def _is_in_decimal(text: str, place: int) -> bool:
    """Return whether the digit at ``place`` is beside a decimal point."""
    is_whole = text[place + 1 : place + 2] == "点" and text[place + 2 : place + 3] in _DIGITS
    is_fraction = text[place - 1 : place] == "点" and text[place - 2 : place - 1] in _DIGITS
    return is_whole or (is_fraction and text[place + 1 : place + 2] not in ("刻", "起"))


def _change_third_tones(reading: _Reading) -> None:
    """Raise third tones before others: within words, and of a word of one syllable before the next word."""
    for word, start in zip(reading.words, reading.starts, strict=True):
        is_ending_pair = len(word) == _MAX_PHRASE and not _is_word(word[:2])
        step = 1 if len(word) <= _MAX_PHRASE else 2
        changed = [
            place
            for place in range(start, start + len(word) - 1, step)
            if reading.tone(place) == reading.tone(place + 1) == "3"
        ]
        if is_ending_pair and len(changed) == _MAX_PHRASE - 1:
            changed = changed[1:]
        for place in changed:
            reading.set_tone(place, "2")
    for word, following, start in zip(reading.words, reading.words[1:], reading.starts, strict=False):
        is_number = word in _POWERS or (word in _DIGITS and following[0] in _DIGITS)
        is_close = len(word) == 1 and len(following) <= _MAX_PHRASE and not is_number
        if is_close and reading.tone(start) == reading.tone(start + 1) == "3":
            reading.set_tone(start, "2")


_RULES: tuple[Callable[[_Reading], None], ...] = (
    _read_in_context,
    _read_particles,
    _read_doubled_and_measures,
    _change_one_and_not,
    _change_third_tones,
)


def _is_word(characters: str) -> bool:
    from pypinyin.constants import PHRASES_DICT  # noqa: PLC0415 - loads its dictionary

    return characters in PHRASES_DICT


@cache
def _load_words() -> None:
    """Add the words of CC-CEDICT and our own to those of pypinyin.

    Garbage collection would take two thirds of the time, because there are hundreds of thousands of lists.
    """
    with without_collections():
        from pypinyin import load_single_dict  # noqa: PLC0415 - loads its dictionaries
        from pypinyin.constants import PHRASES_DICT  # noqa: PLC0415
        from pypinyin_dict.phrase_pinyin_data import cc_cedict  # noqa: PLC0415

        PHRASES_DICT.update(cc_cedict.phrases_dict)
        PHRASES_DICT.update({word: [[syllable] for syllable in pinyin.split()] for word, pinyin in WORDS.items()})
        for word in NOT_WORDS:
            PHRASES_DICT.pop(word, None)
        # This also stores the beginnings of all words for division.
        load_single_dict({ord(character): readings for character, readings in USUAL_READINGS.items()})


@cache
def _reader() -> tuple[Callable[[str], list[str]], Callable[[str], tuple[str, ...]]]:
    """Return the functions that divide characters into words, and that read a word.

    The longest words are taken from the left. One that leaves a single character behind gives up its last one if the
    two are a word: 把|头发, not 把|头发.
    """
    _load_words()
    from pypinyin import Style, lazy_pinyin  # noqa: PLC0415 - loads its dictionaries
    from pypinyin.constants import PHRASES_DICT  # noqa: PLC0415
    from pypinyin.seg.mmseg import p_set as beginnings  # noqa: PLC0415

    def read_all(text: str) -> list[str]:
        return list(lazy_pinyin(text, style=Style.TONE3, neutral_tone_with_five=True, v_to_u=True))

    @lru_cache(10_000)
    def read(word: str) -> tuple[str, ...]:
        found = read_all(word)
        # Characters without a reading are joined.
        return tuple(found if len(found) == len(word) else (read_all(character)[0] for character in word))

    def longest_words(text: str, start: int, stop: int) -> Iterator[str]:
        while start < stop:
            end = longest = start + 1
            while end <= stop and text[start:end] in beginnings:
                if text[start:end] in PHRASES_DICT:
                    longest = end
                end += 1
            yield text[start:longest]
            start = longest

    def divide(text: str) -> list[str]:
        borders = [0, *(each for found in _PARTICLE_DI.finditer(text) for each in found.span()), len(text)]
        words = [word for start, end in pairwise(borders) for word in longest_words(text, start, end)]
        for place, (word, following) in enumerate(pairwise(words)):
            if (
                len(following) == 1
                and 1 < len(word) <= _MAX_PHRASE
                and following not in _NOT_REDIVIDED
                and word[0] not in _DETERMINERS
                and word[-1] + following in PHRASES_DICT
                and (len(word) == 2 or word[:-1] in PHRASES_DICT)
                and not read(word)[-1].endswith("5")
            ):
                words[place : place + 2] = [word[:-1], word[-1] + following]
        return words

    return divide, read
