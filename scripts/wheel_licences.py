"""Puts the licences of the libraries that auditwheel bundled into the wheel, beside Saccade's own. For scripts/build-wheel.

    python scripts/wheel_licences.py WHEEL MODULE     MODULE: the compiled module before auditwheel changed it

In the folder licenses of the wheel's dist-info: libraries.tsv (library, package, version, source package and its version),
packages/PACKAGE (Debian's copyright file), common/NAME (texts that those refer to in /usr/share/common-licenses). The metadata
say that MIT is the licence of Saccade alone.
"""

import email
import email.policy
import hashlib
import re
import subprocess
import sys
from pathlib import Path

from auditwheel.wheeltools import InWheel

LICENCE = ("MIT for Saccade itself. The libraries in this wheel have licences of their own, the GPL among them: "
           "see licenses/libraries.tsv in its dist-info")


def said_by(*command):
    return subprocess.run([*map(str, command)], capture_output=True, text=True, check=True).stdout


def sources(module):
    """The libraries that a module loads here, by the 8 digits that auditwheel puts into the name of its copy."""
    paths = [Path(path) for path in re.findall(r"=> (/\S+)", said_by("ldd", module))]
    return {hashlib.sha256(path.read_bytes()).hexdigest()[:8]: path for path in paths}


def package_of(path):
    """Package, version, source package and its version. dpkg may know the file by its place before /usr was merged."""
    for known in (path, path.resolve(), Path("/usr") / str(path).lstrip("/"), Path(str(path.resolve()).removeprefix("/usr"))):
        found = subprocess.run(["dpkg", "-S", known], capture_output=True, text=True)
        if found.returncode == 0:
            package = found.stdout.split(": ")[0].split(",")[0]
            return said_by("dpkg-query", "-W", "-f=${Package}\t${Version}\t${source:Package}\t${source:Version}", package).split("\t")
    sys.exit(f"wheel_licences: {path} is of no package: its licence is not known")


def add_texts(folder, package):
    text = Path(f"/usr/share/doc/{package}/copyright")
    if not text.is_file():
        sys.exit(f"wheel_licences: there is no {text}")
    (folder / "packages").mkdir(parents=True, exist_ok=True)
    (folder / "packages" / package).write_bytes(text.read_bytes())
    (folder / "common").mkdir(exist_ok=True)
    for name in re.findall(r"/usr/share/common-licenses/([\w.+-]*\w)", text.read_text(errors="replace")):
        common = Path("/usr/share/common-licenses") / name
        if common.is_file():
            (folder / "common" / name).write_bytes(common.read_bytes())


def state(metadata):
    """Says in the metadata whose licence MIT is."""
    message = email.message_from_bytes(metadata.read_bytes(), policy=email.policy.compat32.clone(max_line_length=0))
    for name in ("License", "License-Expression"):
        del message[name]
    kept = [value for value in message.get_all("Classifier", []) if not value.startswith("License ::")]
    del message["Classifier"]
    for value in kept:
        message["Classifier"] = value
    message["License"] = LICENCE
    metadata.write_bytes(message.as_bytes())


def main(wheel, module):
    known = sources(module)
    with InWheel(Path(wheel), Path(wheel)) as name:
        root = Path(name)
        (info,) = root.glob("*.dist-info")
        folder = info / "licenses"
        folder.mkdir(exist_ok=True)
        rows = []
        for library in sorted(root.glob("*.libs/*")):
            digits = re.search(r"-([0-9a-f]{8})\.", library.name)
            if not digits or digits[1] not in known:
                sys.exit(f"wheel_licences: {library.name} is none of the libraries that {module} loads here")
            package = package_of(known[digits[1]])
            add_texts(folder, package[0])
            rows.append("\t".join([library.name, *package]))
        head = "library\tpackage\tversion\tsource\tversion of the source"
        (folder / "libraries.tsv").write_text("\n".join([head, *rows]) + "\n")
        state(info / "METADATA")
    print(f"licences: {len(rows)} libraries of {len({row.split(chr(9))[1] for row in rows})} packages")


if __name__ == "__main__":
    main(*sys.argv[1:])
