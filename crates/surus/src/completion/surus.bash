# Completion of PROGRAM for bash: source <(PROGRAM completions bash)
_PROGRAM_complete() {
    local line=${COMP_LINE:0:COMP_POINT} words current kind word
    read -ra words <<< "$line"
    # A blank at the end begins a new word.
    [[ $line == *[[:space:]] ]] && words+=("")
    current=${words[-1]}
    COMPREPLY=()
    {
        read -r kind
        while IFS= read -r word; do
            # bash has taken what stands before the last colon off the word already.
            [[ $COMP_WORDBREAKS == *:* ]] && word=${word#"${current%"${current##*:}"}"}
            COMPREPLY+=("$(printf %q "$word")")
        done
    } < <("${words[0]}" __complete "${words[@]:1}" 2> /dev/null)
    if [[ $kind == files ]]; then
        while IFS= read -r word; do
            [[ -d $word ]] && word+=/
            COMPREPLY+=("$(printf %q "$word")")
        done < <(compgen -f -- "$current")
    fi
    [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == */ ]] && compopt -o nospace
}
complete -F _PROGRAM_complete PROGRAM
# asks: PROGRAM __complete WORDS
