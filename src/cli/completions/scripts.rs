//! The scripts that `mcpmini completions` prints. They know nothing of commands and options: they ask
//! `mcpmini __complete` and hand on what it says.

/// For bash, 3.2 and later.
pub(super) const BASH: &str = r#"# Completion of mcpmini for bash. To be read by your shell at its start:
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
"#;

/// For zsh.
pub(super) const ZSH: &str = r#"#compdef mcpmini
# Completion of mcpmini for zsh. To be saved as _mcpmini in a directory of your $fpath, or read by
# your shell at its start:
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
elif (( $+functions[compdef] )); then
    compdef _mcpmini mcpmini
else
    # What is told before compinit is forgotten by it. At the first prompt it has run, or never will.
    _mcpmini_late() {
        precmd_functions=(${precmd_functions:#_mcpmini_late})
        (( $+functions[compdef] )) || { autoload -Uz compinit && compinit -i }
        compdef _mcpmini mcpmini
    }
    precmd_functions+=(_mcpmini_late)
fi
"#;

/// For fish, 3.0 and later.
pub(super) const FISH: &str = r#"# Completion of mcpmini for fish. To be saved as ~/.config/fish/completions/mcpmini.fish.
function __mcpmini_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l lines (mcpmini __complete fish $words[2..-1] "$current" 2>/dev/null)
    if test "$lines[1]" = files
        __fish_complete_path "$current"
    else
        # fish quotes what it inserts.
        printf '%s\n' $lines
    end
end
complete -c mcpmini -f -a '(__mcpmini_complete)'
"#;

/// For nushell, 0.101 and later.
pub(super) const NUSHELL: &str = r#"# Completion of mcpmini for nushell. To be saved where nushell finds it at its start:
#     mcpmini completions nushell | save -f ($nu.user-autoload-dirs.0 | path join mcpmini.nu)
let mcpmini_others = $env.config.completions?.external?.completer?
$env.config.completions.external.enable = true
$env.config.completions.external.completer = {|spans|
    if $spans.0 == mcpmini {
        # The program takes the quotes off, and quotes what it offers. For null, nushell offers files.
        try { ^mcpmini __complete nushell ...($spans | skip 1) | complete | get stdout | from json }
    } else if $mcpmini_others != null {
        do $mcpmini_others $spans
    }
}
"#;
