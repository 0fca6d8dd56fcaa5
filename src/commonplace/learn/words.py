"""Word classes that the rules share: verbs that make a clause, pronouns, people, days."""

from __future__ import annotations

from collections.abc import Sequence

from commonplace.reconcile.claims import verbs

_COMMON_VERBS = """
    accept act add affect agree allow annoy answer appear apply approve arrive ask average avoid become begin belong
    bill block book bore break bring build burn buy call cancel cap carry catch cause change charge check choose clean
    close collect come commute complain complete confirm connect consist contain continue control cook cost cover crash
    create cut cycle deal decide delete deliver depend deploy describe deserve die differ disable drink drive drop eat
    embed emit enable encode end enforce enjoy exist exceed expect expire fail fall feed feel fetch finish fit fix fly
    follow forbid force forget freeze generate get give go grow guarantee handle hang happen hate have hear help hide
    hit hold host hurt ignore import include inherit insist install integrate invalidate invoice join keep know lack
    land last launch lead leak learn leave let lie like limit listen live load log look lose love maintain make manage
    match matter mean measure meet mention miss mount move need offer open order organise overwrite own panic parse pass
    pay perform play point post prefer prevent produce promise prove provide publish put quit raise reach read receive
    recommend record reduce refer refuse reject release rely remain remove renew rent repeat replace reply report
    require reset respond restart retire return rotate run say see seem sell send serve set share ship show sign sit
    sleep slow speak spend split stand start stay stick stop store store study submit suffer suit support survive swap
    switch sync take talk teach tell tend test throw time total track train travel treat trigger try turn type
    understand update use validate visit wait wake walk want warn watch wear weigh win work write yield
    abandon absorb accuse achieve adapt adjust admire admit advise aim alert allocate alter analyse analyze announce
    anticipate appoint appreciate argue arrange assign assist assume attach attack attempt attend audit authenticate
    authorise authorize award bake balance ban base bear beat behave bind bite blame blow boil borrow bother bounce
    brew broadcast browse brush bump bury calculate cater celebrate centre challenge cheat chew circulate claim climb
    cluster coach code combine commit communicate compare compete compile compose compress concern conclude conduct
    configure conflict consider consult consume contact contract contribute convert convince cool cope copy correct
    corrupt count crawl credit cross damage dance date debug declare decline decrease dedicate default define delay
    demand deny deprecate derive design destroy detect determine develop dial dictate digest dine direct discover
    discuss dislike dismiss display distribute divide document donate double doubt download draft drag draw dread dream
    dress drift drown duplicate earn edit elect eliminate email emerge employ empty encounter encourage encrypt engage
    ensure enter equal escape establish estimate evaluate examine exchange exclude execute exercise exit expand
    experience explain explode explore export expose express extend extract face fear feature fight file fill filter
    finance flag float flow focus fold forward found function fund gain garden gather govern grab graduate grant greet
    grind guard guess guide harm head heal heat hire identify imagine implement imply impose improve increase indicate
    inform inject inspect inspire intend interact interpret interview introduce invest investigate invite involve issue
    jog judge jump justify kick kill knit label laugh lay lend license lift link list loan locate lock loop maintain
    mail map mark marry master mature merge migrate mind mix model modify monitor mount mute name negotiate nest note
    notice notify number obey object observe obtain occur operate oppose opt outperform override oversee owe pack paint
    park participate partition patch pause peak perceive persist phone pick pin place plan plant please plug poll pool
    pop possess postpone pour practise praise pray prepare present press price print prioritise prioritize proceed
    process profit program progress project promote propose protect prune pull pump punish purchase push qualify query
    question queue quote race rain rate react realise realize rebuild recall reckon recognise recover recruit recycle
    redirect reflect refresh register regret reject relate relax remember remind render repair represent request rescue
    research resemble reserve resign resist resolve respect rest restore restrict result resume retain retry reveal
    revert review revise reward ride ring rise risk roll rotate round route rule rush sample satisfy save scale scan
    scare schedule score scrape scream seal search secure seek select separate settle shape shift shine shoot shop shout
    shrink shut signal simplify simulate sing skip smell smoke smooth solve sort sound spare spawn specify spell spill
    spin spoil sponsor spot spread stage standardise stare state steal step strengthen stress stretch strike strip
    struggle subscribe substitute succeed sue suggest sum supply suppose surprise surround suspect suspend sustain swear
    sweep swim synchronise tag target taste tax tear terminate thank think tie tolerate touch trade transfer transform
    translate transmit trap trust twist undergo undo unlock upgrade upload value vanish vary verify view violate
    volunteer vote wander wash waste weaken welcome whip wipe wish withdraw witness wonder worry wrap
"""
VERBS = frozenset(_COMMON_VERBS.split())
THIRDS = frozenset(map(verbs.third, VERBS))
PASTS = frozenset(map(verbs.past, VERBS))

NOUNS = frozenset(
    """
    runs builds tests works uses plays calls changes charges orders reports updates costs times starts ends moves stops
    breaks visits checks needs turns sets shows points plans prices notes reviews jobs cuts files likes loves sounds
    """.split()
)
"""Plurals that look like verbs."""
AUXILIARIES = frozenset(
    """
    is are was were am has have had do does did will would can could should must may might shall isn't aren't wasn't
    weren't hasn't haven't hadn't don't doesn't didn't won't wouldn't can't couldn't shouldn't mustn't cannot gonna
    isnt arent wasnt doesnt didnt wont cant dont
    """.split()
)
FINITE = AUXILIARIES | THIRDS | (PASTS - {"read", "set", "let", "cut", "hit", "put", "cost", "split"})
"""Words that, after a subject, make a clause. Some are nouns elsewhere: where it matters, look before them too."""

PRONOUNS = frozenset("i we he she they it there that this these those you let's lets".split())
_CONTRACTIONS = ("'s", "'re", "'m", "'ll", "'ve", "'d", "n't")

_RATHER_NOUNS = frozenset("bit wound bound shot rose lay".split())

KIN = frozenset(
    """
    dad mum mom mother father sister brother wife husband partner son daughter kid kids grandma grandpa granny uncle
    aunt cousin niece nephew boyfriend girlfriend fiance fiancee boss manager landlord roommate flatmate neighbour
    neighbor nan gran grandmother grandfather
    """.split()
)
CHANGES = frozenset(
    """
    moved left joined died born married divorced retired graduated quit became changed renamed replaced closed opened
    bought sold won started finished founded launched signed approved announced resigned promoted hired fired built
    upgraded switched migrated expired adopted introduced extended raised rose doubled halved rotated inherited
    transferred relocated renewed ended merged split grew
    """.split()
)
"""Past events after which things are different from before."""

FEELINGS = frozenset(
    """
    proud excited nervous scared thrilled upset angry mad exhausted jealous worried tired hungry bored sad happy glad
    lonely furious shocked surprised amazed relieved embarrassed confused annoyed grumpy cranky sleepy delighted stoked
    gutted devastated chuffed pumped cross moody miserable
    """.split()
)
"""How somebody feels: over by tomorrow."""

DAYS = frozenset("monday tuesday wednesday thursday friday saturday sunday".split())
MONTHS = frozenset("january february march april may june july august september october november december".split())
CALENDAR = DAYS | MONTHS | {day + "s" for day in DAYS}


def make_a_clause(found: Sequence[str]) -> bool:
    """Tell whether words have a verb among them: in its base form only after "I" and its like."""
    if found[:1] and found[0] in ("i", "we", "they", "you") and not VERBS.isdisjoint(found[1:4]):
        return True
    return any(map(is_finite, found[1:]))


def is_finite(word: str) -> bool:
    """Tell whether a word, in lower case, can be the verb of a clause."""
    if word in _RATHER_NOUNS:
        return False
    return word in FINITE or word.endswith(_CONTRACTIONS) or verbs.is_past(word)
