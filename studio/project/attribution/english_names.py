"""Common English first names with their gender, and nicknames."""

from __future__ import annotations

from studio.project.attribution.grammar import word_set

FEMALE_NAMES = word_set(
    "ada adelaide adele adèle agatha agnes alice alison amanda amelia amy andrea angela anita ann anna anne annie audrey"
    " barbara beatrice beatrix becky bella bertha bess beth betsy betty brenda bridget camilla carol caroline catherine"
    " cecilia charlotte christina christine cicely claire clara claudia constance cora cordelia daisy daphne deborah delia"
    " diana dinah dolly dora doris dorothea dorothy dulcie edith edna eleanor elena eliza elizabeth elinor ella ellen elsie"
    " emily emma erica esther ethel eunice eva eve evelyn fanny fiona flora florence frances freda georgiana gertrude"
    " ginny gloria grace greta gwen hannah harriet harriette hazel heather helen henrietta hester hilda ida ingrid irene iris isabel isabella"
    " ivy jane janet jean jennifer jenny jess jessica jessie jill joan joanna josephine joyce judith judy julia juliet june karen"
    " kate katherine kathleen kitty laura lavinia lena lettice lily linda lisa liz lizzie lois lottie louisa louise lucy lydia mabel"
    " madge madeleine maggie margaret maria marianne marie marion marjorie martha mary matilda maud maude may mercy mia mildred"
    " millicent mina minnie miranda miriam molly monica muriel myra nan nancy naomi natasha nell nellie nina nora norah"
    " olive olivia pamela patricia patty pauline peggy penelope phoebe phyllis polly priscilla prudence prue rachel rebecca rita"
    " rosa rosalind rose rosemary ruth sally sandra sara sarah selina sheila sibyl sofya sonia sophia sophie sophy stella"
    " susan susannah sybil sylvia tabitha tess tessa thea theresa tilda una ursula vera veronica victoria viola violet virginia"
    " wendy winifred zoe"
)
MALE_NAMES = word_set(
    "aaron abel abraham adam adrian alan albert alec alexander alf alfred algernon ambrose amos andrew angus anthony"
    " archibald archie arnold arthur aubrey augustus barnaby barnard barney basil ben benedict benjamin bernard bert bertie"
    " bertram bill billy bob boris brian bruno caleb cecil cedric charles charley charlie christopher clarence claude"
    " clement clive colin conrad cuthbert cyril dan daniel david denis dennis dick donald douglas ebenezer ed edgar edmund"
    " edward edwin eric ernest eugene eustace evan ezra felix ferdinand fergus francis frank franz fred frederick gabriel"
    " geoffrey george gerald gideon gilbert giles godfrey graham gregory guy hal hank hans harold harry henry herbert"
    " herman horace howard hubert hugh hugo humphrey ian isaac ivan jack jacob jake james jasper jed jeffrey jeremiah"
    " jeremy jerome jerry jim jimmy job joe joel john johnny jonah jonas jonathan joseph joshua julian julius karl keith"
    " ken kenneth lancelot laurence lawrence len leo leonard leopold lewis lionel louis lucien luke malcolm mark martin"
    " matthew maurice max maxim michael mike miles montague mortimer nathan nathaniel ned neil neville nicholas nick nigel"
    " noah norman oliver oscar oswald otto owen patrick paul percy peter phil philip philippe piers pierre quentin rafe ralph"
    " raymond reginald reuben rex richard robert robin rodney roger roland ronald rory roy rufus rupert sam samuel"
    " seth sid sidney silas simon solomon stanley stephen steven stuart ted terence theo theodore thomas tim timothy titus"
    " tobias toby tom tommy tony valentine victor vince vincent wallace walter wilf wilfred will william winston"
)
_NICKNAMES = {
    "william": "bill billy will willie", "thomas": "tom tommy", "elizabeth": "liz lizzie betty betsy bess eliza beth",
    "robert": "bob bobby rob", "richard": "dick rick", "james": "jim jimmy", "john": "jack johnny", "charles": "charley charlie",
    "edward": "ned ted teddy ed", "henry": "harry hal hank", "margaret": "maggie meg peggy madge", "catherine": "kate kitty cathy",
    "katherine": "kate kitty", "samuel": "sam", "joseph": "joe", "daniel": "dan danny", "benjamin": "ben", "frederick": "fred freddy",
    "alexander": "alec sandy", "mary": "molly polly", "sarah": "sally", "helen": "nell nellie", "ann": "nan nancy annie",
    "matilda": "tilda tilly", "theresa": "tess", "bertram": "bertie", "gerald": "jerry", "sophia": "sophy", "priscilla": "prue",
    "margery": "madge", "wilfred": "wilf", "leonard": "len", "michael": "mike mick", "philip": "phil", "timothy": "tim",
    "valentine": "val", "andrew": "andy", "archibald": "archie", "jessica": "jess", "isabella": "bella", "frances": "fanny",
}  # fmt: skip
# Each nickname, with the name it stands for most often.
NICKNAMES: dict[str, str] = {}
for _name, _short in _NICKNAMES.items():
    for _each in _short.split():
        NICKNAMES.setdefault(_each, _name)
