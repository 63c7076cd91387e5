"""Adds the licences of the libraries that auditwheel bundled to a wheel, beside Saccade's own. Used by scripts/build-wheel.

    python scripts/wheel_licences.py WHEEL MODULE...     MODULE: the compiled modules before auditwheel changed them

Writes to the folder licenses of the wheel's dist-info: libraries.tsv (library, package, version, source package and its version, licence),
packages/PACKAGE (Debian's copyright file), common/NAME (texts in /usr/share/common-licenses that these refer to). The metadata say
that MIT is the licence of Saccade only.
"""

import email
import email.policy
import hashlib
import re
import subprocess
import sys
from pathlib import Path

from auditwheel.wheeltools import InWheel

LICENCE = ("MIT for Saccade itself. The libraries in this wheel have licences of their own, none of them the GPL alone: "
           "see licenses/libraries.tsv in its dist-info")
# Of the libraries that may be in a wheel, by Debian's source package, read in its copyright file (SPDX). A library under the GPL
# alone would bind whoever redistributes the wheel, so a new one has to be looked up.
LICENCES = {
    "brotli": "MIT", "bzip2": "bzip2-1.0.6", "curl": "curl", "cyrus-sasl2": "BSD-4-Clause-UC", "e2fsprogs": "MIT",
    "fmtlib": "MIT", "gcc-12": "GPL-3.0-or-later WITH GCC-exception-3.1", "giflib": "MIT", "gmp": "LGPL-3.0-or-later OR GPL-2.0-or-later",
    "gnutls28": "LGPL-2.1-or-later", "keyutils": "LGPL-2.0-or-later", "krb5": "MIT", "lapack": "BSD-3-Clause", "libbsd": "BSD-3-Clause",
    "libffi": "MIT", "libglvnd": "MIT", "libidn2": "LGPL-3.0-or-later OR GPL-2.0-or-later", "libjpeg-turbo": "IJG AND BSD-3-Clause",
    "libmd": "BSD-3-Clause", "libpng1.6": "libpng-2.0", "libpsl": "MIT", "libssh2": "BSD-3-Clause", "libtasn1-6": "LGPL-2.1-or-later",
    "libunistring": "LGPL-3.0-or-later OR GPL-2.0-or-later", "libx11": "MIT", "libxau": "MIT", "libxcb": "MIT", "libxdmcp": "MIT",
    "libzip": "BSD-3-Clause", "libzstd": "BSD-3-Clause OR GPL-2.0-only", "nettle": "LGPL-3.0-or-later OR GPL-2.0-or-later",
    "nghttp2": "MIT", "ocl-icd": "BSD-2-Clause", "onednn": "Apache-2.0", "onetbb": "Apache-2.0", "onnx": "Apache-2.0",
    "opencv": "Apache-2.0", "openldap": "OLDAP-2.8", "openssl": "Apache-2.0", "p11-kit": "BSD-3-Clause", "protobuf": "BSD-3-Clause",
    "rtmpdump": "LGPL-2.1-or-later", "yaml-cpp": "MIT",
}


def output_of(*command):
    return subprocess.run([*map(str, command)], capture_output=True, text=True, check=True).stdout


def sources(modules):
    """The libraries that modules load here, by the 8 digits in the name of auditwheel's copy."""
    paths = {Path(path) for path in re.findall(r"=> (/\S+)", output_of("ldd", *modules))}
    return {hashlib.sha256(path.read_bytes()).hexdigest()[:8]: path for path in paths}


def places(path):
    """The paths under which dpkg may list the file: with and without /usr, and behind a link."""
    return {str(place).removeprefix("/usr") for place in (path, path.resolve())}


def packages_of(paths):
    """{path: (package, version, source package, its version)}."""
    asked = [begin + place for path in paths for place in places(path) for begin in ("", "/usr")]
    found = subprocess.run(["dpkg", "-S", *asked], capture_output=True, text=True).stdout  # unknown files are only reported on stderr
    owners = {place.removeprefix("/usr"): names.split(",")[0] for names, place in re.findall(r"^(.+?): (/.*)$", found, re.M)}
    form = "${Package}\t${Version}\t${source:Package}\t${source:Version}\n"
    rows = [row.split("\t") for row in output_of("dpkg-query", "-W", "-f", form, *sorted(set(owners.values()))).splitlines()]
    facts = {row[0]: row for row in rows}
    packages = {}
    for path in paths:
        owner = next((owners[place] for place in places(path) if place in owners), None)
        if not owner:
            sys.exit(f"wheel_licences: {path} belongs to no package, so its licence is unknown")
        packages[path] = facts[owner.split(":")[0]]
    return packages


def add_texts(folder, package):
    text = Path(f"/usr/share/doc/{package}/copyright")
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


def main(wheel, *modules):
    known = sources(modules)
    with InWheel(Path(wheel), Path(wheel)) as unpacked:
        root = Path(unpacked)
        (info,) = root.glob("*.dist-info")
        folder = info / "licenses"
        folder.mkdir(exist_ok=True)
        bundled = {}
        for library in sorted(root.glob("*.libs/*")):
            digits = re.search(r"-([0-9a-f]{8})\.", library.name)
            if not digits or digits[1] not in known:
                sys.exit(f"wheel_licences: {library.name} is not a library that {', '.join(modules)} load here")
            bundled[library.name] = known[digits[1]]
        packages = packages_of(set(bundled.values()))
        for name in {row[0] for row in packages.values()}:
            add_texts(folder, name)
        if unknown := sorted({row[2] for row in packages.values()} - LICENCES.keys()):
            sys.exit(f"wheel_licences: {', '.join(unknown)}: look up the licence, and add it to LICENCES if it allows a wheel under others")
        rows = ["\t".join([library, *packages[path], LICENCES[packages[path][2]]]) for library, path in bundled.items()]
        head = "library\tpackage\tversion\tsource\tversion of the source\tlicence"
        (folder / "libraries.tsv").write_text("\n".join([head, *rows]) + "\n")
        state(info / "METADATA")
    print(f"licences: {len(rows)} libraries of {len({row.split(chr(9))[1] for row in rows})} packages")


if __name__ == "__main__":
    main(*sys.argv[1:])
