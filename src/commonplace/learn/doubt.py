"""What is not worth keeping, or not meant: questions, guesses, wishes, thanks, the state of this very minute."""

from __future__ import annotations

import re

_QUESTION = re.compile(
    r"(?:\?[\s\W]*$)"
    r"|^(?:(?:and|but|so|ok|okay|also|hey|hi|btw|well|wait|sorry|please|pls)[, ]+)*"
    r"(?:(?:do|does|did|is|are|was|were|am|have|has|will|would|can|could|should|shall|may|might|isn't|aren't|don't|doesn't"
    r"|didn't|won't|wouldn't|can't|couldn't|haven't|hasn't) (?:i|we|you|u|he|she|it|they|there|anyone|anybody|someone"
    r"|somebody|this|that|these|those|my|our|your|the)\b"
    r"|(?:who|what|where|when|why|how|which|whose)(?:'s|'re)? (?:do|does|did|is|are|was|were|can|could|should|would|will"
    r"|have|has|wants?|about|if|come|many|much|long|often|to|time|else|know)\b"
    r"|any (?:ideas?|thoughts|chance|news|update|tips|advice|suggestions)\b|thoughts\b|anyone\b)"
)
_SUPPOSED = re.compile(
    r"\b(?:what if|imagine|suppose|supposing|hypothetical\w*|pretend|let's say|lets say|say we|if i were|if we were"
    r"|if (?:i|we|you|they|he|she|it) (?:used|had|did|could|would|went|were|was to|switched|moved|wanted|chose|made|took"
    r"|rewrote|dropped|ever)|if only|i wish|wishing|dream(?:ing)? of|in theory|role-?play|in character|as if"
    r"|in a perfect world|in another life|would be (?:nice|great|cool|good|fun|better|lovely|awesome|ideal|amazing|interesting)"
    r"|for example|e\.g\.|for instance)"
)
_GUESSED = re.compile(
    r"\b(?:maybe|perhaps|might|not (?:really |quite |entirely |100% |totally )?sure|unsure|i guess|i suppose|i wonder|wondering|dunno|idk|i (?:don't|dont) know"
    r"|no idea|no clue|thinking (?:about|of|out loud|aloud|whether|if)|considering|possibly|presumably|supposedly|apparently|allegedly"
    r"|i think|i believe|i feel like|i assume|i imagine|i suspect|i expect|i'd say|i reckon|i doubt|afaik|iirc|if i recall"
    r"|seems?(?: like| to)?|it sounds like|sounds like|it looks like|looks like|probably|could be|might be|may be|kind of"
    r"|tempted|toying with|leaning towards?|undecided|haven't decided|not decided|can't decide|still deciding|tbd|up in the air"
    r"|some ?day|one day|at some point|sooner or later|eventually|who knows|rumou?rs?|rumou?red|almost|nearly|or something"
    r"|we could|i could|you could|one could|could (?:also|try|use|always|just)|should we|shall we|we should(?:'ve| have)?|i should(?:'ve| have)?|we ought"
    r"|if you want|feel free|open to|in case|hoping|i hope|hopefully|fingers crossed|no rush|up to you|guessing|my guess"
    r"|worth (?:a try|trying|considering|a shot)|how about|why don't|why not|it depends|would it|would you|would love to|'d love to|i'd like to (?:know|see|ask|hear|understand))\b"
)
_SMALL = re.compile(
    r"^(?:(?:oh|ah|aw+|ok|okay|k|yes|yeah|yep|no|nope|nah|hey|hi|hello|wow|omg|lol|haha|ha|well|so|and)[\s,!.]*)*"
    r"(?:thanks?\b|thank you|thx|ty\b|cheers|you're (?:very |most |so )?(?:welcome|the best|right|awesome|amazing|a (?:star|lifesaver|legend|hero|gem))"
    r"|(?:good|happy|merry|lovely|nice) (?:morning|afternoon|evening|night|day|weekend|new|birthday|christmas|holidays?|luck|job|work|to (?:see|meet|hear)|one|idea|point|catch|try|question|session)"
    r"|morning\b|gm\b|welcome|congrat|see (?:you|ya|u)|talk (?:to you )?(?:soon|later)|bye|take care|have a|hope (?:you|your|this|all|that|everyone)|i hope|how are|how's|what's up|sup\b"
    r"|no (?:worries|problem|rush|thanks|thank)|sounds (?:good|great|like|fine|perfect)|looks good|lgtm|got it|makes sense|will do|noted|understood|of course|sure\b|agreed\b[.!]*$|exactly|same\b|fair\b|cool\b|great\b(?! (?:dane|barrier|ormond))|perfect\b|awesome|amazing\b|brilliant\b|fantastic\b|excellent\b"
    r"|let me (?:know|check|see|look|try|think)|here (?:is|are|'s|you)|here's|sorry (?:for|about|to)|apologi|my pleasure|glad|happy to|pleased to|kind regards|best (?:regards|wishes)|regards|dear\b|yours|sincerely|warm"
    r"|just (?:a sec|kidding|checking|wondering|curious|saying)|one (?:sec|moment|minute)|brb|afk|back\b|hang on|hold on|wait\b|lunch|same here|me too|never ?mind|no idea|i see\b|i know\b|i agree\b|i understand\b|i'm (?:so |very |really )?(?:sorry|glad|happy|sad|excited|confused|stuck|lost|tired|exhausted|hungry|bored|back|here|fine|good|ok|okay|done|ready|late|curious|afraid|impressed|not sure|sure|kidding|joking|on it|jealous|proud|starving|dying|dead)\b)"
)
_JOKE = re.compile(
    r"\b(?:jk|just kidding|kidding|joking|jokes?|as a joke|riddle|knock knock|could eat a horse|if i had a (?:dollar|penny))\b|/s$"
)
_MOMENT = re.compile(
    r"\b(?:right now|at the moment|just now|(?:in|just|give me) a (?:sec|second|minute|moment)|still (?:searching|looking|waiting|working|running|trying)"
    r"|give me|let me|i'm (?:going to|gonna|about to) (?:search|look|check|try|run|read|see|start|take a look|test|grab|get|open|do that|do this)\b(?!.* on )"
    r"|i'll (?:search|look|check|try|take a look|get (?:back|right)|do (?:it|that)|be (?:right )?(?:back|there)|let you|help|remove|update|fix|note|keep that|remember|make a note|have a look|see|add (?:it|that)|see to)"
    r"|i (?:will|can|could) (?:search|look|check|try|help|remove|update|fix|note|add|do|take a look|also)"
    r"|i'm (?:trying|writing to|wondering|looking (?:at|into|for)|getting (?:an?|this|the)|seeing|having|running into|reading|testing|debugging|asking|calling about|reaching out|stuck|getting)"
    r"|i (?:want|need|would like|'d like|wanted) (?:to (?:know|ask|see|understand|check|make sure|learn how|discuss|talk|find out|clarify|say|thank|share)|help|some help|your help|you to (?:help|check|look|fix|write|tell|explain|give|find|show))"
    r"|i have (?:a (?:quick )?(?:question|problem|issue|feeling|bug|request|favou?r|doubt)|an? (?:idea|issue|error|question)|no idea|to (?:say|admit|run|go|ask))"
    r"|i (?:just |have just |'ve just )?(?:looked|checked|read|ran|saw|asked|opened|tested|looked|reviewed|searched|finished reading|went through|thought about|went over|pushed|merged|pasted|attached|sent|wrote|typed|clicked|noticed your|got your|heard))\b"
)
_TASK = re.compile(
    r"^(?:(?:please|pls|can you|could you|would you|hey|hi|ok|now|kindly|for the [\w ]+)[, ]+)*(?:translate|summari[sz]e|rewrite|rephrase|paraphrase|proofread|edit|fix|correct|review|improve|write|draft|compose|generate|mark|analy[sz]e"
    r"|explain|classify|complete|continue|convert|extract|reword|shorten|describe|act as|pretend (?!i )|imagine|you are)\b"
)
_ADVICE = re.compile(
    r"\b(?:you (?:can|could|should|may|might|want|need|'ll want|will want|'d)|you'll (?:want|need)|consider|i(?:'d| would)? (?:recommend|suggest|advise)|recommended|it's (?:best|a good idea|worth|important|recommended|common|generally|usually|always|often)"
    r"|some people|many (?:people|teams|developers)|most (?:people|teams|developers)|in general|generally|typically|usually|often|for example|such as|best practice|make sure|be sure|ensure|try|here are|there are (?:several|many|a few|two|three|some)|one option|another option|alternatively|popular|refers to|is (?:an?|the) (?:\w+ ){0,3}(?:language|framework|library|database|tool|method|technique|city|capital|country|process|way|type|kind))\b"
)


def is_question(low: str) -> bool:
    """Tell whether a sentence asks."""
    return bool(_QUESTION.search(low))


def is_supposed(low: str) -> bool:
    """Tell whether a sentence only imagines."""
    return bool(_SUPPOSED.search(low) or _JOKE.search(low))


def is_guess(low: str) -> bool:
    """Tell whether a clause is not sure of itself."""
    return bool(_GUESSED.search(low))


def is_small_talk(low: str) -> bool:
    """Tell whether a clause greets, thanks or only keeps the talk going."""
    return bool(_SMALL.match(low))


def is_momentary(low: str) -> bool:
    """Tell whether a clause is about this very minute: what somebody just did, is trying, is about to look at."""
    return bool(_MOMENT.search(low))


def is_task(low: str) -> bool:
    """Tell whether a sentence hands over a text to work on: what follows is material, not something said."""
    return bool(_TASK.match(low))


def is_advice(low: str) -> bool:
    """Tell whether a clause is of the kind that assistants tell everybody."""
    return bool(_ADVICE.search(low))
