# Completion of mcpmini for bash. To be read by your shell at its start:
#     eval "$(mcpmini completions bash)"
_mcpmini() {
    local line
    COMPREPLY=()
    # The program knows where a word begins for readline, and quotes what it offers.
    while IFS= read -r line; do
        if [ "$line" = files: ]; then
            compopt -o default 2>/dev/null
        else
            COMPREPLY+=("${line#word:}")
        fi
    done < <(mcpmini __complete bash "${COMP_LINE:0:COMP_POINT}" "$COMP_WORDBREAKS" 2>/dev/null)
}
complete -o nospace -F _mcpmini mcpmini
