"""The rooms of the library, and the imports between them."""

import graphlib

import pytest

from tests.imports import (
    BOXES,
    CONTRIBUTING,
    LAYERS,
    ROOT,
    drawing,
    imports_of,
    rooms,
    upward,
    with_drawing,
    without_cycles,
)

LIBRARY = ROOT / "src" / "clearbands"
PACKAGES = [ROOT / name for name in ("experiments", "benchmarks") if (ROOT / name).exists()]


def test_every_room_has_one_layer():
    listed = [room for layer in LAYERS for room in layer]
    assert sorted(listed) == sorted(rooms(imports_of(LIBRARY)))


def test_every_room_is_in_one_of_at_most_ten_boxes():
    assert sorted(room for box in BOXES.values() for room in box) == sorted(
        room for layer in LAYERS for room in layer
    )
    assert len(BOXES) <= 10


def test_imports_between_boxes_point_downwards_as_well():
    """The drawing leaves out arrows that point upwards, so there must be none."""
    height = {room: i for i, box in enumerate(BOXES.values()) for room in box}
    imported = rooms(imports_of(LIBRARY)).items()
    assert all(height[room] <= height[other] for room, others in imported for other in others)


def test_imports_point_downwards():
    assert upward(rooms(imports_of(LIBRARY))) == []


@pytest.mark.parametrize("package", [LIBRARY, *PACKAGES], ids=lambda package: package.name)
def test_no_module_imports_itself_through_others(package):
    imports = imports_of(package)
    assert set(without_cycles(imports)) >= set(imports)


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.name)
def test_the_library_imports_nothing_that_stands_beside_it(package):
    for file in LIBRARY.rglob("*.py"):
        assert f"from {package.name}" not in file.read_text("utf-8"), file


def test_the_drawing_is_up_to_date():
    text = CONTRIBUTING.read_text("utf-8")
    drawn = drawing(rooms(imports_of(LIBRARY)))
    assert with_drawing(text, drawn) == text, "`python -m tests.imports` draws it again"


# The functions that read the imports


@pytest.fixture
def house(tmp_path):
    """Build cellar.py, and attic/ above it; the caller chooses the last line of the cellar."""

    def build(last_line=""):
        files = {
            "__init__.py": "",
            "__init__.pyi": "from .attic.lamp import light as light\n",
            "attic/__init__.py": "",
            "attic/lamp.py": "import os\nfrom house.cellar import fuse\n",
            "attic/switch.py": "def on():\n    from house.attic import lamp\n",
            "cellar.py": f"{last_line}\nfuse = 1\n",
        }
        for name, text in files.items():
            path = tmp_path / "house" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return imports_of(tmp_path / "house")

    return build


ABOVE = (("attic",), ("cellar",))


def test_imports_are_found_wherever_they_stand(house):
    found = house()
    assert found["house.attic.lamp"] == {"house.cellar"}
    assert found["house.attic.switch"] == {"house.attic.lamp"}  # inside a function
    assert rooms(found) == {"attic": {"cellar"}, "cellar": set()}
    assert upward(rooms(found), ABOVE) == []
    order = without_cycles(found)
    assert order.index("house.cellar") < order.index("house.attic.lamp")


@pytest.mark.parametrize(
    "line",
    ["from house.attic import lamp", "import house.attic.lamp", "from house import light"],
)
def test_an_import_that_points_upwards_is_found(house, line):
    found = house(line)
    assert upward(rooms(found), ABOVE) == ["cellar imports attic, which is not below it"]
    with pytest.raises(graphlib.CycleError):
        without_cycles(found)


def test_imports_for_type_checkers_do_not_count(house):
    line = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from house.attic import lamp"
    assert upward(rooms(house(line)), ABOVE) == []
