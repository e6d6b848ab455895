#compdef mcpmini
# Completion of mcpmini for zsh. To be saved as _mcpmini in a directory of your $fpath, or read by
# your shell after compinit:
#     eval "$(mcpmini completions zsh)"
_mcpmini() {
    local kind value text
    local -a whole whole_shown parts parts_shown
    while IFS=$'\t' read -r kind value text; do
        case $kind in
            files) _files; return ;;
            word) whole+=("$value"); whole_shown+=("$value${text:+  -- $text}") ;;
            part) parts+=("$value"); parts_shown+=("$value${text:+  -- $text}") ;;
        esac
    done < <(mcpmini __complete zsh "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)
    # zsh quotes what it inserts.
    (( $#whole )) && compadd -l -d whole_shown -a whole
    (( $#parts )) && compadd -l -S '' -d parts_shown -a parts
}
if [ "$funcstack[1]" = _mcpmini ]; then
    _mcpmini "$@"
else
    compdef _mcpmini mcpmini
fi
