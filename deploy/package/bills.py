"""What is in the programs, read from their link commands and from dpkg, and written down as an SPDX 2.3 document."""
import collections
import hashlib
import pathlib
import re
import subprocess

import files
import trees

# What has no file on a link command: headers, and what the compiler adds by itself.
BY_HAND = {
    "muster": ["libboost1.81-dev", "libcli11-dev", "libfmt-dev"],
    "muster-shim": ["libfmt-dev", "libstdc++-12-dev", "libgcc-12-dev", "libc6-dev"],
    "muster-agent": ["libboost1.81-dev", "libfmt-dev", "libstdc++-12-dev", "libgcc-12-dev", "libc6-dev"],
    "muster-trainer": ["libfmt-dev", "libstdc++-12-dev", "libgcc-12-dev"],
}
# By source package, as docs/third-party.md tells them.
LICENCES = {
    "boost1.81": "BSL-1.0", "c-ares": "MIT", "cli11": "BSD-3-Clause", "fmtlib": "MIT", "gcc-12": "GPL-3.0-or-later WITH GCC-exception-3.1",
    "glibc": "LGPL-2.1-or-later", "libseccomp": "LGPL-2.1-only", "libyaml": "MIT", "nghttp2": "MIT", "openssl": "Apache-2.0",
    "simdjson": "Apache-2.0", "sqlite3": "blessing",
}

Part = collections.namedtuple("Part", "program package source version how")


def query(package):
    """Name without architecture, source package, version."""
    form = "${Package} ${source:Package} ${Version}"
    done = subprocess.run(["dpkg-query", "-W", f"-f={form}", package], text=True, capture_output=True, check=False)
    if done.returncode != 0:
        raise trees.Missing(f"the package {package} is not installed")
    return done.stdout.split()


def owner(path):
    """The Debian package of a file, which may be known by its name from before /lib became /usr/lib."""
    for name in (path, path.resolve(), pathlib.Path(str(path.resolve()).removeprefix("/usr"))):
        done = subprocess.run(["dpkg", "-S", name], text=True, capture_output=True, check=False)
        if done.returncode == 0:
            return done.stdout.split(": ")[0].split(",")[0]
    raise trees.Missing(f"{path} belongs to no package")


def archives(built, program):
    """The system's archives on the program's link command."""
    done = subprocess.run(["ninja", "-C", built, "-t", "commands", program], text=True, capture_output=True, check=True)
    return sorted(set(map(pathlib.Path, re.findall(r"\s(/\S+\.a)\b", done.stdout.splitlines()[-1]))))


def parts(built):
    """One a program and package, sorted."""
    found = set()
    for program in trees.PROGRAMS:
        packages = {(owner(path), "STATIC_LINK") for path in archives(built, program)}
        packages |= {(package, "STATIC_LINK") for package in BY_HAND[program]}
        packages |= {(owner(path), "DYNAMIC_LINK") for path in trees.libraries(built / program).values() if path.exists()}
        found |= {Part(program, *query(package), how) for package, how in packages}
    return sorted(found)


def reference(kind, name):
    return f"SPDXRef-{kind}-" + re.sub(r"[^A-Za-z0-9.-]", "-", name)


def library(part):
    if part.source not in LICENCES:
        raise trees.Missing(f"the licence of {part.source} is not in deploy/package/bills.py and docs/third-party.md")
    locator = f"pkg:deb/debian/{part.package}@{part.version}?arch=amd64"
    return {"SPDXID": reference("Package", part.package), "name": part.package, "versionInfo": part.version, "supplier": "Organization: Debian",
            "downloadLocation": "NOASSERTION", "filesAnalyzed": False, "licenseConcluded": "NOASSERTION", "licenseDeclared": LICENCES[part.source],
            "copyrightText": "NOASSERTION", "sourceInfo": f"built from the Debian source package {part.source}",
            "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": locator}]}


def program(path):
    content = path.read_bytes()
    sums = [{"algorithm": name, "checksumValue": hashlib.new(name.lower(), content).hexdigest()} for name in ("SHA1", "SHA256")]
    return {"SPDXID": reference("File", path.name), "fileName": f"./bin/{path.name}", "checksums": sums, "fileTypes": ["BINARY"],
            "licenseConcluded": "Apache-2.0", "copyrightText": "NOASSERTION"}


def relation(one, kind, other):
    return {"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other}


def bill(found, tree, version, when):
    own = {"SPDXID": "SPDXRef-Package-muster", "name": "muster", "versionInfo": version, "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
           "licenseConcluded": "Apache-2.0", "licenseDeclared": "Apache-2.0", "copyrightText": "NOASSERTION"}
    programs = [program(tree / "bin" / name) for name in trees.PROGRAMS]
    known = hashlib.sha256("".join(each["checksums"][1]["checksumValue"] for each in programs).encode()).hexdigest()
    relations = [relation("SPDXRef-DOCUMENT", "DESCRIBES", own["SPDXID"])]
    relations += [relation(own["SPDXID"], "CONTAINS", each["SPDXID"]) for each in programs]
    relations += [relation(reference("File", part.program), part.how, reference("Package", part.package)) for part in found]
    return {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"muster-{version}",
            "documentNamespace": f"https://muster.dev/spdx/muster-{version}-{known[:32]}",
            "creationInfo": {"created": files.time_text(when), "creators": ["Tool: deploy/package/build"]},
            "packages": [own, *{part.package: library(part) for part in found}.values()], "files": programs, "relationships": relations}
