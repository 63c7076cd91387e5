"""Adds the licences of the libraries that auditwheel or delocate bundled to a wheel, beside Saccade's own. Used by scripts/repair-wheel.

    python scripts/wheel_licences.py WHEEL PREFIX MODULE...
        PREFIX: that of scripts/build-libraries; MODULE: the compiled modules before auditwheel changed them

Writes to the folder licenses of the wheel's dist-info: libraries.tsv (library, package, version, source package and its version, licence),
packages/PACKAGE (the licence in the sources, or Debian's copyright file), common/NAME (texts in /usr/share/common-licenses that these refer
to). The metadata say that MIT is the licence of Saccade only.
"""

import email
import email.policy
import hashlib
import re
import subprocess
import sys
from pathlib import Path

if sys.platform == "darwin":
    from delocate.wheeltools import InWheel
else:
    from auditwheel.wheeltools import InWheel

LICENCE = ("MIT for Saccade itself. The libraries in this wheel have licences of their own, none of them the GPL alone: "
           "see licenses/libraries.tsv in its dist-info")
# Of the libraries that may be in a wheel, by Debian's source package, read in its copyright file (SPDX). A library under the GPL
# alone would bind whoever redistributes the wheel, so a new one has to be looked up.
LICENCES = {
    "bzip2": "bzip2-1.0.6", "curl": "curl", "fmtlib": "MIT", "gcc-12": "GPL-3.0-or-later WITH GCC-exception-3.1", "giflib": "MIT",
    "libjpeg-turbo": "IJG AND BSD-3-Clause", "libpng1.6": "libpng-2.0", "librandom123": "BSD-3-Clause", "libzip": "BSD-3-Clause",
    "nlohmann-json3": "MIT", "ocl-icd": "BSD-2-Clause", "onednn": "Apache-2.0", "onetbb": "Apache-2.0", "onnx": "Apache-2.0",
    "opencv": "Apache-2.0", "openssl": "Apache-2.0", "protobuf": "BSD-3-Clause", "xsimd": "BSD-3-Clause", "xtensor": "BSD-3-Clause",
    "xtl": "BSD-3-Clause", "yaml-cpp": "MIT",
}
# Debian's packages of libraries that are headers alone, and so a part of the modules.
HEADERS = ("librandom123-dev", "libxsimd-dev", "libxtensor-dev", "nlohmann-json3-dev", "xtl-dev")


def output_of(*command):
    return subprocess.run([*map(str, command)], capture_output=True, text=True, check=True).stdout


def built(prefix):
    """{library: the folder with the facts of its source} and the folders of those that are headers alone."""
    folders = sorted(path.parent for path in prefix.glob("sources/*/built"))
    files = {folder: (folder / "files").read_text().splitlines() for folder in folders}
    return {Path(file): folder for folder in folders for file in files[folder]}, [folder for folder in folders if not files[folder]]


def loaded(modules):
    """The libraries of the system that modules load here."""
    return {Path(path) for path in re.findall(r"=> (/\S+)", output_of("ldd", *modules))} if sys.platform == "linux" else set()


def bundled(root, paths):
    """{library in the wheel: the one of `paths` that it was copied from}; auditwheel adds 8 digits of the checksum to the name."""
    by_digits = {hashlib.sha256(path.read_bytes()).hexdigest()[:8]: path for path in paths}
    by_name = {path.name: path for path in paths}
    found = {}
    for library in sorted([*root.glob("*.libs/*"), *root.glob("*/.dylibs/*")]):
        digits = re.search(r"-([0-9a-f]{8})\.", library.name)
        found[library.name] = by_digits.get(digits[1]) if digits else by_name.get(library.name)
        if not found[library.name]:
            sys.exit(f"wheel_licences: {library.name} is not a library that the modules load here")
    return found


def places(path):
    """The paths under which dpkg may list the file: with and without /usr, and behind a link."""
    return {str(place).removeprefix("/usr") for place in (path, path.resolve())}


def facts_of(packages):
    """(package, version, source package, its version) of each of Debian's."""
    form = "${Package}\t${Version}\t${source:Package}\t${source:Version}\n"
    return [row.split("\t") for row in output_of("dpkg-query", "-W", "-f", form, *packages).splitlines()]


def packages_of(paths):
    """{path: its package, as facts_of}."""
    if not paths:
        return {}
    asked = [begin + place for path in paths for place in places(path) for begin in ("", "/usr")]
    found = subprocess.run(["dpkg", "-S", *asked], capture_output=True, text=True).stdout  # unknown files are only reported on stderr
    owners = {place.removeprefix("/usr"): names.split(",")[0] for names, place in re.findall(r"^(.+?): (/.*)$", found, re.M)}
    facts = {row[0]: row for row in facts_of(sorted(set(owners.values())))}
    packages = {}
    for path in paths:
        owner = next((owners[place] for place in places(path) if place in owners), None)
        if not owner:
            sys.exit(f"wheel_licences: {path} belongs to no package, so its licence is unknown")
        packages[path] = facts[owner.split(":")[0]]
    return packages


def from_source(folder):
    """((package, version, source package, its version), licence text) of a folder of built()."""
    version = (folder / "version").read_text().strip()
    return (folder.name, version, folder.name, version), folder / "licence"


def from_debian(facts):
    return facts, Path("/usr/share/doc") / facts[0] / "copyright"


def add_texts(folder, package, text):
    if not text.is_file():
        sys.exit(f"wheel_licences: {text} is missing")
    (folder / "packages").mkdir(parents=True, exist_ok=True)
    (folder / "packages" / package).write_bytes(text.read_bytes())
    (folder / "common").mkdir(exist_ok=True)
    for name in re.findall(r"/usr/share/common-licenses/([\w.+-]*\w)", text.read_text(errors="replace")):
        common = Path("/usr/share/common-licenses") / name
        if common.is_file():
            (folder / "common" / name).write_bytes(common.read_bytes())


def state(metadata):
    """Sets the licence in the metadata."""
    message = email.message_from_bytes(metadata.read_bytes(), policy=email.policy.compat32.clone(max_line_length=0))
    for name in ("License", "License-Expression"):
        del message[name]
    kept = [value for value in message.get_all("Classifier", []) if not value.startswith("License ::")]
    del message["Classifier"]
    for value in kept:
        message["Classifier"] = value
    message["License"] = LICENCE
    metadata.write_bytes(message.as_bytes())


def main(wheel, prefix, *modules):
    ours, headers = built(Path(prefix))
    with InWheel(Path(wheel), Path(wheel)) as unpacked:
        root = Path(unpacked)
        (info,) = root.glob("*.dist-info")
        folder = info / "licenses"
        folder.mkdir(exist_ok=True)
        found = bundled(root, loaded(modules) | ours.keys())
        debian = packages_of({path for path in found.values() if path not in ours})
        facts = [(library, *(from_source(ours[path]) if path in ours else from_debian(debian[path]))) for library, path in found.items()]
        facts += [("headers", *row) for row in [from_source(path) for path in headers] or [from_debian(row) for row in facts_of(HEADERS)]]
        for row, text in {row[0]: (row, text) for _, row, text in facts}.values():
            add_texts(folder, row[0], text)
        if unknown := sorted({row[2] for _, row, _ in facts} - LICENCES.keys()):
            sys.exit(f"wheel_licences: {', '.join(unknown)}: look up the licence, and add it to LICENCES if it allows a wheel under others")
        rows = ["\t".join([library, *row, LICENCES[row[2]]]) for library, row, _ in facts]
        head = "library\tpackage\tversion\tsource\tversion of the source\tlicence"
        (folder / "libraries.tsv").write_text("\n".join([head, *rows]) + "\n")
        state(info / "METADATA")
    print(f"licences: {len(rows)} libraries of {len({row[0] for _, row, _ in facts})} packages")


if __name__ == "__main__":
    main(*sys.argv[1:])
