# Completion of PROGRAM for fish: PROGRAM completions fish | source
# asks: PROGRAM __complete WORDS
function __PROGRAM_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l lines ($words[1] __complete $words[2..] "$current" 2> /dev/null)
    for word in $lines[2..]
        echo $word
    end
    if test "$lines[1]" = files
        __fish_complete_path "$current"
    end
end
complete -c PROGRAM -f -a '(__PROGRAM_complete)'
