"""Every example in the package's docstrings is true."""

import doctest
import importlib
import pkgutil

import pytest

import costpass.economics

MODULES = [one.name for one in pkgutil.iter_modules(costpass.economics.__path__, "costpass.economics.")]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0
