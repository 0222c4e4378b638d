"""Chinese: speech verbs, surnames with titles, forms of address. Names are found without a dictionary of words."""

from __future__ import annotations

from collections.abc import Iterator

import regex

from studio.project.attribution.grammar import Cue, Gender, Reference, ReferenceKind, word_set

_HAN = r"\p{Han}"
_SPEECH_VERBS = word_set(
    "说道 问道 答道 笑道 叹道 喊道 叫道 骂道 喝道 怒道 哭道 应道 回道 劝道 接道 续道 解释道 回答道 反问道 自言自语 自语道 嘟囔 嘀咕 嘟哝 解释"
    " 回答 答应 反问 追问 喝问 质问 盘问 吩咐 嘱咐 命令 争辩 辩解 补充 安慰 提醒 警告 建议 宣布 抱怨 埋怨 承认 否认 感叹 感慨 惊呼 惊叫 大叫 大喊"
    " 大喝 大笑 冷笑 插嘴 插话 接口 接话 开口 发言 发话 搭话 打断 重复 低语 耳语 呢喃 喃喃 介绍 心想 暗想 想道 寻思 说 讲 道 問 问 答 喊 叫 骂 罵 吼 嚷 劝 曰"
    " 吼道 喃喃道 説 說 說道 問道 答道 笑道 应 對曰 对曰 问曰 云"
)
_VERB = "(?:" + "|".join(sorted(_SPEECH_VERBS, key=len, reverse=True)) + ")"
# "说", except in words such as "说服", and "道", except in words such as "道路".
_NOT_SPEECH = r"(?!服|明书|法|理|歉|路|德|具|士|观|卡|车|声|做|座|候|醒)"
_AFTER_VERB = r"(?:着|了|起来|过|完|一句|了一句|一声|了一声|了起来|罢)?"
_SPEECH = regex.compile(f"{_VERB}{_NOT_SPEECH}{_AFTER_VERB}")
# What follows a name: verbs, adverbs, particles. None of these is common at the third place of a name.
_FOLLOWING = (
    "把被将將在是的地得着了过和与跟同对對给給向从從往让叫使站坐走跑跪蹲趴躺看见望瞪盯听闻拿放取端抱提拉推打踢敲拍摔扔摸指举抬低点點摇摆转轉回"
    "进出上下来去到笑叹嘆哭喊骂吼怒喝说說讲道问問答曰想知也又便就才却卻忽忙慢没沒不终終只连急冷热轻重大小淡厉赶趕立正已还還仍再都总很真"
    "一半几先后後刚剛赔尖惊沉默点解接递遞围环環围愣怔戴穿脱脫摘关開开睁闭合放收写寫读念唱吃喝抽搂摟送帮扶挤靠倚斜翻伸缩甩挥揮掀磨切浇澆用从"
    "为為因以于於起有无無像似如这這那此其终于扭咬皱眯凑停追反服可能会會要应應愿躬施慌兴興弯彎掏压壓第面"
    "咯嘻哈嘿呵咧撇嘟噘喘咳呆吓羞脸眉嘴脚头满神两三四五六七八九十每全更最很太确果竟居依暗偷悄缓渐突蓦猛狠耐难觉认记忘懂相怕恨盼等找寻随"
    "陪领引带背扛挑骑驾睡醒起跳冲闯钻爬落掉跌倒撞碰触抓握捏捧捡拾挖砍劈刺射杀揍揪扯撕剪缝洗擦抹扫铺挂晒煮炒烧烤吹喷泼洒嗅尝咽舔吻哄逗惹骗瞒"
    "救害替昨今刻显略微稍直即遂各俩目耳浑身气呜啊哎唉哼"
)
_SURNAMES = (
    "赵钱孙李周吴郑王冯陈褚卫蒋沈韩杨朱秦尤许何吕施张孔曹严华金魏陶姜戚谢邹喻柏水窦章云苏潘葛奚范彭郎鲁韦昌马苗凤花方俞任袁柳酆鲍史唐费廉岑薛雷"
    "贺倪汤滕殷罗毕郝邬安常乐于时傅皮卞齐康伍余元卜顾孟平黄和穆萧尹姚邵湛汪祁毛禹狄米贝明臧计伏成戴谈宋茅庞熊纪舒屈项祝董梁杜阮蓝闵席季麻强贾路"
    "娄危江童颜郭梅盛林刁钟徐邱骆高夏蔡田樊胡凌霍虞万支柯昝管卢莫经房裘缪干解应宗丁宣邓郁单杭洪包诸左石崔吉钮龚程嵇邢裴陆荣翁荀羊於惠甄曲家封芮"
    "羿储靳汲邴糜松井段富巫乌焦巴弓牧隗山谷车侯宓蓬全郗班仰秋仲伊宫宁仇栾暴甘钭厉戎祖武符刘景詹束龙叶幸司韶郜黎蓟薄印宿白怀蒲台从鄂索咸籍赖卓蔺屠"
    "蒙池乔阴胥能苍双闻莘党翟谭贡劳逄姬申扶堵冉宰郦雍却璩桑桂濮牛寿通边扈燕冀郏浦尚农温别庄晏柴瞿阎充慕连茹习宦艾鱼容向古易慎戈廖庾终暨居衡步都耿满"
    "弘匡国文寇广禄阙东殴殳沃利蔚越夔隆师巩厍聂晁勾敖融冷訾辛阚那简饶空曾毋沙乜养鞠须丰巢关蒯相查后荆红游竺权逯盖益桓公涂趙錢孫馮陳衛蔣瀋韓楊許呂張"
)  # fmt: skip
_DOUBLE_SURNAMES = (
    "慕容",
    "欧阳",
    "歐陽",
    "司马",
    "司馬",
    "诸葛",
    "諸葛",
    "上官",
    "东方",
    "令狐",
    "皇甫",
    "夏侯",
    "尉迟",
    "公孙",
)
_MALE_NOUNS = (
    "先生 大爷 大叔 叔叔 叔 伯伯 伯 爷爷 爷 公子 少爷 老爷 父亲 父親 爸爸 爸 爹 哥哥 大哥 哥 弟弟 弟 男孩 男人 男子 汉子 大汉 老头 老汉 老头子 小伙子"
    " 和尚 老和尚 道士 道长 皇上 皇帝 陛下 王爷 太子 太监 丈夫 儿子 舅舅 姑父 姐夫 掌柜 大王 书生 秀才 知府 师爷 相公 官人 老二 老三 外公 孙子"
)
_FEMALE_NOUNS = (
    "小姐 太太 夫人 女士 姑娘 大娘 大妈 大婶 婶子 婶 嫂子 嫂 奶奶 母亲 母親 妈妈 妈 娘 姐姐 姐 妹妹 妹 姨 阿姨 姑姑 姑 婆婆 婆子 外婆 女孩 女人 女子"
    " 丫头 丫鬟 贵妃 皇后 太后 公主 王妃 妻子 女儿 媳妇 儿媳 密斯 老太太 老太婆 女记者 女士 师姐 师妹"
)
_NEUTRAL_NOUNS = (
    "老师 老師 主任 经理 总 局长 处长 科长 厂长 校长 村长 镇长 县长 队长 班长 连长 团长 司令 将军 警官 医生 大夫 护士 教授 博士 同学 同志 书记 秘书 总工"
    " 律师 法官 记者 师父 师傅 徒弟 客人 老板 老闆 司机 乘客 病人 军官 士兵 农民 管家 智能管家 大人 大师 过路人 外乡人 孩子 主持人 侍卫 服务员 店小二 小二"
    " 伙计 老人 少年 少女 白衣人 黑衣人 掌柜的"
)
_GENDER_OF_NOUN = {
    noun: gender
    for gender, nouns in ((Gender.MALE, _MALE_NOUNS), (Gender.FEMALE, _FEMALE_NOUNS), (None, _NEUTRAL_NOUNS))
    for noun in nouns.split()
}
_NOUNS = sorted(_GENDER_OF_NOUN, key=len, reverse=True)
_NOUN = "(?:" + "|".join(_NOUNS) + ")"
_ROLE = regex.compile(
    rf"(?:(?:一个|一個|那个|那個|这个|這個|那位|这位)?(?P<role>[老小大新]?(?:红衣|白衣|黑衣|青衣)?{_NOUN}))"
)
_PRONOUNS = {"他": Gender.MALE, "她": Gender.FEMALE}
_FEMALE_LETTERS = frozenset(
    "婉娜雪丽麗娟芳兰蘭珠珍萍静靜霞燕玲梅娥婷莉琴琪雯倩媛娇嬌妍莲蓮翠萱茜蓉艳艷薇菊翠妮娘姐婶嫂芬玫莺鶯铃鈴"
)
_MALE_LETTERS = frozenset("伟偉强強军軍刚剛勇雄虎龙龍杰傑涛濤斌彪铁鐵武建")
_NAME_START = regex.compile(
    r"^(?:却说|且说|话说|只见|只听|但见|忽然|这时|此时|于是|原来|谁知|那|便|接着|随后|最后|终于|半晌|良久|过了一会儿|第二天|夜里|既而|一旁的|旁边的|对面的|一个|那个|这个)[，,]?"
)
_WORDS = word_set(
    "自己 大家 有人 众人 眾人 一个 什么 这里 那里 屋里 桌上 村口 电话 電話 时候 声音 这时 那时 因为 所以 但是 可是 然后 突然 于是 不过 如果 虽然 已经"
    " 门口 窗外 外面 里面 今天 明天 昨天 村里 两人 二人 三人 这样 那样 这些 那些 不知 只是 还是 没有 夜深 俗话 信上 心里 嘴里 说着 说完 听了 听到 桌子 此人 对方"
    " 半天 那年 其中 其实 所谓 其他 别人 他们 她们 我们 你们 咱们 大声 轻声 低声 末了 这才 回头 从前 后来 当面 忍不住 不由 一边 所有 每个 一声 电话响"
)
_CUT = regex.compile(r"[，,。！？!?；;：:、…—\s“”「」『』]")
_SENTENCES = regex.compile(r"(?<=[。！？!?…])")
_MENTION = regex.compile(
    r"(?:俗话说?|常言道?|古人云?|古语云?|老话说?|有道是|所谓的?|叫做|叫作|名叫|写着|寫著|写下|题着|题为|牌子上?|贴着|印着|刻着|信上说|书中说|称为|称作|人称|外号|绰号|自称)"
    r"[，,：:一张块个两几]*$"
)
_MIN_NAME = 2
_NAME_LENGTHS = (2, 3)
_MAX_SURNAME_AND_TITLE = 3
_LETTERS = regex.compile(rf"[{_HAN}·]+")
_VOCATIVE = regex.compile(rf"(?:^|(?<=[，,！!。？?…—]))(?P<name>[{_HAN}]{{1,4}}?(?:儿)?)(?=[，,！!？?。…—]|$)")
_INQUIT = regex.compile(rf"(?<=[，。！？…,.!?])(?P<words>[{_HAN}·]{{1,8}}?{_VERB}{_AFTER_VERB})(?=[。，：:]|$)")
_NOT_ADDRESSED = word_set(
    "是的 好的 不行 不是 没有 当然 对了 真的 可是 但是 不过 如果 因为 所以 谢谢 抱歉 对不起 你好 再见 什么 怎么 为什么 哪里 可不 今天 昨天 明天 早上好 喂 嗯 哦 啊"
    " 哼 唉 哎 认识 然后 其实 就是 已经 多谢"
)
_SUFFIX_NOT_NAME = regex.compile(r"(?:吗|呢|吧|啊|了|的|么|嘛|呀|啦|着|过|得|好|不|没|去|来|人)$")


class Chinese:
    """Implements ``Grammar``."""

    first_person = "我"
    names_are_marked = False

    def cue_after(self, text: str) -> Cue | None:
        clause = _CUT.split(text, 1)[0]
        verb = _SPEECH.search(clause)
        if verb is not None:
            person = _subject(clause)
            if person is not None:
                return Cue(person, clause[: verb.end()] if len(clause) > 12 else clause)
        sentence = _SENTENCES.split(text.lstrip("，,。"), 1)[0]
        if (verb := _SPEECH.search(sentence[-6:])) is not None and (person := _subject(sentence)) is not None:
            return Cue(person, _shown(sentence))
        return _beat(text)

    def cue_before(self, text: str) -> Cue | None:
        stripped = text.rstrip()
        if not stripped:
            return None
        is_open = stripped[-1] in "：:，,—" or not regex.search(r"[。！？!?…”]$", stripped)
        sentence = _SENTENCES.split(stripped.rstrip("。！？!?…"))[-1].strip("，,：:—”」 ")
        person = _subject(sentence)
        verb = _SPEECH.search(sentence[-7:]) if is_open else None
        if person is None:
            return None
        return Cue(person, _shown(sentence), is_speech=verb is not None or stripped[-1] in "：:")

    def find_inquit(self, text: str, start: int) -> tuple[int, int] | None:
        match = _INQUIT.search(text, pos=start)
        if match is None or _subject(match["words"]) is None:
            return None
        end = regex.compile(r"[。！？]|，?—+|$").search(text, pos=match.end())
        assert end is not None
        return match.start(), end.end()

    def is_mention(self, before: str, words: str, after: str) -> bool:
        if _MENTION.search(before.rstrip()):
            return True
        has_end = bool(regex.search(r"[。！？!?…，,—～；]$", words))
        return not has_end and bool(before.strip() or after.strip()) and not self._is_introduced(before, after)

    def _is_introduced(self, before: str, after: str) -> bool:
        if before.rstrip().endswith(("：", ":")) or regex.search(rf"{_VERB}$", before.rstrip()):
            return True
        return bool(regex.match(rf"[，,]?[{_HAN}·]{{1,8}}?{_VERB}", after))

    def find_people(self, narration: str) -> Iterator[Reference]:
        for sentence in _SENTENCES.split(narration):
            person = _subject(sentence)
            if person is not None and person.kind not in (ReferenceKind.PRONOUN, ReferenceKind.NOBODY):
                yield person
            for match in regex.finditer(rf"(?<=[和与跟对向到给、把]){_ROLE.pattern}", sentence):
                yield Reference(match["role"], ReferenceKind.ROLE, _GENDER_OF_NOUN.get(match["role"]))

    def find_addressed(self, speech: str) -> Iterator[Reference]:
        for match in _VOCATIVE.finditer(speech.strip("“”「」『』‘’\"'—")):
            name = match["name"]
            role = _ROLE.fullmatch(name)
            if role is not None or _is_titled(name):
                yield Reference(name, ReferenceKind.ROLE, _gender(name))
            elif len(name) >= 2 and name not in _NOT_ADDRESSED and not _SUFFIX_NOT_NAME.search(name):
                yield Reference(name, ReferenceKind.NAME, _gender(name))

    def same_person(self, name: str, other: str) -> bool:
        return _same_person(name, other) or _same_person(other, name)

    def is_contradiction(self, name: str, other: str) -> bool:
        return {_gender(name), _gender(other)} == set(Gender)

    def gender_of_name(self, name: str) -> Gender | None:
        return _gender(name)


def _shown(sentence: str) -> str:
    return sentence if len(sentence) <= 14 else sentence[:12] + "…"


def _beat(text: str) -> Cue | None:
    """Return the subject of the sentence after a quotation, who probably speaks."""
    sentence = _SENTENCES.split(text.lstrip("，,。 "), 1)[0]
    person = _subject(sentence)
    return None if person is None else Cue(person, _shown(_CUT.split(sentence, 1)[0]), is_speech=False)


def _subject(sentence: str) -> Reference | None:
    """Return the subject of the first clause that has one."""
    for clause in _CUT.split(_NAME_START.sub("", sentence.strip("，, ")))[:3]:
        person = _person_at_start(_NAME_START.sub("", clause))
        if person is not None:
            return person
    return None


def _person_at_start(clause: str) -> Reference | None:
    if not clause or clause[0] in "却便就才又也还再已":
        return None
    pronoun = _pronoun_at_start(clause)
    if pronoun is not None:
        return pronoun
    role = _ROLE.match(clause)
    if role is not None and _ends_name(clause, role.end()):
        name = role["role"].removesuffix("的")
        return Reference(name, ReferenceKind.ROLE, _gender(name))
    match = _LETTERS.match(clause)
    letters = match.group() if match is not None else ""
    name = letters[: _name_length(letters)]
    if len(name) < _MIN_NAME or any(name.startswith(word) for word in _WORDS):
        return None
    return Reference(name, ReferenceKind.NAME, _gender(name))


def _pronoun_at_start(clause: str) -> Reference | None:
    if regex.match("有人|众人|大家|眾人|他们|她们|人群", clause):
        return Reference(clause[:2], ReferenceKind.NOBODY)
    if clause[0] in _PRONOUNS:
        return Reference(clause[0], ReferenceKind.PRONOUN, _PRONOUNS[clause[0]])
    if clause[0] == "我" and clause[1:2] not in ("们", "的"):
        return Reference("我", ReferenceKind.PRONOUN)
    if clause[0] == "子" and clause[1:2] in ("曰", "谓"):  # the Master
        return Reference("子", ReferenceKind.NAME, Gender.MALE)
    return None


def _name_length(letters: str) -> int:
    """Return the length of the name that a clause begins with, or 0 if it does not begin with one."""
    if "·" in letters:
        last = letters.rindex("·")
        rest = next((at for at in range(last + 2, len(letters)) if letters[at] in _FOLLOWING), len(letters))
        return rest if rest - last <= 7 else 0
    titled = regex.match(rf"[{_HAN}]{{1,3}}?{_NOUN}", letters)
    if titled is not None and _ends_name(letters, titled.end()):
        return titled.end()
    if letters[:1] in "老小阿" and len(letters) > 2 and letters[2] in _FOLLOWING:
        return 2
    longest = 4 if letters[:2] in _DOUBLE_SURNAMES else 3
    for length in range(3 if letters[:2] in _DOUBLE_SURNAMES else 2, longest + 2):
        if length == len(letters) or (length < len(letters) and letters[length] in _FOLLOWING):
            if length > longest and letters[0] in _SURNAMES:
                return 0
            return length
    return 0


def _ends_name(clause: str, end: int) -> bool:
    return end >= len(clause) or clause[end] in _FOLLOWING or not regex.match(_HAN, clause[end])


def _is_titled(name: str) -> bool:
    return (any(name.endswith(noun) for noun in _NOUNS) and len(name) >= 2) or regex.fullmatch(
        r"[老小阿大]\p{Han}", name
    ) is not None


def _gender(name: str) -> Gender | None:
    for noun in _NOUNS:
        if name.endswith(noun):
            if _GENDER_OF_NOUN[noun] is not None:
                return _GENDER_OF_NOUN[noun]
            break
    if name.startswith(("女", "密斯")):
        return Gender.FEMALE
    if name.startswith("男"):
        return Gender.MALE
    letters = set(name[1:])
    if letters & _FEMALE_LETTERS:
        return Gender.FEMALE
    return Gender.MALE if letters & _MALE_LETTERS else None


def _same_person(name: str, other: str) -> bool:
    """Return whether ``name`` is a shorter form or a form of address of ``other``."""
    if len(name) < _MIN_NAME:
        return name == other
    return _is_part(name, other) or _is_form_of_address(name, other)


def _is_part(name: str, other: str) -> bool:
    rest = len(other) - len(name)
    if other.endswith(name):  # 子墨, 韩子墨
        return rest <= _MAX_SURNAME_AND_TITLE
    if not other.startswith(name):
        return False
    return rest == 1 or other[len(name) :] in _GENDER_OF_NOUN or "·" in other  # one more letter is the next word


def _is_form_of_address(name: str, other: str) -> bool:
    first, last = name[0], name[1:]
    if len(name) == _MIN_NAME and first in "老小阿大" and len(other) >= _MIN_NAME and name not in _GENDER_OF_NOUN:
        if last == other[0] and other[0] in _SURNAMES and first in "老小":  # 老冯, 小钱
            return other[1:] in _GENDER_OF_NOUN or len(other) in _NAME_LENGTHS
        return last == other[-1] and first in "阿小大"  # 阿毛
    if len(name) == _MIN_NAME and last in "儿兒":  # 婉儿
        return first in other[1:]
    is_title = first in _SURNAMES and last in _GENDER_OF_NOUN  # 方小姐, who may be 方静
    return is_title and other[0] == first and other[1:] not in _GENDER_OF_NOUN and len(other) in _NAME_LENGTHS


CHINESE = Chinese()
