"""Reading of Chinese characters in context: words of CC-CEDICT, particles, and tone sandhi.

The words, with their readings and neutral tones, are those of the packages pypinyin and pypinyin-dict.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import accumulate

from studio.text.pinyin import HAN, with_tone_mark

_DIGITS = frozenset("〇零一二三四五六七八九")
_POWERS = frozenset("十百千万亿")
_COUNTING = _DIGITS | _POWERS | frozenset("两几这那哪每半多整")
# The first reading is the usual one, outside of words.
_USUAL_READINGS = {
    "长": "cháng,zhǎng",
    "种": "zhǒng,zhòng",
    "只": "zhǐ,zhī",
    "还": "hái,huán",
    "看": "kàn,kān",
    "重": "zhòng,chóng",
    "中": "zhōng,zhòng",
    "得": "dé,de,děi",
}
# Words that have other readings in the dictionary, or several, of which this one is the usual one.
_WORDS = {
    "不了": "bù liǎo",
    "不是": "bù shì",
    "一曲": "yī qǔ",
    "东西": "dōng xi",
    "中的": "zhōng de",
    "人家": "rén jia",
    "便宜": "pián yi",
    "出息": "chū xi",
    "出来": "chū lai",
    "到了": "dào le",
    "单子": "dān zi",
    "告诉": "gào su",
    "地方": "dì fang",
    "多少": "duō shao",
    "大夫": "dài fu",
    "大爷": "dà ye",
    "女人": "nǚ ren",
    "好处": "hǎo chu",
    "妻子": "qī zi",
    "孙子": "sūn zi",
    "小子": "xiǎo zi",
    "工夫": "gōng fu",
    "得罪": "dé zui",
    "故事": "gù shi",
    "本事": "běn shi",
    "狮子": "shī zi",
    "琢磨": "zuó mo",
    "生意": "shēng yi",
    "管子": "guǎn zi",
    "精神": "jīng shen",
    "结实": "jiē shi",
    "结果": "jié guǒ",
    "老公": "lǎo gong",
    "裁缝": "cái feng",
    "说法": "shuō fa",
    "起来": "qǐ lai",
    "过去": "guò qu",
    "过来": "guò lai",
    "还是": "hái shì",
    "金子": "jīn zi",
}
# Characters whose reading depends on the word, and those that are so frequent that only other readings are shown.
_SEVERAL_READINGS = frozenset(
    "行长重乐朝弹调差降校落曲宿系载扎传模称创藏率应觉号划圈冠卷参鲜血壳薄剥削吓咽扇铺强劲累蒙"
)
_USUAL_OF_FREQUENT = dict(
    each.split("=")
    for each in [
        "好=hao3",
        "还=hai2",
        "都=dou1",
        "没=mei2",
        "了=le5",
        "大=da4",
        "说=shuo1",
        "看=kan4",
        "中=zhong1",
        "只=zhi3",
        "给=gei3",
        "的=de5",
        "和=he2",
        "地=di4",
        "得=de5",
        "着=zhe5",
        "要=yao4",
        "会=hui4",
        "可=ke3",
        "发=fa1",
        "间=jian1",
        "种=zhong3",
        "难=nan2",
        "少=shao3",
        "教=jiao4",
        "当=dang1",
        "倒=dao4",
        "干=gan4",
        "空=kong1",
        "分=fen1",
        "正=zheng4",
        "处=chu4",
        "背=bei4",
        "便=bian4",
        "尽=jin4",
        "几=ji3",
        "将=jiang1",
        "结=jie2",
        "切=qie4",
        "似=si4",
        "兴=xing4",
        "为=wei4",
        "数=shu4",
        "散=san4",
        "转=zhuan3",
        "相=xiang1",
        "量=liang4",
        "角=jiao3",
        "露=lu4",
        "奇=qi2",
        "石=shi2",
        "喝=he1",
        "假=jia3",
        "供=gong1",
        "论=lun4",
        "挑=tiao1",
        "更=geng4",
        "与=yu3",
        "盛=sheng4",
        "省=sheng3",
        "提=ti2",
        "冲=chong1",
        "担=dan1",
        "恶=e4",
        "解=jie3",
        "禁=jin4",
        "据=ju4",
        "任=ren4",
        "丧=sang4",
        "色=se4",
        "识=shi2",
        "食=shi2",
        "挣=zheng4",
        "症=zheng4",
        "择=ze2",
        "折=zhe2",
        "钻=zuan1",
        "作=zuo4",
        "坊=fang1",
    ]
)
_DOUBLED_VERBS = frozenset("看说想听走试等谈问写聊玩坐尝找学读练动")
_AFTER_ONLY = frozenset("有是能要会好不")
_VERBS_BEFORE_GUO = frozenset("去来看吃说听做想见走学用有是问写试读买住跑玩到经")
_SUBJECTS_OF_MUST = frozenset("我你您他她它们咱谁就也都还可总非必又")
_NEGATIONS = frozenset("不未难只所")
_VERBS_BEFORE_WEI = frozenset("置义作成称视变改分定认以换译名化设转写记升降")
_MAX_PHRASE = 3  # syllables that are spoken so closely that third tones change


def syllables(characters: str) -> list[str]:
    """Return the syllable of each of ``characters`` as it is spoken, such as "hao3". Tone 5 is the neutral one."""
    reading = _Reading.of(characters)
    for rule in _RULES:
        rule(reading)
    return reading.syllables


def annotated(text: str) -> str:
    """Return ``text`` with the pinyin of characters with several readings after them, in parentheses.

    Readings that are usual and frequent are left out, such as that of 的.
    """
    return HAN.sub(lambda found: _annotated(found[0]), text)


def _annotated(characters: str) -> str:
    reading = _Reading.of(characters)
    _read_particles(reading)
    return "".join(
        f"{character}({with_tone_mark(syllable)})" if _is_worth_showing(character, syllable) else character
        for character, syllable in zip(characters, reading.syllables, strict=True)
    )


def _is_worth_showing(character: str, syllable: str) -> bool:
    if usual := _USUAL_OF_FREQUENT.get(character):
        return syllable.rstrip("12345") != usual.rstrip("12345") or syllable[-1] not in (usual[-1], "5")
    return character in _SEVERAL_READINGS


@dataclass(slots=True)
class _Reading:
    """``starts`` are the first characters of the words."""

    text: str
    words: list[str]
    starts: list[int]
    syllables: list[str]

    @classmethod
    def of(cls, text: str) -> _Reading:
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


def _read_particles(reading: _Reading) -> None:
    """Read characters that are particles outside of words."""
    previous = ""
    for word, place in zip(reading.words, reading.starts, strict=True):
        following = reading.after(place)
        match word:
            case "地" if following and len(previous) > 1:
                reading.syllables[place] = "de5"
            case "得" if previous and previous not in _NEGATIONS:
                must = following and previous[-1] in _SUBJECTS_OF_MUST
                reading.syllables[place] = "dei3" if must else "de5"
            case "着" if previous:
                reading.syllables[place] = "zhe5"
            case "过" if previous and previous[-1] in _VERBS_BEFORE_GUO:
                reading.set_tone(place, "5")
            case "上" | "里" if len(previous) > 1:
                reading.set_tone(place, "5")
            case "为" if following and previous and previous[-1] in _VERBS_BEFORE_WEI:
                reading.syllables[place] = "wei2"
        previous = word


def _read_doubled_and_measures(reading: _Reading) -> None:
    """Give the neutral tone to the second syllable of a doubled verb, and read the measure words 个 and 只."""
    text = reading.text
    for place in range(1, len(text)):
        is_doubled = text[place] == text[place - 1] and text[place] in _DOUBLED_VERBS
        if is_doubled or (text[place] == "个" and text[place - 1] in _COUNTING):
            reading.set_tone(place, "5")
        if text[place] == "只" and text[place - 1] in _COUNTING and reading.after(place) not in _AFTER_ONLY:
            reading.syllables[place] = "zhi1"


def _change_one_and_not(reading: _Reading) -> None:
    """Give 一 and 不 the tone that depends on the next one."""
    ends = {start + len(word) - 1 for word, start in zip(reading.words, reading.starts, strict=True) if len(word) > 1}
    for place, character in enumerate(reading.text):
        if character not in "一不":
            continue
        before, after = reading.before(place), reading.after(place)
        is_between = before and before == after
        is_falling = reading.tone(place + 1) == "4" or after == "个"
        if is_between:
            tone = "5"
        elif character == "不":
            is_weak = reading.tone(place) == "5" and place - 1 in reading.starts and place + 1 in ends
            tone = "5" if is_weak else "2" if is_falling else "4"
        elif (
            not after
            or place in ends
            or before in _DIGITS | _POWERS | {"第", "初"}
            or after in _DIGITS
            or after == "月"
            or (before == "月" and after in "日号")
        ):
            tone = "1"
        else:
            tone = "2" if is_falling else "4"
        reading.set_tone(place, tone)


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
        is_close = len(word) == 1 and len(following) < _MAX_PHRASE and word not in _DIGITS
        if is_close and reading.tone(start) == reading.tone(start + 1) == "3":
            reading.set_tone(start, "2")


_RULES: tuple[Callable[[_Reading], None], ...] = (
    _read_particles,
    _read_doubled_and_measures,
    _change_one_and_not,
    _change_third_tones,
)


def _is_word(characters: str) -> bool:
    from pypinyin.constants import PHRASES_DICT  # noqa: PLC0415 - loads its dictionary

    return characters in PHRASES_DICT


@cache
def _reader() -> tuple[Callable[[str], list[str]], Callable[[str], list[str]]]:
    """Return the functions that divide characters into words, and that read a word."""
    from pypinyin import Style, lazy_pinyin, load_phrases_dict, load_single_dict  # noqa: PLC0415 - loads dictionaries
    from pypinyin.seg.mmseg import seg  # noqa: PLC0415
    from pypinyin_dict.phrase_pinyin_data import cc_cedict  # noqa: PLC0415

    cc_cedict.load()
    load_phrases_dict({word: [[syllable] for syllable in pinyin.split()] for word, pinyin in _WORDS.items()})
    load_single_dict({ord(character): readings for character, readings in _USUAL_READINGS.items()})

    def read_all(text: str) -> list[str]:
        return list(lazy_pinyin(text, style=Style.TONE3, neutral_tone_with_five=True, v_to_u=True))

    def read(word: str) -> list[str]:
        found = read_all(word)
        # Characters without a reading are joined.
        return found if len(found) == len(word) else [read_all(character)[0] for character in word]

    def divide(text: str) -> list[str]:
        return list(seg.cut(text))

    return divide, read
