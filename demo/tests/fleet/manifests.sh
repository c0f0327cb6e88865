#!/usr/bin/env bash
# Checks the manifests in demo/fleet/ with what knows their form, as far as it can be had here; it says what it leaves out.
#
#   demo/tests/fleet/manifests.sh
#   AGONES=install.yaml demo/tests/fleet/manifests.sh   and Agones' own definitions, from the file of its release; no package has them
set -euo pipefail
cd "$(dirname "$0")/../../.."
say() { echo "fleet: $*"; }

WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
python=$WORK/python/bin
if python3 -m venv "$WORK/python" >/dev/null 2>&1 && "$python/pip" install -q check-jsonschema==0.39.0 2>"$WORK/pip"; then
  "$python/check-jsonschema" --builtin-schema vendor.compose-spec demo/fleet/compose.yaml
  say "compose.yaml fits its schema"
  if [[ -n ${AGONES:-} ]]; then
    "$python/python" demo/tests/fleet/agones.py "$AGONES" demo/fleet/fleet.yaml demo/fleet/autoscaler.yaml
  else
    say "left out: fleet.yaml and autoscaler.yaml against Agones' definitions"
  fi
else
  say "left out: compose.yaml, fleet.yaml and autoscaler.yaml (python3 cannot install check-jsonschema here)"
fi

if command -v systemd-analyze >/dev/null; then
  # The program need not be installed.
  sed 's#/usr/local/bin/testudo#/bin/true#' demo/fleet/testudo-relay.service >"$WORK/testudo-relay.service"
  said=$(systemd-analyze verify "$WORK/testudo-relay.service" 2>&1) || { say "FAILED: $said" >&2; exit 1; }
  [[ -z $said ]] || { say "FAILED: $said" >&2; exit 1; }
  say "systemd understands testudo-relay.service"
else
  say "left out: testudo-relay.service (there is no systemd-analyze)"
fi
say "unchecked: whether the image builds, the dashboard's schema, and any of it in a cluster"
