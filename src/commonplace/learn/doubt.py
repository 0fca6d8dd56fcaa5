"""Sentences that are not kept: questions, guesses, wishes, thanks, the state of this very minute."""

from __future__ import annotations

import re

from commonplace.learn.regex import compiled

_QUESTION = compiled(
    r"(?:\?[\s\W]*$)"
    r"|^(?:(?:and|but|so|ok|okay|also|hey|hi|btw|well|wait|sorry|please|pls)[,_]+)*"
    r"""(?:(?:do|does|did|is|are|was|were|am|have|has|will|would|can|could|should|shall|may|might|isn't|aren't|don't
        |doesn't"""
    r"|didn't|won't|wouldn't|can't|couldn't|haven't|hasn't)_(?:i|we|you|u|he|she|it|they|there|anyone|anybody|someone"
    r"|somebody|this|that|these|those|my|our|your|the)\b"
    r"""|(?:who|what|where|when|why|how|which|whose)(?:'s|'re)?_(?:do|does|did|is|are|was|were|can|could|should|would
        |will"""
    r"|have|has|wants?|about|if|come|many|much|long|often|to|time|else|know)\b"
    r"|any_(?:ideas?|thoughts|chance|news|update|tips|advice|suggestions)\b|thoughts\b|anyone\b)"
)
_TAG = compiled(
    r"""^(?:right|correct|ok|okay|no|yes|yeah|eh|huh|true|is_that_(?:right|so|ok|true)|does_that_\w+|(?:is|are|do|does
        |did|was|were
        |have|has|will|would|can|could)(?:n't)?_(?:it|we|you|they|i|he|she))[?!.\s]*$|^(?:or|if)\b"""
)
_SUPPOSED = compiled(
    r"\b(?:what_if|imagine|suppose|supposing|hypothetical\w*|pretend|let's_say|lets_say|say_we|if_i_were|if_we_were"
    r"""|if_(?:i|we|you|they|he|she|it)_(?:used|had|did|could|would|went|were|was_to|switched|moved|wanted|chose|made
        |took"""
    r"|rewrote|dropped|ever)|if_only|i_wish|wishing|dream(?:ing)?_of|in_theory|role-?play|in_character|as_if"
    r"""|in_a_perfect_world|in_another_life|as_an?_\w+,_i_want|would_be_(?:nice|great|cool|good|fun|better|lovely
        |awesome|ideal|amazing|interesting)"""
    r"|\bsaid,_[\"“]?i\b|for_example|e\.g\.|for_instance|in_the_(?:novel|book|film|movie|story|game|play|episode|series|song)\b)"
)
_GUESSED = compiled(
    r"""\b(?:maybe|perhaps|might|not_(?:really_|quite_|entirely_|100%_|totally_)?sure|unsure|i_guess|i_suppose
        |i_wonder|wondering|dunno|idk|i_(?:don't|dont)_know"""
    r"""|no_idea|no_clue|thinking_(?:about|of|out_loud|aloud|whether|if)|considering|possibly|presumably|supposedly
        |apparently|allegedly"""
    r"""|i_think|i_believe|i_feel_like|i_assume|i_imagine|i_suspect|i_expect|i'd_say|i_reckon|i_doubt|afaik|iirc
        |if_i_recall"""
    r"""|seems?(?:_like|_to)?|it_sounds_like|sounds_like|it_looks_like|looks_like|probably|could_be|might_be|may_be
        |kind_of(?!_(?:person|guy|girl))"""
    r"""|tempted|toying_with|leaning_towards?|undecided|haven't_decided|not_decided|can't_decide|still_deciding|tbd
        |up_in_the_air"""
    r"""|some_?day|one_day|at_some_point|sooner_or_later|eventually|who_knows|rumou?rs?|rumou?red
        |(?:almost|nearly)_(?!every|all\b|always|never|no\b|none|half|twice|\d|the|a\b|two|three|any|identical)
        |or_something
        |my_money(?:'s|_is)_on|(?:i|we)_bet\b|wouldn't_be_surprised"""
    r"""|we_could|i_could|you_could|one_could|could_(?:also|try|use|always|just)|should_we|shall_we|we_should(?:'ve
        |_have)?|i_should(?:'ve|_have)?|we_ought"""
    r"""|if_you_want|feel_free|open_to|in_case|hoping|i_hope|hopefully|fingers_crossed|no_rush|up_to_you|guessing
        |my_guess"""
    r"""|worth_(?:a_try|trying|considering|a_shot)|how_about|why_don't|why_not|it_depends|would_it|would_you
        |would_love_to|'d_love_to|i'd_like_to_(?:know|see|ask|hear|understand))\b"""
)
_SMALL = compiled(
    r"^(?:(?:oh|ah|aw+|ok|okay|k|yes|yeah|yep|no|nope|nah|hey|hi|hello|wow|omg|lol|haha|ha|well|so|and)[\s,!.]*)*"
    r"""(?:thanks?\b|thank_you|thx|ty\b|cheers|you're_(?:very_|most_|so_)?(?:welcome|the_best|right|awesome|amazing
        |a_(?:star|lifesaver|legend|hero|gem))"""
    r"""|(?:good|happy|merry|lovely|nice)_(?:morning|afternoon|evening|night|day|weekend|new|birthday|christmas
        |holidays?|luck|job|work|to_(?:see|meet|hear)|one|idea|point|catch|try|question|session)"""
    r"""|morning\b|gm\b|welcome|congrat|see_(?:you|ya|u)|talk_(?:to_you_)?(?:soon|later)|bye|take_care|have_a
        |hope_(?:you|your|this|all|that|everyone)|i_hope|how_are|how's|what's_up|sup\b"""
    r"""|no_(?:worries|problem|rush|thanks|thank)|sounds_(?:good|great|like|fine|perfect)|looks_good|lgtm|got_it
        |makes_sense|will_do|noted|understood|of_course|sure\b|agreed\b[.!]*$|exactly|same\b|fair\b|cool\b
        |great\b(?!_(?:dane|barrier|ormond))|perfect\b|awesome|amazing\b|brilliant\b|fantastic\b|excellent\b"""
    r"""|let_me_(?:know|check|see|look|try|think)|here_(?:is|are|'s|you)|here's|sorry_(?:for|about|to)|apologi
        |my_pleasure|glad|happy_to|pleased_to|kind_regards|best_(?:regards|wishes)|regards|dear\b|yours|sincerely
        |warm"""
    r"""|just_(?:a_sec|kidding|checking|wondering|curious|saying)|one_(?:sec|moment|minute)|brb|afk|back\b|hang_on
        |hold_on|wait\b|lunch|same_here|me_too|never_?mind|no_idea|i_see\b|i_know\b|i_agree\b|i_understand\b
        |i'm_(?:so_|very_|really_)?(?:sorry|glad|happy|sad|excited|confused|stuck|lost|tired|exhausted|hungry|bored
        |back|here|fine|good|ok|okay|done|ready|late|curious|afraid|impressed|not_sure|sure|kidding|joking|on_it
        |jealous|proud|starving|dying|dead)\b)"""
)
_JOKE = compiled(
    r"""\b(?:jk|just_kidding|kidding|joking|jokes?|as_a_joke|riddle|knock_knock|could_eat_a_horse|if_i_had_a_(?:dollar
        |penny))\b|/s$"""
)
_CONDITION = re.compile(r"if\b.*(?:\b(?:we|i|they|he|she|it)(?:'ll| will| would|'d| might| could| may)\b)")
_MOMENT = compiled(
    r"""\b(?:right_now|hurry|in_(?:\d+|a_few|an?|five|ten|two)_(?:minutes?|mins?|hours?|secs?|seconds)[.!]*$
        |at_the_moment|just_now|(?:in|just|give_me)_a_(?:sec|second|minute|moment)|still_(?:searching|looking|waiting
        |working|running|trying)"""
    r"""|give_me|let_me|i'm_(?:going_to|gonna|about_to)_(?:search|look|check|try|run|read|see|start|take_a_look|test
        |grab|get|open|do_that|do_this)\b(?!.*_on_)"""
    r"""|i'll_(?:search|look|check|try|take_a_look|get_(?:back|right)|do_(?:it|that)|be_(?:right_)?(?:back|there)
        |let_you|help|remove|update|fix|note|keep_that|remember|make_a_note|have_a_look|see|add_(?:it|that)|see_to)"""
    r"|i_(?:will|can|could)_(?:search|look|check|try|help|remove|update|fix|note|add|do|take_a_look|also)"
    r"""|i'm_(?:trying|writing_to|wondering|looking_(?:at|into|for)|getting_(?:an?|this|the)|seeing|having
        |running_into|reading|testing|debugging|asking|calling_about|reaching_out|stuck|getting)"""
    r"""|i_(?:want|need|would_like|'d_like|wanted)_(?:to_(?:know|ask|see|understand|check|make_sure|learn_how|discuss
        |talk|find_out|clarify|say|thank|share)|help|some_help|your_help|you_to_(?:help|check|look|fix|write|tell
        |explain|give|find|show))"""
    r"""|i_have_(?:a_(?:quick_)?(?:question|problem|issue|feeling|bug|request|favou?r|doubt)|an?_(?:idea|issue|error
        |question)|no_idea|to_(?:say|admit|run|go|ask))"""
    r"""|i_(?:just_|have_just_|'ve_just_)?(?:looked|checked|compared|benchmarked|profiled|inspected|read|ran|saw|asked
        |opened|tested|reviewed|searched
        |finished_reading|went_through|thought_about|went_over|pushed|merged|pasted|attached|sent|wrote|typed|clicked
        |noticed_your|got_your|heard))\b"""
)
_TASK = compiled(
    r"""^(?:(?:please|pls|can_you|could_you|would_you|hey|hi|ok|now|kindly|for_the_[\w_]+)[,_]+)*(?:translate
        |summari[sz]e|rewrite|rephrase|paraphrase|proofread|edit|fix|correct|review|improve|write|draft|compose
        |generate|mark|analy[sz]e"""
    r"""|explain|classify|complete|continue|convert|extract|reword|shorten|describe|act_as|pretend_(?!i_)|imagine
        |you_are)\b"""
)
_ADVICE = compiled(
    r"""\b(?:you_(?:can|could|should|may|might|want|need|'ll_want|will_want|'d)|you'll_(?:want|need)|consider|i(?:'d
        |_would)?_(?:recommend|suggest|advise)|recommended|it's_(?:best|a_good_idea|worth|important|recommended|common
        |generally|usually|always|often)"""
    r"""|some_people|many_(?:people|teams|developers)|most_(?:people|teams|developers)|in_general|generally|typically
        |usually|often|for_example|such_as|best_practice|make_sure|be_sure|ensure|try|here_are|there_are_(?:several
        |many|a_few|two|three|some)|one_option|another_option|alternatively|popular|refers_to|is_(?:an?
        |the)_(?:\w+_){0,3}(?:language|framework|library|database|tool|method|technique|city|capital|country|process
        |way|type|kind))\b"""
)


def is_question(low: str) -> bool:
    """Tell whether a sentence asks."""
    return bool(_QUESTION.search(low))


def is_tag(low: str) -> bool:
    """Tell whether a clause only asks whether the one before is so: "right?", "don't you?"."""
    return bool(_TAG.match(low))


def is_supposed(low: str) -> bool:
    """Tell whether a sentence only imagines."""
    return bool(_SUPPOSED.search(low) or _JOKE.search(low) or _CONDITION.match(low))


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
