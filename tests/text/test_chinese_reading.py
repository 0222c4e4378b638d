"""The reading of Chinese characters in sentences."""

from __future__ import annotations

import pytest

from studio.text.chinese_reading import annotated, syllables


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
        ("女儿", "nü3 er2"),
    ],
)  # fmt: skip
def test_characters_are_read_as_they_are_spoken(characters: str, spoken: str) -> None:
    assert syllables(characters) == spoken.split()


def test_characters_with_several_readings_are_annotated() -> None:
    assert annotated("银行的行长(2024)长大了。") == "银行(háng)的行(háng)长(zhǎng)(2024)长(zhǎng)大了。"
    assert annotated("他高兴地说，我还书，还有好的。") == "他高兴地(de)说，我还(huán)书，还有好的。"
    assert annotated("Plain words. 你好！") == "Plain words. 你好！"


def test_rare_characters_have_one_syllable_each() -> None:
    assert syllables("𠮷龘") == ["𠮷5", "da2"]
    assert syllables("") == []
