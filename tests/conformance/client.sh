#!/bin/sh
# Usage: client.sh URL
#
# The client that the official conformance suite runs, once per scenario: it turns the scenario
# into ordinary mcpmini commands. The suite sets MCP_CONFORMANCE_SCENARIO,
# MCP_CONFORMANCE_PROTOCOL_VERSION and, for scenarios with data, MCP_CONFORMANCE_CONTEXT (JSON).
#
# MCPMINI             the binary (mcpmini, found in PATH)
# CONFORMANCE_PINNED  no: let mcpmini negotiate the revision instead of naming it
set -eu

[ $# -eq 1 ] || { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" >&2; exit 2; }
url=$1
mcpmini=${MCPMINI:-mcpmini}
limit=25 # seconds for one command; the suite gives a scenario 30

# Nothing of the user's, and nothing that another scenario left, may play a part.
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
trap 'exit 143' TERM INT HUP
export HOME="$home" XDG_CONFIG_HOME="$home" XDG_CACHE_HOME="$home" XDG_STATE_HOME="$home"
# Nobody is there to log in: the suite's authorization server sends whoever asks straight back.
export MCPMINI_LOGIN=auto BROWSER='curl -sL -m 20 -o /dev/null'
[ "${CONFORMANCE_PINNED:-yes}" = no ] || export MCPMINI_PROTOCOL="$MCP_CONFORMANCE_PROTOCOL_VERSION"

# The exit code of the script is that of the last command that failed, so that the suite sees it.
failure=0
run() { timeout --kill-after=2 "$limit" "$mcpmini" "$@" || failure=$?; }
list() { run tools "$url" "$@"; }
call() { run call "$url" "$@"; }
rpc() { run rpc "$url" "$@"; }

# The member $1 of the scenario's data.
data() {
    python3 -c 'import json, os, sys
print(json.loads(os.environ["MCP_CONFORMANCE_CONTEXT"])[sys.argv[1]])' "$1"
}

# The same in a file that nobody else can read; prints its path. No secret stands in a command line.
data_file() {
    (umask 077 && data "$1" >"$home/$1")
    echo "$home/$1"
}

# The calls that the scenario's data asks for: a line with the tool, a line with its arguments, …
wanted_calls() {
    python3 -c 'import json, os
for call in json.loads(os.environ["MCP_CONFORMANCE_CONTEXT"])["toolCalls"]:
    print(call["name"], json.dumps(call["arguments"]), sep="\n")'
}

# The names of the tools that the server lists.
tool_names() {
    run tools "$url" --json | python3 -c 'import json, sys
for line in sys.stdin:
    print(json.loads(line)["name"])'
}

# An object whose member "schema" is the input schema of the tool named $1.
schema_of() {
    run tools "$url" --json | python3 -c 'import json, sys
for tool in map(json.loads, sys.stdin):
    if tool["name"] == sys.argv[1]:
        print(json.dumps({"schema": tool["inputSchema"]}))' "$1"
}

case $MCP_CONFORMANCE_SCENARIO in
initialize | request-metadata | json-schema-ref-no-deref)
    list
    ;;
tools_call)
    list
    call add_numbers '{"a":5,"b":3}'
    ;;
elicitation-sep1034-client-defaults)
    call test_client_elicitation_defaults '{}' --elicit defaults
    ;;
sse-retry)
    call test_reconnection '{}'
    ;;
http-standard-headers)
    list
    call test_headers '{}'
    rpc resources/list
    rpc resources/read '{"uri":"file:///path/to/file%20name.txt"}'
    rpc prompts/list
    rpc prompts/get '{"name":"test_prompt"}'
    ;;
http-custom-headers)
    calls=$(wanted_calls)
    while read -r tool && read -r arguments; do
        call "$tool" "$arguments"
    done <<EOF
$calls
EOF
    ;;
http-invalid-tool-headers)
    for tool in $(tool_names); do
        call "$tool" '{"region":"us-west1"}'
    done
    ;;
sep-2322-client-request-state)
    for tool in echo_state unrelated no_state no_result_type; do
        call "test_mrtr_$tool" '{}' --elicit defaults
    done
    ;;
json-schema-2020-12-preservation)
    call json_schema_echo "$(schema_of json_schema_2020_12_tool)"
    ;;
auth/pre-registration)
    list --client-id "$(data client_id)" --client-secret-file "$(data_file client_secret)"
    ;;
auth/basic-cimd)
    url_of_metadata=https://conformance-test.local/client-metadata.json
    list --client-metadata-url "$url_of_metadata"
    call test-tool '{}' --client-metadata-url "$url_of_metadata"
    ;;
auth/client-credentials-basic)
    list --grant client-credentials --client-id "$(data client_id)" \
        --client-secret-file "$(data_file client_secret)"
    ;;
auth/client-credentials-jwt)
    list --grant client-credentials --client-id "$(data client_id)" \
        --client-key "$(data_file private_key_pem)" --client-key-alg "$(data signing_algorithm)"
    ;;
auth/enterprise-managed-authorization)
    list --grant id-jag --client-id "$(data client_id)" \
        --client-secret-file "$(data_file client_secret)" \
        --idp-token-endpoint "$(data idp_token_endpoint)" --idp-client-id "$(data idp_client_id)" \
        --idp-id-token-file "$(data_file idp_id_token)"
    ;;
auth/wif-jwt-bearer)
    list --grant jwt-bearer --client-id "$(data client_id)" \
        --assertion-file "$(data_file valid_jwt)"
    ;;
auth/dpop | auth/dpop-nonce)
    list --dpop
    call test-tool '{}' --dpop
    ;;
auth/*)
    list
    call test-tool '{}'
    ;;
sep-2640-client-no-prefetch)
    run skills "$url"
    ;;
sep-2640-client-verify-*)
    run skill "$url" skill://pdf-processing/SKILL.md --with-files
    ;;
*)
    echo "client.sh: no commands for the scenario $MCP_CONFORMANCE_SCENARIO" >&2
    exit 2
    ;;
esac
exit "$failure"
