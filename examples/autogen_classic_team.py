"""A group chat of the classic AutoGen that remembers across programs: run it twice.

pip install ".[autogen-classic]"
"""

import sys

from autogen import Agent, ConversableAgent, GroupChatManager, UserProxyAgent

import commonplace
from commonplace.integrations.autogen_classic import PersistentGroupChat, attach, prime


def member(name: str, line: str) -> ConversableAgent:
    # For a real model change this: llm_config={"config_list": [{"model": "gpt-4o", "api_key": "…"}]}, without a reply.
    agent = ConversableAgent(name, system_message=f"You are the {name}.", llm_config=False, human_input_mode="NEVER")
    agent.register_reply([Agent, None], lambda recipient, messages, sender, config: (True, line))
    return agent


def main(path: str) -> None:
    with commonplace.open(path) as book:
        coder = member("coder", "We chose FastAPI over Flask because of async support.")
        reviewer = member("reviewer", "Agreed. Type hints on every endpoint, please.")
        user = UserProxyAgent("user", human_input_mode="NEVER", code_execution_config=False)

        # The system messages quote what is known before anybody speaks: nothing the first time.
        known = prime([coder, reviewer], book, "Which web framework did we choose?", kinds=["decision"])
        print(f"coder knows: {[hit.memory.text for hit in known]}")

        # Everything that is said is stored, and the agents of the next program continue this chat.
        chat = PersistentGroupChat(
            [user, coder, reviewer], memory="standup", book=book, max_round=3, speaker_selection_method="round_robin"
        )
        print(f"said in earlier programs: {len(chat.messages)} messages")
        with attach(book, chat.agents):  # learns while they talk, and from the rest when the block ends
            user.initiate_chat(GroupChatManager(groupchat=chat, llm_config=False), message="Which framework?")

        answer = book.recall("Which web framework did we choose, and why?", kinds=["decision"])
        print(f"recalled: {answer.hits[0].memory.text}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "team.db")
