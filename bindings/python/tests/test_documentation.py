"""Every public item is documented, and what takes or gives arrays says of which shape."""

import inspect
import re

import numpy as np
import pytest

import fastlbp
from fastlbp import exact, graph, plot, ranking, session

#: Arguments that are arrays wherever they occur.
ARRAYS = {
    "bodies", "body", "body_offsets", "cardinalities", "edges", "heads", "indicators", "kinds", "labels", "likelihood",
    "links", "literals", "marginals", "messages", "negated", "pairwise", "scope_offsets", "scopes", "unary",
    "value_offsets", "values", "weights",
}


def public():
    """Name and object of everything that users see: of the package, and methods and properties of its classes."""
    for name in fastlbp.__all__:
        item = getattr(fastlbp, name)
        if name in ("WILDCARD", "__version__"):
            continue
        yield name, item
        if not inspect.isclass(item):
            continue
        for member, value in vars(item).items():
            if member.startswith("_") or not (callable(value) or isinstance(value, (property, classmethod, staticmethod))):
                continue
            yield f"{name}.{member}", value
    for name in plot.__all__:
        yield f"plot.{name}", getattr(plot, name)


def function_of(item):
    if isinstance(item, property):
        return item.fget
    return getattr(item, "__func__", item)


ITEMS = dict(public())


@pytest.mark.parametrize("name", ITEMS)
def test_it_is_documented(name):
    item = ITEMS[name]
    text = inspect.getdoc(function_of(item)) or ""
    # (A tuple with names or a dataclass would get one of its own, which says nothing.)
    assert text.strip() and not text.startswith((f"{name}(", "Create new instance")), name


@pytest.mark.parametrize("name", [name for name, item in ITEMS.items() if not inspect.isclass(item)])
def test_arrays_have_their_shapes(name):
    item = function_of(ITEMS[name])
    text = inspect.getdoc(item) or ""
    parameters = ARRAYS & set(inspect.signature(item).parameters)
    gives = inspect.signature(item).return_annotation
    if not parameters and gives not in ("np.ndarray", np.ndarray):
        return
    refers = re.search(r":meth:`[A-Za-z.]*(from_[a-z_]+|add_[a-z]+|messages|save_state|marginals|set_evidence)`", text)
    assert "shape" in text or "a view of" in text or refers, f"{name}: {text}"


def test_the_package_has_all_there_is():
    """What its modules call public is public there."""
    for module in (exact, graph, ranking, session):
        for name in module.__all__:
            assert hasattr(fastlbp, name) or name in ("Source", "Variable"), f"{module.__name__}.{name}"
