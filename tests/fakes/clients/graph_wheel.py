"""Imports Microsoft's client of Graph out of its wheel: unpacked it has 200 MB in thousands of files."""

import importlib.abc
import importlib.machinery
import importlib.util
import sys
import zipfile


class WheelFinder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds modules in a wheel whose folders have no `__init__.py`, which Python's own import from archives does not."""

    def __init__(self, path):
        self.archive = zipfile.ZipFile(path)
        self.files = set(self.archive.namelist())
        self.folders = {file[:at] for file in self.files for at, c in enumerate(file) if c == "/"}

    def find_spec(self, name, path=None, target=None):
        place = name.replace(".", "/")
        for file, is_package in ((f"{place}/__init__.py", True), (f"{place}.py", False)):
            if file in self.files:
                return importlib.util.spec_from_loader(name, self, origin=file, is_package=is_package)
        if place in self.folders and place.startswith("msgraph"):
            return importlib.machinery.ModuleSpec(name, None, is_package=True)
        return None

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        origin = module.__spec__.origin
        exec(compile(self.archive.read(origin), origin, "exec", dont_inherit=True), module.__dict__)


def install(path):
    sys.meta_path.append(WheelFinder(path))
