"""Runs every check with the version of classic AutoGen that is on the path, in a separate process."""

from __future__ import annotations

import io
import logging
import re
import runpy
import sys
from contextlib import redirect_stdout
from pathlib import Path

import autogen
from autogen import ConversableAgent

from tests.integrations.classic import for_models, in_groups, scripted, while_talking, with_agents
from tests.services.model import model

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "autogen_classic_team.py"
HOOKED = {"process_last_received_message", "process_all_messages_before_reply", "process_message_before_send"}


def the_version_is_the_one_on_the_path() -> None:
    version, differs = sys.argv[1:3]
    assert autogen.__version__ == version
    more = set(ConversableAgent("x", llm_config=False).hook_lists) - HOOKED
    assert (differs in more) if differs else not more, more


def the_example_remembers_in_its_second_run() -> None:
    said = []
    sys.argv[1:] = ["example.db"]
    for _ in range(2):
        told = io.StringIO()
        with redirect_stdout(told):
            runpy.run_path(str(EXAMPLE), run_name="__main__")
        said.append(told.getvalue())
    assert "For a real model change" in EXAMPLE.read_text("utf-8")
    assert all(re.search("recalled: .*We chose FastAPI over Flask because of async support", each) for each in said)
    assert ["said in earlier programs: 3 messages" in each for each in said] == [False, True]
    assert [bool(re.search("coder knows: .*We chose FastAPI", each)) for each in said] == [False, True]


FACTS = [
    in_groups.the_document_of_the_group_memory_runs,
    in_groups.a_custom_memory_plugs_into_a_chat_and_an_agent,
    in_groups.a_persistent_group_chat_continues,
    in_groups.the_document_of_the_persistent_group_chat_runs,
    with_agents.a_persistent_agent_continues,
    in_groups.a_persistent_agent_in_a_persistent_group_hears_all_of_it_once,
    with_agents.a_stateful_agent_shares_its_state,
    while_talking.every_line_is_learned_once_with_its_speaker,
    while_talking.a_book_that_fails_neither_ends_the_chat_nor_loses_a_word,
    for_models.what_is_taught_is_recalled_by_the_model_alone,
    for_models.a_group_is_taught_together,
    while_talking.a_return_to_an_earlier_opinion_is_heard,
    while_talking.an_asynchronous_chat_is_learned,
    for_models.priming_replaces_what_was_primed_before,
    for_models.a_model_calls_the_tools,
    for_models.the_document_that_primes_and_gives_tools_runs,
]
ONCE = [
    in_groups.an_append_costs_the_same_after_thousands,
    while_talking.a_place_whose_book_was_closed_is_opened_again,
    the_example_remembers_in_its_second_run,
]
"""Checks that do not depend on the version."""

FIRST = [the_version_is_the_one_on_the_path, with_agents.processes_lose_nothing_of_each_other]


def every_fact_is_listed() -> None:
    modules = (for_models, in_groups, while_talking, with_agents)
    found = {
        each
        for module in modules
        for each in vars(module).values()
        if getattr(each, "__module__", "") == module.__name__
    }
    assert found - {*FIRST, *FACTS, *ONCE} == {with_agents.write_a_lot}


if __name__ == "__main__":
    logging.getLogger("commonplace").setLevel(logging.ERROR)
    every_fact_is_listed()
    once = "--all" in sys.argv
    for fact in FIRST[: 2 if once else 1]:
        fact()
    with model(scripted.answered) as url:
        scripted.config.update(config_list=[{"model": "gpt-4o", "api_key": "k", "base_url": url}], cache_seed=None)
        for fact in FACTS + (ONCE if once else []):
            fact()
    print(f"\nAll of it holds with {autogen.__version__}.")
