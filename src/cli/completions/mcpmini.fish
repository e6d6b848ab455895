# Completion of mcpmini for fish. To be saved as ~/.config/fish/completions/mcpmini.fish.
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
