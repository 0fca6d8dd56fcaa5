"""Lists of English words. Texts in other languages are weighed by the rarity of their words alone."""

from __future__ import annotations

import re

_EMPTY = """
    a about above after again against all also am an and any anyone anything are as at be because been
    before being below between both but by ca can could did do does doing done down during each either
    else ever every few for from further get gets getting go goes going gone got had has have having he
    her here hers herself him himself his how i if in into is it its itself just let lets like ll many may
    me might more most much must my myself no nor not now of off on once one only onto or other our ours
    ourselves out over own per quite rather re really s same shall she should since so some someone
    something such than that the their theirs them themselves then there these they thing things this
    those though through to too under until up upon us ve very was we were what whatever when where
    whether which while who whom whose why will with within without wo would yes yet you your yours
    yourself yourselves
"""

_ASKING = """
    again ask asked conversation discuss discussed discussing earlier hello hi kind know list mention
    mentioned please previous previously recall remember remind said say says sort talk talked talking
    tell told
"""

_COMMON = """
    able actual add advice age ago agree allow almost already always answer area arrive available away bad
    base beautiful become began begin beginning believe best better big bit bring brought buy call called
    came care case certain chance change check choose clear close come common complete consider continue
    cool couple create current currently daily date day days deal decide detail details different
    difficult early easy effect end enjoy enough entire especially even evening event everyone everything
    exact exactly example excited expect experience explain explore face fact fall far fast feel feeling
    felt fill final finally find fine finish first follow following forward found free friend fun future
    gave general give given glad good great group guess guy half hand happen happened happy hard head hear
    heard help helpful high hold home hope hour hours huge idea ideas important improve include including
    increase information instead interest interested interesting issue item join keep kept kinda large
    last late lately later lead learn leave left less life little live local long longer look looking lot
    love low made main make making man manage matter maybe mean meet meeting mind minute minutes moment
    month months morning mostly move name near need needs new next nice night normal note number offer
    often okay old open option options order overall part particular party past people perfect perform
    perhaps person personal pick place plan planned planning play point possible pretty probably problem
    process provide purchase put question quick quickly read ready real reason receive recent recently
    recommend recommendation recommendations regular related right room run saw season second see seem
    seen sense set several share short show side simple single situation small soon sound sounds special
    specific spend spent start started starting state stay step steps still stop story stuff style suggest
    suggestion suggestions support suppose sure system take taken taking task team term thank thanks think
    thinking thought three time times tip tips today together tomorrow tonight took top topic total track
    tried trip true try trying turn two type types understand upcoming update use used useful user uses
    using usual usually various version visit wait walk want wanted wants watch way ways week weekend
    weeks well went whole wish wonder wondering word words work worked working works world worry worth
    write wrong year years yesterday young
"""

EMPTY = frozenset(_EMPTY.split())
"""Words that say nothing about a subject. Negations are among them: sharing a "not" is no evidence."""

ASKING = frozenset(_ASKING.split())
"""Words that phrase a question but are not its subject."""

COMMON = frozenset(_COMMON.split())
"""Words that occur in texts about anything, so sharing one is weak evidence. A small space cannot count that itself."""

_NODS = """
    ok okay k yes yeah yep yup no nope sure noted understood thanks thank you ty got it great good perfect fine alright
    right cool nice done will do sounds i see exactly agreed acknowledged ack absolutely of course problem welcome
    you're hello hi hey bye goodbye please very much so that's clear
"""

NODS = frozenset(_NODS.split())
"""Words of a turn that only acknowledges or greets."""
USERS = frozenset({"user", "human", "me", "customer", "client"})
"""Names for a person who talks to a program."""
ASSISTANTS = frozenset({"assistant", "ai", "agent", "bot", "model", "chatbot"})
"""Names for the program."""

_SAME = """
    choose: chose chosen chooses choosing choice pick picks picked picking select selects selected selecting opt opted
    buy: bought    bring: brought    build: built    catch: caught    drive: drove driven    eat: ate eaten
    fly: flew flown    forget: forgot forgotten    grow: grew grown    keep: kept    learn: learnt    leave: left
    lose: lost    meet: met    pay: paid    run: ran    sell: sold    send: sent    sing: sang sung    sleep: slept
    speak: spoke spoken    spend: spent    swim: swam swum    teach: taught    throw: threw thrown    wear: wore worn
    win: won    write: wrote written    child: children    person: people    foot: feet    mouse: mice    tooth: teeth
"""

SAME = {form: word for word, forms in re.findall(r"(\w+):((?:\s+\w+(?!:)\b)*)", _SAME) for form in forms.split()}
"""Forms that no stemmer brings together: irregular ones, and the different words for making a decision."""
