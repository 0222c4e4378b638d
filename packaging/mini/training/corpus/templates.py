"""Sentences from templates, with digits and signs that the program's front end turns into words."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

from training.corpus import english_slots as english

_ENGLISH = """
{Name} was born on {month} {day}, {year}.|The bill came to ${price}.|It is {clock} now, isn't it?|Call {phone}.
About {percent}% of the {things} were sold by {clock}.|In {year}, {place} had {thousands} inhabitants.
We need {small} {things}, {small} {things}, and {small} {things}.|Flight {small} to {place} boards at {clock}.
Who told you that, {name}?|Did you really buy {small} {things}?|Are you coming with us, or would you rather stay?
What time does the shop open on {weekday}?|Where have you been all this time, {name}?|How much is that {thing}?
Do you want tea, coffee, or just a glass of water?|Wait, is that my {thing}?|You said {clock}, didn't you?
"I don't think so," said {name}.|"Are you sure?" asked {name}.|"Come on!" {name} shouted. "We're late!"
Well, I'm not so sure about that.|Oh no, I forgot the {thing}!|Thanks a lot, {name}, that's very kind of you.
Let's meet at {clock} in {place}, shall we?|I can't believe it's already {month}.|That's amazing, {name}!
Hi, this is {name} speaking. How can I help you?|Sorry, could you repeat that, please?|I'll be there by {clock}.
If you ask me, the {adjective} {thing} looks better than the {adjective} one.|Please don't touch the {thing}.
Chapter {small}. {Name} arrives in {place}.|Welcome back to the channel! Today we look at a {adjective} {thing}.
First, open the {thing}; second, take out the {thing}; third, close it again.|Subscribe if you liked it.
The {adjective} {thing}, the {adjective} {thing} and the {adjective} {thing} belong to {name}.|Once upon a time, {name} lived in {place}.
""".strip().splitlines()
_MANDARIN = """
{名}，你好！|早上好，{名}。|晚安，{名}。|谢谢你，{名}，你真好。|不客气。|对不起，我来晚了。|没关系，我们刚到。|请问，{地}怎么走？
你叫什么名字？|我叫{名}，是{地}人。|你是从哪里来的？|我从{地}来，住在{地}。|今天星期几？|今天是{月}月{日}日，星期{周}。|现在几点了？
现在是{时}点{分}分。|火车{时}点{分}分从{地}出发。|我{年}年出生在{地}。|{年}年{月}月{日}日，{名}搬到了{地}。|这个{物}多少钱？|一共{价}元。
这个{物}{小}块钱，那个{物}{百}块钱。|太贵了，能不能便宜一点儿？|我要买{小}{个}{物}。|你喜欢{形}的{物}还是{形}的{物}？|{名}买了一个{形}的{物}。
你吃饭了吗？|吃了，你呢？|我想喝一杯咖啡，你喝什么？|来一碗牛肉面，不要辣椒。|服务员，买单！|你明天有空吗？|我们一起去{地}玩吧！|好啊，几点见面？
我的电话号码是{码}。|验证码是{码}，请不要告诉别人。|房间号是{码}。|请翻到第{百}页。|第{小}章，{名}来到{地}。|大约有{百}分之{小}的人同意。
{地}有{万}人口。|气温是零下{小}度。|今年增长了{比}%。|{小}加{小}等于多少？|{百}减{小}等于{百}。|他跑了{小}公里，用了{分}分钟。|比赛结果是{小}比{小}。
你怎么了，{名}？|我有点儿不舒服，想休息一会儿。|别着急，慢慢来。|真的吗？太好了！|怎么可能呢？|我不相信！|你说什么？我没听清楚。|请再说一遍，好吗？
“你去哪儿？”{名}问。|“我不知道。”{名}轻轻地说。|{名}笑着说：“那就这么定了！”|“快跑！”{名}大声喊道。|从前，有一个叫{名}的孩子，住在{地}。
欢迎收听今天的节目，我是{名}。|大家好，欢迎来到我的频道！今天我们来看看这个{物}。|如果你喜欢这个视频，请点赞、关注和转发。|下期再见！
请先打开{物}，再按红色的按钮。|请选择一个音色，然后输入文字。|正在加载模型，请稍等。|下载已经完成百分之{小}。|文件保存好了。|录音已经结束。
这段话由合成的声音朗读。|你能小声一点儿吗？|说得快一点儿，好不好？|他一边走一边唱，一不小心摔了一跤。|看一看，听一听，想一想，再说一说。
你不是不知道，你是不想说。|雨下得不大，可是风刮得很厉害。|我想给你买几把小雨伞。|老李请我和小马去展览馆。|哪里有水果，哪里就有小鸟。
要么你来，要么我去，总得有人做。|虽然天气很冷，但是{名}还是去了{地}。|因为下雨，所以{物}全湿了。|只要努力，就会有进步。|除了{名}，大家都到了。
请把{物}放在桌子上，不要放在地上。|{物}被{名}拿走了。|{名}比{名}高{小}厘米。|这条路又长又直，一直通到{地}。|你猜猜看，里面是什么？
我在用 {英} 写东西，你用过吗？|把文件发到我的 {英} 里。|这个 {英} 很好用，{名}也在用。|今晚一起看 {英} 吧。|{名}说：“OK，没问题。”|你的 {英} 更新了吗？
他在{地}学了{小}年 {英}，说得很流利。|我们开个 {英} 会议，{时}点开始。|这家店的 {英} 很有名。|Hello，{名}，好久不见！
""".strip().splitlines()
_SURNAMES = (
    "王李张刘陈杨黄赵周吴徐孙马朱胡郭何高林罗郑梁谢宋唐许韩冯邓曹彭曾萧田董潘袁于余叶蒋杜苏魏程吕丁沈任姚卢傅钟崔汪范陆"
)
_GIVEN = (
    "伟芳娜敏静丽强磊军洋勇艳杰娟涛明超秀霞平刚桂英华文玉建国海燕小红志晓雪梅兰云龙春阳雨晨思远子涵欣怡浩宇佳琪梓轩一诺"
)
_NICKNAMES = (
    "小明 小红 老王 老李 小张 阿强 奶奶 爷爷 妈妈 爸爸 姐姐 哥哥 妹妹 弟弟 老师 医生 经理 同学们 朋友们 师傅".split()
)
_PLACES = (
    "北京 上海 广州 深圳 成都 杭州 南京 武汉 西安 重庆 天津 苏州 长沙 青岛 大连 厦门 昆明 桂林 拉萨 香港 台北 澳门 哈尔滨 乌鲁木齐 呼和浩特 海南岛 "
    "长城 黄山 西湖 故宫 外滩 火车站 飞机场 图书馆 博物馆 动物园 公园 学校 医院 银行 超市 邮局 伦敦 巴黎 东京 纽约 柏林 罗马 悉尼 莫斯科"
).split()
_THINGS = (
    "手机 电脑 书包 雨伞 眼镜 手表 钥匙 杯子 盘子 筷子 椅子 桌子 沙发 冰箱 空调 洗衣机 自行车 汽车 飞机 火车票 照片 地图 词典 铅笔 钢笔 本子 报纸 杂志 苹果 "
    "香蕉 西瓜 葡萄 面包 鸡蛋 牛奶 茶叶 蛋糕 饺子 米饭 衣服 裤子 鞋子 帽子 围巾 毛衣 裙子 玩具 足球 篮球 吉他 钢琴 相机 耳机 麦克风 键盘 鼠标 灯泡 窗户 镜子"
).split()
_ADJECTIVES = (
    "红色 蓝色 绿色 白色 黑色 黄色 漂亮 便宜 新鲜 干净 安静 热闹 舒服 奇怪 普通 特别 简单 复杂 古老 年轻 聪明 勇敢 可爱 重要 有趣 巨大 细小 温暖 寒冷 柔软"
).split()
_MEASURES = ("个", "件", "本", "张", "把", "只", "条", "台")
_LATIN = (
    "email computer Python podcast video music coffee pizza party project meeting weekend camera keyboard software "
    "internet English basketball chocolate sandwich hotel ticket message update server laptop studio model voice"
).split()
_SLOT = re.compile(r"\{(.+?)\}")


def fill_in(number: int, random: np.random.Generator) -> list[str]:
    """Return ``number`` English sentences, as distinct as the templates permit; half have numbers in digits."""
    templates = [template for line in _ENGLISH for template in line.split("|")]
    with_digits = _distinct(number // 2, templates, lambda slot: _english_word(slot, random), random)
    return with_digits + english.fill_in(number - len(with_digits), random)


def fill_in_mandarin(number: int, random: np.random.Generator) -> list[str]:
    """Return ``number`` Mandarin sentences, some with English words."""
    templates = [template for line in _MANDARIN for template in line.split("|")]
    return _distinct(number, templates, lambda slot: _mandarin_word(slot, random), random)


def _distinct(number: int, templates: list[str], word: Callable[[str], str], random: np.random.Generator) -> list[str]:
    drawn: dict[str, None] = {}
    for _ in range(4 * number):
        template = templates[int(random.integers(len(templates)))]
        drawn[_SLOT.sub(lambda slot: word(slot[1]), template)] = None
        if len(drawn) == number:
            break
    return list(drawn)


def _english_word(slot: str, random: np.random.Generator) -> str:
    ranges = {"day": (1, 29), "year": (1700, 2040), "percent": (2, 100), "small": (2, 60)}
    if slot in ranges:
        return str(random.integers(*ranges[slot]))
    pairs = {"price": ((1, 200), ".", (10, 100)), "clock": ((1, 13), ":", (10, 60))}
    pairs |= {"phone": ((200, 999), "-", (1000, 9999)), "thousands": ((1, 900), ",", (100, 999))}
    if slot in pairs:
        first, sign, second = pairs[slot]
        return f"{random.integers(*first)}{sign}{random.integers(*second)}"
    return english.word(slot, random)


def _mandarin_word(slot: str, random: np.random.Generator) -> str:
    lists = {
        "地": _PLACES,
        "物": _THINGS,
        "形": _ADJECTIVES,
        "个": _MEASURES,
        "英": _LATIN,
        "周": tuple("一二三四五六日"),
    }
    if slot in lists:
        return str(random.choice(lists[slot]))
    if slot == "名":
        if random.random() < 0.35:
            return str(random.choice(_NICKNAMES))
        given = "".join(str(random.choice(list(_GIVEN))) for _ in range(int(random.integers(1, 3))))
        return str(random.choice(list(_SURNAMES))) + given
    if slot == "码":
        return "".join(str(digit) for digit in random.integers(0, 10, size=int(random.integers(3, 9))))
    low, high = {
        "月": (1, 13), "日": (1, 29), "时": (1, 13), "分": (2, 60), "年": (1900, 2040), "小": (2, 100), "百": (100, 1000),
        "万": (10_000, 5_000_000), "价": (1, 2000), "比": (1, 40),
    }[slot]  # fmt: skip
    value = str(random.integers(low, high))
    return f"{value}.{random.integers(1, 10)}" if slot in "价比" and random.random() < 0.5 else value
