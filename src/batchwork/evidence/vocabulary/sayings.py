"""The words in which documents say yes or no: verbs of two words, other words for one thing, and opposites.

Wider than what labels share: "bicycles are carried" answers whether they are allowed, though to carry is not to allow.
"""

from batchwork.evidence.vocabulary.lexicon import words
from batchwork.evidence.vocabulary.words import concepts

# Verbs of two words, and what they say in one: what is handed back is returned.
_TWO_WORDS = {
    "returned": "handed back|hand back|hands back|given back|give back|gave back|sent back|send back|brought back",
    "included": "part of|comes with|come with|came with|complete with|covered by",
    "enabled": "switched on|turned on|opted in|signed up|switch on|turn on",
    "disabled": "switched off|turned off|opted out|shut down|shut off|switch off|turn off",
    "applies": "in force|in effect|in place",
    "performed": "carried out|carry out|carries out",
    "rejected": "turned down|ruled out|struck out|thrown out|voted down",
    "cancelled": "called off|broken off|fell through",
    "paid": "paid for|paid off|settled in full",
    "available": "in stock|on sale",
    "unavailable": "sold out|out of stock|out of order",
    "reverted": "rolled back|backed out",
    "attended": "took part|takes part|taken part",
    "extended": "rolled over|carried over",
    "compliant": "in line|in conformity|in accordance",
}
VERBS = {form: meant for meant, forms in _TWO_WORDS.items() for form in forms.split("|")}

_OPPOSITE_PAIRS = (
    "enabled disabled; included excluded; include exclude; active inactive; accepted rejected; approved denied"
    "; approved rejected; approved refused; granted refused; carried defeated; adopted rejected; allowed prohibited"
    "; permitted prohibited; allowed forbidden; open closed; present absent; attended missed; paid outstanding"
    "; paid overdue; active expired; active terminated; active suspended; valid expired; valid lapsed; taxable exempt"
    "; refundable final; married single; remote onsite; employed unemployed; available discontinued"
    "; signed unsigned; fixed variable; exclusive shared; successful failed; passed failed; damaged intact"
    "; renewed lapsed; continued discontinued; secured unsecured; required optional"
    "; mandatory optional; mandatory voluntary; confidential public; vacant occupied; temporary permanent"
    "; complete incomplete; guilty acquitted"
)
OPPOSITES: dict[str, str] = {}
for _pair in _OPPOSITE_PAIRS.split("; "):
    _one, _other = _pair.split()
    for _known, _contrary in ((_other, _one), (_one, _other)):
        OPPOSITES[_known] = f"{OPPOSITES.get(_known, '')} {_contrary}".strip()

# Words that answer for each other where a field asks yes or no.
_ALIKE = (
    "allowed permitted accepted admitted admissible authorised tolerated welcome carried entitled",
    "required needed need needs necessary obliged obligatory mandatory compulsory",
    "complies comply compliant conforms conform conformity conforming meet meets met satisfy satisfies satisfied"
    " fulfil fulfils fulfilled",
    "cooling cooled cool chilled refrigerated refrigeration cold",
    "frozen deepfrozen",
    "heating heated heat warm",
    "approved granted adopted carried passed ratified agreed endorsed",
    "contain contains containing covered covers includes included",
    "completed finished done concluded",
    "returned refunded reimbursed repaid",
    "insured covered insurance",
    "repaired mended",
    "damaged broken defective faulty cracked damage defect",
    "inspected examined checked tested verified",
    "notified informed advised told",
    "attached enclosed appended annexed",
    "retain retained retains keep keeps kept keeping hold holds held",
    "possess possesses holds hold own owns",
    "renewed renews renew extended extends prolonged",
    "cancelled terminated withdrawn",
    "vaccinated immunised inoculated",
    "hazardous dangerous",
    "willing ready prepared",
    "audited certified",
    "reachable accessible",
    "smoker smokes smoking smoke",
    "attended present participated",
    "updated posted published announced",
    "restored reinstated recovered",
)
_PERMISSION = ("allow", "fit", "able", "entitl", "eligibl", "free", "right")
# What a word says besides itself: who may do a thing is fit and entitled to do it.
MEANINGS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("may", "can", "darf", "durfen", "kann", "peut", "puede", "puo"), _PERMISSION),
    **dict.fromkeys(("must", "shall", "muss"), ("require", *_PERMISSION)),
    **dict.fromkeys(words("replaced exchanged removed superseded former"), ("old",)),
}
for _group in _ALIKE:
    _said = tuple(dict.fromkeys(concepts(_group)))
    for _word in _group.split():
        MEANINGS[_word] = tuple(dict.fromkeys((*MEANINGS.get(_word, ()), *_said)))
