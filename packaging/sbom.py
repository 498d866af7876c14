#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the bill of materials of a release as SPDX 2.3 JSON.

sbom.py VERSION EPOCH FOLDER ARTEFACT...

Lists the artefacts with their sums, the pinned sources inside the library, and the Go modules
inside hydra (needs a Go that has them). The same release gives the same text.
"""
import base64
import hashlib
import json
import pathlib
import re
import subprocess
import sys
import time

from notices import ROOT, hydra_modules

C_LICENCES = {"highway": "Apache-2.0 OR BSD-3-Clause", "cjson": "MIT"}


def lock_rows():
    text = (ROOT / "packaging/deps.lock").read_text(encoding="utf-8")
    return [row.split() for row in text.splitlines() if row and not row.startswith("#")]


def spdx_id(name):
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", name)


def package(name, version, licence, **more):
    return {"name": name, "SPDXID": spdx_id(f"{name}-{version}"), "versionInfo": version,
            "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
            "licenseConcluded": licence, "licenseDeclared": licence,
            "copyrightText": "NOASSERTION", **more}


def purl(kind, name, version):
    return {"externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                              "referenceLocator": f"pkg:{kind}/{name}@{version}"}]}


def licence_of(folder):
    """The licence of a Go module by the words of its file."""
    for file in sorted(pathlib.Path(folder).iterdir()):
        if not re.match(r"(licen[cs]e|copying)", file.name, re.IGNORECASE) or not file.is_file():
            continue
        text = " ".join(file.read_text(encoding="utf-8", errors="replace").split())
        for words, name in [("Apache License Version 2.0", "Apache-2.0"),
                            ("Permission is hereby granted, free of charge", "MIT"),
                            ("Neither the name of", "BSD-3-Clause"),
                            ("Redistribution and use in source and binary", "BSD-2-Clause")]:
            if words in text:
                return name
    return "NOASSERTION"


def go_sums():
    rows = (ROOT / "go/hydra/go.sum").read_text(encoding="utf-8").splitlines()
    return {tuple(row.split()[:2]): row.split()[2] for row in rows}


def main(version, epoch, folder, artefacts):
    date = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(int(epoch)))
    nef = package("nef", version, "Apache-2.0", **purl("github", "Hexa08/NEF", "v" + version))
    hydra = package("hydra", version, "Apache-2.0",
                    **purl("golang", "github.com/Hexa08/NEF/go/hydra", "v" + version))
    packages, relations = [nef, hydra], []

    def relate(one, kind, other):
        relations.append({"spdxElementId": one, "relationshipType": kind,
                          "relatedSpdxElement": other})

    relate("SPDXRef-DOCUMENT", "DESCRIBES", nef["SPDXID"])
    relate("SPDXRef-DOCUMENT", "DESCRIBES", hydra["SPDXID"])
    relate(hydra["SPDXID"], "STATIC_LINK", nef["SPDXID"])
    for name, at, path, sha256 in lock_rows():
        packages.append(package(name, at, C_LICENCES[name], packageFileName=path.rsplit("/", 1)[-1],
                                checksums=[{"algorithm": "SHA256", "checksumValue": sha256}],
                                **purl("deb/debian", name, at)))
        relate(nef["SPDXID"], "STATIC_LINK", packages[-1]["SPDXID"])
    sums = go_sums()
    for path, at, module in hydra_modules():
        digest = base64.b64decode(sums[path, at].removeprefix("h1:")).hex()
        packages.append(package(path, at, licence_of(module), **purl("golang", path, at),
                                comment=f"Go module sum h1, as SHA256: {digest}"))
        relate(hydra["SPDXID"], "STATIC_LINK", packages[-1]["SPDXID"])
    files = []
    for name in sorted(artefacts):
        content = (pathlib.Path(folder) / name).read_bytes()
        files.append({"fileName": "./" + name, "SPDXID": spdx_id("file-" + name),
                      "checksums": [{"algorithm": a.upper(), "checksumValue": hashlib.new(a, content).hexdigest()}
                                    for a in ("sha1", "sha256")],
                      "licenseConcluded": "NOASSERTION", "copyrightText": "NOASSERTION"})
        relate(files[-1]["SPDXID"], "GENERATED_FROM",
               (hydra if name.startswith("hydra") else nef)["SPDXID"])
    content = hashlib.sha256(json.dumps([packages, files], sort_keys=True).encode()).hexdigest()
    json.dump({
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"nef-{version}",
        "documentNamespace": f"https://github.com/Hexa08/NEF/spdx/{version}/{content}",
        "creationInfo": {"created": date, "creators": ["Tool: packaging/sbom.py"]},
        "packages": packages, "files": files, "relationships": relations,
    }, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main(*sys.argv[1:4], sys.argv[4:])
