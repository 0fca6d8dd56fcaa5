"""The programs of the documents that no other test runs, as they print them."""

GROUP_MEMORY = """
import autogen
from autogen import UserProxyAgent, AssistantAgent, GroupChat, GroupChatManager, GroupChatMemory

# Shared memory between agents
shared_memory = GroupChatMemory()

# Define User Agent
user = UserProxyAgent(
    name="user",
    human_input_mode="NEVER",  # No need for manual input
)

# Define Assistant Agent
assistant = AssistantAgent(
    name="assistant",
    llm_config={"config_list": autogen.config_list_from_json("OAI_CONFIG_LIST")},
)

# Define a group chat
group_chat = GroupChat(
    agents=[user, assistant],
    messages=[],
    max_round=5,
    memory=shared_memory  # Share memory here
)

# GroupChatManager to coordinate the chat
manager = GroupChatManager(groupchat=group_chat)

user.initiate_chat(
    manager,
    message="Please write a function to reverse a string in Python."
)

for msg in shared_memory.messages:
    print(f"{msg['role']}: {msg['content']}")
"""

CUSTOM_MEMORY = """
from autogen.memory import MemoryBase

class MyCustomMemory(MemoryBase):
    def __init__(self):
        self.data = []

    def add(self, message):
        self.data.append(message)

    def get(self, role=None):
        if role:
            return [msg for msg in self.data if msg["role"] == role]
        return self.data
"""

PERSISTENT_AGENT = """
# Usage - memory survives restarts
agent = PersistentAgent("assistant")
agent.receive("Remember: I'm working on a Flask API")
"""

RESEARCHER = """
# Process A - Agent learns something
agent_a = PersistentAgent("researcher")
agent_a.memory.set("research_findings", {"topic": "FastAPI", "key_points": [...]})
"""

WRITER = """
# Process B - Different agent accesses same findings
agent_b = PersistentAgent("writer")
shared_memory = Memory("autogen-researcher") # Same namespace
findings = shared_memory.get("research_findings")
"""

PERSISTENT_GROUP = """
# Multi-agent persistence
agents = [ConversableAgent("coder"), ConversableAgent("reviewer")]
chat = PersistentGroupChat(agents=agents)
manager = GroupChatManager(groupchat=chat)
"""
