"""Checks manifests against the custom resources that Agones defines.

    agones.py INSTALL_YAML MANIFEST...

A field that the definitions do not know is an error, as it is for a cluster that validates strictly.
"""

import sys

from jsonschema import Draft7Validator
from ruamel.yaml import YAML


def documents(path):
    with open(path) as file:
        return [document for document in YAML(typ="safe").load_all(file) if document]


def strict(schema):
    """A Kubernetes schema as a plain one: no unknown fields, and numbers or text where either is allowed."""
    if isinstance(schema, dict):
        if schema.get("x-kubernetes-int-or-string"):
            schema.pop("type", None)
        keeps = schema.get("x-kubernetes-preserve-unknown-fields") or "additionalProperties" in schema
        if "properties" in schema and schema.get("type") == "object" and not keeps:
            schema["additionalProperties"] = False
    for part in schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else []:
        strict(part)


def main():
    definitions = {
        definition["spec"]["names"]["kind"]: definition["spec"]["versions"]
        for definition in documents(sys.argv[1]) if definition["kind"] == "CustomResourceDefinition"}
    failed = False
    for path in sys.argv[2:]:
        for document in documents(path):
            group, version = document["apiVersion"].split("/")
            schema = next(known["schema"]["openAPIV3Schema"] for known in definitions[document["kind"]] if known["name"] == version)
            strict(schema)
            # Every resource has these three.
            schema["properties"].update(apiVersion={}, kind={}, metadata={})
            errors = list(Draft7Validator(schema).iter_errors(document))
            for error in errors:
                print(f"fleet: {path}: {'/'.join(map(str, error.path))}: {error.message[:200]}", file=sys.stderr)
            failed |= bool(errors)
            print(f"fleet: {path} {'does not fit' if errors else 'fits'} the definition of {document['kind']} in {group}/{version}")
    sys.exit(failed)


main()
