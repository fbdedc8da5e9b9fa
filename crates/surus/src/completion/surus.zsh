#compdef PROGRAM
# Completion of PROGRAM for zsh: source <(PROGRAM completions zsh), or the output as _PROGRAM in a directory of fpath.
# asks: PROGRAM __complete WORDS
_PROGRAM() {
    local -a lines further last
    local word
    lines=("${(@f)$("${(Q)words[1]}" __complete "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2> /dev/null)}")
    for word in "${(@)lines[2,-1]}"; do
        [[ -z $word ]] && continue
        if [[ $word == */ ]]; then further+=("$word"); else last+=("$word"); fi
    done
    (( $#further )) && compadd -S '' -- "${further[@]}"
    (( $#last )) && compadd -- "${last[@]}"
    [[ $lines[1] == files ]] && _files
    return 0
}
if [[ $funcstack[1] == _PROGRAM ]]; then _PROGRAM "$@"; else compdef _PROGRAM PROGRAM; fi
