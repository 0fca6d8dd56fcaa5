"""Insights: what somebody learned, found out, or reports as the result."""

from __future__ import annotations

from commonplace.learn.rules.base import rule

INSIGHTS = (
    rule(
        "insight.learned",
        "insight",
        0.7,
        r"""\b(?:i|we)(?:'ve|_have|_finally|_just)?_(?:learn(?:ed|t)|reali[sz]ed|discovered|figured_out|found_out
            |noticed|concluded|came_to_understand)\b(?!_(?:to_(?:play|drive|cook|speak)|my|your|a_(?:typo|bug)))
            |\b(?:it_)?turns_out\b|\bturned_out_that\b|\b(?:lesson|takeaway|key_insight|insight|learning|finding|moral
            |upshot|conclusion|bottom_line)s?(?:_(?:learned|learnt|here|is|from_[\w_]+))?[:,]|\bthe_(?:lesson|takeaway
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
