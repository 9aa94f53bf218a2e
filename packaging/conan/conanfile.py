"""A recipe for Conan 2, for the tree that it is in (docs/packages.md)."""

import os
import re

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout
from conan.tools.files import collect_libs, copy, load, rmdir


class Weft(ConanFile):
    name = "weft"
    description = "Algebraic effects for C++20 coroutines"
    license = "MIT"
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False], "fPIC": [True, False]}
    default_options = {"shared": False, "fPIC": True}
    implements = ["auto_shared_fpic"]

    @property
    def _tree(self):
        return os.path.join(self.recipe_folder, "..", "..")

    def set_version(self):
        header = load(self, os.path.join(self._tree, "effects", "version.hpp"))
        self.version = ".".join(re.findall(r"#define WEFT_VERSION_[A-Z]+ (\d+)", header))

    def export_sources(self):
        folders = "adapters cluster deque durable effects include io packaging sched testing trace"
        for pattern in ("CMakeLists.txt", "LICENSE", *(folder + "/*" for folder in folders.split())):
            copy(self, pattern, src=self._tree, dst=self.export_sources_folder)

    def validate(self):
        check_min_cppstd(self, 20)

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["WEFT_DURABLE"] = "OFF"
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()
        copy(self, "LICENSE", src=self.source_folder, dst=os.path.join(self.package_folder, "licenses"))
        # Conan writes these itself.
        rmdir(self, os.path.join(self.package_folder, "lib", "cmake"))
        rmdir(self, os.path.join(self.package_folder, "lib", "pkgconfig"))

    def package_info(self):
        compiled = collect_libs(self)
        for name, library in (("weft", "weft"), ("trace", "weft-trace"), ("testing", "weft-testing"), ("io", "weft-io")):
            component = self.cpp_info.components[name]
            component.set_property("cmake_target_name", f"weft::{name}")
            component.set_property("pkg_config_name", library)
            component.libs = [library] if library in compiled else []
            component.requires = {"weft": [], "testing": ["trace"]}.get(name, ["weft"])
            component.system_libs = ["pthread"]
