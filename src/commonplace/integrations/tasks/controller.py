"""MemoryController: learns from users, demonstrations and failures, and gives what helps with the task at hand."""

from __future__ import annotations

from commonplace.errors import InvalidInput
from commonplace.integrations.handle import BookLike
from commonplace.integrations.tasks import memo
from commonplace.integrations.tasks.bank import MemoryBank
from commonplace.integrations.tasks.config import ControllerSettings, MemoryControllerConfig, settings
from commonplace.integrations.tasks.grader import Grader
from commonplace.integrations.tasks.keeping import Keeping
from commonplace.integrations.tasks.logs import Pages, Silent, page
from commonplace.integrations.tasks.memo import Memo
from commonplace.integrations.tasks.model import Model
from commonplace.integrations.tasks.steps import Steps
from commonplace.integrations.tasks.training import Assign, Training
from commonplace.values import NOBODY, Origin, Scope, checks


class MemoryController(Keeping):
    """Task-centric memory on a book: persistent, shared by all who open it, and complete without a model.

    `client` is an AutoGen client, an OpenAIChat, a name such as "openai:gpt-4o-mini", or None; each step asks it one
    question at most. `reset` forgets this bank's memos first, which waits for the disk; awaited methods never hold up
    the event loop. `task_assignment_callback` gives a task to an agent: its answer, and how it was come by.
    """

    def __init__(
        self,
        reset: bool = False,
        client: object | None = None,
        task_assignment_callback: Assign | None = None,
        config: MemoryControllerConfig | None = None,
        logger: Pages | None = None,
        *,
        book: BookLike | None = None,
        scope: Scope = NOBODY,
    ) -> None:
        self.settings = settings(ControllerSettings, config, "MemoryController")
        self.client = client
        self.task_assignment_callback = task_assignment_callback
        self.logger: Pages = logger or Silent()
        self.model = Model(client, self.logger)
        self.steps = Steps(self.model)
        self.grader = Grader(client, self.logger, model=self.model)
        # What the bank does in worker threads is logged here, in the order of the event loop.
        self.memory_bank = MemoryBank(reset=reset, config=self.settings.MemoryBank, book=book, scope=scope)

    async def retrieve_relevant_memos(self, task: str) -> list[Memo]:
        """The memos that bear on a task, the best first and at most `max_memos_to_retrieve`; none if none does."""
        with page(self.logger, "retrieve_relevant_memos"):
            self.logger.info(f"task: {task}")
            judged = self.settings.validate_memos and self.model.there
            found: list[Memo] | None = await self._run(self.memory_bank.get_relevant_memos, task, generous=judged)
            if judged and found:
                found = await self.steps.useful(task, found)
            if found is None:  # the model gave no judgement
                found = await self._run(self.memory_bank.get_relevant_memos, task)
            chosen = found[: self.settings.max_memos_to_retrieve]
            for each in chosen:
                self.logger.info(f"memo {each.id}: {each.insight}")
            return chosen

    async def train_on_task(self, task: str, expected_answer: str) -> None:
        """Try a task, learn from each failure, and keep the insight with which it succeeded; needs no side effects."""
        with page(self.logger, "train_on_task"):
            training = Training(
                assign=self._assign, steps=self.steps, grader=self.grader, logger=self.logger,
                train_trials=self.settings.max_train_trials, test_trials=self.settings.max_test_trials,
            )  # fmt: skip
            known = await self.retrieve_relevant_memos(task)
            insight = await training.insight(task, expected_answer, known)
            if insight is not None:
                await self.add_memo(insight, task, origin="agent")

    async def test_on_task(self, task: str, expected_answer: str, num_trials: int = 1) -> tuple[str, int, int]:
        """Give a task with its memos so many times: the last answer, how often it was right, how often it was given."""
        trials, right, response = checks.count(num_trials, "num_trials", least=1), 0, ""
        with page(self.logger, "test_on_task"):
            for number in range(1, trials + 1):
                response = await self.assign_task(task)
                correct, answer = await self.grader.is_response_correct(task, response, expected_answer)
                self.logger.info(f"trial {number}: {answer!r} is {'right' if correct else 'wrong'}")
                right += correct
        return response, right, trials

    async def assign_task(self, task: str, use_memory: bool = True, should_await: bool = True) -> str:
        """Give a task to the agent, with the memos that bear on it; returns the agent's answer."""
        if not should_await:
            raise InvalidInput("should_await=False is not supported: use asyncio.create_task instead")
        with page(self.logger, "assign_task"):
            memos = await self.retrieve_relevant_memos(task) if use_memory else []
            response, _ = await self._assign(memo.beside(task, memos))
            return response

    async def consider_memo_storage(self, text: str, *, origin: Origin = "user") -> str | None:
        """Keep what a user's text tells for later; returns what was kept, None if there was nothing."""
        with page(self.logger, "consider_memo_storage"):
            found = await self.steps.advice(text)
            self.logger.info(f"advice: {None if found is None else found.insight}")
            if found is None:
                return None
            await self._keep(found.insight, found.task, origin=origin)
            return found.insight

    async def handle_user_message(self, text: str, should_await: bool = True) -> str:
        """Keep what a user's message tells for later and give it to the agent; with memos, unless it was advice."""
        advice = await self.consider_memo_storage(text)
        return await self.assign_task(text, use_memory=advice is None, should_await=should_await)

    async def _assign(self, task: str) -> tuple[str, str]:
        if self.task_assignment_callback is None:
            raise InvalidInput("there is no agent for the task: pass task_assignment_callback")
        return await self.task_assignment_callback(task)
