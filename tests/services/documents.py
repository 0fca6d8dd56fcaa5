"""The programs of the three documents, as they print them; lines that lost their indentation have it again.

Only the address of the service, or the import, is changed by the tests; the model is the one at OPENAI_BASE_URL.
"""

MEMSTORE_TOOLS = '''
import requests
import os

MEMSTORE_KEY = os.getenv("MEMSTORE_API_KEY")
MEMSTORE_URL = "https://memstore.dev/v1/memory"
HEADERS = {"Authorization": f"Bearer {MEMSTORE_KEY}"}

def remember(content: str, tags: list[str] = None) -> str:
    """Store a memory in Memstore. Use this to save anything worth keeping
    between sessions: user preferences, decisions, research findings, facts."""
    payload = {"content": content}
    if tags:
        payload["tags"] = tags
    res = requests.post(
        f"{MEMSTORE_URL}/remember",
        json=payload,
        headers=HEADERS
    )
    res.raise_for_status()
    return f"Memory stored (id: {res.json()['id']})"

def recall(query: str, limit: int = 5) -> str:
    """Search past memories relevant to a query. Returns the most semantically
    similar stored memories. Use this at the start of sessions or when you
    need context about a user or topic."""
    res = requests.get(
        f"{MEMSTORE_URL}/recall",
        params={"q": query, "limit": limit},
        headers=HEADERS
    )
    res.raise_for_status()
    memories = res.json().get("memories", [])
    if not memories:
        return "No relevant memories found."
    return "\\n".join([f"- {m['content']}" for m in memories])
'''

MEMSTORE_AGENTS = '''
import autogen
from memory_tools import remember, recall

config_list = [{"model": "gpt-4o", "api_key": "YOUR_OPENAI_KEY"}]

assistant = autogen.AssistantAgent(
    name="assistant",
    llm_config={
        "config_list": config_list,
        "functions": [
            {
                "name": "remember",
                "description": remember.__doc__,
                "parameters": {
                    "type": "object",
                    "properties": {
                        "content": {"type": "string"},
                        "tags": {"type": "array", "items": {"type": "string"}}
                    },
                    "required": ["content"]
                }
            },
            {
                "name": "recall",
                "description": recall.__doc__,
                "parameters": {
                    "type": "object",
                    "properties": {
                        "query": {"type": "string"},
                        "limit": {"type": "integer"}
                    },
                    "required": ["query"]
                }
            }
        ]
    }
)

user_proxy = autogen.UserProxyAgent(
    name="user",
    human_input_mode="NEVER",
    function_map={
        "remember": remember,
        "recall": recall
    }
)

def start_conversation_with_memory(user_message: str, user_id: str):
    # Load relevant context before starting
    past_context = recall(f"context for user {user_id}: {user_message}")
    # Inject memory into the system prompt
    system_message = f"""You are a helpful assistant with persistent memory.

Relevant context from past sessions:
{past_context}

Use this context to personalize your responses. When you learn new important facts,
call remember() to store them for future sessions."""
    assistant.update_system_message(system_message)
    user_proxy.initiate_chat(
        assistant,
        message=user_message
    )
'''

ZERO_LATENCY = '''
import autogen
from zero_latency import Memory
# Initialize — that's all the setup you need
mem = Memory("your-api-key")
# Recall context from previous sessions — sub-100ms
past_context = mem.recall("software architecture decisions and coding standards")
# LLM config
llm_config = {"model": "gpt-4o", "api_key": "your-key"}
# Create agents with memory-enriched system messages
coder = autogen.AssistantAgent(
    name="Coder",
    system_message=f"""You are a senior software engineer. Write clean,
tested code. Follow established patterns.
Context from previous sessions:
{past_context.text}""",
    llm_config=llm_config,
)
reviewer = autogen.AssistantAgent(
    name="Reviewer",
    system_message=f"""You review code for correctness, security, and
maintainability. Reference past decisions when relevant.
Context from previous sessions:
{past_context.text}""",
    llm_config=llm_config,
)
planner = autogen.AssistantAgent(
    name="Planner",
    system_message=f"""You break down tasks into actionable steps.
Consider past approaches and what worked.
Context from previous sessions:
{past_context.text}""",
    llm_config=llm_config,
)
user_proxy = autogen.UserProxyAgent(
    name="User",
    human_input_mode="TERMINATE",
    max_consecutive_auto_reply=10,
    code_execution_config={"work_dir": "workspace"},
)
# Set up GroupChat
groupchat = autogen.GroupChat(
    agents=[user_proxy, coder, reviewer, planner],
    messages=[],
    max_round=20,
)
manager = autogen.GroupChatManager(
    groupchat=groupchat,
    llm_config=llm_config
)
# Run the conversation
user_proxy.initiate_chat(
    manager,
    message="Build a REST API for user authentication with JWT tokens."
)
# After conversation: extract learnings
conversation_text = "\\n".join(
    f"{msg['name']}: {msg['content']}"
    for msg in groupchat.messages
    if msg.get('content')
)
mem.add(conversation_text)
print("Memories stored — extraction happens in the background.")
'''

ZERO_LATENCY_HOOKS = '''
# Message callback for incremental extraction
message_buffer = []
def on_message(sender, message, recipient, **kwargs):
    """Accumulate messages and extract every 10 exchanges."""
    if isinstance(message, str) and message.strip():
        message_buffer.append(f"{sender.name}: {message}")
        if len(message_buffer) >= 10:
            mem.add("\\n".join(message_buffer))
            message_buffer.clear()
    return False # Don't skip the message
# Register callback on all agents
for agent in [coder, reviewer, planner]:
    agent.register_hook(
        hookable_method="process_last_received_message",
        hook=lambda msg, **kw: (on_message(agent, msg, None), msg)[1]
    )
'''

ZERO_LATENCY_REQUESTS = [
    (
        "/v1/extract",
        {
            "agent_id": "dev-team-chat",
            "content": "Coder: I recommend using FastAPI with Pydantic models...\n"
            "Reviewer: Agreed, but add input validation on all endpoints...",
        },
    ),
    (
        "/v1/recall",
        {
            "agent_id": "dev-team-chat",
            "query": "API framework and architecture decisions",
            "max_tokens": 2000,
        },
    ),
]

BOTWIRE_AGENT = """
from autogen import ConversableAgent
from botwire import Memory

class PersistentAgent(ConversableAgent):
    def __init__(self, name, **kwargs):
        super().__init__(name=name, **kwargs)
        self.memory = Memory(f"autogen-{name}")

    def receive(self, message, sender=None, request_reply=None, silent=False):
        # Load conversation history
        history = self.memory.get("conversation_history") or []

        # Add to AutoGen's internal chat history
        result = super().receive(message, sender, request_reply, silent)

        # Persist the updated conversation
        history.append({"sender": sender.name if sender else "user", "message": message})
        self.memory.set("conversation_history", history)
        return result
"""

BOTWIRE_STATE = '''
class StatefulAgent(ConversableAgent):
    def __init__(self, name, **kwargs):
        super().__init__(name=name, **kwargs)
        self.memory = Memory(f"autogen-{name}")

        # Restore previous preferences
        self.user_preferences = self.memory.get("preferences") or {}
        self.learned_patterns = self.memory.get("patterns") or []

    def learn_preference(self, key, value):
        self.user_preferences[key] = value
        self.memory.set("preferences", self.user_preferences)

    def add_pattern(self, pattern):
        self.learned_patterns.append(pattern)
        self.memory.set("patterns", self.learned_patterns)

    def get_context(self):
        """Get full agent context for decision making"""
        return {
            "preferences": self.user_preferences,
            "patterns": self.learned_patterns,
            "conversation_count": self.memory.get("message_count") or 0
        }
'''

BOTWIRE_GROUP = """
from autogen import GroupChat, GroupChatManager
from botwire import Memory

class PersistentGroupChat(GroupChat):
    def __init__(self, agents, **kwargs):
        super().__init__(agents=agents, **kwargs)
        self.group_memory = Memory("group-chat-session")

        # Restore previous messages
        stored_messages = self.group_memory.get("messages") or []
        self.messages = stored_messages

    def append(self, message):
        super().append(message)
        # Persist after each message
        self.group_memory.set("messages", self.messages)
        self.group_memory.set("speaker_history", [msg["name"] for msg in self.messages])
"""
