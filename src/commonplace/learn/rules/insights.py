"""Insights: what somebody learned, found out, or reports as the result."""

from __future__ import annotations

from commonplace.learn.rules.base import rule

# "Switching to Vite halved the build time": a deed and what came of it. What is not good news is a failure.
_EFFECT = r"^[a-z-]{2,}ing_(?:[\w'/.-]+_){1,12}?"
_GOOD = (
    r"(?:halved|fixed|solved|saved|improved|helped|reduced|sped_up|worked|paid_off|made_\w+_(?:faster|easier|better))\b"
)

EFFECTS = (
    rule("insight.effect", "insight", 0.65, rf"{_EFFECT}{_GOOD}"),
    rule(
        "failure.effect",
        "failure",
        0.65,
        rf"{_EFFECT}(?:\w{{2,}}ed|broke|made|left|cost|took|gave|lost|led|kills?|breaks?|causes?|leads_to)_\w+",
        unless=r"""^(?:starting|beginning|coming|moving_on|going_forward|thing|something|nothing|anything|everything
        |morning|evening|king|spring|string|being|wedding
        |meeting
            |building|training|during|according|following|including|regarding|feeling|beijing|offering|opening|ceiling
            |housing|clothing|planning_permission)_|\b(?:decided|agreed|moved|need(?:ed)?|used|called|based|opened
            |started|scheduled)_""",
    ),
)

INSIGHTS = (
    rule(
        "insight.learned",
        "insight",
        0.7,
        r"""\b(?:i|we)(?:'ve|_have|_finally|_just)?_(?:learn(?:ed|t)|reali[sz]ed|discovered|figured_out|found_out
            |noticed|concluded|came_to_understand)\b(?!_(?:to_(?:play|drive|cook|speak)|my|your|a_(?:typo|bug)))
            |\bturned_out_that\b|(?:^|\b(?:the|one|my|our|key|main|big|important)_)(?:lesson|takeaway|key_insight
            |insight|learning|finding|moral)s?(?:_(?:learned|learnt|here|is|from_[\w_]+))?[:,]|\bthe_(?:lesson|takeaway
            |key|secret|moral)_(?:is|was)\b|\bwhat_(?:helped|worked|fixed_it|solved_it|did_it)\b
            |^interesting(?:ly)?[:,]|\blooking_back\b|\bin_hindsight\b""",
        triggers="""
            what interesting interestingly learned learnt realised realized discovered figured found noticed
            concluded came turns turned lesson lessons takeaway takeaways insight insights learning learnings
            finding findings moral upshot conclusion key secret bottom looking hindsight
        """,
        unless=r"learn(?:ed|t)_(?:how_)?to_|noticed_(?:you|that_you)|in_hindsight_no\b",
    ),
)
