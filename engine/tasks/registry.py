"""The table: type word -> TaskKind."""

from engine.tasks.at_once import EventTask, Noop, SetVariable, TerminateTask
from engine.tasks.branches import Decision, DynamicFork, Fork, Switch
from engine.tasks.by_worker import ByWorker, Dynamic
from engine.tasks.chat import ChatComplete
from engine.tasks.children import StartWorkflow, SubWorkflow
from engine.tasks.joins import ExclusiveJoin, Join
from engine.tasks.kind import TaskKind
from engine.tasks.loops import DoWhile
from engine.tasks.messages import PullMessages
from engine.tasks.scripted import Inline, JqTransform, Lambda
from engine.tasks.waiting import Human, Wait

BY_WORKER = ByWorker()

KINDS: dict[str, TaskKind] = {
    "SWITCH": Switch(),
    "DECISION": Decision(),
    "FORK_JOIN": Fork(),
    "FORK_JOIN_DYNAMIC": DynamicFork(),
    "JOIN": Join(),
    "EXCLUSIVE_JOIN": ExclusiveJoin(),
    "DO_WHILE": DoWhile(),
    "SET_VARIABLE": SetVariable(),
    "TERMINATE": TerminateTask(),
    "NOOP": Noop(),
    "EVENT": EventTask(),
    "INLINE": Inline(),
    "LAMBDA": Lambda(),
    "JSON_JQ_TRANSFORM": JqTransform(),
    "WAIT": Wait(),
    "HUMAN": Human(),
    "SUB_WORKFLOW": SubWorkflow(),
    "START_WORKFLOW": StartWorkflow(),
    "PULL_WORKFLOW_MESSAGES": PullMessages(),
    "LLM_CHAT_COMPLETE": ChatComplete(),
    "DYNAMIC": Dynamic(),
}


def kind_of(task_type: str) -> TaskKind:
    """Who handles a type word; a word nobody knows is a worker's."""
    return KINDS.get(task_type, BY_WORKER)
