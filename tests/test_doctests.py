"""The examples in docstrings are true."""

import doctest
import importlib
import pkgutil

import pytest

import costpass

MODULES = [module.name for module in pkgutil.walk_packages(costpass.__path__, "costpass.")]


@pytest.mark.parametrize("name", MODULES)
def test_examples_of(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_there_are_examples() -> None:
    finder = doctest.DocTestFinder()
    found = [test for name in MODULES for test in finder.find(importlib.import_module(name)) if test.examples]
    assert len(found) > 20
