"""The reading of Chinese characters in sentences."""

from __future__ import annotations

import pytest

from studio.text.chinese_reading import annotated, syllables, syllables_of_words


@pytest.mark.parametrize(
    ("characters", "spoken"),
    [
        # third tones within words and phrases
        ("你好", "ni2 hao3"), ("很好", "hen2 hao3"), ("小老虎", "xiao3 lao2 hu3"), ("展览馆", "zhan2 lan2 guan3"),
        ("请把窗户关上", "qing2 ba3 chuang1 hu5 guan1 shang4"), ("二十九比五十", "er4 shi2 jiu3 bi2 wu3 shi2"),
        # one
        ("一切", "yi2 qie4"), ("一年", "yi4 nian2"), ("一座桥", "yi2 zuo4 qiao2"), ("她一边听", "ta1 yi4 bian1 ting1"),
        ("第一名", "di4 yi1 ming2"), ("星期一早上", "xing1 qi1 yi1 zao3 shang5"), ("唯一的", "wei2 yi1 de5"),
        ("一九八四年", "yi1 jiu3 ba1 si4 nian2"), ("三百一十三", "san1 bai3 yi1 shi2 san1"), ("一月", "yi1 yue4"),
        ("九月一日", "jiu3 yue4 yi1 ri4"), ("看一看", "kan4 yi5 kan4"), ("一个", "yi2 ge5"), ("十一", "shi2 yi1"),
        # not
        ("不是", "bu2 shi4"), ("不去", "bu2 qu4"), ("不好", "bu4 hao3"), ("是不是", "shi4 bu5 shi4"), ("我不", "wo3 bu4"),
        ("好久不见", "hao2 jiu3 bu2 jian4"), ("吃不了", "chi1 bu4 liao3"),
        # particles
        ("他高兴地说", "ta1 gao1 xing4 de5 shuo1"), ("慢慢地走", "man4 man4 de5 zou3"), ("土地", "tu3 di4"),
        ("地上有水", "di4 shang5 you2 shui3"), ("跑得很快", "pao3 de5 hen3 kuai4"), ("他得走了", "ta1 dei2 zou3 le5"),
        ("不得入内", "bu4 de2 ru4 nei4"), ("觉得", "jue2 de5"), ("拿着", "na2 zhe5"), ("睡着了", "shui4 zhao2 le5"),
        ("看过了", "kan4 guo5 le5"), ("路过", "lu4 guo4"), ("设置为", "she4 zhi4 wei4"), ("设置为零", "she4 zhi4 wei2 ling2"),
        ("为了你", "wei4 le5 ni3"), ("文档中的字符", "wen2 dang4 zhong1 de5 zi4 fu2"), ("到了北京", "dao4 le5 bei3 jing1"),
        # neutral tones
        ("妈妈喜欢", "ma1 ma5 xi3 huan5"), ("朋友的东西", "peng2 you5 de5 dong1 xi5"), ("你看看", "ni3 kan4 kan5"),
        ("时候", "shi2 hou5"), ("便宜", "pian2 yi5"), ("两个人", "liang3 ge5 ren2"), ("常常", "chang2 chang2"),
        # several readings
        ("银行行长", "yin2 hang2 hang2 zhang3"), ("长得高", "zhang3 de5 gao1"), ("长城很长", "chang2 cheng2 hen3 chang2"),
        ("重新重视", "chong2 xin1 zhong4 shi4"), ("还书", "huan2 shu1"), ("还有", "hai2 you3"), ("两只猫", "liang3 zhi1 mao1"), ("这只是开始", "zhe4 zhi3 shi4 kai1 shi3"),
        ("女儿", "nü3 er2"), ("教我弹琴", "jiao1 wo3 tan2 qin2"), ("盛了碗汤", "cheng2 le5 wan3 tang1"), ("调低音量", "tiao2 di1 yin1 liang4"),
        ("被撞倒了", "bei4 zhuang4 dao3 le5"), ("他倒在门口", "ta1 dao3 zai4 men2 kou3"), ("把水倒在杯里", "ba2 shui3 dao4 zai4 bei1 li5"),
        ("还你钱", "huan2 ni3 qian2"), ("什么时候还", "shen2 me5 shi2 hou5 huan2"), ("你还没走", "ni3 hai2 mei2 zou3"),
        ("两行字", "liang3 hang2 zi4"), ("这一行", "zhe4 yi4 hang2"), ("长着角", "zhang3 zhe5 jiao3"), ("时间长了", "shi2 jian1 chang2 le5"),
        ("种了花", "zhong4 le5 hua1"), ("这种花", "zhe4 zhong3 hua1"), ("数一数", "shu3 yi5 shu3"), ("绕太阳转", "rao4 tai4 yang5 zhuan4"),
        ("待在家里", "dai1 zai4 jia1 li5"), ("应了一声", "ying4 le5 yi4 sheng1"), ("曾老师姓单", "zeng1 lao3 shi1 xing4 shan4"),
        ("选他为组长", "xuan3 ta1 wei2 zu2 zhang3"), ("我可以为你", "wo3 ke2 yi3 wei4 ni3"), ("重点", "zhong4 dian3"), ("更为重要", "geng4 wei2 zhong4 yao4"),
        ("都会好的", "dou1 hui4 hao3 de5"), ("犯罪分子", "fan4 zui4 fen4 zi3"), ("第二种", "di4 er4 zhong3"), ("轮得到你", "lun2 de5 dao4 ni3"), ("睡大觉", "shui4 da4 jiao4"), ("涨得通红", "zhang4 de5 tong1 hong2"),
        # words that meet
        ("他的姐姐", "ta1 de5 jie3 jie5"), ("把头发剪短", "ba3 tou2 fa5 jian2 duan3"), ("会计算", "hui4 ji4 suan4"), ("热得要命", "re4 de5 yao4 ming4"),
        ("好不了", "hao3 bu4 liao3"), ("出现在", "chu1 xian4 zai4"), ("早点儿", "zao2 dian3 er5"),
        # particles beside words
        ("慢慢地上楼", "man4 man4 de5 shang4 lou2"), ("轻轻地点了点头", "qing1 qing1 de5 dian3 le5 dian3 tou2"),
        ("理性地看", "li3 xing4 de5 kan4"), ("一本一本地看", "yi4 ben3 yi4 ben3 de5 kan4"), ("头也不回地走", "tou2 ye3 bu4 hui2 de5 zou3"), ("爸爸地位高", "ba4 ba5 di4 wei4 gao1"),
        ("得住院", "dei3 zhu4 yuan4"), ("今天得上班", "jin1 tian1 dei3 shang4 ban1"), ("老师得知道", "lao3 shi1 dei3 zhi1 dao4"),
        ("得了第一", "de2 le5 di4 yi1"), ("拿得了吗", "na2 de5 liao3 ma5"), ("看得到海", "kan4 de5 dao4 hai3"), ("照得真好", "zhao4 de5 zhen1 hao3"),
        ("穿着红裙子", "chuan1 zhe5 hong2 qun2 zi5"), ("拉着手", "la1 zhe5 shou3"), ("着了凉", "zhao2 le5 liang2"), ("可着急了", "ke3 zhao2 ji2 le5"),
        ("当过兵", "dang1 guo5 bing1"), ("弟弟们上学", "di4 di5 men5 shang4 xue2"), ("屋里有人", "wu1 li5 you3 ren2"), ("动画片儿", "dong4 hua4 pian1 er5"),
        # doubled
        ("你想想", "ni3 xiang2 xiang5"), ("帮帮我", "bang1 bang5 wo3"), ("漂漂亮亮", "piao4 piao4 liang4 liang4"), ("说说笑笑", "shuo1 shuo1 xiao4 xiao4"),
        ("爸爸妈妈", "ba4 ba5 ma1 ma5"), ("一只只鸟", "yi4 zhi1 zhi1 niao3"), ("一颗一颗", "yi4 ke1 yi4 ke1"),
        # traditional characters
        ("銀行行長", "yin2 hang2 hang2 zhang3"), ("頭髮乾了", "tou2 fa5 gan1 le5"), ("還書給他", "huan2 shu1 gei3 ta1"), ("看著他", "kan4 zhe5 ta1"),
        ("他高興地說", "ta1 gao1 xing4 de5 shuo1"), ("著名的著作", "zhu4 ming2 de5 zhu4 zuo4"), ("兩隻貓", "liang3 zhi1 mao1"),
        # numbers
        ("一号楼", "yi1 hao4 lou2"), ("一年级", "yi1 nian2 ji2"), ("百分之一的", "bai3 fen1 zhi1 yi1 de5"), ("零点一秒", "ling2 dian3 yi1 miao3"),
        ("三点一刻", "san1 dian3 yi2 ke4"), ("统一思想", "tong3 yi1 si1 xiang3"), ("五种", "wu2 zhong3"), ("五百九", "wu2 bai3 jiu3"),
        ("收入为两万元", "shou1 ru4 wei2 liang3 wan4 yuan2"),
    ],
)  # fmt: skip
def test_characters_are_read_as_they_are_spoken(characters: str, spoken: str) -> None:
    assert syllables(characters) == spoken.split()


def test_characters_with_several_readings_are_annotated() -> None:
    assert annotated("银行的行长(2024)长大了。") == "银行(háng)的行(háng)长(zhǎng)(2024)长(zhǎng)大了。"
    assert annotated("他高兴地说，我还书，还有好的。") == "他高兴地(de)说，我还(huán)书，还有好的。"
    assert annotated("銀行") == "銀行(háng)"
    assert annotated("Plain words. 你好！") == "Plain words. 你好！"


def test_syllables_are_grouped_by_words() -> None:
    assert syllables_of_words("我喜欢北京") == [["wo2"], ["xi3", "huan5"], ["bei3", "jing1"]]


def test_rare_characters_have_one_syllable_each() -> None:
    assert syllables("𠮷龘") == ["𠮷5", "da2"]
    assert syllables("") == []
