#!/usr/bin/env -S python3 -B
"""The recipes have the form that their tools want, and say what is true of this tree.

The tools need not be there: a recipe runs against stand-ins for the functions that it calls, and any
other name is an error.
"""

import fnmatch
import importlib.util
import json
import re
import shutil
import subprocess
import sys
import tempfile
import types
import unittest
from pathlib import Path
from unittest import mock

TREE = Path(__file__).resolve().parent.parent
VERSION = ".".join(re.findall(r"#define WEFT_VERSION_[A-Z]+ (\d+)", (TREE / "effects/version.hpp").read_text()))
DESCRIPTION = re.search(r'DESCRIPTION "(.*)"', (TREE / "CMakeLists.txt").read_text()).group(1)


def install_rules(tree):
    """What an installation of `tree` would do, in the words of CMake."""
    with tempfile.TemporaryDirectory() as build:
        subprocess.run(["cmake", "-S", tree, "-B", build], check=True, stdout=subprocess.DEVNULL)
        return (Path(build) / "cmake_install.cmake").read_text()


def copy(recipe, pattern, src, dst):
    """conan.tools.files.copy: patterns are of paths, and links stay links."""
    for path in Path(src).rglob("*"):
        name = path.relative_to(src)
        if (path.is_symlink() or path.is_file()) and fnmatch.fnmatch(name, pattern):
            to = Path(dst) / name
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, to, follow_symlinks=False)


class Recipes(unittest.TestCase):
    def test_changelog(self):
        newest = re.search(r"^## ([\d.]+)", (TREE / "CHANGELOG.md").read_text(), re.M).group(1)
        self.assertTrue((VERSION + ".").startswith(newest + "."), newest)

    def test_bazel(self):
        said = mock.Mock(spec=["module", "bazel_dep"])
        names = {"module": said.module, "bazel_dep": said.bazel_dep, "__builtins__": {}}
        exec((TREE / "MODULE.bazel").read_text(), names)
        said.module.assert_called_once_with(name="weft", version=VERSION)

    def test_page(self):
        """The page shows nothing but lines of the projects that take.sh builds."""
        page = (TREE / "docs/packages.md").read_text()
        blocks = re.findall(r"^```(?:cmake|python)\n(.*?)^```", page, re.M | re.S)
        projects = [file.read_text() for file in (TREE / "tests/consumer").glob("*/*")]
        built = {line.strip() for text in projects for line in text.splitlines()}
        shown = {line.strip() for block in blocks for line in block.splitlines()}
        self.assertEqual(shown - built, set())
        self.assertGreater(len(shown), 8)

    def test_devcontainer(self):
        folder = TREE / ".devcontainer"
        said = json.loads((folder / "devcontainer.json").read_text())
        context = folder / said["build"]["context"]
        lines = (folder / said["build"]["dockerfile"]).read_text().splitlines()
        copied = [name for line in lines if line.startswith("COPY ") for name in line.split()[1:-1]]
        for name in [*copied, said["postCreateCommand"]]:
            self.assertTrue((context / name).is_file(), name)

    def test_vcpkg(self):
        port = TREE / "packaging/vcpkg/weft"
        manifest = json.loads((port / "vcpkg.json").read_text())
        self.assertEqual(
            (manifest["name"], manifest["version"], manifest["description"], manifest["license"]),
            (port.name, VERSION, DESCRIPTION, "MIT"),
        )
        called = {"vcpkg_cmake_configure": "vcpkg-cmake", "vcpkg_cmake_install": "vcpkg-cmake",
                  "vcpkg_cmake_config_fixup": "vcpkg-cmake-config"}  # fmt: skip
        needed = {dependency["name"] for dependency in manifest["dependencies"] if dependency["host"]}
        self.assertEqual(needed, set(called.values()))
        with tempfile.TemporaryDirectory() as scratch:
            script = Path(scratch) / "run.cmake"
            script.write_text(
                "".join(
                    f'function({name})\n message("{name} ${{ARGV}}")\nendfunction()\n'
                    for name in [*called, "vcpkg_fixup_pkgconfig", "vcpkg_install_copyright"]
                )
                + f'set(CURRENT_PORT_DIR "{port}")\nset(CURRENT_PACKAGES_DIR "{scratch}/packages")\n'
                + f'include("{port}/portfile.cmake")\n'
            )
            ran = subprocess.run(["cmake", "-P", script], check=True, capture_output=True, text=True)
        calls = dict(line.split(" ", 1) for line in ran.stderr.splitlines())
        self.assertEqual(calls["vcpkg_cmake_configure"], f"SOURCE_PATH;{TREE};OPTIONS;-DWEFT_DURABLE=OFF")
        self.assertEqual(calls["vcpkg_install_copyright"], f"FILE_LIST;{TREE}/LICENSE")
        where = calls["vcpkg_cmake_config_fixup"].removeprefix("CONFIG_PATH;")
        self.assertIn(f"/{where}/weft-static.cmake", install_rules(TREE))

    def test_conan(self):
        def module(name, **names):
            made = types.ModuleType(name)
            made.__dict__.update(names)
            return made

        info = types.SimpleNamespace(components={name: mock.Mock() for name in ("weft", "trace", "testing", "io")})
        modules = [
            module("conan", ConanFile=type("ConanFile", (), {"cpp_info": info})),
            module("conan.tools"),
            module("conan.tools.build", check_min_cppstd=mock.Mock()),
            module("conan.tools.cmake", CMake=mock.Mock(), CMakeToolchain=mock.MagicMock(), cmake_layout=mock.Mock()),
            module(
                "conan.tools.files",
                collect_libs=lambda recipe: ["weft"],
                copy=copy,
                load=lambda recipe, path: Path(path).read_text(),
                rmdir=mock.Mock(),
            ),
        ]
        file = TREE / "packaging/conan/conanfile.py"
        with mock.patch.dict(sys.modules, {m.__name__: m for m in modules}), tempfile.TemporaryDirectory() as scratch:
            spec = importlib.util.spec_from_file_location("conanfile", file)
            conanfile = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(conanfile)
            recipe = conanfile.Weft()
            recipe.recipe_folder = file.parent
            recipe.export_sources_folder = recipe.source_folder = Path(scratch) / "sources"
            recipe.package_folder = Path(scratch) / "package"
            self.assertEqual((recipe.name, recipe.license, recipe.description), ("weft", "MIT", DESCRIPTION))
            recipe.set_version()
            self.assertEqual(recipe.version, VERSION)
            recipe.export_sources()
            rules = install_rules(recipe.export_sources_folder)
            self.assertTrue((recipe.export_sources_folder / "include/weft/effects/effects.hpp").is_file())
            for step in (recipe.validate, recipe.layout, recipe.generate, recipe.build, recipe.package, recipe.package_info):
                step()
            self.assertTrue((recipe.package_folder / "licenses/LICENSE").is_file())
        for name, component in info.components.items():
            properties = dict(call.args for call in component.set_property.call_args_list)
            self.assertEqual(properties["cmake_target_name"], f"weft::{name}")
            self.assertIn(f"/{properties['pkg_config_name']}.pc", rules)
        self.assertEqual(info.components["weft"].libs, ["weft"])


if __name__ == "__main__":
    unittest.main()
